"""Means and rank correlations over pairs of words, against plain loops."""

from collections import defaultdict

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kleene.tasks import grammar
from kleene.tasks.treebanks import CLOSED_CLASSES, OPEN_CLASSES, tree_distances
from kleene_papers.interdependence.resampling import SentenceDraws
from kleene_papers.interdependence.word_pairs import WordPairs, pair_values, rank_correlation

COUNTS = {"the": 50, "a": 7}
DRAWS = SentenceDraws.of(30, 500)
PARSED = grammar.sentences(30, seed=1)


def spearman(one: np.ndarray, other: np.ndarray) -> float:
    """The correlation of mean ranks, counted one by one."""
    ranks = [[np.mean([int(v < w) + int(v <= w) for v in side]) for w in side] for side in (one, other)]
    return float(np.corrcoef(*ranks)[0, 1])


def plain_pairs():
    """Every pair by a loop: sentence, places, distance, edges, classes."""
    for number, sentence in enumerate(PARSED):
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
    drawn = [draw.random((len(s), len(s))) for s in PARSED]
    return [one + one.T for one in drawn]


def stacked(seeds=(0, 1, 2)) -> np.ndarray:
    """The values of three networks: [networks, pairs]."""
    return np.stack([pair_values(PARSED, symmetric(seed)) for seed in seeds])


def test_means_are_those_of_a_plain_loop_and_small_groups_are_left_out():
    matrices = symmetric(0), symmetric(1), symmetric(2)
    pairs = WordPairs.of(PARSED, COUNTS)
    groups = defaultdict(list)
    for number, left, right, distance, edges, classes in plain_pairs():
        if distance <= 3:
            groups[distance, classes, edges].append([network[number][left, right] for network in matrices])
    found = {
        (row["distance"], row["classes"], row["edges"]): row
        for row in pairs.means(stacked(), DRAWS, "distance", "classes", "edges", longest=3, at_least=20)
    }
    assert found.keys() == {key for key, members in groups.items() if len(members) >= 20}
    assert 0 < len(found) < len(groups)
    for key, row in found.items():
        networks = np.mean(groups[key], axis=0)
        assert row["cases"] == len(groups[key])
        assert row["networks"] == pytest.approx(networks, rel=1e-4)
        assert row["mean"] == pytest.approx(networks.mean(), rel=1e-4)
        half = 4.3027 * networks.std(ddof=1) / np.sqrt(3)  # Student's t with two degrees of freedom
        assert row["over_networks"] == pytest.approx([networks.mean() - half, networks.mean() + half], rel=1e-3)
        assert row["low"] <= row["mean"] <= row["high"]


def test_the_interval_over_sentences_is_that_of_sentences_drawn_again():
    pairs, values = WordPairs.of(PARSED, COUNTS), stacked()
    row = pairs.means(values, DRAWS, "distance", longest=1, at_least=1)[0]
    chosen = pairs.distance == 1
    drawn = []
    for counts in DRAWS.counts:
        weights = counts[pairs.sentence[chosen]]
        drawn.append(np.average(values[:, chosen].mean(axis=0), weights=weights))
    assert [row["low"], row["high"]] == pytest.approx(np.quantile(drawn, [0.025, 0.975]), rel=1e-4)


def test_one_network_has_an_interval_over_sentences_alone():
    row = WordPairs.of(PARSED, COUNTS).means(stacked((0,)), DRAWS, "distance", longest=1)[0]
    assert set(row) == {"distance", "mean", "low", "high", "cases"}


def test_pairs_without_a_value_are_left_out():
    pairs, values = WordPairs.of(PARSED, COUNTS), stacked()
    rows = {row["distance"]: row for row in pairs.means(values, DRAWS, "distance", at_least=1)}
    values[1, (pairs.distance == 1) & (pairs.classes != 0)] = np.nan
    left = {row["distance"]: row for row in pairs.means(values, DRAWS, "distance", at_least=1)}
    assert left[1]["cases"] == ((pairs.distance == 1) & (pairs.classes == 0)).sum() < rows[1]["cases"]
    assert left[2] == rows[2]
    assert {row["classes"] for row in pairs.trends(values, DRAWS, "edges", 1, at_least=1)} == {"open"}


def test_only_pairs_that_are_near_enough_are_kept():
    near, everything = WordPairs.of(PARSED, COUNTS, 4), WordPairs.of(PARSED, COUNTS)
    assert near.distance.max() == 4 < everything.distance.max()
    np.testing.assert_array_equal(near.edges, everything.edges[everything.distance <= 4])
    values = pair_values(PARSED, symmetric(0), 4)
    np.testing.assert_array_equal(values, pair_values(PARSED, symmetric(0))[everything.distance <= 4])


def test_frequency_is_the_mean_logarithm_of_both_words():
    pairs = WordPairs.of(PARSED, COUNTS)
    expected = [
        (np.log1p(COUNTS.get(PARSED[n].words[left], 0)) + np.log1p(COUNTS.get(PARSED[n].words[right], 0))) / 2
        for n, left, right, *_ in plain_pairs()
    ]
    assert pairs.frequency == pytest.approx(expected)


def test_trends_are_rank_correlations_within_a_distance_and_a_class():
    pairs, values = WordPairs.of(PARSED, COUNTS), stacked()
    rows = pairs.trends(values, DRAWS, "edges", 2, at_least=20)
    row = next(row for row in rows if (row["distance"], row["classes"]) == (2, "open"))
    for network, found in zip(values, row["networks"]):
        chosen = [(e, v) for (*_, d, e, c), v in zip(plain_pairs(), network) if (d, c) == (2, "open")]
        assert found == pytest.approx(spearman(*map(np.array, zip(*chosen))), abs=1e-4)
    assert row["correlation"] == pytest.approx(np.mean(row["networks"]), abs=1e-4)
    assert row["low"] <= row["correlation"] <= row["high"]


def test_a_column_that_does_not_vary_has_no_correlation():
    pairs = WordPairs.of(PARSED, {})
    assert {row["correlation"] for row in pairs.trends(stacked(), DRAWS, "frequency", 2)} == {None}


def test_a_value_that_falls_with_edges_is_found_in_sentences_drawn_again():
    pairs = WordPairs.of(PARSED, COUNTS)
    for row in pairs.trends(-pairs.edges[None] * 1.0, DRAWS, "edges", 2):
        assert [row["correlation"], row["low"], row["high"]] == pytest.approx([-1, -1, -1])


def test_a_partial_correlation_is_that_of_what_the_place_leaves():
    pairs, values = WordPairs.of(PARSED, COUNTS), stacked()
    rows = pairs.trends(values, DRAWS, "edges", 2, at_least=20, given="place")
    row = next(row for row in rows if (row["distance"], row["classes"]) == (2, "open"))
    for network, found in zip(values, row["networks"]):
        chosen = [(p, e, v) for (_, p, _, d, e, c), v in zip(plain_pairs(), network) if (d, c) == (2, "open")]
        place, edges, value = (
            np.array([np.mean([int(v < w) + int(v <= w) for v in side]) for w in side]) for side in zip(*chosen)
        )
        left = [side - np.polyval(np.polyfit(place, side, 1), place) for side in (edges, value)]
        assert found == pytest.approx(np.corrcoef(*left)[0, 1], abs=1e-4)
    assert row["low"] <= row["correlation"] <= row["high"]


def test_what_only_depends_on_the_place_is_not_about_the_tree_but_seems_so():
    pairs = WordPairs.of(PARSED, COUNTS)
    value = -pairs.place[None] + 1e-3 * np.random.default_rng(0).random((1, len(pairs)))
    plain, partial = (
        [row["correlation"] for row in pairs.trends(value, DRAWS, "edges", 4, at_least=100, given=given)]
        for given in (None, "place")
    )
    assert plain[-1] < -0.15
    assert abs(partial[-1]) < 0.05


def test_a_value_that_the_place_decides_has_no_partial_correlation():
    pairs = WordPairs.of(PARSED, COUNTS)
    rows = pairs.trends(pairs.place[None] * 1.0, DRAWS, "edges", 2, given="place")
    assert {row["correlation"] for row in rows} == {None}


@given(st.lists(st.tuples(st.integers(0, 4), st.integers(0, 4)), min_size=3, max_size=30))
def test_rank_correlation_is_spearmans(points):
    one, other = np.array(points).T
    found = rank_correlation(one, other)
    if len(set(one)) == 1 or len(set(other)) == 1:
        assert found is None
    else:
        assert found == pytest.approx(spearman(one, other), abs=1e-4)
