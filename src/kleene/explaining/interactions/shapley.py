"""The Shapley interaction index (Grabisch and Roubens, 1999) of every two positions of a word: the true interactions.

A function of words becomes a game whose players are the positions of one word. Positions in a coalition S keep their
symbols, and the others lose theirs: they are resampled, which means that the function is averaged over all symbols
there, or they get one fixed symbol. With v(S) for the value of the game,

    I(i, j) = Σ over S without i and j of  |S|! (n − |S| − 2)! / (n − 1)!  · (v(S∪ij) − v(S∪i) − v(S∪j) + v(S)).

This is a fact about the function alone. Every network that computes the function has the same interactions.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations, product
from math import comb
from typing import Any

import numpy as np

from kleene.errors import InputError
from kleene.notation.words import Word, word_codes

MOST = 1 << 16  # words on which a function is called for exact interactions: 16 positions of two symbols
CALL = 1 << 14  # words per call

Function = Callable[[list[tuple[str, ...]]], Any]  # from words to a number each


@dataclass(frozen=True)
class EstimatedInteractions:
    """Interactions estimated from samples, and the standard error of each: symmetric, NaN on the diagonal."""

    values: np.ndarray
    errors: np.ndarray


def shapley_interactions(
    function: Function,
    word: Word,
    alphabet: Sequence[str],
    *,
    baseline: str | None = None,
    samples: int = 256,
    seed: int = 0,
    most: int = MOST,
) -> np.ndarray:
    """The Shapley interaction index of every two positions of the word: symmetric, NaN on the diagonal.

    `function` takes a list of words, tuples of symbols, and returns a number or truth value for each, as the
    `accepts_batch` of automata and networks does. An absent symbol is drawn again uniformly from the alphabet, or is
    `baseline`, a symbol. The result is exact if the function need not be called on more than `most` words: all words of
    this length, or with a baseline symbol 2ⁿ of them. Otherwise it is estimated from `samples` coalitions for each
    pair; see `sampled_interactions`.

    >>> both = lambda words: [word[0] == word[1] == "1" for word in words]
    >>> shapley_interactions(both, "110", "01").tolist()
    [[nan, 0.25, 0.0], [0.25, nan, 0.0], [0.0, 0.0, nan]]
    >>> shapley_interactions(both, "110", "01", baseline="0")[0, 1].item()
    1.0
    """
    codes, symbols = _checked(word, alphabet, baseline)
    if (len(symbols) if baseline is None else 2) ** len(codes) > most:
        options: dict[str, Any] = {"baseline": baseline, "samples": samples, "seed": seed}
        return sampled_interactions(function, word, alphabet, **options).values
    if baseline is None:
        game = game_of(value_table(function, len(codes), symbols), codes)
    else:
        places = ([symbols.index(baseline), code] for code in codes)
        game = _values(function, product(*places), symbols).reshape((2,) * len(codes))
    return interactions_of(game)


def value_table(function: Function, length: int, alphabet: Sequence[str]) -> np.ndarray:
    """The function's values on all words of one length, an axis for each position: [symbols, …, symbols]."""
    symbols = tuple(alphabet)
    every = product(range(len(symbols)), repeat=length)
    return _values(function, every, symbols).reshape((len(symbols),) * length)


def game_of(table: np.ndarray, codes: Sequence[int]) -> np.ndarray:
    """v(S) of one word with resampling: [2, …, 2], where index 1 means that the position keeps its symbol."""
    for axis, code in enumerate(codes):
        table = np.stack([table.mean(axis=axis), table.take(code, axis=axis)], axis=axis)
    return table


def interactions_of(game: np.ndarray) -> np.ndarray:
    """The Shapley interaction index of every two players of a game [2, …, 2]: symmetric, NaN on the diagonal."""
    players = game.ndim
    found = np.full((players, players), np.nan)
    if players < 2:
        return found
    sizes = np.array([coalition.bit_count() for coalition in range(1 << (players - 2))])
    weights = np.array([1 / ((players - 1) * comb(players - 2, size)) for size in range(players - 1)])[sizes]
    for i, j in combinations(range(players), 2):
        (neither, second), (first, both) = np.moveaxis(game, (i, j), (0, 1))
        found[i, j] = found[j, i] = weights @ (both - first - second + neither).ravel()
    return found


def sampled_interactions(
    function: Function,
    word: Word,
    alphabet: Sequence[str],
    *,
    baseline: str | None = None,
    samples: int = 256,
    seed: int = 0,
) -> EstimatedInteractions:
    """An unbiased estimate of the interactions of a word of any length, with standard errors.

    For each pair the size of a coalition is drawn uniformly from 0 … n−2, then a coalition of that size, and with
    resampling one set of symbols for the absent positions, the same in all four terms of the difference. A pair costs
    four words per sample.
    """
    codes, symbols = _checked(word, alphabet, baseline)
    if samples < 2:
        raise InputError(f"samples is {samples}; give 2 or more, because one has no standard error")
    length, chance = len(codes), np.random.default_rng(seed)
    values, errors = (np.full((length, length), np.nan) for _ in range(2))
    mine = np.asarray(codes)
    for i, j in combinations(range(length), 2):
        others = np.delete(np.arange(length), [i, j])
        ranks = np.argsort(chance.random((samples, length - 2)), axis=1).argsort(axis=1)
        present = np.zeros((samples, length), bool)
        present[:, others] = ranks < chance.integers(0, length - 1, (samples, 1))
        fixed = 0 if baseline is None else symbols.index(baseline)
        absent = chance.integers(0, len(symbols), (samples, length)) if baseline is None else fixed
        differences = np.zeros(samples)
        for with_i, with_j in product((False, True), repeat=2):
            present[:, i], present[:, j] = with_i, with_j
            rows = np.where(present, mine, absent)
            sign = 1 if with_i == with_j else -1
            differences += sign * _values(function, map(tuple, rows.tolist()), symbols)
        values[i, j] = values[j, i] = differences.mean()
        errors[i, j] = errors[j, i] = differences.std(ddof=1) / np.sqrt(samples)
    return EstimatedInteractions(values, errors)


def _checked(word: Word, alphabet: Sequence[str], baseline: str | None) -> tuple[list[int], tuple[str, ...]]:
    symbols = tuple(alphabet)
    if baseline is not None and baseline not in symbols:
        raise InputError(
            f"the baseline is {baseline!r}, which is not in the alphabet: {' '.join(symbols)}; leave it out to draw "
            f"absent symbols uniformly"
        )
    return word_codes(word, symbols), symbols


def _values(function: Function, rows: Iterator[Any], symbols: tuple[str, ...]) -> np.ndarray:
    """The function's values on words given by codes, `CALL` words at a time."""
    words = [tuple(symbols[code] for code in row) for row in rows]
    found = [np.zeros(0)]
    for first in range(0, len(words), CALL):
        some = words[first : first + CALL]
        values = np.asarray(function(some), dtype=np.float64)
        if values.shape != (len(some),):
            raise InputError(
                f"the function was given {len(some)} words and returned an array of shape {values.shape}; it returns a "
                f"number for each word"
            )
        if np.isnan(values).any():
            at = int(np.flatnonzero(np.isnan(values))[0])
            raise InputError(f"the function returned NaN for the word {' '.join(some[at])!r}")
        found.append(values)
    return np.concatenate(found)
