"""Automatic circuit discovery (ACDC, Conmy et al. 2023), at all thresholds of a grid at once."""

from collections.abc import Sequence
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int

from kleene.explaining.circuits.patching import Pairs
from kleene.machines.transformer.plain import PlainTransformer

THRESHOLDS = tuple(10.0 ** (power / 2) for power in range(-12, 1, 2))  # nats


def acdc(network: PlainTransformer, inputs: Sequence[Any], others: Sequence[Any]) -> np.ndarray:
    """The highest of the thresholds at which ACDC keeps an edge, as its number from 1; 0 where none keeps it.

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
