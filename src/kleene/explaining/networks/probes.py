"""Linear probes: what can be read off residual streams by logistic regression, fitted on half of the words.

A probe is for one variable, one layer of the network and one step of the program. All steps are fitted at once, and
one layer after the other, in one jitted program.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import optax
from jaxtyping import Array, Bool, Float, Int

ROUNDS, RATE, DECAY = 60, 0.3, 1e-3  # of Adam, and of the weights of a probe
LARGEST = 1e6  # a number of a stream
LEAST = 1e-6  # of the largest variance of a stream, below which a direction is not whitened


class Points(NamedTuple):
    """Residual streams at some positions of some words, after each of some layers, and a 1 for the bias.

    `runs` says whether the word of a point has that many layers, and `chooses` whether layers are chosen by the word.
    """

    streams: Float[np.ndarray, "layers point width"]
    runs: Bool[np.ndarray, "layers point"]
    chooses: Bool[np.ndarray, " point"]


@dataclass(frozen=True, eq=False)
class ProbeScores:
    """The share of right probes for each layer and step; NaN where there are no entries.

    `tested` is that of all tested entries. They are of two parts: a layer is chosen by `chosen`, the share in the one,
    and `confirmed` is the share in the other. `majority` is that of saying the most frequent value of the fitted
    entries, and `points` the number of all tested entries.
    """

    tested: Float[np.ndarray, "layers step"]
    chosen: Float[np.ndarray, "layers step"]
    confirmed: Float[np.ndarray, "layers step"]
    majority: Float[np.ndarray, "layers step"]
    points: Int[np.ndarray, "layers step"]


def whitened(fit: Points, test: Points) -> tuple[Points, Points]:
    """Both with mean 0, with the identity as the covariance of the first, and with a 1 for the bias."""
    fit, test = (points._replace(streams=_bounded(points.streams)) for points in (fit, test))
    streams = fit.streams.astype(np.float64)
    mean = streams.mean(axis=1, keepdims=True)
    centred = streams - mean
    variance, axes = np.linalg.eigh(centred.transpose(0, 2, 1) @ centred / streams.shape[1])
    floor = np.maximum(LEAST * variance[:, -1:], np.finfo(np.float32).tiny)
    turn = axes * np.where(variance > floor, 1 / np.sqrt(np.maximum(variance, floor)), 0)[:, None]
    found = []
    for points in (fit, test):
        turned = (points.streams - mean) @ turn
        with_bias = np.concatenate([turned, np.ones_like(turned[..., :1])], axis=-1)
        found.append(points._replace(streams=with_bias.astype(np.float32)))
    return found[0], found[1]


def _bounded(streams: np.ndarray) -> np.ndarray:
    """The streams of random weights may grow beyond all bounds; such numbers are cut."""
    return np.clip(np.nan_to_num(streams), -LARGEST, LARGEST)


def scores_of(
    fit: Points,
    test: Points,
    wanted: Int[np.ndarray, "point step"],
    asked: Int[np.ndarray, "test_point step"],
    values: int,
) -> ProbeScores:
    """Fit a probe for each layer and step on whitened points with their targets, and test it on others.

    A target is -1 where the program does not state it, or where the word has not that many steps.

    >>> x = np.linspace(-1, 1, 64, dtype=np.float32)[None, :, None]
    >>> points, _ = whitened(*2 * [Points(x, np.ones((1, 64), bool), x[0, :, 0] < 0)])
    >>> targets = (x[0] > 0.2).astype(np.int32)
    >>> float(scores_of(points, points, targets, targets, 2).tested[0, 0]) > 0.95
    True
    """
    right, fitted, majority, points = _scores(fit.streams, test.streams, wanted, asked, fit.runs, test.runs, values)
    right, points, chooses = np.asarray(right), np.asarray(points), np.asarray(test.chooses)
    usable = np.asarray(fitted) > 0

    def share(array: np.ndarray, where: np.ndarray) -> np.ndarray:
        """Of the tested points, for each layer and step."""
        of = points[..., where].sum(axis=-1)
        return np.where((of > 0) & usable, array[..., where].sum(axis=-1) / np.maximum(1, of), np.nan)

    everywhere = np.ones_like(chooses)
    tested, chosen, confirmed = (share(right, where) for where in (everywhere, chooses, ~chooses))
    return ProbeScores(tested, chosen, confirmed, share(np.asarray(majority), everywhere), points.sum(axis=-1))


@eqx.filter_jit
def _scores(
    fit: Any, test: Any, wanted: Any, asked: Any, fit_runs: Any, test_runs: Any, values: int
) -> tuple[Array, ...]:
    """For each layer and step: which tests are right, how many entries were fitted, which are the majority, and are.

    Points are the last axis, because that is the long one.
    """
    wanted, asked = wanted.T, asked.T

    def one_layer(layer: tuple[Array, ...]) -> tuple[Array, ...]:
        here, there, runs, runs_there = layer
        stated, stated_there = (wanted >= 0) & runs, (asked >= 0) & runs_there
        weights = _fitted(here, wanted, stated, values)
        right = (jnp.argmax(jnp.einsum("tkd,nd->tkn", weights, there), axis=1) == asked) & stated_there
        counts = jnp.sum(jax.nn.one_hot(wanted, values, axis=1) * stated[:, None], axis=-1)
        majority = (jnp.argmax(counts, axis=-1)[:, None] == asked) & stated_there
        return right, jnp.sum(stated, axis=-1), majority, stated_there

    return jax.lax.map(one_layer, (fit, test, fit_runs, test_runs))


def _fitted(
    streams: Float[Array, "point width"], targets: Int[Array, "step point"], stated: Array, values: int
) -> Float[Array, "step values width"]:
    """The weights of a logistic regression for each step."""
    share = (stated / jnp.maximum(1, jnp.sum(stated, axis=-1, keepdims=True)))[:, None]
    classes = jax.nn.one_hot(targets, values, axis=1)
    optimiser = optax.adam(optax.cosine_decay_schedule(RATE, ROUNDS))

    def gradient(weights: Array) -> Array:
        logits = jnp.einsum("tkd,nd->tkn", weights, streams)
        error = (jax.nn.softmax(logits, axis=1) - classes) * share
        return jnp.einsum("tkn,nd->tkd", error, streams) + DECAY * weights

    def step(_: Any, state: tuple[Array, Any]) -> tuple[Array, Any]:
        weights, memory = state
        change, memory = optimiser.update(gradient(weights), memory)
        return optax.apply_updates(weights, change), memory  # pyright: ignore[reportReturnType]

    start = jnp.zeros((len(targets), values, streams.shape[1]))
    return jax.lax.fori_loop(0, ROUNDS, step, (start, optimiser.init(start)))[0]


def spaced(count: int, most: int, first: int = 0) -> list[int]:
    """At most so many of the numbers from `first` to `count`, evenly spaced, with the first and the last.

    >>> spaced(20, 5), spaced(3, 5, 1)
    ([0, 5, 10, 15, 20], [1, 2, 3])
    """
    numbers = range(first, count + 1)
    return sorted({numbers[round(i)] for i in np.linspace(0, len(numbers) - 1, min(most, len(numbers))).tolist()})


def halves(count: int, seed: int = 0) -> tuple[Sequence[int], Sequence[int]]:
    """Two random halves of so many rows."""
    order = np.random.default_rng(seed).permutation(count)
    return order[: count // 2].tolist(), order[count // 2 :].tolist()
