"""How much two words at a distance tell of each other in a text: a baseline that needs no network."""

from collections import Counter
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass, field
from math import log
from typing import Any

import numpy as np

from kleene.errors import InputError


@dataclass(frozen=True)
class MutualInformation:
    """What a text says of words `distance` apart, in nats. Probabilities are the text's own frequencies.

    Pairs seen once say much by accident; `at_least` leaves rare ones out.
    """

    distance: int
    pairs: Counter[tuple[Hashable, Hashable]] = field(repr=False)
    left: Counter[Hashable] = field(repr=False)
    right: Counter[Hashable] = field(repr=False)

    @property
    def count(self) -> int:
        """How many pairs were counted."""
        return self.left.total()

    @property
    def mean(self) -> float:
        """The mutual information of the two words: the mean of the pointwise one, and never below 0."""
        return sum(n * self._pointwise(one, other) for (one, other), n in self.pairs.items()) / self.count

    def pointwise(self, one: Hashable, other: Hashable, *, at_least: int = 1) -> float:
        """log p(one, other) / (p(one) p(other)), the first word being the left one; NaN where too rarely seen."""
        return self._pointwise(one, other) if self.pairs[one, other] >= max(1, at_least) else float("nan")

    def _pointwise(self, one: Hashable, other: Hashable) -> float:
        return log(self.pairs[one, other] * self.count / (self.left[one] * self.right[other]))


def mutual_information(sentences: Iterable[Sequence[Hashable]], distance: int) -> MutualInformation:
    """The statistics of all pairs of words that stand `distance` apart in one sentence.

    >>> found = mutual_information([["a", "b"], ["c", "d"]], 1)
    >>> round(found.pointwise("a", "b"), 4), round(found.mean, 4)
    (0.6931, 0.6931)
    """
    return mutual_informations(sentences, [distance])[0]


def mutual_informations(sentences: Iterable[Sequence[Hashable]], distances: Sequence[int]) -> list[MutualInformation]:
    """The statistics at several distances, in one pass over the text."""
    for distance in distances:
        if not isinstance(distance, int) or distance < 1:
            raise InputError(f"the distance is {distance!r}; it is a whole number from 1 on")
    counters: list[Any] = [(Counter(), Counter(), Counter()) for _ in distances]
    for sentence in sentences:
        for distance, (pairs, left, right) in zip(distances, counters):
            pairs.update(zip(sentence, sentence[distance:]))
            left.update(sentence[: max(0, len(sentence) - distance)])
            right.update(sentence[distance:])
    for distance, (pairs, _, _) in zip(distances, counters):
        if not pairs:
            raise InputError(f"no sentence has two words at distance {distance}: there is nothing to count")
    return [MutualInformation(distance, *found) for distance, found in zip(distances, counters)]


def information_matrix(
    sentence: Sequence[Hashable], statistics: Sequence[MutualInformation], *, at_least: int = 1
) -> np.ndarray:
    """The pointwise mutual information of every two words of a sentence; NaN where no statistics are given."""
    matrix = np.full((len(sentence), len(sentence)), np.nan)
    for one in statistics:
        for left, right in zip(range(len(sentence)), range(one.distance, len(sentence))):
            value = one.pointwise(sentence[left], sentence[right], at_least=at_least)
            matrix[left, right] = matrix[right, left] = value
    return matrix
