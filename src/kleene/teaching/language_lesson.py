"""Teaching an LSTM the next word of a text: truncated backpropagation through time, many seeds and texts at once.

The text is cut into as many streams as the batch has rows. An update is a chunk of all streams, and what the network
remembers at its end goes into the next chunk, without a gradient; an epoch begins with an empty memory.
"""

import hashlib
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import optax
from jaxtyping import Array, Float, Int, PRNGKeyArray

from kleene.errors import InputError
from kleene.machines.lstm.lstm import LSTM, Memory
from kleene.machines.lstm.streams import next_token_losses, read_streams, still
from kleene.tasks.text import Corpus, unigram_perplexity
from kleene.teaching.lessons import Setting

Texts = np.ndarray | Mapping[str, np.ndarray]
Probe = Callable[[LSTM, PRNGKeyArray, Int[Array, ""]], Array | dict[str, Array]]
WIDTH = 0.1  # embeddings and decoder begin within ± this, as in PyTorch's word_language_model


class Reading(NamedTuple):
    """Where a run is in its text, and what it remembers of it."""

    chunk: Int[Array, ""]
    memory: Memory


class Chunk(NamedTuple):
    """The next words of all streams, one more than are read, for the last is to be said too."""

    tokens: Int[Array, "step batch"]
    before: Reading
    key: PRNGKeyArray


class LanguageLesson:
    """An `LSTM` that learns one text, or for each of several *kinds* a text of its own.

    Texts are numbers of words, below the size of `vocabulary`. Given several by name, in a dict, the kinds of the
    lesson are these names, the texts must be equally long, and `held_out` has either one text for each or one for all.
    Teaching is SGD with gradients of a norm of at most `clip`, as in PyTorch's word_language_model. Its rate falls as
    1/√(1 + update/settling); it is constant where `settling` is None. With `steady`, the rate is constant for so many
    epochs instead, and is multiplied by `decay` before each epoch after these. None of this depends on how many
    updates there will be.

    A run *generalises* when its perplexity on the held-out text is below that of the words' frequencies. `probes` are
    measured at each test: functions of the network, a key and the number of the kind. A probe that measures several
    things at once returns them by name.

    >>> lesson = LanguageLesson("abc", np.arange(3000) % 3, np.arange(99) % 3, hidden=8)
    >>> lesson.kinds, lesson.chunks, lesson.default_iterations
    (('none',), 4, 160)
    """

    lengths = (1,)  # one word ahead
    default_seeds = 1  # a language model takes long

    def __init__(
        self,
        vocabulary: Sequence[Any],
        train: Texts,
        held_out: Texts,
        *,
        name: str = "text",
        hidden: int = 200,
        layers: int = 1,
        batch: int = 20,
        steps: int = 35,
        learning_rate: float = 20.0,
        settling: int | None = 100,
        steady: int | None = None,
        decay: float = 0.25,
        clip: float = 0.25,
        dropout: float = 0.0,
        epochs: int = 40,
        test_streams: int | None = None,
        probes: Mapping[str, Probe] | None = None,
    ):
        self.vocabulary = tuple(vocabulary)
        texts = dict(train) if isinstance(train, Mapping) else {"none": train}
        tested = dict(held_out) if isinstance(held_out, Mapping) else dict.fromkeys(texts, held_out)
        self.name, self.kinds = f"{name} lstm", tuple(texts)
        self.hidden, self.layers, self.batch, self.steps, self.epochs = hidden, layers, batch, steps, epochs
        self.learning_rate, self.steady, self.decay, self.clip = learning_rate, steady, decay, clip
        self.settling = settling if steady is None else None
        self.dropout, self.test_streams, self.probes = dropout, test_streams or batch, dict(probes or {})
        self._check(texts, tested)
        self._digests = {kind: [_digest(texts[kind]), _digest(tested[kind])] for kind in self.kinds}
        self.chunks = (len(texts[self.kinds[0]]) // batch - 1) // steps
        self.default_iterations = epochs * self.chunks
        self.optimiser = optax.chain(optax.clip_by_global_norm(clip), optax.sgd(self._rate()))
        self._text = jnp.asarray(np.stack([_streams(texts[kind], batch) for kind in self.kinds]))
        self._tested = _test_chunks([tested[kind] for kind in self.kinds], self.test_streams, steps)
        unigrams = [unigram_perplexity(texts[kind], tested[kind], len(self.vocabulary)) for kind in self.kinds]
        self._unigrams = jnp.array(unigrams, jnp.float32)

    @classmethod
    def of(cls, corpus: Corpus, **options: Any) -> "LanguageLesson":
        """The lesson of one corpus."""
        named: dict[str, Any] = {"name": corpus.name} | options
        return cls(corpus.vocabulary.words, corpus.train, corpus.held_out, **named)

    def _check(self, texts: dict[str, Any], tested: dict[str, Any]) -> None:
        sizes = {key: getattr(self, key) for key in ("hidden", "layers", "batch", "steps", "epochs", "test_streams")}
        sizes |= {} if self.settling is None else {"settling": self.settling}
        rates = (self.learning_rate, self.clip)
        if min(sizes.values()) < 1 or not 0 <= self.dropout < 1 or not all(0 < rate < np.inf for rate in rates):
            told = ", ".join(f"{key}={value}" for key, value in sizes.items())
            raise InputError(
                f"{told}, dropout={self.dropout}, learning_rate={self.learning_rate}, clip={self.clip}: sizes are 1 or "
                f"more, dropout is at least 0 and below 1, the rate and the clip are above 0"
            )
        if not texts or set(texts) != set(tested):
            raise InputError(f"texts to learn are {', '.join(texts) or 'none'}, and held out are {', '.join(tested)}")
        if len({len(text) for text in texts.values()}) > 1:
            told = ", ".join(f"{kind} has {len(text):,}" for kind, text in texts.items())
            raise InputError(f"texts that are learned together have the same number of words, but {told}; cut them")
        for kind in texts:
            self._check_text(kind, texts[kind], self.batch * (self.steps + 1), "to learn")
            self._check_text(kind, tested[kind], 2, "held out")

    def _check_text(self, kind: str, text: Any, shortest: int, role: str) -> None:
        where = f"the text {role}" + ("" if kind == "none" else f" of {kind!r}")
        if len(text) < shortest:
            raise InputError(
                f"{where} has {len(text):,} words, and at least {shortest:,} are needed: a batch of {self.batch}, each "
                f"with {self.steps} steps and a word after them. Give a longer text, a smaller batch or fewer steps"
            )
        if np.min(text) < 0 or np.max(text) >= len(self.vocabulary):
            at = int(np.flatnonzero((np.asarray(text) < 0) | (np.asarray(text) >= len(self.vocabulary)))[0])
            raise InputError(
                f"{where} has the number {text[at]} as its word {at}; numbers are below {len(self.vocabulary)}"
            )

    def _rate(self) -> Any:
        if self.settling is not None:
            return lambda update: self.learning_rate / jnp.sqrt(1 + update / self.settling)
        if self.steady is None:
            return self.learning_rate
        rate, steady, decay, chunks = self.learning_rate, self.steady, self.decay, self.chunks
        return lambda update: rate * decay ** jnp.maximum(update // chunks - steady + 1, 0)

    def facts(self) -> dict[str, Any]:
        sizes = ("name", "hidden", "layers", "batch", "steps", "test_streams")
        named = (*sizes, "learning_rate", "steady", "decay", "clip", "dropout")
        words = hashlib.sha256(repr(self.vocabulary).encode()).hexdigest()[:16]
        settling = {} if self.settling is None else {"settling": self.settling}
        return (
            {key: getattr(self, key) for key in named}
            | settling
            | {
                "vocabulary": [len(self.vocabulary), words],
                "texts": self._digests,
                "probes": list(self.probes),
            }
        )

    def fresh(self, key: PRNGKeyArray) -> LSTM:
        first, second = jax.random.split(key)
        network = LSTM.random(self.vocabulary, self.hidden, self.layers, key=first)
        shape = (2, len(self.vocabulary), self.hidden)
        embedding, decoder = jax.random.uniform(second, shape, minval=-WIDTH, maxval=WIDTH)
        return LSTM(
            embedding=embedding,
            layers=network.layers,
            start=network.start,
            decoder=decoder,
            decoder_bias=jnp.zeros(shape[1]),
            vocabulary=self.vocabulary,
        )

    def beginning(self) -> Reading:
        nothing = jnp.zeros((self.batch, self.layers, self.hidden))
        return Reading(jnp.array(0, jnp.int32), Memory(nothing, nothing))

    def examples(self, key: PRNGKeyArray, progress: Reading, setting: Setting) -> Chunk:
        """The next chunk of the run's own text."""
        first = progress.chunk * self.steps
        tokens = jax.lax.dynamic_slice(self._text, (setting.kind, first, 0), (1, self.steps + 1, self.batch))[0]
        return Chunk(tokens, progress, key)

    def loss(self, model: LSTM, batch: Chunk, setting: Setting) -> tuple[Float[Array, ""], dict[str, Any]]:
        """The mean of -ln P(word) over the chunk; `accuracy` is the share of words that were the likeliest."""
        found, memory = read_streams(model, batch.tokens[:-1], batch.before.memory, self._masks(batch.key))
        losses, right = next_token_losses(model, found, batch.tokens[1:])
        carried = Reading(batch.before.chunk, jax.lax.stop_gradient(memory))
        return losses.mean(), {"accuracy": right.mean(), "carried": carried}

    def _masks(self, key: PRNGKeyArray) -> tuple[Array, ...] | None:
        if not self.dropout:
            return None
        shape = (self.layers + 1, self.steps, self.batch, self.hidden)
        return tuple(jax.random.bernoulli(key, 1 - self.dropout, shape) / (1 - self.dropout))

    def advance(self, model: LSTM, progress: Reading, key: PRNGKeyArray, setting: Setting) -> Reading:
        """The next chunk; after the last the first again, with an empty memory."""
        after = progress.chunk + 1
        going = after < self.chunks
        memory = jax.tree.map(lambda leaf: jnp.where(going, leaf, 0), progress.memory)
        return Reading(jnp.where(going, after, 0), memory)

    def test(self, model: LSTM, key: PRNGKeyArray) -> dict[str, Array]:
        """What `test_with` measures on the held-out text of the first kind."""
        return self.test_with(model, key, Setting(jnp.array(0), jnp.array(0.0), jnp.array(0.0)))

    def test_with(self, model: LSTM, key: PRNGKeyArray, setting: Setting) -> dict[str, Array]:
        """`perplexity` of every word of the held-out text but the first, the words' frequencies' own, and the probes.

        The text is read in `test_streams` streams, each from an empty memory.
        """

        def step(memory: Memory, chunk: tuple[Array, Array]) -> tuple[Memory, tuple[Array, Array]]:
            tokens, targets = chunk
            found, memory = read_streams(model, tokens, memory)
            losses, right = next_token_losses(model, found, jnp.maximum(targets, 0))
            counts = targets >= 0
            return memory, (jnp.sum(losses, where=counts), jnp.sum(right & counts))

        tokens, targets = (part[setting.kind] for part in self._tested)
        start = still(model, self.test_streams)
        _, (losses, right) = jax.lax.scan(step, start, (tokens, targets))
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

    def generalises(self, tested: dict[str, np.ndarray]) -> np.ndarray:
        return tested["perplexity"] < tested["unigram_perplexity"]


def _streams(text: np.ndarray, batch: int) -> np.ndarray:
    """The text as streams side by side, [step, stream]; what does not fill all of them is left out."""
    columns = len(text) // batch
    return np.asarray(text[: columns * batch], dtype=np.int32).reshape(batch, columns).T


def _test_chunks(texts: list[np.ndarray], streams: int, steps: int) -> tuple[Array, Array]:
    """All words of texts of any lengths but the last, and the word after each, [text, chunk, step, stream].

    Targets past a text's end are -1. Texts shorter than the longest end in chunks of nothing.
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
