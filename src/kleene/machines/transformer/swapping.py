"""Swaps inside a plain Transformer: parts of its residual stream, or what heads wrote, set to those of another run.

A part of the stream is a set of coordinates in an orthogonal frame, by default the dimensions themselves. Patches of
whole components and of edges are `keep` and `other` of the network itself.
"""

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Int

from kleene.machines.transformer.plain import PlainTransformer


class Activations(eqx.Module):
    """The residual stream of a word at the start and after each layer, and what each head wrote."""

    stream: Float[Array, "*batch step position width"]
    heads: Float[Array, "*batch layers heads position width"]


class Swap(eqx.Module):
    """What is set, and where: 1 is set, 0 is left alone.

    `stream_at` is in coordinates of the frame.
    """

    values: Activations
    stream_at: Float[Array, "*batch step position width"]
    heads_at: Float[Array, "*batch layers heads position"]


def activations(model: PlainTransformer, tokens: Int[Array, " position"], length: Int[Array, ""]) -> Activations:
    """The activations of a run in which nothing is changed."""
    return activations_of(model, model.written(tokens, length))


def activations_of(model: PlainTransformer, written: Float[Array, "sources position width"]) -> Activations:
    """The activations of a run in which the sources wrote this."""
    layers, heads = model.query.shape[:2]
    start = jnp.sum(written[:2], axis=0)
    parts = written[2:].reshape(layers, heads + 1, *start.shape)
    added = jnp.cumsum(jnp.sum(parts, axis=1), axis=0)
    return Activations(jnp.concatenate([start[None], start + added]), parts[:, :heads])


def swapped(
    model: PlainTransformer,
    tokens: Int[Array, " position"],
    length: Int[Array, ""],
    swap: Swap,
    frame: Float[Array, "width width"] | None = None,
) -> Float[Array, "position values"]:
    """The logits of a run with a swap. The columns of `frame` are the axes of its coordinates."""
    seen = model.seen(len(tokens), length)

    def put(stream: Array, target: Array, at: Array) -> Array:
        if frame is None:
            return stream + (target - stream) * at
        turned = jnp.einsum("pw,wc->pc", target - stream, frame, precision="highest") * at
        return stream + jnp.einsum("pc,wc->pw", turned, frame, precision="highest")

    def step(stream: Array, scanned: tuple[PlainTransformer, Array, Array, Array, Array]) -> tuple[Array, None]:
        layer, target, at, heads_target, heads_at = scanned
        wrote = layer.attend(stream[None], stream[None], stream[None], seen)
        wrote = wrote + (heads_target - wrote) * heads_at[..., None]
        attended = stream + jnp.sum(wrote, axis=0)
        return put(attended + layer.think(attended), target, at), None

    values = swap.values
    start = put(jnp.sum(model.embedded(tokens), axis=0), values.stream[0], swap.stream_at[0])
    scanned = (model.by_layer(), values.stream[1:], swap.stream_at[1:], values.heads, swap.heads_at)
    stream, _ = jax.lax.scan(step, start, scanned)
    return jnp.einsum("pw,vw->pv", stream, model.readout, precision="highest") + model.readout_bias
