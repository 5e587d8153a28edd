"""Certificates: why a network equals its program, up to which length, and for its own number type.

Each condition is checked on the weights themselves, not on the compiler's intentions; `conditions/` has a module with
the argument for each. Together they prove that three executions (the program's interpreter, the network with attention
as a lookup, and the network with softmax) have equal traces, or end with the same error, on every input up to the
length. The proof assumes that arithmetic rounds as IEEE 754 says and that exp(0) is 1; matrix products may add up in
any order. `kleene.compiling.alta.attacks` looks for inputs that would disprove a certificate.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from kleene import kinds
from kleene.compiling.alta.conditions import Condition
from kleene.compiling.alta.conditions.means import averages, means_of, summable
from kleene.compiling.alta.conditions.undefined import undefined
from kleene.compiling.alta.conditions.units import SeenUnits, assignments
from kleene.compiling.alta.conditions.updates import MOST_ASSIGNMENTS, updates
from kleene.compiling.alta.conditions.weights import embeddings, steps, weights
from kleene.errors import InputError
from kleene.machines.transformer.attention import clears_exactly, hard_margin, most_counted
from kleene.machines.transformer.universal_transformer import UniversalTransformer
from kleene.programs.alta.cases import Case, View
from kleene.programs.alta.compat.program import AltaProgram
from kleene.programs.alta.program import Program
from kleene.programs.alta.sums import Sum
from kleene.programs.rasp.program import RaspProgram
from kleene.traces.markup import html_table


@dataclass(frozen=True)
class Certificate:
    """If all conditions hold, network and program have equal traces on every input of up to `length` tokens.

    `exhaustive`: that the cases are what the program's function does was found by running it on all combinations of the
    values that it reads, when the program was built; or the program was given as rules.
    """

    program: str
    dtype: str
    length: int
    conditions: tuple[Condition, ...]
    exhaustive: bool = False

    @property
    def valid(self) -> bool:
        return all(c.holds for c in self.conditions)

    @property
    def first_failure(self) -> Condition | None:
        return next((c for c in self.conditions if not c.holds), None)

    def __bool__(self) -> bool:
        return self.valid

    def __str__(self) -> str:
        verdict = f"{self.program} in {self.dtype}: network equals program for every input up to length {self.length:,}"
        if not self.valid:
            verdict = f"{self.program} in {self.dtype}: NOT certified for length {self.length:,}"
        return "\n".join([verdict, *(f"  {'✓' if c.holds else '✗'} {c.name}: {c.detail}" for c in self.conditions)])

    def _repr_html_(self) -> str:
        rows = [("✓" if c.holds else "✗", c.name, c.detail) for c in self.conditions]
        return html_table([("", "condition", "why"), *rows], caption=str(self).partition("\n")[0])

    def as_json(self) -> dict[str, Any]:
        first = self.first_failure
        return asdict(self) | {"valid": self.valid, "first_failure": None if first is None else first.name}


def certify(
    network: UniversalTransformer,
    *,
    length: int | None = None,
    program: Program | AltaProgram | RaspProgram | None = None,
) -> Certificate:
    """Why the network equals its program on every input of up to `length` tokens, or the first reason why it may not.

    The default `length` is the greatest possible: the program's own positions, or as many positions as attention can
    count and averages can be decided for. A network that was just compiled knows its program; one from a file needs
    `program`.

    >>> import kleene
    >>> from kleene.programs.alta.library import parity
    >>> certify(kleene.compile(parity.relative()), length=1000).valid
    True
    """
    if not isinstance(network, UniversalTransformer):
        raise InputError(
            f"a certificate is for the network of a transformer program, and this is a {type(network).__name__}; "
            f"kleene.check compares an automaton or a Turing machine with its network"
        )
    if length is not None and length < 1:
        raise InputError(f"a certificate is for inputs of at least one token, and length is {length}")
    found = program_of(network, program)
    seen = SeenUnits(network, found)  # its tables are made when they are first needed
    checks: tuple[Callable[[UniversalTransformer, Program, int], Condition], ...] = (
        _length, weights, lambda *_: function_condition(found), embeddings, selection, averages, steps, exclusive,
        lambda *_: updates(seen), lambda *_: undefined(seen), _clearing, _halting,
    )  # fmt: skip
    asked, conditions = (length or 1) + found.prefix, []  # positions: one more than tokens, if a start is before them
    for check in checks:
        conditions.append(check(network, found, asked))
        if not conditions[-1].holds:
            break  # later conditions may assume this one
        if check is weights and length is None:
            asked = longest(network, found)
            conditions[0] = _length(network, found, asked)
    return Certificate(found.name, network.dtype, asked - found.prefix, tuple(conditions), is_exhaustive(found))


def program_of(network: Any, program: Program | AltaProgram | RaspProgram | None) -> Program:
    """The given program, or the one that the network was compiled from."""
    found: Any = program if program is not None else (network.origin.program if network.origin is not None else None)
    found = kinds.lowered(kinds.adopted(found))
    if found is None:
        raise InputError("this network does not know its program, because it came from a file; give program=…")
    return found


def longest(network: UniversalTransformer, program: Program) -> int:
    """The greatest length that positions, counting and averages allow, and at least 1."""
    length = min(program.position_range or most_counted(network), most_counted(network))
    # With a small λ softmax is hard for few positions only: the margin must exceed that of one position by log(length).
    room = min(_margins(network, program).values(), default=math.inf) - hard_margin(network, 1)
    length = length if room > math.log(length) else math.ceil(math.exp(max(room, 0))) - 1
    for head in program.heads:
        means, length = means_of(network, program, head), min(length, summable(network, program, head))
        length = length if means is None else means.longest(length)
    return max(length, 1)


def _length(network: UniversalTransformer, program: Program, length: int) -> Condition:
    most = min(program.position_range or most_counted(network), most_counted(network))
    return Condition("length", length <= most, f"{length:,} of at most {most:,} positions")


def is_exhaustive(program: Program) -> bool:
    """Whether the cases are known to be the function's for all that it reads, and not for some of it alone."""
    return not callable(program.mlp) or program.enumeration is not None


def function_condition(program: Program) -> Condition:
    """How it is known that the cases are the function's."""
    how = f"{program.enumeration}" if callable(program.mlp) else "rules were given, and the cases are those rules"
    how = f"{how} (exhaustive)" if is_exhaustive(program) else "its cases were given; the certificate is for these"
    return Condition("function", True, how)


def selection(network: UniversalTransformer, program: Program, length: int) -> Condition:
    """A match outweighs all other positions together by more than the number type can represent."""
    if not program.heads:
        return Condition("selection", True, "no heads")
    head, least = min(_margins(network, program).items(), key=lambda item: item[1])
    needed = hard_margin(network, length)
    squares = min(1 if h.query is not None else 2 for h in program.heads.values())  # the least margin, in λ²
    scalar = f"λ = {math.ceil(math.sqrt(needed / squares) * 10) / 10:g}"
    if least <= needed:
        remedy = f"compile with attention_scalar from {scalar} on"
        detail = f"head {head!r} has a margin of {least:g}, and a length of {length:,} needs {needed:.1f}: {remedy}"
        return Condition("selection", False, detail)
    hard = f"logits differ by {least:,.0f} or more: softmax is exactly hard at this length, as it is from {scalar} on"
    return Condition("selection", True, hard)


def _margins(network: UniversalTransformer, program: Program) -> dict[str, float]:
    """By how much the score of a match leads, for each head: λ² with a query, 2λ² without one."""
    found = {}
    for h, (name, head) in enumerate(program.heads.items()):
        square = float(np.abs(network.query[h]).max(initial=0)) * float(np.abs(network.key[h]).max(initial=0))
        bias = network.relative[h].astype(np.float64)
        masked = bias[bias != 0].max(initial=-math.inf)
        found[name] = min(square if head.query is not None else math.inf, -masked - square)
    return found


def _clearing(network: UniversalTransformer, program: Program, length: int) -> Condition:
    """The heads' outputs are cleared after every MLP.

    The units that clear a head's number work up to a power of two that no number exceeds. A mean does not exceed it
    either, because rounding is monotone, and a mean of that power of two alone would not be rounded.
    """
    if not clears_exactly(network):
        return Condition("clearing", False, "the units that empty the heads' outputs do not do it exactly")
    return Condition("clearing", True, f"{len(program.heads)} heads' outputs are emptied exactly")


def _halting(network: UniversalTransformer, program: Program, length: int) -> Condition:
    """The network stops where the program does."""
    if program.halt is None:
        return Condition("halting", network.halt is None, f"{program.max_layers} layers, no halting condition")
    dim = network.layout.segment(program.halt.variable).start + program.halt.value
    expected = np.zeros(network.layout.width)
    expected[dim] = 1
    same = network.halt is not None and bool((network.halt.astype(np.float64) == expected).all())
    return Condition("halting", same, f"done when {program.halt.variable!r} is {program.halt.value} everywhere")


def exclusive(network: UniversalTransformer, program: Program, length: int) -> Condition:
    """No two cases of a variable can hold at once; pairs that no single feature separates are examined in full."""
    pairs = 0
    for target, cases in program.updates.items():
        pairs += len(cases) * (len(cases) - 1) // 2
        for i, j in np.argwhere(np.tril(_overlap(cases, program), -1)):
            a, b = cases[i], cases[j]
            if _meet(a, b, program):
                detail = f"two cases of {target!r} (lines {b.line} and {a.line}) can hold at once"
                return Condition("exclusive", False, detail)
    return Condition("exclusive", True, f"{pairs} pairs of cases exclude each other")


def _overlap(cases: Sequence[Case], program: Program) -> np.ndarray:
    """Which pairs of cases have, for every feature, a value that both allow."""
    found = np.ones((len(cases), len(cases)), dtype=bool)
    if len(cases) < 2:
        return found
    for feature in dict.fromkeys(f for c in cases for f, _ in c.where):
        size = feature.largest + 1 if isinstance(feature, Sum) else program.sizes[feature]
        allowed = np.ones((len(cases), size), dtype=np.float32)
        for row, c in enumerate(cases):
            if feature in c.conditions:
                allowed[row] = 0
                allowed[row, list(c.conditions[feature])] = 1
        found &= allowed @ allowed.T > 0
    return found


def _meet(a: Case, b: Case, program: Program) -> bool:
    where = dict(a.where)
    for feature, allowed in b.where:
        where[feature] = where.get(feature, allowed) & allowed
    if any(not allowed for allowed in where.values()):
        return False
    single = {f: s for f, s in where.items() if isinstance(f, str)}
    sums = [f for f in where if isinstance(f, Sum)]
    if all(where[f] & f.reachable(single) for f in sums) and len(sums) < 2:
        return True
    if any(not where[f] & f.reachable(single) for f in sums):
        return False
    names = sorted({v for f in sums for v in f.variables})
    if math.prod(len(single.get(v, range(program.sizes[v]))) for v in names) > MOST_ASSIGNMENTS:
        return True
    axes = [{v: np.array(sorted(single.get(v, range(program.sizes[v]))))} for v in names]
    both = Case(tuple((f, where[f]) for f in sums), a.action)
    return any(View(codes).holds(both).any() for codes in assignments(axes, len(names)))
