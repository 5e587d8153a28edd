"""The Shapley interaction index against its definition, on functions of words, and what is refused."""

from itertools import combinations, product
from math import factorial

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kleene.errors import InputError
from kleene.explaining.interactions.shapley import (
    interactions_of,
    sampled_interactions,
    shapley_interactions,
    value_table,
)
from kleene.programs.automata import DFA
from kleene.programs.automata.library import get


def plain_interactions(function, word, alphabet, baseline=None):
    """The definition, one coalition and one word after the other."""
    n = len(word)

    def value(coalition):
        kept = [[word[p]] if p in coalition else list(alphabet if baseline is None else baseline) for p in range(n)]
        return float(np.mean([float(function([one])[0]) for one in product(*kept)]))

    found = np.full((n, n), np.nan)
    for i, j in combinations(range(n), 2):
        others, total = [p for p in range(n) if p not in (i, j)], 0.0
        for size in range(len(others) + 1):
            weight = factorial(size) * factorial(n - size - 2) / factorial(n - 1)
            for some in map(set, combinations(others, size)):
                total += weight * (value(some | {i, j}) - value(some | {i}) - value(some | {j}) + value(some))
        found[i, j] = found[j, i] = total
    return found


def hashed(words):
    """Numbers without any structure."""
    return [sum(ord(symbol) * 31**place for place, symbol in enumerate(word)) ** 2 % 1009 / 1009 for word in words]


@given(st.text("abc", min_size=2, max_size=4), st.sampled_from([None, "a", "c"]))
@settings(max_examples=15)
def test_it_is_the_definition_on_any_function(word, baseline):
    found = shapley_interactions(hashed, word, "abc", baseline=baseline)
    assert np.allclose(found, plain_interactions(hashed, word, "abc", baseline), equal_nan=True)


@pytest.mark.parametrize("name", ["tomita_3", "tomita_4"])
def test_it_is_the_definition_on_membership(name):
    dfa = get(name).build()
    found = shapley_interactions(dfa.accepts_batch, "10010", dfa.alphabet)
    assert np.allclose(found, plain_interactions(dfa.accepts_batch, "10010", dfa.alphabet), equal_nan=True)
    assert np.nanmax(np.abs(found)) > 0.01


def test_positions_that_only_add_up_do_not_interact():
    found = shapley_interactions(lambda words: [3.0 * w.count("a") + (w[0] == "b") for w in words], "abcab", "abc")
    assert np.nanmax(np.abs(found)) < 1e-12


def test_all_pairs_of_a_parity_interact_alike():
    parity = get("parity").build()
    found = shapley_interactions(parity.accepts_batch, "0110", parity.alphabet)
    above = found[np.triu_indices(4, 1)]
    assert np.ptp(above) < 1e-12
    assert abs(above[0]) > 0.1


def test_a_game_of_two_has_its_only_difference():
    assert interactions_of(np.array([[1.0, 2.0], [4.0, 11.0]]))[0, 1] == 11 - 4 - 2 + 1


def test_words_of_one_symbol_and_of_none_have_no_pairs():
    assert shapley_interactions(hashed, "a", "ab").shape == (1, 1)
    assert shapley_interactions(hashed, "", "ab").shape == (0, 0)


@pytest.mark.parametrize("baseline", [None, "1"])
def test_an_estimate_is_near_the_exact_value_within_its_errors(baseline):
    dfa = get("tomita_4").build()
    exact = shapley_interactions(dfa.accepts_batch, "100001", dfa.alphabet, baseline=baseline)
    found = sampled_interactions(dfa.accepts_batch, "100001", dfa.alphabet, baseline=baseline, samples=1500)
    pairs = np.triu_indices(6, 1)
    assert (np.abs(found.values - exact)[pairs] <= 4 * found.errors[pairs] + 1e-12).all()
    assert 0 < found.errors[pairs].max() < 0.05


def test_a_long_word_is_sampled():
    dfa = DFA.from_regex("(0|1)*11")
    found = shapley_interactions(dfa.accepts_batch, "01" * 9 + "11", dfa.alphabet, samples=32)
    assert found.shape == (20, 20)
    assert found[18, 19] == np.nanmax(found)
    exact = shapley_interactions(dfa.accepts_batch, "0111", dfa.alphabet)[2, 3]
    assert abs(found[18, 19] - exact) < 0.2


def test_the_table_has_an_axis_for_each_position():
    table = value_table(lambda words: [int("".join(w), 3) for w in words], 3, "012")
    assert table[1, 0, 2] == 9 + 2


@pytest.mark.parametrize(
    ("function", "options", "words"),
    [
        (lambda words: np.zeros((len(words), 2)), {}, r"returned an array of shape \(4, 2\)"),
        (lambda words: [float("nan")] * len(words), {}, "NaN for the word 'a a'"),
        (hashed, {"baseline": "x"}, "the baseline is 'x'"),
        (hashed, {"samples": 1, "most": 1}, "samples is 1"),
    ],
)
def test_what_is_no_function_of_words_is_named(function, options, words):
    with pytest.raises(InputError, match=words):
        shapley_interactions(function, "ab", "ab", **options)


def test_a_symbol_outside_the_alphabet_is_named():
    with pytest.raises(InputError, match="symbol 1 of the word is 'z'"):
        shapley_interactions(hashed, "az", "ab")


def test_an_estimate_has_no_bias_for_any_alphabet():
    """Many estimates from two samples each, averaged, against the exact value."""
    for baseline in (None, "b"):
        exact = shapley_interactions(hashed, "abca", "abc", baseline=baseline)
        found = np.mean(
            [
                sampled_interactions(hashed, "abca", "abc", baseline=baseline, samples=40, seed=s).values
                for s in range(50)
            ],
            0,
        )
        assert np.nanmax(np.abs(found - exact)) < 0.04
        assert np.nanmax(np.abs(exact)) > 0.1


def test_estimates_of_words_without_pairs_are_empty():
    assert np.isnan(sampled_interactions(hashed, "a", "ab").values).all()
    assert sampled_interactions(hashed, "", "ab").errors.shape == (0, 0)
