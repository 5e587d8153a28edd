"""The plainer measures: erasure, gradient × input and mutual information."""

from math import log

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kleene.errors import InputError
from kleene.explaining.words.baselines import (
    erasure,
    gradient_times_input,
    information_matrix,
    mutual_information,
    mutual_informations,
)
from kleene.machines.rnn.simple_rnn import SimpleRNN
from tests.explaining.words import slow_decomposition as slow


def last_state(model, entries):
    """The hidden state of a one-layer LSTM after some entries, in plain numpy."""
    inputs, recurrent, bias = (
        np.asarray(w) for w in (model.layers[0].inputs, model.layers[0].recurrent, model.layers[0].bias)
    )
    h, c = np.asarray(model.start.hidden[0]), np.asarray(model.start.cell[0])
    for x in entries:
        i, f, g, o = np.split(inputs @ x + recurrent @ h + bias, 4)
        c = slow.sigmoid(f) * c + slow.sigmoid(i) * np.tanh(g)
        h = slow.sigmoid(o) * np.tanh(c)
    return h


def test_erasure_compares_four_runs_of_the_network():
    model, sentence = slow.double_lstm(1, started=True), [3, 0, 5, 5]
    found, entries = erasure(model, sentence), np.asarray(model.embedding)[sentence]

    def erased(*places):
        left = entries[:3].copy()
        left[list(places)] = 0
        return last_state(model, left)

    expected = np.linalg.norm(erased() - erased(0) - erased(2) + erased(0, 2)) / np.linalg.norm(erased())
    assert found[0, 2] == pytest.approx(expected, rel=1e-10)
    np.testing.assert_array_equal(found, found.T)
    assert np.isnan(np.diagonal(found)).all()


def test_a_word_can_be_erased_by_the_unknown_one():
    model = slow.double_lstm(2, tokens=3, vocabulary=("a", "b", "<unk>"))
    found = erasure(model, ["a", "<unk>", "b"], by="unknown")
    assert [found[0, 1], found[1, 2]] == pytest.approx([0, 0], abs=1e-15)  # the middle word is erased already
    assert found[0, 2] > 0
    with pytest.raises(InputError, match="no '<unk>'"):
        erasure(slow.double_lstm(2), [0, 1], by="unknown")
    with pytest.raises(InputError, match="not by 'fire'"):
        erasure(model, ["a"], by="fire")


def test_gradient_times_input_is_the_mixed_second_difference():
    model, sentence, small = slow.double_lstm(3, started=True), [3, 0, 5, 5], 1e-4
    entries = np.asarray(model.embedding)[sentence]

    def scaled(one, other):
        return last_state(model, [entries[0], (1 + one) * entries[1], (1 + other) * entries[2]])

    difference = scaled(small, small) - scaled(small, -small) - scaled(-small, small) + scaled(-small, -small)
    expected = np.linalg.norm(difference / (4 * small**2)) / np.linalg.norm(scaled(0, 0))
    assert gradient_times_input(model, sentence)[1, 2] == pytest.approx(expected, rel=1e-5)


@pytest.mark.parametrize("measure", [erasure, gradient_times_input])
def test_words_that_only_add_up_do_not_interact(measure):
    network = jax.tree.map(jnp.abs, SimpleRNN.random("ab", 4, activation="relu", key=jax.random.key(0)))
    assert np.nanmax(measure(network, "abba")) < 1e-6
    bent = SimpleRNN.random("ab", 4, activation="tanh", key=jax.random.key(0))
    assert np.nanmin(measure(bent, "abba")) > 1e-6


def test_pointwise_information_is_that_of_the_frequencies():
    found = mutual_information(["ab", "ab", "ab", "cb", "cd"], 1)
    assert found.count == 5
    assert found.pointwise("a", "b") == pytest.approx(log((3 / 5) / (3 / 5 * 4 / 5)))
    assert np.isnan(found.pointwise("a", "d"))
    assert np.isnan(found.pointwise("c", "d", at_least=2))


@settings(max_examples=30)
@given(st.lists(st.text("abc", min_size=2, max_size=8), min_size=1))
def test_mutual_information_is_the_sum_of_entropies_less_the_joint_one(sentences):
    found = mutual_information(sentences, 1)

    def entropy(counter):
        return -sum(n / found.count * log(n / found.count) for n in counter.values())

    expected = entropy(found.left) + entropy(found.right) - entropy(found.pairs)
    assert found.mean == pytest.approx(expected, abs=1e-12)


def test_the_information_of_a_sentence_is_known_at_the_distances_that_were_counted():
    statistics = mutual_informations(["abc", "abd"], [2])
    matrix = information_matrix("abc", statistics)
    assert matrix[0, 2] == matrix[2, 0] == pytest.approx(0.0)
    assert np.isnan(matrix[0, 1])


def test_distances_that_cannot_be_counted_are_named():
    with pytest.raises(InputError, match="distance is 0"):
        mutual_information(["ab"], 0)
    with pytest.raises(InputError, match="no sentence has two words at distance 5"):
        mutual_information(["ab"], 5)
