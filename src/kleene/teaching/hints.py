"""Equation 8: the loss of a task, and hints on any part of the trace.

A subtrace is a dict from a channel's name to `Hints`: what the trace should say, and how much each entry weighs. A
weight of 0 means that nothing is hinted there, so that subtraces of any shape batch, vmap and stack.
"""

from collections.abc import Mapping

import equinox as eqx
import jax.numpy as jnp
from jaxtyping import Array, Float, Int


class Hints(eqx.Module):
    """What one channel of the trace should be. The axes are those of the channel: the step first, then its sites."""

    targets: Int[Array, "*sites"]
    weights: Float[Array, "*sites"]


Subtrace = Mapping[str, Hints]


def hint_loss(log_probabilities: Mapping[str, Array], subtrace: Subtrace) -> Float[Array, ""]:
    """The weighted mean over all hints of −log p(target): 0 where there are none.

    `log_probabilities` has for each channel of the subtrace an array (…sites, classes).

    >>> said = {"head": jnp.log(jnp.array([[0.5, 0.5], [0.25, 0.75]]))}
    >>> told = {"head": Hints(jnp.array([0, 1]), jnp.array([1.0, 0.0]))}
    >>> bool(jnp.allclose(hint_loss(said, told), jnp.log(2.0)))
    True
    """
    total = weight = jnp.zeros(())
    for name, hints in subtrace.items():
        said = jnp.take_along_axis(log_probabilities[name], hints.targets[..., None], axis=-1)[..., 0]
        # Where nothing is hinted the loss may be infinite, and 0 · ∞ is not 0.
        total += jnp.sum(jnp.where(hints.weights > 0, -hints.weights * said, 0.0))
        weight += jnp.sum(hints.weights)
    return jnp.where(weight > 0, total / jnp.where(weight > 0, weight, 1.0), 0.0)


def with_hints(
    task_loss: Float[Array, ""], strength: Float[Array, ""] | float, log_probabilities: Mapping, subtrace: Subtrace
) -> Float[Array, ""]:
    """L = L_e + λ Σ μ L_α / Σ μ, of one example."""
    return task_loss + strength * hint_loss(log_probabilities, subtrace)
