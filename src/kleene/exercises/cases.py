"""The inputs that a solution is tried on, all small ones, smallest first, and random larger ones; and the answers."""

import itertools
import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from kleene import naming
from kleene.errors import InputError
from kleene.exercises.exercise import Exercise
from kleene.exercises.marking import MARKINGS, shown
from kleene.traces.channels import nested_tuple
from kleene.traces.values import exact

MOST = 5_000  # inputs of each sort
TRIES = 300  # smaller inputs that are tried for a random one that fails


@dataclass(frozen=True)
class Cases:
    """The inputs of an exercise, and the right answer for each.

    `every` are all inputs of up to `size`, unless there are too many. `drawn` are random ones, which may be larger.
    """

    exercise: Exercise
    every: tuple
    drawn: tuple
    expected: tuple  # the right answers for all of these
    whole: bool  # whether `every` has them all
    own: bool  # whether the exercise makes its inputs by itself, so that not every list is one

    @property
    def all(self) -> list:
        """All inputs, each once, smaller ones first."""
        return [*self.every, *self.drawn]

    def __str__(self) -> str:
        unit = "cells" if self.exercise.kind == "circuit" else "symbols" if self.exercise.has_words else "tokens"
        few = f"all {len(self.every):,}" if self.whole else f"the {len(self.every):,} smallest"
        told = f"{few} inputs of up to {self.exercise.exhaustive} {unit}"
        return told + (f", and {len(self.drawn):,} random ones of up to {self.exercise.longest}" if self.drawn else "")


def cases_from(sent: Any, exercise: Exercise) -> Cases:
    """The cases as the process sent them that ran the exercise's reference file; refuses what cannot be any."""
    try:
        every, drawn = (nested_tuple(exact(sent[name])) for name in ("every", "drawn"))
        inputs = sum(1 for entered in (*every, *drawn) if isinstance(entered, (str, tuple)))
        expected = answers_from(sent["expected"], inputs, exercise)
        return Cases(exercise, every, drawn, expected, whole=sent["whole"] is True, own=sent["own"] is True)
    except (TypeError, LookupError):
        raise wrong(exercise, "what its reference file gives are no inputs") from None


def answers_from(sent: Any, inputs: int, exercise: Exercise) -> tuple:
    """The right answers to so many inputs as that process sent them; refuses what cannot be any."""
    found = nested_tuple(exact(sent))
    if not isinstance(found, tuple) or len(found) != inputs or not all(map(MARKINGS[exercise.kind].fits, found)):
        raise wrong(exercise, "what its reference file gives are no answers")
    return found


def wrong(exercise: Exercise, why: str) -> InputError:
    """The error about a mistake that whoever wrote the exercise made."""
    return InputError(f"the exercise {exercise.name!r} is wrong, not your solution: {why}")


class Reference:
    """The reference file of an exercise, which is run: it has the answers, and may have inputs of its own.

    For these it defines `every(size)` and `sample(chance, size)`.
    """

    def __init__(self, exercise: Exercise):
        self.exercise = exercise

    @classmethod
    def of(cls, folder: str, name: str) -> "Reference":
        return cls(Exercise.load(Path(folder), name))

    def cases(self) -> dict[str, Any]:
        """All of the `Cases` but the exercise."""
        exercise = self.exercise
        every, sample = self._defined("every"), self._defined("sample")
        if every is None and exercise.kind == "circuit":
            raise wrong(exercise, f"{exercise.reference} defines no `every`")
        try:
            found, whole = _small(exercise, every)
            drawn = sorted(_drawn(exercise, sample, own=every is not None) - {*found}, key=_order(exercise))
        except Exception as error:
            raise wrong(
                exercise,
                f"its own inputs cannot be made ({type(error).__name__}: {error}); `every` yields lists or words, and "
                "`sample` returns one",
            ) from error
        inputs = {"every": found, "drawn": drawn, "whole": whole, "own": every is not None}
        return inputs | {"expected": self.answers([*found, *drawn])}

    def answers(self, inputs: Sequence[Any]) -> list[Any]:
        """The right answers; the errors of the reference function are those of whoever wrote the exercise."""
        if self._defined("reference") is None:
            raise wrong(self.exercise, f"{self.exercise.reference} defines no `reference`")
        return [self._answer(entered) for entered in inputs]

    def _answer(self, entered: Any) -> Any:
        try:
            answer = self._module.reference(entered if isinstance(entered, str) else list(entered))
        except Exception as error:
            why = f"raised {type(error).__name__} on {shown(entered)}: {error}"
            raise wrong(self.exercise, f"its reference function {why}") from error
        try:
            return exact(MARKINGS[self.exercise.kind].expected(answer))
        except (TypeError, InputError):
            why = f"returned {answer!r} on {shown(entered)}, which is no answer of a {self.exercise.kind}"
            raise wrong(self.exercise, f"its reference function {why}") from None

    @cached_property
    def _module(self) -> Any:
        return naming.module_in(self.exercise.reference)

    def _defined(self, name: str) -> Callable[..., Any] | None:
        found = getattr(self._module, name, None)
        if found is not None and not callable(found):
            raise wrong(self.exercise, f"`{name}` in {self.exercise.reference} is no function")
        return found


def _small(exercise: Exercise, every: Callable[..., Any] | None) -> tuple[list, bool]:
    """All small inputs, or as many of them as are tried, and whether these are all."""
    small = iter(_all_words(exercise) if every is None else every(exercise.exhaustive))
    found = [_kept(entered) for entered in itertools.islice(small, MOST)]
    return found if every is None else sorted(dict.fromkeys(found), key=len), next(small, None) is None


def _kept(entered: Any) -> str | tuple:
    return entered if isinstance(entered, str) else tuple(entered)


def _least(exercise: Exercise) -> int:
    return 0 if exercise.has_words else 1


def _all_words(exercise: Exercise) -> Iterator[Any]:
    for length in range(_least(exercise), exercise.exhaustive + 1):
        for symbols in itertools.product(exercise.alphabet, repeat=length):
            yield _word(exercise, symbols)


def _word(exercise: Exercise, symbols: Sequence) -> Any:
    """A string where the symbols of words are letters, a tuple otherwise."""
    plain = exercise.has_words and all(len(symbol) == 1 for symbol in exercise.alphabet)
    return "".join(symbols) if plain else tuple(symbols)


def _drawn(exercise: Exercise, sample: Callable[..., Any] | None, *, own: bool) -> set:
    """Random inputs: by the exercise's own function, or words of its alphabet; none where only `every` is its own."""
    chance = random.Random(0)
    if own and sample is None:
        return set()
    if exercise.longest <= exercise.exhaustive:
        return set()
    sizes = [chance.randint(exercise.exhaustive + 1, exercise.longest) for _ in range(exercise.samples)]
    if sample is not None:
        return {_kept(sample(chance, size)) for size in sizes}
    return {_word(exercise, chance.choices(exercise.alphabet, k=size)) for size in sizes}


def _order(exercise: Exercise) -> Callable[[Any], tuple]:
    """The order of inputs: by their size, then by the places of their tokens in the alphabet."""
    place = {token: number for number, token in enumerate(exercise.alphabet)}
    return lambda entered: (len(entered), [place.get(token, token) for token in entered])


def smaller(entered: Any, least: int) -> Iterator[Any]:
    """The input without one of its entries, for each of them in turn.

    >>> list(smaller("abc", 1)), list(smaller((1, 2), 2))
    (['bc', 'ac', 'ab'], [])
    """
    if len(entered) > least:
        yield from dict.fromkeys(entered[:at] + entered[at + 1 :] for at in range(len(entered)))


def shrunk(cases: Cases, entered: Any, first_wrong: Callable[[list], int | None]) -> Any:
    """An input that is still wrong and of which no entry can be left out, within a number of tries.

    Of all small inputs the first that is wrong is the smallest already. Inputs that the exercise makes by itself stay
    as they are, because without an entry they may be none.
    """
    if cases.own or entered in cases.every:
        return entered
    tries = 0
    while tries < TRIES:
        found = list(smaller(entered, _least(cases.exercise)))
        at = first_wrong(found) if found else None
        if at is None:
            return entered
        entered, tries = found[at], tries + len(found)
    return entered
