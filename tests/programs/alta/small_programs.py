"""Programs of a few variables whose functions are asked, and what the functions write."""

import inspect
import itertools

import numpy as np
import pytest

from kleene.errors import ProgramError
from kleene.programs import alta
from kleene.programs.alta.cases import View, act
from kleene.programs.alta.reference import run_mlp


class Looked(Exception):
    """Raised where the MLP looks at a head that is undefined."""


def by_the_function(program: alta.Program, codes: dict[str, int], undefined=()) -> dict[str, int]:
    """The codes of all variables after the MLP was run as it was written."""
    values = {n: program.domains[n].domain[c] for n, c in codes.items() if n not in undefined}
    written = run_mlp(program, values, dict.fromkeys(undefined, Looked))
    return {n: program.variables[n].code(written[n]) if n in written else codes[n] for n in program.variables}


VARIABLES = {
    "a": alta.input_var(4),
    "b": alta.var(4, position_init_fn=lambda i: i % 4),
    "n": alta.numeric_var([0, 1 / 3, 1]),
    "s": alta.set_var(4, [{0}, {1, 2}, {0, 1, 2, 3}]),
}
HEADS = {"h": alta.v_relative("a", 1)}


def build(mlp) -> alta.Program:
    return alta.program_spec(VARIABLES, HEADS, mlp, "a", 4, 8, name="tested")


def build_rules(*rules: alta.Rule) -> alta.Program:
    return alta.program_spec_from_rules(VARIABLES, HEADS, rules, "a", 4, 8, name="tested")


def refusal(mlp, *, line: int | None = None, kind=ProgramError) -> str:
    """The error that the function is refused with; `line` counts from the line of its `def`."""
    with pytest.raises(kind) as raised:
        build(mlp)
    if line is not None:
        assert f"line {inspect.getsourcelines(mlp)[1] + line}:" in str(raised.value)
    return str(raised.value)


def written(program: alta.Program, name: str, **codes: int) -> int:
    """The code of a variable after the program's MLP, other variables being 0."""
    arrays = {n: np.array([codes.get(n, 0)]) for n in program.domains}
    for c in program.updates.get(name, ()):
        if View(arrays).holds(c)[0]:
            return int(np.broadcast_to(act(c, arrays), 1)[0])
    return codes.get(name, 0)


def agrees(mlp) -> bool:
    """Whether the program writes what the function itself writes, for every assignment."""
    program = build(mlp)
    for codes in itertools.product(*map(range, program.sizes.values())):
        row = dict(zip(program.sizes, codes))
        expected = by_the_function(program, row)
        if any(written(program, n, **row) != expected[n] for n in program.variables):
            return False
    return True
