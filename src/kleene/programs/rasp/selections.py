"""What a selector selects: for every value of its queries the keys, by value, and the positions on the sample.

Selectors that are combined with & | ~ select by several values at once; their keys and queries are combinations. Keys
that every query treats alike are one class, so a selector that selects everything has a single key.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from kleene.errors import ProgramError
from kleene.programs.rasp.domains import Atom, DomainError, Ranking, ValueTable, combined
from kleene.programs.rasp.graph import RASPExpr
from kleene.programs.rasp.predicates import chosen_pairs
from kleene.programs.rasp.selectors import ConstantSelector, Select, Selector, SelectorAnd, SelectorNot, SelectorOr
from kleene.programs.rasp.separation import most_positions, possible_pairs

MOST_PAIRS = 1 << 22  # of values that a selector compares
MOST_ENTRIES = 1 << 27  # pairs of positions in all inputs of the sample


@dataclass(frozen=True, eq=False)
class Selection:
    """The keys that queries select: `chosen` by value, (query, key); `seen` on the sample, (batch, query, key)."""

    name: str
    keys: ValueTable
    queries: ValueTable
    chosen: np.ndarray
    seen: np.ndarray
    causal: bool = False

    @property
    def ranking(self) -> Ranking | None:
        """What a count of it ranks: its keys, if they are its queries too and every position sees all others."""
        mine, theirs = self.keys, self.queries
        is_same = mine.support == theirs.support and mine.values == theirs.values
        if self.causal or not is_same or not np.array_equal(mine.codes, theirs.codes):
            return None
        return Ranking(mine, self.chosen)

    @property
    def positional(self) -> bool:
        """Whether all that it selects follows from positions and lengths, so that the sample holds all there is."""
        is_same = bool(self.chosen.all()) or not self.chosen.any()  # then keys and queries do not matter
        return is_same or (self.keys.positional and self.queries.positional)

    @cached_property
    def counts(self) -> np.ndarray:
        """How many positions each position of the sample selects."""
        return self.seen.sum(axis=2)

    @cached_property
    def _columns(self) -> tuple[np.ndarray, np.ndarray]:
        return np.unique(self.chosen, axis=1, return_inverse=True)

    @property
    def classes(self) -> np.ndarray:
        """The class of every value of the keys."""
        return self._columns[1].reshape(-1)

    @property
    def count(self) -> int:
        """How many classes of keys there are."""
        return self._columns[0].shape[1]

    def sets(self, *, start: bool) -> list[frozenset[int]]:
        """For every value of the queries the set of classes, from 1 on; 0 is the start."""
        first = {0} if start else set()
        return [frozenset(first | {1 + int(at) for at in np.flatnonzero(row)}) for row in self._columns[0]]

    @cached_property
    def never_empty(self) -> bool:
        """Whether it is certain that something is selected: because positions say so, or each selects itself."""
        if self.positional:
            return not (self.counts == 0)[self.keys.inside].any()
        both = possible_pairs(self.queries, self.keys)
        return both is not None and bool(self.chosen[both].all())

    def codes_without(self) -> tuple[Atom, frozenset[int]] | None:
        """The one atom that says where nothing is selected, and its codes there; None if nothing that simple does."""
        if not self.positional or len(self.queries.support) != 1:
            return None
        atom, inside = self.queries.support[0], self.keys.inside
        empty = {code: set() for code in range(atom.size)}
        for code, count in set(zip(atom.seen[inside].tolist(), self.counts[inside].tolist())):
            empty[code].add(count == 0)
        if any(len(found) > 1 for found in empty.values()):
            return None
        return atom, frozenset(code for code, found in empty.items() if found == {True})

    def possible_counts(self, most: int) -> set[int]:
        """All numbers of positions that can be selected."""
        if self.positional:
            return set(np.unique(self.counts[self.keys.inside]).tolist()) or {0}
        return set(range(int(self.never_empty), most_positions(self.keys, self.chosen, most) + 1))

    def selects_one(self, most: int) -> bool:
        """Whether it is certain that nobody selects two positions."""
        return max(self.possible_counts(most)) <= 1


def selection_of(
    selector: Selector,
    tables: Mapping[RASPExpr, ValueTable],
    indices: Callable[[], ValueTable],
    causal: bool,
) -> Selection:
    """What a selector selects, from the tables of its s-ops."""
    leaves: list[_Leaf] = []
    combine = _leaves_of(selector, tables, indices, leaves)
    keys, places = _joint(selector, [leaf.keys for leaf in leaves])
    queries, rows = _joint(selector, [leaf.queries for leaf in leaves])
    _refuse_many(selector, keys, queries)
    parts = [leaf.chosen[np.ix_(row, place)] for leaf, row, place in zip(leaves, rows, places)]
    chosen = combine(iter(parts))
    inside = keys.inside
    seen = chosen[np.maximum(queries.seen, 0)[:, :, None], np.maximum(keys.seen, 0)[:, None, :]]
    seen = seen & inside[:, :, None] & inside[:, None, :]
    if causal:
        seen = seen & np.tri(inside.shape[1], dtype=bool)
    return Selection(selector.name, keys, queries, chosen, seen, causal)


@dataclass(frozen=True, eq=False)
class _Leaf:
    """A selector that is not combined of others."""

    keys: ValueTable
    queries: ValueTable
    chosen: np.ndarray


def _leaves_of(
    selector: Selector, tables: Mapping[RASPExpr, ValueTable], indices: Callable[[], ValueTable], leaves: list[_Leaf]
) -> Callable[[Any], np.ndarray]:
    """Adds the simple selectors to `leaves`; returns how the whole follows from what each of them selects."""
    if isinstance(selector, Select):
        leaves.append(_select(selector, tables[selector.keys], tables[selector.queries]))
        return next
    if isinstance(selector, ConstantSelector):
        leaves.append(_constant(selector, indices()))
        return next
    if isinstance(selector, SelectorNot):
        inner = _leaves_of(selector.inner, tables, indices, leaves)
        return lambda parts: ~inner(parts)
    if isinstance(selector, (SelectorAnd, SelectorOr)):
        both = [_leaves_of(side, tables, indices, leaves) for side in (selector.fst, selector.snd)]
        operation = np.logical_and if isinstance(selector, SelectorAnd) else np.logical_or
        return lambda parts: operation(*[side(parts) for side in both])
    raise ProgramError(f"{selector.described} cannot be compiled: a {type(selector).__name__} is not known here")


def _select(selector: Select, keys: ValueTable, queries: ValueTable) -> _Leaf:
    _refuse_many(selector, keys, queries)
    return _Leaf(keys, queries, chosen_pairs(selector, keys, queries))


def _refuse_many(selector: Selector, keys: ValueTable, queries: ValueTable) -> None:
    if len(keys.values) * len(queries.values) > MOST_PAIRS:
        raise DomainError(
            f"{selector.described} compares {len(queries.values):,} queries with {len(keys.values):,} keys; "
            f"use a smaller vocabulary or max_length, or map them to fewer values first"
        )
    rows, longest = keys.inside.shape
    if rows * longest**2 > MOST_ENTRIES:
        raise DomainError(
            f"{selector.described} compares {longest:,} positions with each other at every length, which is more than "
            f"Kleene looks through; use a smaller max_length"
        )


def _constant(selector: ConstantSelector, indices: ValueTable) -> _Leaf:
    given, needed = len(selector.value), len(indices.values)
    if selector.check_length or given < needed:
        raise ProgramError(
            f"{selector.described} is for {given} positions, and the network reads inputs of up to {needed} tokens. "
            f"Give it a row for each, and check_length=False"
        )
    return _Leaf(indices, indices, np.array([row[:needed] for row in selector.value[:needed]], dtype=bool))


def _joint(selector: Selector, tables: Sequence[ValueTable]) -> tuple[ValueTable, list[np.ndarray]]:
    """One table for several s-ops, and for each of them its own index at every value of that table."""
    different = list(dict.fromkeys(tables))
    if len(different) == 1:
        return tables[0], [np.arange(len(tables[0].values))] * len(tables)
    indexed = [replace(table, values=tuple(range(len(table.values))), twins={}) for table in different]
    joint = combined(selector, lambda *codes: codes, indexed, tables[0].inside)
    columns = np.array(joint.values, dtype=np.int64).reshape(-1, len(different))
    return joint, [columns[:, different.index(table)] for table in tables]
