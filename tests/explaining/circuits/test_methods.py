"""Methods that look for circuits: each does what its definition says."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from kleene.explaining.circuits.methods import METHODS, THRESHOLDS, acdc
from kleene.explaining.circuits.patching import Pairs, divergences, margin_gradients
from kleene.explaining.interactions.measures import MEASURES
from kleene.machines.transformer.plain import PlainLayout, PlainTransformer
from kleene.traces import Channel
from tests.explaining.circuits.samples import compiled, drawn

NODES = {
    "node_patching", "zero_ablation", "mean_ablation", "gradient_output", "integrated_gradients", "linear_probe",
    "written_norm",
}  # fmt: skip
INPUTS, OTHERS = drawn(range(3), 4, longest=3)


@pytest.fixture(scope="module")
def network():
    sizes = {"width": 5, "layers": 2, "heads": 1, "key_size": 3, "units": 4}
    return PlainTransformer.random(
        PlainLayout("drawn", 3, 3, Channel("x", "category", 3)), **sizes, key=jax.random.key(1)
    )


@pytest.fixture(scope="module")
def pairs(network):
    return Pairs.of(network, INPUTS, OTHERS)


def test_names_are_those_of_no_measure_of_interaction():
    assert not METHODS.keys() & MEASURES.keys()


@pytest.mark.parametrize("name", list(METHODS))
def test_a_method_has_a_number_for_each_edge_or_node(name, network):
    found = METHODS[name](network, INPUTS, OTHERS)
    shape = network.graph.possible.shape
    assert found.shape == (shape[1:] if name in NODES else shape)
    assert np.isfinite(found).all()
    assert len(np.unique(found)) > 1


@pytest.mark.parametrize("name", ["edge_patching", "acdc"])
def test_patching_finds_the_whole_circuit_of_a_compiled_network(name):
    network, circuit = compiled("hist")
    scores = METHODS[name](network, *drawn("abc", 24))
    true = circuit.edges & circuit.judged
    assert scores[true].min() > scores[~circuit.edges & circuit.judged].max()


def test_an_edge_is_patched_alone(network, pairs):
    """The edge from the tokens to the output: the logits change by what is read of the other tokens."""
    change = (pairs.other - pairs.written)[:, 0] @ network.readout.T
    before, after = (jax.nn.log_softmax(logits) for logits in (pairs.clean, pairs.clean + change))
    lost = jnp.sum(jnp.exp(before) * (before - after), axis=-1)
    wanted = jnp.where(pairs.answered, lost, 0).sum() / pairs.answered.sum()
    assert np.allclose(METHODS["edge_patching"](network, INPUTS, OTHERS)[-1, 0], wanted, atol=1e-5)


def test_a_node_is_all_of_its_edges(network, pairs):
    keep = jnp.ones(pairs.shape).at[:, 2].set(0)
    assert np.allclose(divergences(pairs, [-1], [2]), pairs.divergence(keep), atol=1e-6)


def test_any_number_of_changes_is_taken(pairs):
    rows, columns = np.nonzero(pairs.network.graph.possible)
    whole = divergences(pairs, rows, columns)
    assert np.allclose(divergences(pairs, rows[5:7], columns[5:7]), whole[5:7], atol=1e-6)
    assert divergences(pairs, rows[:0], columns[:0]).shape == (0,)


def test_means_are_those_of_the_inputs_at_a_position(network):
    """A source whose other input is itself has no mean but its own."""
    words = [[1, 2, 0]] * 4
    found = METHODS["mean_ablation"](network, words, words)
    assert np.abs(found).max() < 1e-6
    assert METHODS["zero_ablation"](network, words, words).max() > 1e-3


@eqx.filter_jit
def margins(pairs, keep):
    logits = pairs.logits(keep)
    own = jnp.take_along_axis(logits, pairs.clean.argmax(-1)[..., None], axis=-1)[..., 0] - logits.mean(axis=-1)
    return jnp.where(pairs.answered, own, 0).sum(axis=1) / pairs.answered.sum(axis=1)


def test_gradients_are_those_of_the_margin(pairs):
    keep, small = jnp.full(pairs.shape, 0.7), 1e-2
    found = margin_gradients(pairs, keep)
    for edge in ((0, 0), (3, 2), (-1, 4)):
        both = [margins(pairs, keep.at[edge].add(sign * small)) for sign in (1, -1)]
        assert np.allclose(found[:, *edge], (both[0] - both[1]) / (2 * small), atol=1e-2)


def test_integrated_gradients_of_edges_sum_to_the_whole_change(network, pairs, monkeypatch):
    monkeypatch.setattr("kleene.explaining.circuits.methods._size", lambda by_input: np.asarray(by_input))
    monkeypatch.setattr("kleene.explaining.circuits.methods.STEPS", 200)
    found = METHODS["edge_integrated_gradients"](network, INPUTS, OTHERS).sum(axis=(1, 2))
    assert np.allclose(found, margins(pairs, jnp.ones(pairs.shape)) - margins(pairs, jnp.zeros(pairs.shape)), atol=0.02)


def test_attribution_at_a_linear_destination_is_exact_on_any_path(network, pairs):
    """The output is a linear function of the tokens' direct edge: its two attributions agree."""
    change = (pairs.written - pairs.other)[:, 0] @ network.readout.T
    own = jnp.take_along_axis(change, pairs.clean.argmax(-1)[..., None], axis=-1)[..., 0] - change.mean(axis=-1)
    wanted = np.abs(jnp.where(pairs.answered, own, 0).sum(axis=1) / pairs.answered.sum(axis=1)).mean()
    for name in ("eap", "eap_ig", "edge_integrated_gradients"):
        assert np.allclose(METHODS[name](network, INPUTS, OTHERS)[-1, 0], wanted, atol=1e-4)


def test_acdc_is_the_greedy_search(network, pairs):
    """Beside a plain loop, at one threshold."""
    threshold, keep, before = 1e-2, np.ones(pairs.shape), 0.0
    divergence = eqx.filter_jit(Pairs.divergence)
    for place in np.argwhere(network.graph.possible)[::-1].tolist():
        without = keep.copy()
        without[tuple(place)] = 0
        after = float(divergence(pairs, jnp.asarray(without)))
        if after - before < threshold:
            keep, before = without, after
    scores = acdc(network, INPUTS, OTHERS)
    rank = 1 + int(np.argmin(np.abs(np.array(THRESHOLDS) - threshold)))
    kept = (keep == 1) & network.graph.possible
    assert 0 < kept.sum() < network.graph.possible.sum()
    assert (scores[kept] >= rank).all()
    assert np.mean((scores >= rank) == kept) > 0.9  # it may be kept at a higher threshold again
