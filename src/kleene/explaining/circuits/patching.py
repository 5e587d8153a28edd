"""Runs of a network on pairs of words, in which chosen edges take what they carry from the other word.

`Pairs` holds the words, and what is compared: the output at all positions of a word. The effect of a change is the
Kullback–Leibler divergence of the output from the unchanged one, in nats, mean over positions and words. Derivatives of
it vanish where nothing is changed; methods that take derivatives use the margin instead, the logit of the network's own
answer less the mean of all logits.
"""

from collections.abc import Sequence
from typing import Any, Self

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Int

from kleene.explaining.circuits.truth import written_by
from kleene.machines.transformer.plain import PlainTransformer

CHUNK = 16  # changes that are tried at once


class Pairs(eqx.Module):
    """A network, words with what it answers, and what each source wrote on another word, no shorter than the first."""

    network: PlainTransformer
    tokens: Int[Array, "batch position"]
    lengths: Int[Array, " batch"]
    written: Float[Array, "batch sources position width"]
    other: Float[Array, "batch sources position width"]
    clean: Float[Array, "batch position values"]
    answered: Bool[Array, "batch position"]  # whether there is an output at this position

    @classmethod
    def of(cls, network: PlainTransformer, inputs: Sequence[Any], others: Sequence[Any]) -> "Pairs":
        tokens, lengths = network.encode([*inputs, *others])
        tokens, lengths = jnp.asarray(tokens), jnp.asarray(lengths)
        written, count = written_by(network, tokens, lengths), len(inputs)
        size = int(lengths[:count].max())
        places = jnp.arange(size)
        answered = (places >= network.layout.prefix) & (places < lengths[:count, None])
        tokens, lengths, other = tokens[:count, :size], lengths[:count], written[count:, :, :size]
        return cls(
            network, tokens, lengths, written[:count, :, :size], other, _clean(network, tokens, lengths), answered
        )

    @property
    def shape(self) -> tuple[int, int]:
        """How many destinations and sources there are."""
        return self.network.graph.possible.shape

    def with_other(self, other: Array) -> Self:
        """The same pairs, in which something else is written in place: zeros or a mean."""
        return eqx.tree_at(lambda pairs: pairs.other, self, jnp.broadcast_to(other, self.other.shape))

    def logits(self, keep: Float[Array, "destinations sources"]) -> Float[Array, "batch position values"]:
        """The logits if so much of each edge is kept."""
        return jax.vmap(self.network, in_axes=(0, 0, None, 0))(self.tokens, self.lengths, keep, self.other)

    def divergence(self, keep: Float[Array, "destinations sources"]) -> Float[Array, ""]:
        """The divergence of the output if so much of each edge is kept."""
        return self.moved(self.logits(keep))

    def moved(self, logits: Float[Array, "batch position values"]) -> Float[Array, ""]:
        """The divergence of an output with these logits from the unchanged one."""
        before, after = jax.nn.log_softmax(self.clean), jax.nn.log_softmax(logits)
        lost = jnp.sum(jnp.exp(before) * (before - after), axis=-1)
        return jnp.sum(jnp.where(self.answered, lost, 0)) / jnp.sum(self.answered)


@eqx.filter_jit
def _clean(network: PlainTransformer, tokens: Array, lengths: Array) -> Array:
    return jax.vmap(network)(tokens, lengths)


def divergences(pairs: Pairs, rows: Any, columns: Any) -> np.ndarray:
    """The divergence for each change: of the edge in that row and column, or of a source's edges if the row is −1."""
    places = np.stack([np.asarray(rows), np.asarray(columns)], axis=1)
    padded = np.pad(places, ((0, -len(places) % CHUNK), (0, 0)), mode="edge")
    chunks = padded.reshape(-1, CHUNK, 2)
    found = [np.asarray(_divergences(pairs, jnp.asarray(chunk))) for chunk in chunks]
    return np.concatenate([*found, np.zeros(0)])[: len(places)]


@eqx.filter_jit
def _divergences(pairs: Pairs, places: Int[Array, "change 2"]) -> Float[Array, " change"]:
    """One program for any number of changes, because each network needs its own."""
    numbers, sources = jnp.arange(pairs.shape[0]), jnp.arange(pairs.shape[1])

    def changed(place: Array) -> Array:
        is_changed = ((numbers == place[0]) | (place[0] < 0))[:, None] & (sources == place[1])
        return pairs.divergence(jnp.where(is_changed, 0.0, 1.0).astype(pairs.other.dtype))

    return jax.vmap(changed)(places)


@eqx.filter_jit
def right_answers(pairs: Pairs, keeps: Float[Array, "change destinations sources"]) -> Float[Array, " change"]:
    """For each change, the share of the network's own answers that stay the same."""

    def right(keep: Array) -> Array:
        same = jnp.argmax(pairs.logits(keep), axis=-1) == jnp.argmax(pairs.clean, axis=-1)
        return jnp.sum(same & pairs.answered) / jnp.sum(pairs.answered)

    return jax.lax.map(right, keeps)


@eqx.filter_jit
def margin_gradients(
    pairs: Pairs, keep: Float[Array, "destinations sources"]
) -> Float[Array, "batch destinations sources"]:
    """The derivative of each word's margin, mean over its positions, by how much of each edge is kept."""

    def margin(keep: Array, tokens: Array, length: Array, other: Array, clean: Array, answered: Array) -> Array:
        logits = pairs.network(tokens, length, keep, other)
        own = jnp.take_along_axis(logits, jnp.argmax(clean, axis=-1, keepdims=True), axis=-1)[:, 0]
        return jnp.sum(jnp.where(answered, own - logits.mean(axis=-1), 0)) / jnp.sum(answered)

    of_words = jax.vmap(jax.grad(margin), in_axes=(None, 0, 0, 0, 0, 0))
    return of_words(keep, pairs.tokens, pairs.lengths, pairs.other, pairs.clean, pairs.answered)


def filled(pairs: Pairs, values: Any, places: Any) -> np.ndarray:
    """Scores [destinations, sources] with the values at these places and 0 elsewhere."""
    scores = np.zeros(pairs.shape)
    scores[places] = np.asarray(values)
    return scores
