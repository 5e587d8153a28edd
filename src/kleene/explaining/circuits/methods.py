"""Methods that look for the circuit of a Transformer, behind one protocol.

A method is a function of a network, a list of inputs, and a list of other inputs, one for each and no shorter. It
returns scores [destinations, sources], and the larger a score, the more the edge is said to be in the circuit; edges
that are not possible are not looked at. A method for nodes returns scores [sources]. A method of your own is such a
function in a file.
"""

from collections.abc import Callable, Sequence
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int

from kleene.explaining.circuits.patching import Pairs, divergences, filled, margin_gradients
from kleene.machines.transformer.plain import PlainTransformer

STEPS = 16  # points of a path along which gradients are integrated
THRESHOLDS = tuple(10.0 ** (power / 2) for power in range(-12, 1, 2))  # of ACDC, in nats
RIDGE = 1e-3  # of linear probes, as a share of the mean square of what was written

Words = Sequence[Any]
CircuitMethod = Callable[[Any, Words, Words], Any]


def edge_patching(network: PlainTransformer, inputs: Words, others: Words) -> np.ndarray:
    """How far the output moves if one edge carries what it carries on the other input: activation patching, by edge."""
    pairs, places = Pairs.of(network, inputs, others), np.nonzero(network.graph.possible)
    return filled(pairs, divergences(pairs, *places), places)


def node_patching(network: PlainTransformer, inputs: Words, others: Words) -> np.ndarray:
    """How far the output moves if a source writes what it writes on the other input: activation patching, by node."""
    return _by_node(Pairs.of(network, inputs, others))


def zero_ablation(network: PlainTransformer, inputs: Words, others: Words) -> np.ndarray:
    """How far the output moves if a source, an embedding, a head or an MLP, writes nothing."""
    return _by_node(Pairs.of(network, inputs, others).with_other(jnp.zeros(())))


def mean_ablation(network: PlainTransformer, inputs: Words, others: Words) -> np.ndarray:
    """How far the output moves if a source writes, at each position, the mean of what it writes on all inputs there."""
    pairs = Pairs.of(network, inputs, others)
    inside = (jnp.arange(pairs.tokens.shape[1]) < pairs.lengths[:, None])[:, None, :, None]
    count = jnp.sum(inside, axis=0) + len(pairs.tokens)
    return _by_node(pairs.with_other((jnp.sum(jnp.where(inside, pairs.written, 0) + pairs.other, axis=0)) / count))


def _by_node(pairs: Pairs) -> np.ndarray:
    columns = np.arange(pairs.shape[1])
    return divergences(pairs, np.full_like(columns, -1), columns)


def eap(network: PlainTransformer, inputs: Words, others: Words) -> np.ndarray:
    """Edge attribution patching (Syed et al. 2023): the derivative of the margin by an edge, times its change.

    Absolute values are taken for each input, so that inputs do not cancel each other.
    """
    pairs = Pairs.of(network, inputs, others)
    return _size(margin_gradients(pairs, jnp.ones(pairs.shape)))


def eap_ig(network: PlainTransformer, inputs: Words, others: Words) -> np.ndarray:
    """Edge attribution patching with integrated gradients (Hanna et al. 2024).

    Derivatives are those of runs between the two inputs, whose token embeddings are mixed.
    """
    pairs = Pairs.of(network, inputs, others)
    is_token = jnp.arange(pairs.shape[1]) == 0
    both = [pairs.with_other(jnp.where(is_token[:, None, None], pairs.other, o)) for o in (pairs.other, pairs.written)]
    total = 0.0
    for share in _shares():
        keep = jnp.broadcast_to(jnp.where(is_token, share, 1.0), pairs.shape)
        # What a source writes in such a run is in both, so the difference has what it writes on the two inputs.
        to_other, to_own = (margin_gradients(one, keep) for one in both)
        total = total + to_other - jnp.where(is_token, 0, to_own)
    return _size(total / STEPS)


def edge_integrated_gradients(network: PlainTransformer, inputs: Words, others: Words) -> np.ndarray:
    """Integrated gradients of the margin by all edges, as they change together from the other input to this one.

    The numbers of an input sum to the whole difference of the margin.
    """
    pairs = Pairs.of(network, inputs, others)
    return _size(sum(margin_gradients(pairs, jnp.full(pairs.shape, share)) for share in _shares()) / STEPS)


def gradient_output(network: PlainTransformer, inputs: Words, others: Words) -> np.ndarray:
    """Gradient × input at the output of each source: the derivative of the margin by the scale of what it writes."""
    pairs = Pairs.of(network, inputs, others).with_other(jnp.zeros(()))
    return _size(margin_gradients(pairs, jnp.ones(pairs.shape)).sum(axis=1))


def integrated_gradients(network: PlainTransformer, inputs: Words, others: Words) -> np.ndarray:
    """Integrated gradients of the margin at the output of each source, as all are scaled up from zero together."""
    pairs = Pairs.of(network, inputs, others).with_other(jnp.zeros(()))
    total = sum(margin_gradients(pairs, jnp.full(pairs.shape, share)) for share in _shares())
    return _size(jnp.sum(jnp.asarray(total), axis=1) / STEPS)


def _shares() -> np.ndarray:
    return (np.arange(STEPS) + 0.5) / STEPS


def _size(by_input: Any) -> np.ndarray:
    return np.abs(np.asarray(by_input)).mean(axis=0)


def acdc(network: PlainTransformer, inputs: Words, others: Words) -> np.ndarray:
    """ACDC (Conmy et al. 2023): the highest threshold that keeps an edge, by its number from 1; 0 where none does.

    From the output backwards each edge is given what it carries on the other input, and stays so if the divergence of
    the output grows by less than the threshold.
    """
    pairs = Pairs.of(network, inputs, others)
    places = np.argwhere(network.graph.possible)[::-1]
    kept = np.asarray(_pruned(pairs, jnp.asarray(THRESHOLDS), jnp.asarray(places)))
    ranks = np.arange(1, len(THRESHOLDS) + 1)[:, None, None]
    return np.where(network.graph.possible, (kept * ranks).max(axis=0), 0)


@eqx.filter_jit
def _pruned(
    pairs: Pairs, thresholds: Float[Array, " threshold"], places: Int[Array, "edge 2"]
) -> Float[Array, "threshold destinations sources"]:
    """The edges that are kept at each threshold: 1, and 0 for the others."""

    def step(carry: tuple[Array, Array], place: Array) -> tuple[tuple[Array, Array], None]:
        keep, before = carry
        without = keep.at[:, place[0], place[1]].set(0)
        after = jax.vmap(pairs.divergence)(without)
        is_cut = after - before < thresholds
        return (jnp.where(is_cut[:, None, None], without, keep), jnp.where(is_cut, after, before)), None

    start = (jnp.ones((len(thresholds), *pairs.shape)), jnp.zeros(len(thresholds)))
    (keep, _), _ = jax.lax.scan(step, start, places)
    return keep


def linear_probe(network: PlainTransformer, inputs: Words, others: Words) -> np.ndarray:
    """The share of the network's answers that a linear probe reads off what a source writes at the same position.

    The probes are fitted by least squares on every other input, and tested on the rest.
    """
    return np.asarray(_probed(Pairs.of(network, inputs, others)))


@eqx.filter_jit
def _probed(pairs: Pairs) -> Float[Array, " sources"]:
    answers = jax.nn.one_hot(jnp.argmax(pairs.clean, axis=-1), pairs.clean.shape[-1]) * pairs.answered[..., None]
    fits = (jnp.arange(len(pairs.tokens)) % 2 == 0)[:, None]

    def probe(written: Array) -> Array:
        read = jnp.concatenate([written, jnp.ones_like(written[..., :1])], axis=-1)
        used = read * (fits & pairs.answered)[..., None]
        square = jnp.einsum("bpi,bpj->ij", used, used)
        ridge = RIDGE * jnp.maximum(jnp.trace(square) / len(square), 1e-6) * jnp.eye(len(square))
        weights = jnp.linalg.solve(square + ridge, jnp.einsum("bpi,bpv->iv", used, answers))
        right = jnp.argmax(read @ weights, axis=-1) == jnp.argmax(pairs.clean, axis=-1)
        tested = ~fits & pairs.answered
        return jnp.sum(right & tested) / jnp.maximum(jnp.sum(tested), 1)

    return jax.lax.map(probe, jnp.moveaxis(pairs.written, 1, 0))


def written_norm(network: PlainTransformer, inputs: Words, others: Words) -> np.ndarray:
    """The mean length of what a source writes: a control that does not look at what is read."""
    pairs = Pairs.of(network, inputs, others)
    inside = (jnp.arange(pairs.tokens.shape[1]) < pairs.lengths[:, None])[:, None]
    lengths = jnp.where(inside, jnp.linalg.norm(pairs.written, axis=-1), 0)
    return np.asarray(lengths.sum(axis=(0, 2)) / inside.sum())


def random_edges(network: PlainTransformer, inputs: Words, others: Words) -> np.ndarray:
    """Random numbers, the control: they know nothing."""
    return np.random.default_rng(len(inputs)).random(network.graph.possible.shape)


METHODS: dict[str, CircuitMethod] = {
    "edge_patching": edge_patching,
    "node_patching": node_patching,
    "zero_ablation": zero_ablation,
    "mean_ablation": mean_ablation,
    "eap": eap,
    "eap_ig": eap_ig,
    "edge_integrated_gradients": edge_integrated_gradients,
    "acdc": acdc,
    "gradient_output": gradient_output,
    "integrated_gradients": integrated_gradients,
    "linear_probe": linear_probe,
    "written_norm": written_norm,
    "random_edges": random_edges,
}
