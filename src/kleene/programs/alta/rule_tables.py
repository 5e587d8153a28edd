"""Sums in rules that are given by hand: the rules of one variable as a table, and a few cases equivalent to it.

Rules that loop over the values of several variables spell out a table. Often it is a function of a sum with one term
for each variable (`carry + a + b`), or of whether such a sum has a value (`position == pointer`). The cases found are
compared with every entry.
"""

import itertools
import math
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from kleene.programs.alta.cases import Case, Constant, Feature, Lookup, Sizes, View, act, case
from kleene.programs.alta.sums import Sum
from kleene.programs.alta.table_sums import FREE, GOOD, find_sum

NOTHING = -1  # an entry that writes nothing
LARGEST = 1 << 22
MOST_CLASSES = 4  # parts into which one or two variables may divide a table

Where = dict[Feature, frozenset[int]]
Entries = Mapping[tuple[int, ...], int]


@dataclass(frozen=True)
class RuleTable:
    """What the rules that test one set of variables write to one variable: an entry for each combination of `axes`.

    Where the old value of the target is among the conditions, writing nothing is the same as writing that value.
    """

    target: str
    names: tuple[str, ...]
    axes: tuple[tuple[int, ...], ...]
    entries: np.ndarray
    looked: Mapping[str, np.ndarray]  # where rules look at each head; its own axis has length 1

    @staticmethod
    def of(
        target: str, names: tuple[str, ...], rules: Entries, heads: Collection[str] = (), among: Entries | None = None
    ) -> "RuleTable | None":
        """The table of rules, some of those in `among` with the same conditions; None where it would be too large."""
        codes = np.array(list(rules), dtype=np.int64).reshape(len(rules), len(names))
        axes = [np.unique(column) for column in codes.T]
        if math.prod(len(axis) for axis in axes) > LARGEST:
            return None
        places = tuple(np.searchsorted(axis, column) for axis, column in zip(axes, codes.T))
        entries = np.full([len(axis) for axis in axes], NOTHING, dtype=np.int64)
        entries[places] = list(rules.values())
        looked = _looked(names, axes, heads, among or rules)
        if target in names:
            at = names.index(target)
            old = axes[at].reshape([-1 if a == at else 1 for a in range(len(names))])
            entries = np.where(entries == NOTHING, old, entries)
        return RuleTable(target, names, tuple(tuple(axis.tolist()) for axis in axes), entries, looked)

    def cases(self, sizes: Sizes) -> list[Case] | None:
        """A few disjoint cases that write exactly what the rules do; None where none were found."""
        search = _TableSearch(self.target, sizes, self._looks_at_what_it_adds)
        found = search.cases(self.names, self.axes, self.entries, {})
        return found if found is not None and self._agrees(found) else None

    def _looks_at_what_it_adds(self, c: Case) -> bool:
        """Whether rules look at every head of a sum wherever the case would; an undefined head makes it unknown."""
        features = [f for f, _ in c.where] + ([c.action.feature] if isinstance(c.action, Lookup) else [])
        added = {name for f in features if isinstance(f, Sum) for name in f.variables}
        for head in added & set(self.looked):
            others = tuple((f, s) for f, s in c.where if head not in ((f,) if isinstance(f, str) else f.variables))
            axes = [axis[:1] if name == head else axis for name, axis in zip(self.names, self.axes)]
            holds = _holds(Case(others, c.action), _grid(self.names, axes))
            if (holds & ~self.looked[head].reshape(-1)).any():
                return False
        return True

    def _agrees(self, cases: list[Case]) -> bool:
        """Whether the cases write every entry and nothing else, and exclude each other."""
        codes = _grid(self.names, self.axes)
        entries, covered = self.entries.reshape(-1), np.zeros(self.entries.size, dtype=int)
        nothing = (entries == NOTHING) | (entries == codes.get(self.target, NOTHING))
        for c in cases:
            holds = _holds(c, codes)
            covered += holds
            wrong = (act(c, codes) != entries) & (entries != FREE)
            if (holds & wrong).any():
                return False
        return not ((covered > 1) | ((covered == 0) & ~nothing & (entries != FREE))).any()


def _holds(c: Case, codes: Mapping[str, np.ndarray]) -> np.ndarray:
    return View(codes).holds(c)


def _grid(names: Sequence[str], axes: Sequence[Sequence[int]]) -> dict[str, np.ndarray]:
    """Every combination of codes, one array for each variable."""
    grids = np.meshgrid(*(np.array(axis, dtype=np.int32) for axis in axes), indexing="ij")
    return {name: grid.reshape(-1) for name, grid in zip(names, grids)}


def _looked(
    names: tuple[str, ...], axes: list[np.ndarray], heads: Collection[str], rules: Entries
) -> dict[str, np.ndarray]:
    """Where a rule looks at each head: where its other conditions hold, for some value of the head."""
    codes = np.array(list(rules), dtype=np.int64).reshape(len(rules), len(names))
    within = [np.isin(column, axis) for column, axis in zip(codes.T, axes)]
    places = [np.searchsorted(axis, column) for column, axis in zip(codes.T, axes)]
    found = {}
    for head in (name for name in names if name in heads):
        others = [a for a, name in enumerate(names) if name != head]
        there = np.zeros([1 if name == head else len(axis) for name, axis in zip(names, axes)], dtype=bool)
        inside = np.logical_and.reduce([within[a] for a in others]) if others else np.ones(len(rules), dtype=bool)
        there[tuple(places[a][inside] if a in others else 0 for a in range(len(names)))] = True
        found[head] = there
    return found


def cost(cases: Sequence[Case]) -> int:
    """About how many hidden units the cases need."""
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
class _TableSearch:
    """Searches for a few cases that are equivalent to a table, from the whole table to its parts."""

    target: str
    sizes: Sizes
    allows: Callable[[Case], bool]

    def cases(self, names, axes, table: np.ndarray, where: Where) -> list[Case] | None:
        if self._nothing(names, axes, table).all():
            return []
        whole = (*self._trimmed(names, axes, table), where)
        needed = self._needed(*whole)
        if needed[2].ndim < 2:
            return [self._simple(*needed)]
        best: list[Case] | None = None
        for option in (self._as_sum, self._by_pair, self._by_variable, self._by_old):
            found = option(*(whole if option == self._by_old else needed))
            if found is not None and (best is None or cost(found) < cost(best)) and all(map(self.allows, found)):
                best = found
            if best is not None and cost(best) <= GOOD:
                break
        return best

    def _trimmed(self, names, axes, table: np.ndarray):
        """The table without the codes at which nothing is written, because there no head need be looked at."""
        nothing = self._nothing(names, axes, table)
        kept = []
        for axis in range(table.ndim):
            others = tuple(a for a in range(table.ndim) if a != axis)
            kept.append(np.flatnonzero(~nothing.all(axis=others)))
        return names, [tuple(axes[a][i] for i in indices) for a, indices in enumerate(kept)], table[np.ix_(*kept)]

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

    def _nothing(self, names, axes, table: np.ndarray) -> np.ndarray:
        """Where nothing is written, or the value that is already there."""
        if self.target not in names:
            return table < 0
        at = names.index(self.target)
        old = np.array(axes[at]).reshape([-1 if a == at else 1 for a in range(table.ndim)])
        return (table == old) | (table < 0)

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
        """The table divided by a sum of two variables that decides how it depends on the others."""
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
            if cases is not None and (best is None or cost(cases) < cost(best)) and all(map(self.allows, cases)):
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

    def _by_old(self, names, axes, table: np.ndarray, where: Where) -> list[Case] | None:
        """The table divided by the old value of the target; below each, keeping it is writing nothing."""
        if self.target not in names or len(axes[names.index(self.target)]) > MOST_CLASSES:
            return None
        axis = names.index(self.target)
        rest = [a for a in range(table.ndim) if a != axis]
        cases: list[Case] = []
        for index, old in enumerate(axes[axis]):
            part = table.take(index, axis=axis)
            part, within = np.where(part == old, NOTHING, part), where | {self.target: frozenset({old})}
            below = self.cases([names[a] for a in rest], [axes[a] for a in rest], part, within)
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
    return labels, [rows[first].reshape(front.shape[len(axes) :]) for first in firsts]


def _boxes(labels: np.ndarray) -> int:
    """About how many boxes the classes of two variables need: the distinct rows of each class."""
    return sum(len({row.tobytes() for row in labels == label if row.any()}) for label in np.unique(labels))
