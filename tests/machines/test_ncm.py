"""The Universal Transformer as a ∂NCM: its recorded states are the network's own trace."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

import kleene
from kleene.errors import InputError
from kleene.machines.ncm import DifferentiableMachine, RepeatedLayer, run
from kleene.machines.transformer.parameters import read_segment
from kleene.programs.alta.library import get, parity

recorded = eqx.filter_jit(lambda machine, start, layers: run(machine, start, layers))


@pytest.mark.parametrize("name", ["parity_relative", "parity_absolute", "addition"])
def test_recorded_states_are_the_trace_of_network_and_program(name):
    entry = get(name)
    program, tokens = entry.build(), entry.read(entry.example)
    network = kleene.compile(program)
    expected = program.run(tokens)
    machine = RepeatedLayer.of(network)
    assert isinstance(machine, DifferentiableMachine)
    found = recorded(machine, machine.start(tokens), jnp.arange(expected.steps))
    states = np.concatenate([np.asarray(machine.start(tokens).state)[None], np.asarray(found["state"])])
    assert expected.steps > 1
    for segment in network.layout.kept_segments:
        read = read_segment(np, segment.channel, states[..., segment.start : segment.stop])
        np.testing.assert_array_equal(read, expected[segment.channel.name])
    said = network.layout.segment(network.layout.output_name)
    np.testing.assert_array_equal(found["output"], found["state"][..., said.start : said.stop])


def test_gradients_of_the_output_reach_the_weights_of_the_layer():
    machine = RepeatedLayer.of(kleene.compile(parity.absolute(positions=4)))
    weights, fixed = eqx.partition(machine, eqx.is_inexact_array)

    @jax.jit
    @jax.grad
    def gradient(weights):
        whole = eqx.combine(weights, fixed)
        return jnp.sum(run(whole, whole.start([1, 0, 1]), jnp.arange(1))["output"] ** 2)

    found = gradient(weights)
    assert all(bool(jnp.isfinite(leaf).all()) for leaf in jax.tree.leaves(found))
    assert bool((found.layer.mlp_in != 0).any())


def test_bad_input_and_weights_that_would_be_rounded_are_refused():
    machine = RepeatedLayer.of(kleene.compile(parity.absolute(positions=4)))
    with pytest.raises(InputError, match="7"):
        machine.start([1, 7])
    with pytest.raises(InputError, match="compile it to float32"):
        RepeatedLayer.of(kleene.compile(parity.absolute(positions=4), dtype="float64"))
