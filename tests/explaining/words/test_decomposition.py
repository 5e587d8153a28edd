"""Contextual decomposition against a plain reference, and the identities that it must keep."""

import re
import warnings

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kleene.errors import InputError, UnknownWordsWarning
from kleene.explaining.words.decomposition import decompose, decompose_batch
from kleene.explaining.words.parts import decomposable
from kleene.explaining.words.sharing import Sharing, split, split_in_two
from kleene.machines.lstm.lstm import LSTM
from kleene.machines.rnn.simple_rnn import SimpleRNN
from tests.explaining.words import slow_decomposition as slow

SENTENCES = st.lists(st.integers(0, 5), min_size=1, max_size=8)
MODELS = st.builds(slow.double_lstm, st.integers(0, 99), layers=st.integers(1, 2), started=st.booleans())
# Each sharing is compiled anew, so these are few, and every choice is in one of them.
ALL_SHARINGS = [
    Sharing(),
    Sharing(bias="shapley", output_gate="decomposed"),
    Sharing(bias_bias="always", start="relevant", interactions={"rel-rel", "rel-bias", "rel-irrel"}),
]


@st.composite
def cases(draw):
    sentence = draw(SENTENCES)
    return draw(MODELS), sentence, draw(st.sets(st.integers(0, len(sentence) - 1)))


def true_states(model, sentence):
    with jax.enable_x64(True):
        return model.hidden(sentence)[1:]


@settings(max_examples=30)
@given(cases())
def test_the_parts_are_those_of_the_plain_reference_in_every_layer(case):
    model, sentence, focus = case
    expected = slow.decomposition(model, sentence, focus)
    for layer in range(len(model.layers)):
        found = decompose(model, sentence, focus, layer=layer)
        parts = found.relevant, found.irrelevant, found.relevant_cells, found.irrelevant_cells
        np.testing.assert_allclose(parts, expected[:, :, layer], atol=1e-13)


@settings(max_examples=20)
@given(SENTENCES, st.data(), st.sampled_from(ALL_SHARINGS))
def test_the_parts_sum_to_the_hidden_state_whatever_the_sharing(sentence, data, sharing):
    model, focus = slow.double_lstm(2, layers=2, started=True), data.draw(st.sets(st.integers(0, len(sentence) - 1)))
    found = decompose(model, sentence, focus, sharing=sharing)
    np.testing.assert_allclose(found.relevant + found.irrelevant, true_states(model, sentence)[:, -1], atol=1e-14)


@pytest.mark.parametrize("sharing", ALL_SHARINGS)
@pytest.mark.parametrize("layer", [0, 1])
def test_focus_on_all_words_leaves_exactly_nothing_irrelevant_in_any_layer(sharing, layer):
    model, sentence = slow.double_lstm(3, layers=2), [0, 3, 1, 5, 5]
    found = decompose(model, sentence, range(5), layer=layer, sharing=sharing)
    assert not found.irrelevant.any()
    assert not found.irrelevant_cells.any()
    assert found.relevant.all()


@pytest.mark.parametrize("sharing", [ALL_SHARINGS[0], ALL_SHARINGS[1]])
def test_an_empty_focus_has_exactly_nothing_relevant(sharing):
    found = decompose(slow.double_lstm(4, layers=2, started=True), [0, 3, 1, 5, 5], (), sharing=sharing)
    assert not found.relevant.any()
    assert not found.relevant_cells.any()
    assert found.irrelevant.all()


def test_a_word_is_relevant_from_its_own_step_on_and_a_pair_is_its_first_word_until_the_second():
    model, sentence = slow.double_lstm(5, layers=2, started=True), [2, 0, 4, 4, 1, 3]
    pair, first = decompose(model, sentence, {1, 4}), decompose(model, sentence, {1})
    assert not pair.relevant[:1].any()
    assert pair.relevant[1:].all()
    np.testing.assert_array_equal(pair.relevant[:4], first.relevant[:4])
    assert (pair.relevant[4:] != first.relevant[4:]).all()


def test_the_parts_of_single_words_do_not_add_up_to_the_state():
    model, sentence = slow.double_lstm(6), [2, 0, 4, 1]
    summed = sum(d.relevant[-1] for d in decompose_batch(model, [sentence] * 4, range(4)))
    whole = true_states(model, sentence)[-1, -1]
    assert np.linalg.norm(summed - whole) > 0.05 * np.linalg.norm(whole)


@settings(max_examples=20)
@given(st.tuples(*[st.floats(-4, 4)] * 3), st.sampled_from(["first", "shapley"]), st.sampled_from(["σ", "tanh"]))
def test_the_shares_of_a_gate_sum_to_the_gate(summands, bias, name):
    phi = {"σ": jax.nn.sigmoid, "tanh": jnp.tanh}[name]
    with jax.enable_x64(True):
        a, b, c = (jnp.float64(z) for z in summands)
        assert abs(sum(split(phi, Sharing(bias=bias), a, b, c)) - phi(a + b + c)) < 1e-15
        assert abs(sum(split_in_two(jnp.tanh, a, b)[:2]) - jnp.tanh(a + b)) < 1e-15


def test_shapley_shares_are_the_means_over_all_orders():
    from itertools import permutations

    values = {"relevant": 0.7, "irrelevant": -1.3, "bias": 0.4}
    shares = dict.fromkeys(values, 0.0) | {"bias": slow.sigmoid(0.0)}
    for order in permutations(values):
        for place, name in enumerate(order):
            before = sum(values[other] for other in order[:place])
            shares[name] += (slow.sigmoid(before + values[name]) - slow.sigmoid(before)) / 6
    with jax.enable_x64(True):
        found = split(jax.nn.sigmoid, Sharing(bias="shapley"), *map(jnp.float64, values.values()))
    np.testing.assert_allclose(found, [shares["relevant"], shares["irrelevant"], shares["bias"]], atol=1e-15)


def test_a_batch_is_what_each_sentence_is_alone_whatever_the_padding_and_the_order():
    model = slow.double_lstm(7, started=True)
    sentences, foci = [[1], [0, 2, 5, 3, 3, 1, 4, 2], [4, 4, 0]], [{0}, {1, 6}, ()]
    batch = decompose_batch(model, sentences, foci)
    reversed_batch = decompose_batch(model, sentences[::-1], foci[::-1])[::-1]
    for sentence, focus, one, same in zip(sentences, foci, batch, reversed_batch):
        alone = decompose(model, sentence, focus)
        assert one.relevant.shape == (len(sentence), 5)
        np.testing.assert_allclose(one.relevant, alone.relevant, atol=1e-15)
        np.testing.assert_allclose(one.relevant, same.relevant, atol=1e-15)


def test_single_precision_is_close_to_double_and_each_keeps_its_own():
    model, sentence = slow.double_lstm(8), [2, 0, 4, 1, 3, 3]
    double, rough = decompose(model, sentence, {1, 2}), decompose(slow.single(model), sentence, {1, 2})
    assert (double.relevant.dtype, rough.relevant.dtype) == (np.float64, np.float32)
    np.testing.assert_allclose(rough.relevant, double.relevant, atol=1e-5)


def test_logits_and_the_decoder_bias_sum_to_the_outputs_and_probabilities_are_of_the_relevant_logits():
    model, sentence = slow.double_lstm(9), [2, 0, 4]
    found = decompose(model, sentence, {1})
    with jax.enable_x64(True):
        outputs = model.outputs(sentence)[1:]
    np.testing.assert_allclose(
        found.logits + found.irrelevant_logits + np.asarray(model.decoder_bias), outputs, atol=1e-13
    )
    expected = np.exp(found.logits) / np.exp(found.logits).sum(-1, keepdims=True)
    np.testing.assert_allclose(found.probabilities, expected, atol=1e-14)
    np.testing.assert_allclose(found.probabilities[0], 1 / 6)  # nothing is relevant yet


def test_a_relevant_start_is_carried_by_an_empty_focus():
    model = slow.double_lstm(10, started=True)
    sharing = Sharing(start="relevant")
    assert decompose(model, [1, 2], (), sharing=sharing).relevant.all()
    assert not decompose(model, [1, 2], ()).relevant.any()


def test_interactions_with_the_rest_go_where_the_sharing_says():
    model, sentence = slow.double_lstm(11), [2, 0, 4]
    papers = decompose(model, sentence, {0})
    more = decompose(model, sentence, {0}, sharing=Sharing(interactions={"rel-rel", "rel-bias", "rel-irrel"}))
    none = decompose(model, sentence, {0}, sharing=Sharing(interactions=(), bias_bias="never"))
    assert not none.relevant_cells.any()
    np.testing.assert_allclose(
        more.relevant_cells + more.irrelevant_cells, papers.relevant_cells + papers.irrelevant_cells
    )
    assert (more.relevant_cells[1:] != papers.relevant_cells[1:]).all()


@pytest.mark.parametrize("activation", ["tanh", "relu", "slu"])
def test_a_simple_rnn_is_taken_apart_too(activation):
    model = SimpleRNN.random("ab", 5, activation=activation, key=jax.random.key(1))
    model = jax.tree.map(lambda w: w + 0.1, model)
    found, nothing, all_of_it = (decompose(model, "abbab", focus) for focus in ({1, 3}, (), range(5)))
    np.testing.assert_allclose(found.relevant + found.irrelevant, model.hidden("abbab")[1:], atol=1e-6)
    assert not nothing.relevant.any()
    assert not found.relevant[0].any()
    assert found.relevant[1:].any()
    assert np.abs(all_of_it.relevant - found.relevant).max() > 0.01


def test_words_are_looked_up_with_unk_for_others_and_a_text_is_split():
    model = slow.double_lstm(12, tokens=3, vocabulary=("<unk>", "the", "cat"))
    split_text = decompose(model, "the dog", {1})
    np.testing.assert_array_equal(split_text.relevant, decompose(model, ["the", "<unk>"], {1}).relevant)


@pytest.mark.parametrize("given", [[1, 2, 0], np.array([1, 2, 0]), jnp.array([1, 2, 0])])
def test_integers_are_token_ids_where_the_vocabulary_is_made_of_texts(given):
    model = slow.double_lstm(12, tokens=3, vocabulary=("<unk>", "the", "cat"))
    found = decompose(model, given, {1})
    np.testing.assert_array_equal(found.relevant, decompose(model, ["the", "cat", "<unk>"], {1}).relevant)
    assert np.abs(found.relevant - decompose(model, ["<unk>"] * 3, {1}).relevant).max() > 0.01


@pytest.mark.parametrize(
    ("tokens", "said"),
    [
        ([1, 3], "token 1 of sentence 0 is 3, and token ids are places in the model's vocabulary, 0..2"),
        ([-1], "token 0 of sentence 0 is -1"),
        (["the", 2], "token 1 of sentence 0 is 2, and the vocabulary is made of texts: give a list of words, or"),
        ([True, False], "token 0 of sentence 0 is True"),
        ([None], "token 0 of sentence 0 is None"),
        ([1.5], "token 0 of sentence 0 is 1.5"),
    ],
)
def test_what_is_neither_a_word_nor_a_token_id_is_not_read_as_unknown(tokens, said):
    model = slow.double_lstm(12, tokens=3, vocabulary=("<unk>", "the", "cat"))
    with pytest.raises(InputError, match=re.escape(said)):
        decompose(model, tokens, {0})


def test_a_sentence_of_mostly_unknown_words_is_taken_apart_with_a_warning_that_names_them():
    model = slow.double_lstm(12, tokens=3, vocabulary=("<unk>", "the", "cat"))
    with pytest.warns(UnknownWordsWarning, match="does not know 2 of the 3 words and reads each as <unk>.*: dog, ran"):
        decompose(model, "the dog ran", {1})
    with pytest.warns(UnknownWordsWarning, match=r"sentence 1: .*: dog \(1 other sentences likewise\)"):
        decompose_batch(model, ["the cat", "dog", "bird bird"], [0, 0, 0])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        decompose(model, "the cat ran off", {1})
        decompose(model, ["<unk>", "<unk>"], {1})


@pytest.mark.parametrize(
    ("tokens", "focus", "said"),
    [
        ([0, 1], {2}, "position 2 in it, and the sentence has 2 tokens: positions are 0..1"),
        ([0, 1], {-1}, "position -1"),
        ([0, 1], {"a"}, "'a' in it"),
        ([], (), "sentence 0 is empty"),
        ([0, 9], {0}, "token 1 of sentence 0 is 9, and the model's vocabulary is 0, 1, 2"),
        (7, {0}, "the sentence is 7"),
        ([[0], [1]], {0}, "sentence 0 has [0] in it, which is no token"),
        ([0, 1], None, "the focus is None; it is a set of positions"),
    ],
)
def test_bad_sentences_and_foci_are_named(tokens, focus, said):
    with pytest.raises(InputError, match=re.escape(said)):
        decompose(LSTM.random(3, 2, key=jax.random.key(0)), tokens, focus)


def test_bad_models_layers_and_sharings_are_named():
    model = LSTM.random(3, 2, key=jax.random.key(0))
    with pytest.raises(InputError, match="this is a str"):
        decompose("model", [0], {0})
    with pytest.raises(InputError, match="no layer 1: the model has 1"):
        decompose(model, [0], {0}, layer=1)
    with pytest.raises(InputError, match="2 sentences and 1 foci"):
        decompose_batch(model, [[0], [1]], [{0}])
    with pytest.raises(InputError, match=r"one text was given, '012', where a list of sentences.*\[text\]"):
        decompose_batch(model, "012", [{0}] * 3)
    with pytest.raises(InputError, match=r"`sharing` is 'papers'; give kleene\.explaining\.Sharing"):
        decompose(model, [0], {0}, sharing="papers")
    assert decompose(model, [0], {0}, layer=np.int64(0)).layer == 0
    with pytest.raises(InputError, match="bias is 'last'; it can be first or shapley"):
        Sharing(bias="last")
    with pytest.raises(InputError, match=r"no interaction 'bias-bias'.*bias_bias"):
        Sharing(interactions={"bias-bias"})


def test_an_exact_network_is_asked_to_become_floating():
    from kleene.compiling.automata import compile_dfa
    from kleene.programs.automata import DFA

    exact = compile_dfa(DFA.from_regex("(0|10*1)*"))
    with pytest.raises(InputError, match="to_float"):
        decompose(exact, "01", {0})
    found = decompose(exact.to_float(), "0110", {1})
    np.testing.assert_allclose(found.relevant + found.irrelevant, exact.hidden("0110")[1:].astype(float), atol=1e-6)


def test_a_class_of_models_is_registered_with_what_a_decomposition_needs_of_it():
    class Wrapped:
        def __init__(self, inner):
            self.inner = inner

    @decomposable.register(Wrapped)
    def _(model):
        return decomposable(model.inner)

    inner = slow.double_lstm(1)
    np.testing.assert_array_equal(
        decompose(Wrapped(inner), [0, 3], {0}).relevant, decompose(inner, [0, 3], {0}).relevant
    )


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", Sharing()),
        ("bias=shapley", Sharing(bias="shapley")),
        ("output_gate=decomposed, bias_bias=never start=relevant",
         Sharing(output_gate="decomposed", bias_bias="never", start="relevant")),
        ("interactions=rel-rel+rel-irrel", Sharing(interactions={"rel-rel", "rel-irrel"})),
        ("interactions=none", Sharing(interactions=())),
    ],
)  # fmt: skip
def test_choices_of_sharing_are_read_from_a_text_and_written_as_one(text, expected):
    assert Sharing.read(text) == expected
    if text:
        assert Sharing.read(str(expected)) == expected
    assert str(Sharing()) == "the papers'"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("gate=whole", "--sharing has 'gate=whole'; its choices are bias=first|shapley, output_gate=whole|decomposed"),
        ("shapley", "--sharing has 'shapley'; its choices are"),
        ("bias=first,bias=shapley", "--sharing has 'bias=shapley', and has bias twice"),
        ("bias=last", "--sharing is 'bias=last': the choice bias is 'last'; it can be first or shapley"),
        ("interactions=all", "there is no interaction 'all'; those that can count as relevant are rel-rel"),
    ],
)
def test_a_wrong_choice_of_sharing_lists_the_right_ones(text, said):
    with pytest.raises(InputError, match=re.escape(said)):
        Sharing.read(text, "--sharing")
