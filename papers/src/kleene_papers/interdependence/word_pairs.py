"""Means of a measure over pairs of words, and its rank correlations, by distance in the sentence and in the tree.

A measure has a value for every pair in each of some networks. Its interval over sentences is a bootstrap, because the
pairs of one sentence are not independent; the one over networks is Student's.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from jaxtyping import Float, Int

from kleene.tasks.treebanks import CLOSED_CLASSES, OPEN_CLASSES, Sentence, tree_distances
from kleene_papers.interdependence.resampling import SentenceDraws, interval_over, quantiles

CLASSES = ("open", "closed", "mixed")  # both words open, both closed, one of each
AT_LEAST = 100  # cases to a mean, as in Saphra & Lopez 2020
Whole = Int[np.ndarray, " pairs"]
Real = Float[np.ndarray, " pairs"]
Values = Float[np.ndarray, "networks pairs"]
Row = dict[str, Any]


@dataclass(frozen=True, eq=False)
class WordPairs:
    """Every two words of some sentences, without punctuation, symbols and X.

    `sentence` is the number of their sentence, `place` the position of the first in it, `distance` the difference of
    their positions, `edges` their distance in the tree, `classes` an index into `CLASSES`, and `frequency` the mean of
    ln(1 + count) of the two words.
    """

    sentence: Whole
    place: Whole
    distance: Whole
    edges: Whole
    classes: Whole
    frequency: Real

    @classmethod
    def of(cls, sentences: Sequence[Sentence], counts: Mapping[str, int], longest: int | None = None) -> "WordPairs":
        """The pairs that are at most `longest` words apart."""
        rows = [_pairs(number, sentence, counts, longest) for number, sentence in enumerate(sentences)]
        return cls(*(np.concatenate(column) for column in zip(*rows)))

    def __len__(self) -> int:
        return len(self.distance)

    def means(
        self,
        values: Values,
        draws: SentenceDraws,
        *by: str,
        longest: int | None = None,
        at_least: int = AT_LEAST,
    ) -> list[Row]:
        """The mean of the values, for each combination of columns that `at_least` pairs have, sorted.

        `low` and `high` are the interval over sentences of the mean of all networks, `networks` the mean in each, and
        `over_networks` the interval over them. Pairs without a value (NaN) are left out.
        """
        chosen = self._chosen(values) if longest is None else self._chosen(values) & (self.distance <= longest)
        if not chosen.any():
            return []
        keys = np.stack([getattr(self, column)[chosen] for column in by], axis=1)
        groups, places = np.unique(keys, axis=0, return_inverse=True)
        size = len(groups), draws.counts.shape[1]
        cells = places.reshape(-1) * size[1] + self.sentence[chosen]

        def summed(column: Real | None) -> np.ndarray:
            return np.bincount(cells, column, size[0] * size[1]).reshape(size).astype(np.float64)

        cases = summed(None)
        each = np.stack([summed(row.astype(np.float64)) for row in values[:, chosen]])  # networks, groups, sentences
        many = cases.sum(axis=1) >= at_least
        means = (each.sum(axis=2) / cases.sum(axis=1)).T[many]
        ends = draws.mean_intervals(each.mean(axis=0)[many], cases[many])
        return [
            _named(dict(zip(by, group))) | _estimate("mean", found, end) | {"cases": int(count)}
            for group, found, end, count in zip(groups[many].tolist(), means, ends, cases[many].sum(axis=1))
        ]

    def trends(
        self,
        values: Values,
        draws: SentenceDraws,
        column: str,
        longest: int,
        at_least: int = AT_LEAST,
        *,
        given: str | None = None,
    ) -> list[Row]:
        """The rank correlation of the values with a column, for each distance and each class, with its intervals.

        With `given` it is the partial correlation, without what is linear in the ranks of that column. Sentences are
        drawn again with the ranks that their pairs have among all. It is None where nothing varies, or nothing but with
        the column `given`; where that does not vary itself, it changes nothing.
        """
        found, known = [], self._chosen(values)
        for distance in range(1, longest + 1):
            for code, name in enumerate(CLASSES):
                chosen = known & (self.distance == distance) & (self.classes == code)
                cases = int(chosen.sum())
                if cases >= at_least:
                    stratum = getattr(self, column)[chosen], values[:, chosen], self.sentence[chosen]
                    held = None if given is None else getattr(self, given)[chosen]
                    row = {"distance": distance, "classes": name} | _correlated(*stratum, draws, held)
                    found.append(row | {"cases": cases})
        return found

    def _chosen(self, values: Values) -> Any:
        return np.logical_not(np.isnan(values).any(axis=0))


def _correlated(
    column: np.ndarray, values: Values, sentence: Whole, draws: SentenceDraws, given: np.ndarray | None = None
) -> Row:
    """Spearman's correlation in each network, and in sentences that are drawn again; with `given`, the partial one."""
    if np.ptp(column) == 0 or (np.ptp(values, axis=1) == 0).any():
        return {"correlation": None}
    sentences, where = np.unique(sentence, return_inverse=True)
    every = np.ones((1, len(sentences)), draws.counts.dtype)
    drawn = SentenceDraws(np.concatenate([every, draws.counts[:, sentences]]))

    def correlations(one: np.ndarray, others: np.ndarray) -> np.ndarray:
        """The correlation of a row with each of some others: in all sentences first, then in each draw."""
        products = np.concatenate([np.stack([np.ones_like(one), one, one**2]), others, others**2, one * others])
        return _pearson(drawn.sums(np.stack([np.bincount(where, row, len(sentences)) for row in products])))

    across, up = _centred_ranks(column[None]), _centred_ranks(values)
    found = correlations(across[0], up)
    if given is not None and np.ptp(given) > 0:
        (held,) = _centred_ranks(given[None])
        of_column, of_values = correlations(held, across), correlations(held, up)
        spread, left = (1 - of_column**2) * (1 - of_values**2), found - of_column * of_values
        varies = spread > 1e-12
        found = np.divide(left, np.sqrt(np.where(varies, spread, 1)), out=np.full_like(left, np.nan), where=varies)
        if np.isnan(found[:, 0]).any():
            return {"correlation": None}
    return _estimate("correlation", found[:, 0], quantiles(found[:, 1:].mean(axis=0, keepdims=True))[0])


def _centred_ranks(rows: np.ndarray) -> Float[np.ndarray, "rows pairs"]:
    from scipy.stats import rankdata  # slow to import

    return rankdata(rows, axis=1) - (rows.shape[1] + 1) / 2


def _pearson(moments: Float[np.ndarray, "moments draws"]) -> Float[np.ndarray, "networks draws"]:
    """Pearson's correlation from the sums of 1, x, x², and in each network y, y², xy; NaN where one does not vary."""
    n, x, xx = moments[:3]
    y, yy, xy = np.split(moments[3:], 3)
    spread, above = (n * xx - x * x) * (n * yy - y * y), n * xy - x * y
    varies = spread > 1e-12 * (n * xx * n * yy)
    return np.divide(above, np.sqrt(np.where(varies, spread, 1)), out=np.full_like(above, np.nan), where=varies)


def _estimate(name: str, networks: np.ndarray, ends: np.ndarray) -> Row:
    """A mean over networks and its intervals, as plain numbers."""
    found = {name: _short(networks.mean()), "low": _short(ends[0]), "high": _short(ends[1])}
    if len(networks) > 1:
        over = [_short(end) for end in interval_over(networks)]
        found |= {"over_networks": over, "networks": [_short(value) for value in networks]}
    return found


def _short(value: float) -> float | None:
    """Five digits of a number; None for NaN."""
    return None if np.isnan(value) else float(f"{value:.5g}")


def pair_values(sentences: Sequence[Sentence], matrices: Sequence[np.ndarray], longest: int | None = None) -> Real:
    """The entries of a symmetric matrix over each sentence's words, in the order of `WordPairs`."""
    found = []
    for sentence, matrix in zip(sentences, matrices, strict=True):
        left, right = pair_places(sentence, longest)
        found.append(matrix[left, right])
    return np.concatenate(found)


def pair_places(sentence: Sentence, longest: int | None = None) -> tuple[np.ndarray, np.ndarray]:
    """The two words of each pair that counts, the earlier first."""
    words = np.flatnonzero([one in OPEN_CLASSES | CLOSED_CLASSES for one in sentence.classes])
    left, right = (words[side] for side in np.triu_indices(len(words), 1))
    near = np.ones(len(left), bool) if longest is None else right - left <= longest
    return left[near], right[near]


def _pairs(number: int, sentence: Sentence, counts: Mapping[str, int], longest: int | None) -> tuple[np.ndarray, ...]:
    left, right = pair_places(sentence, longest)
    is_open = np.array([one in OPEN_CLASSES for one in sentence.classes])
    logs = np.log1p([counts.get(word, 0) for word in sentence.words])
    classes = np.where(is_open[left] != is_open[right], 2, np.where(is_open[left], 0, 1))
    edges = tree_distances(sentence)[left, right]
    return np.full(len(left), number), left, right - left, edges, classes, (logs[left] + logs[right]) / 2


def _named(row: dict[str, int]) -> Row:
    return row | ({"classes": CLASSES[row["classes"]]} if "classes" in row else {})


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
