"""Teaching an NTM a sequence task, with hints on its heads and its tape (§4.2 and Appendices C, E and F).

An example's loss is the mean cross-entropy over the steps of its answer, and equation 8 on top. Which kind of hints a
run gets is a number, so that runs of all kinds are taught together.
"""

from collections.abc import Sequence
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import optax
from jaxtyping import Array, Float, PRNGKeyArray, PyTree

from kleene.errors import InputError
from kleene.machines.ntm.ntm import NTM, Recorded, TapeDecoder
from kleene.tasks.sequence_examples import CHANNELS, KINDS, Examples
from kleene.tasks.sequences import SequenceTask, sequence_task
from kleene.teaching.hints import Hints, hint_loss
from kleene.teaching.lessons import Setting
from kleene.traces import Trace


class Pupil(eqx.Module):
    """What is trained: the machine, and the decoder φ that value hints look through."""

    machine: NTM
    decoder: TapeDecoder


class Batch(eqx.Module):
    """Examples, and what is told of each: the axes of hints are (step, batch)."""

    examples: Examples
    told: dict[str, Hints]


class NTMLesson:
    """The lesson of one task; see `Lesson`.

    `controller`, `learning_rate` and `longest`, the longest word in training, are the paper's unless given. `cells` is
    the size of the tape, in tests too unless they need more: as many as no head can go round. The weights do not depend
    on it, but what is learned does, for a head that looks for content shares its weight among all empty cells: have a
    smaller tape by testing shorter words, not by `cells` alone. Value hints cost time for all runs: leave kinds with
    them out of `kinds` where they are not needed.

    >>> lesson = NTMLesson("copy")
    >>> lesson.cells, lesson.test_cells, lesson.default_iterations
    (43, 43, 100000)
    """

    default_iterations = 100_000
    default_strength = 1.0

    def __init__(
        self,
        task: SequenceTask | str,
        *,
        kinds: Sequence[str] = tuple(KINDS),
        cells: int | None = None,
        test_cells: int | None = None,
        width: int = 8,
        controller: tuple[int, int] | None = None,
        decoder: int | None = None,
        batch: int = 32,
        learning_rate: float | None = None,
        clip: float = 10.0,
        longest: int | None = None,
        lengths: Sequence[int] | None = None,
        tests: int = 32,
        unroll: int = 1,
    ):
        self.task = sequence_task(task) if isinstance(task, str) else task
        self.name = self.task.name
        self.kinds = tuple(kinds)
        self.longest = longest or self.task.longest
        self.lengths = tuple(lengths or range(1, self.task.tested + 1))
        self.width, self.decoder, self.batch, self.tests, self.clip = width, decoder, batch, tests, clip
        self.controller = tuple(controller or self.task.hidden)
        self.learning_rate = learning_rate or self.task.learning_rate
        self._check()
        # A head that looks for its key looks at every cell: what it learns on a short tape does not hold on a long one.
        self.test_cells = test_cells or max(cells or 0, self.task.cells(max(self.longest, *self.lengths)))
        self.cells = cells or self.test_cells
        self.task.check_cells(self.longest, self.cells)
        self.task.check_cells(max(self.lengths), self.test_cells)
        self.unroll = unroll
        self.optimiser = optax.chain(optax.clip_by_global_norm(clip), optax.adam(self.learning_rate))

    def _check(self) -> None:
        for kind in self.kinds:
            if kind not in KINDS:
                raise InputError(f"no hints of kind {kind!r} for {self.name}; there are {', '.join(KINDS)}")
        if self.kinds[:1] != ("none",):
            raise InputError(f'kinds is {self.kinds}; they begin with "none", for runs without hints')
        if min(self.lengths) < 1 or self.longest < self.task.shortest or min(self.batch, self.tests) < 1:
            raise InputError(
                f"{self.name} is taught with batches of {self.batch} words of {self.task.shortest} to {self.longest} "
                f"symbols and tested with {self.tests} words of each of the lengths "
                f"{', '.join(map(str, self.lengths))}; all of these are 1 or more"
            )

    def fresh(self, key: PRNGKeyArray) -> Pupil:
        first, second = jax.random.split(key)
        hidden, outputs = (self.controller[0], self.controller[1]), self.task.outputs
        machine = NTM.random(self.task.inputs, outputs=outputs, width=self.width, hidden=hidden, key=first)
        return Pupil(machine, TapeDecoder.random(outputs, width=self.width, hidden=self.decoder, key=second))

    def beginning(self) -> PyTree:
        return ()

    def examples(self, key: PRNGKeyArray, progress: PyTree, setting: Setting) -> Batch:
        """Words of all training lengths alike; a share of them, the density, with hints."""
        for_lengths, for_words, for_hints = jax.random.split(key, 3)
        lengths = jax.random.randint(for_lengths, (self.batch,), self.task.shortest, self.longest + 1)
        examples = self.task.examples(for_words, lengths, self.longest)
        hinted = jax.random.bernoulli(for_hints, setting.density, (self.batch,))
        weights = examples.weights(self.kinds, setting.kind)
        told = {name: Hints(getattr(examples, name), weights[name] * hinted) for name in self.channels}
        return Batch(examples, told)

    @property
    def channels(self) -> tuple[str, ...]:
        """The channels that any of the lesson's kinds has hints on."""
        return tuple(name for name in CHANNELS if any(name in KINDS[kind] for kind in self.kinds))

    def loss(self, model: Pupil, batch: Batch, setting: Setting) -> tuple[Float[Array, ""], dict[str, Array]]:
        """The mean of equation 8 over the batch; `accuracy` is the share of words answered without an error."""
        asked = batch.examples.write if "value" in batch.told else None
        recorded = self._run(model.machine, batch.examples, self.cells, asked, self.unroll)
        logits = model.machine.logits(recorded)
        said = {"read": recorded.log_heads[:, 0], "write": recorded.log_heads[:, 1]}
        if recorded.written is not None:
            said["value"] = jax.nn.log_softmax(model.decoder(recorded.written), axis=1)
        loss = answer_loss(logits, batch.examples)
        if batch.told:  # a lesson of the kind "none" alone has no channel to be hinted on
            hinted = jax.vmap(hint_loss, in_axes=-1)({name: said[name] for name in batch.told}, batch.told)
            loss = loss + setting.strength * hinted
        return jnp.mean(loss), {"accuracy": jnp.mean(all_right(logits, batch.examples))}

    def _run(self, machine: NTM, examples: Examples, cells: int, asked: Array | None, unroll: int) -> Recorded:
        projected = machine.project(jax.nn.one_hot(examples.symbols, self.task.inputs, axis=1))
        return machine.record(projected, cells=cells, asked=asked, unroll=unroll)

    def advance(self, model: Pupil, progress: PyTree, key: PRNGKeyArray, setting: Setting) -> PyTree:
        return progress

    def test(self, model: Pupil, key: PRNGKeyArray) -> dict[str, Array]:
        """The share of words answered without an error for each length, and how sharply the reading head points.

        `peak` is the reading head's largest weight, averaged over the steps in which it reads for an answer, of words
        of at most twice the length of the longest in training.
        """
        longest = max(self.lengths)

        def tested(now: tuple[Array, Array]) -> tuple[Array, Array]:
            key, length = now
            examples = self.task.examples(key, jnp.full((self.tests,), length), longest)
            recorded = self._run(model.machine, examples, self.test_cells, None, 1)
            right = all_right(model.machine.logits(recorded), examples)
            peaks = jnp.exp(jnp.max(recorded.log_heads[:, 0], axis=1))
            return jnp.mean(right), jnp.sum(peaks * examples.consulted) / jnp.sum(examples.consulted)

        lengths = jnp.array(self.lengths)
        accuracy, peaks = jax.lax.map(tested, (jax.random.split(key, len(self.lengths)), lengths))
        near = lengths <= max(2 * self.longest, min(self.lengths))
        return {"accuracy_by_length": accuracy, "peak_by_length": peaks, "peak": jnp.mean(peaks, where=near)}

    def generalises(self, tested: dict[str, np.ndarray]) -> np.ndarray:
        """Perfect on all tests up to 1.5 times the longest word in training, and on 90% of those up to twice that."""
        accuracy, lengths = np.asarray(tested["accuracy_by_length"]), np.array(self.lengths)
        near, far = lengths <= 1.5 * self.longest, lengths <= 2 * self.longest
        if not near.any():
            return np.zeros(accuracy.shape[:-1], dtype=bool)
        return (accuracy[..., near] == 1).all(axis=-1) & (accuracy[..., far].mean(axis=-1) >= 0.9)

    def trace(self, model: Pupil, word: Sequence[int]) -> Trace:
        """All that a pupil does on a word; `lesson.task.program(word)` is what a program would do."""
        self.task.check_word(word)
        cells = max(self.test_cells, self.task.cells(len(word)))
        blanks = self.task.steps(len(word)) - len(word) - 1
        symbols = [*word, self.task.alphabet, *[self.task.alphabet + 1] * blanks]
        return model.machine.run(symbols, cells)

    def facts(self) -> dict[str, Any]:
        return {
            "machine": "ntm",
            "task": self.name,
            "alphabet": self.task.alphabet,
            "kinds": list(self.kinds),
            "longest": self.longest,
            "lengths": list(self.lengths),
            "cells": self.cells,
            "test_cells": self.test_cells,
            "width": self.width,
            "controller": list(self.controller),
            "decoder": self.decoder,
            "batch": self.batch,
            "tests": self.tests,
            "learning_rate": self.learning_rate,
            "clip": self.clip,
        }


def answer_loss(logits: Float[Array, "step outputs batch"], examples: Examples) -> Float[Array, " batch"]:
    """The mean cross-entropy over the steps of each answer."""
    expected = jax.nn.one_hot(examples.answers, logits.shape[1], axis=1)
    entropies = -jnp.sum(jax.nn.log_softmax(logits, axis=1) * expected, axis=1)
    return jnp.sum(entropies * examples.answering, axis=0) / jnp.sum(examples.answering, axis=0)


def all_right(logits: Float[Array, "step outputs batch"], examples: Examples) -> Array:
    """Which answers have no error."""
    return jnp.all((jnp.argmax(logits, axis=1) == examples.answers) | ~examples.answering, axis=0)
