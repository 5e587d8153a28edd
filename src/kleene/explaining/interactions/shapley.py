"""The Shapley interaction index (Grabisch and Roubens, 1999) of every two positions of a word: the true interactions.

A function of words becomes a game whose players are the positions of one word. Positions in a coalition S keep their
symbols, and the others lose theirs: they are resampled, which means that the function is averaged over all symbols
there, or they get one fixed symbol. With v(S) for the value of the game,

    I(i, j) = Σ over S without i and j of  |S|! (n − |S| − 2)! / (n − 1)!  · (v(S∪ij) − v(S∪i) − v(S∪j) + v(S)).

This is a fact about the function alone. Every network that computes the function has the same interactions.
"""

from collections.abc import Callable, Iterable, Sequence
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

    A sample draws a chance uniformly, and each position is present with that chance, so that coalitions have all sizes
    equally often. All pairs share the sample: it costs one word, one more for each position and one for each pair, in
    which those positions change from their symbol to another or back. The other symbol is never the same, because that
    changes nothing; the differences are scaled down instead.
    """
    codes, symbols = _checked(word, alphabet, baseline)
    if samples < 2:
        raise InputError(f"samples is {samples}; give 2 or more, because one has no standard error")
    mine, count, chance = np.asarray(codes, dtype=np.int64), len(symbols), np.random.default_rng(seed)
    length, pairs = len(mine), np.triu_indices(len(mine), 1)
    values, errors = (np.full((length, length), np.nan) for _ in range(2))
    if length < 2:
        return EstimatedInteractions(values, errors)
    present = chance.random((samples, length)) < chance.random((samples, 1))
    absent, others = np.full((2, samples, length), 0 if baseline is None else symbols.index(baseline))
    if baseline is None:
        absent = chance.integers(0, count, (samples, length))
        others = (mine + chance.integers(1, max(count, 2), (samples, length))) % count
    rows = np.where(present, mine, absent)
    flipped = np.where(rows == mine, others, mine)
    signs = np.where(rows == mine, 1, -1)
    at_once = max(1, CALL // (1 + length + len(pairs[0])))
    parts = [slice(first, first + at_once) for first in range(0, samples, at_once)]
    found = np.concatenate([_differences(function, rows[part], flipped[part], symbols) for part in parts])
    found *= signs[:, pairs[0]] * signs[:, pairs[1]] * (1 if baseline is not None else (1 - 1 / count) ** 2)
    values[pairs] = values.T[pairs] = found.mean(axis=0)
    errors[pairs] = errors.T[pairs] = found.std(axis=0, ddof=1) / np.sqrt(samples)
    return EstimatedInteractions(values, errors)


def _differences(function: Function, rows: np.ndarray, flipped: np.ndarray, symbols: tuple[str, ...]) -> np.ndarray:
    """f − fᵢ − fⱼ + fᵢⱼ [sample, pair] for words given as rows [sample, position]; `flipped` has changed symbols."""
    length = rows.shape[1]
    first, second = np.triu_indices(length, 1)
    places, pairs = np.arange(length), np.arange(len(first))
    changed = np.repeat(rows[:, None], 1 + length + len(first), axis=1)
    changed[:, 1 + places, places] = flipped
    changed[:, 1 + length + pairs, first] = flipped[:, first]
    changed[:, 1 + length + pairs, second] = flipped[:, second]
    found = _values(function, changed.reshape(-1, length).tolist(), symbols).reshape(len(rows), -1)
    alone, both = found[:, 1 : 1 + length], found[:, 1 + length :]
    return found[:, :1] - alone[:, first] - alone[:, second] + both


def _checked(word: Word, alphabet: Sequence[str], baseline: str | None) -> tuple[list[int], tuple[str, ...]]:
    symbols = tuple(alphabet)
    if baseline is not None and baseline not in symbols:
        raise InputError(
            f"the baseline is {baseline!r}, which is not in the alphabet: {' '.join(symbols)}; leave it out to draw "
            f"absent symbols uniformly"
        )
    return word_codes(word, symbols), symbols


def _values(function: Function, rows: Iterable[Any], symbols: tuple[str, ...]) -> np.ndarray:
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
