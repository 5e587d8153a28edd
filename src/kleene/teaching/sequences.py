"""Teaching an NTM sequence tasks, with hints on its heads and its tape (partial traces, §4.2, Appendices C, E and F).

An example's loss is the mean cross-entropy over the steps of its answer, plus the hints of equation 8.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import optax
from jaxtyping import Array, Float, Int, PRNGKeyArray

from kleene.errors import InputError
from kleene.machines.ntm.ntm import NTM, TapeDecoder
from kleene.tasks.sequences import SequenceExamples, SequenceTask, own_reading, sequence_task
from kleene.teaching.hints import ProgramTrace, Weights, channels
from kleene.teaching.lesson import Examples, Lesson, Pupil, Record, Score, TaskOf, Trainable, UpToTwice
from kleene.teaching.options import NtmOptions
from kleene.traces import Trace

SEEN = 0.05  # the smallest weight of a head that is visible in a picture


def corner(trace: ProgramTrace) -> Weights:
    """The policy that reveals both heads at the first and last step and where they turn."""
    return dict.fromkeys(("read", "write"), trace.marks["corner"])


POLICIES = {
    "read": channels("read"),
    "write": channels("write"),
    "address": channels("read", "write"),
    "value": channels("value"),
    "addr+val": channels("read", "write", "value"),
    "corner": corner,
}


class TapeTask(TaskOf):
    """A sequence task as a `Task`. The batch is the last axis of all arrays."""

    task: SequenceTask

    def examples(
        self, key: PRNGKeyArray, lengths: Int[Array, " batch"], longest: int, *, training: bool = False
    ) -> Examples:
        found = self.task.examples(key, lengths, longest)
        return Examples(found, None, program_trace(found))

    def score(self, record: Record, examples: Examples) -> Score:
        """The mean cross-entropy over the steps of each answer, and which answers have no error."""
        logits, inputs = record.output, examples.inputs
        expected = jax.nn.one_hot(inputs.answers, logits.shape[1], axis=1)
        entropies = -jnp.sum(jax.nn.log_softmax(logits, axis=1) * expected, axis=1)
        losses = jnp.sum(entropies * inputs.answering, axis=0) / jnp.sum(inputs.answering, axis=0)
        right = jnp.all((jnp.argmax(logits, axis=1) == inputs.answers) | ~inputs.answering, axis=0)
        return Score(losses, right)

    def measure(self, record: Record, examples: Examples) -> dict[str, Float[Array, ""]]:
        """`peak`, the reading head's largest weight, averaged over the steps that read a symbol of the answer."""
        peaks = jnp.exp(jnp.max(record.channels["read"], axis=1))
        consulted = examples.inputs.consulted
        return {"peak": jnp.sum(peaks * consulted) / jnp.sum(consulted)}


def program_trace(found: SequenceExamples) -> ProgramTrace:
    """The program's trace: where its heads are, and the symbol in the cell under the writing head after the write."""
    targets = {"read": found.read, "write": found.write, "value": found.value}
    stated = {"read": found.live & found.read_known, "write": found.live, "value": found.live}
    return ProgramTrace(targets, stated, jnp.sum(found.live, axis=0), {"corner": found.corner})


@dataclass(frozen=True)
class TapeMachine(Trainable):
    """An NTM and the decoder φ of value hints. `decoder` is the number of its hidden units; None is an affine one."""

    task: SequenceTask
    cells: int
    test_cells: int
    width: int
    controller: tuple[int, int]
    decoder: int | None
    unroll: int
    axis = -1

    def fresh(self, key: PRNGKeyArray) -> Pupil:
        first, second = jax.random.split(key)
        outputs = self.task.outputs
        machine = NTM.random(self.task.inputs, outputs=outputs, width=self.width, hidden=self.controller, key=first)
        return Pupil(machine, TapeDecoder.random(outputs, width=self.width, hidden=self.decoder, key=second))

    def record(self, model: Pupil, examples: Examples, *, training: bool) -> Record:
        machine: NTM = model.machine
        cells, unroll = (self.cells, self.unroll) if training else (self.test_cells, 1)
        asked = examples.inputs.write if "value" in examples.hints else None
        recorded = machine.record(examples.inputs.symbols, cells=cells, asked=asked, unroll=unroll)
        found = {"read": recorded.log_heads[:, 0], "write": recorded.log_heads[:, 1]}
        if recorded.written is not None:
            found["value"] = jax.nn.log_softmax(model.decoder(recorded.written), axis=1)
        return Record(recorded.output, found)

    def trace(self, model: Pupil, word: Sequence[int]) -> Trace:
        """The machine's trace on a word; `task.program(word)` is the program's."""
        self.task.check_word(word)
        cells = max(self.test_cells, self.task.cells(len(word)))
        blanks = self.task.steps(len(word)) - len(word) - 1
        symbols = [*word, self.task.alphabet, *[self.task.alphabet + 1] * blanks]
        return model.machine.run(symbols, cells)


def ntm_lesson(
    task: SequenceTask | str,
    *,
    kinds: Sequence[str] = ("none", *POLICIES),
    **options: Any,
) -> Lesson:
    """The lesson of one sequence task, or with `variant` of another reading of it (`kleene.tasks.sequences.VARIANTS`).

    `controller`, `rate` and `longest`, the longest word in training, are the paper's unless given. `cells` is the size
    of the tape, by default enough that no head wraps around; tests have a longer tape if they need one. The shapes of
    the weights do not depend on it, but what is learned does, because content addressing shares a head's weight among
    all empty cells. So test shorter words to get a smaller tape, instead of setting `cells` alone. Value hints cost
    time in all runs: leave their kinds out of `kinds` where they are not needed. The options are `NtmOptions`.

    >>> lesson = ntm_lesson("copy")
    >>> lesson.machine.cells, lesson.machine.test_cells, lesson.iterations
    (43, 43, 100000)
    """
    given = NtmOptions(**options)
    if isinstance(task, str) or given.variant is not None:
        task = sequence_task(task if isinstance(task, str) else task.name, given.variant)
    given = given.filled(longest=task.longest, lengths=tuple(range(1, task.tested + 1)))
    given = given.filled(rate=task.learning_rate, controller=task.hidden)
    longest, lengths = given.longest, given.lengths
    _check(task, kinds, longest)
    # Content addressing compares the key with every cell, so what is learned on a short tape fails on a long one.
    given = given.filled(test_cells=max(given.cells or 0, task.cells(max(longest, *lengths))))
    given = given.filled(cells=given.test_cells)
    task.check_cells(longest, given.cells)
    task.check_cells(max(lengths), given.test_cells)
    sizes = (given.cells, given.test_cells, given.width, given.controller, given.decoder, given.unroll)
    stored = ("longest", "lengths", "cells", "test_cells", "width", "controller", "decoder", "batch", "tests", "clip")
    config = {"machine": "ntm", "task": task.name, "alphabet": task.alphabet, "kinds": list(kinds)}
    config |= given.stored(*stored, rate="learning_rate")
    config |= own_reading(task) if given.variant is None else {"variant": given.variant}
    return Lesson(
        TapeTask(task, task.name, task.shortest, longest, lengths),
        TapeMachine(task, *sizes),
        POLICIES,
        UpToTwice(longest),
        optax.chain(optax.clip_by_global_norm(given.clip), optax.adam(given.rate)),
        batch=given.batch,
        tests=given.tests,
        iterations=100_000,
        pictures={"heads": draw_heads},
        config=config,
    ).only(kinds[1:])


def _check(task: SequenceTask, kinds: Sequence[str], longest: int) -> None:
    if tuple(kinds[:1]) != ("none",):
        raise InputError(f'kinds is {tuple(kinds)}; they begin with "none", for runs without hints')
    if longest < task.shortest:
        raise InputError(f"longest is {longest}, and the shortest words of {task.name} are of {task.shortest} symbols")


def draw_heads(taught: Any, path: Any) -> Path:
    """Draw the program's heads, and for each setting those of its best run, on one word; return the path.

    The word is twice as long as the longest in training, if such words are tested, because generalisation shows there.
    The tape is a ring, and its second half is drawn on the left, as cells below 0. Cells that no head visits are cut.
    """
    from kleene.pictures.plots import head_positions  # matplotlib is slow to import

    lesson = taught.lesson
    word, program = example_run(lesson)
    cells = program.channel("read").size
    assert cells is not None
    panels = [("program", {name: one_hot(program[name][1:], cells) for name in ("read", "write")})]
    for number in range(len(taught.plan.settings)):
        run = taught.report.best_run(number)
        trace = lesson.machine.trace(taught.model(run), word)
        panels.append((taught.report.title(run), {name: trace[name][1:] for name in ("read", "write")}))
    shown, first = _cropped(panels, cells // 2)
    return head_positions(shown, path, first_cell=first - cells // 2)


def example_run(lesson: Lesson) -> tuple[list[int], Trace]:
    """The word on which heads are shown, and the program's trace on it, with a tape as long as the machine's."""
    task, length = lesson.task.task, min(2 * lesson.task.longest, max(lesson.lengths))  # type: ignore[attr-defined]
    word = np.asarray(task.words(jax.random.key(0), length, 1))[:, 0].tolist()
    return word, task.program(word, max(lesson.machine.test_cells, task.cells(length)))  # type: ignore[attr-defined]


def _cropped(
    panels: Sequence[tuple[str, Mapping[str, np.ndarray]]], middle: int
) -> tuple[list[tuple[str, np.ndarray, np.ndarray]], int]:
    """The panels with the tape cut open at its middle and without cells that no head visits, and the first cell."""
    unrolled = [(title, [np.roll(heads, middle, axis=1) for heads in both.values()]) for title, both in panels]
    seen = [np.flatnonzero((heads > SEEN).any(axis=0)) for _, both in unrolled for heads in both]
    first, last = (max(0, min(s.min() for s in seen) - 1), max(s.max() for s in seen) + 2)
    return [(title, read[:, first:last], write[:, first:last]) for title, (read, write) in unrolled], int(first)


def one_hot(places: np.ndarray, cells: int) -> np.ndarray:
    """A row for each step, one-hot; zeros where the position of the program's head does not matter.

    >>> one_hot(np.array([1, -1]), 3).tolist()
    [[0.0, 1.0, 0.0], [0.0, 0.0, 0.0]]
    """
    return (np.arange(cells) == np.asarray(places)[:, None]).astype(float)
