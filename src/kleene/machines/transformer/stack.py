"""A stack of ordinary Transformer layers, as T5 has them (Raffel et al. 2020), for one scan over all of its layers.

Each sublayer reads its stream normed to root mean square 1, and adds to it. There are no biases but those of attention
by distance, which lie in buckets and are the same for all layers.
"""

import math
from collections.abc import Callable
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int, PRNGKeyArray

from kleene.errors import InputError

BUCKETS, FARTHEST = 32, 128  # of distances, as in T5: the last bucket has all from 128 on
DEEP = 16  # layers from which on an update computes a layer again instead of keeping what it computed
TINY = 1e-6  # added to the mean square, as in T5


class StackedAttention(eqx.Module):
    """The attention of each layer. `inner` is heads × key; the keys and values may be of another stream."""

    gain: Float[Array, "layers width"]
    query: Float[Array, "layers width inner"]
    key: Float[Array, "layers width inner"]
    value: Float[Array, "layers width inner"]
    out: Float[Array, "layers inner width"]

    @classmethod
    def random(cls, layers: int, width: int, inner: int, *, key: PRNGKeyArray) -> "StackedAttention":
        """Weights N(0, 1/inputs)."""
        query, keys, value, out = jax.random.split(key, 4)
        return cls(
            gain=jnp.ones((layers, width)),
            query=_draw(query, layers, width, inner),
            key=_draw(keys, layers, width, inner),
            value=_draw(value, layers, width, inner),
            out=_draw(out, layers, inner, width),
        )


class LayerStack(eqx.Module):
    """The weights of all layers, one array for each; or of one layer, which is repeated.

    A layer of a decoder has a second attention, `cross`, to the stream of an encoder.
    """

    attention: StackedAttention
    cross: StackedAttention | None
    gain: Float[Array, "layers width"]
    mlp_in: Float[Array, "layers width units"]
    mlp_out: Float[Array, "layers units width"]

    @classmethod
    def random(
        cls, layers: int, *, width: int, inner: int, units: int, crossing: bool = False, key: PRNGKeyArray
    ) -> "LayerStack":
        """Weights N(0, 1/inputs), with a second attention if it is `crossing`."""
        attention, cross, first, second = jax.random.split(key, 4)
        return cls(
            attention=StackedAttention.random(layers, width, inner, key=attention),
            cross=StackedAttention.random(layers, width, inner, key=cross) if crossing else None,
            gain=jnp.ones((layers, width)),
            mlp_in=_draw(first, layers, width, units),
            mlp_out=_draw(second, layers, units, width),
        )

    @property
    def count(self) -> int:
        """The number of layers that have weights of their own."""
        return self.gain.shape[-2]

    def layer(self, number: int) -> "LayerStack":
        """The weights of one layer, without the axis of the layers."""
        return jax.tree.map(lambda weights: weights[number], self)

    def scan(self, step: Callable[..., tuple[Any, Any]], start: Any, layers: int, each: Any = None) -> tuple[Any, Any]:
        """`jax.lax.scan` of `step(carry, layer, of_each)` over the layers, or over as many repeats of the only one.

        `each` has an entry for each layer. A deep stack is computed again for its gradient, layer by layer.
        """
        only = self.layer(0) if self.count == 1 else None

        def body(carry: Any, now: Any) -> tuple[Any, Any]:
            layer, of_each = now if only is None else (only, now)
            return step(carry, layer, of_each)

        return jax.lax.scan(
            jax.checkpoint(body) if layers >= DEEP else body,
            start,
            (self, each) if only is None else each,
            length=layers,
        )


def think(layer: LayerStack, stream: Float[Array, "position width"]) -> Float[Array, "position width"]:
    """The stream after the MLP of a layer."""
    return stream + jax.nn.gelu(normed_by(layer.gain, stream) @ layer.mlp_in) @ layer.mlp_out


def attend(
    attention: StackedAttention,
    stream: Float[Array, "position width"],
    bias: Float[Array, "heads _ source"],
    source: Float[Array, "source width"] | None = None,
) -> Float[Array, "position width"]:
    """The stream after the attention of a layer to itself, or to a `source`. There are as many heads as in the bias."""
    read = normed_by(attention.gain, stream)
    source = read if source is None else source
    keys, values = source @ attention.key, source @ attention.value
    return stream + mixed(read @ attention.query, keys, values, bias) @ attention.out


def mixed(
    query: Float[Array, "position inner"],
    keys: Float[Array, "source inner"],
    values: Float[Array, "source inner"],
    bias: Float[Array, "heads _ source"],
) -> Float[Array, "position inner"]:
    """The values as each position's heads mix them, side by side."""
    values = values.reshape(len(values), len(bias), -1)
    found = jnp.einsum("htj,jhk->thk", pattern(query, keys, bias), values)
    return found.reshape(len(found), -1)


def pattern(
    query: Float[Array, "position inner"], keys: Float[Array, "source inner"], bias: Float[Array, "heads _ source"]
) -> Float[Array, "heads position source"]:
    """How much each head reads from each position of the source, at each position."""
    query, keys = (rows.reshape(len(rows), len(bias), -1) for rows in (query, keys))
    logits = jnp.einsum("thk,jhk->htj", query, keys) * query.shape[-1] ** -0.5
    return jax.nn.softmax(logits + bias, axis=-1)


def normed_by(gain: Float[Array, " width"], stream: Float[Array, "*batch width"]) -> Float[Array, "*batch width"]:
    """The vectors with root mean square 1, times the gain."""
    return stream * jax.lax.rsqrt(jnp.mean(stream**2, axis=-1, keepdims=True) + TINY) * gain


def distance_buckets(size: int, *, causal: bool = False) -> Int[np.ndarray, "size size"]:
    """The bucket of the distance from each position, a row, to each, a column.

    Half of the buckets are for positions to the right, unless attention is `causal`. Half of the rest are for one
    distance each, and the others grow like a logarithm.

    >>> distance_buckets(3).tolist(), distance_buckets(3, causal=True)[2].tolist()
    ([[0, 17, 18], [1, 0, 17], [2, 1, 0]], [2, 1, 0])
    """
    right = np.arange(size)[None] - np.arange(size)[:, None]
    buckets = BUCKETS if causal else BUCKETS // 2
    near = buckets // 2
    distance = np.maximum(-right, 0) if causal else np.abs(right)
    share = np.log(np.maximum(distance, near) / near) / math.log(FARTHEST / near)
    far = np.minimum(near + (share * (buckets - near)).astype(np.int32), buckets - 1)
    found = np.where(distance < near, distance, far)
    return (found if causal else found + buckets * (right > 0)).astype(np.int32)


def checked_sizes(what: str, *, width: int, heads: int, key: int, units: int, layers: int) -> None:
    """Refuse sizes below 1."""
    given = {"width": width, "heads": heads, "key": key, "units": units, "layers": layers}
    if min(given.values()) < 1:
        shown = ", ".join(f"{name}={size}" for name, size in given.items())
        raise InputError(f"{what} has sizes of 1 or more; it was given {shown}")


def check_stack(name: str, stack: LayerStack, layers: int, heads: int) -> None:
    """Refuse a stack that has neither one layer nor all, and heads that do not share its keys evenly."""
    if layers < 1 or stack.count not in (1, layers):
        raise InputError(f"{name} has weights for {stack.count} layers, and {layers} or 1 were expected")
    inner = stack.attention.query.shape[-1]
    if heads < 1 or inner % heads:
        raise InputError(f"{name} has queries of {inner} numbers, which {heads} heads do not share evenly")


def _draw(key: PRNGKeyArray, layers: int, inputs: int, outputs: int) -> Array:
    return jax.random.normal(key, (layers, inputs, outputs)) * inputs**-0.5
