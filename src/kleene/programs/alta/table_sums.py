"""Finds the sum that a table is a function of, by sliding its rows along each other until they agree.

Take `carry + a + b`: the row over the carries for the next a is the row for this one, slid along by one. The codes of
one variable serve as the ruler, and the distance that the rows of the others slide gives their terms.
"""

import itertools
from collections.abc import Collection, Sequence
from functools import reduce

import numpy as np

from kleene.programs.alta.cases import Sizes
from kleene.programs.alta.sums import Sum

FREE = -2  # an entry that may be anything, because a run that meets it ends with an error
PROBES = 16  # entries of a row that are compared first
GOOD = 3  # a function that changes less often than this ends the search


def find_sum(
    names: Sequence[str], axes: Sequence[Sequence[int]], table: np.ndarray, sizes: Sizes
) -> tuple[Sum, tuple[tuple[int, int], ...]] | None:
    """A sum with one term for each variable that the table is a function of, and the table's value for every total.

    Any table is a function of some sum (as a number is of its digits). A sum counts as found where the function changes
    rarely for the size of the table; the one that changes least is returned.
    """
    best: tuple[int, list[np.ndarray]] | None = None
    for ruler in range(table.ndim):
        terms = aligned(table, axes, ruler)
        if terms is not None:
            changes = _changes(function_of(table, terms))
            if best is None or changes < best[0]:
                best = changes, terms
            if best[0] < GOOD:
                break
    if best is None or best[0] >= min(table.size // 2, sum(table.shape) * 2):
        return None
    straight = straightened(table, axes, best[1])
    whole = {n: extended(axis, term, sizes[n]) for n, axis, term in zip(names, axes, straight)}
    total = Sum.of(whole)
    parts = dict(total.terms)
    chosen = [np.array(parts[n])[list(axis)] for n, axis in zip(names, axes)]
    function = function_of(table, chosen)
    reachable = total.reachable({n: frozenset(axis) for n, axis in zip(names, axes)})
    return None if not function else (total, tuple(filled(function, reachable).items()))


def aligned(table: np.ndarray, axes: Sequence[Sequence[int]], ruler: int) -> list[np.ndarray] | None:
    """Terms whose sum may determine the table: the ruler's own codes, and for every other variable the distances that
    its rows must slide."""
    order = [ruler, *(a for a in range(table.ndim) if a != ruler)]
    front = np.transpose(table, order)
    codes = np.array(axes[ruler])
    terms = [codes - codes[0]]
    known = function_of(front[(slice(None), *[0] * (table.ndim - 1))], terms)
    if known is None:
        return None
    for axis in range(1, table.ndim):
        slid = [0]
        for index in range(1, front.shape[axis]):
            place = (*(slice(None) for _ in terms), index, *[0] * (table.ndim - 1 - axis))
            row = function_of(front[place], terms)
            hint = 2 * slid[-1] - slid[-2] if len(slid) > 1 else 0
            shift = None if row is None else _shift(known, row, hint)
            if row is None or shift is None:
                return None
            slid.append(shift)
            known = known | {k + shift: v for k, v in row.items()}
        terms.append(np.array(slid) - min(slid))
        known = {k - min(slid): v for k, v in known.items()}
    found = [terms[order.index(a)] for a in range(table.ndim)]
    return found if function_of(table, found) is not None else None


def straightened(table: np.ndarray, axes: Sequence[Sequence[int]], terms: list[np.ndarray]) -> list[np.ndarray]:
    """The same terms, but those on a line that may be: where a row may slide by several distances, any will do.

    A line along which the table would change more often is left alone.
    """
    found, few = list(terms), _changes(function_of(table, terms))
    for i, (axis, term) in enumerate(zip(axes, terms)):
        codes = np.array(axis)
        slopes, often = np.unique(np.diff(term) // np.diff(codes), return_counts=True)
        line = slopes[often.argmax()] * (codes - codes[0])
        line -= line.min()
        if not np.array_equal(line, term):
            function = function_of(table, [*found[:i], line, *found[i + 1 :]])
            if function is not None and _changes(function) <= few:
                found[i] = line
    return found


def function_of(table: np.ndarray, terms: list[np.ndarray]) -> dict[int, int] | None:
    """The value of the table for every total of the terms, without free totals; None where a total has two values."""
    totals = reduce(np.add.outer, terms).reshape(-1)
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
    """How far to slide the row so that it agrees with `known` on the longest overlap; None where it never does."""
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
    possible = np.arange(len(windows))
    for entries in (slice(None, None, 1 + len(piece) // PROBES), slice(None)):  # a few entries rule out most
        part, own = windows[possible, entries], piece[entries]
        both = (part != FREE) & (own != FREE)
        agree = ~(both & (part != own)).any(axis=1)
        possible, overlap = possible[agree], both[agree].sum(axis=1)
    if not overlap.any():
        return None
    shifts = possible[overlap == overlap.max()] + low - margin - start
    return int(min(shifts, key=lambda shift: abs(shift - hint)))


def _changes(function: dict[int, int] | None) -> int:
    ordered = [] if function is None else [function[k] for k in sorted(function)]
    return sum(a != b for a, b in itertools.pairwise(ordered))


def extended(axis: Sequence[int], term: np.ndarray, size: int) -> np.ndarray:
    """The term for every code; codes that the axis lacks continue the line, if the term is one."""
    full = np.full(size, term.min(), dtype=np.int64)
    codes = np.array(axis)
    if len(codes) > 1:
        slope = (term[-1] - term[0]) // (codes[-1] - codes[0])
        line = term[0] + slope * (np.arange(size) - codes[0])
        if (line[codes] == term).all():
            return line
    full[codes] = term
    return full


def filled(function: dict[int, int], reachable: Collection[int]) -> dict[int, int]:
    """The function for every total that can occur. A free total takes the value before it, which costs nothing."""
    found, last = {}, function[min(function)]
    for value in sorted(reachable):
        last = found[value] = function.get(value, last)
    return found
