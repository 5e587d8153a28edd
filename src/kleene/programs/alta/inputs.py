"""The inputs that a program is for: drawn at random and, where that can be done, listed in order.

A program declares them with `inputs=` of `program_spec`. Without, they are all words of its tokens.
"""

import itertools
import random
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol, cast, runtime_checkable

from kleene.errors import InputError, ProgramError
from kleene.programs.automata import DFA, NFA
from kleene.programs.automata.nfa import as_dfa

Sample = Callable[[random.Random, int], Sequence[Any]]  # (a source of randomness, a size) -> an input
Every = Callable[[int], Iterable[Sequence[Any]]]  # (a size) -> all inputs of up to that size, short ones first


@runtime_checkable
class Inputs(Protocol):
    """The inputs that a program takes."""

    def sample(self, rng: random.Random, size: int) -> Sequence[Any]:
        """A random input of about the given size."""
        ...

    @property
    def every(self) -> Every | None:
        """A function of a size: every input of up to that size. None where they cannot be listed."""
        ...


@dataclass(frozen=True)
class AllWords:
    """All words of some tokens.

    >>> list(AllWords(range(2), 1).every(5))
    [[0], [1]]
    """

    tokens: Sequence[Any]
    longest: int | None = None
    free = True  # see `is_free`

    def sample(self, rng: random.Random, size: int) -> list[Any]:
        return [self.tokens[rng.randrange(len(self.tokens))] for _ in range(self._length(size))]

    def every(self, most: int) -> Iterator[list[Any]]:
        for length in range(1, self._length(most) + 1):
            yield from map(list, itertools.product(self.tokens, repeat=length))

    def _length(self, size: int) -> int:
        return size if self.longest is None else min(size, self.longest)


@dataclass(frozen=True)
class DrawnWords:
    """The inputs that a function draws; where one is longer than the program takes, smaller sizes are asked for."""

    function: Sample
    longest: int | None = None
    every = None

    def sample(self, rng: random.Random, size: int) -> list[Any]:
        for smaller in range(size, 0, -1):
            found = self._ask(rng, smaller)
            if self.longest is None or len(found) <= self.longest:
                break
        return found

    def _ask(self, rng: random.Random, size: int) -> list[Any]:
        try:
            return list(self.function(rng, size))
        except Exception as error:
            name = getattr(self.function, "__name__", "function")
            raise InputError(
                f"the inputs' {name}(rng, {size}) raised {type(error).__name__}: {error}; inputs are drawn by a "
                f"function of a random.Random and a size that returns tokens"
            ) from error


@dataclass(frozen=True)
class Language:
    """The words that an automaton accepts, of one symbol or more; `tokens` says what its symbols stand for.

    >>> words = Language(DFA.from_regex("s(a|b)*"), {"a": 0, "b": 1, "s": 2})
    >>> list(words.every(2)), words.sample(random.Random(0), 4)
    ([[2], [2, 0], [2, 1]], [2, 1, 0, 1])
    """

    automaton: DFA
    tokens: Mapping[str, Any] = field(hash=False)
    longest: int | None = None
    _counts: list[list[int]] = field(default_factory=list, compare=False, repr=False)

    def sample(self, rng: random.Random, size: int) -> list[Any]:
        """A word of the size, each as likely; without one, of the nearest smaller size, or else of the shortest."""
        state, word = self.automaton.start_code, []
        for left in range(self._nearest(size), 0, -1):
            after = self.automaton.table[state].tolist()
            weights = [self._accepted(target, left - 1) for target in after]
            chosen, code = rng.randrange(sum(weights)), 0
            while chosen >= weights[code]:
                chosen, code = chosen - weights[code], code + 1
            state = after[code]
            word.append(self.tokens[self.automaton.alphabet[code]])
        return word

    def every(self, most: int) -> Iterator[list[Any]]:
        for length in range(1, (most if self.longest is None else min(most, self.longest)) + 1):
            yield from self._words(self.automaton.start_code, length)

    def _words(self, state: int, length: int) -> Iterator[list[Any]]:
        if not self._accepted(state, length):
            return
        if not length:
            yield []
        for code, target in enumerate(self.automaton.table[state].tolist() if length else ()):
            first = self.tokens[self.automaton.alphabet[code]]
            yield from ([first, *rest] for rest in self._words(target, length - 1))

    def _nearest(self, size: int) -> int:
        size = size if self.longest is None else min(size, self.longest)
        last = len(self.automaton.states) if self.longest is None else self.longest  # where the shortest may end
        for length in (*range(size, 0, -1), *range(size + 1, last + 1)):
            if self._accepted(self.automaton.start_code, length):
                return length
        raise InputError(f"the inputs' language has no word of 1 to {last} symbols, so that there is no input")

    def _accepted(self, state: int, length: int) -> int:
        """How many words of the length are accepted from a state."""
        counts = self._counts
        if not counts:
            counts.append(self.automaton.accepting.astype(int).tolist())
        while len(counts) <= length:
            counts.append([sum(counts[-1][target] for target in row) for row in self.automaton.table.tolist()])
        return counts[length][state]


def declared(given: Any, tokens: Mapping[str, Any], longest: int | None = None) -> Inputs:
    """The inputs that a user declared: a function of a `random.Random` and a size, an automaton, a regular expression,
    or an object with `sample` and `every`. `tokens` are the symbols that an automaton may have.

    >>> declared("1(0|1)", {"0": 0, "1": 1}).sample(random.Random(1), 9)
    [1, 0]
    """
    if isinstance(given, str):
        given = DFA.from_regex(given)
    if isinstance(given, NFA):
        given = as_dfa(given)
    if isinstance(given, DFA):
        unknown = [symbol for symbol in given.alphabet if symbol not in tokens]
        if unknown:
            known = " ".join(list(tokens)[:30]) or "none that an automaton could have"
            raise ProgramError(f"inputs: {unknown[0]!r} is no token; the tokens are {known}")
        return Language(given, tokens, longest)
    if hasattr(given, "sample") and hasattr(given, "every"):
        return given
    if not callable(given):
        raise ProgramError(
            f"inputs is {given!r}; give a function of a random.Random and a size that returns tokens, an automaton, or "
            f"a regular expression"
        )
    return DrawnWords(cast(Sample, given), longest)


def is_free(inputs: Inputs) -> bool:
    """Whether every mix of the symbols is an input, behind the start if there is one, as in words of bits."""
    return getattr(inputs, "free", False)


def some_inputs(inputs: Inputs, samples: int, largest: int, seed: int) -> list[list[Any]]:
    """The `samples` shortest inputs, and as many random ones of up to the largest size; random ones alone where the
    inputs cannot be listed."""
    chance = random.Random(seed)
    short = [] if inputs.every is None else list(itertools.islice(inputs.every(largest), samples))
    count = samples if inputs.every is not None else 2 * samples
    drawn = (inputs.sample(chance, chance.randint(1, largest)) for _ in range(count))
    return [list(word) for word in (*short, *drawn)]
