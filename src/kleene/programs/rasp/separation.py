"""Proofs that a selection reads at most so many positions of an input, or only positions with equal values.

They rest on two facts. Every position has another index. And where a count is a rank, such as
`SelectorWidth(Select(keys, keys, Comparison.LT))`, positions with the same count have the same key. So sorting reads
one position, and a maximum equal ones, whatever the input is.
"""

import math
from collections.abc import Sequence

import numpy as np

from kleene.programs.rasp.domains import Atom, ValueTable, combinations, joined_support

MOST_ENTRIES = 1 << 22  # of a table that is looked through for a proof


def most_positions(keys: ValueTable, chosen: np.ndarray, most: int) -> int:
    """How many of `most` positions a query can select at once, as far as that can be proven.

    `chosen` has for every query the values of the keys that it selects, (query, key).
    """
    if keys.codes.size > MOST_ENTRIES:
        return most
    places = [_codes(keys, chosen, atom).sum(axis=1) for atom in keys.support if atom.distinct]
    found = [most, *(int(counts.max(initial=0)) for counts in places)]
    if min(found) > 1 and any(_is_distinct(table) for table in _same_ranks(keys, chosen)):
        return 1
    return min(found)


def selects_equal(keys: ValueTable, chosen: np.ndarray, values: ValueTable) -> bool:
    """Whether it is certain that all positions that a query selects have the same one of the values."""
    pairs = possible_pairs(keys, values)
    if pairs is not None:
        together = np.zeros((len(keys.values), len(values.values)), dtype=bool)
        together[pairs] = True
        if ((_product(chosen, together) > 0).sum(axis=1) <= 1).all():
            return True
    return any(_determines(table, values) for table in _same_ranks(keys, chosen))


def possible_pairs(one: ValueTable, other: ValueTable) -> tuple[np.ndarray, np.ndarray] | None:
    """The pairs of values that two s-ops can have at the same position; None if there are too many to list."""
    if combinations([one, other]) > MOST_ENTRIES:
        return None
    support = joined_support([one, other])
    codes = np.broadcast_arrays(one.aligned(support), other.aligned(support))
    known = (codes[0] >= 0) & (codes[1] >= 0)
    pairs = np.unique(codes[0][known] * len(other.values) + codes[1][known])
    return pairs // len(other.values), pairs % len(other.values)


def _same_ranks(keys: ValueTable, chosen: np.ndarray) -> list[ValueTable]:
    """The s-ops that have the same value at all positions that a query selects, because they have the same rank.

    Two values that have no rank of their own may differ as long as no query selects both: such as what a filter leaves
    out, which has the rank of what follows it.
    """
    found, allowed = [], {atom: _codes(keys, chosen, atom) for atom in keys.support}
    settled = [atom for atom, codes in allowed.items() if codes.sum(axis=1).max(initial=0) <= 1]
    for atom in settled:
        if atom.ranking is None or atom.ranking.table.codes.size > MOST_ENTRIES:
            continue
        table, apart = atom.ranking.table, atom.ranking.apart
        every = np.eye(len(table.values), dtype=bool)
        alike = _sharing(table, [other for other in table.support if other in settled]) & ~apart & ~every
        there = np.ones((len(chosen), len(table.values)), dtype=bool)
        for other in table.support:
            if other in allowed:
                there &= _product(allowed[other], _codes(table, every, other).T) > 0
        there = np.unique(there, axis=0)
        if not (there & (_product(there, alike) > 0)).any():
            found.append(table)
    return found


def _product(one: np.ndarray, other: np.ndarray) -> np.ndarray:
    return one.astype(np.float32) @ other.astype(np.float32)


def _sharing(table: ValueTable, shared: Sequence[Atom]) -> np.ndarray:
    """The pairs of values that positions with the same codes of some atoms can have."""
    places = np.zeros(table.codes.shape, dtype=np.int64)
    for atom in shared:
        shape = [-1 if other is atom else 1 for other in table.support]
        places = places * atom.size + np.arange(atom.size).reshape(shape)
    known = table.codes >= 0
    there = np.zeros((len(table.values), math.prod(atom.size for atom in shared)), dtype=bool)
    there[table.codes[known], places[known]] = True
    return _product(there, there.T) > 0


def _is_distinct(table: ValueTable) -> bool:
    """Whether no two positions of an input have the same value."""
    return most_positions(table, np.eye(len(table.values), dtype=bool), 2) <= 1


def _determines(one: ValueTable, other: ValueTable) -> bool:
    """Whether the value of one s-op at a position follows from that of another."""
    pairs = possible_pairs(one, other)
    return pairs is not None and len(np.unique(pairs[0])) == len(pairs[0])


def _codes(keys: ValueTable, chosen: np.ndarray, atom: Atom) -> np.ndarray:
    """The codes of an atom that the keys which each query selects can have, (query, code)."""
    axis = keys.support.index(atom)
    codes = np.moveaxis(keys.codes, axis, 0).reshape(atom.size, -1)
    there = np.zeros((len(keys.values), atom.size), dtype=bool)
    rows, columns = np.nonzero(codes >= 0)
    there[codes[rows, columns], rows] = True
    return _product(chosen, there) > 0
