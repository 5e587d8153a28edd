"""A small Transformer language model: causal, with learned positions, layers normed before attention and MLP."""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int, PRNGKeyArray

from kleene.caching import keep_compiled_programs_unless_jax_came_first
from kleene.errors import InputError
from kleene.machines.language import Token, encoded, language_trace, read_vocabulary, vocabulary_header
from kleene.machines.protocol import Shown, Size, shown_names
from kleene.machines.weights import Axes, Format, arrays_of
from kleene.traces import Trace
from kleene.traces.attention import AttentionPatterns

keep_compiled_programs_unless_jax_came_first()

SEGMENT = 16  # words are padded to a multiple of this many tokens, so that few lengths are compiled
BATCH = 64  # words that are run at once
TINY = 1e-5  # added to the variance, as is usual


class TransformerBlock(eqx.Module):
    """One layer: x + attention(norm(x)), and that + mlp_out · gelu(mlp_in · norm(·) + mlp_bias) + out_bias."""

    attention_gain: Float[Array, " width"]
    query: Float[Array, "heads width key"]
    key: Float[Array, "heads width key"]
    value: Float[Array, "heads width key"]
    out: Float[Array, "heads key width"]
    mlp_gain: Float[Array, " width"]
    mlp_in: Float[Array, "units width"]
    mlp_bias: Float[Array, " units"]
    mlp_out: Float[Array, "width units"]
    out_bias: Float[Array, " width"]

    def pattern(self, normed: Float[Array, "step width"]) -> Float[Array, "heads step step"]:
        """The attention of each position to itself and to each position before it."""
        query, key = (jnp.einsum("td,hdk->htk", normed, weights) for weights in (self.query, self.key))
        logits = jnp.einsum("htk,hjk->htj", query, key) / self.query.shape[-1] ** 0.5
        return jax.nn.softmax(jnp.where(jnp.tri(len(normed), dtype=bool), logits, -jnp.inf), axis=-1)

    def mix(
        self, pattern: Float[Array, "heads step step"], normed: Float[Array, "step width"]
    ) -> Float[Array, "step width"]:
        """What attention with that pattern adds to the residual stream; it is linear in `normed`."""
        value = jnp.einsum("td,hdk->htk", normed, self.value)
        return jnp.einsum("htj,hjk,hkd->td", pattern, value, self.out)

    def __call__(self, stream: Float[Array, "step width"]) -> Float[Array, "step width"]:
        normed = centred(stream) * norm_scale(stream) * self.attention_gain
        stream = stream + self.mix(self.pattern(normed), normed)
        normed = centred(stream) * norm_scale(stream) * self.mlp_gain
        return stream + jax.nn.gelu(normed @ self.mlp_in.T + self.mlp_bias) @ self.mlp_out.T + self.out_bias


class TransformerLM(Shown, eqx.Module):
    """A Transformer language model over a vocabulary of tokens. The call is one unbatched sentence.

    >>> model = TransformerLM.random("ab", width=8, heads=2, layers=1, key=jax.random.key(0))
    >>> model.outputs("abba").shape  # after each token, one output for every token of the vocabulary
    (4, 2)
    """

    embedding: Float[Array, "symbols width"]
    positions: Float[Array, "positions width"]
    layers: tuple[TransformerBlock, ...]
    gain: Float[Array, " width"]
    decoder: Float[Array, "outputs width"]
    decoder_bias: Float[Array, " outputs"]
    vocabulary: tuple[Token, ...] = eqx.field(static=True)

    @classmethod
    def random(
        cls,
        vocabulary: Sequence[Token] | int,
        width: int,
        heads: int,
        layers: int,
        *,
        positions: int = 128,
        key: PRNGKeyArray,
    ) -> "TransformerLM":
        """A network to be trained: weights N(0, 1/inputs), embeddings N(0, 1), MLPs of 4 × width units."""
        tokens = tuple(range(vocabulary)) if isinstance(vocabulary, int) else tuple(vocabulary)
        if not tokens or len(set(tokens)) != len(tokens) or min(width, heads, layers, positions) < 1 or width % heads:
            raise InputError(
                f"a Transformer needs different tokens, a layer and a position at least, and a width that its heads "
                f"share evenly; it was given {len(tokens)} tokens, {len(set(tokens))} of them different, "
                f"width={width}, heads={heads}, layers={layers}, positions={positions}"
            )
        keys = iter(jax.random.split(key, 6 * layers + 3))
        each, ones = width // heads, jnp.ones(width)

        def draw(*shape: int, inputs: int) -> Array:
            return jax.random.normal(next(keys), shape) * inputs**-0.5

        blocks = tuple(
            TransformerBlock(
                attention_gain=ones,
                query=draw(heads, width, each, inputs=width),
                key=draw(heads, width, each, inputs=width),
                value=draw(heads, width, each, inputs=width),
                out=draw(heads, each, width, inputs=width),
                mlp_gain=ones,
                mlp_in=draw(4 * width, width, inputs=width),
                mlp_bias=jnp.zeros(4 * width),
                mlp_out=draw(width, 4 * width, inputs=4 * width),
                out_bias=jnp.zeros(width),
            )
            for _ in range(layers)
        )
        embedding, places = draw(len(tokens), width, inputs=1), draw(positions, width, inputs=1)
        decoder = draw(len(tokens), width, inputs=width)
        return cls(embedding, places, blocks, ones, decoder, jnp.zeros(len(tokens)), tokens)

    def entries(self, tokens: Int[Array, " step"]) -> Float[Array, "step width"]:
        """The residual stream before the first layer. Positions past the last one use the last one's embedding."""
        place = jnp.minimum(jnp.arange(len(tokens)), len(self.positions) - 1)
        return self.embedding[tokens] + self.positions[place]

    def __call__(self, tokens: Int[Array, " step"]) -> Float[Array, "step layers width"]:
        """The residual stream after each layer at each token; the last layer's is normed for the decoder."""
        stream, found = self.entries(tokens), []
        for block in self.layers:
            stream = block(stream)
            found.append(stream)
        found[-1] = centred(stream) * norm_scale(stream) * self.gain
        return jnp.stack(found, 1)

    @property
    def alphabet(self) -> tuple[Token, ...]:
        return self.vocabulary

    def hidden(self, word: Sequence[Token]) -> np.ndarray:
        """The residual stream after each layer at each token of a word: [step, layer, width]."""
        tokens = encoded([word], self.vocabulary)[0]
        self._check_length(len(tokens))
        padded = np.pad(tokens, (0, -len(tokens) % SEGMENT))
        return np.asarray(_recorded(self, jnp.asarray(padded)))[: len(tokens)]

    def _check_length(self, length: int) -> None:
        if length > len(self.positions):
            raise InputError(f"a word of {length} tokens is too long: there are {len(self.positions)} positions")

    def outputs(self, word: Sequence[Token]) -> np.ndarray:
        """The logits after each token of a word: [step, output]."""
        return self.hidden(word)[:, -1] @ np.asarray(self.decoder).T + np.asarray(self.decoder_bias)

    def run(self, word: Sequence[Token]) -> Trace:
        """The trace on one word: each `word` read, the stream after each layer (`hidden.0` …), and the `next` one."""
        (tokens,) = encoded([word], self.vocabulary)
        return self._trace(tokens, self.hidden(word))

    def run_batch(self, words: Sequence[Sequence[Token]]) -> list[Trace]:
        """The traces on many words of unequal length at once."""
        rows = encoded(words, self.vocabulary)
        parts = [rows[i : i + BATCH] for i in range(0, len(rows), BATCH)]
        return [self._trace(*found) for part in parts for found in zip(part, self._hidden_of(part))]

    def _trace(self, tokens: np.ndarray, hidden: np.ndarray) -> Trace:
        logits = hidden[:, -1] @ np.asarray(self.decoder).T + np.asarray(self.decoder_bias)
        trace = language_trace(self.vocabulary, tokens, hidden, logits)
        return replace(trace, patterns=partial(_patterns, self, tokens))

    def _hidden_of(self, words: list[np.ndarray]) -> list[np.ndarray]:
        """The residual stream after each layer at each token of each word; padding at the end changes nothing."""
        longest = max(map(len, words))
        self._check_length(longest)
        padded = np.zeros((BATCH, max(1, -(-longest // SEGMENT)) * SEGMENT), dtype=np.int32)
        for row, tokens in zip(padded, words):
            row[: len(tokens)] = tokens
        hidden = np.asarray(_recorded_rows(self, jnp.asarray(padded)))
        return [hidden[row, : len(tokens)] for row, tokens in enumerate(words)]

    @property
    def size(self) -> Size:
        """The size; `hidden_units` are those of the MLPs."""
        nonzero = sum(int(np.count_nonzero(array)) for array in arrays_of(self).values())
        return Size(sum(block.mlp_bias.size for block in self.layers), self.parameter_count(), nonzero)

    def facts(self) -> dict[str, str]:
        return {"reads": shown_names(self.vocabulary, "tokens"), "answers": "the next token"}

    def save(self, path: Any) -> Path:
        """Save the network and return the path. Tokens must be strings or whole numbers."""
        return FORMAT.save(self, path, vocabulary_header(self.vocabulary) | {"layers": len(self.layers)})

    @classmethod
    def load(cls, path: Any) -> "TransformerLM":
        """The network in a file that `save` wrote. Opening a file never runs code."""
        return FORMAT.load(cls, path)


def _patterns(network: TransformerLM, tokens: np.ndarray, _: Trace) -> AttentionPatterns:
    """The attention patterns of a sentence, computed anew; heads have numbers for names."""
    stream, found = network.entries(jnp.asarray(tokens)), []
    for block in network.layers:
        found.append(block.pattern(centred(stream) * norm_scale(stream) * block.attention_gain))
        stream = block(stream)
    weights = np.asarray(jnp.stack(found))
    return AttentionPatterns(tuple(map(str, range(weights.shape[1]))), weights)


def centred(part: Float[Array, "*batch width"]) -> Float[Array, "*batch width"]:
    """The vector minus its mean; this is linear."""
    return part - jnp.mean(part, axis=-1, keepdims=True)


def norm_scale(stream: Float[Array, "*batch width"]) -> Float[Array, "*batch 1"]:
    """The factor by which a layer norm scales a centred vector."""
    return jax.lax.rsqrt(jnp.var(stream, axis=-1, keepdims=True) + TINY)


@eqx.filter_jit
def _recorded(network: TransformerLM, tokens: Int[Array, " step"]) -> Float[Array, "step layers width"]:
    return network(tokens)


@eqx.filter_jit
def _recorded_rows(network: TransformerLM, tokens: Int[Array, "batch step"]) -> Float[Array, "batch step layers width"]:
    return jax.vmap(network)(tokens)


def _statics(header: dict[str, Any], axes: Axes) -> dict[str, Any]:
    return {"vocabulary": read_vocabulary(header, axes["symbols"])}


FORMAT = Format(
    "transformer language model",
    "Transformer language model",
    sizes=("layers",),
    own=("heads", "key", "units"),
    statics=_statics,
)
