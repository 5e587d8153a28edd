"""Measures on Transformers: the parts of the stream against their definition, and the output against the model's."""

from itertools import combinations

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from kleene.errors import InputError
from kleene.explaining import decompose
from kleene.explaining.interactions.network_outputs import output_network
from kleene.explaining.interactions.transformers import EVERY_MEASURE, TransformerAcceptor
from kleene.explaining.words.plain_stream import PlainStream
from kleene.explaining.words.sharing import PAPERS
from kleene.machines.transformer.plain import PlainLayout, PlainTransformer
from kleene.traces import Channel

WORDS = [tuple("0110"), tuple("1000"), tuple("1111")]
LENGTH, WIDTH = 4, 6
SIZES = {"width": WIDTH, "layers": 2, "heads": 2, "key_size": 3, "units": 5}


def model(*, causal, symbols=2, positions=LENGTH, values=2):
    layout = PlainLayout("x", symbols, positions, Channel("accepted", "category", values), causal)
    made = PlainTransformer.random(layout, **SIZES, key=jax.random.key(3))
    biases = (jax.random.normal(jax.random.key(4 + n), one.shape) for n, one in enumerate(_biases(made)))
    return eqx.tree_at(_biases, made, tuple(biases))


def _biases(network):
    return network.mlp_bias, network.mlp_constant


def acceptor(causal=True):
    return TransformerAcceptor(model(causal=causal), ("0", "1"))


CASES = [(name, True) for name in EVERY_MEASURE if name not in ("di_when_read", "di_shared")]


@pytest.mark.parametrize(("name", "causal"), [*CASES, ("di_hidden", False), ("erasure", False)])
def test_a_measure_gives_a_number_for_each_pair_of_each_word(name, causal):
    found = np.asarray(EVERY_MEASURE[name](acceptor(causal), WORDS))
    assert found.shape == (3, LENGTH, LENGTH)
    for i, j in combinations(range(LENGTH), 2):
        assert np.isfinite(found[:, i, j]).all()


def test_a_prefix_stands_before_the_word_and_is_never_erased():
    network = TransformerAcceptor(model(causal=True, symbols=3, positions=5), ("0", "1"), prefix=(2,))
    logits = network.model(jnp.array([2, 0, 1, 1]), jnp.asarray(4))[-1]
    assert network.outputs_batch([tuple("011")])[0, 0] == pytest.approx(float(logits[1] - logits[0]), abs=1e-5)
    weights = output_network(network, "zero")
    state = weights.hidden(weights.entries(jnp.array([0, 1, 1]), jnp.ones(3)))
    assert float(weights.decoder @ state) == pytest.approx(float(logits[1] - logits[0]), abs=1e-4)
    assert np.isfinite(EVERY_MEASURE["di_cdt"](network, [tuple("011")])[0, 0, 1])


@pytest.mark.parametrize("conventions", ["kleene", "cd-t"])
@pytest.mark.parametrize("causal", [True, False])
def test_the_parts_of_the_stream_sum_to_it_and_an_empty_part_stays_empty(conventions, causal):
    network = model(causal=causal)
    stream = PlainStream(network, conventions)
    word, length = jnp.array([0, 1, 1, 0]), jnp.asarray(LENGTH)
    whole = jnp.sum(network.written(word, length), axis=0)
    for focus in ([True, False, False, True], [False] * 4, [True] * 4):
        relevant, irrelevant = stream.parts(PAPERS, word, jnp.array(focus), length)
        assert np.allclose(relevant[-1] + irrelevant[-1], whole, atol=1e-5)
        if not any(focus) and conventions == "kleene":
            assert not np.any(relevant)
        if all(focus) and conventions == "kleene":
            assert not np.any(irrelevant)


def relu(x):
    return np.maximum(x, 0)


def plain_layer(weights, layer, relevant, irrelevant, conventions, focus):
    """One layer of the decomposition in numpy, head by head."""
    stream, parts = relevant + irrelevant, [relevant, irrelevant]
    added = [np.zeros_like(stream), np.zeros_like(stream)]
    for head in range(SIZES["heads"]):
        query, key, value, out = (weights[name][layer, head] for name in ("query", "key", "value", "out"))
        scores = (stream @ query) @ (stream @ key).T
        scores = np.where(np.tri(LENGTH), np.exp(scores - scores.max(axis=1, keepdims=True)), 0)
        pattern = scores / scores.sum(axis=1, keepdims=True)
        added = [one + pattern @ part @ value @ out for one, part in zip(added, parts)]
    one, other = (part + more for part, more in zip(parts, added))
    inputs, bias, outputs, constant = (
        weights[name][layer] for name in ("mlp_in", "mlp_bias", "mlp_out", "mlp_constant")
    )
    a, b = one @ inputs, other @ inputs
    if conventions == "kleene":
        mine = 0.5 * (relu(a + bias) - relu(bias) + relu(a + b + bias) - relu(b + bias))
        others = 0.5 * (relu(b + bias) - relu(bias) + relu(a + b + bias) - relu(a + bias))
        made = (relu(bias) @ outputs + constant) * np.ones((LENGTH, 1))
        return one + mine @ outputs + focus[:, None] * made, other + others @ outputs + ~focus[:, None] * made
    share = np.abs(a) / (np.abs(a) + np.abs(b) + 1e-8)
    a, b = a + share * bias, b + (1 - share) * bias
    c, d = (relu(a + b) - relu(b)) @ outputs, relu(b) @ outputs
    share = np.abs(c) / (np.abs(c) + np.abs(d) + 1e-8)
    one, other = one + c + share * constant, other + d + (1 - share) * constant
    for place in np.ndindex(one.shape):
        if one[place] * other[place] < 0:
            total, mine = one[place] + other[place], abs(one[place]) >= abs(other[place])
            one[place], other[place] = (total, 0) if mine else (0, total)
    return one, other


@pytest.mark.parametrize("conventions", ["kleene", "cd-t"])
def test_the_parts_are_those_of_a_plain_computation(conventions):
    network, focus = model(causal=True), np.array([True, False, True, False])
    weights = {
        name: np.asarray(getattr(network, name), np.float64)
        for name in network.__dataclass_fields__
        if name != "layout"
    }
    entries = weights["tokens"][[0, 1, 1, 0]] + weights["positions"]
    relevant, irrelevant = focus[:, None] * entries, ~focus[:, None] * entries
    found = PlainStream(network, conventions).parts(
        PAPERS, jnp.array([0, 1, 1, 0]), jnp.array(focus), jnp.asarray(LENGTH)
    )
    for layer in range(SIZES["layers"]):
        relevant, irrelevant = plain_layer(weights, layer, relevant, irrelevant, conventions, focus)
        assert np.allclose(found[0][layer], relevant, atol=1e-4)
        assert np.allclose(found[1][layer], irrelevant, atol=1e-4)


def test_erasure_is_a_difference_of_outputs_and_leaves_positions():
    network, word = acceptor(), WORDS[0]
    weights = output_network(network, "zero")
    tokens = jnp.array([0, 1, 1, 0])

    def value(*gone):
        scales = jnp.array([float(place not in gone) for place in range(LENGTH)])
        return float(weights.decoder @ weights.hidden(weights.entries(tokens, scales)))

    found = EVERY_MEASURE["erasure"](network, [word])[0, 1, 3]
    assert found == pytest.approx(abs(value() - value(1) - value(3) + value(1, 3)), abs=1e-4)


@pytest.mark.parametrize("name", ["di_when_read", "di_shared"])
def test_measures_of_states_on_the_way_are_for_recurrent_networks(name):
    with pytest.raises(InputError, match="defined for recurrent networks"):
        EVERY_MEASURE[name](acceptor(), WORDS)


def test_only_a_causal_network_has_a_state_after_each_symbol():
    found = decompose(acceptor(), "0110", 1)
    assert found.relevant.shape == (LENGTH, WIDTH)
    assert not np.any(found.relevant[0])
    with pytest.raises(InputError, match="in both directions"):
        decompose(acceptor(causal=False), "0110", 1)


def test_a_network_of_three_answers_is_no_acceptor():
    with pytest.raises(InputError, match="answers 0 or 1, and this Transformer has 3"):
        TransformerAcceptor(model(causal=True, values=3), ("0", "1"))
    with pytest.raises(InputError, match="has 2 tokens, and 3 symbols"):
        TransformerAcceptor(model(causal=True), ("0", "1", "2"))
