"""A compiled Transformer whose MLP was learned: with the compiled MLP's own weights it does what the program does."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

import kleene
from kleene.errors import InputError
from kleene.machines.transformer.learned_mlp import (
    DenseLayer,
    LearnedMLP,
    MLPTransformer,
    after_mlp,
    kept_width,
    mlp_features,
    read_nearest,
)
from kleene.programs.alta.library import get, parity
from kleene.traces import Channel

WORDS = {
    "parity_relative": [[2, 1, 0, 1, 1], [2], [2, 0, 1]],
    "parity_absolute": [[1, 0, 1, 1], [1], [0, 1, 1, 1, 0, 1]],
    "parity_sum_modulo": [[2, 1, 0, 1, 1], [2, 1], [2]],
    "parity_sum_modulo_steps": [[2, 1, 0, 1, 1], [2, 1]],
    "sort": [[3, 5, 4, 2], [7, 1]],
}


def as_learned(compiled):
    """The compiled MLP's weights as a learned MLP: clip(x) is relu(x) - relu(x - 1), and the stream passes through."""
    width, kept = compiled.layout.width, kept_width(compiled.layout)
    features = len(compiled.mlp_in)
    inputs = np.concatenate([compiled.mlp_in, compiled.mlp_in, np.eye(features)[:, :width]], axis=1)
    bias = np.concatenate([compiled.mlp_bias, compiled.mlp_bias - 1, np.zeros(width)])
    outputs = np.concatenate([compiled.mlp_out, -compiled.mlp_out, np.eye(width)])[:, :kept]
    layers = [(inputs, bias), (outputs, np.zeros(kept))]
    return LearnedMLP(*[(DenseLayer(*map(jnp.asarray, layers[0])),), DenseLayer(*map(jnp.asarray, layers[1]))])


@pytest.mark.parametrize("name", WORDS)
def test_with_the_compiled_weights_it_has_the_programs_traces(name):
    program = get(name).build()
    compiled = kleene.compile(program)
    network = MLPTransformer.of(compiled, as_learned(compiled), layers=2, grows=program.halt is not None)
    batch = network.run_batch(WORDS[name])
    for word, trace in zip(WORDS[name], batch):
        assert program.run(word, max_layers=None if program.halt else 2).difference(trace) is None
    assert network.run_batch(WORDS[name], record=False).outputs == batch.outputs


def drawn(program, layers, *, grows=False):
    compiled = kleene.compile(program)
    mlp = LearnedMLP.random(len(compiled.mlp_in), kept_width(compiled.layout), depth=1, units=3, key=jax.random.key(0))
    return MLPTransformer.of(compiled, mlp, layers=layers, grows=grows)


def test_a_word_that_never_halts_ends_after_its_layers():
    network = drawn(parity.relative(), -1, grows=True)
    silent = eqx.tree_at(lambda n: n.mlp, network, jax.tree.map(jnp.zeros_like, network.mlp))
    batch = silent.run_batch([[2, 1, 1], [2, 1, 1, 0, 1], [2]])
    assert (batch.steps.tolist(), batch.halted.tolist()) == ([2, 4, 0], [False, False, True])


def test_many_words_are_run_in_blocks_as_one_is(monkeypatch):
    network = drawn(parity.relative(), -1, grows=True)
    words = [[2, *map(int, f"{n:05b}"[n % 3 :])] for n in range(11)]
    whole = network.run_batch(words)
    monkeypatch.setattr("kleene.machines.transformer.learned_mlp.BLOCK", 4)
    assert network.run_batch(words) == whole
    assert network.run(words[3]) == whole[3]
    assert network.run_batch([]).outputs == []


def test_the_mlp_reads_the_expansions_features_and_gives_the_variables_alone():
    network = drawn(parity.sum_modulo(most_ones=3), 1)
    stream = jnp.zeros(network.layout.width).at[network.layout.segment("average").start].set(1 / 3)
    assert mlp_features(network.expansion, stream)[network.layout.width :].tolist() == [0, 1, 0, 0]
    heads = [d for s in network.layout.head_segments for d in range(s.start, s.stop)]
    after = np.asarray(after_mlp(network.mlp, network.compiled, stream))
    assert after.shape == stream.shape
    assert (after[heads] == 0).all()


def test_a_variable_is_read_as_the_nearest_value():
    assert read_nearest(Channel("x", "category", 3), jnp.array([0.2, 0.1, 0.4])) == 2
    assert read_nearest(Channel("x", "number", values=(0.0, 0.5, 2.0)), jnp.array([1.2])) == 0.5
    assert read_nearest(Channel("x", "set", 2), jnp.array([0.7, 0.2])).tolist() == [True, False]


def test_inputs_that_the_program_does_not_take_are_refused():
    network = drawn(parity.absolute(positions=4), -1, grows=True)
    with pytest.raises(InputError, match="4"):
        network.run([1, 0, 1, 0, 1])
    with pytest.raises(InputError, match="7"):
        network.run([7])


def test_an_mlp_of_other_sizes_is_refused():
    compiled = kleene.compile(parity.relative())
    for features, outputs in ((9, 4), (8, 3)):
        mlp = LearnedMLP.random(features, outputs, depth=1, units=3, key=jax.random.key(0))
        with pytest.raises(InputError, match="was expected"):
            MLPTransformer.of(compiled, mlp, layers=1, grows=False)
    with pytest.raises(InputError, match="at least one hidden layer"):
        LearnedMLP.random(8, 4, depth=0, units=3, key=jax.random.key(0))


def test_it_shows_what_it_is():
    assert "a learned MLP of 3 units, at most as many layers as positions, -1" in repr(
        drawn(parity.relative(), -1, grows=True)
    )
    assert drawn(parity.relative(), -1, grows=True).size.hidden_units == 3


def test_its_attention_patterns_are_those_of_the_compiled_network():
    compiled = kleene.compile(parity.relative())
    learned = MLPTransformer.of(compiled, as_learned(compiled), layers=0, grows=True)
    for word, trace in zip(WORDS["parity_relative"], learned.run_batch(WORDS["parity_relative"])):
        expected = compiled.run(word).attention
        assert trace.attention.heads == expected.heads
        assert np.allclose(trace.attention.weights[: len(expected.weights)], expected.weights, atol=1e-6)
