"""Data sets by a condition on their inputs, such as "length<=20" or "length>20,length<=40,count(1)<=20".

Length counts what a person types: a START token in front is not counted, and for addition it is the number of digits.
"""

import itertools
import operator
import os
import random
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from kleene.errors import InputError
from kleene.files import MOST_TEXT, read_bytes
from kleene.notation.console import Entry, typed_tokens
from kleene.programs.alta.inputs import is_free
from kleene.programs.alta.program import Program
from kleene.programs.rasp.graph import RaspError
from kleene.programs.rasp.program import RaspProgram

COMPARED: dict[str, Callable[[int, int], bool]] = {
    "<=": operator.le, ">=": operator.ge, "==": operator.eq, "<": operator.lt, ">": operator.gt, "=": operator.eq,
}  # fmt: skip
LONGEST = 10_000
EVERY = 4_096  # inputs, up to which a data set holds all there are
TRIES = 20  # draws for each wanted input, for conditions that few inputs meet
WORK = 200_000_000  # positions times layers in the runs of a data set; a million take about 0.15 s on one core
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

    def counts(self, tokens: Sequence[Any]) -> bool:
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
    """Where the inputs of a program come from: what it declares, or all tokens alike.

    The inputs of a RASP program are words of its vocabulary, and those on which RASP has no value are left out.
    """

    program: Program
    entry: Entry | None = None
    expression: RaspProgram | None = None

    @classmethod
    def of(cls, program: Program | RaspProgram, entry: Entry | None = None, inputs: Any = None) -> "InputSource":
        """The source of a transformer program's inputs, or of a RASP program's; others may be given as `inputs`."""
        lowered = program.lowered if isinstance(program, RaspProgram) else program
        own = lowered if inputs is None else lowered.taking(inputs)
        return cls(own, entry, program if isinstance(program, RaspProgram) else None)

    @property
    def tokens(self) -> Sequence[Any]:
        """All tokens: numbers, or the words of a vocabulary."""
        return range(self.program.input_range) if self.expression is None else self.expression.vocab

    @property
    def longest(self) -> int | None:
        """The greatest number of tokens that the program takes, if there is one."""
        return self.program.position_range if self.expression is None else self.expression.max_length

    def accepts(self, tokens: list[Any]) -> bool:
        """Whether the program has a value on these tokens, which only a RASP program may lack."""
        try:
            return self.expression is None or self.expression.evaluate(tokens) is not None
        except RaspError:
            return False

    def draw(self, rng: random.Random, length: int) -> list[Any]:
        """A random input of that length."""
        return list(self.program.words.sample(rng, length))

    def steps(self, length: int) -> int:
        """How many layers the program takes on a random input of that length that it accepts."""
        rng = random.Random(0)
        drawn = (self.draw(rng, length) for _ in range(TRIES))
        found = next((tokens for tokens in drawn if self.accepts(tokens)), None)
        return 1 if found is None else self.program.run(found).steps

    def widths(self, longest: int) -> dict[int, int]:
        """The lengths of inputs by their number of tokens; refuses lengths that the program does not take.

        A program may have a shortest input, which stands for all lengths below it.
        """
        rng, found, width = random.Random(0), {}, 0
        for n in range(1, longest + 1):
            before, width = width, len(self.draw(rng, n))
            limit = self.longest
            if (width == before and len(found) > 1) or (limit is not None and width > limit):
                raise InputError(f"{self.program.name} takes inputs of up to length {n - 1}, and {longest} is allowed")
            found[width] = n
        return found

    def length(self) -> Callable[[list[Any]], int]:
        """The length of an input of the program, by its number of tokens; START and the like are not counted."""
        front = len(self.draw(random.Random(0), 2)) - len(self.draw(random.Random(0), 1))
        extra = len(self.draw(random.Random(0), 1)) - front
        return lambda tokens: (len(tokens) - extra) // front if front else len(tokens)

    def read(self, line: str) -> list[Any]:
        """The input in a line of a file, written as after `kleene run`."""
        if self.expression is not None:
            return self.expression.check_tokens(typed_tokens(line.split(), self.expression.vocab))
        words = line.split()
        if self.entry is not None and self.entry.read is not None:
            return self.program.check_input(self.entry.read(words))
        if all(re.fullmatch(r"\d{1,9}", word) for word in words):
            return self.program.check_input([int(word) for word in words])
        return self.program.check_input(line.strip())


def inputs_of(source: InputSource, wanted: str, *, samples: int, seed: int, fewer: bool = False) -> list[list[Any]]:
    """The inputs that a condition or the name of a file means.

    All inputs, where there are few; otherwise `samples` random ones of each length, and for bits also one with every
    number of ones, so that each number occurs about as often as any other, as in ALTA's data for parity. If `fewer`,
    there are exactly so many for bits too, with numbers of ones far from each other.
    """
    if not re.search(r"[<>=]", wanted):
        return _from_file(source, wanted)
    condition, lengths, width = _bounded(source, wanted)
    found = _all(source, condition, lengths, width)
    if found is None:
        found = _drawn(source, condition, lengths, samples, random.Random(seed), fewer)
    found = [tokens for tokens in found if source.accepts(tokens)]
    if not found:
        raise InputError(f"no input of {source.program.name} was found that meets {wanted!r}; give a wider condition")
    return found


def affordable(source: InputSource, wanted: str, samples: int, work: int = WORK) -> int:
    """The number of random inputs of each length, at most `samples`, whose runs hold about `work` entries in all.

    An entry is a position in a layer. Runs that halt are taken to have a number of layers in proportion to the length.
    """
    if not re.search(r"[<>=]", wanted):
        return samples
    condition, lengths, width = _bounded(source, wanted)
    if _all(source, condition, lengths, width) is not None:
        return samples
    longest, grows = max(lengths), source.program.halt is not None
    steps = source.steps(longest)
    layers = {n: max(1, steps * n // longest) if grows else steps for n in lengths}
    one = sum(tokens * layers[n] for tokens, n in width.items() if n in layers)
    return max(1, min(samples, work // one))


def _bounded(source: InputSource, wanted: str) -> tuple[InputCondition, list[int], dict[int, int]]:
    """A condition, the lengths that meet it, and all lengths by their number of tokens."""
    condition = read_condition(wanted)
    unknown = [c.token for c in condition.parts if c.token is not None and c.token not in source.tokens]
    if unknown and source.expression is not None:
        shown = " ".join(map(repr, source.tokens[:12]))
        raise InputError(f"{wanted!r} counts {unknown[0]}, and the vocabulary of {source.program.name} is {shown}")
    lengths = condition.lengths
    if not lengths:
        raise InputError(f"no length meets {wanted!r}; {SHOWN}")
    width = source.widths(lengths[-1])
    return condition, [n for n in lengths if n in width.values()], width


def _all(
    source: InputSource, condition: InputCondition, lengths: list[int], width: dict[int, int]
) -> list[list[Any]] | None:
    """All inputs that meet the condition, or None where there are too many, or they cannot be listed."""
    every = source.program.words.every
    if every is None:
        return None
    for most in (lengths[-1], 2 * lengths[-1]):  # entries with two numbers count the digits of both
        found = [list(tokens) for tokens in itertools.islice(every(most), EVERY + 1)]
        if len(found) > EVERY:
            return None
        if found and len(found[-1]) == max(width):
            return [tokens for tokens in found if width.get(len(tokens)) in lengths and condition.counts(tokens)]
    return None


def _drawn(
    source: InputSource, condition: InputCondition, lengths: list[int], samples: int, rng: random.Random, fewer: bool
) -> list:
    found, may_be_bits = [], _may_be_bits(source)
    for n in lengths:
        tokens = source.draw(rng, n)
        first = _first_bit(tokens) if may_be_bits else None
        if first is not None:
            found += _with_every_count(condition, tokens[:first], n, samples, rng, fewer)
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


def _may_be_bits(source: InputSource) -> bool:
    return is_free(source.program.words) and source.program.input_range <= 3 and source.expression is None


def _first_bit(tokens: Sequence[int]) -> int | None:
    """Where the bits begin, 0 or 1, if the input is bits with perhaps another token in front; else None."""
    first = int(tokens[0] > 1)
    return first if set(tokens[first:]) <= {0, 1} else None


def _with_every_count(
    condition: InputCondition, front: list[int], length: int, samples: int, rng: random.Random, fewer: bool
) -> list[list[int]]:
    """Bits with every number of ones that the condition allows, each number about as often as any other.

    If `fewer`, only `samples` of these numbers, two or more, the least and the greatest among them.
    """
    rows = [front + [1] * ones + [0] * (length - ones) for ones in range(length + 1)]
    rows = [row for row in rows if condition.counts(row)]
    if fewer and samples < len(rows):
        samples = max(samples, 2)
        rows = [rows[at * (len(rows) - 1) // max(1, samples - 1)] for at in range(samples)]
    found: dict[tuple[int, ...], None] = {}
    for row in itertools.islice(itertools.cycle(rows), max(samples, len(rows))):
        bits = row[len(front) :]
        rng.shuffle(bits)
        found[(*front, *bits)] = None
    return [list(row) for row in found]


def _from_file(source: InputSource, name: str) -> list[list[Any]]:
    path = Path(name)
    if not os.path.isfile(path):
        raise InputError(f"{name!r} is neither a condition nor a file of inputs; {SHOWN}")
    found: list[list[Any]] = []
    for number, line in enumerate(_lines(path), start=1):
        if line.strip():
            try:
                found.append(source.read(line))
            except InputError as error:
                raise InputError(f"{name}, line {number}: {error}") from None
    return found


def _lines(path: Path) -> list[str]:
    try:
        return read_bytes(path, MOST_TEXT).decode("utf-8-sig").splitlines()
    except UnicodeDecodeError:
        raise InputError(f"{str(path)!r} is not UTF-8; write one input a line") from None
