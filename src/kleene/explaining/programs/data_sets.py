"""Data sets by a condition on their inputs, such as "length<=20" or "length>20,length<=40,count(1)<=20".

Length counts what a person types: a START token in front is not counted, and for addition it is the number of digits.
"""

import itertools
import operator
import random
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from kleene.errors import InputError
from kleene.files import MOST_TEXT, read_bytes
from kleene.notation.console import Entry
from kleene.programs.alta.program import Program

COMPARED: dict[str, Callable[[int, int], bool]] = {
    "<=": operator.le, ">=": operator.ge, "==": operator.eq, "<": operator.lt, ">": operator.gt, "=": operator.eq,
}  # fmt: skip
LONGEST = 10_000
EVERY = 4_096  # inputs, up to which a data set holds all there are
TRIES = 20  # draws for each wanted input, for conditions that few inputs meet
SHOWN = "a condition is length<=20, count(1)<=3 or ones<=3, or several joined by commas"


@dataclass(frozen=True)
class CountComparison:
    """A bound on the length (where `token` is None), or on how often a token occurs."""

    token: int | None
    sign: str
    bound: int

    def holds(self, number: int) -> bool:
        return COMPARED[self.sign](number, self.bound)


@dataclass(frozen=True)
class InputCondition:
    """Comparisons that must all hold."""

    text: str
    parts: tuple[CountComparison, ...]

    @property
    def lengths(self) -> list[int]:
        """All lengths that the condition allows; it must bound them."""
        bounds = [c.bound for c in self.parts if c.token is None and c.sign in ("<", "<=", "=", "==")]
        if not bounds:
            raise InputError(f"{self.text!r} does not bound the length of an input; add such as length<=20")
        if min(bounds) > LONGEST:
            raise InputError(f"{self.text!r} allows inputs longer than {LONGEST:,}; give a smaller bound")
        own = [c for c in self.parts if c.token is None]
        return [n for n in range(1, min(bounds) + 1) if all(c.holds(n) for c in own)]

    def counts(self, tokens: Sequence[int]) -> bool:
        """Whether the tokens occur as often as the condition wants."""
        return all(c.holds(tokens.count(c.token)) for c in self.parts if c.token is not None)


def read_condition(text: str) -> InputCondition:
    """The condition in a text.

    >>> read_condition("length<=3, ones<2").lengths
    [1, 2, 3]
    """
    parts = []
    for part in text.split(","):
        match = re.fullmatch(r"(length|ones|count\((\d{1,6})\))(<=|>=|==|<|>|=)(\d{1,9})", re.sub(r"\s", "", part))
        if match is None:
            raise InputError(f"{part.strip()!r} is no condition on inputs; {SHOWN}")
        what, token, sign, bound = match.groups()
        counted = None if what == "length" else 1 if what == "ones" else int(token)
        parts.append(CountComparison(counted, sign, int(bound)))
    return InputCondition(text, tuple(parts))


@dataclass(frozen=True)
class InputSource:
    """Where the inputs of a program come from: its entry on the shelf, or all tokens alike."""

    program: Program
    entry: Entry | None = None

    def draw(self, rng: random.Random, length: int) -> list[int]:
        """A random input of that length."""
        if self.entry is not None and self.entry.sample is not None:
            return list(self.entry.sample(rng, length))
        return [rng.randrange(self.program.input_range) for _ in range(length)]

    def every(self, length: int) -> Iterable[list[int]]:
        """All inputs up to that length, short ones first."""
        if self.entry is not None and self.entry.every is not None:
            return self.entry.every(length)
        tokens = range(self.program.input_range)
        return (list(row) for n in range(1, length + 1) for row in itertools.product(tokens, repeat=n))

    def widths(self, longest: int) -> dict[int, int]:
        """The lengths of inputs by their number of tokens; refuses lengths that the program does not take.

        A program may have a shortest input, which stands for all lengths below it.
        """
        rng, found, width = random.Random(0), {}, 0
        for n in range(1, longest + 1):
            before, width = width, len(self.draw(rng, n))
            limit = self.program.position_range
            if (width == before and len(found) > 1) or (limit is not None and width > limit):
                raise InputError(f"{self.program.name} takes inputs of up to length {n - 1}, and {longest} is allowed")
            found[width] = n
        return found

    def length(self) -> Callable[[list[int]], int]:
        """The length of an input of the program, by its number of tokens; START and the like are not counted."""
        front = len(self.draw(random.Random(0), 2)) - len(self.draw(random.Random(0), 1))
        extra = len(self.draw(random.Random(0), 1)) - front
        return lambda tokens: (len(tokens) - extra) // front if front else len(tokens)

    def read(self, line: str) -> list[int]:
        """The input in a line of a file, written as after `kleene run`."""
        if self.entry is not None and self.entry.read is not None:
            return list(self.entry.read(line.split()))
        words = line.split()
        if all(re.fullmatch(r"\d{1,9}", word) for word in words):
            return self.program.check_input([int(word) for word in words])
        return self.program.check_input(line.strip())


def inputs_of(source: InputSource, wanted: str, *, samples: int, seed: int) -> list[list[int]]:
    """The inputs that a condition or the name of a file means.

    All inputs, where there are few; otherwise `samples` random ones of each length, and for bits also one with every
    number of ones, so that each number occurs about as often as any other, as in ALTA's data for parity.
    """
    if not re.search(r"[<>=]", wanted):
        return _from_file(source, wanted)
    condition = read_condition(wanted)
    lengths = condition.lengths
    if not lengths:
        raise InputError(f"no length meets {wanted!r}; {SHOWN}")
    width = source.widths(lengths[-1])
    lengths = [n for n in lengths if n in width.values()]
    found = _all(source, condition, lengths, width)
    if found is None:
        found = _drawn(source, condition, lengths, samples, random.Random(seed))
    if not found:
        raise InputError(f"no input of {source.program.name} was found that meets {wanted!r}; give a wider condition")
    return found


def _all(
    source: InputSource, condition: InputCondition, lengths: list[int], width: dict[int, int]
) -> list[list[int]] | None:
    """All inputs that meet the condition, or None where there are too many."""
    for most in (lengths[-1], 2 * lengths[-1]):  # entries with two numbers count the digits of both
        found = list(itertools.islice(source.every(most), EVERY + 1))
        if len(found) > EVERY:
            return None
        if found and len(found[-1]) == max(width):
            return [tokens for tokens in found if width.get(len(tokens)) in lengths and condition.counts(tokens)]
    return None


def _drawn(
    source: InputSource, condition: InputCondition, lengths: list[int], samples: int, rng: random.Random
) -> list:
    found = []
    for n in lengths:
        tokens = source.draw(rng, n)
        first = _first_bit(tokens) if source.program.input_range <= 3 else None
        if first is not None:
            found += _with_every_count(condition, tokens[:first], n, samples, rng)
            continue
        here: dict[tuple[int, ...], None] = {}
        for _ in range(TRIES * samples):
            if len(here) == samples:
                break
            tokens = source.draw(rng, n)
            if condition.counts(tokens):
                here[tuple(tokens)] = None
        found += map(list, here)
    return found


def _first_bit(tokens: Sequence[int]) -> int | None:
    """Where the bits begin, 0 or 1, if the input is bits with perhaps another token in front; else None."""
    first = int(tokens[0] > 1)
    return first if set(tokens[first:]) <= {0, 1} else None


def _with_every_count(
    condition: InputCondition, front: list[int], length: int, samples: int, rng: random.Random
) -> list[list[int]]:
    """Bits with every number of ones that the condition allows, each number about as often as any other."""
    rows = [front + [1] * ones + [0] * (length - ones) for ones in range(length + 1)]
    rows = [row for row in rows if condition.counts(row)]
    found: dict[tuple[int, ...], None] = {}
    for row in itertools.islice(itertools.cycle(rows), max(samples, len(rows))):
        bits = row[len(front) :]
        rng.shuffle(bits)
        found[(*front, *bits)] = None
    return [list(row) for row in found]


def _from_file(source: InputSource, name: str) -> list[list[int]]:
    path = Path(name)
    if not path.is_file():
        raise InputError(f"{name!r} is neither a condition nor a file of inputs; {SHOWN}")
    found: list[list[int]] = []
    for number, line in enumerate(_lines(path), start=1):
        if line.strip():
            try:
                found.append(source.program.check_input(source.read(line)))
            except InputError as error:
                raise InputError(f"{name}, line {number}: {error}") from None
    return found


def _lines(path: Path) -> list[str]:
    try:
        return read_bytes(path, MOST_TEXT).decode("utf-8-sig").splitlines()
    except UnicodeDecodeError:
        raise InputError(f"{str(path)!r} is not UTF-8; write one input a line") from None
