from collections import defaultdict

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kleene.experiments.word_pairs import WordPairs, pair_values, rank_correlation
from kleene.tasks import grammar
from kleene.tasks.treebanks import CLOSED_CLASSES, OPEN_CLASSES, tree_distances

SENTENCES = grammar.sentences(30, seed=1)
COUNTS = {"the": 50, "a": 7}


def spearman(one: np.ndarray, other: np.ndarray) -> float:
    """The correlation of mean ranks, counted one by one."""
    ranks = [[np.mean([int(v < w) + int(v <= w) for v in side]) for w in side] for side in (one, other)]
    return float(np.corrcoef(*ranks)[0, 1])


def plain_pairs():
    """Every pair by a loop: sentence, places, distance, edges, classes."""
    for number, sentence in enumerate(SENTENCES):
        edges = tree_distances(sentence)
        for left in range(len(sentence)):
            for right in range(left + 1, len(sentence)):
                two = [sentence.classes[left], sentence.classes[right]]
                if all(one in OPEN_CLASSES | CLOSED_CLASSES for one in two):
                    is_open = [one in OPEN_CLASSES for one in two]
                    name = "open" if all(is_open) else "mixed" if any(is_open) else "closed"
                    yield number, left, right, right - left, int(edges[left, right]), name


def symmetric(seed: int) -> list[np.ndarray]:
    draw = np.random.default_rng(seed)
    drawn = [draw.random((len(s), len(s))) for s in SENTENCES]
    return [one + one.T for one in drawn]


@pytest.mark.parametrize("seed", [0, 1])
def test_means_are_those_of_a_plain_loop_and_small_groups_are_left_out(seed):
    matrices = symmetric(seed)
    pairs, values = WordPairs.of(SENTENCES, COUNTS), pair_values(SENTENCES, matrices)
    groups = defaultdict(list)
    for number, left, right, distance, edges, classes in plain_pairs():
        if distance <= 3:
            groups[distance, classes, edges].append(matrices[number][left, right])
    found = {
        (row["distance"], row["classes"], row["edges"]): row
        for row in pairs.means(values, "distance", "classes", "edges", longest=3, at_least=20)
    }
    assert found.keys() == {key for key, members in groups.items() if len(members) >= 20}
    assert 0 < len(found) < len(groups)
    for key, row in found.items():
        members = np.array(groups[key])
        half = 1.96 * members.std(ddof=1) / np.sqrt(len(members))
        assert row["cases"] == len(members)
        assert [row["mean"], row["high"] - row["mean"]] == pytest.approx([members.mean(), half])


def test_frequency_is_the_mean_logarithm_of_both_words():
    pairs = WordPairs.of(SENTENCES, COUNTS)
    expected = [
        (np.log1p(COUNTS.get(SENTENCES[n].words[left], 0)) + np.log1p(COUNTS.get(SENTENCES[n].words[right], 0))) / 2
        for n, left, right, *_ in plain_pairs()
    ]
    assert pairs.frequency == pytest.approx(expected)


def test_trends_are_rank_correlations_within_a_distance_and_a_class():
    pairs, values = WordPairs.of(SENTENCES, COUNTS), pair_values(SENTENCES, symmetric(0))
    rows = pairs.trends(values, "edges", 2, at_least=20)
    chosen = [(e, v) for (*_, d, e, c), v in zip(plain_pairs(), values) if (d, c) == (2, "open")]
    row = next(row for row in rows if (row["distance"], row["classes"]) == (2, "open"))
    assert row["correlation"] == pytest.approx(spearman(*map(np.array, zip(*chosen))), abs=1e-4)


@given(st.lists(st.tuples(st.integers(0, 4), st.integers(0, 4)), min_size=3, max_size=30))
def test_rank_correlation_is_spearmans(points):
    one, other = np.array(points).T
    found = rank_correlation(one, other)
    if len(set(one)) == 1 or len(set(other)) == 1:
        assert found is None
    else:
        assert found == pytest.approx(spearman(one, other), abs=1e-4)
