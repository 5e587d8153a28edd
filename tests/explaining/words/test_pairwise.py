"""Interdependence: all pairs at once against three plain decompositions a pair, and what must hold of any."""

from dataclasses import replace

import jax
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kleene.errors import InputError
from kleene.explaining.words import lstm_pairs
from kleene.explaining.words.lstm_pairs import pack, ticks_of
from kleene.explaining.words.pairwise import ON_CPU, Buckets, floor_of, interdependence, interdependence_batch
from kleene.explaining.words.sharing import Sharing
from kleene.machines.lstm.lstm import LSTM
from kleene.machines.rnn.simple_rnn import SimpleRNN
from tests.explaining.words import slow_decomposition as slow

SENTENCES = st.lists(st.integers(0, 5), min_size=1, max_size=6)  # there is room for eight: one shape to compile
COMPILED = replace(ON_CPU, plain=0)  # small jobs are done in numpy otherwise
MODELS = st.builds(slow.double_lstm, st.integers(0, 99), layers=st.integers(1, 2), started=st.booleans())


def slow_matrix(model, sentence, **options):
    matrix = np.full((len(sentence), len(sentence)), np.nan)
    for r in range(len(sentence)):
        for left in range(r):
            matrix[left, r] = matrix[r, left] = slow.interdependence(model, sentence, {left}, {r}, r, **options)
    return matrix


@settings(max_examples=20)
@given(MODELS, SENTENCES)
def test_all_pairs_are_those_of_three_plain_decompositions_a_pair(model, sentence):
    expected = slow_matrix(model, sentence)
    np.testing.assert_allclose(interdependence(model, sentence), expected, atol=1e-12)
    np.testing.assert_allclose(interdependence_batch(model, [sentence], buckets=COMPILED)[0], expected, atol=1e-12)


@settings(max_examples=8)
@given(st.integers(0, 99), SENTENCES)
def test_at_the_logits_the_small_root_gives_what_all_logits_give(seed, sentence):
    model = slow.double_lstm(seed, tokens=9, started=True)
    for buckets in (None, COMPILED):
        found = interdependence_batch(model, [sentence], at="logits", buckets=buckets)[0]
        np.testing.assert_allclose(found, slow_matrix(model, sentence, logits=True), atol=1e-12)


@settings(max_examples=10)
@given(st.integers(0, 99), st.lists(st.integers(0, 5), min_size=3, max_size=8), st.data())
def test_sets_of_words_at_any_step_are_those_of_the_plain_reference(seed, sentence, data):
    model = slow.double_lstm(seed, started=True)
    owner = data.draw(st.lists(st.integers(0, 2), min_size=len(sentence), max_size=len(sentence)))
    step = data.draw(st.none() | st.integers(0, len(sentence) - 1))
    sets = [tuple(place for place, its in enumerate(owner) if its == number) for number in (0, 1)]
    found = interdependence(model, sentence, sets=sets, step=step)
    at = max(sum(sets, ()), default=0) if step is None else step
    np.testing.assert_allclose(
        found[0, 1], slow.interdependence(model, sentence, set(sets[0]), set(sets[1]), at), atol=1e-12
    )


def test_the_matrix_is_symmetric_with_nan_on_the_diagonal_and_single_words_are_sets_of_one():
    model, sentence = slow.double_lstm(1), [0, 4, 2, 5]
    found = interdependence(model, sentence)
    np.testing.assert_array_equal(found, found.T)
    assert np.isnan(np.diagonal(found)).all()
    assert (found[~np.eye(4, dtype=bool)] > 0).all()
    np.testing.assert_allclose(interdependence(model, sentence, sets=range(4)), found, atol=1e-13)


def test_nothing_interacts_with_the_empty_set_or_before_the_second_word_and_nought_over_nought_is_nought():
    model, sentence = slow.double_lstm(1), [0, 4, 2]
    assert interdependence(model, sentence, sets=[(0, 1), ()])[0, 1] == 0
    assert interdependence(model, sentence, step=1)[0, 2] == 0
    assert interdependence(model, sentence, step=0)[1, 2] == 0
    silent = slow.double_lstm(1, scale=0.0)
    assert interdependence(silent, sentence)[0, 1] == interdependence(silent, sentence, sets=[0, 1])[0, 1] == 0
    assert np.isnan(interdependence(model, [3])).tolist() == [[True]]


def test_the_last_step_is_the_step_of_the_last_word():
    model, sentence = slow.double_lstm(1), [0, 4, 2]
    found = interdependence(model, sentence, step="last")
    np.testing.assert_array_equal(found, interdependence(model, sentence, step=np.int64(2)))
    np.testing.assert_allclose(found[:, 2], interdependence(model, sentence)[:, 2], atol=1e-13)
    assert found[0, 1] != interdependence(model, sentence)[0, 1]


def test_interdependence_falls_about_linearly_as_the_weights_shrink():
    model = slow.double_lstm(1)
    layers = [slow.double_lstm(1, scale=scale).layers for scale in (1e-2, 1e-3)]  # the embeddings stay as they are
    large, small = (interdependence(replace(model, layers=shrunk), [0, 4])[0, 1] for shrunk in layers)
    assert large < 0.01
    assert large / small == pytest.approx(10, rel=0.1)


def test_a_batch_is_what_each_sentence_is_alone_whatever_the_padding_and_the_order():
    model = slow.double_lstm(1, started=True)
    sentences = [[1], [0, 2, 5, 3, 3, 1], [4, 4, 0], [5, 1]]
    told = []
    batch = interdependence_batch(model, sentences, progress=lambda done, all_of_them: told.append((done, all_of_them)))
    for sentence, found, turned in zip(sentences, batch, interdependence_batch(model, sentences[::-1])[::-1]):
        np.testing.assert_allclose(found, slow_matrix(model, sentence), atol=1e-12)
        np.testing.assert_allclose(found, turned, atol=1e-13)
        np.testing.assert_allclose(found, interdependence(model, sentence), atol=1e-13)
    assert told[-1] == (4, 4)
    assert interdependence_batch(model, []) == []


@pytest.mark.parametrize("buckets", [COMPILED, replace(COMPILED, large=0), Buckets(rows=4, steps=8, large=0, plain=0)])
def test_a_large_job_has_other_arrays_and_gives_the_same(buckets):
    model = slow.double_lstm(1, started=True)
    sentences = [[0, 2, 5, 3, 3, 1], [4, 4, 0], [1], [1, 2, 3], [5, 5], [0, 1, 2, 3, 4]]
    expected = interdependence_batch(model, sentences)
    for found, before in zip(interdependence_batch(model, sentences, buckets=buckets), expected, strict=True):
        np.testing.assert_allclose(found, before, atol=1e-13)


def test_sentences_longer_than_a_bucket_are_given_a_larger_one():
    model, sentences = slow.double_lstm(1), [[0, 2, 5] * 7, [1, 2]]
    found = interdependence_batch(model, sentences, buckets=Buckets(rows=2, steps=4, large=0, plain=0))
    np.testing.assert_allclose(found[0], interdependence(model, sentences[0]), atol=1e-13)


def test_sentences_of_all_lengths_share_two_programs_and_a_short_one_compiles_none():
    model, buckets = slow.double_lstm(1, hidden=7), Buckets(rows=64, steps=8, large=0, plain=0)

    def compiled() -> np.ndarray:
        return np.array([program._cache_size() for program in lstm_pairs.programs()])

    before = compiled()
    interdependence(model, [0, 2, 5])
    assert (compiled() - before).tolist() == [0, 0]
    interdependence_batch(model, [[1] * n for n in (1, 2, 3, 3, 4, 5, 6, 7, 8, 8, 8, 8, 8, 8)], buckets=buckets)
    assert (compiled() - before).tolist() == [1, 1]
    interdependence_batch(model, [[1] * 9, [2] * 23], buckets=buckets)
    assert (compiled() - before).tolist() == [2, 1]  # longer rows of words


def test_every_pair_is_met_once_and_trajectories_begin_at_their_own_word():
    packed = pack([np.arange(n) for n in range(1, 12)], batch=9, steps=11, rows=40)
    ticks, rows = ticks_of(packed), np.arange(40)
    for number, length in enumerate(packed.lengths):
        mine = ticks.meaning & (packed.sentence == number) & (packed.length == length)
        assert sorted(zip(ticks.left[mine].tolist(), ticks.right[mine].tolist())) == [
            (left, right) for left in range(length) for right in range(left + 1, length)
        ]
    for tick, row in np.argwhere(ticks.meaning):
        fresh = ticks.begins[tick, row]
        assert fresh == (ticks.right[tick, row] == ticks.left[tick, row] + 1)
        assert fresh or ticks.left[tick, row] == ticks.left[tick - 1, row]
    assert packed.lengths == tuple(range(1, 12))
    assert len(rows) >= sum((n + 1) // 2 for n in packed.lengths)


def test_single_precision_is_within_a_hundred_thousandth_of_double():
    model, sentence = slow.double_lstm(1), [0, 2, 5, 3]
    for buckets in (None, COMPILED):
        rough = interdependence_batch(slow.single(model), [sentence], buckets=buckets)[0]
        assert rough.dtype == np.float32
        np.testing.assert_allclose(rough, interdependence(model, sentence), atol=1e-5)


@pytest.mark.parametrize(
    ("sharing", "layers"),
    [
        (Sharing(bias="shapley", output_gate="decomposed", interactions={"rel-rel", "rel-bias", "rel-irrel"}), 1),
        (Sharing(bias_bias="never", interactions={"rel-bias"}), 2),
    ],
)
def test_other_sharing_gives_for_all_pairs_at_once_what_it_gives_set_by_set(sharing, layers):
    model, sentence = slow.double_lstm(1, layers=layers, started=True), [0, 2, 5, 3]
    found = interdependence(model, sentence, sharing=sharing)
    by_sets = interdependence(model, sentence, sets=range(4), sharing=sharing)
    np.testing.assert_allclose(found, by_sets, atol=1e-12)
    compiled = interdependence_batch(model, [sentence], sharing=sharing, buckets=COMPILED)[0]
    np.testing.assert_allclose(compiled, by_sets, atol=1e-12)
    assert np.nanmin(np.abs(found - interdependence(model, sentence))) > 1e-6


def test_sharing_that_wakes_before_the_focus_and_simple_networks_take_each_focus_by_itself():
    sharing, model = Sharing(bias_bias="always"), slow.double_lstm(1)
    batch = interdependence_batch(model, [[0, 2, 5]], sharing=sharing)
    np.testing.assert_array_equal(batch[0], interdependence(model, [0, 2, 5], sets=range(3), sharing=sharing))
    network = SimpleRNN.random("ab", 5, outputs=3, key=jax.random.key(1))
    for at in ("hidden", "logits"):
        found = interdependence(network, "abb", at=at)
        assert found[0, 1] == 0  # two words alone, and no bias: the shares of tanh sum to all of it
        assert min(found[0, 2], found[1, 2]) > 0.001


def adding(*, double: bool) -> SimpleRNN:
    """A network in which words only add up: never below 0, where ReLU is linear."""
    network = SimpleRNN.random("ab", 50, activation="relu", key=jax.random.key(1))
    with jax.enable_x64(double):
        dtype = jax.numpy.float64 if double else jax.numpy.float32
        return jax.tree.map(lambda w: abs(jax.numpy.asarray(np.asarray(w), dtype)) * 0.3, network)


@pytest.mark.parametrize("double", [False, True])
@pytest.mark.parametrize("step", [None, "last"])
def test_what_rounding_makes_of_no_interdependence_is_reported_as_none(double, step):
    found = interdependence(adding(double=double), "abbabababbabaababbab", step=step)
    assert set(found[~np.eye(20, dtype=bool)]) == {0.0}


@pytest.mark.parametrize("at", ["hidden", "logits"])
def test_the_floor_is_that_of_the_number_type_in_an_lstm_too(at):
    double = slow.double_lstm(1, scale=1e-4)
    single = jax.tree.map(lambda w: jax.numpy.asarray(w, jax.numpy.float32), double)
    sentence = [0, 4, 2, 5, 1, 3, 0, 2]
    exact, found = (interdependence(model, sentence, at=at) for model in (double, single))
    others = ~np.eye(len(sentence), dtype=bool)
    assert (exact[others] > 0).all()
    assert (found[others] == 0).any()
    assert exact[others][found[others] == 0].max() < 2 * floor_of(np.float32)
    assert np.abs(found - exact)[others].max() < 2 * floor_of(np.float32)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"sets": [(0, 1), (1,)]}, "position 1 is in set 0 and in set 1"),
        ({"sets": [(0,), (3,)]}, "set 1 has position 3 in it, and the sentence has 3 tokens"),
        ({"sets": 3}, "`sets` is 3; it is a list of sets"),
        ({"step": True}, "the step is True"),
        ({"sharing": "papers"}, "`sharing` is 'papers'"),
        ({"step": 3}, "the step is 3; it can be a position 0..2"),
        ({"at": "cells"}, "not at 'cells'"),
        ({"at": "logits", "layer": 0}, "the decoder reads the top layer"),
        ({"layer": 2}, "no layer 2: the model has 2"),
    ],
)
def test_bad_questions_are_named(options, said):
    with pytest.raises(InputError, match=said):
        interdependence(LSTM.random(3, 2, 2, key=jax.random.key(0)), [0, 1, 2], **options)


def test_empty_text_unknown_words_and_other_models_are_refused():
    model = LSTM.random(["the", "cat"], 2, key=jax.random.key(0))
    with pytest.raises(InputError, match="sentence 1 is empty"):
        interdependence_batch(model, ["the cat", ""])
    with pytest.raises(InputError, match=r"token 1 of sentence 0 is 'dog'.*without '<unk>'"):
        interdependence(model, "the dog")
    with pytest.raises(InputError, match="only an LSTM, a SimpleRNN or a TransformerLM"):
        interdependence(object(), "the cat")
