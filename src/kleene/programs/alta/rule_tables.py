"""Sums in rules that are given by hand: the rules of one variable as a table, and the few cases that stand for it.

Rules that loop over the values of several variables spell out a table. Often it is a function of a sum of one term a
variable (`carry + a + b`), or of whether such a sum has a value (`position == pointer`). What is found is compared with
every entry.
"""

import itertools
import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from kleene.programs.alta.cases import Case, Constant, Feature, Lookup, Sizes, case
from kleene.programs.alta.symbols import Sum
from kleene.programs.alta.table_sums import FREE, GOOD, find_sum

NOTHING = -1  # an entry that writes nothing
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

    @staticmethod
    def of(target: str, names: tuple[str, ...], rules: Entries, heads: Collection[str] = ()) -> "RuleTable | None":
        """The table of rules, or None where it would be too large.

        Where no rule looks at a head, whatever that reads, nothing may be written: it may be undefined there.
        """
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
            looked = np.ones(given.shape, dtype=bool)
            for a in (a for a, name in enumerate(names) if name in heads):
                looked &= given.any(axis=a, keepdims=True)
            entries = np.where(given | ~looked, entries, old)
        return RuleTable(target, names, tuple(tuple(axis.tolist()) for axis in axes), entries)

    def cases(self, sizes: Sizes) -> list[Case] | None:
        """Few disjoint cases that write exactly what the rules do, or None where none were found."""
        found = _Search(self.target, sizes).cases(self.names, self.axes, self.entries, {})
        return found if found is not None and self._agrees(found) else None

    def _agrees(self, cases: list[Case]) -> bool:
        """Whether the cases write every entry and nothing else, and exclude each other."""
        from kleene.programs.alta.interpreter import View
        from kleene.programs.alta.rules import act

        grids = np.meshgrid(*(np.array(axis) for axis in self.axes), indexing="ij")
        codes = {name: grid.reshape(-1).astype(np.int32) for name, grid in zip(self.names, grids)}
        view = View(codes)
        entries, covered = self.entries.reshape(-1), np.zeros(self.entries.size, dtype=int)
        nothing = (entries == NOTHING) | (entries == codes.get(self.target, NOTHING))
        for c in cases:
            holds = view.holds(c)
            covered += holds
            wrong = (act(c, codes) != entries) & (entries != FREE)
            if (holds & wrong).any():
                return False
        return not ((covered > 1) | ((covered == 0) & ~nothing & (entries != FREE))).any()


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
        options = (self._as_sum, self._by_pair, self._by_variable, self._by_old)
        best: list[Case] | None = None
        for option in options:
            found = option(names, axes, table, where)
            if found is not None and (best is None or cost(found) < cost(best)):
                best = found
            if best is not None and cost(best) <= GOOD:
                break
        return best

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
    """About how many boxes the classes of two variables come to: the distinct rows of each class."""
    return sum(len({row.tobytes() for row in labels == label if row.any()}) for label in np.unique(labels))
