"""A compiled Universal Transformer whose MLP was learned: attention and embeddings are a compiler's, the MLP is not.

This is the machine of ALTA's trace supervision. The learned MLP reads what the compiled one would: the residual stream
after attention and the expansion's features, which are compiled as well. It gives the variables of the next stream;
the heads' dimensions are 0 there, so that the next attention can write them. Nothing is rounded on the way.
"""

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Int, PRNGKeyArray

from kleene.caching import keep_compiled_programs_unless_jax_came_first
from kleene.errors import InputError, Reason
from kleene.machines.protocol import Shown, Size
from kleene.machines.transformer.attention import softmax
from kleene.machines.transformer.layer import features_of
from kleene.machines.transformer.parameters import Expansion, Layout, Parameters, check_layout, register_all
from kleene.machines.transformer.patterns import PatternTap
from kleene.machines.weights import Axes, Format, arrays_of, plain, typed
from kleene.notation.words import padded
from kleene.traces import Channel, Trace, TraceBatch
from kleene.traces.attention import AttentionPatterns

keep_compiled_programs_unless_jax_came_first()
register_all()

SEGMENT = 8  # positions and layers are run in multiples of this, so that few shapes are compiled
BLOCK = 256  # words that are run at once


class DenseLayer(eqx.Module):
    """x W + b."""

    weights: Float[Array, "inputs outputs"]
    bias: Float[Array, " outputs"]

    @classmethod
    def random(cls, inputs: int, outputs: int, *, key: PRNGKeyArray) -> "DenseLayer":
        """Weights N(0, 2/inputs), which is usual before ReLU, and biases 0."""
        return cls(jax.random.normal(key, (inputs, outputs)) * (2 / inputs) ** 0.5, jnp.zeros(outputs))

    def __call__(self, x: Float[Array, "*batch inputs"]) -> Float[Array, "*batch outputs"]:
        return x @ self.weights + self.bias


class LearnedMLP(eqx.Module):
    """Any number of hidden layers with ReLU, and a linear one."""

    hidden: tuple[DenseLayer, ...]
    output: DenseLayer

    @classmethod
    def random(cls, features: int, outputs: int, *, depth: int, units: int, key: PRNGKeyArray) -> "LearnedMLP":
        """An MLP to be trained, with `depth` hidden layers of so many units."""
        if min(features, outputs, depth, units) < 1:
            raise InputError(f"an MLP needs at least one hidden layer and unit; it was given {depth} layers of {units}")
        keys, sizes = jax.random.split(key, depth + 1), [features, *[units] * depth]
        hidden = tuple(DenseLayer.random(a, b, key=k) for a, b, k in zip(sizes, sizes[1:], keys))
        return cls(hidden, DenseLayer.random(units, outputs, key=keys[-1]))

    def __call__(self, x: Float[Array, "*batch features"]) -> Float[Array, "*batch outputs"]:
        for layer in self.hidden:
            x = jax.nn.relu(layer(x))
        return self.output(x)


class LearnedRun(NamedTuple):
    """A run of a batch: entries of each channel after each layer, the last stream, and when each word ended."""

    entries: dict[str, Array]  # (step, batch, position, …), and for heads from step 1 on
    state: Float[Array, "batch position width"]
    steps: Int[Array, " batch"]
    halted: Bool[Array, " batch"]


class MLPTransformer(Shown, eqx.Module):
    """A compiled Transformer with a learned MLP. The call is batched, and words may be of unequal length.

    A word ends when the halting variable says so at every position, at the latest after `layers` layers, and one more
    for each position if the network `grows`: as many as the program takes. Variables are read as the nearest value.
    """

    mlp: LearnedMLP
    tokens: Float[np.ndarray, "symbols width"]
    positions: Float[np.ndarray, "positions width"] | None
    query: Float[np.ndarray, "heads width key"]
    key: Float[np.ndarray, "heads width key"]
    value: Float[np.ndarray, "heads width entry"]
    out: Float[np.ndarray, "heads entry width"]
    relative: Float[np.ndarray, "heads offsets"]
    expansion: Expansion | None
    halt: Float[np.ndarray, " width"] | None
    layout: Layout = eqx.field(static=True)
    layers: int = eqx.field(static=True)
    grows: bool = eqx.field(static=True)

    @classmethod
    def of(cls, compiled: Parameters, mlp: LearnedMLP, *, layers: int, grows: bool) -> "MLPTransformer":
        """The compiled network with another MLP."""
        names = ("tokens", "positions", "query", "key", "value", "out", "relative", "expansion", "halt", "layout")
        return cls(mlp, **{name: getattr(compiled, name) for name in names}, layers=layers, grows=grows)

    def __check_init__(self) -> None:
        if not hasattr(self.mlp.output.bias, "shape"):  # jax rebuilds the network from placeholders
            return
        sizes = [self.features, *(layer.bias.shape[-1] for layer in self.mlp.hidden), kept_width(self.layout)]
        for layer, inputs, outputs in zip((*self.mlp.hidden, self.mlp.output), sizes, sizes[1:]):
            if layer.weights.shape[-2:] != (inputs, outputs) or layer.bias.shape[-1:] != (outputs,):
                raise InputError(
                    f"the MLP has a layer of shape {layer.weights.shape}, and {(inputs, outputs)} was expected"
                )
        if self.layers < (-1 if self.grows else 1):
            raise InputError(f"its layers are {self.layers}, which is too few")

    @property
    def features(self) -> int:
        """How many numbers the MLP reads."""
        return self.layout.width + (0 if self.expansion is None else self.expansion.constant.shape[-1])

    @property
    def compiled(self) -> Parameters:
        """The compiled part, with an MLP that has no units."""
        mlp_in, mlp_bias, mlp_out = np.zeros((self.features, 0)), np.zeros(0), np.zeros((0, self.layout.width))
        return Parameters(
            self.tokens, self.positions, self.query, self.key, self.value, self.out, self.relative, self.expansion,
            mlp_in, mlp_bias, mlp_out, self.halt, None, self.layout,
        )  # fmt: skip

    def layers_for(self, positions: Any) -> Any:
        """The largest number of layers for a word of so many positions."""
        return self.layers + positions * self.grows

    def __call__(
        self, tokens: Int[Array, "batch position"], lengths: Int[Array, " batch"], *, layers: int
    ) -> LearnedRun:
        """The run of a batch of padded words, in at most so many layers."""
        return run_learned(self.mlp, self.compiled, tokens, lengths, self.layers_for(lengths), layers)

    def run(self, word: Sequence[Any]) -> Trace:
        """The decoded trace of one word."""
        return self.run_batch([word])[0]

    def run_batch(self, words: Sequence[Sequence[Any]], *, record: bool = True) -> TraceBatch:
        """The decoded traces of words of unequal length. Without `record` only outputs are kept."""
        tokens, lengths = padded([self.layout.check_input(word) for word in words])
        limits = np.asarray(self.layers_for(lengths), np.int64)
        most, name = int(limits.max(initial=0)), self.layout.output_name
        channels = [c for c in self.layout.channels if record or c.name == name]
        data = {c.name: _empty(c, len(words), most + 1 if record else 1, tokens.shape[1]) for c in channels}
        steps, halted = np.zeros(len(words), np.int64), np.zeros(len(words), bool)
        order = np.argsort(lengths, kind="stable")  # words of about one length are run together
        for first in range(0, len(words), BLOCK):
            rows = order[first : first + BLOCK]
            ran = self._run_block(tokens[rows], lengths[rows], limits[rows], record=record)
            steps[rows], halted[rows] = np.asarray(ran.steps)[: len(rows)], np.asarray(ran.halted)[: len(rows)]
            for channel in channels:
                entries = np.asarray(ran.entries[channel.name])
                data[channel.name][rows] = _placed(data[channel.name][rows], entries, steps[rows], channel, record)
        patterns = partial(_patterns, self, tokens, lengths)
        return TraceBatch(tuple(channels), data, steps, lengths, halted, name, "network", record, patterns=patterns)

    def _run_block(self, tokens: Any, lengths: Any, limits: Any, *, record: bool) -> LearnedRun:
        """The run of some words, padded so that few shapes are compiled."""
        room, size = 1 << (len(lengths) - 1).bit_length(), -(-int(lengths.max(initial=1)) // SEGMENT) * SEGMENT
        taken = np.pad(tokens, ((0, 0), (0, max(0, size - tokens.shape[1]))))[:, :size]
        taken, lengths, most = (np.resize(array, (room, *array.shape[1:])) for array in (taken, lengths, limits))
        layers = -(-int(limits.max(initial=0)) // SEGMENT) * SEGMENT if record else None
        return _run(self.mlp, self.compiled, taken, lengths, most, layers)

    @property
    def alphabet(self) -> tuple[str, ...] | None:
        return self.layout.alphabet

    @property
    def size(self) -> Size:
        """The size; `hidden_units` are those of the learned MLP."""
        nonzero = sum(int(np.count_nonzero(array)) for array in arrays_of(self).values())
        return Size(sum(len(layer.bias) for layer in self.mlp.hidden), self.parameter_count(), nonzero)

    def facts(self) -> dict[str, str]:
        layers = f"as many layers as positions, {self.layers:+}" if self.grows else f"{self.layers} layers"
        units = " and ".join(str(layer.bias.shape[-1]) for layer in self.mlp.hidden)
        has = f"compiled attention and a learned MLP of {units} units, at most {layers}"
        return {"reads": f"tokens 0 to {self.layout.input_range - 1}", "answers": self.layout.output_name, "has": has}

    def save(self, path: Any) -> Path:
        """Save the network and return the path."""
        header = {"layout": plain(self.layout), "layers": self.layers, "grows": self.grows}
        return FORMAT.save(self, path, header)

    @classmethod
    def load(cls, path: Any) -> "MLPTransformer":
        """The network in a file that `save` wrote. Opening a file never runs code."""
        return FORMAT.load(cls, path)


class Advance(NamedTuple):
    """A layer of a batch of words as a function, and the streams that it starts from."""

    start: tuple[Array, Array]  # the stream, and after how many layers each word halted, or -1
    step: Callable[[tuple[Array, Array], Array], tuple[tuple[Array, Array], dict[str, Array]]]
    layout: Layout


def _patterns(
    network: MLPTransformer, tokens: np.ndarray, lengths: np.ndarray, index: int, trace: Trace
) -> AttentionPatterns:
    """The attention patterns of one of the words, computed anew."""
    compiled: Parameters = jax.tree.map(jnp.asarray, network.compiled)
    length, word = jnp.asarray(lengths[index : index + 1]), jnp.asarray(tokens[index : index + 1, : lengths[index]])
    state, _ = layers_of(network.mlp, compiled, word, length, length)[0]
    found = []
    for _ in range(trace.steps):
        tap = PatternTap()
        with jax.default_matmul_precision("highest"):
            state = after_mlp(network.mlp, compiled, state + softmax(jnp, compiled, state, length, tap).read)
        found.append(np.asarray(tap.found)[0])
    empty = np.zeros((0, len(network.layout.heads), *[int(lengths[index])] * 2))
    return AttentionPatterns(network.layout.heads, np.stack(found) if found else empty)


def layers_of(mlp: LearnedMLP, compiled: Parameters, tokens: Array, lengths: Array, limits: Array) -> Advance:
    """The layer of a batch of padded words, each in at most as many layers as its limit."""
    compiled = jax.tree.map(jnp.asarray, compiled)
    layout = compiled.layout
    start = compiled.tokens[tokens]
    if compiled.positions is not None:
        start = start + compiled.positions[jnp.minimum(jnp.arange(tokens.shape[1]), len(compiled.positions) - 1)]

    def has_halted(state: Array) -> Array:
        if compiled.halt is None:
            return jnp.zeros(lengths.shape, dtype=bool)
        beyond = jnp.arange(state.shape[1]) >= lengths[:, None]
        return ((state @ compiled.halt > 0.5) | beyond).all(axis=1)

    def step(carry: tuple[Array, Array], layer: Array) -> tuple[tuple[Array, Array], dict[str, Array]]:
        state, ended = carry
        with jax.default_matmul_precision("highest"):  # logits are in the thousands
            attended = softmax(jnp, compiled, state, lengths)
        stream = state + attended.read
        running = (ended < 0) & (layer < limits)
        state = jnp.where(running[:, None, None], after_mlp(mlp, compiled, stream), state)
        ended = jnp.where(running & has_halted(state), layer + 1, ended)
        return (state, ended), read_kept(layout, state) | read_heads(layout, stream, attended.reasons)

    return Advance((start, jnp.where(has_halted(start), 0, -1)), step, layout)


def run_learned(
    mlp: LearnedMLP,
    compiled: Parameters,
    tokens: Int[Array, "batch position"],
    lengths: Int[Array, " batch"],
    limits: Int[Array, " batch"],
    layers: int,
) -> LearnedRun:
    """The run of a batch of padded words, each in at most as many layers as its limit, and `layers` in all."""
    limits = jnp.minimum(limits, layers)
    advance = layers_of(mlp, compiled, tokens, lengths, limits)
    first = read_kept(advance.layout, advance.start[0])
    (state, ended), found = jax.lax.scan(advance.step, advance.start, jnp.arange(layers))
    found |= {name: jnp.concatenate([first[name][None], found[name]]) for name in first}
    return LearnedRun(found, state, jnp.where(ended >= 0, ended, limits), ended >= 0)


def run_to_end(
    mlp: LearnedMLP,
    compiled: Parameters,
    tokens: Int[Array, "batch position"],
    lengths: Int[Array, " batch"],
    limits: Int[Array, " batch"],
) -> LearnedRun:
    """The same until every word has ended; `entries` has the output after the last layer alone."""
    advance = layers_of(mlp, compiled, tokens, lengths, limits)

    def is_running(carry: tuple[Array, Array, Array]) -> Array:
        _, ended, layer = carry
        return ((ended < 0) & (layer < limits)).any()

    def step(carry: tuple[Array, Array, Array]) -> tuple[Array, Array, Array]:
        return *advance.step(carry[:2], carry[2])[0], carry[2] + 1

    state, ended, _ = jax.lax.while_loop(is_running, step, (*advance.start, jnp.int32(0)))
    name = advance.layout.output_name
    output = {name: read_kept(advance.layout, state)[name][None]}
    return LearnedRun(output, state, jnp.where(ended >= 0, ended, limits), ended >= 0)


def after_mlp(mlp: LearnedMLP, compiled: Parameters, stream: Float[Array, "*batch width"]) -> Array:
    """The stream after the learned MLP, 0 in the heads' dimensions."""
    after = mlp(mlp_features(compiled.expansion, stream))
    return jnp.pad(after, [(0, 0)] * (after.ndim - 1) + [(0, stream.shape[-1] - after.shape[-1])])


def kept_width(layout: Layout) -> int:
    """The number of dimensions of the variables, which come before those of the heads."""
    return sum(segment.width for segment in layout.kept_segments)


def mlp_features(expansion: Expansion | None, stream: Float[Array, "*batch width"]) -> Float[Array, "*batch features"]:
    """What the MLP reads: the stream, and the features that the compiled expansion makes of its numbers and sets."""
    if expansion is None:
        return stream
    parts = (expansion.inputs, expansion.bias, expansion.outputs, expansion.constant)
    with jax.default_matmul_precision("highest"):  # slopes are in the thousands
        return features_of(jnp, tuple(map(jnp.asarray, parts)), "clipped", stream)[0]


def read_nearest(channel: Channel, dims: Array) -> Array:
    """The nearest value that dimensions (…, width) stand for: a category, a declared number, or a set."""
    if channel.kind == "category":
        return jnp.argmax(dims, axis=-1).astype(jnp.int32)
    if channel.kind == "set":
        return dims > 0.5
    values = jnp.asarray(channel.values, dims.dtype)
    return values[jnp.argmin(jnp.abs(dims - values), axis=-1)]


def read_kept(layout: Layout, state: Array) -> dict[str, Array]:
    """The entries of the variables."""
    return {s.channel.name: read_nearest(s.channel, state[..., s.start : s.stop]) for s in layout.kept_segments}


def read_heads(layout: Layout, stream: Array, reasons: Array) -> dict[str, Array]:
    """The entries of the heads' outputs, undefined where a head selects nothing; a number is given as it was read."""
    found = {}
    for head, segment in enumerate(layout.head_segments):
        dims, reason = stream[..., segment.start : segment.stop], reasons[..., head]
        if segment.channel.kind == "category":
            found[segment.channel.name] = jnp.where(reason == 0, read_nearest(segment.channel, dims), -1)
        else:
            defined = (reason == 0) | (reason == int(Reason.BETWEEN))
            found[segment.channel.name] = jnp.where(defined, dims[..., 0], jnp.nan)
    return found


@eqx.filter_jit
def _run(
    mlp: LearnedMLP, compiled: Parameters, tokens: Any, lengths: Any, limits: Any, layers: int | None
) -> LearnedRun:
    """The run in so many layers, all of them recorded, or to the end with the outputs alone."""
    tokens, lengths, limits = (jnp.asarray(array) for array in (tokens, lengths, limits))
    if layers is None:
        return run_to_end(mlp, compiled, tokens, lengths, limits)
    return run_learned(mlp, compiled, tokens, lengths, limits, layers)


def _empty(channel: Channel, rows: int, steps: int, positions: int) -> np.ndarray:
    return np.full((rows, steps, positions, *channel.entry_shape), channel.empty, dtype=channel.dtype)


def _placed(into: np.ndarray, entries: np.ndarray, steps: np.ndarray, channel: Channel, record: bool) -> np.ndarray:
    """The rows of a block with its entries (step, batch, position, …), as far as each word ran."""
    first = int(channel.per_step)
    taken = np.swapaxes(entries, 0, 1)[: len(into), : into.shape[1] - first, : into.shape[2]]
    ran = first + np.arange(taken.shape[1]) <= steps[:, None] if record else np.ones(taken.shape[:2], bool)
    width = taken.shape[2]
    into[:, first : first + taken.shape[1], :width][ran] = taken[ran]
    return into


def _given(header: dict[str, Any], arrays: dict[str, np.ndarray]) -> dict[str, int]:
    """The sizes of axes that follow from the layout."""
    layout: Layout = typed(Layout, header["layout"], "layout")
    check_layout(layout)
    if [s.channel.per_step for s in layout.segments] != sorted(s.channel.per_step for s in layout.segments):
        raise ValueError("its heads do not come after its variables")
    needed = {"positions": layout.position_range is not None, "halt": layout.halts}
    for name, is_needed in needed.items():
        if is_needed and name not in arrays:
            raise ValueError(f"{name} is missing")
    sizes = {"symbols": layout.input_range, "heads": len(layout.heads), "width": layout.width}
    return sizes | ({} if layout.position_range is None else {"positions": layout.position_range})


def _statics(header: dict[str, Any], axes: Axes) -> dict[str, Any]:
    hints = {"layout": Layout, "layers": int, "grows": bool}
    return {name: typed(hint, header[name], name) for name, hint in hints.items()}


FORMAT = Format(
    "transformer with a learned mlp",
    "network",
    given=_given,
    statics=_statics,
    own=("inputs", "outputs"),
    remedy="teach it again",
    may_be_empty=True,
)
