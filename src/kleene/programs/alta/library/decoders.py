"""The programs of the library that write: run as decoders, token after token."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from kleene.errors import InputError, did_you_mean
from kleene.limits import read_count
from kleene.programs.alta import Program
from kleene.programs.alta.library import addition_decoded
from kleene.programs.alta.library.catalog import get as get_encoder

DIGITS = 20


@dataclass(frozen=True)
class DecoderEntry:
    """A program to be decoded with; `read` makes the prompt, `show` says what was written as people do."""

    name: str
    summary: str
    build: Callable[[], Program]
    read: Callable[[Sequence[str]], list[int]]
    show: Callable[[Sequence[int]], Any]
    tokens: int
    example: tuple[str, ...]


def decoders() -> dict[str, DecoderEntry]:
    """All decoders by name."""
    induction = get_encoder("induction_head")
    found = (
        DecoderEntry(
            "addition_decoded", "writes out a sum digit by digit, one layer each, the carry told from what is written",
            lambda: addition_decoded.build(DIGITS), _read_sum, addition_decoded.number, DIGITS + 1, ("789", "456"),
        ),
        DecoderEntry(
            "induction_decoded", "goes on with a text as it went on the last time", induction.build, induction.read,
            _letters, 8, ("abcdab",),
        ),
    )  # fmt: skip
    return {entry.name: entry for entry in found}


def get_decoder(name: str) -> DecoderEntry:
    """The decoder of that name."""
    known = decoders()
    if name not in known:
        raise InputError(f"no decoder {name!r} in the library; {did_you_mean(name, known)}")
    return known[name]


def _read_sum(words: Sequence[str]) -> list[int]:
    numbers = [number for number in map(read_count, words) if number is not None]
    if len(words) != 2 or len(numbers) != 2:
        raise InputError(f"give two whole numbers, such as 789 456; got {' '.join(words)!r}")
    return addition_decoded.prompt(numbers[0], numbers[1], DIGITS)


def _letters(written: Sequence[int]) -> str:
    """Letters, and a dot where the text has no word on how to go on."""
    return "".join(chr(ord("a") + t) if t < 8 else "." for t in written)
