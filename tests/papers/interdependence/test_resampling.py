"""Intervals over sentences and over networks."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import ttest_1samp

from kleene.errors import InputError
from kleene_papers.interdependence.resampling import SentenceDraws, interval_over

FEW = st.lists(st.tuples(st.integers(-9, 9), st.integers(1, 4)), min_size=1, max_size=12)


@given(FEW, st.integers(0, 3))
def test_the_interval_over_sentences_contains_the_mean_of_all_pairs(sentences, seed):
    sums, cases = np.array(sentences, float).T[:, None]
    ((low, high),) = SentenceDraws.of(len(sentences), 400, seed).mean_intervals(sums, cases)
    assert low - 1e-9 <= sums.sum() / cases.sum() <= high + 1e-9
    assert (sums / cases).min() - 1e-9 <= low <= high <= (sums / cases).max() + 1e-9


@given(st.integers(1, 30), st.integers(0, 3))
def test_a_draw_has_as_many_sentences_as_there_are(sentences, seed):
    counts = SentenceDraws.of(sentences, 20, seed).counts
    assert counts.shape == (20, sentences)
    assert (counts.sum(axis=1) == sentences).all()
    np.testing.assert_array_equal(counts, SentenceDraws.of(sentences, 20, seed).counts)


def test_the_interval_is_that_of_a_plain_bootstrap():
    chance = np.random.default_rng(4)
    values = [chance.normal(size=chance.integers(1, 6)) + 3 * chance.normal() for _ in range(40)]  # alike in a sentence
    sums, cases = np.array([[v.sum() for v in values]]), np.array([[float(len(v)) for v in values]])
    ((low, high),) = SentenceDraws.of(40, 4_000).mean_intervals(sums, cases)
    drawn = [np.concatenate([values[n] for n in chance.integers(40, size=40)]).mean() for _ in range(4_000)]
    assert [low, high] == pytest.approx(np.quantile(drawn, [0.025, 0.975]), abs=0.08)
    pairs = np.concatenate(values)
    assert high - low > 1.5 * 2 * 1.96 * pairs.std() / np.sqrt(len(pairs))  # pairs are not independent


def test_draws_without_a_case_are_left_out():
    sums, cases = np.array([[5.0] + 9 * [0.0]]), np.array([[1.0] + 9 * [0.0]])
    assert SentenceDraws.of(10).mean_intervals(sums, cases).tolist() == [[5.0, 5.0]]


@given(st.lists(st.floats(-1, 1), min_size=2, max_size=8).filter(lambda some: np.ptp(some) > 1e-6))
def test_the_interval_over_networks_is_students_and_contains_the_mean(networks):
    low, high = interval_over(np.array(networks))
    assert low <= np.mean(networks) <= high
    expected = ttest_1samp(networks, 0).confidence_interval(0.95)
    assert [low, high] == pytest.approx([expected.low, expected.high], abs=1e-9)


def test_one_network_has_no_interval_and_no_sentences_are_refused():
    assert np.isnan(interval_over(np.array([0.3]))).all()
    with pytest.raises(InputError, match="1000 draws of 0 sentences"):
        SentenceDraws.of(0)
