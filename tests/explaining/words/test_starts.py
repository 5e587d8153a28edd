"""A sentence that begins in another state: after a text, it is as at the end of text and sentence together."""

import re
from dataclasses import replace

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kleene.errors import InputError
from kleene.explaining import Sharing, decompose, decompose_batch, interdependence, interdependence_batch, state_after
from kleene.explaining.words.baselines import erasure, gradient_times_input
from kleene.machines.lstm.lstm import Memory
from kleene.machines.rnn.simple_rnn import SimpleRNN
from kleene.machines.transformer_lm import TransformerLM
from tests.explaining.words import slow_decomposition as slow

TEXT, SENTENCE = [3, 0, 5, 1], [4, 2, 2, 0]
WORDS = st.lists(st.integers(0, 5), min_size=1, max_size=4)


@settings(max_examples=10)
@given(st.integers(0, 99), st.integers(1, 2), WORDS, WORDS)
def test_a_sentence_after_a_text_is_decomposed_as_at_the_end_of_both(seed, layers, text, sentence):
    model = slow.double_lstm(seed, layers=layers, started=True)
    focus = {0, len(sentence) - 1}
    found = decompose(model, sentence, focus, start=state_after(model, text))
    whole = decompose(model, text + sentence, {place + len(text) for place in focus})
    np.testing.assert_allclose(found.relevant, whole.relevant[len(text) :], atol=1e-13)
    np.testing.assert_allclose(found.irrelevant_cells, whole.irrelevant_cells[len(text) :], atol=1e-13)


@pytest.mark.parametrize("options", [{}, {"step": "last"}, {"at": "logits"}, {"sharing": Sharing(bias="shapley")}])
def test_words_after_a_text_depend_on_each_other_as_at_the_end_of_both(options):
    model, later = slow.double_lstm(3, layers=2), len(TEXT)
    found = interdependence(model, SENTENCE, start=state_after(model, TEXT), **options)
    np.testing.assert_allclose(found, interdependence(model, TEXT + SENTENCE, **options)[later:, later:], atol=1e-12)
    assert np.nanmax(np.abs(found - interdependence(model, SENTENCE, **options))) > 0.01


@pytest.mark.parametrize("measure", [erasure, gradient_times_input])
def test_baselines_begin_in_the_same_state(measure):
    model, later = slow.double_lstm(3, layers=2), len(TEXT)
    found = measure(model, SENTENCE, start=state_after(model, TEXT))
    np.testing.assert_allclose(found, measure(model, TEXT + SENTENCE)[later:, later:], atol=1e-12)


def test_sets_and_batches_begin_in_the_same_state():
    model = slow.double_lstm(4)
    start = state_after(model, TEXT)
    moved = replace(model, start=start)
    sets = [(0, 2), (1,), (3,)]
    np.testing.assert_array_equal(
        interdependence(model, SENTENCE, sets=sets, start=start), interdependence(moved, SENTENCE, sets=sets)
    )
    for found, expected in zip(
        interdependence_batch(model, [SENTENCE, TEXT], start=start), interdependence_batch(moved, [SENTENCE, TEXT])
    ):
        np.testing.assert_array_equal(found, expected)
    (one,) = decompose_batch(model, [SENTENCE], [{1}], start=start)
    np.testing.assert_array_equal(one.relevant, decompose(moved, SENTENCE, {1}).relevant)


def test_the_start_is_irrelevant_unless_the_sharing_says_otherwise():
    model = slow.double_lstm(5)
    start = state_after(model, TEXT)
    assert not decompose(model, SENTENCE, (), start=start).relevant.any()
    relevant = decompose(model, SENTENCE, (), start=start, sharing=Sharing(start="relevant"))
    assert relevant.relevant.all()


def test_a_long_text_is_read_in_pieces_and_a_state_goes_on():
    model = slow.double_lstm(6, layers=2)
    text = np.random.default_rng(0).integers(0, 6, 150).tolist()
    with jax.enable_x64(True):
        expected = jax.tree.map(lambda states: states[-1], model.memories(text))
    for found in (state_after(model, text), state_after(model, text[70:], start=state_after(model, text[:70]))):
        np.testing.assert_allclose(found.hidden, expected.hidden, atol=1e-12)
        np.testing.assert_allclose(found.cell, expected.cell, atol=1e-12)


def test_a_start_is_a_memory_a_pair_or_the_hidden_vector_of_a_simple_rnn():
    model = slow.double_lstm(7)
    start = state_after(model, TEXT)
    pair = decompose(model, SENTENCE, {1}, start=(np.asarray(start.hidden)[0], np.asarray(start.cell)[0]))
    np.testing.assert_array_equal(pair.relevant, decompose(model, SENTENCE, {1}, start=start).relevant)
    simple = SimpleRNN.random("ab", 5, key=jax.random.key(1))
    found = decompose(simple, "ab", {0}, start=simple.hidden("bba")[-1])
    np.testing.assert_allclose(found.relevant, decompose(simple, "bbaab", {3}).relevant[3:], atol=1e-6)
    same = decompose(simple, "ab", {0}, start=state_after(simple, "bba"))
    np.testing.assert_allclose(found.relevant, same.relevant, atol=1e-6)


@pytest.mark.parametrize(
    ("start", "said"),
    [
        (Memory(jnp.zeros((2, 5)), jnp.zeros((2, 5))), "has the shape (2, 5) in its hidden state"),
        (
            (np.zeros(5), np.zeros(4)),
            "cell state; this network's has the shape (1, 5): layers, units",
        ),
        ((np.full(5, np.nan), np.zeros(5)), "has values that are not finite in its hidden state"),
        (np.zeros((3, 5)), "give a Memory, such as kleene.explaining.state_after"),
        ("zero", "`start` is 'zero'; give a Memory"),
    ],
)
def test_a_start_that_does_not_fit_is_refused(start, said):
    with pytest.raises(InputError, match=re.escape(said)):
        decompose(slow.double_lstm(8), SENTENCE, {0}, start=start)


def test_a_transformer_has_no_state_to_begin_in():
    model = TransformerLM.random(["<unk>", "a", "man"], 4, 2, 1, positions=8, key=jax.random.key(0))
    for asked in (lambda: state_after(model, "a man"), lambda: decompose(model, "a", {0}, start=(1, 2))):
        with pytest.raises(InputError, match="this network has no state to begin in"):
            asked()
