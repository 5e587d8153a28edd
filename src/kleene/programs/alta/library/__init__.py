"""Transformer programs to run, read and learn from, in one table: how to build, check, read and show each.

Programs that write are a second table: they run as decoders, token after token.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from kleene.errors import InputError, did_you_mean
from kleene.limits import read_count
from kleene.notation.console import Entry, Shelf
from kleene.programs.alta import Program
from kleene.programs.alta.library import (
    addition,
    addition_decoded,
    averaging,
    counting,
    moving,
    parity,
    scan,
    scan_shift_reduce,
    subleq,
)
from kleene.programs.alta.library.inputs import TypedInputs, letters


def _entry(
    name: str,
    summary: str,
    build: Callable[[], Program],
    reference: Callable[[Sequence[int]], list[int]],
    show: Callable[[Sequence[int], Sequence[int]], Any],
    *example: str,
) -> Entry:
    """An entry whose inputs and outputs are tokens: the program's own inputs read what people write, and `show` makes
    it of outputs."""
    built = cache(build)

    def typed() -> TypedInputs:
        found = built().inputs
        assert isinstance(found, TypedInputs)
        return found

    return Entry(
        name, summary, built, example, reference=reference, show=show,
        read=lambda words: typed().read(words), spelled=lambda token: typed().spelled(token),
    )  # fmt: skip


_SYMBOLS = letters(counting.LETTERS, "abac")  # of which outputs are written


def _show_all(inputs: Sequence[int], outputs: Sequence[int]) -> list[int]:
    return list(outputs)


def _show_after_start(inputs: Sequence[int], outputs: Sequence[int]) -> list[int]:
    return list(outputs[1:])


def _show_last(inputs: Sequence[int], outputs: Sequence[int]) -> int:
    return outputs[-1]


def _show_sum(inputs: Sequence[int], outputs: Sequence[int]) -> int:
    total = 0
    for digit in addition.digits_of_sum(inputs, outputs):
        total = 10 * total + digit
    return total


def _show_registers(inputs: Sequence[int], outputs: Sequence[int]) -> list[int]:
    return [token + subleq.SMALLEST for token in outputs]


def _show_text(inputs: Sequence[int], outputs: Sequence[int]) -> str:
    return _SYMBOLS.text(outputs)


def _show_distinct(inputs: Sequence[int], outputs: Sequence[int]) -> str:
    return _SYMBOLS.text(outputs, blank=" ").strip()


def _show_predictions(inputs: Sequence[int], outputs: Sequence[int]) -> str:
    return _SYMBOLS.text(outputs[1:])


def _show_balanced(inputs: Sequence[int], outputs: Sequence[int]) -> bool:
    return outputs[-1] == averaging.BALANCED


def _show_fractions(inputs: Sequence[int], outputs: Sequence[int]) -> list[str]:
    known = averaging.fractions()
    return [str(known[index]) for index in outputs]


_SHELF = Shelf("program", (
    _entry(
        "parity_absolute", "running parity, one position a layer, neighbours found by position number",
        parity.absolute, parity.running_parity, _show_all, "1", "0", "1", "1",
    ),
    _entry(
        "parity_relative", "running parity, one position a layer, neighbours found by distance: any length",
        parity.relative, parity.running_parity, _show_after_start, "1", "0", "1", "1",
    ),
    _entry(
        "parity_sum_modulo", "parity of all bits in one layer: count the ones, is the count odd?",
        parity.sum_modulo, parity.whole_parity, _show_last, "1", "0", "1", "1",
    ),
    _entry(
        "parity_sum_modulo_steps", "the same in two layers, with the count as a variable in between",
        parity.sum_modulo_steps, parity.whole_parity, _show_last,
        "1", "0", "1", "1",
    ),
    _entry(
        "addition", "adds two numbers of any length as on paper, a digit a layer",
        addition.build, addition.reference, _show_sum, "789", "456",
    ),
    _entry(
        "sort", "sorts numbers by swapping neighbours, as many layers as numbers",
        moving.sort, moving.in_order, _show_all, "3", "5", "4", "2",
    ),
    _entry(
        "subleq", "a computer with one instruction, three layers each; its memory is the sequence",
        subleq.build, subleq.reference, _show_registers, *subleq.EXAMPLE.split(),
    ),
    _entry(
        "histogram", "how often each letter occurs, in one layer",
        counting.histogram, counting.occurrences, _show_after_start, "abac",
    ),
    _entry(
        "double_histogram", "how many letters occur as often as each letter does, in two layers",
        counting.double_histogram, counting.equally_frequent, _show_after_start, "abbccdddef",
    ),
    _entry(
        "reverse", "the letters backwards, in two layers",
        moving.reverse, moving.backwards, _show_text, "abcd",
    ),
    _entry(
        "most_frequent_sort", "the distinct letters, most frequent first, in three layers",
        counting.most_frequent_sort, counting.by_frequency, _show_distinct, "abbccdddef",
    ),
    _entry(
        "shuffle_dyck_1", "are brackets balanced? in two layers",
        averaging.shuffle_dyck_1, averaging.statuses, _show_balanced, "(())",
    ),
    _entry(
        "shuffle_dyck_2", "are brackets of two kinds balanced, each kind by itself? in two layers",
        averaging.shuffle_dyck_2, averaging.statuses, _show_balanced, "({)}",
    ),
    _entry(
        "fraction_previous", "which fraction of the letters so far is an l, in one layer",
        averaging.fraction_previous, averaging.fractions_so_far, _show_fractions, "hello",
    ),
    _entry(
        "induction_head", "predicts the letter that followed this one the last time, any length",
        moving.induction_head, moving.last_followers, _show_predictions, "abcab",
    ),
    _entry(
        "scan", "SCAN commands to actions, read from right to left, with a few registers",
        scan.build, scan.reference, scan.show, "jump twice after walk",
    ),
    _entry(
        "scan_shift_reduce", "SCAN commands to actions by shift-reduce parsing, with stack and tree in memory",
        scan_shift_reduce.build, scan_shift_reduce.reference, scan.show,
        "jump twice after walk",
    ),
))  # fmt: skip
entries, get = _SHELF.entries, _SHELF.get


DIGITS = 20


@dataclass(frozen=True)
class DecoderEntry:
    """A program that runs as a decoder; `read` makes the prompt, `show` turns the written tokens into plain words."""

    name: str
    summary: str
    build: Callable[[], Program]
    read: Callable[[Sequence[str]], list[int]]
    show: Callable[[Sequence[int]], Any]
    tokens: int
    example: tuple[str, ...]


def decoders() -> dict[str, DecoderEntry]:
    """All decoders by name."""
    induction = get("induction_head")
    found = (
        DecoderEntry(
            "addition_decoded", "writes out a sum digit by digit, one layer each, the carry found from earlier digits",
            lambda: addition_decoded.build(DIGITS), _read_sum, addition_decoded.number, DIGITS + 1, ("789", "456"),
        ),
        DecoderEntry(
            "induction_decoded", "continues a string as it continued the last time", induction.build, induction.read,
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
    """Letters, and a dot where there is no prediction because the last letter did not occur before."""
    return "".join(chr(ord("a") + t) if t < 8 else "." for t in written)
