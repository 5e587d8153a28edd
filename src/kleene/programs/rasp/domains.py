"""The values that each part of a RASP program can take, as tables over what the MLP of a network can read.

An `Atom` is what an MLP reads: a variable, or the output of a head. A `ValueTable` gives the value of an s-op for every
combination of the codes of its atoms, so maps of maps are one table and cost no layer. Every table also has its entries
on a `Sample` of inputs, which holds every length, and so everything that follows from positions alone.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np

from kleene.errors import ProgramError
from kleene.notation.words import value_key
from kleene.programs.rasp.graph import RaspError, RASPExpr

FREE, FAULT = -2, -3  # entries of a table: no input leads there; RASP gives no value there
MOST_VALUES = 4_000  # of one s-op
FUSED, LARGEST = 1 << 12, 1 << 18  # combinations in a table of several maps; in any table


class DomainError(ProgramError):
    """A part of a RASP program takes too many values for a network; the message names it."""


@dataclass(frozen=True, eq=False)
class Sample:
    """Inputs of every length: vocabulary indices (batch, position), and which positions are inside an input."""

    words: np.ndarray
    inside: np.ndarray

    @staticmethod
    def of(
        vocabulary: int,
        longest: int,
        named: Sequence[int] = (),
        *,
        most: int = 2_048,
        each: int = 48,
        seed: int = 0,
    ) -> "Sample":
        """All inputs if they are few; otherwise random ones of every length, some with few words, or `named` ones."""
        lengths = range(1, longest + 1)
        if sum(vocabulary**n for n in lengths) <= most:
            rows = [np.array(list(np.ndindex(*[vocabulary] * n))) for n in lengths]
        else:
            chance = np.random.default_rng(seed)
            rows = [np.concatenate(_drawn(chance, vocabulary, n, each)) for n in lengths]
            if 0 < len(named) < vocabulary:
                rows = [np.concatenate([some, chance.choice(named, size=(each, some.shape[1]))]) for some in rows]
        words = np.zeros((sum(map(len, rows)), longest), dtype=np.int64)
        inside = np.zeros(words.shape, dtype=bool)
        start = 0
        for n, some in zip(lengths, rows):
            words[start : start + len(some), :n] = some
            inside[start : start + len(some), :n] = True
            start += len(some)
        return Sample(words, inside)


def _drawn(chance: np.random.Generator, vocabulary: int, n: int, each: int) -> list[np.ndarray]:
    """Random words of one length: any symbols, two symbols, one symbol, no symbol twice if possible, sorted ones."""
    anything = chance.integers(vocabulary, size=(each, n))
    two = np.take_along_axis(chance.integers(vocabulary, size=(each, 2)), chance.integers(2, size=(each, n)), axis=1)
    one = np.repeat(chance.integers(vocabulary, size=(4, 1)), n, axis=1)
    found = [anything, two, one, np.sort(anything[:8], axis=1), -np.sort(-anything[:8], axis=1)]
    if vocabulary >= n:
        found.append(np.stack([chance.permutation(vocabulary)[:n] for _ in range(each)]))
    return found


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
    not, and a network holds both as the same number.
    """

    support: tuple[Atom, ...]
    codes: np.ndarray
    values: tuple[Any, ...]
    inside: np.ndarray = field(repr=False)
    loose: bool = False

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
    for at, index in enumerate(asked.tolist()):
        arguments = _arguments(tables, index)
        try:
            results[at] = values.code(function(*arguments))
        except RaspError:
            results[at] = FAULT
            continue
        if any(table.loose for table in tables):
            _refuse_typed(expr, function, tables, arguments, list(values.found)[results[at]])
    codes = np.where(faulty, FAULT, FREE)
    codes[known] = results[places.reshape(-1)]
    if not values.found and len(asked):
        function(*_arguments(tables, int(asked[0])))  # it has no value for anything: let it say why
    return ValueTable(support, codes, tuple(values.found.values()), inside, any(table.loose for table in tables))


def _refuse_typed(
    expr: RASPExpr, function: Callable[..., Any], tables: Sequence[ValueTable], arguments: list[Any], key: Any
) -> None:
    """Refuse a function that tells 1 from 1.0 where a network cannot."""
    other = [float(x) if table.loose and type(x) is int else x for x, table in zip(arguments, tables)]
    if all(type(x) is type(y) for x, y in zip(arguments, other)):
        return
    try:
        same = value_key(function(*other)) == key
    except RaspError:
        same = False
    if not same:
        shown = ", ".join(map(repr, arguments)), ", ".join(map(repr, other))
        raise DomainError(
            f"{expr.described} has another value for {shown[1]} than for {shown[0]}. An aggregate gives a float for a "
            f"mean and an int for a single value, and a network holds both as the same number; apply float() first"
        )


def _arguments(tables: Sequence[ValueTable], index: int) -> list[Any]:
    """The values of the tables in the combination of that number."""
    arguments = []
    for table in reversed(tables):
        index, which = divmod(index, len(table.values))
        arguments.append(table.values[which])
    return arguments[::-1]


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


def means(expr: RASPExpr, numbers: Sequence[float], most: int) -> list[float]:
    """Every mean of one to `most` of the numbers; a DomainError if they are too many."""
    odd = next((number for number in numbers if not _is_fraction(number)), None)
    if odd is not None:
        raise DomainError(
            f"{expr.described} takes means of {len(numbers)} numbers, and {odd!r} is no fraction with a denominator of "
            f"up to a million; round it first"
        )
    exact = [Fraction(number).limit_denominator(10**6) for number in numbers]
    scale = math.lcm(*(number.denominator for number in exact))
    steps = np.unique([int(number * scale) for number in exact])
    found: set[Fraction] = set()
    sums = np.zeros(1, dtype=np.int64)
    for count in range(1, most + 1):
        sums = np.unique(np.add.outer(sums, steps))
        if len(sums) > 4 * MOST_VALUES:
            break
        found.update(Fraction(total, count * scale) for total in sums.tolist())
        if len(found) > MOST_VALUES:
            break
    if len(found) > MOST_VALUES or len(sums) > 4 * MOST_VALUES:
        raise DomainError(
            f"{expr.described} takes means of up to {most} of {len(numbers)} numbers, which are more than "
            f"{MOST_VALUES:,} values. Use a smaller vocabulary or max_length, or map its inputs to fewer values first"
        )
    return sorted(float(mean) for mean in found)


def _is_fraction(number: float) -> bool:
    if not math.isfinite(number):
        return False
    return abs(float(Fraction(number).limit_denominator(10**6)) - number) <= 1e-12 * max(1.0, abs(number))
