"""Programs that stay as they are once every position has halted, so that they can run a fixed number of layers.

Many do so by themselves: no case changes a position that has the halting value. Where every position halts in the same
layer, each case is made to wait for a value that is not the halting one. Otherwise a head is added that reads at every
position whether any position still goes on, and every case asks it.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from kleene.compiling.alta.reaching import Reaching
from kleene.errors import CompileError
from kleene.programs.alta.cases import Action, Case, CodeTable, Constant, Lookup, case
from kleene.programs.alta.program import Program
from kleene.programs.alta.variables import Categorical, Head, Numeric, Variable

HERE, EVERYWHERE, ALL = "goes on here", "goes on somewhere", "any position"
Cases = Mapping[str, Sequence[Case]]


class Staying(NamedTuple):
    """The program, the names that were added to it, and why it stays."""

    program: Program
    added: tuple[str, ...]
    reason: str


def staying(program: Program, max_length: int | None, layers: int, *, causal: bool) -> Staying:
    """The program, changed so that nothing changes once all positions have halted; equal to it until then."""
    halt = program.halt
    if halt is None:
        return Staying(program, (), "it has no halting condition")
    if rests(program, max_length, layers):
        return Staying(program, (), f"no case changes a position whose {halt.variable!r} is {halt.value}")
    if halt.variable in in_step(program):
        others = frozenset(range(program.sizes[halt.variable])) - {halt.value}
        waiting = replace(program, updates=_with(program.updates, halt.variable, others))
        return Staying(waiting, (), f"every case waits for {halt.variable!r}, which is the same at all positions")
    if causal:
        raise CompileError(
            f"{program.name}: positions that have halted change until all have, and in a causal network a position "
            f"cannot see whether later ones have. Leave a position alone in the MLP once its {halt.variable!r} is "
            f"{halt.value}, or compile without causal=True"
        )
    assert max_length is not None
    return Staying(_asking(program, max_length), (HERE, EVERYWHERE, ALL), "every case asks if any position goes on")


def rests(program: Program, max_length: int | None, layers: int) -> bool:
    """Whether no case can change a position that has the halting value."""
    halt = program.halt
    assert halt is not None
    reaching = Reaching(program, max_length)
    state = reaching.start()
    for _ in range(layers):
        read, after = reaching.layer(state)
        for place in range(reaching.count):
            sets = reaching.at(place, state, read)
            if halt.value not in sets[halt.variable]:
                continue
            halted = {**sets, halt.variable: frozenset({halt.value})}
            if not all(reaching.keeps(target, halted) for target in program.updates):
                return False
        state = after
    return True


def in_step(program: Program) -> set[str]:
    """The variables that have the same value at all positions, always: they start so, and depend only on such."""
    found = {
        name
        for name, (_, table) in program.starts.items()
        if not isinstance(program.variables[name], Numeric) and len(np.unique(table)) == 1
    }
    while True:
        kept = {n for n in found if all(c.variables <= found for c in program.updates.get(n, ()))}
        if kept == found:
            return found
        found = kept


def _with(updates: Cases, name: str, allowed: frozenset[int]) -> dict[str, tuple[Case, ...]]:
    """The cases with one more condition."""
    changed = {}
    for target, cases in updates.items():
        found = []
        for c in cases:
            values = c.conditions.get(name, allowed) & allowed
            if values:
                found.append(case({**c.conditions, name: values}, c.action, c.line))
        changed[target] = tuple(found)
    return changed


def _asking(program: Program, max_length: int) -> Program:
    """The program with a number that is 1 where a position goes on, and a head that reads its mean over all positions.

    The mean is 0 where all have halted, and at least 1 / max_length otherwise.
    """
    halt = program.halt
    assert halt is not None
    for name in (HERE, EVERYWHERE, ALL):
        if name in program.domains:
            raise CompileError(f"{program.name}: a variable is called {name!r}, which unrolling needs; rename it")
    by, table = program.starts[halt.variable]
    goes_on = [float(code != halt.value) for code in table.tolist()]
    here = Numeric(goes_on[0], values=(0.0, 1.0))
    if by == "input":
        here = replace(here, input_init_fn=lambda token: goes_on[token])
    elif by == "position":
        here = replace(here, position_init_fn=lambda position: goes_on[position])
    variables: dict[str, Variable] = {**program.variables, HERE: here, ALL: Categorical(0, range=1)}
    seen = Numeric(0.0, values=(0.0, 1 / max_length))
    head = Head(ALL, ALL, HERE, frozenset(), seen)
    halting = program.updates.get(halt.variable, ())
    mirrored = tuple(replace(c, action=_mirrored(c.action, halt.value)) for c in halting)
    updates = {**program.updates, HERE: mirrored} if mirrored else program.updates
    updates = _with(updates, EVERYWHERE, frozenset({1}))
    return replace(program, variables=variables, heads={**program.heads, EVERYWHERE: head}, updates=updates)


def _mirrored(action: Action, value: int) -> Action:
    """What is written to `HERE` where the halting variable is written: 0 for the halting value, 1 for any other."""
    if isinstance(action, Constant):
        return Constant(int(action.code != value))
    if isinstance(action, Lookup):
        return Lookup(action.feature, tuple((v, int(code != value)) for v, code in action.codes))
    assert isinstance(action, CodeTable)
    return replace(action, codes=tuple(int(code != value) for code in action.codes))
