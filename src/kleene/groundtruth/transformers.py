"""Plain Transformers that compute the same in a basis that does not show it."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from kleene.compiling.alta.stream import ATTENTION_SCALAR
from kleene.errors import InputError
from kleene.groundtruth.bases import BasisMap
from kleene.groundtruth.compression import compressed
from kleene.groundtruth.decoys import WithDecoys, with_decoys
from kleene.groundtruth.hidden import Hidden
from kleene.groundtruth.rotations import (
    Weights,
    in_basis,
    random_rotation,
    with_mixed_heads,
    with_noise,
    with_resized_units,
)
from kleene.machines.transformer.plain import PlainTransformer
from kleene.machines.weights import arrays_of

SAMPLES = 200  # random inputs, if none are given
MOST_DECOYS = 64  # heads in each layer
EXACT_SCORES = 25.0  # exp(-25) is 1e-11, less than the rounding of a sum


def hide_transformer(
    network: PlainTransformer,
    *,
    seed: int = 0,
    rotate: bool = True,
    rescale: bool = True,
    noise: float = 0.0,
    width: int | None = None,
    steps: int = 300,
    decoys: int = 0,
    scores: float = 30.0,
    words: Sequence[Any] | None = None,
) -> Hidden:
    """The same network in another basis: heads and units are shuffled, and nothing is zero any more.

    With `rotate`, the residual stream and the inside of each head are turned. With `rescale`, ReLU units are resized.
    `decoys` heads, and four units for each, are added to every layer; they compute something that nothing else reads,
    and heads that were empty become decoys too. `noise` is the standard deviation of Gaussian noise on every weight,
    relative to the weight. `width` compresses the stream to so many dimensions: the
    directions are trained for up to `steps` updates. `scores` is by how much
    the score of a matching key leads in a compiled network, where it is 10,000 before: at 30 the others get less than
    rounding does, and less turns hard attention into soft. `words` are inputs on which all this is measured and
    trained; by default random ones.
    """
    _check(network, noise, width, steps, decoys, scores)
    chance = np.random.default_rng(seed)
    inputs = list(words) if words is not None else random_words(network, SAMPLES, seed)
    tokens, lengths = network.encode(inputs)
    weights = {name: np.asarray(array, dtype=np.float64) for name, array in arrays_of(network).items()}
    if network.layout.labels is not None:  # compiled
        weights["query"] = weights["query"] * scores / ATTENTION_SCALAR**2
    old_width = weights["tokens"].shape[1]
    writing, reading = np.eye(old_width), np.eye(old_width)[None]
    report = None
    if width is not None and width < old_width:
        writing, reading, report = compressed(_built(network, weights), tokens, lengths, width, steps, chance)
        weights = in_basis(weights, writing, reading)
    nothing = np.zeros((0, len(weights["query"]), 1, weights["tokens"].shape[1]))
    streams = _streams(_built(network, weights), tokens, lengths) if decoys else nothing
    wide = with_decoys(weights, decoys, streams, chance)
    made, map = _shuffled(wide, writing, reading, rotate, rescale, chance)
    map = replace(map, old_heads=network.query.shape[1])
    hidden = _built(network, with_noise(made, noise, chance) if noise else made)
    right, difference = _compared(network, hidden, tokens, lengths)
    options = {"seed": seed, "rotate": rotate, "rescale": rescale, "noise": noise, "width": width, "steps": steps}
    options |= {"decoys": decoys, "scores": scores}
    equality = "changed" if noise or report is not None or scores < EXACT_SCORES else "rounded"
    return Hidden(hidden, network, map, equality, len(inputs), right, difference, options, compression=report)


def random_words(network: PlainTransformer, count: int, seed: int) -> list[list[Any]]:
    """Random inputs of all lengths that the network takes, as it reads them."""
    layout, chance = network.layout, np.random.default_rng(seed)
    if layout.vocabulary is not None:
        symbols: Sequence[Any] = layout.vocabulary.values
    else:
        symbols = range(layout.symbols) if layout.alphabet is None else layout.alphabet
    longest = layout.positions - layout.prefix
    return [
        [symbols[code] for code in chance.integers(0, len(symbols), chance.integers(1, longest + 1))]
        for _ in range(count)
    ]


def _check(network: Any, noise: float, width: int | None, steps: int, decoys: int, scores: float) -> None:
    if not isinstance(network, PlainTransformer):
        raise InputError(f"only a plain Transformer is hidden in this way, not a {type(network).__name__}")
    if not (np.isfinite(noise) and noise >= 0):
        raise InputError(f"noise is relative to the weights, 0 or more, and not {noise}")
    if not 0 <= decoys <= MOST_DECOYS:
        raise InputError(f"decoys are 0 to {MOST_DECOYS} heads in each layer, and not {decoys}")
    if width is not None and not 1 <= width <= network.tokens.shape[1]:
        raise InputError(
            f"the stream has {network.tokens.shape[1]} dimensions and is compressed to 1 or more, not {width}"
        )
    if not (np.isfinite(scores) and scores > 0):
        raise InputError(f"the score of a matching key leads by more than 0, and not by {scores}")
    if steps < 0:
        raise InputError(f"directions are trained for 0 steps or more, and not {steps}")


def _shuffled(
    wide: WithDecoys, writing: Any, reading: Any, rotate: bool, rescale: bool, chance: np.random.Generator
) -> tuple[Weights, BasisMap]:
    """The weights turned, with heads and units in a random order, and where the original is in them."""
    weights, heads, units = dict(wide.weights), np.copy(wide.heads), np.copy(wide.units)
    for layer in range(len(heads)):
        order, others = chance.permutation(heads.shape[1]), chance.permutation(units.shape[1])
        heads[layer], units[layer] = heads[layer, order], units[layer, others]
        for name in ("query", "key", "value", "out"):
            weights[name] = _reordered(weights[name], layer, order, 0)
        for name, axis in (("mlp_in", 1), ("mlp_bias", 0), ("mlp_out", 0)):
            weights[name] = _reordered(weights[name], layer, others, axis)
    scales = 2.0 ** chance.uniform(-1, 1, units.shape) if rescale else np.ones(units.shape)
    weights = with_resized_units(weights, scales)
    total = writing.shape[1] + wide.dims
    turn = random_rotation(total, chance) if rotate else np.eye(total)
    if rotate:
        weights = with_mixed_heads(weights, chance)
    own, more = turn[: writing.shape[1]], turn[writing.shape[1] :]
    found = BasisMap(writing @ own, reading @ own, heads, units, scales, more, old_heads=heads.shape[1])
    return in_basis(weights, turn, turn[None]), found


def _reordered(array: np.ndarray, layer: int, order: np.ndarray, axis: int) -> np.ndarray:
    found = np.copy(array)
    found[layer] = np.take(array[layer], order, axis=axis)
    return found


def _built(network: PlainTransformer, weights: Weights) -> PlainTransformer:
    """The network with these weights, which no longer says what its dimensions and heads mean."""
    layout = replace(network.layout, labels=None, heads=None, layers_of=None)
    arrays = {name: jnp.asarray(array, network.tokens.dtype) for name, array in weights.items()}
    return PlainTransformer(**arrays, layout=layout)


def _streams(network: PlainTransformer, tokens: Any, lengths: Any) -> np.ndarray:
    """What the MLP of each layer reads on each input: [batch, layers, position, width], 0 behind the end of a word."""
    written = np.asarray(_written(network, jnp.asarray(tokens), jnp.asarray(lengths)), dtype=np.float64)
    layers, heads = network.query.shape[:2]
    sums = np.cumsum(written, axis=1)[:, 2 + heads - 1 :: heads + 1][:, :layers]
    inside = np.arange(tokens.shape[1]) < np.asarray(lengths)[:, None]
    return sums * inside[:, None, :, None]


def _compared(network: PlainTransformer, made: PlainTransformer, tokens: Any, lengths: Any) -> tuple[int, float]:
    """How many inputs have the original's output at every position, and the largest difference of logits."""
    given = jnp.asarray(tokens), jnp.asarray(lengths)
    expected, found = (np.asarray(logits_of(one, *given), dtype=np.float64) for one in (network, made))
    at = np.arange(tokens.shape[1])
    asked = (at >= network.layout.prefix) & (at < np.asarray(lengths)[:, None])
    same = (expected.argmax(axis=-1) == found.argmax(axis=-1)) | ~asked
    return int(same.all(axis=1).sum()), float(np.abs((expected - found)[asked]).max(initial=0))


@eqx.filter_jit
def logits_of(network: PlainTransformer, tokens: Any, lengths: Any) -> Any:
    return jax.vmap(network)(tokens, lengths)


@eqx.filter_jit
def _written(network: PlainTransformer, tokens: Any, lengths: Any) -> Any:
    return jax.vmap(network.written)(tokens, lengths)
