"""Hints: entries of a program's trace that a machine is shown while it learns, and equation 8, the loss with them.

Equation numbers are those of "Training Neural Machines with Partial Traces". A *subtrace* is a dict from a channel's
name to `Hints`: the target and the weight of each entry. A weight of 0 is no hint, so that subtraces of any shape
batch, vmap and stack. A *policy* is a function from a program's trace to such weights. Only `reveal` applies policies
and their density.
"""

import functools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Int, PRNGKeyArray

from kleene.errors import InputError


class Hints(eqx.Module):
    """The targets and weights of one channel. The axes are those of the channel: the step first, then its sites."""

    targets: Int[Array, "*sites"]
    weights: Float[Array, "*sites"]

    @staticmethod
    def at(entries: Mapping[Any, Any], *, shape: Sequence[int], classes: int) -> "Hints":
        """Hints written down one by one: the target at a step, or at a step and its sites.

        An entry's value is the target, or the target and its weight μ. `shape` is that of the channel, the number of
        steps first, and `classes` the number of possible targets.

        >>> Hints.at({0: 3, 2: (1, 0.5)}, shape=[4], classes=5).weights.tolist()
        [1.0, 0.0, 0.5, 0.0]
        """
        targets, weights = np.zeros(shape, np.int32), np.zeros(shape, np.float32)
        for place, entry in entries.items():
            place = place if isinstance(place, tuple) else (place,)
            target, weight = entry if isinstance(entry, tuple) else (entry, 1.0)
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


def hint_loss(
    log_probabilities: Mapping[str, Array], subtrace: Subtrace, shares: Mapping[str, Any] | None = None
) -> Float[Array, ""]:
    """The weighted mean over all hints of −log p(target); 0 where there are none.

    `log_probabilities` has for each channel of the subtrace an array (…sites, classes). Where several sites are one
    hint, as the two arguments of a module are in equation 11, `shares` says how much of a hint each site is.

    >>> found = {"head": jnp.log(jnp.array([[0.5, 0.5], [0.25, 0.75]]))}
    >>> hints = {"head": Hints(jnp.array([0, 1]), jnp.array([1.0, 0.0]))}
    >>> bool(jnp.allclose(hint_loss(found, hints), jnp.log(2.0)))
    True
    """
    total = weight = jnp.zeros(())
    for name, hints in subtrace.items():
        _check_channel(log_probabilities, name, hints)
        found = jnp.take_along_axis(log_probabilities[name], hints.targets[..., None], axis=-1)[..., 0]
        # Without a hint the loss may be infinite, and 0 · ∞ is NaN.
        total += jnp.sum(jnp.where(hints.weights > 0, -hints.weights * found, 0.0))
        weight += jnp.sum(hints.weights * (shares or {}).get(name, 1.0))
    return jnp.where(weight > 0, total / jnp.where(weight > 0, weight, 1.0), 0.0)


def _check_channel(channels: Mapping[str, Any], name: str, hints: Hints) -> None:
    if name not in channels:
        raise InputError(f"hints are on {name!r}, which the machine does not record")
    found, wanted = channels[name], hints.targets.shape
    if not is_float_array(found) or found.shape[:-1] != wanted:
        shown = f"an array of shape {found.shape}" if eqx.is_array(found) else f"a {type(found).__name__}"
        raise InputError(
            f"hints are on {name!r}, which the machine records as {shown}; with targets of shape {wanted} it must be a "
            f"floating array of that shape and one more axis, the classes. To put hints on a part of a memory or "
            f"state, make that part an entry of a command that is a dict"
        )


def is_float_array(entry: Any) -> bool:
    return eqx.is_array(entry) and jnp.issubdtype(entry.dtype, jnp.floating)


def with_hints(
    task_loss: Float[Array, ""], strength: Float[Array, ""] | float, log_probabilities: Mapping, subtrace: Subtrace
) -> Float[Array, ""]:
    """L = L_e + λ Σ μ L_α / Σ μ, of one example."""
    return task_loss + strength * hint_loss(log_probabilities, subtrace)


class ProgramTrace(eqx.Module):
    """The trace of a program on an example: the entries of each channel, and which of them the program states.

    The step is the first axis of every array. Arrays may be longer than the run, which takes `steps` steps. `marks` are
    named sets of steps, such as those at which a head turns.
    """

    targets: dict[str, Int[Array, "..."]]
    stated: dict[str, Bool[Array, "..."]]
    steps: Int[Array, "..."]
    marks: dict[str, Bool[Array, "..."]] = eqx.field(default_factory=dict)

    @classmethod
    def of(cls, channels: Mapping[str, Array]) -> "ProgramTrace":
        """The trace of one example from plain arrays. Entries below 0 are not stated; the last stated one ends the run.

        >>> ProgramTrace.of({"action": jnp.array([2, -1, 0, -1])}).steps.item()
        3
        """
        stated = {name: jnp.asarray(entries) >= 0 for name, entries in channels.items()}
        targets = {name: jnp.maximum(jnp.asarray(entries), 0) for name, entries in channels.items()}
        ends = [jnp.max(jnp.where(_by_step(mask), 1 + jnp.arange(len(mask)), 0)) for mask in stated.values()]
        return cls(targets, stated, jnp.max(jnp.stack(ends)))


def _by_step(mask: Array) -> Array:
    return jnp.any(mask.reshape(len(mask), -1), axis=1)


Weights = Mapping[str, Any]  # weights by channel, over its steps or all sites; or `Hints` with other targets


@dataclass(frozen=True)
class Policy:
    """Which entries of a program's trace are revealed, and with what weight: a function from the trace to weights.

    The function returns weights (numbers or booleans) for the channels that it reveals, shaped as the channel or as its
    steps. Entries that the program does not state always have weight 0. A function that returns `Hints` for a channel
    replaces the targets too. A policy with `chances` gets that many random numbers from [0, 1) as its second argument.
    The density is the share of examples with hints, or of all entries where a policy is `scattered`.
    """

    weights: Callable[..., Weights]
    chances: int = 0
    scattered: bool = False

    def __call__(self, trace: ProgramTrace, chances: Float[Array, " chances"]) -> dict[str, Hints]:
        """The hints of one example, at full density."""
        chosen = self.weights(trace, chances) if self.chances else self.weights(trace)
        unknown = [name for name in chosen if name not in trace.targets]
        if unknown:
            raise InputError(f"hints are on {unknown[0]!r}, and the trace has the channels {', '.join(trace.targets)}")
        return {name: _stated_hints(trace, name, entry) for name, entry in chosen.items()}


def _stated_hints(trace: ProgramTrace, name: str, entry: Any) -> Hints:
    targets, stated = trace.targets[name], trace.stated[name]
    if isinstance(entry, Hints):
        targets, entry = entry.targets, entry.weights
    weights = jnp.asarray(entry, jnp.float32)
    weights = weights.reshape(weights.shape + (1,) * (stated.ndim - weights.ndim if weights.ndim else 0))
    return Hints(targets, jnp.where(stated, weights, 0.0))


def nothing(trace: ProgramTrace) -> Weights:
    """The policy that reveals nothing."""
    return {}


def everything(trace: ProgramTrace) -> Weights:
    """The policy that reveals everything that the program states."""
    return dict.fromkeys(trace.targets, 1.0)


def corners(trace: ProgramTrace) -> Weights:
    """The policy that reveals the first and the last step of the run."""
    length = max(len(entries) for entries in trace.targets.values())
    at = jnp.arange(length)
    return dict.fromkeys(trace.targets, (at == 0) | (at == trace.steps - 1))


def channels(*names: str) -> Callable[[ProgramTrace], Weights]:
    """The policy that reveals these channels."""
    return lambda trace: dict.fromkeys(names, 1.0)


class Draws(NamedTuple):
    """The random numbers from [0, 1) that decide the hints of a batch."""

    example: Float[Array, " batch"]  # compared with the density, for each example
    policy: Float[Array, "batch chances"]  # the policies' own
    entry: Mapping[str, Array]  # compared with the density for each entry, where a policy is scattered


def draw_chances(key: PRNGKeyArray, trace: ProgramTrace, chances: int) -> Draws:
    """One number for the density and `chances` for the policies of each example, and one for each entry."""
    count = len(trace.steps)
    # Each column has a key of its own, so that a policy's numbers do not depend on the other policies of the lesson.
    own = [jax.random.uniform(jax.random.fold_in(key, 2 + n), (count,)) for n in range(chances)]
    keys = jax.random.split(jax.random.fold_in(key, 1), len(trace.targets))
    entry = {name: jax.random.uniform(one, trace.targets[name].shape) for one, name in zip(keys, trace.targets)}
    policy = jnp.stack(own, axis=1) if own else jnp.zeros((count, 0))
    return Draws(jax.random.uniform(key, (count,)), policy, entry)


def reveal(
    policies: Sequence[Policy],
    trace: ProgramTrace,
    draws: Draws,
    *,
    kind: Int[Array, ""],
    density: Float[Array, ""],
    axis: int = 0,
) -> dict[str, Hints]:
    """The hints of a batch by `policies[kind]`, where `kind` may be traced; the density is the share that gets hints.

    `axis` is the batch axis of the trace. The result has only the channels that some policy reveals.
    """

    def one(trace: ProgramTrace, draws: Draws) -> dict[str, Hints]:
        found: dict[str, Hints] = {}
        for number, policy in enumerate(policies):
            for name, hints in policy(trace, draws.policy).items():
                given = (draws.entry[name] if policy.scattered else draws.example) < density
                before = found.get(name) or Hints(trace.targets[name], jnp.zeros(hints.weights.shape))
                now = Hints(hints.targets, jnp.where(given, hints.weights, 0.0))
                found[name] = jax.tree.map(functools.partial(jnp.where, kind == number), now, before)
        return found

    return jax.vmap(one, in_axes=(axis, Draws(0, 0, axis)), out_axes=axis)(trace, draws)  # type: ignore[arg-type]
