"""A Transformer language model taken apart: the identities that must hold, and a plain reference in numpy."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kleene.errors import InputError
from kleene.explaining.words.baselines import erasure
from kleene.explaining.words.decomposition import decompose, decompose_batch
from kleene.explaining.words.pairwise import interdependence, interdependence_batch
from kleene.explaining.words.sharing import Sharing
from kleene.machines.transformer_lm import TransformerLM

SENTENCES = st.lists(st.integers(0, 4), min_size=1, max_size=8)
ALL_SHARINGS = [Sharing(), Sharing(bias="shapley", bias_bias="never")]


def double_model(seed, layers=2):
    """A random model in double precision, biases and gains included."""
    shape = jax.eval_shape(lambda: TransformerLM.random(5, 6, 2, layers, positions=8, key=jax.random.key(0)))
    rng = np.random.default_rng(seed)
    with jax.enable_x64(True):
        return jax.tree.map(lambda leaf: jnp.asarray(rng.normal(size=leaf.shape)), shape)


MODELS = st.builds(double_model, st.integers(0, 99))


def gelu(z):
    return 0.5 * z * (1 + np.tanh(np.sqrt(2 / np.pi) * (z + 0.044715 * z**3)))


def normed(parts, gain):
    """Both parts through a layer norm that scales them by what it scales their sum."""
    whole = parts[0] + parts[1]
    deviation = np.sqrt(((whole - whole.mean()) ** 2).mean() + 1e-5)
    return [(part - part.mean()) / deviation * gain for part in parts]


def slow_parts(model, codes, focus):
    """Relevant and irrelevant parts, each [step, layers, width], position by position and head by head."""
    model = jax.tree.map(np.asarray, model)
    nothing = np.zeros(model.gain.shape)
    entries = [model.embedding[code] + model.positions[t] for t, code in enumerate(codes)]
    stream = [(x, nothing) if t in focus else (nothing, x) for t, x in enumerate(entries)]
    found = []
    for block in model.layers:
        before = [normed(parts, block.attention_gain) for parts in stream]
        after = []
        for t, (relevant, irrelevant) in enumerate(stream):
            relevant, irrelevant = relevant.copy(), irrelevant.copy()
            for query, key, value, out in zip(block.query, block.key, block.value, block.out):
                asked = sum(before[t]) @ query
                scores = np.array([asked @ (sum(before[j]) @ key) / np.sqrt(3) for j in range(t + 1)])
                weights = np.exp(scores - scores.max()) / np.exp(scores - scores.max()).sum()
                for j, weight in enumerate(weights):
                    relevant += weight * (before[j][0] @ value) @ out
                    irrelevant += weight * (before[j][1] @ value) @ out
            a, b = (block.mlp_in @ part for part in normed((relevant, irrelevant), block.mlp_gain))
            c = block.mlp_bias
            mine = 0.5 * (gelu(a + c) - gelu(c) + gelu(a + b + c) - gelu(b + c))
            others = 0.5 * (gelu(b + c) - gelu(c) + gelu(a + b + c) - gelu(a + c))
            made = block.mlp_out @ gelu(c) + block.out_bias
            relevant += block.mlp_out @ mine + (made if t in focus else 0)
            irrelevant += block.mlp_out @ others + (0 if t in focus else made)
            after.append((relevant, irrelevant))
        stream = after
        found.append(stream)
    found[-1] = [normed(parts, model.gain) for parts in stream]
    return np.transpose(np.array(found), (2, 1, 0, 3))


def true_states(model, sentence):
    with jax.enable_x64(True):
        return model.hidden(sentence)


@settings(max_examples=15)
@given(MODELS, SENTENCES, st.data())
def test_the_parts_are_those_of_the_plain_reference_in_every_layer(model, sentence, data):
    focus = data.draw(st.sets(st.integers(0, len(sentence) - 1)))
    expected = slow_parts(model, sentence, focus)
    for layer in (0, 1):
        found = decompose(model, sentence, focus, layer=layer)
        np.testing.assert_allclose((found.relevant, found.irrelevant), expected[:, :, layer], atol=1e-9)


@settings(max_examples=15)
@given(MODELS, SENTENCES, st.data(), st.sampled_from(ALL_SHARINGS), st.integers(0, 1))
def test_the_parts_sum_to_what_the_layer_leaves(model, sentence, data, sharing, layer):
    focus = data.draw(st.sets(st.integers(0, len(sentence) - 1)))
    found = decompose(model, sentence, focus, layer=layer, sharing=sharing)
    np.testing.assert_allclose(found.relevant + found.irrelevant, true_states(model, sentence)[:, layer], atol=1e-9)


@settings(max_examples=10)
@given(MODELS, SENTENCES)
def test_focus_on_nothing_and_on_everything_give_exactly_nothing_and_everything(model, sentence):
    assert not decompose(model, sentence, ()).relevant.any()
    assert not decompose(model, sentence, range(len(sentence))).irrelevant.any()
    assert decompose(model, sentence, range(len(sentence))).relevant.any()


def test_a_word_is_relevant_from_its_own_position_on_and_a_pair_is_its_first_word_until_the_second():
    model, sentence = double_model(5), [2, 0, 4, 4, 1, 3]
    pair, first = decompose(model, sentence, {1, 4}), decompose(model, sentence, {1})
    assert not pair.relevant[:1].any()
    assert pair.relevant[1:].all()
    np.testing.assert_array_equal(pair.relevant[:4], first.relevant[:4])
    assert (pair.relevant[4:] != first.relevant[4:]).all()


def test_a_batch_is_what_each_sentence_is_alone_whatever_the_padding():
    model, sentences, foci = double_model(1), [[1], [0, 2, 4, 3, 3, 1, 4, 2], [4, 4, 0]], [{0}, {1, 6}, ()]
    for sentence, focus, one in zip(sentences, foci, decompose_batch(model, sentences, foci)):
        np.testing.assert_allclose(one.relevant, decompose(model, sentence, focus).relevant, atol=1e-12)


def test_interdependence_is_that_of_the_plain_reference_and_symmetric():
    model, sentence = double_model(2), [2, 0, 4, 1]
    expected = np.full((2, 4, 4), np.nan)
    for r in range(4):
        for left in range(r):
            states = [slow_parts(model, sentence, focus)[0, r, -1] for focus in ({left, r}, {left}, {r})]
            for n, weights in enumerate((np.eye(6), np.asarray(model.decoder))):
                both, one, other = (weights @ state for state in states)
                ratio = np.linalg.norm(both - one - other) / np.linalg.norm(both)
                expected[n, left, r] = expected[n, r, left] = ratio
    np.testing.assert_allclose(interdependence(model, sentence), expected[0], atol=1e-9)
    np.testing.assert_allclose(interdependence(model, sentence, at="logits"), expected[1], atol=1e-9)
    np.testing.assert_allclose(interdependence_batch(model, [[1, 2], sentence])[1], expected[0], atol=1e-9)


def test_logits_and_the_decoder_bias_sum_to_the_outputs():
    model, sentence = double_model(3), [2, 0, 4]
    found = decompose(model, sentence, {1})
    said = found.logits + found.irrelevant_logits + np.asarray(model.decoder_bias)
    with jax.enable_x64(True):
        np.testing.assert_allclose(said, model.outputs(sentence), atol=1e-9)


def test_the_model_is_causal_and_words_of_any_length_up_to_its_positions_are_read():
    model = double_model(4)
    long = true_states(model, [0, 1, 2, 3, 4, 0, 1, 2])
    np.testing.assert_allclose(true_states(model, [0, 1, 2]), long[:3], atol=1e-12)
    with pytest.raises(InputError, match="9 tokens is too long: there are 8 positions"):
        model.hidden([0] * 9)
    with pytest.raises(InputError, match="sentence 0 has 9 tokens, and the model has 8 positions"):
        decompose(model, [0] * 9, {0})


def test_bad_sizes_and_measures_that_need_a_recurrent_network_are_named():
    with pytest.raises(InputError, match="width=6, heads=4"):
        TransformerLM.random("ab", 6, 4, 1, key=jax.random.key(0))
    with pytest.raises(InputError, match="not yet for a TransformerLM"):
        erasure(double_model(0), [0, 1])
