"""A task: it draws examples, scores answers, tests machines, and advances a curriculum."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int, PRNGKeyArray, PyTree

from kleene.teaching.hints import Hints, ProgramTrace


class Setting(eqx.Module):
    """The setting of one run; in a grid of runs each field is an array over runs."""

    kind: Int[Array, "*runs"]  # an index into the lesson's `kinds`
    density: Float[Array, "*runs"]  # the share of examples that get hints
    strength: Float[Array, "*runs"]  # λ of equation 8

    @classmethod
    def without_hints(cls) -> "Setting":
        """The setting of one run without hints."""
        return cls(jnp.array(0), jnp.array(0.0), jnp.array(0.0))


class Examples(eqx.Module):
    """Inputs, targets and, where a program for the task is known, its trace.

    In training, `hints` are what a policy reveals of that trace, and the trace itself is left out.
    """

    inputs: PyTree
    targets: PyTree
    trace: Any = None  # a ProgramTrace, or its channels as plain arrays
    hints: dict[str, Hints] = eqx.field(default_factory=dict)


class Record(NamedTuple):
    """The runs of a batch as a lesson needs them: outputs, and log-probabilities for the channels of hints."""

    output: PyTree
    channels: Mapping[str, Any]


class Score(NamedTuple):
    """The losses of a batch, whose mean is minimised, and which answers are right.

    `progress` is the task's next progress where the loss computes it, such as the state of a language model.
    """

    losses: Float[Array, "..."]
    right: Bool[Array, "..."]
    progress: PyTree = None


class Task:
    """What is to be learned. A task of your own needs only `draw`; everything else has a default.

    `longest` is the longest example in training and `lengths` are those of the tests; a length may be any measure of
    difficulty. A task with `variants`, such as several texts, gives each run one of them, and has no hints.
    """

    name: str = "task"
    shortest: int = 1
    longest: int = 8
    lengths: Sequence[int] = (4, 8, 12, 16)
    variants: tuple[str, ...] = ()
    epoch: int = 1  # updates in one pass through the data, where the data is finite

    def draw(self, key: PRNGKeyArray, length: Int[Array, ""], longest: int) -> Examples:
        """One random example of that length, in arrays with room for `longest`. Everything but `longest` is traced."""
        raise NotImplementedError(f"the task {self.name!r} has no `draw`; write it")

    def examples(
        self, key: PRNGKeyArray, lengths: Int[Array, " batch"], longest: int, *, training: bool = False
    ) -> Examples:
        """A batch of random examples of these lengths."""

        def one(key: PRNGKeyArray, length: Array) -> Examples:
            drawn = self.draw(key, length, longest)
            known = isinstance(drawn.trace, Mapping)
            return Examples(drawn.inputs, drawn.targets, ProgramTrace.of(drawn.trace) if known else drawn.trace)

        return jax.vmap(one)(jax.random.split(key, len(lengths)), lengths)

    def beginning(self) -> PyTree:
        """Where the curriculum begins, a pytree of arrays; by default there is no curriculum."""
        return ()

    def training_lengths(self, key: PRNGKeyArray, progress: PyTree, count: int) -> Int[Array, " batch"]:
        """The lengths of a batch, uniform from `shortest` to `longest`."""
        return jax.random.randint(key, (count,), self.shortest, self.longest + 1)

    def training_examples(self, key: PRNGKeyArray, progress: PyTree, setting: Setting, count: int) -> Examples:
        """The batch of one update."""
        for_lengths, for_examples, _ = jax.random.split(key, 3)  # the third is the hints'
        lengths = self.training_lengths(for_lengths, progress, count)
        return self.examples(for_examples, lengths, self.longest, training=True)

    def advance(self, progress: PyTree, key: PRNGKeyArray, score: Callable[[Examples], Score]) -> PyTree:
        """The curriculum after an update; `score` runs the machine on any examples."""
        return progress

    def score(self, record: Record, examples: Examples) -> Score:
        """The mean cross-entropy over the steps of each example that have a target of 0 or more.

        An example is right if all of these steps are. Outputs are logits [batch, step, classes], targets [batch, step].
        """
        asked = examples.targets >= 0
        chances = jax.nn.log_softmax(record.output)
        found = jnp.take_along_axis(chances, jnp.maximum(examples.targets, 0)[..., None], axis=-1)[..., 0]
        losses = -jnp.sum(jnp.where(asked, found, 0.0), axis=1) / jnp.maximum(jnp.sum(asked, axis=1), 1)
        return Score(losses, jnp.all((jnp.argmax(record.output, axis=-1) == examples.targets) | ~asked, axis=1))

    def measure(self, record: Record, examples: Examples) -> dict[str, Float[Array, ""]]:
        """Further measurements of the tests for each length, by name."""
        return {}

    def test(
        self, record: Callable[[Examples], Record], model: PyTree, key: PRNGKeyArray, setting: Setting, count: int
    ) -> dict[str, Array]:
        """`accuracy_by_length`, the share of `count` examples of each length that are right, and what `measure` gives.

        Each measure is given by length, and as its mean over lengths of at most twice the longest in training.
        """
        longest = max(self.lengths)

        def tested(now: tuple[PRNGKeyArray, Array]) -> tuple[Array, dict[str, Array]]:
            key, length = now
            examples = self.examples(key, jnp.full((count,), length), longest)
            recorded = record(examples)
            return jnp.mean(self.score(recorded, examples).right), self.measure(recorded, examples)

        lengths = jnp.array(self.lengths)
        accuracy, measured = jax.lax.map(tested, (jax.random.split(key, len(self.lengths)), lengths))
        near = lengths <= max(2 * self.longest, min(self.lengths))
        found = {"accuracy_by_length": accuracy}
        for name, values in measured.items():
            found |= {f"{name}_by_length": values, name: jnp.mean(values, where=near)}
        return found
