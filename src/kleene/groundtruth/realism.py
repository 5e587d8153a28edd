"""How much networks look like an ordinarily trained one: the distributions of weights and of their components' effects.

A compiled network has mostly zeros and a few large weights, and every component does everything or nothing. A method
that finds the circuit there may rely on that; so we measure how far such networks are from trained ones.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from kleene.errors import InputError
from kleene.machines.transformer.plain import PlainTransformer
from kleene.machines.weights import arrays_of
from kleene.pictures.lines import Line, Panel
from kleene.pictures.plots import line_panels
from kleene.traces.markup import html_table

WEIGHTS = ("tokens", "positions", "query", "key", "value", "out", "mlp_in", "mlp_out", "readout")
UP = "share that is at most this"
POINTS = 200  # of a drawn curve
REACH = 4.0  # standard deviations that are drawn


@dataclass(frozen=True)
class Likeness:
    """How far a network is from the reference: of its standardised weights and of its nodes' effects.

    `weights` and `effects` are Wasserstein distances, and the other two the statistics of Kolmogorov and Smirnov: 0 is
    the same distribution. `zeros` is the share of weights that are 0.
    """

    name: str
    weights: float
    effects: float
    weights_ks: float
    effects_ks: float
    zeros: float

    def as_json(self) -> dict[str, Any]:
        return {k: v if isinstance(v, str) else round(float(v), 5) for k, v in vars(self).items()}


@dataclass(frozen=True, eq=False)
class Realism:
    """The likeness of networks with an ordinarily trained one, and the numbers to draw it.

    `effects` has for each network, for each component and pair of words, the share of the answers that change when what
    the component wrote is swapped in from the other word.
    """

    reference: str
    likenesses: tuple[Likeness, ...]
    weights: Mapping[str, np.ndarray]
    effects: Mapping[str, np.ndarray]

    def of(self, name: str) -> Likeness:
        """The likeness of one of the networks."""
        for one in self.likenesses:
            if one.name == name:
                return one
        raise InputError(f"no network {name!r} was compared; there are {', '.join(x.name for x in self.likenesses)}")

    def rows(self) -> list[tuple[str, ...]]:
        head = ("network", "weights", "effects", "weights (KS)", "effects (KS)", "zeros")
        numbers = ((x.weights, x.effects, x.weights_ks, x.effects_ks, x.zeros) for x in self.likenesses)
        return [head, *((x.name, *(f"{n:.3f}" for n in row)) for x, row in zip(self.likenesses, numbers))]

    def __str__(self) -> str:
        rows = self.rows()
        widths = [max(len(row[n]) for row in rows) for n in range(len(rows[0]))]
        return "\n".join("  ".join(cell.ljust(w) for cell, w in zip(row, widths)).rstrip() for row in rows)

    def __repr__(self) -> str:
        return f"<Realism of {len(self.likenesses)} networks beside {self.reference}>"

    def _repr_html_(self) -> str:
        return html_table(self.rows(), caption=repr(self).strip("<>"))

    def as_json(self) -> dict[str, Any]:
        return {"reference": self.reference, "networks": [one.as_json() for one in self.likenesses]}

    def draw(self, path: Any) -> Path:
        """Draw both distributions, cumulated, and return the path."""
        across = np.linspace(0, REACH, POINTS)
        moved = np.linspace(0, 1, POINTS)
        weights = {
            n: Line(across, _share(np.abs(w), across), colour=c) for c, (n, w) in enumerate(self.weights.items())
        }
        effects = {n: Line(moved, _share(e, moved), colour=c) for c, (n, e) in enumerate(self.effects.items())}
        panels = {
            "weights": Panel(weights, "|weight|, in standard deviations", UP, limits=(0, 1.02)),
            "effects": Panel(
                effects, "share of answers that a component changes", UP, limits=(0, 1.02)
            ),
        }  # fmt: skip
        return line_panels(panels, path)


def realism(
    networks: Mapping[str, PlainTransformer],
    reference: PlainTransformer,
    words: Sequence[Sequence[Any]],
    *,
    name: str = "trained",
    pairs: int = 256,
    seed: int = 0,
) -> Realism:
    """How far each network is from the reference, which is called `name`; effects are measured on pairs of words."""
    if name in networks:
        raise InputError(f"{name!r} is the reference; give the other networks other names")
    every = {name: reference, **networks}
    weights = {label: standardised(one) for label, one in every.items()}
    effects = {label: node_effects(one, words, pairs=pairs, seed=seed).reshape(-1) for label, one in every.items()}
    found = []
    for label, one in networks.items():
        weight_distance, weight_statistic = apart(weights[label], weights[name])
        effect_distance, effect_statistic = apart(effects[label], effects[name])
        zeros = float(np.mean(all_weights(one) == 0))
        found.append(Likeness(label, weight_distance, effect_distance, weight_statistic, effect_statistic, zeros))
    return Realism(name, tuple(found), weights, effects)


def apart(a: Float[np.ndarray, " a"], b: Float[np.ndarray, " b"]) -> tuple[float, float]:
    """The Wasserstein distance of two samples, and the statistic of Kolmogorov and Smirnov.

    >>> apart(np.array([0.0, 1.0]), np.array([0.0, 3.0]))
    (1.0, 0.5)
    """
    every = np.sort(np.concatenate([a, b]))
    gap = np.abs(_share(a, every) - _share(b, every))
    return float(np.sum(gap[:-1] * np.diff(every))), float(gap.max())


def _share(sample: np.ndarray, at: np.ndarray) -> np.ndarray:
    """The share of a sample that is at most each of these numbers."""
    return np.searchsorted(np.sort(sample), at, side="right") / len(sample)


def all_weights(network: PlainTransformer) -> Float[np.ndarray, " weights"]:
    """All weights of the layers and embeddings in one row; biases are left out."""
    arrays = arrays_of(network)
    return np.concatenate([np.asarray(arrays[name], np.float64).reshape(-1) for name in WEIGHTS])


def standardised(network: PlainTransformer) -> Float[np.ndarray, " weights"]:
    """All weights, each matrix with mean 0 and standard deviation 1, because matrices differ in scale."""
    arrays = arrays_of(network)
    found = []
    for name in WEIGHTS:
        whole = np.asarray(arrays[name], np.float64)
        matrices = whole.reshape(len(whole), -1) if whole.ndim > 2 else whole.reshape(1, -1)
        spread = matrices.std(axis=1, keepdims=True)
        found.append(((matrices - matrices.mean(axis=1, keepdims=True)) / np.where(spread > 0, spread, 1)).reshape(-1))
    return np.concatenate(found)


def node_effects(
    network: PlainTransformer, words: Sequence[Sequence[Any]], *, pairs: int = 256, seed: int = 0
) -> Float[np.ndarray, "pair components"]:
    """The share of a word's answers that change when what a head or an MLP wrote is swapped in from another word.

    Both words of a pair have the same length. Answers are compared and not logits, because their scale is arbitrary.
    """
    tokens, lengths = network.encode(words)
    rng = np.random.default_rng(seed)
    alike = [np.flatnonzero(lengths == length) for length in np.unique(lengths)]
    alike = [rows for rows in alike if len(rows) > 1]
    if not alike:
        raise InputError("the effects of components are measured on pairs of words of the same length; give more words")
    chosen = [rng.choice(alike[n], 2, replace=False) for n in rng.integers(len(alike), size=pairs)]
    base, other = np.array(chosen).T
    given = (jnp.asarray(tokens[base]), jnp.asarray(lengths[base]), jnp.asarray(tokens[other]))
    return np.asarray(_effects(network, *given), np.float64)


@eqx.filter_jit
def _effects(network: PlainTransformer, tokens: Array, lengths: Array, others: Array) -> Array:
    sources = len(network.graph.sources)

    def one(word: Array, length: Array, other: Array) -> Array:
        theirs, inside = network.written(other, length), jnp.arange(len(word)) < length
        own = jnp.argmax(network(word, length), axis=-1)

        def swapped(source: Array) -> Array:
            keep = jnp.ones(network.graph.possible.shape, network.tokens.dtype).at[:, source].set(0)
            return jnp.mean(jnp.argmax(network(word, length, keep, theirs), axis=-1) != own, where=inside)

        return jax.lax.map(swapped, jnp.arange(2, sources))

    return jax.vmap(one)(tokens, lengths, others)
