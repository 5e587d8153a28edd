"""Intervals that do not take pairs of words for independent: over sentences drawn again, and over networks."""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from kleene.errors import InputError

DRAWS = 1_000
LEVELS = (0.025, 0.975)  # of a 95% interval

Columns = Float[np.ndarray, "columns sentences"]


@dataclass(frozen=True, eq=False)
class SentenceDraws:
    """Samples of sentences with replacement, as many sentences to a draw as there are: how often each has each."""

    counts: Float[np.ndarray, "draws sentences"]

    @classmethod
    def of(cls, sentences: int, draws: int = DRAWS, seed: int = 0) -> "SentenceDraws":
        if sentences < 1 or draws < 1:
            raise InputError(f"{draws} draws of {sentences} sentences are asked for; give 1 or more of both")
        chance = np.random.default_rng(seed)
        return cls(chance.multinomial(sentences, np.full(sentences, 1 / sentences), draws).astype(np.float64))

    def sums(self, by_sentence: Columns) -> Float[np.ndarray, "columns draws"]:
        """The sum over the sentences of each draw."""
        return by_sentence @ self.counts.T

    def mean_intervals(self, sums: Columns, cases: Columns) -> Float[np.ndarray, "columns 2"]:
        """The 95% interval of Σ sums / Σ cases for each column; draws without a case are left out.

        >>> draws = SentenceDraws.of(3)
        >>> draws.mean_intervals(np.array([[2.0, 6.0, 0.0]]), np.array([[1.0, 3.0, 0.0]])).tolist()
        [[2.0, 2.0]]
        """
        drawn, counted = self.sums(sums), self.sums(cases)
        return quantiles(np.divide(drawn, counted, out=np.full_like(drawn, np.nan), where=counted > 0))


def quantiles(drawn: Float[np.ndarray, "columns draws"]) -> Float[np.ndarray, "columns 2"]:
    """The ends of the middle 95% of each column, without draws that are NaN."""
    return np.nanquantile(drawn, LEVELS, axis=-1).T


def interval_over(networks: Float[np.ndarray, "*columns networks"]) -> Float[np.ndarray, "*columns 2"]:
    """Student's 95% interval of the mean over the networks, the last axis; NaN for a single network.

    >>> interval_over(np.array([0.1, 0.2, 0.3])).round(3).tolist()
    [-0.048, 0.448]
    """
    from scipy.stats import t  # slow to import

    count = networks.shape[-1]
    mean = networks.mean(axis=-1)
    if count < 2:
        return np.full((*mean.shape, 2), np.nan)
    half = t.ppf(LEVELS[1], count - 1) * networks.std(axis=-1, ddof=1) / np.sqrt(count)
    return np.stack([mean - half, mean + half], axis=-1)
