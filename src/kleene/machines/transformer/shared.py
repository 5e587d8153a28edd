"""A Transformer to be trained: one layer with shared weights, repeated, whose residual stream is read linearly.

The layer is normed after each sublayer, and attention has biases by distance and logits that grow with the logarithm of
the length: these keep a state over many layers, where a stream that is normed before them drifts.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int, PRNGKeyArray

from kleene.caching import keep_compiled_programs_unless_jax_came_first
from kleene.errors import InputError
from kleene.machines.protocol import Shown, Size
from kleene.machines.transformer.readings import ReadLinearly
from kleene.machines.transformer.streams import SEGMENT, Streams
from kleene.machines.weights import Format, arrays_of

keep_compiled_programs_unless_jax_came_first()

TINY = 1e-5  # added to the variance, as is usual


class SharedTransformer(ReadLinearly, Shown, eqx.Module):
    """An encoder with one layer, repeated, and a linear reading of each variable of a program. The call is unbatched.

    `variables` are read after each layer and `head_outputs` after each attention, each a name with its number of
    values; the variable `output_name` after the last layer is the output. A word has `layers` layers, and one more for
    each of its positions if the network `grows`.

    >>> made = SharedTransformer.random(3, {"parity": 2}, width=8, heads=2, units=16, key=jax.random.key(0))
    >>> made.run([2, 1, 0])
    <Trace of 3 steps: parity>
    """

    embedding: Float[Array, "symbols width"]
    positions: Float[Array, "positions width"] | None
    query: Float[Array, "heads width key"]
    key: Float[Array, "heads width key"]
    value: Float[Array, "heads width key"]
    out: Float[Array, "heads key width"]
    distances: Float[Array, "heads distances"]
    attention_gain: Float[Array, " width"]
    mlp_in: Float[Array, "units width"]
    mlp_bias: Float[Array, " units"]
    mlp_out: Float[Array, "width units"]
    out_bias: Float[Array, " width"]
    mlp_gain: Float[Array, " width"]
    readings: Float[Array, "values width"]
    reading_bias: Float[Array, " values"]
    variables: tuple[tuple[str, int], ...] = eqx.field(static=True)
    head_outputs: tuple[tuple[str, int], ...] = eqx.field(static=True)
    output_name: str = eqx.field(static=True)
    layers: int = eqx.field(static=True)
    grows: bool = eqx.field(static=True)
    places: int | None = eqx.field(static=True, default=None)  # the number of `positions`, if there are any

    @classmethod
    def random(
        cls,
        symbols: int,
        variables: Mapping[str, int],
        *,
        width: int,
        heads: int,
        units: int,
        head_outputs: Mapping[str, int] | None = None,
        output_name: str | None = None,
        layers: int = 0,
        grows: bool = True,
        reach: int = 8,
        positions: int | None = None,
        key: PRNGKeyArray,
    ) -> "SharedTransformer":
        """A network to be trained: weights N(0, 1/inputs), embeddings N(0, 1), biases 0.

        Attention has a bias for each distance up to `reach`, and one for all beyond it. With `positions` there is an
        embedding of each position, too. By default the output is the first of the variables.
        """
        if min(symbols, width, heads, units, len(variables)) < 1 or width % heads:
            raise InputError(
                f"a Transformer needs a token and a variable at least, and a width that its heads share evenly; it was "
                f"given {symbols} tokens, {len(variables)} variables, width={width}, heads={heads}, units={units}"
            )
        named, outputs = tuple(variables.items()), tuple((head_outputs or {}).items())
        values, each, keys = sum(size for _, size in named + outputs), width // heads, jax.random.split(key, 9)

        def draw(number: int, *shape: int, inputs: int) -> Array:
            return jax.random.normal(keys[number], shape) * inputs**-0.5

        return cls(
            embedding=draw(0, symbols, width, inputs=1),
            positions=None if positions is None else draw(1, positions, width, inputs=1),
            query=draw(2, heads, width, each, inputs=width),
            key=draw(3, heads, width, each, inputs=width),
            value=draw(4, heads, width, each, inputs=width),
            out=draw(5, heads, each, width, inputs=width),
            distances=jnp.zeros((heads, 2 * reach + 1)),
            attention_gain=jnp.ones(width),
            mlp_in=draw(6, units, width, inputs=width),
            mlp_bias=jnp.zeros(units),
            mlp_out=draw(7, width, units, inputs=units),
            out_bias=jnp.zeros(width),
            mlp_gain=jnp.ones(width),
            readings=draw(8, values, width, inputs=width),
            reading_bias=jnp.zeros(values),
            variables=named,
            head_outputs=outputs,
            output_name=output_name or named[0][0],
            layers=layers,
            grows=grows,
            places=positions,
        )

    def layers_for(self, positions: Any) -> Any:
        """The number of layers for a word of so many positions."""
        return self.layers + positions * self.grows

    def layers_run(self, layers: int) -> int:
        """A multiple of `SEGMENT`, so that few numbers of layers are compiled; those that are too many are not read."""
        return -(-layers // SEGMENT) * SEGMENT

    def attend(
        self, stream: Float[Array, "position width"], bias: Float[Array, "heads position position"], scale: Any
    ) -> Float[Array, "position width"]:
        """The stream after attention; `bias` has the biases by distance, and -∞ for what lies behind the word."""
        value = jnp.einsum("td,hdk->htk", stream, self.value)
        mixed = jnp.einsum("htj,hjk->htk", self.pattern(stream, bias, scale), value)
        return normed(stream + jnp.einsum("htk,hkd->td", mixed, self.out)) * self.attention_gain

    def pattern(
        self, stream: Float[Array, "position width"], bias: Float[Array, "heads position position"], scale: Any
    ) -> Float[Array, "heads position position"]:
        """How much each head reads from each position, at each position."""
        query, key = (jnp.einsum("td,hdk->htk", stream, w) for w in (self.query, self.key))
        logits = jnp.einsum("htk,hjk->htj", query, key) * (scale / self.query.shape[-1] ** 0.5)
        return jax.nn.softmax(logits + bias, axis=-1)

    def patterns(self, tokens: Int[Array, " position"], layers: int) -> Float[Array, "layers heads position position"]:
        """The attention patterns of a word in so many layers."""
        bias, scale = self._biases(len(tokens), jnp.asarray(len(tokens)))
        states = self(tokens, jnp.asarray(len(tokens)), layers=layers).states[:-1]
        return jax.vmap(lambda stream: self.pattern(stream, bias, scale))(states)

    def _biases(self, size: int, length: Int[Array, ""]) -> tuple[Float[Array, "heads position position"], Any]:
        """The biases by distance, -∞ for what lies behind the word, and the scale of the logits."""
        reach, at = self.distances.shape[1] // 2, jnp.arange(size)
        distance = jnp.clip(at[None] - at[:, None], -reach, reach) + reach
        bias = jnp.where(at < length, self.distances[:, distance], -jnp.inf)
        return bias, jnp.log(length + 2.0) / jnp.log(10.0)

    def think(self, stream: Float[Array, "position width"]) -> Float[Array, "position width"]:
        """The stream after the MLP."""
        units = jax.nn.relu(stream @ self.mlp_in.T + self.mlp_bias)
        return normed(stream + units @ self.mlp_out.T + self.out_bias) * self.mlp_gain

    def __call__(
        self,
        tokens: Int[Array, " position"],
        length: Int[Array, ""],
        noise: Float[Array, "layers position width"] | None = None,
        *,
        layers: int,
    ) -> Streams:
        """The residual stream of a word, padded to any number of positions, in so many layers.

        `noise` is added to what each layer reads.
        """
        bias, scale = self._biases(len(tokens), length)
        start = self.embedding[tokens]
        if self.positions is not None:
            start = start + self.positions[jnp.minimum(jnp.arange(len(tokens)), len(self.positions) - 1)]

        def step(stream: Array, added: Array | None) -> tuple[Array, tuple[Array, Array]]:
            attended = self.attend(stream if added is None else stream + added, bias, scale)
            after = self.think(attended)
            return after, (after, attended)

        start = normed(start)
        _, (after, attended) = jax.lax.scan(step, start, noise, length=layers)
        return Streams(jnp.concatenate([start[None], after]), attended)

    def untrained(self, seed: int) -> "SharedTransformer":
        """A network of the same shape with random weights."""
        return SharedTransformer.random(
            len(self.embedding),
            dict(self.variables),
            width=self.embedding.shape[1],
            heads=self.query.shape[0],
            units=len(self.mlp_bias),
            head_outputs=dict(self.head_outputs),
            output_name=self.output_name,
            layers=self.layers,
            grows=self.grows,
            reach=self.distances.shape[1] // 2,
            positions=self.places,
            key=jax.random.key(seed),
        )

    @property
    def size(self) -> Size:
        """The size; `hidden_units` are those of the MLP."""
        nonzero = sum(int(np.count_nonzero(array)) for array in arrays_of(self).values())
        return Size(len(self.mlp_bias), self.parameter_count(), nonzero)

    def facts(self) -> dict[str, str]:
        layers = f"as many layers as positions, {self.layers:+}" if self.grows else f"{self.layers} layers"
        return {"reads": f"tokens 0 to {len(self.embedding) - 1}", "answers": self.output_name, "has": layers}

    def save(self, path: Any) -> Path:
        """Save the network and return the path."""
        return FORMAT.save(self, path)

    @classmethod
    def load(cls, path: Any) -> "SharedTransformer":
        """The network in a file that `save` wrote. Opening a file never runs code."""
        return FORMAT.load(cls, path)

    def __check_init__(self) -> None:
        if not hasattr(self.readings, "shape"):  # jax rebuilds the network from placeholders
            return
        self.check_readings()
        if (None if self.positions is None else self.positions.shape[-2]) != self.places:
            raise InputError(f"the positions are not the {self.places} that were expected")
        if self.layers < (-1 if self.grows else 1):
            raise InputError(f"its layers are {self.layers}, which is too few")


def normed(stream: Float[Array, "*batch width"]) -> Float[Array, "*batch width"]:
    """The vector with mean 0 and variance 1."""
    centred = stream - jnp.mean(stream, axis=-1, keepdims=True)
    return centred * jax.lax.rsqrt(jnp.mean(centred**2, axis=-1, keepdims=True) + TINY)


FORMAT = Format("shared transformer", "Transformer", sizes=("symbols",))
