"""Inputs on which every table of a RASP program is looked at: of every length, so that they hold all positions."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np


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
        pairs: int = 1 << 25,
        seed: int = 0,
    ) -> "Sample":
        """All inputs if they are few; otherwise random ones of every length, some with few words, or `named` ones.

        Long inputs are fewer, so that there are at most `pairs` pairs of positions in all, but one of each length.
        """
        lengths = range(1, longest + 1)
        if sum(vocabulary**n for n in lengths) <= most:
            rows = [np.array(list(np.ndindex(*[vocabulary] * n))) for n in lengths]
        else:
            chance, fitting = np.random.default_rng(seed), max(1, pairs // longest**3)
            rows = [_drawn(chance, vocabulary, named, n, min(each, fitting))[:fitting] for n in lengths]
        words = np.zeros((sum(map(len, rows)), longest), dtype=np.int64)
        inside = np.zeros(words.shape, dtype=bool)
        start = 0
        for n, some in zip(lengths, rows):
            words[start : start + len(some), :n] = some
            inside[start : start + len(some), :n] = True
            start += len(some)
        return Sample(words, inside)


def _drawn(chance: np.random.Generator, vocabulary: int, named: Sequence[int], n: int, each: int) -> np.ndarray:
    """Random words of one length in any order: of any symbols, two, one, `named` ones, none twice, sorted ones."""
    anything = chance.integers(vocabulary, size=(each, n))
    two = np.take_along_axis(chance.integers(vocabulary, size=(each, 2)), chance.integers(2, size=(each, n)), axis=1)
    one = np.repeat(chance.integers(vocabulary, size=(4, 1)), n, axis=1)
    found = [anything, two, one, np.sort(anything[:8], axis=1), -np.sort(-anything[:8], axis=1)]
    if vocabulary >= n:
        found.append(np.stack([chance.permutation(vocabulary)[:n] for _ in range(each)]))
    if 0 < len(named) < vocabulary:
        found.append(chance.choice(named, size=(each, n)))
    return chance.permutation(np.concatenate(found))
