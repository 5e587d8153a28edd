"""The residual streams of Transformers on many words at once, and the traces that linear readings decode from them.

Words of about the same length are run in one jitted program, as many at once as fit into a bounded amount of memory.
"""

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any, NamedTuple, Protocol, runtime_checkable

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int

from kleene.errors import InputError
from kleene.limits import check_memory
from kleene.machines.transformer.attention import softmax
from kleene.machines.transformer.layer import advance, prepare
from kleene.machines.transformer.learned_mlp import LearnedMLP, MLPTransformer, after_mlp
from kleene.machines.transformer.parameters import Parameters
from kleene.machines.transformer.universal_transformer import UniversalTransformer
from kleene.notation.words import padded
from kleene.traces import Channel, Trace, TraceBatch
from kleene.traces.attention import AttentionPatterns

SEGMENT = 8  # words are padded to a multiple of this many positions, so that few lengths are compiled
HEADS = 8  # that attention is taken to have where memory is counted
AT_ONCE = 1 << 21  # numbers in the residual streams that are computed at once; more are slower, on a CPU


class Streams(NamedTuple):
    """The residual stream of a word at the start and after each layer, and after each attention."""

    states: Float[Array, "step position width"]
    attended: Float[Array, "layers position width"]


class ResidualStreams(NamedTuple):
    """The residual streams of many words, and how much of each row is real.

    `attended[:, n]` is the stream after the attention of layer n + 1. `symbols` is how many tokens the network knows.
    """

    states: Float[np.ndarray, "batch step position width"]
    attended: Float[np.ndarray, "batch layers position width"]
    lengths: Int[np.ndarray, " batch"]
    layers: Int[np.ndarray, " batch"]
    symbols: int


@runtime_checkable
class ReadTransformer(Protocol):
    """A Transformer whose residual stream is read linearly. The call, on one word and its length, gives `Streams`."""

    @property
    def variables(self) -> tuple[tuple[str, int], ...]: ...
    @property
    def head_outputs(self) -> tuple[tuple[str, int], ...]: ...
    @property
    def output_name(self) -> str: ...
    @property
    def embedding(self) -> Any: ...

    def layers_for(self, positions: Any) -> Any: ...
    def layers_run(self, layers: int) -> int: ...
    def patterns(self, tokens: Any, layers: int) -> Any: ...
    def read(self, streams: Streams) -> dict[str, Any]: ...


class WordChunk(NamedTuple):
    """Some of the words, padded, with the layers that their program runs."""

    rows: np.ndarray
    tokens: np.ndarray
    lengths: np.ndarray
    layers: int


def chunks(
    network: ReadTransformer, words: Sequence[list[int]], counts: np.ndarray, at_once: int
) -> Iterator[WordChunk]:
    """The words by their size, as many at once as take `at_once` numbers.

    Few programs are compiled: positions are rounded up to a multiple of `SEGMENT`, the network rounds its layers up,
    and there is one number of words for each size. The last word stands for those that are missing. A single word is
    run alone.
    """
    tokens, lengths = padded(words)
    run = {count: network.layers_run(max(count, 1)) for count in set(counts.tolist())}
    sizes = np.stack([_segments(lengths), [run[count] for count in counts.tolist()]], axis=1)
    width = network.embedding.shape[1]
    for size, layers in np.unique(sizes, axis=0).tolist():
        each = (2 * layers + 1) * size * width + HEADS * size**2
        most = 1 << (max(1, at_once // each).bit_length() - 1)
        group = np.flatnonzero((sizes == (size, layers)).all(axis=1))
        for first in range(0, len(group), most):
            rows = group[first : first + most]
            filled = np.concatenate([rows, np.repeat(rows[-1:], 0 if len(group) == 1 else most - len(rows))])
            here = np.zeros((len(filled), size), np.int32)
            real = min(size, tokens.shape[1])
            here[:, :real] = tokens[filled, :real]
            yield WordChunk(rows, here, lengths[filled].astype(np.int32), layers)


def _segments(numbers: np.ndarray) -> np.ndarray:
    return -(-numbers // SEGMENT) * SEGMENT


def decoded(
    network: ReadTransformer, words: Sequence[list[int]], layers: int | None = None, *, at_once: int = AT_ONCE
) -> TraceBatch:
    """The decoded traces of checked words: each variable after each layer, and what each head read in it."""
    counts = _counts(network, words, layers)
    lengths = np.array([len(word) for word in words], dtype=np.int64)
    channels = [Channel(name, "category", size) for name, size in network.variables]
    channels += [Channel(name, "category", size, per_step=True) for name, size in network.head_outputs]
    shape = (len(words), int(counts.max(initial=0)) + 1, int(lengths.max(initial=0)))
    data = {channel.name: np.full(shape, -1, np.int32) for channel in channels}
    for chunk in chunks(network, words, counts, at_once):
        found = _decode(network, jnp.asarray(chunk.tokens), jnp.asarray(chunk.lengths), chunk.layers)
        steps, positions = min(shape[1], chunk.layers + 1), min(shape[2], chunk.tokens.shape[1])
        real = (np.arange(steps) <= counts[chunk.rows][:, None])[..., None]
        real = real & (np.arange(positions) < lengths[chunk.rows][:, None])[:, None]
        for name, rows in found.items():
            here = np.asarray(rows)[: len(chunk.rows), :steps, :positions]
            data[name][chunk.rows, :steps, :positions] = np.where(real, here, -1)
    for name, _ in network.head_outputs:
        data[name][:, :1] = -1
    halted = np.ones(len(words), bool)
    patterns = partial(_patterns, network, words)
    return TraceBatch(tuple(channels), data, counts, lengths, halted, network.output_name, "network", patterns=patterns)


def _patterns(network: ReadTransformer, words: Sequence[list[int]], index: int, trace: Trace) -> AttentionPatterns:
    """The attention patterns of one of the words, computed anew; heads have numbers for names."""
    found = np.asarray(network.patterns(jnp.asarray(words[index], jnp.int32), trace.steps))
    return AttentionPatterns(tuple(map(str, range(found.shape[1]))), found)


def residual_streams(
    network: ReadTransformer, words: Sequence[list[int]], *, at_once: int = AT_ONCE
) -> ResidualStreams:
    """The residual streams of checked words, in as many layers as each of them has."""
    counts, lengths = _counts(network, words, None), np.array([len(word) for word in words], dtype=np.int64)
    steps, positions = int(counts.max(initial=0)) + 1, int(lengths.max(initial=0))
    states = _room(len(words), steps, positions, network.embedding.shape[1])
    attended = np.zeros_like(states[:, 1:])
    for chunk in chunks(network, words, counts, at_once):
        found = _stream(network, jnp.asarray(chunk.tokens), jnp.asarray(chunk.lengths), chunk.layers)
        for held, rows in zip((states, attended), found):
            here = np.asarray(rows)[: len(chunk.rows), : held.shape[1], :positions]
            held[chunk.rows, : here.shape[1], : here.shape[2]] = here
    return ResidualStreams(states, attended, lengths, counts, len(network.embedding))


def _counts(network: ReadTransformer, words: Sequence[list[int]], layers: int | None) -> np.ndarray:
    if layers is not None and layers < 0:
        raise InputError(f"layers is {layers}; give 0 or more")
    return np.array([network.layers_for(len(word)) if layers is None else layers for word in words], dtype=np.int64)


def _room(*shape: int) -> np.ndarray:
    what = f"the residual streams of {shape[0]:,} words"
    check_memory(8 * np.prod(shape, dtype=float), what, "give fewer or shorter words")  # states and attended
    return np.zeros(shape, np.float32)


@eqx.filter_jit
def _decode(network: Any, tokens: Array, lengths: Array, layers: int) -> dict[str, Array]:
    def one(word: Array, length: Array) -> dict[str, Array]:
        logits = network.read(network(word, length, layers=layers))
        return {name: jnp.argmax(rows, axis=-1).astype(jnp.int32) for name, rows in logits.items()}

    return jax.vmap(one)(tokens, lengths)


@eqx.filter_jit
def _stream(network: Any, tokens: Array, lengths: Array, layers: int) -> Streams:
    return jax.vmap(lambda word, length: network(word, length, layers=layers))(tokens, lengths)


def compiled_streams(network: UniversalTransformer, words: Sequence[Sequence[Any]]) -> ResidualStreams:
    """The residual streams of a compiled Transformer, with attention computed as softmax, until each word has halted.

    What `run` refuses is not refused here.
    """
    layout, runnable = network.layout, prepare(network, "softmax")
    tokens, lengths = padded([layout.check_input(word) for word in words])

    def layer(state: np.ndarray) -> tuple[Any, Any]:
        step = advance(np, runnable, state, lengths)
        return step.read, step.state

    return _layer_by_layer(network, tokens, lengths, np.full(len(tokens), layout.max_layers), layer)


def learned_streams(network: MLPTransformer, words: Sequence[Sequence[Any]]) -> ResidualStreams:
    """The residual streams of a compiled Transformer with a learned MLP, until each word has ended."""
    compiled: Parameters = jax.tree.map(jnp.asarray, network.compiled)
    tokens, lengths = padded([network.layout.check_input(word) for word in words])

    @jax.jit
    def layer(state: Array) -> tuple[Array, Array]:
        with jax.default_matmul_precision("highest"):  # logits are in the thousands
            stream = state + softmax(jnp, compiled, state, jnp.asarray(lengths)).read
        return stream, after_mlp(network.mlp, compiled, stream)

    return _layer_by_layer(network, tokens, lengths, np.asarray(network.layers_for(lengths)), layer)


def _layer_by_layer(
    network: Any, tokens: np.ndarray, lengths: np.ndarray, limits: np.ndarray, layer: Callable[[Any], tuple[Any, Any]]
) -> ResidualStreams:
    """The streams of a network that may halt; `layer` gives the stream after attention and after the MLP."""
    state = np.asarray(network.tokens)[tokens]
    if network.positions is not None:
        state = state + np.asarray(network.positions)[: tokens.shape[1]]
    layers, ended = np.zeros(len(tokens), dtype=np.int64), np.zeros(len(tokens), dtype=bool)
    beyond = np.arange(tokens.shape[1]) >= lengths[:, None]
    states, attended = [np.asarray(state, np.float32)], []
    while True:
        if network.halt is not None:
            ended = ended | ((states[-1] @ np.asarray(network.halt, np.float32) > 0.5) | beyond).all(axis=1)
        ended = ended | (layers >= limits)
        if ended.all():
            break
        _room(len(tokens), len(states) + 1, *state.shape[1:])
        stream, state = layer(state)
        states.append(np.asarray(state, np.float32))
        attended.append(np.asarray(stream, np.float32))
        layers[~ended] = len(attended)
    after = np.stack(attended, axis=1) if attended else np.zeros((len(tokens), 0, *state.shape[1:]), np.float32)
    return ResidualStreams(np.stack(states, axis=1), after, lengths, layers, network.layout.input_range)


def with_random_mlp(network: MLPTransformer, seed: int) -> MLPTransformer:
    """The same compiled attention with a random MLP of the same sizes."""
    hidden = network.mlp.hidden
    sizes = {"depth": len(hidden), "units": hidden[0].bias.shape[-1]}
    outputs = network.mlp.output.bias.shape[-1]
    drawn = LearnedMLP.random(network.features, outputs, **sizes, key=jax.random.key(seed))
    return eqx.tree_at(lambda one: one.mlp, network, drawn)
