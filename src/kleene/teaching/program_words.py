"""Words of a transformer program with its outputs and traces, computed once and drawn from by a jitted lesson."""

import random
import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Int

from kleene.errors import InputError, KleeneError
from kleene.limits import check_memory
from kleene.notation.words import padded
from kleene.programs.alta import Program
from kleene.programs.alta.inputs import Sample
from kleene.programs.alta.variables import Categorical
from kleene.programs.rasp.graph import RaspError
from kleene.programs.rasp.program import RaspProgram

USUAL = 10  # the size of the longest words in training
BYTES = 16  # that an entry of a trace takes while a pool is made: in the interpreter's batch, held, and stretched
TRIES = 100  # random words of a RASP program, before one on which it has a value is given up


@dataclass(frozen=True, eq=False)
class Pool:
    """Random words of a program, `count` of each size, and what the program does on them.

    `traces` has each categorical variable at the start and after each layer, and the output of each of the `heads` in
    each layer; -1 is undefined. After its last layer a program keeps its variables, and its heads read nothing.
    """

    sizes: tuple[int, ...]
    count: int
    tokens: Int[np.ndarray, "word position"]
    lengths: Int[np.ndarray, " word"]
    outputs: Int[np.ndarray, "word position"]
    traces: dict[str, Int[np.ndarray, "word step position"]]
    steps: Int[np.ndarray, " word"]
    heads: frozenset[str]

    @cached_property
    def digest(self) -> int:
        """A checksum of everything in the pool."""
        found = 0
        for array in (self.tokens, self.lengths, self.outputs, *self.traces.values()):
            found = zlib.crc32(np.ascontiguousarray(array, dtype=np.int32).tobytes(), found)
        return found

    @property
    def first_rows(self) -> Int[np.ndarray, " size"]:
        """The first row of the words of each size, from size 0 on."""
        firsts = np.zeros(max(self.sizes) + 1, np.int32)
        firsts[list(self.sizes)] = np.arange(len(self.sizes)) * self.count
        return firsts

    def held(self, name: str, rows: Int[Array, " batch"], at: Int[Array, " step"]) -> Int[Array, "batch step position"]:
        """A variable or a head's output on the words in these rows, after each of these numbers of layers.

        They may be more than the program has; then it keeps its variables, and its heads read nothing.
        """
        last = self.traces[name].shape[1] - 1
        found = jnp.asarray(self.traces[name])[rows[:, None], jnp.minimum(at, last)].astype(jnp.int32)
        return jnp.where((at > last)[:, None], -1, found) if name in self.heads else found

    @property
    def longest(self) -> int:
        """The number of positions of the longest word."""
        return self.tokens.shape[1]


def readable(program: Program) -> tuple[dict[str, int], dict[str, int]]:
    """The variables and the heads' outputs that are categories, with their numbers of values; the others are left out.

    >>> from kleene.programs.alta.library import parity
    >>> readable(parity.relative())
    ({'parity': 2, 'done': 2}, {'parity_left': 2, 'done_left': 2})
    """
    variables = {name: v.range for name, v in program.variables.items() if isinstance(v, Categorical)}
    heads = {name: v.range for name, v in program.outputs.items() if isinstance(v, Categorical)}
    if program.output_name not in variables:
        raise InputError(
            f"{program.name}: the output {program.output_name!r} is a number, and a Transformer is taught categories; "
            f"give a program with a categorical output"
        )
    return variables, heads


def taught_program(program: Program | RaspProgram, inputs: Any) -> tuple[Program, Sample]:
    """The transformer program whose trace is taught, and how its words are drawn: by `inputs` (as of `program_spec`)
    where they are given, and else by what the program declares.

    That of a RASP program reads codes: 0 is the start, which is put before each word, and 1, 2, … are the tokens in the
    order of the vocabulary. Words have at most `max_length` tokens, and RASP has a value on them.
    """
    if isinstance(program, Program):
        return program, (program if inputs is None else program.taking(inputs)).words.sample
    return replace(program.lowered, vocabulary=None), _coded_sample(program, inputs)


def _coded_sample(program: RaspProgram, inputs: Any) -> Sample:
    def any_word(rng: random.Random, size: int) -> Sequence[int]:
        return rng.choices(program.vocab, k=min(size, program.max_length))

    sample = any_word if inputs is None else program.lowered.taking(inputs).words.sample

    def drawn(rng: random.Random, size: int) -> list[int]:
        for _ in range(TRIES):
            word = sample(rng, size)
            try:
                program.evaluate(word)
            except RaspError:
                continue
            return program.lowered.check_input(word)
        raise InputError(
            f"{program.name} has no value on any of {TRIES} words of size {size}; give `inputs`, a function of a "
            f"random.Random and a size that returns tokens of its vocabulary"
        )

    return drawn


def drawn_words(program: Program, sample: Sample, sizes: Sequence[int], count: int, seed: int) -> list[list[int]]:
    """`count` random words of each size; refuses more than fit into memory."""
    rng = random.Random(seed)
    with running_words(program):
        _check_room(program, sample(rng, max(sizes)), count * len(sizes))
        return [list(sample(rng, size)) for size in sizes for _ in range(count)]


@contextmanager
def running_words(program: Program) -> Iterator[None]:
    """Within it, an error of the program on a word says what to do about the words."""
    try:
        yield
    except InputError:  # also one that says that the words do not fit into memory
        raise
    except KleeneError as error:
        raise InputError(
            f"{program.name} does not run on every word that was drawn ({error}); give `inputs`, a function of a "
            f"random.Random and a size that returns tokens"
        ) from error


def pool_of(program: Program, sample: Sample, sizes: Sequence[int], count: int, seed: int) -> Pool:
    """`count` random words of each size, run by the interpreter."""
    words = drawn_words(program, sample, sizes, count, seed)
    with running_words(program):
        batch = program.run_batch(words)
    tokens, lengths = padded(words)
    variables, heads = readable(program)
    at = np.minimum(np.arange(int(batch.steps.max()) + 1), batch.steps[:, None])
    rows = np.arange(len(words))[:, None]
    held = {name: batch.data[name][rows, at] for name in variables}  # after its last step a word stays as it was
    for name in heads:
        running = np.arange(at.shape[1]) <= batch.steps[:, None]
        held[name] = np.where(running[..., None], batch.data[name], -1)
    outputs = held[program.output_name][:, -1]
    traces = {name: array.astype(np.int16) for name, array in held.items()}
    return Pool(tuple(sizes), count, tokens, lengths, outputs.astype(np.int32), traces, batch.steps, frozenset(heads))


def _check_room(program: Program, longest: Sequence[int], words: int) -> None:
    """Refuse a pool that does not fit into memory, judged by one of its longest words."""
    entries_of_one = sum(array.size for array in program.run(longest).data.values())
    what = f"the traces of {words:,} words of {program.name}"
    check_memory(BYTES * words * entries_of_one, what, "give a smaller `longest` or `pool`")


def largest_size(sample: Sample, most: int) -> int:
    """The largest size up to `most` at which words still get longer.

    The library cuts words to the longest input that a program takes.
    """
    rng = random.Random(0)

    def longest(size: int) -> int:
        return max(len(sample(rng, size)) for _ in range(4))

    whole = longest(most)
    if most <= 3 or whole > longest(most - 1):
        return most
    while most > 1 and len(sample(rng, most - 1)) >= whole:
        most -= 1
    return most


def check_longest(program: Program, sample: Sample, most: int) -> None:
    """Refuse a size beyond the program's longest input."""
    largest = largest_size(sample, most)
    if largest < most:
        raise InputError(
            f"{program.name} takes inputs of at most size {largest}; give a smaller `longest` and `lengths`"
        )


def usual_longest(sample: Sample) -> int:
    """The longest words in training where nobody says it: 10, or half of the longest input where that is shorter."""
    return min(USUAL, largest_size(sample, 2 * USUAL) // 2)
