"""Optimisers by name for networks whose layers are stacked, each layer its own block, and AdaMax for Neural GPUs."""

from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import optax
from jaxtyping import Array, Int, PyTree

from kleene.errors import InputError
from kleene.machines.transformer.stack import LayerStack

RATES = {"adafactor": 0.01, "adam": 1e-3}  # by default
WARM_UP = 200  # updates until the learning rate is reached; it stays there


def optimiser_of(name: str, rate: float | None = None, *, clip: float = 1.0) -> optax.GradientTransformation:
    """The optimiser of that name: Adafactor (Shazeer & Stern 2018), or Adam with gradients clipped to a norm."""
    if name not in RATES:
        raise InputError(f"the optimiser is {name!r}; there are {', '.join(RATES)}")
    schedule = optax.linear_schedule(0.0, RATES[name] if rate is None else rate, WARM_UP)
    if name == "adafactor":
        return by_layer(optax.adafactor(schedule))
    return optax.chain(optax.clip_by_global_norm(clip), optax.adam(schedule))


def by_layer(optimiser: optax.GradientTransformation) -> optax.GradientTransformation:
    """The optimiser, applied to each layer of a stack on its own.

    Adafactor scales and clips the updates of a block of weights by the root mean square of the whole block.
    """

    def init(params: PyTree) -> Any:
        stacked, rest = _parts(params)
        return jax.vmap(optimiser.init)(stacked), optimiser.init(rest)

    def update(updates: PyTree, state: Any, params: PyTree | None = None) -> tuple[PyTree, Any]:
        found = [
            change(of_part, of_state, part)
            for change, of_part, of_state, part in zip(
                (jax.vmap(optimiser.update), optimiser.update), _parts(updates), state, _parts(params)
            )
        ]
        (stacked, first), (rest, second) = found
        return eqx.combine(stacked, rest), (first, second)

    return optax.GradientTransformation(init, update)


def _parts(weights: PyTree) -> tuple[PyTree, PyTree]:
    """The weights of stacks, and all others."""

    def is_stack(part: Any) -> bool:
        return isinstance(part, LayerStack)

    def marked(part: Any) -> Any:
        return jax.tree.map(lambda _: True, part) if is_stack(part) else False

    return eqx.partition(weights, jax.tree.map(marked, weights, is_leaf=is_stack))


class AdamaxState(NamedTuple):
    """The number of updates so far, the mean gradient, and the largest, which fades."""

    count: Int[Array, ""]
    mean: PyTree
    largest: PyTree


def clipped_adamax(rate: float, *, clip: float = 1.2, least: float = 1e-4) -> optax.GradientTransformation:
    """AdaMax as Freivalds and Liepins have it: each entry of a gradient is clipped to `clip` times its largest so far.

    Gradients up to `least` are not clipped. The largest fades by 1% an update at first, and by 0.05% after 8,600; the
    mean has the usual 0.9. Nothing corrects the bias of the first updates.
    """

    def init(params: optax.Params) -> AdamaxState:
        nothing = jax.tree.map(jnp.zeros_like, params)
        return AdamaxState(jnp.zeros((), jnp.int32), nothing, nothing)

    def update(updates: optax.Updates, state: Any, params: optax.Params | None = None) -> tuple[Any, AdamaxState]:
        del params
        kept = 1 - jnp.maximum(0.0005, 0.01 * 0.5 ** (state.count / 2000))

        def clipped(gradient: Array, largest: Array) -> Array:
            return jnp.clip(gradient, -clip * largest - least, clip * largest + least)

        bounded = jax.tree.map(clipped, updates, state.largest)
        mean = jax.tree.map(lambda mean, gradient: 0.9 * mean + 0.1 * gradient, state.mean, bounded)
        largest = jax.tree.map(lambda old, new: jnp.maximum(kept * old, jnp.abs(new)), state.largest, bounded)
        changes = jax.tree.map(lambda mean, largest: -rate * mean / (largest + 1e-8), mean, largest)
        return changes, AdamaxState(state.count + 1, mean, largest)

    return optax.GradientTransformation(init, update)
