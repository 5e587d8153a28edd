"""Rank correlations of scores with true interactions, word by word, and bootstrap intervals over networks and words."""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from kleene.errors import InputError

DIGITS = 6  # numbers that agree in so many digits of the largest are tied: single precision has about seven


@dataclass(frozen=True)
class Interval:
    """A mean and its 95% bootstrap interval; NaN where nothing could be measured."""

    mean: float
    low: float
    high: float

    def __str__(self) -> str:
        if np.isnan(self.mean):
            return "–"
        return f"{_short(self.mean)} [{_short(self.low)}, {_short(self.high)}]"

    def as_json(self) -> list[float | None]:
        return [None if np.isnan(number) else round(number, 4) for number in (self.mean, self.low, self.high)]

    @classmethod
    def from_json(cls, stored: Sequence[float | None]) -> "Interval":
        """The interval that `as_json` made plain data of."""
        return cls(*(float("nan") if number is None else float(number) for number in stored))


def _short(number: float) -> str:
    rounded = round(number, 2) + 0.0  # so that there is no -0
    return f"{rounded:.2f}".replace("0.", ".", 1) if abs(rounded) < 1 else f"{rounded:.1f}"


def ranks(values: np.ndarray) -> np.ndarray:
    """The ranks along the last axis, ties sharing their mean rank; minus and plus infinity are ranked too."""
    finite = np.where(np.isfinite(values), np.abs(values), 0)
    largest = finite.max(axis=-1, keepdims=True, initial=0)
    rounded = np.round(values / np.where(largest > 0, largest, 1), DIGITS)
    mine, others = rounded[..., :, None], rounded[..., None, :]
    return (others < mine).sum(axis=-1) + ((others == mine).sum(axis=-1) + 1) / 2


def spearman(truth: np.ndarray, scores: np.ndarray) -> np.ndarray:
    """The rank correlation of two arrays [word, pair], for each word.

    It is NaN where the truth has no order, because all pairs interact alike, and 0 where the scores have none.

    >>> spearman(np.array([[1.0, 2, 3], [1, 1, 1]]), np.array([[2.0, 4, 9], [1, 2, 3]])).tolist()
    [1.0, nan]
    """
    mine, theirs = (ranked - ranked.mean(axis=-1, keepdims=True) for ranked in (ranks(truth), ranks(scores)))
    return _over((mine * theirs).sum(-1), (mine**2).sum(-1), (theirs**2).sum(-1))


def partial_spearman(truth: np.ndarray, scores: np.ndarray, given: np.ndarray) -> np.ndarray:
    """The partial rank correlation of truth and scores [word, pair] given a third array, for each word.

    It is NaN where the truth has no order, or none beyond the third array's, and 0 where the scores have none beyond.
    """
    direct, of_truth, of_scores = spearman(truth, scores), spearman(truth, given), spearman(given, scores)
    return _over(direct - of_truth * of_scores, 1 - of_truth**2, 1 - of_scores**2)


def _over(above: np.ndarray, truth: np.ndarray, scores: np.ndarray) -> np.ndarray:
    """above / √(truth · scores): NaN where nothing of the truth varies, and 0 where nothing of the scores does."""
    varies = scores > 1e-9
    found = np.where(varies, above / np.sqrt(np.where(varies & (truth > 0), truth * scores, 1)), 0.0)
    return np.where(truth > 1e-9, found, np.nan)


def area_under_roc(positive: np.ndarray, scores: np.ndarray) -> np.ndarray:
    """The chance that a positive pair has a higher score than another, for each word; NaN where all pairs are alike."""
    many, few = positive.sum(axis=-1), (~positive).sum(axis=-1)
    above = np.where(positive, ranks(scores), 0).sum(axis=-1) - many * (many + 1) / 2
    return np.where((many > 0) & (few > 0), above / np.where(many * few > 0, many * few, 1), np.nan)


def interval(
    by_network: Sequence[np.ndarray],
    groups: Sequence[Hashable] | None = None,
    *,
    resamples: int = 1_000,
    seed: int = 0,
) -> Interval:
    """The mean over words, then networks, then groups of networks, and its 95% interval: all three drawn again.

    Networks of one group, such as the seeds of one language, are not independent; without `groups` each network is a
    group. Words with NaN are left out, and networks without any other.

    >>> found = interval([np.array([0.0, 1.0]), np.array([0.5, np.nan])])
    >>> found.mean, 0 <= found.low <= 0.5 <= found.high <= 1
    (0.5, True)
    """
    members: dict[Hashable, list[np.ndarray]] = {}
    for group, values in zip(range(len(by_network)) if groups is None else groups, by_network, strict=True):
        if not np.isnan(values).all():
            members.setdefault(group, []).append(values[~np.isnan(values)])
    if not members:
        return Interval(*[float("nan")] * 3)
    chance = np.random.default_rng(seed)
    inner = np.stack([_drawn_means(chance, some, (len(members), resamples)) for some in members.values()])
    drawn = chance.integers(0, len(members), (len(members), resamples))
    means = inner[drawn, np.arange(len(members))[:, None], np.arange(resamples)].mean(axis=0)
    low, high = np.quantile(means, [0.025, 0.975])
    own = [np.mean([values.mean() for values in some]) for some in members.values()]
    return Interval(float(np.mean(own)), float(low), float(high))


def _drawn_means(chance: np.random.Generator, group: list[np.ndarray], shape: tuple[int, int]) -> np.ndarray:
    """Means of a group whose networks, and then their words, are drawn again: as many as the shape says."""
    count, resamples = shape[0] * shape[1], shape[1]
    words = [values[chance.integers(0, len(values), (resamples, len(values)))].mean(axis=1) for values in group]
    networks = chance.integers(0, len(group), (count, len(group)))
    columns = chance.integers(0, resamples, (count, len(group)))  # a network drawn twice has other words each time
    return np.stack(words)[networks, columns].mean(axis=1).reshape(shape)


def real_numbers(given: Any) -> np.ndarray:
    """What a method returned as an array of real numbers; an `InputError` if it is none.

    >>> real_numbers([[1, 2]]).tolist()
    [[1.0, 2.0]]
    """
    try:
        found = np.asarray(given)
        if not _is_complex(found):
            return found.astype(np.float64)
    except (TypeError, ValueError):
        raise InputError(f"it returned {type(given).__name__}, and an array of numbers was expected") from None
    raise InputError("it returned complex numbers, and real ones were expected; return their absolute values, or parts")


def _is_complex(found: np.ndarray) -> bool:
    entries = found.ravel() if found.dtype == object else ()
    return np.iscomplexobj(found) or any(isinstance(one, (complex, np.complexfloating)) for one in entries)
