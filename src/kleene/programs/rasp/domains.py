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
from typing import Any

import numpy as np

from kleene.errors import ProgramError
from kleene.notation.words import value_key
from kleene.programs.rasp.graph import RaspError, RASPExpr

FREE, FAULT = -2, -3  # entries of a table: no input leads there; RASP gives no value there
MOST_VALUES = 4_000  # of one s-op
FUSED, LARGEST = 1 << 12, 1 << 18  # combinations in a table of several maps; in any table
SAME = 1e-12  # numbers whose difference is a smaller part of the greatest of them are one number for a head
MOST_ALIKE = 100  # lists of arguments that a network cannot tell apart
MOST_RANKED = 1_024  # values among which every pair is compared
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

    `loose`: a whole number among its values may be an int or a float, because means are floats and single values are
    not, and a network holds both as the same number. `twins` has, for the index of a value, others that RASP may have
    there and that the network holds as the same number too: floats that differ by rounding.
    """

    support: tuple[Atom, ...]
    codes: np.ndarray
    values: tuple[Any, ...]
    inside: np.ndarray = field(repr=False)
    loose: bool = False
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
    results, values = np.empty(len(asked), dtype=np.int64), Interned(expr)
    twins: dict[int, dict[Any, None]] = {}
    for at, index in enumerate(asked.tolist()):
        which = _places(tables, index)
        found, others = _result(expr, function, tables, which)
        results[at] = FAULT if found is None else values.code(found[0])
        if others:
            twins.setdefault(int(results[at]), {}).update(dict.fromkeys(others))
    codes = np.where(faulty, FAULT, FREE)
    codes[known] = results[places.reshape(-1)]
    if not values.found and len(asked):
        function(*_arguments(tables, _places(tables, int(asked[0]))))  # no value for anything: let it say why
    kept = {code: tuple(others) for code, others in twins.items()}
    loose = any(table.loose for table in tables)
    return ValueTable(support, codes, tuple(values.found.values()), inside, loose, kept)


def _result(
    expr: RASPExpr, function: Callable[..., Any], tables: Sequence[ValueTable], which: Sequence[int]
) -> tuple[tuple[Any] | None, list[Any]]:
    """The function's value, in a tuple, or None where it has none; and values that differ from it by rounding.

    Refuses a function that tells apart what a network holds as the same number. Where it raises for some of these, the
    others decide, because RASP has no value there.
    """
    arguments = _arguments(tables, which)
    found, used, others = _tried(function, arguments), arguments, []
    for other in _alike(expr, tables, which, arguments):
        new = _tried(function, other)
        if new is None or (found is not None and value_key(new[0]) == value_key(found[0])):
            continue
        if found is None:
            found, used = new, other
        elif is_rounded(found[0], new[0]):
            others.append(new[0])
        else:
            shown = ", ".join(map(repr, used)), ", ".join(map(repr, other))
            raise DomainError(
                f"{expr.described} has another value for {shown[1]} than for {shown[0]}. {why_alike(used, other)}"
            )
    return found, others


def _tried(function: Callable[..., Any], arguments: Sequence[Any]) -> tuple[Any] | None:
    try:
        return (function(*arguments),)
    except RaspError:
        return None


def _alike(
    expr: RASPExpr, tables: Sequence[ValueTable], which: Sequence[int], arguments: Sequence[Any]
) -> Iterator[Sequence[Any]]:
    """Other arguments that a network cannot tell from these; refuses too many."""
    if any(table.loose for table in tables):
        floats = [as_float(x, table.loose) for x, table in zip(arguments, tables)]
        if any(x is not y for x, y in zip(arguments, floats)):
            yield floats
    if any(table.twins for table in tables):
        sets = [(x, *table.twins.get(at, ())) for x, table, at in zip(arguments, tables, which)]
        if (count := math.prod(map(len, sets))) > MOST_ALIKE:
            raise DomainError(
                f"{expr.described} has {count:,} lists of arguments that differ from {', '.join(map(repr, arguments))} "
                f"only by rounding; the most that are compared is {MOST_ALIKE:,}. round() the numbers first"
            )
        yield from itertools.islice(itertools.product(*sets), 1, None)


def as_float(value: Any, loose: bool) -> Any:
    """The value as it may also be: an int that can be a mean as a float, in a tuple too; the same object if it is none.

    >>> as_float((1, "a", (2, 0.5)), True)
    (1.0, 'a', (2.0, 0.5))
    """
    if loose and isinstance(value, tuple):
        parts = tuple(as_float(part, loose) for part in value)
        return parts if any(x is not y for x, y in zip(value, parts)) else value
    return float(value) if loose and type(value) is int else value


def is_rounded(one: Any, other: Any) -> bool:
    """Whether two values differ only by rounding: numbers, or numbers in tuples."""
    if isinstance(one, tuple) and isinstance(other, tuple):
        return len(one) == len(other) and all(map(is_rounded, one, other))
    if value_key(one) == value_key(other):
        return True
    if not isinstance(one, (int, float)) or not isinstance(other, (int, float)):
        return False
    return float in (type(one), type(other)) and abs(one - other) <= SAME * max(1.0, abs(one))


def why_alike(arguments: Sequence[Any], other: Sequence[Any]) -> str:
    """Why a network cannot tell two lists of arguments apart, and what to do."""
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
            key = value_key(value)
            known = self.found.setdefault(key, value)
        except TypeError:
            raise DomainError(
                f"{self._expr.described} has the value {value!r}; a network holds numbers, texts, truth values, None "
                f"and tuples of them"
            ) from None
        if known != known:
            raise DomainError(f"{self._expr.described} has the value {value!r}, which is no number")
        if len(self.found) > MOST_VALUES:
            raise DomainError(
                f"{self._expr.described} takes more than {MOST_VALUES:,} values. Use a smaller vocabulary or "
                f"max_length, or map its inputs to fewer values first"
            )
        return self._codes.setdefault(key, len(self._codes))
