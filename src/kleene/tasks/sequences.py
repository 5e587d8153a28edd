"""Sequence tasks for machines with a tape, and what the heads of a program do (partial traces, Appendices E and F).

An input is a word, a delimiter and then blanks; the machine answers during the blanks, and ends with the delimiter.
With a word of n symbols, the input of step t < n is symbol t, that of step n is the delimiter, and step n + 1 + j asks
for symbol j of the answer. The program writes symbol t to cell t + 1 and the delimiter to cell n + 1. Both heads start
on cell 0.

Heads move before they are used, so a hint is where a head is *when it is used* in that step. The controller receives
what was read one step later, so symbol j of the answer is read one step before it is asked for. With hints that ignore
this delay none of 8 machines learned to copy from weak hints (λ = 0.1); with these all 8 did.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Int, PRNGKeyArray

from kleene.errors import InputError
from kleene.traces import Channel, Trace


class SequenceExamples(eqx.Module):
    """Words with their answers and the program's trace: the step is the first axis, the batch the last.

    Entries that are not asked for, or not stated, may be any number.
    """

    symbols: Int[Array, "step batch"]
    answers: Int[Array, "step batch"]
    answering: Bool[Array, "step batch"]
    read: Int[Array, "step batch"]  # the cell under the reading head
    write: Int[Array, "step batch"]
    value: Int[Array, "step batch"]  # the symbol that the cell under the writing head holds after the write
    live: Bool[Array, "step batch"]  # not yet past the end of the answer
    corner: Bool[Array, "step batch"]
    read_known: Bool[Array, "step batch"]  # whether the position of the reading head matters to the program
    consulted: Bool[Array, "step batch"]  # whether the symbol read is one of the answer


@dataclass(frozen=True)
class SequenceTask:
    """Copy: the answer is the word itself. Subclasses override what is read and what is answered.

    Symbols are 0 to `alphabet` − 1, `alphabet` is the delimiter, and a blank is one more. The blank has its own symbol;
    without it only 4 of 10 machines learned to copy from hints on both heads in the same time.

    >>> sequence_task("reverse").answer([3, 1, 4])
    [4, 1, 3, 8]
    """

    name: str = "copy"
    alphabet: int = 8
    shortest: int = 1
    longest: int = 5  # in training
    tested: int = 20  # up to this length
    repeats: int = 1
    hidden: tuple[int, int] = (50, 50)
    learning_rate: float = 1e-3

    @property
    def inputs(self) -> int:
        """The number of input symbols: the alphabet, the delimiter and the blank."""
        return self.alphabet + 2

    @property
    def outputs(self) -> int:
        return self.alphabet + 1

    def steps(self, length: int) -> int:
        """The number of steps to read a word of that length and to answer."""
        return (1 + self.repeats) * length + 2

    def cells(self, length: int) -> int:
        """Enough cells that no head wraps around, even if it moves in every step."""
        return self.steps(length) + 1

    def check_cells(self, length: int, cells: int) -> None:
        if cells < self.cells(length):
            raise InputError(
                f"{self.name}: words of {length} symbols take {self.steps(length)} steps, and a head may move in each; "
                f"on {cells} cells it would wrap around. Give {self.cells(length)} cells or more, or "
                f"shorter words"
            )

    def answer(self, word: Sequence[int]) -> list[int]:
        """The right answer, the delimiter included."""
        return [*word, self.alphabet]

    def examples(self, key: PRNGKeyArray, lengths: Int[Array, " batch"], longest: int) -> SequenceExamples:
        """Random words of these lengths, padded to the steps of the longest; `key` and `lengths` may be traced."""
        return self.laid_out(self.words(key, longest, lengths.shape[0]), lengths)

    def words(self, key: PRNGKeyArray, longest: int, count: int) -> Int[Array, "position batch"]:
        return jax.random.randint(key, (longest, count), 0, self.alphabet)

    def laid_out(self, words: Int[Array, "position batch"], lengths: Int[Array, " batch"]) -> SequenceExamples:
        """The examples of these words. Symbols past a word's length do not matter."""
        step, n, last = jnp.arange(self.steps(len(words)))[:, None], lengths, self.repeats * lengths
        place = step - n - 1  # in the answer
        stored, kept = self.stored(words), self.kept(words)
        answers = jnp.where(place == last, self.alphabet, _at(stored, self.source(place, n)))
        asked = place + 1  # the place in the answer of the symbol that is read now
        read, known = self.reading(step, asked, n, words)
        return SequenceExamples(
            symbols=jnp.where(step < n, _at(words, step), jnp.where(step == n, self.alphabet, self.alphabet + 1)),
            answers=answers,
            answering=(place >= 0) & (place <= last),
            read=read,
            write=self.writing(step, n),
            value=self.values(step, n, kept),
            live=place <= last,
            corner=self.corners(step, n, words) & (place <= last),
            read_known=known & (asked <= last),
            consulted=(asked >= 0) & (asked <= last),
        )

    def stored(self, words: Int[Array, "position batch"]) -> Int[Array, "position batch"]:
        """The symbols of the answer, by position in the word."""
        return words

    def kept(self, words: Int[Array, "position batch"]) -> Int[Array, "position batch"]:
        """The symbols that the program writes to the tape, by position in the word."""
        return words

    def source(self, place: Array, length: Array) -> Array:
        """The position in the word that each symbol of the answer comes from."""
        return place % length

    def reading(self, step: Array, asked: Array, length: Array, words: Array) -> tuple[Array, Array]:
        """The cell that is read in each step, and whether it matters; `asked` is its place in the answer.

        The head waits on cell 0 until the word has ended, and then moves right.
        """
        end = asked == self.repeats * length
        cell = jnp.where(asked < 0, 0, jnp.where(end, length, self.source(asked, length)) + 1)
        return cell, jnp.ones_like(cell, dtype=bool)

    def writing(self, step: Array, length: Array) -> Array:
        """The cell that is written in each step."""
        return jnp.minimum(step, length) + 1

    def values(self, step: Array, length: Array, kept: Array) -> Array:
        """The symbol that this cell holds after the step."""
        return jnp.where(step < length, _at(kept, step), self.alphabet)

    def corners(self, step: Array, length: Array, words: Array) -> Array:
        """The steps that matter most: the first and the last, and those at which a head turns."""
        return (step == 0) | (step == length) | (step == length + 1) | (step == 2 * length + 1)

    def program(self, word: Sequence[int], cells: int | None = None) -> Trace:
        """The trace of a program: channels `input`, `read`, `write` and `output`, all undefined before the start."""
        cells = self.cells(len(word)) if cells is None else cells
        self.check_cells(len(word), cells)
        self.check_word(word)
        found = self.laid_out(jnp.array(word)[:, None], jnp.array([len(word)]))
        inputs = (*map(str, range(self.alphabet)), "end", "blank")
        channels = (
            Channel("input", "category", self.inputs, labels=inputs, per_step=True),
            Channel("read", "category", cells, per_step=True),
            Channel("write", "category", cells, per_step=True),
            Channel("output", "category", self.outputs, labels=inputs[:-1], per_step=True),
        )
        columns = {
            "input": found.symbols,
            "read": jnp.where(found.read_known, found.read, -1),
            "write": found.write,
            "output": jnp.where(found.answering, found.answers, -1),
        }
        data = {name: np.concatenate([[-1], np.asarray(c)[:, 0]]).astype(np.int32) for name, c in columns.items()}
        return Trace(channels, data, "output", axes=("step",), source="program")

    def check_word(self, word: Sequence[int]) -> None:
        wrong = [symbol for symbol in word if symbol not in range(self.alphabet)]
        if wrong or not len(word):
            raise InputError(
                f"{self.name}: a word is one symbol or more from 0 to {self.alphabet - 1}, "
                + (f"and this one holds {wrong[0]!r}" if wrong else "and this one is empty")
            )


class RepeatCopyTwice(SequenceTask):
    """The word twice, and the delimiter only at the end.

    While the program answers for the first time, it writes a second copy of the word behind the first. So its reading
    head only moves right until it meets an empty cell, the end, and never has to detect the end of a copy. If the word
    is a single symbol, the second copy would be read in the step that writes it, which is too early; nothing is stated
    there.
    """

    def answer(self, word: Sequence[int]) -> list[int]:
        return [*word, *word, self.alphabet]

    def reading(self, step: Array, asked: Array, length: Array, words: Array) -> tuple[Array, Array]:
        return jnp.maximum(asked + 1, 0), (length > 1) | (asked < 1)

    def writing(self, step: Array, length: Array) -> Array:
        return jnp.where(step < length, step + 1, jnp.minimum(step, 2 * length))

    def values(self, step: Array, length: Array, kept: Array) -> Array:
        return _at(kept, (self.writing(step, length) - 1) % length)

    def corners(self, step: Array, length: Array, words: Array) -> Array:
        return (step % length == 0) | (step == 3 * length + 1)


class Reverse(SequenceTask):
    """The word reversed. The reading head follows the writing head, then goes back; the end is read from cell 0."""

    def answer(self, word: Sequence[int]) -> list[int]:
        return [*reversed(word), self.alphabet]

    def source(self, place: Array, length: Array) -> Array:
        return length - 1 - place

    def reading(self, step: Array, asked: Array, length: Array, words: Array) -> tuple[Array, Array]:
        cell = jnp.where(asked < 0, step + 1, length - asked)
        return cell, jnp.ones_like(cell, dtype=bool)


@dataclass(frozen=True)
class Flip(SequenceTask):
    """The word with its third bit flipped, or every third."""

    every: bool = False

    def answer(self, word: Sequence[int]) -> list[int]:
        flipped = range(2, len(word), 3) if self.every else [2]
        return [1 - bit if i in flipped else bit for i, bit in enumerate(word)] + [self.alphabet]

    def stored(self, words: Int[Array, "position batch"]) -> Int[Array, "position batch"]:
        position = jnp.arange(len(words))[:, None]
        return jnp.where((position % 3 == 2) if self.every else (position == 2), 1 - words, words)


@dataclass(frozen=True)
class DyckWords(SequenceTask):
    """Whether each prefix of a word of parentheses (0 opens, 1 closes) is balanced.

    The program counts with its reading head, whose cell is the depth while it reads the word. It marks cell 0 in the
    first step, and writes each bit of the answer one step late, when it knows whether its head was on the mark. Once
    the depth was negative no prefix is balanced, and the position of the head does not matter. Half of the words are
    drawn from all, and half from those whose depth is never negative. There are only 62 words of up to 5 symbols, and
    machines memorised them; so we read the paper's training length of 5 as 5 pairs.

    The paper leaves more open; `VARIANTS` has other readings. With `walks` no word is ever negative. If it is
    `forgiving`, a prefix is balanced that opens as often as it closes, whatever came before. With `turning`, corners
    are also where the reading head turns while it counts.
    """

    walks: bool = False
    forgiving: bool = False
    turning: bool = False

    def answer(self, word: Sequence[int]) -> list[int]:
        depth, found = 0, []
        for symbol in word:
            depth = depth - (1 if symbol else -1) if depth >= 0 or self.forgiving else depth
            found.append(int(depth == 0))
        return [*found, self.alphabet]

    def words(self, key: PRNGKeyArray, longest: int, count: int) -> Int[Array, "position batch"]:
        first, second = jax.random.split(key)
        closing = jax.random.bernoulli(first, 0.5, (longest, count))
        height = jnp.abs(jnp.cumsum(jnp.where(closing, -1, 1), axis=0))  # a walk that is never negative
        kept = jnp.diff(height, axis=0, prepend=jnp.zeros((1, count), height.dtype)) < 0
        if self.walks:
            return kept.astype(jnp.int32)
        return jnp.where(jax.random.bernoulli(second, 0.5, (count,)), closing, kept).astype(jnp.int32)

    def stored(self, words: Int[Array, "position batch"]) -> Int[Array, "position batch"]:
        depth, alive = _depths(words)
        return ((depth == 0) & (alive | self.forgiving)).astype(jnp.int32)

    kept = stored

    def reading(self, step: Array, asked: Array, length: Array, words: Array) -> tuple[Array, Array]:
        depth, counted = self.counting(step, words)
        cell, known = jnp.where(asked < 0, depth, asked + 1), (asked >= 0) | counted
        return jnp.where(known, cell, 0), known

    def counting(self, step: Array, words: Array) -> tuple[Array, Array]:
        """The depth after each symbol, and whether the head's cell is this depth."""
        depth, alive = _depths(words)
        return _at(depth, step), _at((depth >= 0) if self.forgiving else alive, step)

    def writing(self, step: Array, length: Array) -> Array:
        return jnp.minimum(step, length + 1)

    def values(self, step: Array, length: Array, kept: Array) -> Array:
        return jnp.where((step > 0) & (step <= length), _at(kept, step - 1), self.alphabet)

    def corners(self, step: Array, length: Array, words: Array) -> Array:
        found = super().corners(step, length, words)
        return found | self.turns(step, length, words) if self.turning else found

    def turns(self, step: Array, length: Array, words: Array) -> Array:
        """The steps in which the head that counts goes the other way than in the step before."""
        return (step > 0) & (step < length) & (_at(words, step) != _at(words, step - 1))


class OnlineDyckWords(DyckWords):
    """DyckWords that answer while they are read: each bit is asked for one step after its symbol, and then the end.

    The bit cannot be asked for in the step of its symbol, because the controller receives what is read one step later.
    The program marks cell 0 in the first step and removes the mark if the depth becomes negative; its writing head
    never moves, and its reading head is on the cell of the depth.
    """

    def steps(self, length: int) -> int:
        return length + 2

    def laid_out(self, words: Int[Array, "position batch"], lengths: Int[Array, " batch"]) -> SequenceExamples:
        step, n = jnp.arange(self.steps(len(words)))[:, None], lengths
        depth, counted = self.counting(step, words)
        known, live = counted & (step < n), step <= n + 1
        alive = _at(_depths(words)[1], jnp.minimum(step, n - 1)) | self.forgiving
        return SequenceExamples(
            symbols=jnp.where(step < n, _at(words, step), jnp.where(step == n, self.alphabet, self.alphabet + 1)),
            answers=jnp.where(step == n + 1, self.alphabet, _at(self.stored(words), step - 1)),
            answering=(step > 0) & live,
            read=jnp.where(known, depth, 0),
            write=jnp.zeros_like(depth),
            value=jnp.where(alive, self.alphabet, 0),
            live=live,
            corner=((step == 0) | (step == n + 1) | self.turns(step, n, words)) & live,
            read_known=known,
            consulted=step < n,
        )


def _depths(words: Int[Array, "position batch"]) -> tuple[Array, Array]:
    """The depth after each parenthesis, and whether it was never negative so far."""
    depth = jnp.cumsum(1 - 2 * words, axis=0)
    return depth, jax.lax.cummin(depth, axis=0) >= 0


def _at(rows: Array, places: Array) -> Array:
    """The rows at these places of each column; places outside the rows are clipped."""
    found = jnp.broadcast_to(jnp.clip(places, 0, len(rows) - 1), (places.shape[0], rows.shape[1]))
    return jnp.take_along_axis(rows, found, axis=0)


DYCK: dict[str, Any] = {"alphabet": 2, "longest": 10}
BITS = {"alphabet": 2, "longest": 16, "tested": 32, "learning_rate": 5e-4}
TASKS: dict[str, SequenceTask] = {
    task.name: task
    for task in (
        SequenceTask(),
        RepeatCopyTwice("repeat_copy_twice", repeats=2, hidden=(100, 100)),
        DyckWords("dyck_words", **DYCK),
        Flip("flip_3rd", **BITS),
        Flip("repeat_flip_3d", every=True, **BITS),
        Reverse("reverse"),
    )
}


# Other readings of what the paper says of a task, by the name of the task; the first is the one of `TASKS`.
VARIANTS: dict[str, dict[str, SequenceTask]] = {
    "dyck_words": {
        "pairs": TASKS["dyck_words"],
        "walks": DyckWords("dyck_words", **DYCK, walks=True),
        "forgiving": DyckWords("dyck_words", **DYCK, forgiving=True),
        "turns": DyckWords("dyck_words", **DYCK, turning=True),
        "online": OnlineDyckWords("dyck_words", **DYCK),
        "online_walks": OnlineDyckWords("dyck_words", **DYCK, walks=True),
    }
}


def sequence_task(name: str, variant: str | None = None) -> SequenceTask:
    """The task of that name, in our reading of the paper or in another."""
    if name not in TASKS:
        raise InputError(f"no sequence task {name!r}; there are {', '.join(TASKS)}")
    if variant is None:
        return TASKS[name]
    known = VARIANTS.get(name, {})
    if variant not in known:
        there = f"it is one of {', '.join(known)}" if known else "the task has none"
        raise InputError(f"{name}: variant is {variant!r}; {there}")
    return known[variant]


def own_reading(task: SequenceTask) -> dict[str, Any]:
    """The class and the fields of a task as plain values; nothing for the task of `TASKS` of its name.

    Lessons state it, so that a checkpoint of one reading is not taken for one of another with the same name.

    >>> own_reading(TASKS["dyck_words"]), own_reading(VARIANTS["dyck_words"]["walks"])["reading"]["walks"]
    ({}, True)
    """
    if task == TASKS.get(task.name):
        return {}
    found = {"class": type(task).__qualname__} | {field.name: getattr(task, field.name) for field in fields(task)}
    return {"reading": json.loads(json.dumps(found, default=lambda value: getattr(value, "__qualname__", repr(value))))}
