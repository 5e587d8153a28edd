"""The inputs of the library's programs: read from the command line, drawn at random, or all up to a small size."""

import itertools
import random
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Protocol, runtime_checkable

from kleene.errors import InputError
from kleene.programs.alta.library import scan_language


@runtime_checkable
class TypedInputs(Protocol):
    """Inputs that a person can type: see `kleene.programs.alta.inputs`. START and the like do not count as symbols."""

    def read(self, words: Sequence[str]) -> list[int]:
        """The tokens for the words of a command line, or an InputError that says what was expected."""
        ...

    def sample(self, rng: random.Random, size: int) -> list[int]: ...

    def every(self, most: int) -> Iterator[list[int]]: ...

    def spelled(self, token: int) -> str:
        """The token as a person writes it."""
        ...


@dataclass(frozen=True)
class Row:
    """Symbols of one character each, with a START token in front where the program wants one.

    >>> Row("abc", "letters a..c", "ab", start=3).read(["ab", "c"])
    [3, 0, 1, 2]
    """

    symbols: str
    expected: str  # in words
    example: str
    longest: int | None = None
    start: int | None = None
    start_symbol: str | None = None  # the user may type it in front, too
    free = True  # every mix of the symbols is an input: see `kleene.programs.alta.inputs`

    def read(self, words: Sequence[str]) -> list[int]:
        text = "".join(words)
        if self.start_symbol and text.startswith(self.start_symbol):
            text = text[1:]
        hint = f"give {self.expected} as one word or several, for example: {self.example}"
        if not text:
            raise InputError(f"there is no input; {hint}")
        for symbol in text:
            if symbol not in self.symbols:
                raise InputError(f"{symbol!r} is none of {self.expected}; {hint}")
        if self.longest is not None and len(text) > self.longest:
            raise InputError(f"the input has {len(text)} symbols, and the program takes at most {self.longest}; {hint}")
        return self.tokens([self.symbols.index(symbol) for symbol in text])

    def sample(self, rng: random.Random, size: int) -> list[int]:
        return self.tokens([rng.randrange(len(self.symbols)) for _ in range(self.length(size))])

    def every(self, most: int) -> Iterator[list[int]]:
        shortest = 1 if self.start is None else 0
        for length in range(shortest, self.length(most) + 1):
            for row in itertools.product(range(len(self.symbols)), repeat=length):
                yield self.tokens(row)

    def spelled(self, token: int) -> str:
        return "START" if token == self.start else self.symbols[token] if token < len(self.symbols) else str(token)

    def length(self, size: int) -> int:
        """The size, limited to the longest input that the program takes."""
        return max(1, size if self.longest is None else min(size, self.longest))

    def tokens(self, row: Sequence[int]) -> list[int]:
        return list(row) if self.start is None else [self.start, *row]

    def text(self, tokens: Sequence[int], blank: str = "_") -> str:
        """Tokens as a string of symbols; the token after the last symbol is a blank."""
        return "".join((self.symbols + blank)[token] for token in tokens)


def bits(longest: int | None = None, start: int | None = None) -> Row:
    """Words of bits."""
    return Row("01", "the bits 0 and 1", "1 0 1 1", longest, start, None if start is None else str(start))


def letters(count: int, example: str, longest: int | None = None, start: int | None = None) -> Row:
    """Words of the first letters."""
    symbols = "".join(chr(ord("a") + code) for code in range(count))
    return Row(symbols, f"the letters a..{symbols[-1]}", example, longest, start)


@dataclass(frozen=True)
class Brackets(Row):
    """Brackets: token 2k opens kind k, token 2k + 1 closes it."""

    def sample(self, rng: random.Random, size: int) -> list[int]:
        """Random brackets; those of even length are balanced half of the time."""
        length = self.length(size)
        if length % 2 or rng.random() < 0.5:
            return super().sample(rng, length)
        heights, row = [0] * (len(self.symbols) // 2), []
        for left in range(length, 0, -1):
            closing = [2 * kind + 1 for kind, height in enumerate(heights) if height]
            opening = [2 * kind for kind in range(len(heights))] if sum(heights) < left else []
            row.append(rng.choice(opening + closing))
            heights[row[-1] // 2] += 1 - 2 * (row[-1] % 2)
        return row


@dataclass(frozen=True)
class Integers:
    """Whole numbers from `smallest` to `largest`; the token is the number less `smallest`."""

    smallest: int
    largest: int
    shortest: int
    longest: int
    example: str

    def read(self, words: Sequence[str]) -> list[int]:
        wanted = f"{self.shortest} to {self.longest} numbers in {self.smallest}..{self.largest}"
        hint = f"give {wanted}, for example: {self.example}"
        found = " ".join(words).replace(",", " ").split()
        if not self.shortest <= len(found) <= self.longest:
            raise InputError(f"the input has {len(found)} numbers; {hint}")
        for word in found:
            if not re.fullmatch(r"[+-]?[0-9]{1,9}", word):
                raise InputError(f"{word!r} is not a whole number; {hint}")
            if not self.smallest <= int(word) <= self.largest:
                raise InputError(f"{word} is out of range; {hint}")
        return [int(word) - self.smallest for word in found]

    def sample(self, rng: random.Random, size: int) -> list[int]:
        length = max(self.shortest, min(size, self.longest))
        return [rng.randint(0, self.largest - self.smallest) for _ in range(length)]

    def every(self, most: int) -> Iterator[list[int]]:
        for length in range(self.shortest, min(most, self.longest) + 1):
            yield from map(list, itertools.product(range(self.largest - self.smallest + 1), repeat=length))

    def spelled(self, token: int) -> str:
        return str(token + self.smallest)


@dataclass(frozen=True)
class Commands:
    """Commands of SCAN, as one word of the command line or several."""

    tokens: Callable[[Sequence[str]], list[int]]
    names: tuple[str, ...]  # of the first tokens

    def read(self, words: Sequence[str]) -> list[int]:
        return self.tokens(words)

    def sample(self, rng: random.Random, size: int) -> list[int]:
        """A random command of `size` words, or of the longest length that exists."""
        lengths = _commands_by_length()
        return self.tokens(rng.choice(lengths[max(1, min(size, max(lengths)))]))

    def every(self, most: int) -> Iterator[list[int]]:
        for length, commands in sorted(_commands_by_length().items()):
            if length <= most:
                yield from map(self.tokens, commands)

    def spelled(self, token: int) -> str:
        return self.names[token] if token < len(self.names) else str(token)


@cache
def _commands_by_length() -> dict[int, list[list[str]]]:
    found: dict[int, list[list[str]]] = {}
    for command in scan_language.commands():
        words = command.split()
        found.setdefault(len(words), []).append(words)
    return found
