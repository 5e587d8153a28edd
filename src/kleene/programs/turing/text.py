"""Turing machines as text: a few header lines, then one transition a line.

    // Does the word have an odd number of 1s?
    start  even
    accept yes
    reject no
    blank  _            // _ is the blank also where this line is left out
    input  1            // every tape symbol but the blank where this line is left out
    otherwise reject    // transitions that are not listed go to the reject state and to the right

    even 1 -> odd  1 R
    odd  1 -> even 1 R
    odd  _ -> yes  _ R

Names are separated by spaces. What follows `//` is a comment. A line with `->` is a transition: state and symbol
read, then the next state, the symbol written and the move, L or R.
"""

import difflib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from kleene.errors import ProgramError
from kleene.files import MOST_TEXT, check_seal, read_bytes
from kleene.programs.turing.table import TuringTable

HEADERS = ("start", "accept", "reject", "blank", "input", "otherwise")


def parse(text: str, name: str = "the machine") -> TuringTable:
    """The machine that the text describes; a ProgramError names the line where it cannot be read."""
    headers: dict[str, tuple[int, list[str]]] = {}
    transitions: dict[tuple[str, str], tuple[str, str, Any]] = {}
    lines: dict[tuple[str, str], int] = {}
    for number, words in _lines(text):
        if "->" in words:
            key, action = _transition(number, words)
            if key in transitions:
                raise ProgramError(
                    f"line {number}: ({key[0]}, {key[1]}) has a second transition; the first is in line {lines[key]}. "
                    f"A machine can do only one thing there: remove one of them."
                )
            transitions[key], lines[key] = action, number
        else:
            _header(number, words, headers)
    plain = {role: _single(role, headers) for role in ("start", "accept", "reject")}
    plain |= {"blank": _single("blank", headers)} if "blank" in headers else {}
    inputs = tuple(headers["input"][1]) if "input" in headers else ()
    if "otherwise" in headers:
        transitions = _completed(transitions, inputs, plain)
    try:
        return TuringTable(transitions=transitions, input_alphabet=inputs, name=name, **plain)
    except ProgramError as error:
        raise ProgramError(f"{name}: {error}") from None


def _lines(text: str) -> Iterator[tuple[int, list[str]]]:
    """The words of every line that has any, with its number; comments are dropped."""
    for number, line in enumerate(text.removeprefix("\ufeff").splitlines(), start=1):  # a mark that some editors write
        words = line.split("//")[0].split()
        if words:
            yield number, words


def _transition(number: int, words: list[str]) -> tuple[tuple[str, str], tuple[str, str, str]]:
    if len(words) != 6 or words[2] != "->":
        raise ProgramError(
            f"line {number}: {' '.join(words)!r} is not a transition; write `state symbol -> state symbol move`"
        )
    state, symbol, _, target, written, move = words
    if move not in ("L", "R"):
        raise ProgramError(f"line {number}: the move is {move!r}; write L or R")
    return (state, symbol), (target, written, move)


def _header(number: int, words: list[str], headers: dict[str, tuple[int, list[str]]]) -> None:
    key, *values = words
    if key not in HEADERS:
        close = difflib.get_close_matches(key, HEADERS, n=1)
        hint = f"did you mean {close[0]}?" if close else f"write a transition with ->, or one of {', '.join(HEADERS)}"
        raise ProgramError(f"line {number}: {' '.join(words)!r} is not understood; {hint}")
    if key in headers:
        raise ProgramError(f"line {number}: a second {key} line; the first is line {headers[key][0]}")
    if key == "otherwise" and values != ["reject"]:
        raise ProgramError(f"line {number}: {' '.join(words)!r}; the only shorthand is `otherwise reject`")
    if key != "input" and len(values) != 1:
        raise ProgramError(f"line {number}: {' '.join(words)!r} names {len(values)} things; {key} takes one")
    headers[key] = (number, values)


def _single(role: str, headers: dict[str, tuple[int, list[str]]]) -> str:
    if role not in headers:
        raise ProgramError(f"the text has no {role} line; add `{role} STATE`")
    return headers[role][1][0]


def _completed(transitions: dict, inputs: tuple[str, ...], plain: dict[str, str]) -> dict:
    """The table with what is missing sent to the reject state, the symbol left as it is and the head moved right."""
    halting = (plain["accept"], plain["reject"])
    targets = [(r, b) for r, b, _ in transitions.values()]
    states = dict.fromkeys([plain["start"], *(q for q, _ in transitions), *(r for r, _ in targets)])
    symbols = dict.fromkeys([*inputs, *(a for _, a in transitions), *(b for _, b in targets), plain.get("blank", "_")])
    missing = [(q, a) for q in states if q not in halting for a in symbols if (q, a) not in transitions]
    return transitions | {(q, a): (plain["reject"], a, "R") for q, a in missing}


def as_text(machine: TuringTable) -> str:
    """The machine in the format above, every transition written out."""
    for name in (*machine.states, *machine.tape_alphabet):
        if name.split() != [name] or "//" in name or name == "->":
            raise ProgramError(f"{name!r} cannot be written in a text: names have no spaces and no //, and are not ->")
    wide = max(len(state) for state in machine.states)
    rows = [
        f"{state:<{wide}} {symbol} -> {target:<{wide}} {written} {move}"
        for (state, symbol), (target, written, move) in machine.transitions.items()
    ]
    header = [f"{role:<6} {getattr(machine, role)}" for role in ("start", "accept", "reject", "blank")]
    return "\n".join([*header, f"input  {' '.join(machine.input_alphabet)}", "", *rows]) + "\n"


def load(path: Path) -> TuringTable:
    """The machine in the file, under the file's name."""
    content = read_bytes(path, MOST_TEXT)
    check_seal(path, content, by_hand=True)
    try:
        return parse(content.decode(), path.stem)
    except UnicodeDecodeError:
        raise ProgramError(f"{str(path)!r} is not a text in UTF-8") from None
    except ProgramError as error:
        raise ProgramError(f"{path.name}: {error}") from None
