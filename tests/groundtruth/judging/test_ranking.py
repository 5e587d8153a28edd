"""Rank correlations against scipy, partial ones against regression, and what has no order."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from kleene.groundtruth.judging.ranking import Interval, area_under_roc, interval, partial_spearman, ranks, spearman

ROWS = st.lists(st.integers(0, 6).map(float), min_size=8, max_size=8)


@given(ROWS, ROWS)
@settings(max_examples=30)
def test_it_is_scipys_rank_correlation_with_ties(one, other):
    found = spearman(np.array([one]), np.array([other]))[0]
    if len(set(one)) > 1 and len(set(other)) > 1:
        assert found == pytest.approx(stats.spearmanr(one, other).statistic)
        assert ranks(np.array(one)).tolist() == stats.rankdata(one).tolist()
    else:
        assert np.isnan(found) if len(set(one)) == 1 else found == 0


def test_a_partial_correlation_is_that_of_what_a_regression_of_ranks_leaves():
    chance = np.random.default_rng(1)
    truth, scores, given_ = chance.random((3, 4, 20))
    scores = scores + 2 * given_
    expected = []
    for rows in zip(truth, scores, given_):
        one, other, third = map(stats.rankdata, rows)
        left = [side - np.polyval(np.polyfit(third, side, 1), third) for side in (one, other)]
        expected.append(stats.pearsonr(*left).statistic)
    assert partial_spearman(truth, scores, given_) == pytest.approx(expected)


def test_scores_that_are_the_distance_itself_say_nothing_beyond_it():
    truth, near = np.array([[3.0, 1, 2, 5]]), np.array([[-1.0, -2, -3, -4]])
    assert partial_spearman(truth, 2 * near, near).tolist() == [0]
    assert np.isnan(partial_spearman(near, truth, near)).all()


def test_numbers_that_only_rounding_makes_different_are_tied():
    assert ranks(np.array([1.0, 1.0 + 1e-9, 0.0, 3e-8])).tolist() == [3.5, 3.5, 1.5, 1.5]


def test_infinite_scores_rank_first():
    assert ranks(np.array([np.inf, 1.0, 0.5])).tolist() == [3, 2, 1]


@given(st.lists(st.booleans(), min_size=6, max_size=6), st.lists(st.integers(0, 3).map(float), min_size=6, max_size=6))
def test_the_area_is_the_share_of_pairs_in_the_right_order(positive, scores):
    found = area_under_roc(np.array([positive]), np.array([scores]))[0]
    mine = [s for s, p in zip(scores, positive) if p]
    others = [s for s, p in zip(scores, positive) if not p]
    right = [(a > b) + (a == b) / 2 for a in mine for b in others]
    assert np.isnan(found) if not right else found == pytest.approx(np.mean(right))


def test_an_interval_is_wider_when_networks_differ_than_when_words_do():
    apart = interval([np.zeros(50), np.ones(50)])
    alike = interval([np.tile([0.0, 1.0], 25), np.tile([0.0, 1.0], 25)])
    assert apart.mean == alike.mean == 0.5
    assert (apart.low, apart.high) == (0, 1)
    assert 0.35 < alike.low < 0.5 < alike.high < 0.65


def test_networks_of_one_group_count_as_one_source_of_variation():
    """Ten seeds of two languages that differ: the interval is about as wide as with one seed of each."""
    values = [np.full(20, 0.0)] * 10 + [np.full(20, 1.0)] * 10
    grouped, apart = interval(values, ["one"] * 10 + ["other"] * 10), interval(values)
    assert (grouped.low, grouped.mean, grouped.high) == (0, 0.5, 1)
    assert 0.2 < apart.low < apart.high < 0.8


def test_groups_weigh_the_same_however_many_networks_they_have():
    assert interval([np.zeros(3)] * 3 + [np.ones(3)], ["a", "a", "a", "b"]).mean == 0.5


def test_an_interval_covers_the_mean_about_as_often_as_it_says():
    chance = np.random.default_rng(0)
    covered = [
        found.low <= 0 <= found.high
        for found in (interval(list(chance.normal(size=(12, 10))), resamples=200) for _ in range(100))
    ]
    assert 85 <= sum(covered) <= 100


def test_nothing_known_is_no_number():
    found = interval([np.array([np.nan]), np.array([])])
    assert np.isnan(found.mean)
    assert str(found) == "–"
    assert found.as_json() == [None, None, None]


def test_an_interval_is_shown_short():
    assert str(Interval(0.354, -0.004, 0.9951)) == ".35 [.00, 1.0]"
    assert str(Interval(-0.5, -1.0, -0.126)) == "-.50 [-1.0, -.13]"
