"""The values that each part of a RASP program can take, as tables over what the MLP of a network can read.

An `Atom` is what an MLP reads: a variable, or the output of a head. A `ValueTable` gives the value of an s-op for every
combination of the codes of its atoms, so maps of maps are one table and cost no layer. Every table also has its entries
on a sample of inputs (`sampling.py`), which holds every length, and so everything that follows from positions alone.
"""

import itertools
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NoReturn

import numpy as np

from kleene.errors import FunctionError, ProgramError
from kleene.programs.rasp.graph import RaspError, RASPExpr
from kleene.traces.values import renewed, value_key
from kleene.users_code import users_code

FREE, FAULT = -2, -3  # entries of a table: no input leads there; RASP gives no value there
MOST_VALUES = 4_000  # of one s-op
FUSED, LARGEST = 1 << 12, 1 << 18  # combinations in a table of several maps; in any table
SAME = 1e-12  # numbers whose difference is a smaller part of the greatest of them are one number for a head
MOST_ALIKE = 256  # lists of arguments that a network cannot tell apart
QUESTIONS = 16  # that are asked again, at least: chance may well answer a few alike
MOST_RANKED = 1_024  # values among which every pair is compared
NO_VALUE = type("NoValue", (), {"__repr__": lambda self: "no value"})()
Twins = Mapping[int, tuple[Any, ...]]  # see `ValueTable`


class DomainError(ProgramError):
    """A part of a RASP program takes too many values for a network; the message names it."""


@dataclass(frozen=True, eq=False)
class Ranking:
    """What a count counts, if its keys and queries are one s-op: that s-op, and what is selected, (query, key)."""

    table: "ValueTable"
    chosen: np.ndarray

    @cached_property
    def apart(self) -> np.ndarray:
        """The pairs of values whose counts differ in every input that has both, as those of ranks do.

        One of them selects all that the other does, and one of the two values besides.
        """
        chosen, own = self.chosen, np.diagonal(self.chosen)
        witness = (chosen & ~own[None, :]) | (own[:, None] & ~chosen.T)  # (more, less)
        more = witness & self._holds_all.T
        return more | more.T

    @property
    def _holds_all(self) -> np.ndarray:
        """Whether all that the first selects is selected by the second, (first, second)."""
        sizes = self.chosen.sum(axis=1)
        chain = self.chosen[np.argsort(sizes, kind="stable")]
        if not (chain[:-1] & ~chain[1:]).any():  # as with < and the like: it is enough to compare sizes
            return sizes[:, None] <= sizes[None, :]
        if len(self.chosen) > MOST_RANKED:
            return np.zeros(self.chosen.shape, dtype=bool)
        return self.chosen.astype(np.float32) @ (~self.chosen).T.astype(np.float32) == 0


@dataclass(frozen=True, eq=False)
class Atom:
    """A variable or the output of a head: its name in the program, and the value that each of its codes stands for.

    It is right from `layer` on: a head's output for the MLP of that layer, a variable for the layer after it. A head is
    undefined where its `guard` has one of the codes `without`: a count that is zero, or a position that selects
    nothing. `seen` has its codes on the sample.
    """

    name: str
    size: int
    layer: int
    seen: np.ndarray
    is_head: bool = False
    positional: bool = False  # whether it follows from the position and the length alone
    distinct: bool = False  # whether every position has another code
    ranking: Ranking | None = None  # what a count counts
    certain: bool = True  # whether a head is proven to be defined; if not, a run looks at it wherever it may matter
    guard: "Atom | None" = None
    without: frozenset[int] = frozenset()

    @property
    def ready(self) -> int:
        """The first layer whose MLP can read it."""
        return self.layer if self.is_head else self.layer + 1


@dataclass(frozen=True, eq=False)
class ValueTable:
    """The value of an s-op: for every combination of its atoms' codes an index into `values`, or FREE or FAULT.

    `twins` has, for the index of a value, others that RASP may have there and that the network holds as the same
    number: an int that may be a float, because means are floats and single values are not; floats that differ by
    rounding; zeros of both signs.
    """

    support: tuple[Atom, ...]
    codes: np.ndarray
    values: tuple[Any, ...]
    inside: np.ndarray = field(repr=False)
    twins: Twins = field(default_factory=dict, repr=False)

    @cached_property
    def seen(self) -> np.ndarray:
        """The indices on the sample; FREE outside an input."""
        found = self.codes[tuple(atom.seen for atom in self.support)]
        return np.where(self.inside, found, FREE)

    @property
    def positional(self) -> bool:
        return all(atom.positional for atom in self.support)

    def aligned(self, support: Sequence[Atom]) -> np.ndarray:
        """The codes with an axis for every atom of a larger support, of length 1 for those that it has not."""
        order = sorted(range(len(self.support)), key=lambda a: support.index(self.support[a]))
        codes = np.transpose(self.codes, order)
        return codes.reshape([atom.size if atom in self.support else 1 for atom in support])


def joined_support(tables: Sequence[ValueTable]) -> tuple[Atom, ...]:
    """The atoms of all tables, each once."""
    return tuple(dict.fromkeys(atom for table in tables for atom in table.support))


def combinations(tables: Sequence[ValueTable]) -> int:
    """How many combinations of codes the tables have together."""
    return math.prod(atom.size for atom in joined_support(tables))


@users_code()
def combined(
    expr: RASPExpr, function: Callable[..., Any], tables: Sequence[ValueTable], inside: np.ndarray
) -> ValueTable:
    """The table of a function of several s-ops, which is called once for each combination of values that can occur."""
    support = joined_support(tables)
    shape = tuple(atom.size for atom in support)
    if math.prod(shape) > LARGEST:
        sizes = " × ".join(f"{len(table.values):,}" for table in tables)
        raise DomainError(
            f"{expr.described} combines {sizes} values, in {math.prod(shape):,} ways; the most that a network is made "
            f"for is {LARGEST:,}. Use a smaller vocabulary or max_length, or map its inputs to fewer values first"
        )
    parts = [np.broadcast_to(table.aligned(support), shape) for table in tables]
    known = np.logical_and.reduce([part >= 0 for part in parts]) if parts else np.ones(shape, dtype=bool)
    faulty = np.logical_or.reduce([part == FAULT for part in parts]) if parts else np.zeros(shape, dtype=bool)
    if support and all(atom.positional for atom in support):  # the sample holds all that can occur
        occurs = np.zeros(shape, dtype=bool)
        occurs[tuple(atom.seen[inside] for atom in support)] = True
        known, faulty = known & occurs, faulty & occurs
    joint = np.zeros(int(known.sum()), dtype=np.int64)
    for table, part in zip(tables, parts):
        joint = joint * len(table.values) + part[known]
    asked, places = np.unique(joint, return_inverse=True)
    answers = [_result(expr, function, tables, _places(tables, index)) for index in asked.tolist()]
    for _ in rounds(len(asked)):
        for index, answer in zip(asked[::-1].tolist(), answers[::-1]):
            _refuse_impure(expr, function, tables, _places(tables, index), answer)
    results, values = np.empty(len(asked), dtype=np.int64), Interned(expr)
    twins: dict[int, dict[Any, Any]] = {}
    for at, answer in enumerate(answers):
        results[at] = values.code(answer[0]) if answer else FAULT
        if len(answer) > 1:
            twins.setdefault(int(results[at]), {}).update((value_key(other), other) for other in answer[1:])
    codes = np.where(faulty, FAULT, FREE)
    codes[known] = results[places.reshape(-1)]
    if not values.found and len(asked):
        function(*_arguments(tables, _places(tables, int(asked[0]))))  # no value for anything: let it say why
    kept = {code: tuple(others.values()) for code, others in twins.items()}
    return ValueTable(support, codes, tuple(values.found.values()), inside, kept)


def _result(
    expr: RASPExpr, function: Callable[..., Any], tables: Sequence[ValueTable], which: Sequence[int]
) -> list[Any]:
    """The function's value, and then others that differ from it by rounding; nothing where it has none.

    Refuses a function that tells apart what a network holds as the same number. Where it raises for some of these, the
    others decide, because RASP has no value there.
    """
    found: dict[Any, Any] = {}
    used: Sequence[Any] = ()
    for arguments in _alike(expr, tables, which):
        try:
            new = function(*arguments)
        except RaspError:
            continue
        first = next(iter(found.values()), new)
        if not is_rounded(first, new):
            shown = ", ".join(map(repr, used)), ", ".join(map(repr, arguments))
            raise DomainError(
                f"{expr.described} has another value for {shown[1]} than for {shown[0]}. {why_alike(used, arguments)}"
            )
        used = used or arguments
        found.setdefault(value_key(new), new)
    return list(found.values())


def rounds(questions: int) -> range:
    """How often so many questions are asked again: once, or more often where they are few."""
    return range(max(1, QUESTIONS // max(1, questions)))


def _refuse_impure(
    expr: RASPExpr, function: Callable[..., Any], tables: Sequence[ValueTable], which: Sequence[int], answer: list[Any]
) -> None:
    """Ask the function again, with new objects of the same values, and refuse it if it answers otherwise."""
    again = _result(expr, lambda *values: function(*map(renewed, values)), tables, which)
    if [*map(value_key, again)] == [*map(value_key, answer)]:
        return
    pairs = itertools.zip_longest(answer, again, fillvalue=NO_VALUE)
    one, other = next(pair for pair in pairs if value_key(pair[0]) != value_key(pair[1]))
    refuse_answers(expr, _arguments(tables, which), one, other)


def refuse_answers(expr: RASPExpr, arguments: Sequence[Any], one: Any, other: Any) -> NoReturn:
    """Refuse a function that gave one value for the arguments when it was first asked, and then another."""
    shown = ", ".join(map(repr, arguments))
    if type(one) is type(other) and one == other and not isinstance(one, (int, float, str)):
        raise FunctionError(
            f"{expr.described} has the values {one!r} and {other!r} for {shown}, which are equal, and nothing shows "
            f"that they are the same. Return numbers, texts, truth values, None or tuples of them"
        )
    raise FunctionError(
        f"{expr.described} does not answer the same when it is asked again: for {shown} its function gave {one!r} the "
        f"first time and {other!r} the second. It must depend on its arguments alone, not on chance, on time, on what "
        f"it has kept from before, or on `is` between numbers, texts or tuples"
    )


def _alike(expr: RASPExpr, tables: Sequence[ValueTable], which: Sequence[int]) -> Iterator[Sequence[Any]]:
    """All lists of arguments that a network cannot tell from the first; refuses too many."""
    arguments = _arguments(tables, which)
    if not any(table.twins for table in tables):
        yield arguments
        return
    sets = [(x, *table.twins.get(at, ())) for x, table, at in zip(arguments, tables, which)]
    if (count := math.prod(map(len, sets))) > MOST_ALIKE:
        raise DomainError(
            f"{expr.described} has {count:,} lists of arguments that differ from {', '.join(map(repr, arguments))} "
            f"only by rounding; the most that are compared is {MOST_ALIKE:,}. round() the numbers first"
        )
    yield from itertools.product(*sets)


def is_rounded(one: Any, other: Any) -> bool:
    """Whether two values are the same, or differ only by rounding: a float from a number, also in tuples."""
    if value_key(one) == value_key(other):
        return True
    if isinstance(one, tuple) and type(one) is type(other):
        return len(one) == len(other) and all(map(is_rounded, one, other))
    if not isinstance(one, (int, float)) or {type(one), type(other)} not in ({float}, {int, float}):
        return False
    try:
        return abs(one - other) <= SAME * max(1.0, abs(one))
    except OverflowError:  # an int that no float can hold
        return False


def why_alike(arguments: Sequence[Any], other: Sequence[Any]) -> str:
    """Why a network cannot tell two lists of arguments apart, and what to do."""
    if any(x == y == 0 and type(x) is type(y) is float and str(x) != str(y) for x, y in zip(arguments, other)):
        return "A network averages 0.0 and -0.0 as the same number; add 0.0 first, which makes both 0.0"
    if all(x == y for x, y in zip(arguments, other)):
        return (
            "An aggregate gives a float for a mean and an int for a single value, and a network holds both as the same "
            "number; apply float() first"
        )
    return (
        "They differ by rounding, and a network averages them as the same number; round() the numbers before the "
        "aggregate, or compare with a margin"
    )


def _places(tables: Sequence[ValueTable], index: int) -> list[int]:
    """The value of each table in the combination of that number."""
    places = []
    for table in reversed(tables):
        index, which = divmod(index, len(table.values))
        places.append(which)
    return places[::-1]


def _arguments(tables: Sequence[ValueTable], which: Sequence[int]) -> list[Any]:
    return [table.values[at] for table, at in zip(tables, which)]


class Interned:
    """The different values of an expression in the order in which they were met."""

    def __init__(self, expr: RASPExpr):
        self._expr = expr
        self.found: dict[Any, Any] = {}
        self._codes: dict[Any, int] = {}

    def code(self, value: Any) -> int:
        """The index of the value, which is added if it is new; refuses one too many and what cannot be compared."""
        try:
            hash(value)
        except TypeError:
            raise DomainError(
                f"{self._expr.described} has the value {value!r}; a network holds numbers, texts, truth values, None "
                f"and tuples of them"
            ) from None
        key = value_key(value)
        self.found.setdefault(key, value)
        if len(self.found) > MOST_VALUES:
            raise DomainError(
                f"{self._expr.described} takes more than {MOST_VALUES:,} values. Use a smaller vocabulary or "
                f"max_length, or map its inputs to fewer values first"
            )
        return self._codes.setdefault(key, len(self._codes))
