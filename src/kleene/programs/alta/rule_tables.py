"""Sums in rules that are given by hand: the rules of one variable as a table, and the few cases that stand for it.

Rules that loop over the values of several variables spell out a table. Often it is a function of a sum of one term a
variable (`carry + a + b`), or of whether such a sum has a value (`position == pointer`). The terms are found from the
table itself, by sliding its rows along each other until they agree; what is found is then compared with every entry.
"""

import itertools
import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from kleene.programs.alta.cases import Case, Constant, Feature, Lookup, Sizes, case
from kleene.programs.alta.symbols import Sum

NOTHING, FREE = -1, -2  # entries that write nothing, and entries that may be anything, as they end a run
LARGEST = 1 << 22
MOST_CLASSES = 4  # parts into which one or two variables may divide a table

Where = dict[Feature, frozenset[int]]
Entries = Mapping[tuple[int, ...], int]


@dataclass(frozen=True)
class RuleTable:
    """What the rules with one set of conditions write to one variable: an entry for each combination of `axes`.

    Where the old value of the target is among the conditions, writing nothing is as good as writing that.
    """

    target: str
    names: tuple[str, ...]
    axes: tuple[tuple[int, ...], ...]
    entries: np.ndarray
    given: np.ndarray  # where there is a rule

    @staticmethod
    def of(target: str, names: tuple[str, ...], rules: Entries) -> "RuleTable | None":
        """The table of rules, or None where it would be too large."""
        codes = np.array(list(rules), dtype=np.int64).reshape(len(rules), len(names))
        axes = [np.unique(column) for column in codes.T]
        if math.prod(len(axis) for axis in axes) > LARGEST:
            return None
        places = tuple(np.searchsorted(axis, column) for axis, column in zip(axes, codes.T))
        entries = np.full([len(axis) for axis in axes], NOTHING, dtype=np.int64)
        entries[places] = list(rules.values())
        given = entries != NOTHING
        if target in names:
            at = names.index(target)
            old = axes[at].reshape([-1 if a == at else 1 for a in range(len(names))])
            entries = np.where(given, entries, old)
        return RuleTable(target, names, tuple(tuple(axis.tolist()) for axis in axes), entries, given)

    def cases(self, sizes: Sizes, heads: Collection[str]) -> list[Case] | None:
        """Few disjoint cases that write exactly what the rules do, or None where none were found."""
        found = _Search(self.target, sizes).cases(self.names, self.axes, self.entries, {})
        return found if found is not None and self._agrees(found, heads) else None

    def _agrees(self, cases: list[Case], heads: Collection[str]) -> bool:
        """Whether the cases write every entry, look at no head where no rule does, and exclude each other."""
        from kleene.programs.alta.interpreter import View
        from kleene.programs.alta.rules import act

        grids = np.meshgrid(*(np.array(axis) for axis in self.axes), indexing="ij")
        codes = {name: grid.reshape(-1) for name, grid in zip(self.names, grids)}
        view = View(codes)
        entries, covered = self.entries.reshape(-1), np.zeros(self.entries.size, dtype=int)
        nothing = entries == codes.get(self.target, NOTHING)
        for c in cases:
            holds = view.holds(c)
            covered += holds
            wrong = (act(c, codes) != entries) & (entries != FREE)
            if (holds & wrong).any():
                return False
        if (covered > 1).any() or ((covered == 0) & ~nothing & (entries != FREE)).any():
            return False
        filled = (covered > 0).reshape(self.entries.shape) & ~self.given
        looked = [self.given.any(axis=a, keepdims=True) for a, name in enumerate(self.names) if name in heads]
        return all(bool((there | ~filled).all()) for there in looked)


def cost(cases: Sequence[Case]) -> int:
    """About how many hidden units the cases come to."""
    return sum(_writes(c) + 2 * sum(isinstance(f, Sum) for f, _ in c.where) for c in cases)


def _writes(c: Case) -> int:
    if isinstance(c.action, Constant):
        return 1
    assert isinstance(c.action, Lookup)
    codes = [code for _, code in c.action.codes]
    if isinstance(c.action.feature, Sum):
        return 1 + sum(a != b for a, b in itertools.pairwise(codes))
    return len(set(codes))


@dataclass(frozen=True)
class _Search:
    """Looks for few cases that stand for a table, from the whole of it to its parts."""

    target: str
    sizes: Sizes

    def cases(self, names, axes, table: np.ndarray, where: Where) -> list[Case] | None:
        names, axes, table, where = self._needed(names, axes, table, where)
        if self._writes_nothing(names, axes, table):
            return []
        if table.ndim < 2:
            return [self._simple(names, axes, table, where)]
        options = (self._as_sum, self._by_pair, self._by_variable)
        found = [f for f in (option(names, axes, table, where) for option in options) if f is not None]
        return min(found, key=cost, default=None)

    def _needed(self, names, axes, table: np.ndarray, where: Where):
        """The table without the variables that it does not depend on; their codes become conditions."""
        kept, where = [], dict(where)
        for axis, name in enumerate(names):
            if len(axes[axis]) < self.sizes[name]:
                where[name] = frozenset(axes[axis])
            first = table.take([0], axis=axis)
            if not (table == first).all():
                kept.append(axis)
        chosen = tuple(slice(None) if a in kept else 0 for a in range(table.ndim))
        return tuple(names[a] for a in kept), tuple(axes[a] for a in kept), table[chosen], where

    def _writes_nothing(self, names, axes, table: np.ndarray) -> bool:
        if self.target not in names:
            return bool((table < 0).all())
        at = names.index(self.target)
        old = np.array(axes[at]).reshape([-1 if a == at else 1 for a in range(table.ndim)])
        return bool(((table == old) | (table < 0)).all())

    def _simple(self, names, axes, table: np.ndarray, where: Where) -> Case:
        if table.ndim == 0:
            return case(where, Constant(int(table)))
        codes = tuple((code, int(new)) for code, new in zip(axes[0], table) if new >= 0)
        if len(codes) < self.sizes[names[0]]:
            where = where | {names[0]: frozenset(code for code, _ in codes)}
        written = {new for _, new in codes}
        return case(where, Constant(written.pop()) if len(written) == 1 else Lookup(names[0], codes))

    def _as_sum(self, names, axes, table: np.ndarray, where: Where) -> list[Case] | None:
        """The whole table as a function of one sum."""
        found = find_sum(names, axes, table, self.sizes)
        if found is None:
            return None
        total, labels = found
        codes = tuple((value, label) for value, label in labels if label >= 0)
        if len(codes) < len(labels):
            where = where | {total: frozenset(value for value, _ in codes)}
        written = {new for _, new in codes}
        return [case(where, Constant(written.pop()) if len(written) == 1 else Lookup(total, codes))]

    def _by_pair(self, names, axes, table: np.ndarray, where: Where) -> list[Case] | None:
        """The table divided by a sum of two variables that decides what the others do."""
        best: list[Case] | None = None
        for pair in itertools.combinations(range(table.ndim), 2):
            rest = tuple(a for a in range(table.ndim) if a not in pair)
            if not rest:
                continue
            labels, parts = _classes(table, pair)
            if len(parts) > MOST_CLASSES or _boxes(labels) <= 2 * len(parts):
                continue
            found = find_sum([names[a] for a in pair], [axes[a] for a in pair], labels, self.sizes)
            if found is None:
                continue
            total, values = found
            cases: list[Case] | None = []
            for label, part in enumerate(parts):
                within = where | {total: frozenset(value for value, which in values if which == label)}
                below = self.cases([names[a] for a in rest], [axes[a] for a in rest], part, within)
                cases = None if cases is None or below is None else cases + below
            if cases is not None and (best is None or cost(cases) < cost(best)):
                best = cases
        return best

    def _by_variable(self, names, axes, table: np.ndarray, where: Where) -> list[Case] | None:
        """The table divided by the values of the variable that divides it into the fewest parts."""
        options = [(len((found := _classes(table, (axis,)))[1]), axis, found) for axis in range(table.ndim)]
        count, axis, (labels, parts) = min(options, key=lambda option: option[:2])
        if count > MOST_CLASSES:
            return None
        rest = [a for a in range(table.ndim) if a != axis]
        cases: list[Case] = []
        for label, part in enumerate(parts):
            codes = frozenset(axes[axis][i] for i in np.flatnonzero(labels == label))
            below = self.cases([names[a] for a in rest], [axes[a] for a in rest], part, where | {names[axis]: codes})
            if below is None:
                return None
            cases += below
        return cases


def _classes(table: np.ndarray, axes: tuple[int, ...]) -> tuple[np.ndarray, list[np.ndarray]]:
    """Which combinations of these axes have the same table below them: a label for each, and the tables."""
    front = np.moveaxis(table, axes, range(len(axes)))
    shape = front.shape[: len(axes)]
    rows = np.ascontiguousarray(front.reshape(math.prod(shape), -1))
    known: dict[bytes, int] = {}
    labels = np.array([known.setdefault(row.tobytes(), len(known)) for row in rows]).reshape(shape)
    firsts = [int(np.flatnonzero(labels.reshape(-1) == label)[0]) for label in range(len(known))]
    return labels, [front.reshape(math.prod(shape), *front.shape[len(axes) :])[first] for first in firsts]


def _boxes(labels: np.ndarray) -> int:
    """About how many boxes the classes of two variables come to: the distinct rows of each class."""
    return sum(len({row.tobytes() for row in labels == label if row.any()}) for label in np.unique(labels))


def find_sum(
    names: Sequence[str], axes: Sequence[Sequence[int]], table: np.ndarray, sizes: Sizes
) -> tuple[Sum, tuple[tuple[int, int], ...]] | None:
    """A sum of one term a variable of which the table is a function, and its value for every total that occurs.

    Any table is a function of some sum (that of the digits of a number). One counts as found where the function
    changes less often than the table has rows, and of those found the one that changes least is given.
    """
    best: tuple[int, list[np.ndarray]] | None = None
    for ruler in range(table.ndim):
        terms = _aligned(table, axes, ruler)
        if terms is not None:
            changes = _changes(_function(table, terms))
            if best is None or changes < best[0]:
                best = changes, terms
    if best is None or best[0] >= min(table.size // 2, sum(table.shape) * 2):
        return None
    whole = {n: _extended(axis, term, sizes[n]) for n, axis, term in zip(names, axes, best[1])}
    total = Sum.of(whole)
    parts = dict(total.terms)
    chosen = [np.array(parts[n])[list(axis)] for n, axis in zip(names, axes)]
    function = _function(table, chosen)
    reachable = total.reachable({n: frozenset(axis) for n, axis in zip(names, axes)})
    return None if not function else (total, tuple(_filled(function, reachable).items()))


def _aligned(table: np.ndarray, axes: Sequence[Sequence[int]], ruler: int) -> list[np.ndarray] | None:
    """Terms under which the table may be a function of their sum: the ruler's own codes, and for every other variable
    how far its rows must be slid along."""
    order = [ruler, *(a for a in range(table.ndim) if a != ruler)]
    front = np.transpose(table, order)
    codes = np.array(axes[ruler])
    terms = [codes - codes[0]]
    known = _function(front[(slice(None), *[0] * (table.ndim - 1))], terms)
    if known is None:
        return None
    for axis in range(1, table.ndim):
        slid = [0]
        for index in range(1, front.shape[axis]):
            place = (*(slice(None) for _ in terms), index, *[0] * (table.ndim - 1 - axis))
            row = _function(front[place], terms)
            hint = 2 * slid[-1] - slid[-2] if len(slid) > 1 else 0
            shift = None if row is None else _shift(known, row, hint)
            if row is None or shift is None:
                return None
            slid.append(shift)
            known = known | {k + shift: v for k, v in row.items()}
        terms.append(np.array(slid) - min(slid))
        known = {k - min(slid): v for k, v in known.items()}
    found = [terms[order.index(a)] for a in range(table.ndim)]
    return found if _function(table, found) is not None else None


def _function(table: np.ndarray, terms: list[np.ndarray]) -> dict[int, int] | None:
    """The value of the table for every total of the terms, without the totals at which it is free."""
    totals = np.sum(np.meshgrid(*terms, indexing="ij"), axis=0).reshape(-1)
    values = table.reshape(-1)
    fixed = values != FREE
    totals, values = totals[fixed], values[fixed]
    if not len(totals):
        return {}
    low = totals.min()
    found = np.full(totals.max() - low + 1, FREE, dtype=np.int64)
    found[totals - low] = values
    if (found[totals - low] != values).any():
        return None
    return {int(k + low): int(found[k]) for k in np.flatnonzero(found != FREE)}


def _shift(known: dict[int, int], row: dict[int, int], hint: int) -> int | None:
    """How far to slide the row so that it agrees with what is known on the longest overlap; None where it cannot."""
    if not row or not known:
        return hint
    low, high = min(known), max(known)
    start, end = min(row), max(row)
    line = np.full(high - low + 1 + 2 * (end - start), FREE, dtype=np.int64)
    margin = end - start
    line[[k - low + margin for k in known]] = list(known.values())
    piece = np.full(end - start + 1, FREE, dtype=np.int64)
    piece[[k - start for k in row]] = list(row.values())
    windows = np.lib.stride_tricks.sliding_window_view(line, len(piece))
    both = (windows != FREE) & (piece != FREE)
    agree = ~(both & (windows != piece)).any(axis=1)
    overlap = np.where(agree, both.sum(axis=1), 0)
    if not overlap.any():
        return None
    shifts = np.arange(len(windows)) + low - margin - start
    return int(min(shifts[overlap == overlap.max()], key=lambda shift: abs(shift - hint)))


def _changes(function: dict[int, int] | None) -> int:
    ordered = [] if function is None else [function[k] for k in sorted(function)]
    return sum(a != b for a, b in itertools.pairwise(ordered))


def _extended(axis: Sequence[int], term: np.ndarray, size: int) -> np.ndarray:
    """The term for every code: where the axis has none, on the line through its ends if the term is a line."""
    full = np.full(size, term.min(), dtype=np.int64)
    codes = np.array(axis)
    if len(codes) > 1:
        slope = (term[-1] - term[0]) // (codes[-1] - codes[0])
        line = term[0] + slope * (np.arange(size) - codes[0])
        if (line[codes] == term).all():
            return line
    full[codes] = term
    return full


def _filled(function: dict[int, int], reachable: Collection[int]) -> dict[int, int]:
    """The function for every total that can occur. One that is free has the value before it, and so costs nothing."""
    found, last = {}, function[min(function)]
    for value in sorted(reachable):
        last = found[value] = function.get(value, last)
    return found
