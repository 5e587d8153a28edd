"""Sums in diagrams: groups of variables that a function depends on by a sum with one term for each of them.

The functions that are left for every combination of two variables' codes make a table. If the table is one of a sum,
its rows slide along each other (see `table_sums`). Codes at which nothing is written are a guard: the sum need only
hold behind it.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from itertools import combinations

import numpy as np

from kleene.programs.alta import table_sums
from kleene.programs.alta.asking.diagrams import Diagrams
from kleene.programs.alta.sums import Sum

LARGEST = 1 << 20  # entries of a table that is searched for a sum


@dataclass(frozen=True)
class Added:
    """A function as one of a sum: what is left for each total, where the guards hold; elsewhere nothing is written."""

    total: Sum
    parts: tuple[tuple[int, int], ...]  # (total, function)
    guards: tuple[tuple[int, frozenset[int]], ...]  # (level, codes)

    @property
    def changes(self) -> int:
        return sum(a != b for (_, a), (_, b) in zip(self.parts, self.parts[1:]))


@dataclass(frozen=True)
class Exceptions:
    """A few codes of a variable without which it would enter by a sum."""

    level: int
    codes: frozenset[int]


class SumSearch:
    """Finds the sums in functions; `kept` is the function that writes nothing, if there is one."""

    def __init__(self, diagrams: Diagrams, target: int):
        self._d, self._target = diagrams, target
        self._known: dict[tuple[int, int], tuple[list[Added], list[Exceptions]]] = {}

    def of(self, f: int, kept: int) -> tuple[list[Added], list[Exceptions]]:
        """The sums by which groups of variables enter, and exceptions without which there would be some."""
        if (f, kept) not in self._known:
            self._known[f, kept] = self._searched(f, kept)
        return self._known[f, kept]

    def _axes(self, f: int, kept: int) -> dict[int, list[int]]:
        """For every variable the codes at which something is written."""
        found = {v: [i for i, k in enumerate(self._d.cofactors(f, v)) if k != kept] for v in self._d.support(f)}
        return {v: axis for v, axis in sorted(found.items()) if len(axis) > 1}

    def _searched(self, f: int, kept: int) -> tuple[list[Added], list[Exceptions]]:
        axes = self._axes(f, kept)
        slides: dict[int, dict[int, np.ndarray]] = {v: {} for v in axes}
        exceptions: dict[Exceptions, None] = {}
        for pair in combinations(axes, 2):
            labels = self._labels(f, pair, axes)
            if labels is None:
                continue
            pairs = [axes[v] for v in pair]
            pattern = np.unique(labels, return_inverse=True)[1].astype(np.int32).tobytes()
            for ruler in (0, 1):
                terms = _slid(pattern, labels.shape, tuple(map(tuple, pairs)), ruler)
                if terms is not None:
                    slides[pair[ruler]][pair[1 - ruler]] = terms
            if not any(pair[1 - r] in slides[pair[r]] for r in (0, 1)) and min(labels.shape) > 2:
                exceptions |= dict.fromkeys(_exceptions(pair, pairs, labels))
        found: dict[Sum, Added] = {}
        for pair in combinations(axes, 2):
            chosen = self._choice(f, kept, pair, axes)
            if chosen is not None:
                found.setdefault(chosen.total, chosen)
        for ruler, others in slides.items():
            best = self._widest(f, ruler, others, axes)
            if best is not None:
                found.setdefault(best.total, best)
        return list(found.values()), list(exceptions)

    def _widest(self, f: int, ruler: int, others: Mapping[int, np.ndarray], axes: Mapping) -> Added | None:
        """The sum of all variables that slide along one ruler, as long as the function is one of it."""
        group, best = (ruler,), None
        for other in others:
            wider = (*group, other)
            made = self._added(f, wider, axes, others)
            if made is not None and (best is None or self._weight(made) <= self._weight(best)):
                group, best = wider, made
        return best

    def _weight(self, added: Added) -> int:
        """How much is to be written anew along the sum."""
        pairs = zip(added.parts, added.parts[1:])
        return sum(1 + len(self._d.support(b)) ** 2 * 4 for (_, a), (_, b) in pairs if a != b)

    def _labels(self, f: int, levels: tuple[int, ...], axes: Mapping[int, list[int]]) -> np.ndarray | None:
        """Which function is left for every combination of codes; None where a sum would gain nothing."""
        if math.prod(len(axes[v]) for v in levels) > LARGEST:
            return None
        above, flat, last = [f], list[int](), levels[-1]
        for v in levels[:-1]:
            above = [k for g in above for k in map(self._d.cofactors(g, v).__getitem__, axes[v])]
        shape = [len(axes[v]) for v in levels]
        different, most = set[int](), 2 * sum(shape)
        for g in above:
            row = [*map(self._d.cofactors(g, last).__getitem__, axes[last])]
            different.update(row)
            if len(different) > most:
                return None
            flat += row
        return np.array(flat, dtype=np.int64).reshape(shape)

    def _added(self, f: int, levels: tuple[int, ...], axes: Mapping, slid: Mapping) -> Added | None:
        labels = self._labels(f, levels, axes)
        if labels is None:
            return None
        names, chosen = [self._d.names[v] for v in levels], [axes[v] for v in levels]
        ruler = np.array(chosen[0])
        terms = [ruler - ruler[0], *(slid[v] for v in levels[1:])]
        if table_sums.function_of(labels, terms) is None:
            return None
        terms = table_sums.straightened(labels, chosen, terms)
        sizes = [self._d.size[v] for v in levels]
        total = Sum.of({n: table_sums.extended(a, t, s) for n, a, t, s in zip(names, chosen, terms, sizes)})
        parts = dict(total.terms)
        function = table_sums.function_of(labels, [np.array(parts[n])[a] for n, a in zip(names, chosen)])
        if function is None:
            return None
        reachable = total.reachable({n: frozenset(a) for n, a in zip(names, chosen)})
        guards = tuple((v, frozenset(a)) for v, a, s in zip(levels, chosen, sizes) if len(a) < s)
        return Added(total, tuple(table_sums.filled(function, reachable).items()), guards)

    def _choice(self, f: int, kept: int, levels: tuple[int, int], axes: Mapping[int, list[int]]) -> Added | None:
        """A function that is one of two by a sum of two variables: the old code or a copy of one, or a copy of each."""
        d, (a, b) = self._d, levels
        if len(axes[a]) * len(axes[b]) > LARGEST or d.is_end(kept):
            return None
        copies = [d.copy(level) for level in levels]
        options = [(copies[0], copies[1])]
        if self._target in levels:
            options = [(kept, copies[levels[0] == self._target])]
        for one, other in options:
            labels = self._labelled(f, one, other, levels, axes)
            if labels is not None and (made := self._by_labels(labels, (one, other), levels, axes)) is not None:
                return made
        return None

    def _labelled(self, f: int, one: int, other: int, levels: tuple[int, int], axes: Mapping) -> np.ndarray | None:
        """0 where one function is what is left, 1 where the other is, FREE where both are; None where neither is."""
        d, (a, b) = self._d, levels
        labels = np.empty((len(axes[a]), len(axes[b])), dtype=np.int64)
        left = [[d.cofactors(d.cofactors(g, a)[i], b) for i in axes[a]] for g in (one, other)]
        for x, i in enumerate(axes[a]):
            row = d.cofactors(d.cofactors(f, a)[i], b)
            for y, j in enumerate(axes[b]):
                is_one, is_other = row[j] == left[0][x][j], row[j] == left[1][x][j]
                if not (is_one or is_other):
                    return None
                labels[x, y] = table_sums.FREE if is_one and is_other else int(is_other)
        return labels

    def _by_labels(self, labels: np.ndarray, functions: tuple[int, int], levels, axes: Mapping) -> Added | None:
        names, chosen = [self._d.names[v] for v in levels], [axes[v] for v in levels]
        sizes = {self._d.names[v]: self._d.size[v] for v in levels}
        found = table_sums.find_sum(names, chosen, labels, sizes)
        if found is None:
            return None
        guards = tuple((v, frozenset(axes[v])) for v in levels if len(axes[v]) < self._d.size[v])
        return Added(found[0], tuple((total, functions[label]) for total, label in found[1]), guards)


@lru_cache(maxsize=4096)  # the same few patterns come again and again
def _slid(pattern: bytes, shape: tuple[int, int], axes: tuple[tuple[int, ...], ...], ruler: int) -> np.ndarray | None:
    """How far each row of a table slides along the codes of the variable that is the ruler; None if none do."""
    labels = np.frombuffer(pattern, dtype=np.int32).reshape(shape).astype(np.int64)
    terms = table_sums.aligned(labels, axes, ruler)
    if terms is None or len(np.unique(terms[0][:, None] + terms[1])) == labels.size:
        return None
    return terms[1 - ruler]


def _exceptions(levels: tuple[int, int], axes: list[list[int]], labels: np.ndarray) -> list[Exceptions]:
    """The codes of one of two variables that spoil a function of their sum or difference, if they are few."""
    names, table = np.unique(labels, return_inverse=True)
    table = table.reshape(labels.shape)
    first, second = np.array(axes[0])[:, None], np.array(axes[1])[None]
    for sign in (1, -1):
        total = first + sign * second
        total = total - total.min()
        alive = [np.ones(n, dtype=bool) for n in table.shape]
        for _ in range(4):
            inside = alive[0][:, None] & alive[1][None]
            counts = np.zeros((total.max() + 1, len(names)), dtype=int)
            np.add.at(counts, (total[inside], table[inside]), 1)
            wrong = inside & (table != counts.argmax(axis=1)[total])
            if not wrong.any():
                break
            most = [wrong.sum(axis=1 - a) for a in range(2)]
            axis = int(most[1].max() > most[0].max())
            alive[axis][most[axis].argmax()] = False
        if wrong.any() or len(np.unique(table[alive[0]][:, alive[1]])) < 2:
            continue
        for a in range(2):
            if 0 < (~alive[a]).sum() < len(alive[a]) / 2 and alive[1 - a].all():
                return [Exceptions(levels[a], frozenset(np.array(axes[a])[~alive[a]].tolist()))]
    return []
