"""Teaching the MLP of a transformer program alone, with compiled attention: ALTA's trace supervision (Appendix D.1).

Pairs of what the MLP is given and what it must make of it are drawn from the program's runs. The loss is the squared
error of each variable, and the hints say which of them count (equation 8). For its tests the learned MLP is put back
into the compiled network, which then runs by itself.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import optax
from jaxtyping import Array, Float, PRNGKeyArray, PyTree

from kleene.machines.transformer.learned_mlp import LearnedMLP, MLPTransformer, kept_width, mlp_features
from kleene.programs.alta import Program
from kleene.programs.alta.inputs import is_free
from kleene.programs.rasp.program import RaspProgram
from kleene.teaching.hints import Policy, ProgramTrace, Weights, channels
from kleene.teaching.lesson import Examples, Lesson, Record, Score, Setting, Trainable, perfect
from kleene.teaching.options import MlpOptions
from kleene.teaching.parity_words import PROGRAMS, ones_evenly
from kleene.teaching.program_words import (
    Pool,
    check_longest,
    drawn_words,
    pool_of,
    readable,
    taught_program,
)
from kleene.teaching.trace_pairs import CompiledFrame, TracePairs, pairs_of
from kleene.teaching.transformers import (
    TEST_WORDS,
    WARM_UP,
    ProgramTask,
    layers_of,
    with_lengths,
)
from kleene.traces import Trace


class TraceTask(ProgramTask):
    """Pairs from a program's runs in training, and whole words in the tests.

    The loss of the task itself is on the output variable after the last layer. Where a head is undefined, the MLP is
    given random numbers, because softmax gives an average of whatever is there.
    """

    def __init__(self, frame: CompiledFrame, pairs: TracePairs, tests: Pool, layers: Any, longest: int, noise: float,
                 *, last: bool):  # fmt: skip
        super().__init__(frame.program.name, tests, tests, layers, last=last)
        self.longest, self._frame, self._pairs, self._noise = longest, frame, pairs, noise
        self._chances = np.cumsum(pairs.counts / pairs.counts.sum()).astype(np.float32)
        self._filling = _filling(frame)

    def training_examples(self, key: PRNGKeyArray, progress: PyTree, setting: Setting, count: int) -> Examples:
        """A batch of pairs, each as often as in the program's runs, with noise on what the MLP is given."""
        pairs, (for_pairs, for_filling, for_noise) = self._pairs, jax.random.split(jax.random.split(key, 3)[1], 3)
        drawn = jnp.searchsorted(jnp.asarray(self._chances), jax.random.uniform(for_pairs, (count,)), side="right")
        rows = jnp.minimum(drawn, len(pairs) - 1)
        stream = jnp.asarray(pairs.streams)[rows]
        low, high = self._filling
        anything = jax.random.uniform(for_filling, stream.shape) * (high - low) + low
        given = mlp_features(self._frame.network.expansion, jnp.where(jnp.isnan(stream), anything, stream))
        if self._noise:
            given = given + self._noise * jax.random.normal(for_noise, given.shape)
        codes = jnp.asarray(pairs.targets)[rows]
        targets = {name: codes[:, [number]] for number, name in enumerate(pairs.variables)}
        marks = {name: jnp.asarray(getattr(pairs, name))[rows][:, None] for name in ("first", "last")}
        stated = {name: jnp.ones((count, 1), bool) for name in targets}
        trace = ProgramTrace(targets, stated, jnp.ones(count, jnp.int32), marks)
        answers = jnp.where(marks["last"], targets[self._frame.program.output_name], -1)
        return Examples(given, answers, trace)

    def score(self, record: Record, examples: Examples) -> Score:
        """The squared error of the output variable where it is asked for, and whether its nearest value is right."""
        asked = examples.targets >= 0
        found = jnp.take_along_axis(record.output, jnp.maximum(examples.targets, 0)[..., None], axis=-1)[..., 0]
        losses = -jnp.sum(jnp.where(asked, found, 0.0), axis=1) / jnp.maximum(jnp.sum(asked, axis=1), 1)
        return Score(losses, jnp.all((jnp.argmax(record.output, axis=-1) == examples.targets) | ~asked, axis=1))

    def measure(self, record: Record, examples: Examples) -> dict[str, Float[Array, ""]]:
        """`trace`: the share of the entries of the program's categorical variables that the network's run has."""
        targets, stated = examples.trace.targets, examples.trace.stated
        right = jnp.stack([jnp.sum((record.channels[n] == targets[n]) & stated[n]) for n in self.read])
        return {"trace": jnp.sum(right) / jnp.sum(jnp.stack([jnp.sum(stated[n]) for n in self.read]))}


def _filling(frame: CompiledFrame) -> tuple[np.ndarray, np.ndarray]:
    """Between which numbers each dimension of an undefined head is drawn: 0 and 1, or those that it could average."""
    low, high = np.zeros(frame.layout.width, np.float32), np.ones(frame.layout.width, np.float32)
    for segment in frame.layout.head_segments:
        if segment.channel.values:
            low[segment.start], high[segment.start] = segment.channel.values[0], segment.channel.values[-1]
    return low, high


@dataclass(frozen=True)
class MLPInNetwork(Trainable):
    """A `LearnedMLP` of that depth and so many units, taught on pairs and tested within the compiled network."""

    frame: CompiledFrame
    depth: int
    units: int
    layers: int
    grows: bool

    def fresh(self, key: PRNGKeyArray) -> LearnedMLP:
        features, outputs = len(self.frame.network.mlp_in), kept_width(self.frame.layout)
        return LearnedMLP.random(features, outputs, depth=self.depth, units=self.units, key=key)

    def record(self, model: LearnedMLP, examples: Examples, *, training: bool) -> Record:
        """The negative squared distances to each value, of the output and of all variables."""
        frame, output = self.frame, self.frame.program.output_name
        if training:
            found = nearness(frame, model(examples.inputs)[:, None])
            return Record(found[output], found)
        words = examples.inputs
        layers = self.layers + self.grows * words.tokens.shape[1]
        ran = self.bare(model)(words.tokens, words.lengths, layers=layers)
        return Record(
            nearness(frame, ran.state)[output], {n: jnp.swapaxes(rows, 0, 1) for n, rows in ran.entries.items()}
        )

    def bare(self, model: LearnedMLP) -> MLPTransformer:
        return MLPTransformer.of(self.frame.network, model, layers=self.layers, grows=self.grows)

    def trace(self, model: LearnedMLP, word: Any) -> Trace:
        return self.bare(model).run(word)


def nearness(frame: CompiledFrame, stream: Float[Array, "*batch width"]) -> dict[str, Float[Array, "*batch codes"]]:
    """The negative squared distance of each variable's dimensions to each of its values.

    It stands where a log-probability does, so that the weighted mean of equation 8 is that of squared errors.
    """
    found = {}
    for name, table in frame.tables.items():
        segment = frame.layout.segment(name)
        part = stream[..., segment.start : segment.stop]
        squares = jnp.sum(part**2, axis=-1, keepdims=True) + np.sum(table**2, axis=-1)
        found[name] = 2 * part @ table.T - squares
    return found


def policies_of(variables: Sequence[str]) -> dict[str, Policy]:
    """The kinds of hints: all variables, a share of all their entries, the first and last layers, and each variable."""

    def ends(trace: ProgramTrace) -> Weights:
        return dict.fromkeys(variables, trace.marks["first"] | trace.marks["last"])

    full = channels(*variables)
    found = {"full": Policy(full), "scattered": Policy(full, scattered=True), "ends": Policy(ends)}
    for name in variables:
        found.setdefault(name, Policy(channels(name)))
    return found


def mlp_lesson(program: Program | RaspProgram, **options: Any) -> Lesson:
    """The lesson of an MLP that learns a program's transitions, while attention is compiled.

    The pairs are those of the program's runs on `words`, or on `pool` random words of each size from 1 to `longest`,
    drawn from `inputs` (as of `alta.program_spec`) or from those that the program declares. Words of the four parity
    programs have every number of ones about equally often, unless there are `inputs`. The tests are on `lengths`, by
    default up to twice the longest. The program's output is asked for at all positions, or with `answer="last"` at the
    last.

    The MLP has `depth` hidden layers of `hidden` units, and noise of standard deviation `noise` on what it is given in
    training. With hints of the kind "full" this is ALTA's trace supervision. Without hints only the output variable
    after the last layer is taught. A RASP program is taught as by `transformer_lesson`; its `words` are in its own
    vocabulary. The options are `MlpOptions`.
    """
    given = MlpOptions(**options)
    words = given.words
    if words is not None and isinstance(program, RaspProgram):
        words = [program.lowered.check_input(word) for word in words]
    free = given.inputs is None and isinstance(program, Program) and is_free(program.words)
    is_parity = free and program.name in PROGRAMS
    program, sample = taught_program(program, given.inputs)
    sample = ones_evenly(sample) if is_parity else sample
    given = with_lengths(given, sample)
    readable(program)  # refuses an output that is a number
    frame, longest = CompiledFrame(program), given.longest
    if given.inputs is None:
        check_longest(program, sample, max(longest if words is None else 1, *given.lengths))
    if words is None:
        words = drawn_words(program, sample, range(1, longest + 1), given.pool, seed=0)
    pairs, tests = pairs_of(frame, words), pool_of(program, sample, given.lengths, TEST_WORDS, seed=1)
    count, grows = layers_of(program, (tests,), None)
    count = max(count, pairs.beyond) if grows else count
    config = {"name": program.name, "machine": "mlp", "layers": count, "grows": grows}
    config |= given.stored("longest", "lengths", "noise", "batch", "rate", "optimiser", "depth", "hidden", "answer")
    layers, last = (lambda n: count + n * grows), given.answer == "last"
    return Lesson(
        TraceTask(frame, pairs, tests, layers, longest, given.noise, last=last),
        MLPInNetwork(frame, given.depth, given.hidden, count, grows),
        policies_of(pairs.variables),
        criterion=perfect,
        optimiser=_optimiser(given.optimiser, given.rate),
        name=f"{program.name} mlp",
        batch=given.batch,
        tests=64,
        iterations=3_000,
        seeds=4,
        config=config | {"data": [pairs.digest, tests.digest]},
    )


def _optimiser(name: str, rate: float) -> optax.GradientTransformation:
    """Adam or Adafactor with a rate that grows linearly at first; it does not depend on the number of updates."""
    schedule = optax.linear_schedule(rate / WARM_UP, rate, WARM_UP)
    made: Mapping[str, Any] = {"adam": optax.adam, "adafactor": optax.adafactor}
    return made[name](schedule)
