"""Teaching a Neural GPU sequence and memory tasks, from their answers alone (partial traces, figure 18).

The answer stands where the input stood. The input of a memory task is its M cells, each value a symbol, and the answer
is the memory at the end. That of a sequence task is the word, the delimiter, and blanks while the answer goes on.

Training is that of Freivalds and Liepins: words of all lengths in one update, a cost of saturation, dropout on what a
step proposes, and AdaMax with gradients clipped relative to their largest. Their code also lowers the learning rate and
the weight of saturation as it goes; here both are constant.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Int, PRNGKeyArray, PyTree

from kleene.errors import InputError
from kleene.machines.neural_gpu import NeuralGPU
from kleene.programs.circuits import Circuit
from kleene.tasks.memory import CircuitTask, MemoryTask, memory_task
from kleene.tasks.sequences import TASKS, OnlineDyckWords, SequenceTask, own_reading
from kleene.teaching.lesson import Examples, Lesson, Record, Score, Setting, TaskOf, Trainable, UpToTwice
from kleene.teaching.optimisers import clipped_adamax
from kleene.teaching.options import NeuralGpuOptions
from kleene.traces import Trace

SAMPLES = 1 << 20  # the seed of training sets, which are the same for all runs


class PlacedWord(eqx.Module):
    """Symbols in their positions, how many positions count, and the key of dropout, which tests do not use."""

    symbols: Int[Array, "*batch position"]
    length: Int[Array, "*batch"]
    key: PRNGKeyArray


class PlacedExample(NamedTuple):
    """An input, its answer at each position, and how many positions count."""

    symbols: Int[Array, " position"]
    answers: Int[Array, " position"]
    length: Int[Array, ""]


@dataclass(frozen=True)
class MemoryPlaces:
    """How a memory task is placed: a cell is a position, and a value is a symbol."""

    task: MemoryTask
    batch = 50
    iterations = 200  # 10,000 examples, as in figure 18

    @property
    def lengths(self) -> tuple[int, int, int, tuple[int, ...]]:
        """The least length that there is, the first and the last in training, and those of the tests."""
        return self.task.smallest, self.task.start, self.task.end, self.task.tests

    def symbols(self, longest: int) -> tuple[int, int]:
        """The number of symbols, and that of answers."""
        return longest, longest

    def draw(self, key: PRNGKeyArray, length: Int[Array, ""], longest: int, training: bool) -> PlacedExample:
        found = self.task.sample(key, length, longest, noisy=training)
        return PlacedExample(found.memory, found.expected, found.size)

    def typed(self, word: Sequence[int]) -> list[int]:
        """The symbols of a memory."""
        return list(word)


@dataclass(frozen=True)
class WordPlaces:
    """How a sequence task is placed: the word, its delimiter, and blanks for an answer that is longer."""

    task: SequenceTask
    batch = 32
    iterations = 2_000

    @property
    def lengths(self) -> tuple[int, int, int, tuple[int, ...]]:
        return 1, self.task.shortest, self.task.longest, tuple(range(1, self.task.tested + 1))

    def symbols(self, longest: int) -> tuple[int, int]:
        return self.task.inputs, self.task.outputs

    def draw(self, key: PRNGKeyArray, length: Int[Array, ""], longest: int, training: bool) -> PlacedExample:
        found = self.task.examples(key, length[None], longest)
        positions = jnp.arange(self.task.repeats * longest + 1)
        answers = jnp.take(found.answers[:, 0], length + 1 + positions, mode="clip")  # asked for from that step on
        return PlacedExample(found.symbols[positions, 0], answers, self.task.repeats * length + 1)

    def typed(self, word: Sequence[int]) -> list[int]:
        self.task.check_word(word)
        blanks = (self.task.repeats - 1) * len(word)
        return [*word, self.task.alphabet, *[self.task.alphabet + 1] * blanks]


def places_of(task: Any) -> MemoryPlaces | WordPlaces:
    """How a task, a circuit, or the task of that name is placed."""
    if isinstance(task, str):
        task = TASKS.get(task) or memory_task(task)
    if isinstance(task, Circuit):
        task = CircuitTask.of(task)
    return WordPlaces(task) if isinstance(task, SequenceTask) else MemoryPlaces(task)


@dataclass(frozen=True, kw_only=True)
class InPlaceTask(TaskOf):
    """A task whose answer stands where its input stood.

    With `samples`, training has only that many different examples, drawn again and again.
    """

    places: MemoryPlaces | WordPlaces
    saturation: float  # the weight of its cost
    samples: int | None

    def examples(
        self, key: PRNGKeyArray, lengths: Int[Array, " batch"], longest: int, *, training: bool = False
    ) -> Examples:
        keys = jax.random.split(key, 2 * len(lengths))
        return self._placed(keys[::2], keys[1::2], lengths, longest, training)

    def training_examples(self, key: PRNGKeyArray, progress: PyTree, setting: Setting, count: int) -> Examples:
        if self.samples is None:
            return super().training_examples(key, progress, setting, count)
        for_numbers, for_dropout = jax.random.split(key)
        numbers = jax.random.randint(for_numbers, (count,), 0, self.samples)
        drawn = jax.vmap(jax.random.fold_in, (None, 0))(jax.random.key(SAMPLES), numbers)
        for_lengths, for_examples = jax.vmap(jax.random.split, out_axes=1)(drawn)
        lengths = jax.vmap(lambda key: jax.random.randint(key, (), self.shortest, self.longest + 1))(for_lengths)
        return self._placed(for_examples, jax.random.split(for_dropout, count), lengths, self.longest, True)

    def _placed(self, keys: Array, dropout: Array, lengths: Array, longest: int, training: bool) -> Examples:
        def one(key: PRNGKeyArray, dropout: PRNGKeyArray, length: Array) -> Examples:
            drawn = self.places.draw(key, length, longest, training)
            counts = jnp.arange(len(drawn.symbols)) < drawn.length
            return Examples(PlacedWord(drawn.symbols, drawn.length, dropout), jnp.where(counts, drawn.answers, -1))

        return jax.vmap(one)(keys, dropout, lengths)

    def score(self, record: Record, examples: Examples) -> Score:
        """The mean cross-entropy over the positions of each answer, plus the cost of saturation."""
        found = super().score(record, examples)
        return found._replace(losses=found.losses + self.saturation * record.channels["saturation"])

    def measure(self, record: Record, examples: Examples) -> dict[str, Float[Array, ""]]:
        """`positions`, the share of positions that are right."""
        asked = examples.targets >= 0
        right = jnp.argmax(record.output, axis=-1) == examples.targets
        return {"positions": jnp.sum(right & asked) / jnp.sum(asked)}


@dataclass(frozen=True)
class ImageMachine(Trainable):
    """A Neural GPU for the symbols of a task."""

    places: MemoryPlaces | WordPlaces
    symbols: int
    outputs: int
    hidden: int
    dropout: float

    def fresh(self, key: PRNGKeyArray) -> NeuralGPU:
        return NeuralGPU.random(self.symbols, outputs=self.outputs, hidden=self.hidden, key=key)

    def record(self, model: NeuralGPU, examples: Examples, *, training: bool) -> Record:
        """The logits after the last step of each run, and how saturated it was."""
        positions = examples.inputs.symbols.shape[-1]
        shape, share = (positions + 1, positions, self.hidden), 1 - self.dropout

        def one(word: PlacedWord) -> tuple[Array, Array]:
            kept = None
            if training and self.dropout:
                kept = jax.random.bernoulli(word.key, share, shape) / share
            found = model.rewrite(word.symbols, word.length, word.length, most=positions, kept=kept)
            return model.logits(found.images[-1]), found.saturation

        logits, saturation = jax.vmap(one)(examples.inputs)
        return Record(logits, {"saturation": saturation})

    def trace(self, model: NeuralGPU, word: Sequence[int]) -> Trace:
        """The machine's trace on a memory, or on a word, to which the delimiter and blanks are added."""
        return model.run(self.places.typed(word))


def neural_gpu_lesson(task: SequenceTask | MemoryTask | Circuit | str, **options: Any) -> Lesson:
    """The lesson of a sequence task, a memory task, or the task that a circuit computes; it has no hints.

    Words in training have lengths from `shortest` to `longest`, or memories these sizes: by default those of the NTM's
    and the NRAM's lesson, and so are the `lengths` of tests. The default number of examples of a memory task is that of
    figure 18, 10,000. `rate` is 0.48 / `hidden` by default, as in the authors' code; `samples` is the number of
    different examples in training, by default any. The options are `NeuralGpuOptions`.

    A value of a memory is a symbol. So values that are larger than any in training are unknown symbols, unlike for
    an NRAM, which computes with them.

    >>> lesson = neural_gpu_lesson("merge")
    >>> lesson.lengths, lesson.iterations * lesson.batch, lesson.kinds
    ((13, 16, 20, 24, 28, 32), 10000, ('none',))
    """
    given, places = NeuralGpuOptions(**options), places_of(task)
    if isinstance(places.task, OnlineDyckWords):
        raise InputError(
            f"{places.task.name}: this reading is answered while the word is read, and a Neural GPU answers after its "
            f"last step; teach it to an NTM, or give a reading that answers after the word"
        )
    least, first, last, usual = places.lengths
    given = given.filled(shortest=first, longest=last, lengths=usual, batch=places.batch, rate=0.48 / given.hidden)
    shortest, longest, lengths, name = given.shortest, given.longest, given.lengths, places.task.name
    if not least <= shortest <= longest or min(lengths) < least:
        raise InputError(
            f"{name} is taught at lengths {shortest} to {longest} and tested at {', '.join(map(str, lengths))}; "
            f"the smallest is {least}, and shortest is at most longest"
        )
    symbols, outputs = places.symbols(max(longest, *lengths))
    stored = ("hidden", "batch", "dropout", "saturation", "samples", "shortest", "longest", "lengths", "tests")
    config = {"machine": "neural_gpu", "name": name} | given.stored(*stored, rate="learning_rate")
    if isinstance(places.task, CircuitTask):
        config["circuit"] = places.task.circuit.text
    if isinstance(places.task, SequenceTask):
        config |= own_reading(places.task)
    own = {"places": places, "saturation": given.saturation, "samples": given.samples}
    return Lesson(
        InPlaceTask(places.task, name, shortest, longest, lengths, **own),
        ImageMachine(places, symbols, outputs, given.hidden, given.dropout),
        criterion=UpToTwice(longest),
        optimiser=clipped_adamax(given.rate),
        name=f"{name} neural_gpu",
        batch=given.batch,
        tests=given.tests,
        iterations=places.iterations,
        config=config,
    )
