"""Hidden Transformers: the same outputs, the same effect of every intervention, and what is refused."""

import random
from dataclasses import replace
from itertools import product

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import kleene
from kleene.errors import CompileError, InputError, RunError
from kleene.groundtruth.bases import BasisMap
from kleene.groundtruth.hide import plain_network
from kleene.groundtruth.rotations import random_mixing
from kleene.groundtruth.transformers import hide_transformer
from kleene.machines.transformer.plain import PlainLayout, PlainTransformer
from kleene.programs.alta.library import parity
from kleene.programs.alta.random_programs import generate, random_inputs
from kleene.programs.alta.variables import Categorical
from kleene.traces import Channel


@settings(max_examples=4)
@given(seed=st.integers(0, 10**9))
def test_a_hidden_random_program_has_the_same_outputs(seed):
    program, chance = generate(seed).program, random.Random(seed)
    outputs = [name for name, v in program.variables.items() if isinstance(v, Categorical)]
    program = replace(program, output_name=chance.choice(outputs))
    network = plain_network(program, max_length=min(4, program.position_range or 4))
    words = []
    for word in random_inputs(chance, program, 4, network.layout.positions):
        try:
            program.run(word)
        except RunError:
            continue
        words.append(word)
    hidden = hide_transformer(network, seed=seed % 100, decoys=seed % 3, words=words)
    assert hidden.equality == "rounded"
    assert (hidden.right, hidden.inputs) == (len(words), len(words))


@pytest.fixture(scope="module")
def reverse():
    return plain_network("rasp:reverse", max_length=4)


@pytest.fixture(scope="module")
def hidden(reverse):
    return hide_transformer(reverse, seed=5, decoys=2)


@eqx.filter_jit
def logits(network, tokens, lengths, keep, other):
    return jax.vmap(network, in_axes=(0, 0, None, 0))(tokens, lengths, keep, other)


@eqx.filter_jit
def written(network, tokens, lengths):
    return jax.vmap(network.written)(tokens, lengths)


def test_the_outputs_are_the_same_and_no_weight_is_zero(reverse, hidden):
    assert hidden.right == hidden.inputs == 200
    assert hidden.difference < 1e-3
    assert reverse.size.nonzero / reverse.size.parameters < 0.1
    assert hidden.network.size.nonzero / hidden.network.size.parameters > 0.99
    assert hidden.network.layout.labels is None


def test_what_sources_write_is_what_the_original_wrote(reverse, hidden):
    tokens, lengths = map(jnp.asarray, reverse.encode(["abcd", "edcb"]))
    before, after = (np.asarray(written(one, tokens, lengths), float) for one in (reverse, hidden.network))
    true = hidden.map.sources >= 0
    assert np.allclose(hidden.map.back(after[:, true]), before[:, hidden.map.sources[true]], atol=1e-4)
    decoys = after[:, ~true]
    assert np.allclose(hidden.map.back(decoys), 0, atol=1e-4)
    assert np.abs(decoys[0] - decoys[1]).max() > 0.1  # they compute something of the input


def test_an_intervention_has_the_effect_that_it_had_in_the_original(reverse, hidden):
    """Any mixture of two runs, on any edges; what happens to the edges of decoys makes no difference."""
    chance, effects = np.random.default_rng(0), []
    tokens, lengths = map(jnp.asarray, reverse.encode(["abcd", "eeba"]))
    others, _ = map(jnp.asarray, reverse.encode(["dcea", "bcda"]))
    theirs, mine = (written(network, others, lengths) for network in (reverse, hidden.network))
    unchanged = logits(reverse, tokens, lengths, jnp.ones(reverse.graph.possible.shape), theirs)
    for _ in range(6):
        keep = (chance.random(reverse.graph.possible.shape) < 0.8).astype(np.float32)
        mapped = hidden.map.edges(keep, decoys=chance.random(hidden.network.graph.possible.shape))
        expected = logits(reverse, tokens, lengths, jnp.asarray(keep), theirs)
        found = logits(hidden.network, tokens, lengths, jnp.asarray(mapped, jnp.float32), mine)
        assert np.allclose(found, expected, atol=1e-3)
        effects.append(np.abs(expected - unchanged).max())
    assert max(effects) > 0.5


def test_a_vector_put_in_by_hand_arrives_as_it_did_in_the_original(reverse, hidden):
    chance = np.random.default_rng(0)
    tokens, lengths = map(jnp.asarray, reverse.encode(["abcd"]))
    other = chance.standard_normal((1, *np.asarray(written(reverse, tokens, lengths)).shape[1:]))
    keep = np.ones(reverse.graph.possible.shape, np.float32)
    keep[:, 3] = 0
    mapped = jnp.asarray(hidden.map.written_onto(other), jnp.float32)
    expected = logits(reverse, tokens, lengths, jnp.asarray(keep), jnp.asarray(other, jnp.float32))
    found = logits(hidden.network, tokens, lengths, jnp.asarray(hidden.map.edges(keep, decoys=1)), mapped)
    assert np.allclose(found, expected, atol=1e-2)


def test_heads_without_content_become_decoys_and_true_ones_stay(reverse, hidden):
    before = np.asarray(reverse.out).any(axis=(2, 3))
    after = hidden.map.heads
    assert after.shape == (len(before), before.shape[1] + 2)
    assert [sorted(row[row >= 0]) for row in after] == [np.flatnonzero(row).tolist() for row in before]
    assert np.asarray(hidden.network.out).any(axis=(2, 3)).all()


def test_edges_of_the_circuit_go_where_their_components_went(reverse, hidden):
    edges = np.zeros(reverse.graph.possible.shape, bool)
    old, new = reverse.graph, hidden.network.graph
    edges[old.destinations.index("4.0.v"), old.sources.index("tokens")] = True
    mapped = hidden.map.edges(edges)
    place = hidden.map.heads[3].tolist().index(0)
    assert [(new.destinations[d], new.sources[s]) for d, s in np.argwhere(mapped)] == [(f"4.{place}.v", "tokens")]
    with pytest.raises(InputError, match="the original has 17 destinations"):
        hidden.map.edges(np.zeros((2, 2)))


def test_half_the_dimensions_are_enough_where_the_stream_has_no_more(reverse):
    hidden = hide_transformer(reverse, width=30, decoys=1, words=[*product("abcd", repeat=3)])
    report = hidden.compression
    assert report.rank <= 30 < report.dimensions
    assert (report.accuracy, report.steps) == (1.0, 0)
    assert hidden.right == hidden.inputs
    tokens, lengths = map(jnp.asarray, reverse.encode(["dcb"]))
    streams = [np.asarray(written(one, tokens, lengths)).sum(axis=1) for one in (reverse, hidden.network)]
    assert np.allclose(hidden.map.back(streams[1]), streams[0], atol=1e-2)


def test_a_stream_that_is_too_narrow_is_trained_and_what_is_lost_is_said():
    network = plain_network("parity_relative", max_length=4)
    hidden = hide_transformer(network, width=4, steps=40)
    report = hidden.compression
    assert report.width < report.rank
    assert (hidden.equality, report.steps) == ("changed", 40)
    assert report.reconstruction < report.reconstruction_before
    assert f"{report.accuracy:.1%} of outputs right" in str(hidden)


def test_noise_is_counted():
    network = plain_network("parity_relative", max_length=4)
    little, much = (hide_transformer(network, noise=noise) for noise in (0.001, 0.5))
    assert 0 < little.difference < much.difference
    assert much.accuracy < 1
    assert little.equality == "changed"


def test_a_trained_network_can_be_hidden_too():
    output = Channel("x", "category", 3)
    sizes = {"width": 6, "layers": 2, "heads": 2, "key_size": 4, "units": 5}
    network = PlainTransformer.random(PlainLayout("drawn", 4, 5, output), **sizes, key=jax.random.key(1))
    hidden = hide_transformer(network, decoys=1)
    assert hidden.right == hidden.inputs
    assert hidden.difference < 1e-4


def test_a_map_comes_back_from_json(hidden):
    again = BasisMap.from_json(hidden.map.as_json())
    assert again.as_json() == hidden.map.as_json()
    assert np.allclose(again.subspace([0, 1]) @ again.writing[:2].T @ again.writing[:2], again.subspace([0, 1]))


def test_a_mixing_matrix_has_a_good_inverse():
    assert np.linalg.cond(random_mixing(8, np.random.default_rng(0))) <= 4.001


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"noise": -1.0}, "0 or more"),
        ({"decoys": 65}, "decoys are 0 to 64"),
        ({"width": 0}, "57 dimensions and is compressed to 1 or more"),
        ({"steps": -1}, "0 steps or more"),
        ({"scores": 0.0}, "more than 0"),
        ({"copies": 2}, "its options are seed, rotate"),
    ],
)
def test_options_that_make_no_sense_are_refused(reverse, options, said):
    with pytest.raises(InputError, match=said):
        kleene.hide(reverse, **options)


def test_hide_takes_programs_networks_and_names():
    automaton = kleene.DFA.from_regex("(a|b)*abb")
    for subject in ("dfa:(a|b)*abb", automaton, kleene.compile(automaton)):
        assert kleene.hide(subject, copies=2).equality == "exact"
    assert kleene.hide("dfa:parity", machine="lstm", gates=8.0).accuracy == 1
    unrolled = kleene.compile(parity.absolute(positions=4), layers="unrolled", max_length=3)
    assert kleene.hide(unrolled).accuracy == 1
    with pytest.raises(InputError, match="a Turing machine cannot be hidden"):
        kleene.hide("tm:copy")
    with pytest.raises(CompileError, match="give max_length="):
        kleene.hide("parity_relative")
