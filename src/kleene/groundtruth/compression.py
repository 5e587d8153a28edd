"""A residual stream with fewer dimensions than it has features: superposition, trained.

All that writes to the stream is multiplied by one matrix. What reads it is multiplied by another matrix for each place
where it is read: before the heads and before the MLP of each layer, and for the output. These begin as the best linear
reconstruction of the stream on sample inputs. If the stream of no place has more independent dimensions than there are
left, that is exact, because features of different places share directions. Otherwise all matrices are trained
so that the outputs stay right. The direction of every old dimension is known: it is a row of the first matrix.
"""

from dataclasses import asdict, dataclass
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import optax
from jaxtyping import Array, Float

from kleene.groundtruth.rotations import random_rotation
from kleene.machines.transformer.plain import PlainTransformer

RATE = 2e-3
MARGIN = 0.5  # by which the right logit has to lead
TRAINED_ON = 64  # inputs, because a step computes with all of them
SMALLEST = 1e-5  # of the largest: smaller singular values count as 0

Pair = tuple[Array, Array]  # writing [dimensions, width], and reading [places, dimensions, width]


@dataclass(frozen=True)
class Compression:
    """What a compressed stream lost, before training and after.

    `rank` is the largest number of independent dimensions that the stream has at a place where it is read: a stream
    of that width loses nothing. `accuracy` is the share of positions with the right output. `reconstruction` is the
    mean square of what is read less what would have been read, relative to the mean square of the stream.
    """

    dimensions: int
    width: int
    rank: int
    steps: int
    accuracy_before: float
    accuracy: float
    reconstruction_before: float
    reconstruction: float

    def as_json(self) -> dict[str, Any]:
        return asdict(self)

    def __str__(self) -> str:
        return (
            f"{self.dimensions} dimensions, at most {self.rank} of them independent where they are read, in "
            f"{self.width}: {self.accuracy:.1%} of outputs right ({self.accuracy_before:.1%} before {self.steps} "
            f"updates), reconstruction error {self.reconstruction:.2g} ({self.reconstruction_before:.2g})"
        )


def compressed(
    network: PlainTransformer, tokens: Any, lengths: Any, width: int, steps: int, chance: np.random.Generator
) -> tuple[Float[np.ndarray, "dimensions width"], Float[np.ndarray, "places dimensions width"], Compression]:
    """Along which directions the old dimensions are written, and read at each place, in a stream of `width`."""
    given = _Sample.of(network, jnp.asarray(tokens), jnp.asarray(lengths))
    streams = np.asarray(given.streams, dtype=np.float64)
    flat = [place.reshape(-1, place.shape[-1]) for place in np.moveaxis(streams, 1, 0)]
    start = min(_starts(flat, width, chance, given.streams.dtype), key=lambda pair: float(_loss(network, given, pair)))
    entropy, error, _ = _losses(network, given, start)
    lossless = float(entropy) == 0 and float(error) < SMALLEST
    taken = 0 if lossless else steps
    trained = _trained(network, jax.tree.map(lambda a: a[:TRAINED_ON], given), start, taken) if taken else start
    before, after = (_losses(network, given, pair) for pair in (start, trained))
    rank = max(int(np.linalg.matrix_rank(place, tol=SMALLEST * np.linalg.norm(place, 2))) for place in flat)
    report = Compression(
        len(start[0]), width, rank, taken, float(before[2]), float(after[2]), float(before[1]), float(after[1])
    )
    writing, reading = (np.asarray(one, dtype=np.float64) for one in trained)
    return writing, reading, report


class _Sample(eqx.Module):
    """Inputs, the outputs that the network gives, the stream at each place, and where outputs count."""

    tokens: Array
    lengths: Array
    outputs: Array
    streams: Array
    asked: Array

    @classmethod
    def of(cls, network: PlainTransformer, tokens: Array, lengths: Array) -> "_Sample":
        at = jnp.arange(tokens.shape[1])
        inside = at < lengths[:, None]
        logits, streams = _runs(network, tokens, lengths)
        asked = inside & (at >= network.layout.prefix)
        return cls(tokens, lengths, jnp.argmax(logits, axis=-1), streams * inside[:, None, :, None], asked)


@eqx.filter_jit
def _runs(network: PlainTransformer, tokens: Array, lengths: Array) -> tuple[Array, Array]:
    """The logits, and the stream at each place where it is read: [batch, places, position, width]."""
    layers, heads = network.query.shape[:2]
    ends = np.array([1, *(1 + layer * (heads + 1) + part for layer in range(layers) for part in (heads, heads + 1))])

    def one(word: Array, length: Array) -> tuple[Array, Array]:
        streams = jnp.cumsum(network.written(word, length), axis=0)[ends]
        return streams[-1] @ network.readout.T + network.readout_bias, streams

    return jax.vmap(one)(tokens, lengths)


def _starts(flat: list[np.ndarray], width: int, chance: np.random.Generator, dtype: Any) -> list[Pair]:
    """Directions to begin with: where the stream is largest, where it differs at most places, and random ones."""
    spans = [_span(place) for place in flat]
    sums = [sum(place.T @ place for place in flat), sum(span @ span.T for span in spans)]
    tried = [np.linalg.eigh(one)[1][:, ::-1][:, :width] for one in sums]
    tried.append(random_rotation(flat[0].shape[1], chance)[:, :width])
    return [(jnp.asarray(w, dtype), jnp.asarray(np.stack([_reader(place, w) for place in flat]), dtype)) for w in tried]


def _span(rows: np.ndarray) -> np.ndarray:
    _, sizes, basis = np.linalg.svd(rows, full_matrices=False)
    return basis[sizes > SMALLEST * sizes.max(initial=0)].T


def _reader(stream: np.ndarray, writing: np.ndarray) -> np.ndarray:
    """The matrix that reconstructs a stream [samples, dimensions] best from what was written of it."""
    return (np.linalg.pinv(stream @ writing, rcond=SMALLEST) @ stream).T


def _squeezed(network: PlainTransformer, pair: Pair) -> PlainTransformer:
    writing, reading = pair
    before_heads, before_mlp = reading[:-1:2], reading[1::2]

    def read(weights: Array) -> Array:
        return jnp.einsum("lwv,lhwk->lhvk", before_heads, weights)

    return PlainTransformer(
        network.tokens @ writing, network.positions @ writing, read(network.query), read(network.key),
        read(network.value), network.out @ writing, jnp.einsum("lwv,lwu->lvu", before_mlp, network.mlp_in),
        network.mlp_bias, network.mlp_out @ writing, network.mlp_constant @ writing, network.readout @ reading[-1],
        network.readout_bias, network.layout,
    )  # fmt: skip


@eqx.filter_jit
def _losses(network: PlainTransformer, given: _Sample, pair: Pair) -> tuple[Array, Array, Array]:
    """By how much right logits lack their margin, the error of reconstruction, and the share of right outputs."""
    logits, streams = _runs(_squeezed(network, pair), given.tokens, given.lengths)
    inside = (jnp.arange(given.tokens.shape[1]) < given.lengths[:, None])[:, None, :, None]
    read = jnp.einsum("bspv,swv->bspw", streams, pair[1]) * inside
    error = jnp.sum((read - given.streams) ** 2) / jnp.sum(given.streams**2)
    right = jax.nn.one_hot(given.outputs, logits.shape[-1], dtype=bool)
    lead = jnp.sum(jnp.where(right, logits, 0), -1) - jnp.max(jnp.where(right, -jnp.inf, logits), -1)
    count = jnp.maximum(1, jnp.sum(given.asked))
    lacking = jnp.sum(jax.nn.relu(MARGIN - lead) * given.asked) / count
    return lacking, error, jnp.sum((lead > 0) & given.asked) / count


def _loss(network: PlainTransformer, given: _Sample, pair: Pair) -> Array:
    lacking, error, _ = _losses(network, given, pair)
    return lacking + error


@eqx.filter_jit
def _trained(network: PlainTransformer, given: _Sample, start: Pair, steps: int) -> Pair:
    """The matrices with the smallest loss on the way."""
    optimiser = optax.chain(optax.clip_by_global_norm(1.0), optax.adam(optax.cosine_decay_schedule(RATE, steps)))

    def step(carry: Any, _: Any) -> tuple[Any, None]:
        pair, state, best, least = carry
        now, slopes = jax.value_and_grad(lambda one: _loss(network, given, one))(pair)
        better = now < least
        best = jax.tree.map(lambda new, old: jnp.where(better, new, old), pair, best)
        changes, state = optimiser.update(slopes, state)
        return (optax.apply_updates(pair, changes), state, best, jnp.where(better, now, least)), None

    begun = (start, optimiser.init(start), start, jnp.asarray(jnp.inf, start[0].dtype))
    (last, _, best, least), _ = jax.lax.scan(step, begun, None, length=steps)
    is_last = _loss(network, given, last) < least
    return jax.tree.map(lambda new, old: jnp.where(is_last, new, old), last, best)
