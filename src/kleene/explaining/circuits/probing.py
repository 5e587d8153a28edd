"""Linear probes: how well a network's answer can be read off what one of its components writes."""

from collections.abc import Sequence
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from kleene.explaining.circuits.patching import Pairs
from kleene.machines.transformer.plain import PlainTransformer

RIDGE = 1e-3  # of the mean square of what was written


def linear_probe(network: PlainTransformer, inputs: Sequence[Any], others: Sequence[Any]) -> np.ndarray:
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
