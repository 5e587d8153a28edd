"""The true circuit: what is outside of it may be anything, and it is the same in every basis."""

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
from kleene.explaining.circuits.patching import Pairs
from kleene.explaining.circuits.truth import true_circuit
from kleene.machines.transformer.plain import PlainTransformer
from kleene.programs.alta.random_programs import generate, random_inputs
from kleene.programs.alta.variables import Categorical
from tests.explaining.circuits.samples import compiled, drawn


@settings(max_examples=3)
@given(seed=st.integers(0, 10**9))
def test_all_edges_outside_of_the_circuit_may_be_resampled_at_once(seed):
    program, chance = generate(seed).program, random.Random(seed)
    outputs = [name for name, v in program.variables.items() if isinstance(v, Categorical)]
    program = replace(program, output_name=chance.choice(outputs))
    length = min(4, program.position_range or 4)
    unrolled = kleene.compile(program, layers="unrolled", max_length=length)
    words = [word for word in random_inputs(chance, program, 60, length) if ends(unrolled, word)]
    if len(words) < 2:
        return
    network = PlainTransformer.from_unrolled(unrolled)
    circuit = true_circuit(network, words)
    words = sorted(words[:12], key=len)
    pairs = Pairs.of(network, words, [words[chance.randint(i, len(words) - 1)] for i in range(len(words))])
    # All edges outside of it at once, and the nodes outside of it.
    keeps = [circuit.edges, np.broadcast_to(circuit.nodes, circuit.edges.shape)]
    for keep in keeps:
        found = np.asarray(eqx.filter_jit(Pairs.logits)(pairs, jnp.asarray(keep, network.tokens.dtype)))
        assert np.allclose(found[pairs.answered], pairs.clean[pairs.answered], atol=1e-3)


def ends(network, word):
    try:
        network.run(word)
    except RunError:
        return False
    return True


def test_the_circuit_of_a_histogram():
    """Each token reads the share of its like among all, from which a table gives the number."""
    _, circuit = compiled("hist")
    assert set(circuit.named_edges()) == {
        *(("1.0." + part, "tokens") for part in "qkv"), ("1.mlp", "1.0"), ("2.mlp", "1.mlp"), ("3.mlp", "tokens"),
        ("3.mlp", "2.mlp"), ("output", "3.mlp"),
    }  # fmt: skip
    positional = {circuit.graph.destinations[d] for d in np.flatnonzero(circuit.positional.any(axis=1))}
    assert positional == {"1.0.v", "3.mlp"}  # where the start token is, and nothing else of the tokens
    assert circuit.carries["hist"].labels == ("hist=–", "hist=4", "hist=3", "hist=2", "hist=1")
    assert circuit.carries["hist_count"].sources == ("1.0", "3.mlp")
    assert circuit.positions is not None
    assert circuit.positions[circuit.graph.sources.index("3.mlp")].tolist() == [False, *[True] * 4]
    assert str(circuit) == "<TrueCircuit: 8 of 59 edges, 5 of 8 sources>"


@pytest.mark.parametrize("name", ["hist", "reverse", "detect_pattern"])
def test_another_basis_has_the_same_circuit(name):
    network, circuit = compiled(name)
    hidden = rotated(network)
    found = true_circuit(hidden, drawn("abc", 200)[0])
    assert (found.edges == circuit.edges).all()
    assert (found.positional == circuit.positional).all()


def rotated(network):
    """The network with a turned residual stream and turned heads."""
    turn, inside = (
        jax.random.orthogonal(jax.random.key(seed), size)
        for seed, size in ((0, network.tokens.shape[1]), (1, network.query.shape[-1]))
    )
    reads = {
        name: jnp.einsum("vw,...wk->...vk", turn, getattr(network, name))
        for name in ("query", "key", "value", "mlp_in")
    }
    reads |= {name: reads[name] @ inside for name in ("query", "key", "value")}
    writes = {
        name: getattr(network, name) @ turn.T
        for name in ("tokens", "positions", "out", "mlp_out", "mlp_constant", "readout")
    }
    writes["out"] = jnp.einsum("kj,lhkw->lhjw", inside, writes["out"])
    return replace(network, **reads, **writes)


def test_units_that_nobody_reads_are_no_part_of_it():
    """An MLP unit that writes what it reads of the positions into a dimension of its own, in a layer that matters."""
    network, circuit = compiled("hist")
    width = network.tokens.shape[1]
    wider = {
        name: jnp.pad(getattr(network, name), [(0, int(n == network_axis)) for n in range(getattr(network, name).ndim)])
        for name, network_axis in {
            "tokens": 1, "positions": 1, "query": 2, "key": 2, "value": 2, "out": 3, "mlp_in": 1, "mlp_out": 2,
            "mlp_constant": 1, "readout": 1,
        }.items()
    }  # fmt: skip
    spare = int(np.flatnonzero(~np.asarray(network.mlp_in[1]).any(axis=0))[0])
    position = network.layout.labels.index("position=1")
    wider["mlp_in"] = wider["mlp_in"].at[1, position, spare].set(1)
    wider["mlp_out"] = wider["mlp_out"].at[1, spare, width].set(1)
    wide = replace(network, **wider, layout=replace(network.layout, labels=None))
    assert (true_circuit(wide, drawn("abc", 200)[0]).edges == circuit.edges).all()
    read = replace(wide, readout=wide.readout.at[0, width].set(1))
    more = true_circuit(read, drawn("abc", 200)[0]).edges & ~circuit.edges
    destinations, sources = circuit.graph.destinations, circuit.graph.sources
    assert {(destinations[d], sources[s]) for d, s in np.argwhere(more)} == {
        ("2.mlp", "positions"),
        ("output", "2.mlp"),
    }


def test_one_word_shows_no_difference():
    with pytest.raises(InputError, match="1 words do not show"):
        true_circuit(compiled("hist")[0], ["ab"])
