"""What the decisions on a path leave possible: which codes of which variables, and which entries of a table."""

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

import numpy as np

from kleene.programs.alta.symbols import LARGEST_TABLE, Fault, Symbol, aligned, key_of

Allowed = Mapping[str, np.ndarray]  # by variable: which of its codes a path can still meet


class Taken(Protocol):
    """A decision that was taken: the symbol turned out to be `outcome`."""

    symbol: Symbol
    outcome: Any


def feasible(symbol: Symbol, allowed: Allowed, taken: Sequence[Taken]) -> np.ndarray:
    """The entries of the symbol's table that can still be met."""
    return symbol.table[combinations(symbol.support, allowed, taken)]


def narrowed(decision: Taken, allowed: Allowed, taken: Sequence[Taken]) -> Allowed:
    """The codes that are left over after one more decision."""
    symbol = decision.symbol
    hit = combinations(symbol.support, allowed, taken) & equals(symbol.table, decision.outcome)
    left = dict(allowed)
    for axis, name in enumerate(symbol.support):
        others = tuple(i for i in range(hit.ndim) if i != axis)
        left[name] = left[name] & hit.any(axis=others)
    return left


def witness(wanted: Symbol | None, allowed: Allowed, taken: Sequence[Taken]) -> dict[str, int] | None:
    """Codes that agree with all decisions and make the wanted symbol true; None where there are none.

    Where there are too many combinations to try, codes that the variables allow one by one.
    """
    symbols = [d.symbol for d in taken] + ([wanted] if wanted is not None else [])
    support = tuple(sorted({v for s in symbols for v in s.support}))
    axes = [np.flatnonzero(allowed[v]) for v in support]
    if np.prod([float(len(a)) for a in axes]) > LARGEST_TABLE:
        return {v: int(a[0]) for v, a in zip(support, axes)}
    grid = dict(zip(support, np.meshgrid(*axes, indexing="ij", sparse=True)))
    found = np.ones([len(a) for a in axes], dtype=bool)
    for decision in taken:
        table = decision.symbol.table[tuple(grid[v] for v in decision.symbol.support)]
        found &= equals(table, decision.outcome)
    if wanted is not None:
        found &= wanted.table[tuple(grid[v] for v in wanted.support)]
    if not found.any():
        return None
    return {v: int(a[i]) for v, a, i in zip(support, axes, np.argwhere(found)[0])}


def combinations(support: tuple[str, ...], allowed: Allowed, taken: Sequence[Taken]) -> np.ndarray:
    """Which combinations of these variables' codes are left over by the decisions that look at nothing else."""
    masks = [allowed[v].reshape([-1 if u == v else 1 for u in support]) for v in support]
    possible = np.logical_and.reduce(np.broadcast_arrays(*masks))
    for decision in taken:
        symbol = decision.symbol
        if len(symbol.support) > 1 and set(symbol.support) <= set(support):
            possible = possible & equals(aligned(symbol, support), decision.outcome)
    return possible


def distinct(table: np.ndarray) -> list[Any]:
    """The different entries of a table. Errors are left out: a path decides on them where they arise."""
    if table.dtype.kind in "ib":
        return np.unique(table).tolist()
    entries = [value for value in table.ravel().tolist() if not isinstance(value, Fault)]
    return list({key_of(value): value for value in entries}.values())


def equals(table: np.ndarray, outcome: Any) -> np.ndarray:
    """Where in a table the outcome stands."""
    if table.dtype.kind in "ib":
        return table == outcome
    wanted = key_of(outcome)
    flat = [key_of(value) == wanted for value in table.ravel().tolist()]
    return np.array(flat, dtype=bool).reshape(table.shape)
