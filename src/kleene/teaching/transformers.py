"""Teaching a Transformer what a transformer program does, with any share of the program's own trace as hints.

The program is the teacher: its outputs are the targets, and its variables after each layer at each position are the
hints, which linear readings of the residual stream are trained to say (equation 8).
"""

import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import optax
from jaxtyping import Array, Float, Int, PRNGKeyArray, UInt32

from kleene.errors import InputError
from kleene.machines.transformer.shared import SharedTransformer
from kleene.programs.alta import Program
from kleene.programs.alta.inputs import Sample
from kleene.programs.rasp.program import RaspProgram
from kleene.programs.turing import TuringMachine
from kleene.programs.turing.transformers import tape_tokens, transformer_program
from kleene.teaching.hints import Policy, ProgramTrace, Weights, channels
from kleene.teaching.lesson import Examples, Lesson, Record, Task, Trainable, perfect
from kleene.teaching.options import TransformerOptions
from kleene.teaching.program_words import (
    USUAL,
    Pool,
    check_longest,
    pool_of,
    readable,
    running_words,
    taught_program,
    usual_longest,
)
from kleene.traces import Trace

TEST_WORDS = 256  # words of each length among which tests draw
MOST_STEPS, TRIED = 128, 4  # of a Turing machine on test words, and random words of each size that are tried for it
WARM_UP, STEADY = 200, 1000  # updates until the learning rate is reached, and until it falls


class ProgramWords(NamedTuple):
    """Words padded to one length, their own lengths, and keys for the noise of an update."""

    tokens: Int[Array, "batch position"]
    lengths: Int[Array, " batch"]
    noise: UInt32[Array, "batch key"]


class ProgramTask(Task):
    """The outputs of a program at all positions, or at the `last` one alone.

    The trace has its variables and its heads' outputs at each layer. Examples are drawn from a pool of words for
    training, and from another for tests. `layers` gives the number of layers for a word of so many positions; without
    it, the examples have no trace.
    """

    def __init__(
        self, name: str, training: Pool, tests: Pool, layers: Callable[[Any], Any] | None, *, last: bool = False
    ):
        self.name, self.longest, self.lengths = name, max(training.sizes), tests.sizes
        self._last = last
        self._pools, self._layers = {True: training, False: tests}, layers

    def examples(
        self, key: PRNGKeyArray, lengths: Int[Array, " batch"], longest: int, *, training: bool = False
    ) -> Examples:
        pool = self._pools[training]
        for_words, for_noise = jax.random.split(key)
        chosen = jnp.floor(jax.random.uniform(for_words, lengths.shape) * pool.count).astype(jnp.int32)
        rows = jnp.asarray(pool.first_rows)[lengths] + chosen
        positions = jnp.asarray(pool.lengths, jnp.int32)[rows]
        inside = jnp.arange(pool.longest) < positions[:, None]
        noise = jnp.broadcast_to(jax.random.key_data(for_noise), (len(lengths), 2))
        words = ProgramWords(jnp.asarray(pool.tokens)[rows], positions, noise)
        asked = jnp.arange(pool.longest) == positions[:, None] - 1 if self._last else inside
        answers = jnp.where(asked, jnp.asarray(pool.outputs)[rows], -1)
        return Examples(words, answers, self._trace(training, rows, positions, inside))

    def _trace(self, training: bool, rows: Array, positions: Array, inside: Array) -> ProgramTrace | None:
        """The program's trace on the words in these rows of a pool."""
        if self._layers is None:
            return None
        pool, steps = self._pools[training], self._layers(positions) + 1
        at = jnp.arange(self._layers(pool.longest) + 1)
        ran = at < steps[:, None]
        entries = {name: pool.held(name, rows, at) for name in pool.traces}
        stated = {name: ran[..., None] & inside[:, None] & (rows >= 0) for name, rows in entries.items()}
        targets = {name: jnp.maximum(rows, 0) for name, rows in entries.items()}
        return ProgramTrace(targets, stated, steps)

    def measure(self, record: Record, examples: Examples) -> dict[str, Float[Array, ""]]:
        """`trace`: the share of the entries of the program's variables that the readings say."""
        if examples.trace is None:
            return {}
        targets, stated = examples.trace.targets, examples.trace.stated
        right = [(jnp.argmax(record.channels[n], axis=-1) == targets[n]) & stated[n] for n in self.read]
        return {"trace": _total(right) / _total([stated[n] for n in self.read])}

    @property
    def read(self) -> list[str]:
        """The variables, without the heads' outputs."""
        pool = self._pools[True]
        return [name for name in pool.traces if name not in pool.heads]


@dataclass(frozen=True)
class Encoder(Trainable):
    """A Transformer with these arguments of `random`, taught with noise of that size on what a layer reads."""

    arguments: Mapping[str, Any]
    noise: float = 0.0
    network: Any = SharedTransformer  # the class

    def fresh(self, key: PRNGKeyArray) -> Any:
        return self.network.random(**self.arguments, key=key)

    def record(self, model: Any, examples: Examples, *, training: bool) -> Record:
        """The output's logits after the last layer of each word, and log-probabilities of all variables."""
        words: ProgramWords = examples.inputs
        batch, size = words.tokens.shape
        layers = model.layers_for(size)
        noise = None
        if training and self.noise:
            key = jax.random.wrap_key_data(words.noise[0])
            noise = self.noise * jax.random.normal(key, (batch, layers, size, model.embedding.shape[1]))

        def one(tokens: Array, length: Array, noise: Array | None) -> tuple[Array, dict[str, Array]]:
            found = model.read(model(tokens, length, noise, layers=layers))
            return found[model.output_name][model.layers_for(length)], found

        output, found = jax.vmap(one)(words.tokens, words.lengths, noise)
        return Record(output, {name: jax.nn.log_softmax(logits) for name, logits in found.items()})

    def trace(self, model: Any, word: Any) -> Trace:
        return model.run(word)


def policies_of(variables: Sequence[str], heads: Sequence[str]) -> dict[str, Policy]:
    """The kinds of hints: all variables, a share of all their entries, their ends, the heads, and each by its name."""

    def ends(trace: ProgramTrace) -> Weights:
        at = jnp.arange(trace.targets[variables[0]].shape[0])
        return dict.fromkeys(variables, (at == 1) | (at == trace.steps - 1))

    full = channels(*variables)
    found = {"full": Policy(full), "scattered": Policy(full, scattered=True), "ends": Policy(ends)}
    if heads:
        found["heads"] = Policy(channels(*heads))
    for name in (*variables, *heads):
        found.setdefault(name, Policy(channels(name)))
    return found


def transformer_lesson(program: Program | RaspProgram, **options: Any) -> Lesson:
    """The lesson of a Transformer that learns a program from its outputs, and from hints on its trace.

    Words of sizes 1 to `longest` are drawn from a `pool` of random words of each size, and the tests are on `lengths`,
    by default up to twice the longest, which is 10, or half of the longest input that the program takes. They are of
    `inputs` (as of `alta.program_spec`), or of those that the program declares. The program's output is asked for at
    all positions, or with `answer="last"` at the last.

    The network has as many layers as the program needs: a fixed number if it has no halting condition, else a number
    that grows with the word's positions; or `layers`. `attention` is the number of its heads, which tell distances up
    to `reach` apart, and `hidden` that of the units in its MLP. A run generalises when it is right at every position
    that is asked for, of every test word.

    A RASP program is taught as the transformer program that it is lowered to, on random words of its vocabulary. The
    network then reads and writes codes (`kleene.teaching.program_words.taught_program`). The options are
    `TransformerOptions`.
    """
    given = TransformerOptions(**options)
    program, sample = taught_program(program, given.inputs)
    variables, heads = readable(program)
    given = with_lengths(given, sample)
    if given.inputs is None:
        check_longest(program, sample, max(given.longest, *given.lengths))
    training, tests = pools_of(program, sample, given.longest, sample, given.lengths, given.pool)
    count, grows = layers_of(program, (training, tests), given.layers)
    placed = any(by == "position" for by, _ in program.starts.values())
    arguments = given.stored("width", "reach", attention="heads", hidden="units") | {
        "symbols": program.input_range, "variables": variables, "head_outputs": heads,
        "output_name": program.output_name, "layers": count, "grows": grows,
        "positions": program.position_range if placed else None,
    }  # fmt: skip
    config = {"name": program.name, "arguments": arguments, "words": [training.digest, tests.digest]}
    config |= given.stored("longest", "lengths", "noise", "batch", "rate", "clip", "answer")
    layers, last = (lambda positions: count + positions * grows), given.answer == "last"
    return Lesson(
        ProgramTask(program.name, training, tests, layers, last=last),
        Encoder(arguments, given.noise),
        policies_of([*variables], [*heads]),
        criterion=perfect,
        optimiser=optax.chain(optax.clip_by_global_norm(given.clip), optax.adam(schedule(given.rate))),
        batch=given.batch,
        tests=64,
        iterations=3_000,
        seeds=4,
        config=config,
    )


def turing_lesson(machine: TuringMachine, **options: Any) -> Lesson:
    """The lesson of a Transformer that learns what a Turing machine does, a step in each layer.

    Positions are the cells of its tape, and words are random ones of the input alphabet. The options are those of
    `transformer_lesson`, but the longest words are shorter by default where the machine takes many steps, because
    every step is a layer: test words of twice the length take at most about `MOST_STEPS`.
    """

    def sample(rng: random.Random, size: int) -> list[int]:
        return tape_tokens(machine, rng.choices(machine.input_alphabet, k=size))

    inputs = options.pop("inputs", None)
    program = transformer_program(machine).taking(sample if inputs is None else inputs)
    if options.get("longest") is None:
        options["longest"] = _usual_tape(program, program.words.sample)
    return transformer_lesson(program, **options)


def _usual_tape(program: Program, sample: Sample) -> int:
    """Half of the largest size, up to 20, at which random words of all sizes take at most `MOST_STEPS` layers."""
    rng = random.Random(0)
    with running_words(program):
        for size in range(1, 2 * USUAL + 1):
            tried = [sample(rng, size) for _ in range(TRIED)]
            if program.run_batch(tried, record=False).steps.max() > MOST_STEPS:
                return max(1, (size - 1) // 2)
    return USUAL


def schedule(rate: float) -> Callable[[Any], Any]:
    """The learning rate by the number of updates: it grows to `rate`, stays, and falls with their square root.

    It does not depend on how many updates there will be, so that a run can be extended.
    """
    return lambda count: rate * jnp.minimum((count + 1) / WARM_UP, jnp.minimum(1.0, jnp.sqrt(STEADY / (count + 1))))


def _total(arrays: Sequence[Array]) -> Array:
    return jnp.sum(jnp.stack([jnp.sum(array) for array in arrays]))


def layers_of(program: Program, pools: Sequence[Pool], layers: int | None) -> tuple[int, bool]:
    """The number of layers, and whether one more is added for each position; refuses fewer than the program needs."""
    most = max(int(pool.steps.max()) for pool in pools)
    if layers is not None:
        if layers < most:
            raise InputError(f"layers is {layers}, and {program.name} takes {most} on the longest words; give {most}")
        return layers, False
    if program.halt is None:
        return program.max_layers, False
    return max(-1, *(int((pool.steps - pool.lengths).max()) for pool in pools)), True


def pools_of(
    program: Program, sample: Sample, longest: int, test_sample: Sample, lengths: Sequence[int], count: int
) -> tuple[Pool, Pool]:
    """`count` words of each size up to the longest for training, and other words of these lengths for the tests."""
    training = pool_of(program, sample, range(1, longest + 1), count, seed=0)
    return training, pool_of(program, test_sample, lengths, TEST_WORDS, seed=1)


def with_lengths(given: Any, sample: Sample) -> Any:
    """The options with the longest words, and the lengths of the tests: by default four up to twice the longest."""
    given = given.filled(longest=usual_longest(sample))
    most = given.longest
    return given.filled(lengths=tuple(sorted({max(1, most // 2), most, most + most // 2, 2 * most})))
