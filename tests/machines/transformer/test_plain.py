"""Plain Transformers: equal to what they are made of; every intervention is one of `keep` and `other`."""

import random
from dataclasses import replace

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import kleene
from kleene.errors import InputError, RunError
from kleene.machines.transformer.components import ComponentGraph
from kleene.machines.transformer.plain import PlainLayout, PlainTransformer
from kleene.programs.alta.library import parity
from kleene.programs.alta.random_programs import generate, random_inputs
from kleene.programs.alta.variables import Categorical
from kleene.traces import Channel
from tests.exporting.rasp_programs import PROGRAMS
from tests.exporting.test_transformer_lens import endless


def plain(program, **options):
    return PlainTransformer.from_unrolled(kleene.compile(program, layers="unrolled", **options))


@settings(max_examples=12)
@given(seed=st.integers(0, 10**9))
def test_it_computes_what_the_unrolled_network_does(seed):
    program, chance = generate(seed).program, random.Random(seed)
    outputs = [name for name, v in program.variables.items() if isinstance(v, Categorical)]
    program = replace(program, output_name=chance.choice(outputs))
    length = min(4, program.position_range or 4)
    network = kleene.compile(program, layers="unrolled", max_length=length)
    made, fitting = PlainTransformer.from_unrolled(network), []
    for sequence in random_inputs(chance, program, 4, length):
        try:
            fitting.append((sequence, network.run(sequence).output))
        except RunError:
            continue
    found = made.run_batch([sequence for sequence, _ in fitting])
    assert [trace.output for trace in found] == [output for _, output in fitting]


@pytest.mark.parametrize("name", list(PROGRAMS)[:4])
def test_a_rasp_program_is_plain_too(name):
    program = PROGRAMS[name]
    made, words = plain(program), program.vocabulary.values
    entered = [[words[(length + i) % len(words)] for i in range(length)] for length in range(1, 5)]
    assert [trace.output for trace in made.run_batch(entered)] == [program.run(word).output for word in entered]


def test_a_causal_network_reads_nothing_to_its_right():
    made = plain(parity.relative(), max_length=6, causal=True)
    whole, part = made.run([2, 1, 1, 0, 1]), made.run([2, 1, 1])
    assert whole.output[:3] == part.output
    assert whole.output == parity.relative().run([2, 1, 1, 0, 1]).output


@eqx.filter_jit
def logits(network, tokens, lengths, keep=None, other=None):
    return jax.vmap(network, in_axes=(0, 0, None, None if other is None else 0))(tokens, lengths, keep, other)


@eqx.filter_jit
def written(network, tokens, lengths):
    return jax.vmap(network.written)(tokens, lengths)


@pytest.fixture(scope="module")
def network():
    output = Channel("x", "category", 3)
    sizes = {"width": 6, "layers": 3, "heads": 2, "key_size": 4, "units": 5}
    return PlainTransformer.random(PlainLayout("drawn", 4, 5, output), **sizes, key=jax.random.key(1))


def test_keeping_everything_and_swapping_everything_in_is_the_run_itself(network):
    tokens, lengths = network.encode([[1, 2, 3, 0], [3, 3]])
    shape = network.graph.possible.shape
    whole = logits(network, tokens, lengths)
    assert np.allclose(whole, logits(network, tokens, lengths, jnp.ones(shape)), atol=1e-5)
    itself = written(network, tokens, lengths)
    assert np.allclose(whole, logits(network, tokens, lengths, jnp.zeros(shape), itself), atol=1e-5)
    assert np.allclose(itself.sum(axis=1) @ network.readout.T, whole, atol=1e-5)


def test_one_edge_alone_is_swapped(network):
    """The edge from the tokens to the output: what else the output reads is as before."""
    tokens, lengths = network.encode([[1, 2, 3, 0]])
    others, _ = network.encode([[0, 0, 1, 1]])
    graph = network.graph
    keep = jnp.ones(graph.possible.shape).at[graph.destinations.index("output"), 0].set(0)
    found = logits(network, tokens, lengths, keep, written(network, others, lengths))
    change = (network.tokens[others[0]] - network.tokens[tokens[0]]) @ network.readout.T
    assert np.allclose(found[0], logits(network, tokens, lengths)[0] + change, atol=1e-5)


def test_a_run_with_every_edge_of_another_word_is_that_word(network):
    tokens, lengths = network.encode([[1, 2, 3, 0]])
    others, _ = network.encode([[0, 0, 1, 1]])
    keep = jnp.zeros(network.graph.possible.shape)
    found = logits(network, tokens, lengths, keep, written(network, others, lengths))
    assert np.allclose(found, logits(network, others, lengths), atol=1e-5)


def test_an_edge_that_cannot_be_changes_nothing(network):
    tokens, lengths = network.encode([[1, 2, 3, 0]])
    keep = jnp.asarray(network.graph.possible, jnp.float32)
    noise = jax.random.normal(jax.random.key(0), (1, len(network.graph.sources), 4, 6))
    assert np.allclose(logits(network, tokens, lengths, keep, noise), logits(network, tokens, lengths), atol=1e-5)


def test_padding_changes_nothing(network):
    alone, beside = network.run([1, 2]), network.run_batch([[1, 2], [3, 0, 1, 2, 2]])[0]
    assert alone == beside


def test_readers_are_the_sources_that_destinations_belong_to():
    graph = ComponentGraph(layers=2, heads=2)
    owners = [graph.sources[r] if r < len(graph.sources) else "output" for r in graph.readers]
    assert owners == [*["1.0"] * 3, *["1.1"] * 3, "1.mlp", *["2.0"] * 3, *["2.1"] * 3, "2.mlp", "output"]
    assert all(
        set(np.flatnonzero(row)) == set(range(row.sum())) or "mlp" in name for name, row in zip(owners, graph.possible)
    )


def test_what_has_no_plain_form_is_refused():
    with pytest.raises(InputError, match="has a fixed number of positions; compile the program with"):
        plain(endless())
    with pytest.raises(InputError, match="has 7 tokens, and the network takes at most 5"):
        plain(parity.absolute(positions=9), max_length=5).run([1] * 7)
    with pytest.raises(InputError, match="sizes of 1 or more"):
        PlainTransformer.random(
            PlainLayout("x", 2, 2, Channel("x", "category", 2)), width=2, layers=0, heads=1, key_size=1, units=1,
            key=jax.random.key(0),
        )  # fmt: skip
