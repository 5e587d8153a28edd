"""An ordinary encoder Transformer to be trained end to end: T5's encoder, with a linear reading of its stream.

Layers have weights of their own, or share those of one layer. Positions are known by biases of attention for distances,
as in T5, or by a learned embedding of each.
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
from kleene.machines.transformer.stack import (
    BUCKETS,
    LayerStack,
    attend,
    check_stack,
    checked_sizes,
    distance_buckets,
    normed_by,
    pattern,
    think,
)
from kleene.machines.transformer.streams import Streams
from kleene.machines.weights import Format, arrays_of

keep_compiled_programs_unless_jax_came_first()


class EncoderTransformer(ReadLinearly, Shown, eqx.Module):
    """An encoder of `layers` layers and a linear reading of each variable of a program. The call is unbatched.

    It has `distances`, or else an embedding for each of `places` positions.

    >>> sizes = {"width": 8, "heads": 2, "key_size": 3, "units": 16, "layers": 4}
    >>> made = EncoderTransformer.random(3, {"parity": 2}, **sizes, shared=True, key=jax.random.key(0))
    >>> made.run([2, 1, 0])
    <Trace of 4 steps: parity>
    """

    embedding: Float[Array, "symbols width"]
    positions: Float[Array, "positions width"] | None
    distances: Float[Array, "heads buckets"] | None
    stack: LayerStack
    gain: Float[Array, " width"]
    readings: Float[Array, "values width"]
    reading_bias: Float[Array, " values"]
    variables: tuple[tuple[str, int], ...] = eqx.field(static=True)
    head_outputs: tuple[tuple[str, int], ...] = eqx.field(static=True)
    output_name: str = eqx.field(static=True)
    layers: int = eqx.field(static=True)
    heads: int = eqx.field(static=True)
    places: int | None = eqx.field(static=True)  # the number of `positions`; None if there are `distances`

    @classmethod
    def random(
        cls,
        symbols: int,
        variables: Mapping[str, int],
        *,
        width: int,
        heads: int,
        key_size: int,
        units: int,
        layers: int,
        shared: bool = False,
        places: int | None = None,
        head_outputs: Mapping[str, int] | None = None,
        output_name: str | None = None,
        key: PRNGKeyArray,
    ) -> "EncoderTransformer":
        """A network to be trained: weights N(0, 1/inputs), embeddings N(0, 1), biases 0.

        With `places` it has an embedding of so many positions, and otherwise biases for distances. By default the
        output is the first of the variables.
        """
        checked_sizes("an encoder", width=width, heads=heads, key=key_size, units=units, layers=layers)
        if min(symbols, len(variables), 1 if places is None else places) < 1:
            raise InputError(f"an encoder needs a token, a variable and a position; it has {symbols} tokens, {places=}")
        named, outputs = tuple(variables.items()), tuple((head_outputs or {}).items())
        values, keys = sum(size for _, size in named + outputs), jax.random.split(key, 4)
        return cls(
            embedding=jax.random.normal(keys[0], (symbols, width)),
            positions=None if places is None else jax.random.normal(keys[1], (places, width)),
            distances=jnp.zeros((heads, BUCKETS)) if places is None else None,
            stack=LayerStack.random(
                1 if shared else layers, width=width, inner=heads * key_size, units=units, key=keys[2]
            ),
            gain=jnp.ones(width),
            readings=jax.random.normal(keys[3], (values, width)) * width**-0.5,
            reading_bias=jnp.zeros(values),
            variables=named,
            head_outputs=outputs,
            output_name=output_name or named[0][0],
            layers=layers,
            heads=heads,
            places=places,
        )

    @property
    def shared(self) -> bool:
        """Whether all layers have the same weights."""
        return self.stack.count == 1 and self.layers > 1

    def layers_for(self, positions: Any) -> int:
        return self.layers

    def layers_run(self, layers: int) -> int:
        if layers != self.layers and self.stack.count > 1:
            raise InputError(f"layers is {layers}, and the network has {self.layers} layers with weights of their own")
        return layers

    def __call__(
        self,
        tokens: Int[Array, " position"],
        length: Int[Array, ""],
        noise: Float[Array, "layers position width"] | None = None,
        *,
        layers: int | None = None,
    ) -> Streams:
        """The normed residual stream of a word, padded to any number of positions.

        `noise` is added to what each layer reads. Only a network that shares its weights has another number of
        `layers` than its own.
        """
        start, bias = entry(self, tokens, length)

        def step(stream: Array, layer: LayerStack, added: Array | None) -> tuple[Array, tuple[Array, Array]]:
            attended = attend(layer.attention, stream if added is None else stream + added, bias)
            after = think(layer, attended)
            return after, (after, attended)

        _, (after, attended) = self.stack.scan(step, start, self.layers if layers is None else layers, noise)
        states = jnp.concatenate([start[None], after])
        return Streams(normed_by(self.gain, states), normed_by(self.gain, attended))

    def patterns(self, tokens: Int[Array, " position"], layers: int) -> Float[Array, "layers heads position position"]:
        """The attention patterns of a word in so many layers."""
        start, bias = entry(self, tokens, jnp.asarray(len(tokens)))

        def step(stream: Array, layer: LayerStack, _: None) -> tuple[Array, Array]:
            read = normed_by(layer.attention.gain, stream)
            found = pattern(read @ layer.attention.query, read @ layer.attention.key, bias)
            return think(layer, attend(layer.attention, stream, bias)), found

        return self.stack.scan(step, start, layers)[1]

    def untrained(self, seed: int) -> "EncoderTransformer":
        """A network of the same shape with random weights."""
        return EncoderTransformer.random(
            len(self.embedding),
            dict(self.variables),
            width=self.embedding.shape[1],
            heads=self.heads,
            key_size=self.stack.attention.query.shape[-1] // self.heads,
            units=self.stack.mlp_in.shape[-1],
            layers=self.layers,
            shared=self.shared,
            places=self.places,
            head_outputs=dict(self.head_outputs),
            output_name=self.output_name,
            key=jax.random.key(seed),
        )

    @property
    def size(self) -> Size:
        """The size; `hidden_units` are those of the MLPs of all layers that have weights of their own."""
        nonzero = sum(int(np.count_nonzero(array)) for array in arrays_of(self).values())
        return Size(self.stack.count * self.stack.mlp_in.shape[-1], self.parameter_count(), nonzero)

    def facts(self) -> dict[str, str]:
        layers = f"{self.layers} layers" + (" with the same weights" if self.shared else "")
        known = "distances" if self.places is None else f"{self.places} positions"
        answers = {"reads": f"tokens 0 to {len(self.embedding) - 1}", "answers": self.output_name}
        return answers | {"has": f"{layers}, {known}"}

    def save(self, path: Any) -> Path:
        """Save the network and return the path."""
        return FORMAT.save(self, path)

    @classmethod
    def load(cls, path: Any) -> "EncoderTransformer":
        """The network in a file that `save` wrote. Opening a file never runs code."""
        return FORMAT.load(cls, path)

    def __check_init__(self) -> None:
        if not hasattr(self.readings, "shape"):  # jax rebuilds the network from placeholders
            return
        self.check_readings()
        check_stack("stack", self.stack, self.layers, self.heads)
        check_places(self)


def entry(network: Any, tokens: Int[Array, " position"], length: Int[Array, ""]) -> tuple[Array, Array]:
    """The stream of an encoder before its first layer, and the bias of its attention, -∞ for what lies behind."""
    at = jnp.arange(len(tokens))
    bias = jnp.zeros((network.heads, 1, 1))
    if network.distances is not None:
        bias = network.distances[:, distance_buckets(len(tokens))]
    start = network.embedding[tokens]
    if network.positions is not None:
        start = start + network.positions[jnp.minimum(at, len(network.positions) - 1)]
    return start, jnp.where(at < length, bias, -jnp.inf)


def check_places(network: Any) -> None:
    """Refuse a network that has not either embeddings of its positions or biases for distances."""
    if (None if network.positions is None else network.positions.shape[-2]) != network.places:
        raise InputError(f"the positions are not the {network.places} that were expected")
    if (network.distances is None) != (network.places is not None):
        raise InputError("the network needs either positions or distances")
    if network.distances is not None and network.distances.shape[-2:] != (network.heads, BUCKETS):
        raise InputError(f"the distances are not those of {network.heads} heads and {BUCKETS} buckets")


FORMAT = Format("encoder", "encoder Transformer", sizes=("symbols",))
