"""A lesson: a task, a machine that learns it, policies for hints, and a criterion for having learned it.

A user can write each of the four. A `Task` draws examples, scores answers and advances a curriculum, a `Trainable`
makes machines and records their runs, a `Policy` is a function from a program's trace to weights, and a criterion is a
function from the measurements of the tests to which runs generalise. `Lesson` combines them and implements `Teachable`,
the protocol that the loop needs.
"""

import functools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple, Protocol, runtime_checkable

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import optax
from jaxtyping import Array, Bool, Float, Int, PRNGKeyArray, PyTree

from kleene.errors import InputError
from kleene.machines.ncm import Start, run
from kleene.teaching.hints import (
    Draws,
    Hints,
    Policy,
    ProgramTrace,
    draw_chances,
    hint_loss,
    is_float_array,
    nothing,
    reveal,
)
from kleene.traces import Channel, Trace

Tested = Mapping[str, np.ndarray]  # measurements of the tests, runs first; "accuracy_by_length" is [run, length]
Criterion = Callable[[Tested, Sequence[int]], np.ndarray]  # from these and the lengths to which runs generalise


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

    def finished(self, progress: PyTree) -> Any:
        """Whether the curriculum has ended, so that the machine does not change any more."""
        return False

    def reached(self, progress: PyTree) -> dict[str, Array]:
        """What tests record of the curriculum, by name."""
        return {}

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


@dataclass(frozen=True)
class TaskOf(Task):
    """A task whose examples another object draws: a task of `kleene.tasks`, with the lengths of a lesson."""

    task: Any
    name: str
    shortest: int
    longest: int
    lengths: tuple[int, ...]


class Pupil(eqx.Module):
    """A machine, and a decoder that is trained with it and reads the channels of hints off it."""

    machine: Any
    decoder: Any


class Trainable:
    """A kind of machine that a lesson makes for each run, and whose runs it records. `axis` is their batch axis."""

    axis: int = 0

    def fresh(self, key: PRNGKeyArray) -> PyTree:
        """A model with random weights: the machine and the decoders that are trained with it."""
        raise NotImplementedError

    def record(self, model: PyTree, examples: Examples, *, training: bool) -> Record:
        """The outputs of a batch of runs, and log-probabilities for each channel of its hints."""
        raise NotImplementedError

    def bare(self, model: PyTree) -> Any:
        """The machine without its decoders."""
        return model.machine if isinstance(model, Pupil) else model

    def trace(self, model: PyTree, word: Any) -> Trace:
        """The machine's trace on one input."""
        return self.bare(model).run(word)


@dataclass(frozen=True)
class NCM(Trainable):
    """A ∂NCM as a machine to be taught; `make` is a function from a key to one, such as a class's `random`.

    The machine has `start()`, `control` and `process` (`kleene.machines.ncm`). Hints are on channels of its trace,
    usually `command`, or on the entries of a command that is a dict. A channel with hints is an array of logits, its
    step first and its classes last; log-probabilities are logits.
    """

    make: Callable[[PRNGKeyArray], Any]

    def fresh(self, key: PRNGKeyArray) -> PyTree:
        return self.make(key)

    def record(self, model: Any, examples: Examples, *, training: bool) -> Record:
        found = jax.vmap(lambda entries: run(model, model.start(), entries))(examples.inputs)
        named = found["command"] if isinstance(found["command"], Mapping) else {}
        recorded = {**found, **named}
        hinted = {name: recorded[name] for name in examples.hints if is_float_array(recorded.get(name))}
        return Record(found["output"], recorded | {name: jax.nn.log_softmax(logits) for name, logits in hinted.items()})

    def trace(self, model: Any, word: Any) -> Trace:
        """The commands and outputs of the run on one input, as vectors."""
        start: Start = model.start()
        found = run(model, start, jnp.asarray(word))
        named = found["command"] if isinstance(found["command"], Mapping) else {"command": found["command"]}
        shown = {**named, "output": found["output"]}
        arrays = {name: np.asarray(rows) for name, rows in shown.items() if eqx.is_array(rows) and rows.ndim == 2}
        data = {name: np.concatenate([np.full_like(rows[:1], np.nan), rows]) for name, rows in arrays.items()}
        channels = [Channel(name, "vector", rows.shape[-1], per_step=True) for name, rows in data.items()]
        return Trace(tuple(channels), data, "output" if "output" in data else None, axes=("step",), source="network")


def perfect(tested: Tested, lengths: Sequence[int]) -> np.ndarray:
    """Whether each run is right on every test."""
    return (np.asarray(tested["accuracy_by_length"]) == 1).all(axis=-1)


@dataclass(frozen=True)
class UpToTwice:
    """The criterion of the partial-traces paper, with `longest` the longest length in training.

    A run is right on all tests up to 1.5 times `longest`, and on 90% of those up to twice `longest`.
    """

    longest: int

    def __call__(self, tested: Tested, lengths: Sequence[int]) -> np.ndarray:
        accuracy, at = np.asarray(tested["accuracy_by_length"]), np.array(lengths)
        near, far = at <= 1.5 * self.longest, at <= 2 * self.longest
        if not near.any():
            return np.zeros(accuracy.shape[:-1], dtype=bool)
        return (accuracy[..., near] == 1).all(axis=-1) & (accuracy[..., far].mean(axis=-1) >= 0.9)


class Measured(NamedTuple):
    """The accuracy of an update on its batch, and the next progress where the loss computes it."""

    accuracy: Float[Array, ""]
    progress: PyTree = None


@runtime_checkable
class Teachable(Protocol):
    """The protocol of a lesson for the loop. The arrays are those of one run; the loop vmaps over runs."""

    @property
    def name(self) -> str: ...
    @property
    def kinds(self) -> tuple[str, ...]: ...
    @property
    def lengths(self) -> Sequence[int]: ...
    @property
    def optimiser(self) -> optax.GradientTransformation: ...
    @property
    def iterations(self) -> int: ...

    def fresh(self, key: PRNGKeyArray) -> PyTree: ...
    def beginning(self) -> PyTree: ...
    def examples(self, key: PRNGKeyArray, progress: PyTree, setting: Setting) -> PyTree: ...
    def loss(self, model: PyTree, examples: PyTree, setting: Setting) -> tuple[Array, Measured]: ...
    def advance(self, model: PyTree, progress: PyTree, key: PRNGKeyArray) -> PyTree: ...
    def finished(self, progress: PyTree) -> Any: ...
    def reached(self, progress: PyTree) -> dict[str, Array]: ...
    def test(self, model: PyTree, key: PRNGKeyArray, setting: Setting) -> dict[str, Array]: ...
    def generalises(self, tested: dict[str, np.ndarray]) -> np.ndarray: ...
    def facts(self) -> dict[str, Any]: ...


@dataclass(frozen=True, eq=False)
class Lesson:
    """A task, a machine, policies for hints by name, and a criterion; and how the machine is trained.

    `iterations`, `seeds` and `strength` (λ) are the defaults of a plan. `config` holds as plain values everything
    besides settings and seeds that decides the result; a checkpoint must match it. `version` is raised by hand when the
    same facts come to mean something else: runs of a sweep are then run anew.
    """

    task: Task
    machine: Trainable
    hints: Mapping[str, Policy | Callable[[ProgramTrace], Any]] = field(default_factory=dict)
    criterion: Criterion = perfect
    optimiser: optax.GradientTransformation = field(default_factory=lambda: optax.adam(1e-3))
    name: str = ""
    batch: int = 32
    tests: int = 32
    iterations: int = 1000
    seeds: int = 10
    strength: float = 1.0
    draws: Callable[[PRNGKeyArray, ProgramTrace, int], Draws] = draw_chances
    shares: Mapping[str, Any] = field(default_factory=dict)  # of a hint, by channel and site: see `hint_loss`
    pictures: Mapping[str, Callable[..., Any]] = field(default_factory=dict)  # functions of a `Taught` and a path
    closing: Callable[[PyTree], dict[str, Array]] | None = None  # further measurements of a model, after the last test
    config: Mapping[str, Any] | None = None
    recipe: Mapping[str, Any] | None = None  # the settings that make this lesson, where it was made by name
    usual_hints: str | None = None  # the kind of hints where nobody says which; by default the first kind
    version: int = 1

    def __post_init__(self) -> None:
        for what in ("batch", "tests", "iterations", "seeds"):
            if getattr(self, what) < 1:
                raise InputError(f"{what} is {getattr(self, what)}; give 1 or more")
        object.__setattr__(self, "name", self.name or self.task.name)

    def __repr__(self) -> str:
        return f"<Lesson {self.name}: {self.iterations:,} iterations, kinds {', '.join(self.kinds)}>"

    @property
    def kinds(self) -> tuple[str, ...]:
        """The kinds of hints, "none" first; or the variants of the task."""
        return self.task.variants or ("none", *(kind for kind in self.hints if kind != "none"))

    @property
    def lengths(self) -> Sequence[int]:
        """The lengths, or difficulties, of the tests."""
        return self.task.lengths

    @property
    def policies(self) -> list[Policy]:
        given = [self.hints.get(kind, nothing) for kind in self.kinds]
        return [policy if isinstance(policy, Policy) else Policy(policy) for policy in given]

    def only(self, kinds: Sequence[str]) -> "Lesson":
        """The lesson with only these kinds of hints; channels that no policy reveals are not computed."""
        for kind in kinds:
            if kind not in self.kinds:
                raise InputError(f"no hints of kind {kind!r} for {self.name}; there are {', '.join(self.kinds)}")
        return replace(self, hints={kind: self.hints[kind] for kind in dict.fromkeys(kinds) if kind in self.hints})

    def fresh(self, key: PRNGKeyArray) -> PyTree:
        """A model with random weights."""
        return self.machine.fresh(key)

    def beginning(self) -> PyTree:
        return self.task.beginning()

    def examples(self, key: PRNGKeyArray, progress: PyTree, setting: Setting) -> Examples:
        """A batch with its hints; the density is the share of examples that have some."""
        drawn = self.task.training_examples(key, progress, setting, self.batch)
        return Examples(drawn.inputs, drawn.targets, hints=self._revealed(key, drawn.trace, setting))

    def _revealed(self, key: PRNGKeyArray, trace: ProgramTrace | None, setting: Setting) -> dict[str, Hints]:
        policies = self.policies
        if trace is None or not self.hints:
            return {}
        for_hints = jax.random.split(key, 3)[2]  # the first two are the task's
        draws = self.draws(for_hints, trace, max(policy.chances for policy in policies))
        return reveal(policies, trace, draws, kind=setting.kind, density=setting.density, axis=self.machine.axis)

    def loss(self, model: PyTree, examples: Examples, setting: Setting) -> tuple[Float[Array, ""], Measured]:
        """The mean of equation 8 of the partial-traces paper over the batch."""
        record = self.machine.record(model, examples, training=True)
        score = self.task.score(record, examples)
        losses = score.losses
        if examples.hints:
            found = {name: record.channels[name] for name in examples.hints if name in record.channels}
            loss = functools.partial(hint_loss, shares=self.shares)
            hinted = jax.vmap(loss, in_axes=self.machine.axis)(found, examples.hints)
            losses = losses + setting.strength * hinted
        return jnp.mean(losses), Measured(jnp.mean(score.right), score.progress)

    def advance(self, model: PyTree, progress: PyTree, key: PRNGKeyArray) -> PyTree:
        """The curriculum after an update."""

        def score(examples: Examples) -> Score:
            return self.task.score(self.machine.record(model, examples, training=True), examples)

        return self.task.advance(progress, key, score)

    def finished(self, progress: PyTree) -> Any:
        """Whether the curriculum has ended."""
        return self.task.finished(progress)

    def reached(self, progress: PyTree) -> dict[str, Array]:
        """What tests record of the curriculum, by name."""
        return self.task.reached(progress)

    def test(self, model: PyTree, key: PRNGKeyArray, setting: Setting) -> dict[str, Array]:
        """`accuracy_by_length`, the share of right answers for each of `lengths`, and further measurements."""

        def record(examples: Examples) -> Record:
            return self.machine.record(model, examples, training=False)

        return self.task.test(record, model, key, setting, self.tests)

    def generalises(self, tested: Tested) -> np.ndarray:
        """Whether each run generalises, by the criterion."""
        return np.asarray(self.criterion(tested, self.lengths))

    def facts(self) -> dict[str, Any]:
        """Everything besides settings and seeds that decides the result, as plain values."""
        if self.config is None:
            sizes = {"batch": self.batch, "tests": self.tests, "longest": self.task.longest}
            return {"name": self.name, "kinds": list(self.kinds), "lengths": list(self.lengths)} | sizes
        return dict(self.config) | ({"kinds": list(self.kinds)} if "kinds" in self.config else {})
