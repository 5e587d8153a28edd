"""A plain Transformer: softmax attention, an MLP of ReLU units, embedded positions, no norms.

Compiled networks, the same ones in another basis, and taught ones have this form in common, so explanations of all of
them can be compared. One function does every intervention: `keep` says how much of what each source wrote arrives at
each destination, and `other` what arrives in its place.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int, PRNGKeyArray

from kleene.caching import keep_compiled_programs_unless_jax_came_first
from kleene.errors import InputError
from kleene.machines.protocol import Shown, Size, shown_names
from kleene.machines.transformer.components import ComponentGraph
from kleene.machines.transformer.lens import SCALE, plain_model
from kleene.machines.weights import Axes, Format, arrays_of, plain, typed
from kleene.notation.words import PrefixedVocabulary, checked_input, padded
from kleene.traces import Channel, Trace, TraceBatch

keep_compiled_programs_unless_jax_came_first()


@dataclass(frozen=True)
class PlainLayout:
    """What a plain Transformer reads and answers.

    `positions` counts all positions, those before an input included. `labels` say what each dimension of the residual
    stream means and `heads` name the heads of each layer, where that is known; `layers_of` has the layer of each of the
    program's layers in which its heads read, counted from 1.
    """

    name: str
    symbols: int
    positions: int
    output: Channel
    causal: bool = False
    alphabet: tuple[str, ...] | None = None
    vocabulary: PrefixedVocabulary | None = None
    labels: tuple[str, ...] | None = None
    heads: tuple[tuple[str, ...], ...] | None = None
    layers_of: tuple[int, ...] | None = None

    @classmethod
    def of(cls, network: Any, **known: Any) -> "PlainLayout":
        """The layout of an unrolled network, which knows its longest input and has one category as its output."""
        layout, program = network.layout, network.layout.program
        output = program.segment(program.output_name).channel
        if output.kind != "category":
            raise InputError(
                f"{layout.name}: its output {output.name!r} is a {output.kind}, and a plain Transformer answers with a "
                f"category"
            )
        if layout.max_length is None:
            raise InputError(
                f"{layout.name}: a plain Transformer has a fixed number of positions; compile the program with "
                f"layers='unrolled' and max_length=…"
            )
        return cls(
            layout.name, program.input_range, layout.max_length, output, layout.causal, program.alphabet,
            program.vocabulary, **known,
        )  # fmt: skip

    @property
    def prefix(self) -> int:
        """How many positions are put before an input."""
        return 0 if self.vocabulary is None else 1

    def check_input(self, word: Sequence[Any]) -> list[int]:
        """The tokens of an input; refuses one that has other tokens or is too long."""
        if self.vocabulary is not None:
            tokens = self.vocabulary.codes(word, self.name)
        else:
            tokens = checked_input(word, self.name, self.symbols, None, self.alphabet)
        if len(tokens) > self.positions:
            given, most = len(tokens) - self.prefix, self.positions - self.prefix
            raise InputError(f"{self.name}: the input has {given} tokens, and the network takes at most {most}")
        return tokens


class PlainTransformer(Shown, eqx.Module):
    """Attention and an MLP of ReLU units in each layer, without norms. The call is unbatched.

    >>> import kleene
    >>> from kleene.programs.rasp.library import entries
    >>> network = kleene.compile(entries()["reverse"].build(), layers="unrolled")
    >>> made = PlainTransformer.from_unrolled(network)
    >>> made.run("abc").output
    ['c', 'b', 'a']
    """

    tokens: Float[Array, "symbols width"]
    positions: Float[Array, "positions width"]
    query: Float[Array, "layers heads width key"]
    key: Float[Array, "layers heads width key"]
    value: Float[Array, "layers heads width key"]
    out: Float[Array, "layers heads key width"]
    mlp_in: Float[Array, "layers width units"]
    mlp_bias: Float[Array, "layers units"]
    mlp_out: Float[Array, "layers units width"]
    mlp_constant: Float[Array, "layers width"]
    readout: Float[Array, "values width"]
    readout_bias: Float[Array, " values"]
    layout: PlainLayout = eqx.field(static=True)

    @classmethod
    def from_unrolled(cls, network: Any) -> "PlainTransformer":
        """The plain form of an unrolled network, exact: see `kleene.machines.transformer.lens`."""
        PlainLayout.of(network)  # refuses a network that has none
        model = plain_model(network)
        blocks, units = model.blocks, max(1, *(block.mlp.bias.size for block in model.blocks))

        def stacked(arrays: Sequence[np.ndarray], axis: int | None = None) -> Array:
            """The arrays of all layers, with as many units on that axis as the largest MLP has."""
            whole = [
                a if axis is None else np.pad(a, [(0, units - a.shape[n] if n == axis else 0) for n in range(a.ndim)])
                for a in arrays
            ]
            return jnp.asarray(np.stack(whole), network.dtype)

        known = {"labels": model.labels, "heads": tuple(block.heads for block in blocks)}
        return cls(
            tokens=jnp.asarray(model.tokens, network.dtype),
            positions=jnp.asarray(model.positions, network.dtype),
            query=stacked([block.query / SCALE for block in blocks]),
            key=stacked([block.key for block in blocks]),
            value=stacked([block.value for block in blocks]),
            out=stacked([block.out for block in blocks]),
            mlp_in=stacked([block.mlp.inputs for block in blocks], 1),
            mlp_bias=stacked([block.mlp.bias for block in blocks], 0),
            mlp_out=stacked([block.mlp.outputs for block in blocks], 0),
            mlp_constant=stacked([block.mlp.constant for block in blocks]),
            readout=jnp.asarray(model.readout, network.dtype),
            readout_bias=jnp.zeros(len(model.readout), network.dtype),
            layout=PlainLayout.of(network, **known, layers_of=tuple(1 + block for block in model.attending)),
        )

    @classmethod
    def random(
        cls, layout: PlainLayout, *, width: int, layers: int, heads: int, key_size: int, units: int, key: PRNGKeyArray
    ) -> "PlainTransformer":
        """A network to be trained: weights N(0, 1/inputs), embeddings N(0, 1), biases 0.

        What a layer adds is scaled down by the square root of the number of layers, as the stream has no norms.
        """
        sizes = {"width": width, "layers": layers, "heads": heads, "key_size": key_size, "units": units}
        if min(sizes.values()) < 1:
            shown = ", ".join(f"{name}={size}" for name, size in sizes.items())
            raise InputError(f"a plain Transformer has sizes of 1 or more; it was given {shown}")
        keys, values = iter(jax.random.split(key, 9)), int(layout.output.size or 0)

        def draw(*shape: int, inputs: float) -> Array:
            return jax.random.normal(next(keys), shape) * inputs**-0.5

        return cls(
            tokens=draw(layout.symbols, width, inputs=1),
            positions=draw(layout.positions, width, inputs=1),
            query=draw(layers, heads, width, key_size, inputs=width * key_size),
            key=draw(layers, heads, width, key_size, inputs=width),
            value=draw(layers, heads, width, key_size, inputs=width),
            out=draw(layers, heads, key_size, width, inputs=heads * key_size * layers),
            mlp_in=draw(layers, width, units, inputs=width),
            mlp_bias=jnp.zeros((layers, units)),
            mlp_out=draw(layers, units, width, inputs=units * layers),
            mlp_constant=jnp.zeros((layers, width)),
            readout=draw(values, width, inputs=width),
            readout_bias=jnp.zeros(values),
            layout=layout,
        )

    @property
    def graph(self) -> ComponentGraph:
        """What writes to the residual stream and what reads it."""
        return ComponentGraph(*self.query.shape[-4:-2])

    def __call__(
        self,
        tokens: Int[Array, " position"],
        length: Int[Array, ""],
        keep: Float[Array, "destinations sources"] | None = None,
        other: Float[Array, "sources position width"] | None = None,
    ) -> Float[Array, "position values"]:
        """The logits of the output at each position of a word, padded to any number of positions.

        A destination reads, of each source before it, `keep` of what the source wrote and the rest of `other`, which is
        0 by default. Both default to a run in which nothing is changed.
        """
        if keep is None:
            stream = jnp.sum(self.written(tokens, length), axis=0)
        else:
            nothing = jnp.zeros((len(self.graph.sources), len(tokens), self.tokens.shape[1]), self.tokens.dtype)
            stream = self._mixed(tokens, length, keep, nothing if other is None else other)
        return self.logits(stream)

    def written(
        self, tokens: Int[Array, " position"], length: Int[Array, ""]
    ) -> Float[Array, "sources position width"]:
        """What each source wrote to the residual stream. Their sum is the stream after the last layer."""
        embedded, seen = self.embedded(tokens), self.seen(len(tokens), length)

        def step(stream: Array, layer: PlainTransformer) -> tuple[Array, Array]:
            read = stream[None]
            heads = layer.attend(read, read, read, seen)
            after = stream + jnp.sum(heads, axis=0)
            change = layer.think(after)
            return after + change, jnp.concatenate([heads, change[None]])

        _, found = jax.lax.scan(step, jnp.sum(embedded, axis=0), self.by_layer())
        return jnp.concatenate([embedded, found.reshape(-1, *found.shape[2:])])

    def _mixed(self, tokens: Array, length: Array, keep: Array, other: Array) -> Float[Array, "position width"]:
        """What the output reads."""
        heads, possible = self.query.shape[1], jnp.asarray(self.graph.possible)
        own, of_other = jnp.where(possible, keep, 0), jnp.where(possible, 1 - keep, 0)
        embedded, seen = self.embedded(tokens), self.seen(len(tokens), length)
        written = jnp.concatenate([embedded, jnp.zeros((len(other) - 2, *embedded.shape[1:]), embedded.dtype)])
        given = _times("ds,spw->dpw", of_other, other)

        def read(written: Array, own: Array, given: Array) -> Array:
            return _times("ds,spw->dpw", own, written) + given

        def step(carry: tuple[Array, Array], scanned: Any) -> tuple[tuple[Array, Array], None]:
            written, first = carry
            layer, own, given = scanned
            inputs = read(written, own[:-1], given[:-1]).reshape(heads, 3, *written.shape[1:])
            added = layer.attend(inputs[:, 0], inputs[:, 1], inputs[:, 2], seen)
            written = jax.lax.dynamic_update_slice_in_dim(written, added, first, axis=0)
            change = layer.think(read(written, own[-1:], given[-1:])[0])
            written = jax.lax.dynamic_update_slice_in_dim(written, change[None], first + heads, axis=0)
            return (written, first + heads + 1), None

        def of_layers(rows: Array) -> Array:
            return rows[:-1].reshape(-1, 3 * heads + 1, *rows.shape[1:])

        start = (written, jnp.asarray(2))
        (written, _), _ = jax.lax.scan(step, start, (self.by_layer(), of_layers(own), of_layers(given)))
        return read(written, own[-1:], given[-1:])[0]

    def attend(
        self,
        queried: Float[Array, "#heads position width"],
        keyed: Float[Array, "#heads position width"],
        valued: Float[Array, "#heads position width"],
        seen: Any,
    ) -> Float[Array, "heads position width"]:
        """What each head of one layer writes; each reads a stream of its own for queries, keys and values."""
        pattern = self.pattern(queried, keyed, seen)
        mixed = _times("hij,hjk->hik", pattern, _times("hpw,hwk->hpk", valued, self.value))
        return _times("hik,hkw->hiw", mixed, self.out)

    def pattern(
        self, queried: Float[Array, "#heads position width"], keyed: Float[Array, "#heads position width"], seen: Any
    ) -> Float[Array, "heads position position"]:
        """How much each head of one layer reads from each position, at each position."""
        query, key = _times("hpw,hwk->hpk", queried, self.query), _times("hpw,hwk->hpk", keyed, self.key)
        return jax.nn.softmax(jnp.where(seen, _times("hik,hjk->hij", query, key), -jnp.inf), axis=-1)

    def think(self, stream: Float[Array, "position width"]) -> Float[Array, "position width"]:
        """What the MLP of one layer writes."""
        return self.from_units(self.to_units(stream))

    def to_units(self, stream: Float[Array, "position width"]) -> Float[Array, "position units"]:
        """What the hidden units of one layer's MLP hold."""
        return jax.nn.relu(_times("pw,wu->pu", stream, self.mlp_in) + self.mlp_bias)

    def from_units(self, held: Float[Array, "position units"]) -> Float[Array, "position width"]:
        """What the MLP of one layer writes if its units hold this."""
        return _times("pu,uw->pw", held, self.mlp_out) + self.mlp_constant

    def logits(self, stream: Float[Array, "position width"]) -> Float[Array, "position values"]:
        """What the output reads off the stream after the last layer."""
        return _times("pw,vw->pv", stream, self.readout) + self.readout_bias

    def by_layer(self) -> "PlainTransformer":
        """The weights that a scan takes apart layer by layer; the others are left out."""
        return eqx.tree_at(
            lambda one: (one.tokens, one.positions, one.readout, one.readout_bias), self, (None, None, None, None)
        )

    def embedded(self, tokens: Array) -> Float[Array, "two position width"]:
        """What the tokens and the positions write at the start."""
        return jnp.stack([self.tokens[tokens], self.positions[: len(tokens)]])

    def seen(self, size: int, length: Array) -> Any:
        """Which positions a position may read: those of the word, and in a causal network none to the right."""
        at = jnp.arange(size)
        inside = at < length
        return inside & (at <= at[:, None]) if self.layout.causal else inside

    def encode(self, words: Sequence[Sequence[Any]]) -> tuple[Int[np.ndarray, "batch position"], np.ndarray]:
        """The tokens of words of unequal length, padded, and their lengths, those before an input included."""
        tokens, lengths = padded([self.layout.check_input(word) for word in words])
        return tokens, lengths.astype(np.int32)

    def run(self, word: Sequence[Any]) -> Trace:
        """The trace of one word: what the readout says of the residual stream at the start and after each layer."""
        return self.run_batch([word])[0]

    def run_batch(self, words: Sequence[Sequence[Any]]) -> TraceBatch:
        """The traces of many words of unequal length at once."""
        tokens, lengths = self.encode(words)
        output, layers = self.layout.output, self.graph.layers
        codes = np.zeros((len(words), layers + 1, tokens.shape[1]), np.int32)
        if tokens.size:
            codes = np.array(_after_each_layer(self, jnp.asarray(tokens), jnp.asarray(lengths)))
        codes[np.broadcast_to(np.arange(tokens.shape[1]) >= lengths[:, None, None], codes.shape)] = -1
        steps, halted = np.full(len(words), layers), np.ones(len(words), bool)
        return TraceBatch(
            (output,), {output.name: codes}, steps, lengths.astype(np.int64), halted, output.name, "network",
            prefix=self.layout.prefix,
        )  # fmt: skip

    @property
    def size(self) -> Size:
        """The size; `hidden_units` are those of the MLPs of all layers."""
        nonzero = sum(int(np.count_nonzero(array)) for array in arrays_of(self).values())
        return Size(self.mlp_bias.size, self.parameter_count(), nonzero)

    def facts(self) -> dict[str, str]:
        layout, graph = self.layout, self.graph
        tokens = f"tokens 0 to {layout.symbols - 1}"
        if layout.alphabet is not None:
            tokens = shown_names(layout.alphabet, "symbols")
        kind = "causal" if layout.causal else "encoder"
        return {
            "reads": f"{tokens}, up to {layout.positions - layout.prefix} of them",
            "answers": layout.output.name,
            "has": f"{graph.layers} layers of {graph.heads} heads, width {self.tokens.shape[-1]}, {kind}",
        }

    def save(self, path: Any) -> Path:
        """Save the network and return the path."""
        return FORMAT.save(self, path, {"layout": plain(self.layout)})

    @classmethod
    def load(cls, path: Any) -> "PlainTransformer":
        """The network in a file that `save` wrote. Opening a file never runs code."""
        return FORMAT.load(cls, path)


def _times(axes: str, a: Array, b: Array) -> Array:
    """The product in full precision, on GPUs too: the scores of compiled networks are in the thousands."""
    return jnp.einsum(axes, a, b, precision=jax.lax.Precision.HIGHEST)


@eqx.filter_jit
def _after_each_layer(network: PlainTransformer, tokens: Array, lengths: Array) -> Int[Array, "batch step position"]:
    """The code of the output that the readout says at the start and after each layer."""

    def one(word: Array, length: Array) -> Array:
        written, heads = network.written(word, length), network.graph.heads
        start = jnp.sum(written[:2], axis=0)
        added = jnp.sum(written[2:].reshape(-1, heads + 1, *start.shape), axis=1)
        states = start + jnp.concatenate([jnp.zeros_like(start)[None], jnp.cumsum(added, axis=0)])
        return jnp.argmax(_times("lpw,vw->lpv", states, network.readout) + network.readout_bias, axis=-1)

    return jax.vmap(one)(tokens, lengths)


def _given(header: dict[str, Any], arrays: dict[str, np.ndarray]) -> dict[str, int]:
    """The sizes of axes that follow from the layout; refuses a layout that does not fit together."""
    layout: PlainLayout = typed(PlainLayout, header["layout"], "layout")
    if layout.output.kind != "category" or not layout.output.size:
        raise ValueError(f"its output {layout.output.name!r} is no category")
    width, layers = arrays["tokens"].shape[-1], len(arrays["query"])
    counts = {"labels": (layout.labels, width), "heads": (layout.heads, layers)}
    counts |= {"alphabet": (layout.alphabet, layout.symbols)}
    for name, (given, expected) in counts.items():
        if given is not None and len(given) != expected:
            raise ValueError(f"its {name} are {len(given)}, and {expected} were expected")
    for name, array in arrays.items():
        if array.dtype != arrays["tokens"].dtype:
            raise ValueError(f"{name} holds {array.dtype}, and tokens {arrays['tokens'].dtype}")
    return {"symbols": layout.symbols, "positions": layout.positions, "values": layout.output.size}


def _statics(header: dict[str, Any], axes: Axes) -> dict[str, Any]:
    return {"layout": typed(PlainLayout, header["layout"], "layout")}


FORMAT = Format("plain transformer", "plain Transformer", given=_given, statics=_statics)
