"""The LSTM (Hochreiter and Schmidhuber, 1997): tokens are embedded, pass through layers of gates, and are read out."""

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jax.core import Tracer
from jaxtyping import Array, Bool, Float, Int, PRNGKeyArray

from kleene.caching import keep_compiled_programs_unless_jax_came_first
from kleene.errors import InputError
from kleene.machines.language import Token, encoded, language_trace, read_vocabulary, vocabulary_header
from kleene.machines.lstm.editing import edited_hidden
from kleene.machines.lstm.pytorch import to_torch, torch_weights
from kleene.machines.lstm.reading import state_trace
from kleene.machines.protocol import Shown, Size, shown_names
from kleene.machines.rnn.execution import StateReading
from kleene.machines.weights import Axes, Format, arrays_of, typed
from kleene.notation.edit_plans import edits_of_rows
from kleene.notation.edits import Edit, Edits
from kleene.traces import Trace

keep_compiled_programs_unless_jax_came_first()

SEGMENT = 16  # steps of a jitted call; long words take several calls, so that a new length compiles nothing
ROWS = (16, 128, 1024)  # a batch is padded to one of these sizes, for the same reason


class Memory(eqx.Module):
    """The state of an LSTM: the hidden and cell vectors of all layers."""

    hidden: Float[Array, "*batch layers hidden"]
    cell: Float[Array, "*batch layers hidden"]


class Layer(eqx.Module):
    """One layer; rows of the weights are the gates i, f, g, o one after another, as in `torch.nn.LSTM`.

    c' = σ(f)·c + σ(i)·tanh(g) and h' = σ(o)·tanh(c'). PyTorch's two biases are one here, their sum.
    """

    inputs: Float[Array, "gates entry"]
    recurrent: Float[Array, "gates hidden"]
    bias: Float[Array, " gates"]

    def __call__(
        self, hidden: Float[Array, " hidden"], cell: Float[Array, " hidden"], entry: Float[Array, " entry"]
    ) -> tuple[Float[Array, " hidden"], Float[Array, " hidden"]]:
        gates = self.inputs @ entry + self.recurrent @ hidden + self.bias
        input_gate, forget_gate, candidate, output_gate = jnp.split(gates, 4)
        cell = jax.nn.sigmoid(forget_gate) * cell + jax.nn.sigmoid(input_gate) * jnp.tanh(candidate)
        return jax.nn.sigmoid(output_gate) * jnp.tanh(cell), cell


class LSTM(Shown, eqx.Module):
    """An LSTM over a vocabulary of tokens. The call is one unbatched step; batch with `jax.vmap`.

    With one output it is an acceptor: a word is accepted when its output is above `threshold`. With an output for
    every token, the default, it is a language model. The output of the empty word is that of `start`. If a compiler
    left a `reading`, hidden vectors decode to the states of its automaton.

    >>> network = LSTM.random("ab", 4, outputs=1, key=jax.random.key(0))
    >>> network.outputs("abba").shape  # before the first token, and after each
    (5, 1)
    >>> network.accepts_batch(["", "ab"]).shape
    (2,)
    """

    embedding: Float[Array, "symbols embedding"]
    layers: tuple[Layer, ...]
    start: Memory
    decoder: Float[Array, "outputs hidden"]
    decoder_bias: Float[Array, " outputs"]
    vocabulary: tuple[Token, ...] = eqx.field(static=True)
    threshold: float = eqx.field(static=True, default=0.0)
    reading: StateReading | None = eqx.field(static=True, default=None)

    @classmethod
    def random(
        cls,
        vocabulary: Sequence[Token] | int,
        hidden: int,
        layers: int = 1,
        *,
        outputs: int | None = None,
        embedding: int | None = None,
        threshold: float = 0.0,
        key: PRNGKeyArray,
    ) -> "LSTM":
        """A network to be trained, initialised as PyTorch does: U(-1/√hidden, 1/√hidden), embeddings N(0, 1).

        `vocabulary` may be a number: the tokens are then 0, 1, 2… By default, an embedding is as wide as the hidden
        layer, and there is an output for every token.
        """
        tokens = tuple(range(vocabulary)) if isinstance(vocabulary, int) else tuple(vocabulary)
        if not tokens or len(set(tokens)) != len(tokens) or min(hidden, layers) < 1:
            raise InputError(
                f"an LSTM needs different tokens, a hidden unit and a layer at least; it was given {len(tokens)} "
                f"tokens, {len(set(tokens))} of them different, hidden={hidden}, layers={layers}"
            )
        width = hidden if embedding is None else embedding
        read = len(tokens) if outputs is None else outputs
        shapes = [(read, hidden), (read,)]
        for entry in [width] + [hidden] * (layers - 1):
            shapes += [(4 * hidden, entry), (4 * hidden, hidden), (4 * hidden,)]
        first, second = jax.random.split(key)
        ends = np.cumsum([int(np.prod(shape)) for shape in shapes])
        drawn = jax.random.uniform(first, (int(ends[-1]),), minval=-(hidden**-0.5), maxval=hidden**-0.5)  # all at once
        # numpy splits without compiling anything, but not under jit
        parts = jnp.split(drawn, ends[:-1]) if isinstance(drawn, Tracer) else np.split(np.asarray(drawn), ends[:-1])
        weights = [jnp.asarray(part.reshape(shape)) for part, shape in zip(parts, shapes)]
        still = jnp.zeros((layers, hidden))
        return cls(
            embedding=jax.random.normal(second, (len(tokens), width)),
            layers=tuple(Layer(*weights[i : i + 3]) for i in range(2, len(weights), 3)),
            start=Memory(still, still),
            decoder=weights[0],
            decoder_bias=weights[1],
            vocabulary=tokens,
            threshold=threshold,
        )

    def __call__(self, state: Memory, token: Int[Array, ""]) -> Memory:
        """The memory after one more token, given as its index in the vocabulary."""
        entry, after = self.embedding[token], []
        for layer, hidden, cell in zip(self.layers, state.hidden, state.cell):
            after.append(layer(hidden, cell, entry))
            entry = after[-1][0]
        return Memory(jnp.stack([h for h, _ in after]), jnp.stack([c for _, c in after]))

    def advance(self, state: Memory, token: Int[Array, ""]) -> Memory:
        """The memory after one more token: the call, under the name that all recurrent networks share."""
        return self(state, token)

    def top(self, state: Memory) -> Float[Array, "*batch hidden"]:
        """The vector from which the outputs are computed: the last layer's hidden vector."""
        return state.hidden[..., -1, :]

    def read_out(self, state: Memory) -> Float[Array, " outputs"]:
        """The outputs in a state: the decoder applied to the last layer's hidden vector."""
        return self.decoder @ state.hidden[-1] + self.decoder_bias

    @property
    def alphabet(self) -> tuple[Token, ...]:
        return self.vocabulary

    @property
    def is_exact(self) -> bool:
        """Whether the weights are fractions: never, they are floats."""
        return False

    @property
    def activation(self) -> str:
        """What the units are, where a simple recurrent network says "relu", "slu" or "tanh"."""
        return "lstm"

    def memories(self, word: Sequence[Token]) -> Memory:
        """The start and the memory after each token of a word, in numpy: hidden and cell are [step, layer, unit]."""
        tokens = encoded([word], self.vocabulary)[0]
        padded = np.pad(tokens, (0, -len(tokens) % SEGMENT)).reshape(-1, SEGMENT)
        found = [jax.tree.map(lambda leaf: leaf[None], self.start)]
        for segment in padded:
            found.append(_recorded(self, jax.tree.map(lambda leaf: leaf[-1], found[-1]), jnp.asarray(segment)))
        return jax.tree.map(lambda *parts: np.concatenate(parts)[: len(tokens) + 1], *found)

    def hidden(self, word: Sequence[Token]) -> np.ndarray:
        """The hidden vectors at the start and after each token of a word: [step, layer, unit]."""
        return np.asarray(self.memories(word).hidden)

    def outputs(self, word: Sequence[Token]) -> np.ndarray:
        """The outputs at the start and after each token of a word: [step, output]."""
        return self.hidden(word)[:, -1] @ np.asarray(self.decoder).T + np.asarray(self.decoder_bias)

    def outputs_batch(self, words: Sequence[Sequence[Token]]) -> np.ndarray:
        """The outputs at the end of each of many words of unequal length: [word, output]."""
        rows = encoded(words, self.vocabulary)
        parts = [self._last_outputs(rows[i : i + ROWS[-1]]) for i in range(0, len(rows), ROWS[-1])]
        return np.concatenate([np.zeros((0, len(self.decoder_bias)), np.float32), *parts])

    def _last_outputs(self, words: list[np.ndarray]) -> np.ndarray:
        padded, lengths, memory = self._filled(words)
        for first in range(0, padded.shape[1], SEGMENT):
            going = np.arange(first, first + SEGMENT) < lengths[:, None]
            memory = _advanced(self, memory, jnp.asarray(padded[:, first : first + SEGMENT]), jnp.asarray(going))
        last = np.asarray(memory.hidden)[: len(words), -1]
        return last @ np.asarray(self.decoder).T + np.asarray(self.decoder_bias)

    def accepts(self, word: Sequence[Token]) -> bool:
        """Whether the network's output at the end of the word is above the threshold."""
        return bool(self.accepts_batch([word])[0])

    def accepts_batch(self, words: Sequence[Sequence[Token]]) -> np.ndarray:
        """Which of many words the network accepts."""
        if len(self.decoder_bias) != 1:
            raise InputError(
                f"this LSTM has {len(self.decoder_bias)} outputs, and an acceptor has one: make it with outputs=1, "
                f"or look at its `outputs`"
            )
        return self.outputs_batch(words)[:, 0] > self.threshold

    def run(self, word: Sequence[Token], *, edits: Sequence[Edit] = ()) -> Trace:
        """The trace on one word: each `word` read, each layer's `hidden.0` …, and the distribution of the `next` one.

        An acceptor has the channels `symbol` and `accepting` instead of `word` and `next`; one with a `reading` has the
        channels of its automaton: symbol, state and accepting. `edits` replace a layer's vector `hidden.0` or `cell.0`
        … after a token, and the run goes on from there: see `kleene.Edit`.
        """
        (tokens,) = encoded([word], self.vocabulary)
        return self._trace(tokens, edited_hidden(self, word, edits) if edits else self.hidden(word))

    def run_batch(self, words: Sequence[Sequence[Token]], *, edits: Edits = ()) -> list[Trace]:
        """The traces on many words of unequal length at once; with edits, one word after the other."""
        if edits:
            return [self.run(word, edits=own) for word, own in zip(words, edits_of_rows(edits, len(words)))]
        rows = encoded(words, self.vocabulary)
        parts = [rows[i : i + ROWS[1]] for i in range(0, len(rows), ROWS[1])]
        return [self._trace(*found) for part in parts for found in zip(part, self._hidden_of(part))]

    def _trace(self, tokens: np.ndarray, hidden: np.ndarray) -> Trace:
        logits = hidden[:, -1] @ np.asarray(self.decoder).T + np.asarray(self.decoder_bias)
        if self.reading is not None:
            return state_trace(self, tokens, hidden[:, -1], logits[:, 0] > self.threshold)
        return language_trace(self.vocabulary, tokens, hidden, logits, self.threshold)

    def _hidden_of(self, words: list[np.ndarray]) -> list[np.ndarray]:
        """The hidden vectors of each word, [step, layer, unit], the start first."""
        padded, _, memory = self._filled(words)
        found = [np.asarray(memory.hidden)[:, None]]
        for first in range(0, padded.shape[1], SEGMENT):
            later = _recorded_rows(self, memory, jnp.asarray(padded[:, first : first + SEGMENT]))
            memory = jax.tree.map(lambda leaf: leaf[:, -1], later)
            found.append(np.asarray(later.hidden))
        hidden = np.concatenate(found, axis=1)
        return [hidden[row, : len(tokens) + 1] for row, tokens in enumerate(words)]

    def _filled(self, words: list[np.ndarray]) -> tuple[np.ndarray, np.ndarray, Memory]:
        """The words padded to one of few shapes, their lengths, and the start of each row."""
        rows = next(size for size in ROWS if size >= len(words))
        lengths = np.array([len(tokens) for tokens in words] + [0] * (rows - len(words)))
        padded = np.zeros((rows, -(-int(lengths.max()) // SEGMENT) * SEGMENT), dtype=np.int32)
        for row, tokens in zip(padded, words):
            row[: len(tokens)] = tokens
        start = jax.tree.map(lambda leaf: jnp.asarray(np.broadcast_to(leaf, (rows, *leaf.shape))), self.start)
        return padded, lengths, start

    @property
    def size(self) -> Size:
        nonzero = sum(int(np.count_nonzero(array)) for array in arrays_of(self).values())
        return Size(len(self.layers) * self.decoder.shape[1], self.parameter_count(), nonzero)

    def facts(self) -> dict[str, str]:
        outputs = self.decoder_bias.shape[-1]
        verdict = "whether it accepts" if self.reading is None else "whether it accepts, and the state"
        answers = {1: verdict, len(self.vocabulary): "the next token"}
        return {"reads": shown_names(self.vocabulary, "tokens"), "answers": answers.get(outputs, f"{outputs} outputs")}

    def save(self, path: Any) -> Path:
        """Save the network and return the path. Tokens must be strings or whole numbers."""
        header = vocabulary_header(self.vocabulary) | {"threshold": float(self.threshold)}
        header |= {} if self.reading is None else {"reading": asdict(self.reading)}
        return FORMAT.save(self, path, header)

    @classmethod
    def load(cls, path: Any) -> "LSTM":
        """The network in a file that `save` wrote. Opening a file never runs code."""
        return FORMAT.load(cls, path)

    @staticmethod
    def from_torch(
        source: Any,
        *,
        vocabulary: Sequence[Token] | None = None,
        embedding: str | None = None,
        decoder: str | None = None,
    ) -> "LSTM":
        """The network of a PyTorch language model: a module, its state dict, or a safetensors file of that.

        Weights are found by their names and shapes; if several fit, name the matrices of `embedding` and
        `decoder`. The tokens are 0, 1, 2… unless a `vocabulary` is given. Weights in double precision are rounded to
        single, unless jax keeps it (`jax_enable_x64`).
        """
        found = torch_weights(source, vocabulary=vocabulary, embedding=embedding, decoder=decoder)
        layers = tuple(Layer(*map(jnp.asarray, layer)) for layer in found.layers)
        nothing = jnp.zeros((len(layers), layers[0].recurrent.shape[1]), layers[0].recurrent.dtype)
        return LSTM(
            embedding=jnp.asarray(found.embedding),
            layers=layers,
            start=Memory(nothing, nothing),
            decoder=jnp.asarray(found.decoder),
            decoder_bias=jnp.asarray(found.decoder_bias),
            vocabulary=found.vocabulary,
        )

    def to_torch(self) -> dict[str, Any]:
        """The weights as tensors, named as in PyTorch's word_language_model example. Needs the extra `torch`."""
        return to_torch(self)


@eqx.filter_jit
def _recorded(network: LSTM, start: Memory, tokens: Int[Array, " step"]) -> Memory:
    """The memory after each token of one segment."""

    def step(memory, token):
        memory = network(memory, token)
        return memory, memory

    return jax.lax.scan(step, start, tokens)[1]


@eqx.filter_jit
def _recorded_rows(network: LSTM, start: Memory, tokens: Int[Array, "batch step"]) -> Memory:
    """The memories of a batch after each token of one segment: [batch, step, layer, unit]."""
    return jax.vmap(lambda memory, row: _recorded(network, memory, row))(start, tokens)


@eqx.filter_jit
def _advanced(
    network: LSTM, memory: Memory, tokens: Int[Array, "batch step"], going: Bool[Array, "batch step"]
) -> Memory:
    """The memories of a batch after one segment; a word that has ended keeps its own."""

    def step(memory, now):
        token, is_going = now
        after = jax.vmap(network)(memory, token)
        keep = is_going[:, None, None]
        return jax.tree.map(lambda new, old: jnp.where(keep, new, old), after, memory), None

    return jax.lax.scan(step, memory, (jnp.transpose(tokens), jnp.transpose(going)))[0]


def _statics(header: dict[str, Any], axes: Axes) -> dict[str, Any]:
    for number in range(axes["layers"]):
        entry, expected = axes[f"layers.{number}.entry"], axes["hidden" if number else "embedding"]
        if entry != expected:
            raise ValueError(f"layers.{number}.inputs has {entry} columns, and {expected} were expected")
    threshold = typed(float, header["threshold"], "threshold")
    reading = typed(StateReading | None, header.get("reading"), "reading")
    if reading is not None and (len(reading.units), axes["outputs"]) != (axes["hidden"], 1):
        raise ValueError(
            f"its reading is of {len(reading.units)} units and one output, and it has {axes['hidden']} and "
            f"{axes['outputs']}"
        )
    described = {"vocabulary": read_vocabulary(header, axes["symbols"]), "threshold": float(threshold)}
    return described | {"reading": reading}


FORMAT = Format("lstm", "LSTM", relations={"gates": "4*hidden"}, own=("entry",), statics=_statics)
