"""Pairs of words in parsed sentences, each with a value such as their interdependence, and means over many pairs."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from jaxtyping import Float, Int

from kleene.tasks.treebanks import CLOSED_CLASSES, OPEN_CLASSES, Sentence, tree_distances

CLASSES = ("open", "closed", "mixed")  # both words open, both closed, one of each
AT_LEAST = 100  # cases to a mean, as in Saphra & Lopez 2020
Z = 1.96  # standard errors in a 95% interval

Whole = Int[np.ndarray, " pairs"]
Real = Float[np.ndarray, " pairs"]


@dataclass(frozen=True, eq=False)
class WordPairs:
    """Every two words of some sentences, without punctuation, symbols and X.

    `distance` is the difference of their positions in the sentence, `edges` their distance in the tree, `classes` an
    index into `CLASSES`, and `frequency` the mean of ln(1 + count) of the two words.
    """

    distance: Whole
    edges: Whole
    classes: Whole
    frequency: Real

    @classmethod
    def of(cls, sentences: Sequence[Sentence], counts: Mapping[str, int]) -> "WordPairs":
        rows = [_pairs(sentence, counts) for sentence in sentences]
        return cls(*(np.concatenate(column) for column in zip(*rows)))

    def __len__(self) -> int:
        return len(self.distance)

    def means(
        self, values: Real, *by: str, longest: int | None = None, at_least: int = AT_LEAST
    ) -> list[dict[str, Any]]:
        """The mean and 95% interval of the values, for each combination of columns that `at_least` pairs have, sorted.

        The interval assumes independent pairs. Those of one sentence are not, so it is too narrow.
        """
        chosen = np.ones(len(self), bool) if longest is None else self.distance <= longest
        keys = np.stack([getattr(self, column)[chosen] for column in by], axis=1)
        groups, places, cases = np.unique(keys, axis=0, return_inverse=True, return_counts=True)
        chosen_values, places = values[chosen].astype(np.float64), places.reshape(-1)
        mean = np.bincount(places, chosen_values) / cases
        spread = np.sqrt(np.bincount(places, (chosen_values - mean[places]) ** 2) / np.maximum(cases - 1, 1))
        half = Z * spread / np.sqrt(cases)
        rows = zip(groups.tolist(), mean.tolist(), half.tolist(), cases.tolist())
        return [
            _named(dict(zip(by, group))) | {"mean": m, "low": m - h, "high": m + h, "cases": n}
            for group, m, h, n in rows
            if n >= at_least
        ]

    def trends(self, values: Real, column: str, longest: int, at_least: int = AT_LEAST) -> list[dict[str, Any]]:
        """The rank correlation of the values with a column, for each distance and each class."""
        found = []
        for distance in range(1, longest + 1):
            for code, name in enumerate(CLASSES):
                chosen = (self.distance == distance) & (self.classes == code)
                cases = int(chosen.sum())
                if cases >= at_least:
                    rho = rank_correlation(getattr(self, column)[chosen], values[chosen])
                    found.append({"distance": distance, "classes": name, "correlation": rho, "cases": cases})
        return found


def pair_values(sentences: Sequence[Sentence], matrices: Sequence[np.ndarray]) -> Real:
    """The entries of a symmetric matrix over each sentence's words, in the order of `WordPairs`."""
    found = []
    for sentence, matrix in zip(sentences, matrices):
        left, right = _places(sentence)
        found.append(matrix[left, right])
    return np.concatenate(found)


def rank_correlation(one: np.ndarray, other: np.ndarray) -> float | None:
    """Spearman's rank correlation; None where one of the two does not vary.

    >>> rank_correlation(np.array([1, 2, 3, 3]), np.array([9.0, 4.0, 1.0, 1.0]))
    -1.0
    """
    from scipy.stats import spearmanr  # slow to import

    if min(np.ptp(side) for side in (one, other)) == 0:
        return None
    found: Any = spearmanr(one, other)
    return round(float(found.statistic), 4)


def _pairs(sentence: Sentence, counts: Mapping[str, int]) -> tuple[np.ndarray, ...]:
    left, right = _places(sentence)
    is_open = np.array([one in OPEN_CLASSES for one in sentence.classes])
    logs = np.log1p([counts.get(word, 0) for word in sentence.words])
    classes = np.where(is_open[left] != is_open[right], 2, np.where(is_open[left], 0, 1))
    return right - left, tree_distances(sentence)[left, right], classes, (logs[left] + logs[right]) / 2


def _places(sentence: Sentence) -> tuple[np.ndarray, np.ndarray]:
    """The two words of each pair that counts, the earlier first."""
    words = np.flatnonzero([one in OPEN_CLASSES | CLOSED_CLASSES for one in sentence.classes])
    left, right = np.triu_indices(len(words), 1)
    return words[left], words[right]


def _named(row: dict[str, int]) -> dict[str, Any]:
    return row | ({"classes": CLASSES[row["classes"]]} if "classes" in row else {})
