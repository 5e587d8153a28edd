"""An encoder-decoder Transformer to be trained, as T5 is one: it reads a sentence and writes another, word by word.

Training gives the decoder the words that it should have written. A run is greedy: each word is the likeliest after
those that were written. Keys and values of what was written are kept, so a run costs one pass through the decoder.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int, PRNGKeyArray

from kleene.caching import keep_compiled_programs_unless_jax_came_first
from kleene.errors import InputError
from kleene.machines.language import encoded
from kleene.machines.protocol import Shown, Size, shown_names
from kleene.machines.transformer.encoder import check_places, entry
from kleene.machines.transformer.stack import (
    BUCKETS,
    LayerStack,
    attend,
    check_stack,
    checked_sizes,
    distance_buckets,
    mixed,
    normed_by,
    think,
)
from kleene.machines.weights import Format, arrays_of
from kleene.notation.console import Telling
from kleene.traces import Channel, Trace

keep_compiled_programs_unless_jax_came_first()

END = 0  # the output that ends a sentence; its embedding is also what the decoder reads first
SEGMENT = 16  # sentences are padded to a multiple of this many words, so that few lengths are compiled


class EncoderDecoder(Shown, eqx.Module):
    """A network from sentences over `vocabulary` to sentences over `answers`, of at most `most` words.

    The encoder has `distances` or an embedding for each of `places` positions, the decoder always has distances. Both
    have `layers` layers, with weights of their own or one layer repeated.

    >>> sizes = {"width": 8, "heads": 2, "key_size": 3, "units": 16, "layers": 2}
    >>> made = EncoderDecoder.random(("jump", "twice"), ("JUMP",), most=4, **sizes, key=jax.random.key(0))
    >>> made.run("jump twice").channels[0].labels
    ('END', 'JUMP')
    """

    embedding: Float[Array, "symbols width"]
    positions: Float[Array, "positions width"] | None
    distances: Float[Array, "heads buckets"] | None
    encoder: LayerStack
    encoder_gain: Float[Array, " width"]
    answer_embedding: Float[Array, "outputs width"]
    answer_distances: Float[Array, "heads buckets"]
    decoder: LayerStack
    decoder_gain: Float[Array, " width"]
    readout: Float[Array, "outputs width"]
    vocabulary: tuple[str, ...] = eqx.field(static=True)
    answers: tuple[str, ...] = eqx.field(static=True)
    most: int = eqx.field(static=True)
    layers: int = eqx.field(static=True)
    heads: int = eqx.field(static=True)
    places: int | None = eqx.field(static=True)  # the number of `positions`; None if there are `distances`

    @classmethod
    def random(
        cls,
        vocabulary: Sequence[str],
        answers: Sequence[str],
        *,
        most: int,
        width: int,
        heads: int,
        key_size: int,
        units: int,
        layers: int,
        shared: bool = False,
        places: int | None = None,
        key: PRNGKeyArray,
    ) -> "EncoderDecoder":
        """A network to be trained: weights N(0, 1/inputs), embeddings N(0, 1), biases 0.

        With `places` the encoder has an embedding of so many positions, and otherwise biases for distances.
        """
        checked_sizes("an encoder-decoder", width=width, heads=heads, key=key_size, units=units, layers=layers)
        sizes: dict[str, Any] = {"width": width, "inner": heads * key_size, "units": units}
        keys, own, outputs = jax.random.split(key, 6), 1 if shared else layers, len(answers) + 1
        return cls(
            embedding=jax.random.normal(keys[0], (len(vocabulary), width)),
            positions=None if places is None else jax.random.normal(keys[1], (places, width)),
            distances=jnp.zeros((heads, BUCKETS)) if places is None else None,
            encoder=LayerStack.random(own, **sizes, key=keys[2]),
            encoder_gain=jnp.ones(width),
            answer_embedding=jax.random.normal(keys[3], (outputs, width)),
            answer_distances=jnp.zeros((heads, BUCKETS)),
            decoder=LayerStack.random(own, **sizes, crossing=True, key=keys[4]),
            decoder_gain=jnp.ones(width),
            readout=jax.random.normal(keys[5], (outputs, width)) * width**-0.5,
            vocabulary=tuple(vocabulary),
            answers=tuple(answers),
            most=most,
            layers=layers,
            heads=heads,
            places=places,
        )

    @property
    def shared(self) -> bool:
        """Whether all layers of the encoder, and all of the decoder, have the same weights."""
        return self.encoder.count == 1 and self.layers > 1

    @property
    def alphabet(self) -> tuple[str, ...]:
        return self.vocabulary

    def encode(self, tokens: Int[Array, " position"], length: Int[Array, ""]) -> Float[Array, "position width"]:
        """The encoder's stream after its last layer, normed; the sentence is padded to any number of positions."""
        start, bias = entry(self, tokens, length)

        def step(stream: Array, layer: LayerStack, _: None) -> tuple[Array, None]:
            return think(layer, attend(layer.attention, stream, bias)), None

        return normed_by(self.encoder_gain, self.encoder.scan(step, start, self.layers)[0])

    def __call__(
        self, tokens: Int[Array, " position"], length: Int[Array, ""], answer: Int[Array, " step"]
    ) -> Float[Array, "step outputs"]:
        """The logits of each word of the answer, given those before it."""
        memory, behind = self.encode(tokens, length), self._behind(tokens, length)
        before = jnp.concatenate([jnp.array([END]), answer[:-1]])
        bias = jnp.where(jnp.tri(len(answer), dtype=bool), self._answer_bias(len(answer)), -jnp.inf)

        def step(stream: Array, layer: LayerStack, _: None) -> tuple[Array, None]:
            stream = attend(layer.attention, stream, bias)
            assert layer.cross is not None
            return think(layer, attend(layer.cross, stream, behind, memory)), None

        stream, _ = self.decoder.scan(step, self.answer_embedding[before], self.layers)
        return normed_by(self.decoder_gain, stream) @ self.readout.T

    def write(self, tokens: Int[Array, " position"], length: Int[Array, ""]) -> Int[Array, " step"]:
        """The `most` likeliest words one after another; what follows the first END means nothing."""
        memory, behind = self.encode(tokens, length), self._behind(tokens, length)
        biases, at = self._answer_bias(self.most), jnp.arange(self.most)
        assert self.decoder.cross is not None
        crossed = [jnp.einsum("sd,ldi->lsi", memory, w) for w in (self.decoder.cross.key, self.decoder.cross.value)]
        own = self.decoder.count > 1
        inner = self.decoder.attention.key.shape[-1]

        def write_one(now: tuple[Array, Array, Array], step: Array) -> tuple[tuple[Array, Array, Array], Array]:
            token, *kept = now
            bias = jnp.where(at <= step, biases[:, step], -jnp.inf)[:, None]

            def through(stream: Array, layer: LayerStack, each: Any) -> tuple[Array, tuple[Array, Array]]:
                (keys, values), (far_keys, far_values) = each if own else (each[0], [rows[0] for rows in crossed])
                attention, cross = layer.attention, layer.cross
                assert cross is not None
                read = normed_by(attention.gain, stream)
                keys, values = (
                    keys.at[step].set((read @ attention.key)[0]),
                    values.at[step].set((read @ attention.value)[0]),
                )
                stream = stream + mixed(read @ attention.query, keys, values, bias) @ attention.out
                read = normed_by(cross.gain, stream)
                stream = stream + mixed(read @ cross.query, far_keys, far_values, behind) @ cross.out
                return think(layer, stream), (keys, values)

            each = (tuple(kept), tuple(crossed)) if own else (tuple(kept),)
            stream, kept = self.decoder.scan(through, self.answer_embedding[token][None], self.layers, each)
            token = jnp.argmax(normed_by(self.decoder_gain, stream)[0] @ self.readout.T).astype(jnp.int32)
            return (token, *kept), token

        empty = jnp.zeros((self.layers, self.most, inner))
        _, written = jax.lax.scan(write_one, (jnp.array(END, jnp.int32), empty, empty), at)
        return written

    def _behind(self, tokens: Array, length: Array) -> Array:
        """The bias of the decoder's attention to the encoder: -∞ for what lies behind the sentence."""
        return jnp.zeros((self.heads, 1, 1)) + jnp.where(jnp.arange(len(tokens)) < length, 0.0, -jnp.inf)

    def _answer_bias(self, size: int) -> Array:
        return self.answer_distances[:, distance_buckets(size, causal=True)]

    def run(self, sentence: str | Sequence[str]) -> Trace:
        """What is written for a sentence, a text or its words: the channel `written` after each word."""
        return self.run_batch([sentence])[0]

    def run_batch(self, sentences: Sequence[str | Sequence[str]]) -> list[Trace]:
        """What is written for many sentences."""
        words = [sentence.split() if isinstance(sentence, str) else list(sentence) for sentence in sentences]
        found = []
        for tokens in encoded(words, self.vocabulary):
            if not len(tokens) or len(tokens) > (self.places or len(tokens)):
                raise InputError(f"a sentence of {len(tokens)} words; the network reads 1 to {self.places or 'any'}")
            padded = np.pad(tokens, (0, -len(tokens) % SEGMENT))
            written = np.asarray(_written(self, jnp.asarray(padded), jnp.asarray(len(tokens))))
            found.append(_trace(written, ("END", *self.answers)))
        return found

    @property
    def size(self) -> Size:
        """The size; `hidden_units` are those of the MLPs of all layers that have weights of their own."""
        nonzero = sum(int(np.count_nonzero(array)) for array in arrays_of(self).values())
        units = (self.encoder.count + self.decoder.count) * self.encoder.mlp_in.shape[-1]
        return Size(units, self.parameter_count(), nonzero)

    def facts(self) -> dict[str, str]:
        known = "distances" if self.places is None else f"{self.places} positions"
        shared = " with the same weights" if self.shared else ""
        return {
            "reads": shown_names(self.vocabulary, "words", 3),
            "answers": f"sentences of {len(self.answers)} words",
            "has": f"2 × {self.layers} layers{shared}, {known}",
        }

    def save(self, path: Any) -> Path:
        """Save the network and return the path."""
        return FORMAT.save(self, path)

    @classmethod
    def load(cls, path: Any) -> "EncoderDecoder":
        """The network in a file that `save` wrote. Opening a file never runs code."""
        return FORMAT.load(cls, path)

    def __check_init__(self) -> None:
        if not hasattr(self.readout, "shape"):  # jax rebuilds the network from placeholders
            return
        check_stack("encoder", self.encoder, self.layers, self.heads)
        check_stack("decoder", self.decoder, self.layers, self.heads)
        if self.encoder.cross is not None or self.decoder.cross is None:
            raise InputError("the decoder alone has a second attention, cross")
        check_places(self)
        if self.answer_distances.shape[-2:] != (self.heads, BUCKETS):
            raise InputError(f"the answer_distances are not those of {self.heads} heads and {BUCKETS} buckets")
        for name, words, rows in (
            ("vocabulary", self.vocabulary, self.embedding.shape[-2]),
            ("answers", self.answers, self.readout.shape[-2] - 1),
        ):
            if len(words) != rows or len(set(words)) != rows or not words:
                raise InputError(f"its {name} are not {rows} different words")
        if self.most < 1:
            raise InputError(f"its most is {self.most}; an answer has 1 word or more")


@eqx.filter_jit
def _written(network: EncoderDecoder, tokens: Array, length: Array) -> Array:
    return network.write(tokens, length)


def _trace(written: np.ndarray, labels: tuple[str, ...]) -> Trace:
    """The words up to END, after each of them; -1 is not written yet."""
    ends = np.flatnonzero(written == END)
    words = written[: ends[0]] if len(ends) else written
    rows = np.where(np.tri(len(words) + 1, len(words), -1, dtype=bool), words, -1).astype(np.int32)
    channel = Channel("written", "category", len(labels), labels=labels)
    return Trace((channel,), {"written": rows}, "written", halted=bool(len(ends)), source="network")


def tell_written(outcome: Any) -> Telling:
    """The sentence that was written, and whether it came to an end."""
    trace = outcome.trace
    said = list(trace.labelled_output)
    facts = {"output": said, "steps": trace.steps, "halted": trace.halted}
    remark = "" if trace.halted else "; it did not come to an end"
    return Telling(facts, " ".join(said), f"wrote {trace.steps} words", remark)


FORMAT = Format("encoder-decoder", "encoder-decoder Transformer", sizes=("symbols",))
