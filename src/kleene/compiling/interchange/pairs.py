"""Pairs of words for swaps: those for training, and those held out for tests."""

from typing import Any

import numpy as np
from jaxtyping import Bool

from kleene.compiling.interchange.counterfactuals import Counterfactuals

SHARE = 8  # one in so many ordered pairs of words is held out


def held_out(base: Any, other: Any) -> Any:
    """Whether a pair of words, given by their numbers, is kept for tests. Works on arrays of numpy and of jax."""
    return (base * 5 + other * 3 + (base * other) // 4) % SHARE == 0


class DrawnPairs:
    """Pairs of words with a position at which both have a value: `base`, `other`, `position`, one row each."""

    def __init__(self, base: np.ndarray, other: np.ndarray, position: np.ndarray):
        self.base, self.other, self.position = base, other, position

    def __len__(self) -> int:
        return len(self.base)


def site_pairs(
    table: Counterfactuals, site: int, count: int, rng: np.random.Generator, *, tests: bool = True
) -> DrawnPairs:
    """Random held-out pairs for a site; at least half of them have different values there, if there are as many.

    Pairs for which the program has no result are left out, so there may be fewer than `count`, or none.
    """
    words = len(table.words)
    found: list[np.ndarray] = []
    codes = table.codes[site]
    for position in range(codes.shape[1]):
        known = np.flatnonzero(codes[:, position] >= 0)
        base, other = (grid.reshape(-1) for grid in np.meshgrid(known, known, indexing="ij"))
        kept = (held_out(base, other) == tests) & (base != other)
        base, other = base[kept], other[kept]
        fits = (table.results(site, base, other, position) >= 0).any(axis=-1)
        found.append(np.stack([base[fits], other[fits], np.full(int(fits.sum()), position)], axis=1))
    every = np.concatenate(found) if found else np.zeros((0, 3), np.int64)
    assert not len(every) or every[:, :2].max() < words
    differ = codes[every[:, 0], every[:, 2]] != codes[every[:, 1], every[:, 2]]
    first = _some(np.flatnonzero(differ), (count + 1) // 2, rng)
    rest = np.setdiff1d(np.arange(len(every)), first)
    rows = every[np.concatenate([first, _some(rest, count - len(first), rng)])]
    return DrawnPairs(*rows.T)


def word_pairs(table: Counterfactuals, count: int, rng: np.random.Generator, *, tests: bool = True) -> DrawnPairs:
    """Random held-out pairs of words; the position is 0 and means nothing."""
    words = np.arange(len(table.words))
    base, other = (grid.reshape(-1) for grid in np.meshgrid(words, words, indexing="ij"))
    kept: Bool[np.ndarray, " pair"] = (held_out(base, other) == tests) & (base != other)
    rows = _some(np.flatnonzero(kept), count, rng)
    return DrawnPairs(base[rows], other[rows], np.zeros(len(rows), np.int64))


def _some(rows: np.ndarray, count: int, rng: np.random.Generator) -> np.ndarray:
    return rng.choice(rows, min(count, len(rows)), replace=False) if len(rows) and count > 0 else rows[:0]
