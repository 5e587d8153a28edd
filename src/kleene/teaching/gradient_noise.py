"""Noise on gradients that dies away, which helps deep networks to learn (Neelakantan et al. 2015)."""

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import optax
from jaxtyping import Array, Int, UInt32


class NoiseState(NamedTuple):
    """How many updates there were, and what the next noise is drawn with."""

    count: Int[Array, ""]
    key: UInt32[Array, " words"]


def gradient_noise(amount: float, decay: float = 0.55) -> optax.GradientTransformation:
    """Adds normal noise of variance amount / (1 + t)^decay to every gradient of update t.

    `optax.add_noise` draws with one seed for all. Here the key is made of the first weights, so that each of many runs
    side by side has a noise of its own, and the same one when it runs alone.
    """

    def init(params: optax.Params) -> NoiseState:
        leaves = [leaf.astype(jnp.float32) for leaf in jax.tree.leaves(params)]
        bits = [jnp.sum(jax.lax.bitcast_convert_type(leaf, jnp.uint32), dtype=jnp.uint32) for leaf in leaves]
        return NoiseState(jnp.zeros((), jnp.int32), jax.random.PRNGKey(sum(bits, start=jnp.uint32(0))))

    def update(updates: optax.Updates, state: Any, params: optax.Params | None = None) -> tuple[Any, NoiseState]:
        del params
        leaves, structure = jax.tree.flatten(updates)
        following, *keys = jax.random.split(state.key, len(leaves) + 1)
        spread = jnp.sqrt(amount / (1.0 + state.count) ** decay)
        # Flat, then in shape: of several axes the draw takes XLA seconds to compile.
        noise = [
            jax.random.normal(key, (leaf.size,), leaf.dtype).reshape(leaf.shape) for leaf, key in zip(leaves, keys)
        ]
        noisy = [leaf + spread * drawn for leaf, drawn in zip(leaves, noise)]
        return jax.tree.unflatten(structure, noisy), NoiseState(state.count + 1, following)

    return optax.GradientTransformation(init, update)
