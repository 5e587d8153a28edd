"""Residual streams and traces of many words at once: the same as of each word alone."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import kleene
from kleene import kinds
from kleene.errors import InputError
from kleene.machines.transformer.encoder import EncoderTransformer
from kleene.machines.transformer.learned_mlp import LearnedMLP, MLPTransformer
from kleene.machines.transformer.shared import SharedTransformer
from kleene.programs.alta.library import parity

SIZES = {"width": 8, "heads": 2, "units": 6, "reach": 2}
GROWING = SharedTransformer.random(3, {"a": 2, "b": 3}, head_outputs={"c": 4}, **SIZES, key=jax.random.key(0))
ENCODER = EncoderTransformer.random(
    3, {"a": 4}, width=8, heads=2, key_size=3, units=6, layers=3, head_outputs={"c": 2}, key=jax.random.key(4)
)
FIXED = SharedTransformer.random(3, {"a": 4}, layers=3, grows=False, positions=12, **SIZES, key=jax.random.key(1))
WORDS = [[(n * k) % 3 for k in range(1, 1 + n % 11 + n // 30)] for n in range(1, 41)]
WORDS = [word or [2] for word in WORDS]


@pytest.mark.parametrize("network", [GROWING, FIXED, ENCODER], ids=["growing", "fixed", "encoder"])
@pytest.mark.parametrize("at_once", [1 << 21, 4_000])  # in one chunk for each size, or in several
def test_many_words_have_the_traces_that_each_has_alone(network, at_once):
    batch = network.run_batch(WORDS, at_once=at_once)
    assert len({len(word) for word in WORDS}) > 8
    assert len(batch) == len(WORDS)
    for word, trace in zip(WORDS, batch, strict=True):
        assert trace == network.run(word)
        assert (trace.steps, trace["a"].shape[1]) == (network.layers_for(len(word)), len(word))


def test_heads_read_nothing_at_the_start_and_something_in_each_layer():
    trace = GROWING.run_batch([[1, 2, 0, 1]])[0]
    assert (trace["c"][0] == -1).all()
    assert (trace["c"][1:] >= 0).all()


def test_the_streams_of_many_words_are_those_of_each_alone():
    found = GROWING.residual_streams(WORDS, at_once=4_000)
    assert found.symbols == 3
    for row in (0, 7, 25, 39):
        word = WORDS[row]
        layers = GROWING.layers_for(len(word))
        alone = GROWING(jnp.array(word), jnp.array(len(word)), layers=layers)
        assert found.layers[row] == layers
        np.testing.assert_allclose(found.states[row, : layers + 1, : len(word)], alone.states, atol=1e-4)
        np.testing.assert_allclose(found.attended[row, :layers, : len(word)], alone.attended, atol=1e-4)


def test_no_words_have_no_traces_and_bad_ones_are_refused():
    assert list(GROWING.run_batch([])) == []
    with pytest.raises(InputError, match="the input is empty"):
        GROWING.run_batch([[1], []])
    with pytest.raises(InputError, match="layers is -1"):
        GROWING.run([1], layers=-1)
    assert GROWING.run([1, 2], layers=5).steps == 5
    assert GROWING.run([1, 2], layers=0)["c"].tolist() == [[-1, -1]]


def test_a_learned_mlp_is_drawn_anew_and_attention_stays():
    network = learned()
    other = kinds.of(network).untrained(network, 7)
    assert [a.shape for a in jax.tree.leaves(other)] == [a.shape for a in jax.tree.leaves(network)]
    assert not np.allclose(other.mlp.output.weights, network.mlp.output.weights)
    assert (other.query == network.query).all()


def test_an_untrained_network_has_the_shapes_of_the_trained_one_and_other_weights():
    for network in (GROWING, FIXED, ENCODER):
        other = kinds.of(network).untrained(network, 7)
        assert jax.tree.structure(other) == jax.tree.structure(network)
        assert [a.shape for a in jax.tree.leaves(other)] == [a.shape for a in jax.tree.leaves(network)]
        assert not np.allclose(other.embedding, network.embedding)


def learned() -> MLPTransformer:
    compiled = kleene.compile(parity.relative())
    mlp = LearnedMLP.random(compiled.layout.width, 4, depth=2, units=5, key=jax.random.key(2))
    return MLPTransformer.of(compiled, mlp, layers=-1, grows=True)


@pytest.mark.parametrize("kind", ["compiled", "learned MLP"])
def test_the_streams_of_a_network_hold_its_trace(kind):
    network = kleene.compile(parity.relative()) if kind == "compiled" else learned()
    words = [[2, 1, 0, 1, 1], [2, 1], [2, 0, 1, 1]]
    found = kinds.of(network).streams(network, words)
    for row, trace in enumerate(network.run_batch(words)):
        assert found.layers[row] == trace.steps
        for name in ("parity", "done"):
            part = network.layout.segment(name)
            here = found.states[row, : trace.steps + 1, : len(words[row]), part.start : part.stop]
            assert (here.argmax(axis=-1) == trace[name]).all()
        part = network.layout.segment("done_left")
        read = found.attended[row, : trace.steps, 1 : len(words[row]), part.start : part.stop]
        assert (read.argmax(axis=-1) == trace["done_left"][1:, 1:]).all()
