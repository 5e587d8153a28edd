"""Equation 8: the loss of a task, and hints on any part of the trace.

A subtrace is a dict from a channel's name to `Hints`: what the trace should say, and how much each entry weighs. A
weight of 0 means that nothing is hinted there, so that subtraces of any shape batch, vmap and stack.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import equinox as eqx
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int

from kleene.errors import InputError


class Hints(eqx.Module):
    """What one channel of the trace should be. The axes are those of the channel: the step first, then its sites."""

    targets: Int[Array, "*sites"]
    weights: Float[Array, "*sites"]

    @staticmethod
    def at(entries: Mapping[Any, Any], *, shape: Sequence[int], classes: int) -> "Hints":
        """Hints written down one by one: what the channel should say at a step, or at a step and its sites.

        An entry's value is the target, or the target and its weight μ. `shape` is that of the channel, the number of
        steps first, and `classes` how many targets there are.

        >>> Hints.at({0: 3, 2: (1, 0.5)}, shape=[4], classes=5).weights.tolist()
        [1.0, 0.0, 0.5, 0.0]
        """
        targets, weights = np.zeros(shape, np.int32), np.zeros(shape, np.float32)
        for place, said in entries.items():
            place = place if isinstance(place, tuple) else (place,)
            target, weight = said if isinstance(said, tuple) else (said, 1.0)
            _check_hint(place, target, weight, tuple(shape), classes)
            targets[place], weights[place] = target, weight
        return Hints(jnp.asarray(targets), jnp.asarray(weights))


def _check_hint(place: tuple, target: int, weight: float, shape: tuple[int, ...], classes: int) -> None:
    if len(place) != len(shape) or not all(0 <= at < size for at, size in zip(place, shape)):
        sizes = ", ".join(f"0..{size - 1}" for size in shape)
        raise InputError(
            f"a hint is for {', '.join(map(str, place))}, which is outside the run: "
            f"the {'step is' if len(shape) == 1 else 'step and its sites are'} within {sizes}"
        )
    if not 0 <= target < classes:
        raise InputError(f"the hint for step {place[0]} says {target}, and the channel has 0..{classes - 1}")
    if not (np.isfinite(weight) and weight >= 0):
        raise InputError(f"the hint for step {place[0]} has weight {weight}; it is a number, 0 or more")


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
