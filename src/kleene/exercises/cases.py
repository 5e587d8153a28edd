"""The inputs that a solution is tried on: all small ones, smallest first, and random larger ones."""

import itertools
import random
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from types import ModuleType
from typing import Any

from kleene import naming
from kleene.errors import InputError
from kleene.exercises.exercise import Exercise

MOST = 5_000  # inputs of each sort
TRIES = 300  # smaller inputs that are tried for a random one that fails


@dataclass(frozen=True)
class Cases:
    """The inputs of an exercise, and the right answers.

    `every` are all inputs of up to `size`, unless there are too many. `drawn` are random ones, which may be larger.
    """

    exercise: Exercise
    reference: Callable[[Any], Any]
    every: tuple
    drawn: tuple
    whole: bool  # whether `every` has them all
    own: bool  # whether the exercise makes its inputs by itself, so that not every list is one

    @property
    def all(self) -> list:
        """All inputs, each once, smaller ones first."""
        return [*self.every, *self.drawn]

    def answer(self, entered: Any) -> Any:
        """What the reference function says; its errors are those of whoever wrote the exercise."""
        try:
            return self.reference(entered if isinstance(entered, str) else list(entered))
        except Exception as error:
            raise InputError(
                f"the exercise {self.exercise.name!r} is wrong, not your solution: its reference function raised "
                f"{type(error).__name__} on {shown(entered)}: {error}"
            ) from error

    def __str__(self) -> str:
        unit = "cells" if self.exercise.kind == "circuit" else "symbols" if self.exercise.has_words else "tokens"
        few = f"all {len(self.every):,}" if self.whole else f"the {len(self.every):,} smallest"
        told = f"{few} inputs of up to {self.exercise.exhaustive} {unit}"
        return told + (f", and {len(self.drawn):,} random ones of up to {self.exercise.longest}" if self.drawn else "")


def cases_of(exercise: Exercise, seed: int = 0) -> Cases:
    """The inputs of an exercise. Its reference file may have its own `every(size)` and `sample(chance, size)`."""
    module = naming.module_in(exercise.reference)
    reference = _function(module, "reference", exercise)
    if reference is None:
        raise InputError(f"the exercise {exercise.name!r} is wrong: {exercise.reference} defines no `reference`")
    every = _function(module, "every", exercise)
    if every is None and exercise.kind == "circuit":
        raise InputError(f"the exercise {exercise.name!r} is wrong: {exercise.reference} defines no `every`")
    sample = _function(module, "sample", exercise)
    try:
        found, whole = _small(exercise, every)
        drawn = sorted(_drawn(exercise, sample, own=every is not None, seed=seed) - {*found}, key=_order(exercise))
    except Exception as error:
        raise InputError(
            f"the exercise {exercise.name!r} is wrong, not your solution: its own inputs cannot be made "
            f"({type(error).__name__}: {error}); `every` yields lists or words, and `sample` returns one"
        ) from error
    return Cases(exercise, reference, tuple(found), tuple(drawn), whole, every is not None)


def _small(exercise: Exercise, every: Callable[..., Any] | None) -> tuple[list, bool]:
    """All small inputs, or as many of them as are tried, and whether these are all."""
    small = iter(_all_words(exercise) if every is None else every(exercise.exhaustive))
    found = [_kept(entered) for entered in itertools.islice(small, MOST)]
    return found if every is None else sorted(dict.fromkeys(found), key=len), next(small, None) is None


def _function(module: ModuleType, name: str, exercise: Exercise) -> Callable[..., Any] | None:
    found = getattr(module, name, None)
    if found is not None and not callable(found):
        raise InputError(f"the exercise {exercise.name!r} is wrong: `{name}` in {exercise.reference} is no function")
    return found


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


def _drawn(exercise: Exercise, sample: Callable[..., Any] | None, *, own: bool, seed: int) -> set:
    """Random inputs: by the exercise's own function, or words of its alphabet; none where only `every` is its own."""
    chance = random.Random(seed)
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


def shrunk(cases: Cases, entered: Any, fails: Callable[[Any], bool]) -> Any:
    """An input that still fails and of which no entry can be left out, within a number of tries.

    Of all small inputs the first that fails is the smallest already. Inputs that the exercise makes by itself stay as
    they are, because without an entry they may be none.
    """
    if cases.own or entered in cases.every:
        return entered
    tries = 0
    while tries < TRIES:
        for one in smaller(entered, _least(cases.exercise)):
            tries += 1
            if fails(one):
                entered = one
                break
        else:
            return entered
    return entered


def shown(entered: Iterable) -> str:
    """An input as a person types it.

    >>> shown("aba"), shown((1, 0)), shown("")
    ('aba', '1 0', '(the empty word)')
    """
    told = entered if isinstance(entered, str) else " ".join(map(str, entered))
    return told or "(the empty word)"
