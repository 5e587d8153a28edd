"""Teaching an encoder-decoder Transformer to translate sentences: SCAN's commands into actions (ALTA, §4.4)."""

import zlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Int, PRNGKeyArray

from kleene.machines.transformer.encoder_decoder import END, EncoderDecoder
from kleene.tasks.translation import Translation
from kleene.teaching.lesson import Examples, Lesson, Record, Setting, Task, Trainable, perfect
from kleene.teaching.optimisers import optimiser_of
from kleene.teaching.options import TranslationOptions
from kleene.traces import Trace

TESTED = 128  # pairs of each part that a test during training draws
AT_ONCE = 64  # sentences that are written at once


class Sentences(NamedTuple):
    """Sentences padded to one length, and their own lengths."""

    tokens: Int[Array, "batch position"]
    lengths: Int[Array, " batch"]


class TranslationTask(Task):
    """Write the answer to a sentence, word for word. The only length is that of the longest answer.

    Tests are on `count` random pairs of the test part, and on as many of the training part (`training_match`).
    """

    def __init__(self, translation: Translation):
        self.name, self.longest, self.lengths = translation.name, translation.longest, (translation.most,)
        self._parts = {True: translation.coded(translation.train), False: translation.coded(translation.test)}

    @property
    def digests(self) -> list[int]:
        """A checksum of each part."""
        arrays = [self._parts[which] for which in (True, False)]
        return [zlib.crc32(b"".join(np.ascontiguousarray(array).tobytes() for array in part)) for part in arrays]

    def _chosen(self, training: bool, rows: Array) -> Examples:
        tokens, lengths, answers = (jnp.asarray(array)[rows] for array in self._parts[training])
        return Examples(Sentences(tokens, lengths), answers)

    def drawn(self, key: PRNGKeyArray, count: int, *, training: bool) -> Examples:
        """Random pairs of a part."""
        return self._chosen(training, jax.random.randint(key, (count,), 0, len(self._parts[training][1])))

    def training_examples(self, key: PRNGKeyArray, progress: Any, setting: Setting, count: int) -> Examples:
        return self.drawn(key, count, training=True)

    def test(
        self,
        record: Callable[[Examples], Record],
        model: EncoderDecoder,
        key: PRNGKeyArray,
        setting: Setting,
        count: int,
    ) -> dict[str, Array]:
        of_tests, of_training = (
            jnp.mean(is_written(model, self.drawn(one, count, training=training)))
            for one, training in zip(jax.random.split(key), (False, True))
        )
        return {"accuracy_by_length": of_tests[None], "training_match": of_training}

    def test_all(self, model: EncoderDecoder) -> dict[str, Array]:
        """`exact_match`: the share of the whole test part that is written word for word."""
        rows = jnp.arange(len(self._parts[False][1]))
        return {"exact_match": jnp.mean(is_written(model, self._chosen(False, rows)))}


def is_written(model: EncoderDecoder, examples: Examples) -> Bool[Array, " batch"]:
    """Whether each answer is written word for word, up to its end, one likeliest word after another."""

    def one(now: tuple[Array, Array, Array]) -> Array:
        tokens, length, answer = now
        written = model.write(tokens, length)
        return jnp.all((written == answer) | (answer < 0))

    words: Sentences = examples.inputs
    return jax.lax.map(one, (words.tokens, words.lengths, examples.targets), batch_size=AT_ONCE)


@dataclass(frozen=True)
class Translator(Trainable):
    """An `EncoderDecoder` with these arguments of `random`, which in training reads the right words before each."""

    arguments: dict[str, Any]

    def fresh(self, key: PRNGKeyArray) -> EncoderDecoder:
        return EncoderDecoder.random(**self.arguments, key=key)

    def record(self, model: EncoderDecoder, examples: Examples, *, training: bool) -> Record:
        words: Sentences = examples.inputs
        answers = jnp.maximum(examples.targets, END)
        return Record(jax.vmap(model)(words.tokens, words.lengths, answers), {})

    def trace(self, model: EncoderDecoder, word: Any) -> Trace:
        return model.run(word)


def seq2seq_lesson(translation: Translation, **options: Any) -> Lesson:
    """The lesson of an encoder-decoder Transformer that learns to translate.

    Encoder and decoder have `layers` layers each, with weights of their own or `shared`; `positions` are those of the
    encoder, and the decoder's are relative. A run generalises when every tested answer is right, word for word. Tests
    during training draw some pairs. At the end the whole test part is tested (`exact_match`). The options are
    `TranslationOptions`.
    """
    given = TranslationOptions(**options)
    task = TranslationTask(translation)
    arguments = {
        "vocabulary": translation.vocabulary, "answers": translation.answers, "most": translation.most + 1,
        "places": None if given.positions == "relative" else translation.longest,
    }  # fmt: skip
    arguments |= given.stored("width", "layers", "shared", attention="heads", key="key_size", hidden="units")
    config = {"name": task.name, "machine": "seq2seq"} | given.stored("batch", "optimiser", "rate")
    return Lesson(
        task,
        Translator(arguments),
        criterion=perfect,
        optimiser=optimiser_of(given.optimiser, given.rate),
        batch=given.batch,
        tests=TESTED,
        iterations=3_000,
        seeds=1,
        closing=task.test_all,
        config=config | {"arguments": _plain(arguments), "pairs": task.digests},
    )


def _plain(arguments: dict[str, Any]) -> dict[str, Any]:
    return {name: list(value) if isinstance(value, tuple) else value for name, value in arguments.items()}
