"""Teaching an LSTM the next word of a text: truncated backpropagation through time, many seeds and texts at once.

The text is cut into as many streams as the batch has rows. An update reads a chunk of every stream. The hidden state at
its end goes into the next chunk without a gradient; an epoch begins with an empty state.
"""

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import optax
from jaxtyping import Array, Float, Int, PRNGKeyArray

from kleene.errors import InputError
from kleene.machines.lstm.lstm import LSTM, Memory
from kleene.machines.lstm.streams import next_token_losses, read_streams, still
from kleene.tasks.text import Corpus, unigram_perplexity
from kleene.teaching.lesson import Examples, Lesson, Record, Score, Setting, Task, Tested, Trainable
from kleene.teaching.options import LanguageOptions

Texts = np.ndarray | Mapping[str, np.ndarray]
Probe = Callable[[LSTM, PRNGKeyArray, Int[Array, ""]], Array | dict[str, Array]]
WIDTH = 0.1  # embeddings and decoder are initialised within ± this, as in PyTorch's word_language_model


class ReadSoFar(NamedTuple):
    """The position of a run in its text, and the state of its network."""

    chunk: Int[Array, ""]
    memory: Memory


class Chunk(NamedTuple):
    """The next words of all streams, the progress before them, and the key of dropout (None in tests)."""

    tokens: Int[Array, "step batch"]
    before: ReadSoFar
    key: PRNGKeyArray | None


class TextTask(Task):
    """Predict the next word of one text, or of several texts, the *variants*, of which each run learns one.

    Texts are arrays of word ids below the size of `vocabulary`. Progress is the position of a run in its text and the
    state of its network, whose layers and hidden units are `memory`. `probes` are measured at each test.
    """

    lengths = (1,)  # one word ahead

    def __init__(
        self,
        vocabulary: Sequence[Any],
        texts: Mapping[str, np.ndarray],
        held_out: Mapping[str, np.ndarray],
        *,
        name: str,
        memory: tuple[int, int],
        batch: int,
        steps: int,
        test_streams: int,
        probes: Mapping[str, Probe],
    ):
        self.name, self.variants, self.steps, self.batch = name, tuple(texts), steps, batch
        self.layers, self.hidden = memory
        self.test_streams, self.probes = test_streams, dict(probes)
        _check_texts(len(vocabulary), texts, held_out, batch, steps)
        self.epoch = (len(texts[self.variants[0]]) // batch - 1) // steps
        self.digests = {kind: [_digest(texts[kind]), _digest(held_out[kind])] for kind in self.variants}
        self._text = jnp.asarray(np.stack([_streams(texts[kind], batch) for kind in self.variants]))
        self._tested = _test_chunks([held_out[kind] for kind in self.variants], test_streams, steps)
        unigrams = [unigram_perplexity(texts[kind], held_out[kind], len(vocabulary)) for kind in self.variants]
        self._unigrams = jnp.array(unigrams, jnp.float32)

    def beginning(self) -> ReadSoFar:
        nothing = jnp.zeros((self.batch, self.layers, self.hidden))
        return ReadSoFar(jnp.array(0, jnp.int32), Memory(nothing, nothing))

    def training_examples(self, key: PRNGKeyArray, progress: ReadSoFar, setting: Setting, count: int) -> Examples:
        """The next chunk of the run's text: its words, and the word after each."""
        first = progress.chunk * self.steps
        tokens = jax.lax.dynamic_slice(self._text, (setting.kind, first, 0), (1, self.steps + 1, self.batch))[0]
        return Examples(Chunk(tokens[:-1], progress, key), tokens[1:])

    def score(self, record: Record, examples: Examples) -> Score:
        """-ln P of each word, whether it was the likeliest, and the state that the next chunk begins with."""
        losses, right, memory = record.output
        return Score(losses, right, ReadSoFar(examples.inputs.before.chunk, jax.lax.stop_gradient(memory)))

    def advance(self, progress: ReadSoFar, key: PRNGKeyArray, score: Callable[[Examples], Score]) -> ReadSoFar:
        """The next chunk; after the last one the first, with an empty state."""
        after = progress.chunk + 1
        going = after < self.epoch
        memory = jax.tree.map(lambda leaf: jnp.where(going, leaf, 0), progress.memory)
        return ReadSoFar(jnp.where(going, after, 0), memory)

    def test(
        self, record: Callable[[Examples], Record], model: LSTM, key: PRNGKeyArray, setting: Setting, count: int
    ) -> dict[str, Array]:
        """The `perplexity` on the held-out text, that of a unigram model, and the probes.

        All words but the first are predicted. The text is read in `test_streams` streams, each from an empty state.
        """

        def step(memory: Memory, chunk: tuple[Array, Array]) -> tuple[Memory, tuple[Array, Array]]:
            tokens, targets = chunk
            reading = Chunk(tokens, ReadSoFar(jnp.array(0), memory), None)
            losses, right, memory = record(Examples(reading, jnp.maximum(targets, 0))).output
            counts = targets >= 0
            return memory, (jnp.sum(losses, where=counts), jnp.sum(right & counts))

        tokens, targets = (part[setting.kind] for part in self._tested)
        _, (losses, right) = jax.lax.scan(step, still(model, self.test_streams), (tokens, targets))
        words = jnp.sum(targets >= 0)
        found = {
            "accuracy_by_length": right.sum()[None] / words,
            "perplexity": jnp.exp(losses.sum() / words),
            "unigram_perplexity": self._unigrams[setting.kind],
        }
        for name, probe in self.probes.items():
            measured = probe(model, key, setting.kind)
            found |= measured if isinstance(measured, dict) else {name: measured}
        return found


class LanguageModel(Trainable):
    """An `LSTM` over the vocabulary, initialised as PyTorch's word_language_model is; dropout is for training only."""

    def __init__(self, vocabulary: tuple[Any, ...], hidden: int, layers: int, dropout: float, tied: bool = False):
        self.vocabulary, self.hidden, self.layers, self.dropout = vocabulary, hidden, layers, dropout
        self.tied = tied

    def fresh(self, key: PRNGKeyArray) -> LSTM:
        first, second = jax.random.split(key)
        network = LSTM.random(self.vocabulary, self.hidden, self.layers, key=first)
        shape = (2, len(self.vocabulary), self.hidden)
        embedding, decoder = jax.random.uniform(second, shape, minval=-WIDTH, maxval=WIDTH)
        return LSTM(
            embedding=embedding,
            layers=network.layers,
            start=network.start,
            decoder=embedding if self.tied else decoder,
            decoder_bias=jnp.zeros(shape[1]),
            vocabulary=self.vocabulary,
        )

    def record(self, model: LSTM, examples: Examples, *, training: bool) -> Record:
        """The loss of each word, whether it was the likeliest, and the state after the last."""
        chunk: Chunk = examples.inputs
        masks = self.masks(chunk.key, chunk.tokens.shape) if chunk.key is not None and self.dropout else None
        found, memory = read_streams(model, chunk.tokens, chunk.before.memory, masks)
        return Record((*next_token_losses(model, found, examples.targets), memory), {})

    def masks(self, key: PRNGKeyArray, shape: tuple[int, ...]) -> tuple[Float[Array, "..."], ...]:
        """The masks of dropout: for the embedded words, then for each layer's hidden vectors."""
        whole = (self.layers + 1, *shape, self.hidden)
        return tuple(jax.random.bernoulli(key, 1 - self.dropout, whole) / (1 - self.dropout))


def below_unigrams(tested: Tested, lengths: Sequence[int]) -> np.ndarray:
    """Whether the perplexity on the held-out text is below that of a unigram model."""
    return np.asarray(tested["perplexity"] < tested["unigram_perplexity"])


def language_lesson(
    vocabulary: Sequence[Any],
    train: Texts,
    held_out: Texts,
    *,
    name: str = "text",
    probes: Mapping[str, Probe] | None = None,
    **options: Any,
) -> Lesson:
    """The lesson of an `LSTM` that learns one text, or of one for each of several texts.

    Texts are arrays of word ids below the size of `vocabulary`. Several texts are a dict: its names are the kinds of
    the lesson, the texts must be equally long, and `held_out` has either one text for each or one for all. Training is
    SGD with gradients clipped to the norm `clip`, as in PyTorch's word_language_model. The rate falls as
    1/√(1 + update/settling), or is constant where `settling` is None. With `steady`, the rate is instead constant for
    that many epochs, and multiplied by `decay` before each later epoch. None of this depends on the total number of
    updates. With `tied`, the decoder is the embedding throughout (Press & Wolf 2017).

    A run *generalises* when its perplexity on the held-out text is below that of a unigram model. `probes` are
    measured at each test: functions of the network, a key and the index of the kind. A probe that measures several
    things at once returns them by name. The options are `LanguageOptions`.

    >>> lesson = language_lesson("abc", np.arange(3000) % 3, np.arange(99) % 3, hidden=8)
    >>> lesson.kinds, lesson.task.epoch, lesson.iterations
    (('none',), 4, 160)
    """
    texts = dict(train) if isinstance(train, Mapping) else {"none": train}
    tested = dict(held_out) if isinstance(held_out, Mapping) else dict.fromkeys(texts, held_out)
    given = LanguageOptions(**options)
    given = replace(given, settling=given.settling if given.steady is None else None).filled(test_streams=given.batch)
    words, kept = tuple(vocabulary), dict(probes or {})
    reading = {"memory": (given.layers, given.hidden)} | given.stored("batch", "steps", "test_streams")
    task = TextTask(words, texts, tested, name=f"{name} lstm", probes=kept, **reading)
    stored = ["hidden", "layers", "batch", "steps", "test_streams", "steady", "decay", "clip", "dropout"]
    stored += ["settling"] * (given.settling is not None) + ["tied"] * given.tied  # stored where they are in use
    digest = hashlib.sha256(repr(words).encode()).hexdigest()[:16]
    content = {"vocabulary": [len(words), digest], "texts": task.digests, "probes": list(kept)}
    return Lesson(
        task,
        LanguageModel(words, given.hidden, given.layers, given.dropout, given.tied),
        criterion=below_unigrams,
        optimiser=_optimiser(_rate(given, task.epoch), given.clip, given.tied),
        batch=given.batch,
        iterations=given.epochs * task.epoch,
        seeds=1,  # a language model takes long
        config={"name": task.name} | given.stored(*stored, rate="learning_rate") | content,
    )


def corpus_lesson(corpus: Corpus, **options: Any) -> Lesson:
    """The lesson of one corpus."""
    named: dict[str, Any] = {"name": corpus.name} | options
    return language_lesson(corpus.vocabulary.words, corpus.train, corpus.held_out, **named)


def _optimiser(rate: Any, clip: float, tied: bool) -> optax.GradientTransformation:
    plain = optax.chain(optax.clip_by_global_norm(clip), optax.sgd(rate))
    if not tied:
        return plain
    return optax.chain(optax.stateless(_in_embedding), plain, optax.stateless(_in_both))


def _in_embedding(gradient: Any, _: Any) -> Any:
    """The gradient of tied weights, all of it at the embedding, so that its norm counts once."""
    both = gradient.embedding + gradient.decoder
    return eqx.tree_at(_tied, gradient, (both, jnp.zeros_like(both)))


def _in_both(update: Any, _: Any) -> Any:
    """The embedding's update for the decoder too: two matrices that were equal stay equal, bit by bit."""
    return eqx.tree_at(_tied, update, (update.embedding, update.embedding))


def _tied(network: Any) -> tuple[Any, Any]:
    return network.embedding, network.decoder


def _rate(given: LanguageOptions, chunks: int) -> Any:
    """The learning rate by the number of updates."""
    settling, steady = given.settling, given.steady
    if settling is not None:
        return lambda update: given.rate / jnp.sqrt(1 + update / settling)
    if steady is None:
        return given.rate
    return lambda update: given.rate * given.decay ** jnp.maximum(update // chunks - steady + 1, 0)


def _check_texts(
    size: int, texts: Mapping[str, np.ndarray], tested: Mapping[str, np.ndarray], batch: int, steps: int
) -> None:
    if not texts or set(texts) != set(tested):
        raise InputError(f"texts to learn are {', '.join(texts) or 'none'}, and held out are {', '.join(tested)}")
    if len({len(text) for text in texts.values()}) > 1:
        given = ", ".join(f"{kind} has {len(text):,}" for kind, text in texts.items())
        raise InputError(f"texts that are learned together have the same number of words, but {given}; cut them")
    needed = f"a batch of {batch}, each with {steps} steps and a word after them"
    for kind in texts:
        for text, shortest, role in ((texts[kind], batch * (steps + 1), "to learn"), (tested[kind], 2, "held out")):
            where = f"the text {role}" + ("" if kind == "none" else f" of {kind!r}")
            if len(text) < shortest:
                raise InputError(
                    f"{where} has {len(text):,} words, and at least {shortest:,} are needed: {needed}. Give a longer "
                    f"text, a smaller batch or fewer steps"
                )
            outside = np.flatnonzero((np.asarray(text) < 0) | (np.asarray(text) >= size))
            if len(outside):
                at = int(outside[0])
                raise InputError(f"{where} has the number {text[at]} as its word {at}; numbers are below {size}")


def _streams(text: np.ndarray, batch: int) -> np.ndarray:
    """The text as streams side by side, [step, stream]; the last words that do not fill all streams are left out."""
    columns = len(text) // batch
    return np.asarray(text[: columns * batch], dtype=np.int32).reshape(batch, columns).T


def _test_chunks(texts: list[np.ndarray], streams: int, steps: int) -> tuple[Array, Array]:
    """The words of each text but its last, and the word after each, both [text, chunk, step, stream].

    Targets past a text's end are -1. Texts shorter than the longest end in empty chunks.
    """
    chunks = -(-(max(map(len, texts)) - 1) // (streams * steps))
    found = np.full((2, len(texts), streams * chunks * steps), -1, dtype=np.int32)
    for number, text in enumerate(texts):
        columns = -(-(len(text) - 1) // streams)
        for part, words in enumerate((text[:-1], text[1:])):
            padded = np.full((streams, columns), -1, dtype=np.int32)
            padded.reshape(-1)[: len(words)] = words
            found[part, number].reshape(streams, -1)[:, :columns] = padded
    shaped = found.reshape(2, len(texts), streams, chunks, steps).transpose(0, 1, 3, 4, 2)
    return jnp.asarray(np.maximum(shaped[0], 0)), jnp.asarray(shaped[1])


def _digest(text: Any) -> str:
    return hashlib.sha256(np.asarray(text, dtype=np.int32).tobytes()).hexdigest()[:16]
