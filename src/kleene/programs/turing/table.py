"""A Turing machine's table, checked when it is built, and its file format.

Every error names the wrong entry and says how to mend it. A file has a few header lines, then one transition a line:

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
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, fields
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import Any, Literal, Self

from kleene.errors import ProgramError
from kleene.files import read_program_text

Move = Literal["L", "R"]


@dataclass(frozen=True, kw_only=True)
class TuringTable:
    """States, symbols, and what to do on each pair of them; `TuringMachine` adds runs, graphs and files."""

    transitions: Mapping[tuple[str, str], tuple[str, str, Move]]
    start: str
    accept: str
    reject: str
    blank: str = "_"
    input_alphabet: tuple[str, ...] = ()
    name: str = field(default="the machine", compare=False)
    positions: Mapping[str, tuple[float, float]] | None = field(default=None, compare=False, repr=False)
    states: tuple[str, ...] = field(init=False)
    tape_alphabet: tuple[str, ...] = field(init=False)

    def __post_init__(self) -> None:
        for role in ("start", "accept", "reject", "blank"):
            checked_name(getattr(self, role), role)
        table = checked_transitions(self.transitions)
        self._check_halting(table)
        written = [*(a for _, a in table), *(b for _, b, _ in table.values())]
        found = tuple(dict.fromkeys(symbol for symbol in written if symbol != self.blank))
        inputs = checked_alphabet(self.input_alphabet, self.blank) or found
        entered = [*(q for q, _ in table), *(r for r, _, _ in table.values())]
        working = [q for q in dict.fromkeys([self.start, *entered]) if q not in (self.accept, self.reject)]
        object.__setattr__(self, "transitions", MappingProxyType(table))
        object.__setattr__(self, "input_alphabet", inputs)
        object.__setattr__(self, "states", (*working, self.accept, self.reject))
        object.__setattr__(self, "tape_alphabet", (*dict.fromkeys((*inputs, *found)), self.blank))
        gaps = missing(table, working, self.tape_alphabet)
        if gaps:
            raise ProgramError(gaps)

    def _check_halting(self, table: Mapping[tuple[str, str], Any]) -> None:
        if self.accept == self.reject:
            raise ProgramError(f"accept and reject are both {self.accept!r}; a machine needs one state for each")
        for state, symbol in table:
            if state in (self.accept, self.reject):
                role = "accept" if state == self.accept else "reject"
                raise ProgramError(
                    f"there is a transition from ({state!r}, {symbol!r}), but {state!r} is the {role} state, where the "
                    f"machine halts. Remove the transition, or name another {role} state."
                )

    @classmethod
    def of(cls, table: "TuringTable") -> Self:
        """The same table as an instance of this class; it has been checked, so it is not checked again."""
        made = object.__new__(cls)
        made.__dict__.update(table.__dict__)
        return made

    def __hash__(self) -> int:
        return hash((self.states, self.tape_alphabet, self.input_alphabet, tuple(self.transitions.items())))

    def __reduce__(self) -> tuple[Any, ...]:
        """Copies and pickles get a plain dict, because the read-only view of the transitions cannot be pickled."""
        given = {f.name: getattr(self, f.name) for f in fields(self) if f.init}
        return partial(type(self), **given | {"transitions": dict(self.transitions)}), ()

    def __repr__(self) -> str:
        states, symbols = len(self.states), " ".join(self.tape_alphabet)
        return f"<{type(self).__name__} {self.name}: {states} states, tape symbols {symbols}>"


def checked_name(name: Any, role: str) -> str:
    """The name of a state or symbol: a string that is not empty."""
    if name is None:
        raise ProgramError(f"the machine has no {role} state; name one with {role}=")
    if not isinstance(name, str) or not name:
        raise ProgramError(f"{role} is {name!r}; states and symbols are strings that are not empty")
    return name


def checked_transitions(transitions: Any) -> dict[tuple[str, str], tuple[str, str, Any]]:
    """A copy of the table, checked: (state, symbol) to (state, symbol, move)."""
    if not isinstance(transitions, Mapping) or not transitions:
        raise ProgramError(
            f"transitions is {transitions!r}; give a dict that maps (state, symbol) to (state, symbol, 'L' or 'R')"
        )
    return {_key(key): _action(key, value) for key, value in transitions.items()}


def _key(key: Any) -> tuple[str, str]:
    if not isinstance(key, tuple) or len(key) != 2:
        raise ProgramError(f"the key {key!r} of transitions is not a pair (state, symbol)")
    for part, role in zip(key, ("state", "symbol")):
        if not isinstance(part, str) or not part:
            raise ProgramError(f"the {role} of {key!r} is {part!r}; states and symbols are strings that are not empty")
    return key


def _action(key: Any, action: Any) -> tuple[str, str, Any]:
    if not isinstance(action, (tuple, list)) or len(action) != 3:
        raise ProgramError(f"{key!r} leads to {action!r}; write (next state, symbol written, 'L' or 'R')")
    state, symbol, move = action
    if not all(isinstance(part, str) and part for part in (state, symbol)):
        raise ProgramError(f"{key!r} leads to {action!r}; states and symbols are strings that are not empty")
    if move not in ("L", "R"):
        raise ProgramError(f"{key!r} moves {move!r}; a machine moves 'L' or 'R' at every step")
    return (state, symbol, move)


def checked_alphabet(symbols: Iterable[str] | None, blank: str) -> tuple[str, ...]:
    """The input symbols in their order; empty where they were not given."""
    found: list[str] = []
    for symbol in symbols or ():
        if not isinstance(symbol, str) or not symbol:
            raise ProgramError(f"the input alphabet has {symbol!r}; symbols are strings that are not empty")
        if symbol in found:
            raise ProgramError(f"the input alphabet has {symbol!r} twice")
        if symbol == blank:
            raise ProgramError(f"the input alphabet has the blank {blank!r}; no word may contain it, so leave it out")
        found.append(symbol)
    return tuple(found)


def missing(table: Mapping[tuple[str, str], Any], states: Iterable[str], symbols: Iterable[str]) -> str:
    """The error message about missing transitions; empty where there are none."""
    gaps = [(q, a) for q in states for a in symbols if (q, a) not in table]
    if not gaps:
        return ""
    shown = ", ".join(f"({q}, {a})" for q, a in gaps[:4]) + (f" and {len(gaps) - 4} more" if len(gaps) > 4 else "")
    return (
        f"the table is incomplete: there is no transition for {shown}. Every state but accept and reject needs one for "
        f"each tape symbol; add them (in a file, the line `otherwise reject` adds them all)."
    )


HEADERS = ("start", "accept", "reject", "blank", "input", "otherwise")


def parse(text: str, name: str = "the machine") -> TuringTable:
    """The machine in the content of a file; a ProgramError names the line that cannot be read."""
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
    plain: dict[str, Any] = {role: _single(role, headers) for role in ("start", "accept", "reject")}
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
    for number, line in enumerate(text.removeprefix("\ufeff").splitlines(), start=1):  # byte-order mark
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
    """The table with missing transitions added: to the reject state, the symbol unchanged, the head to the right."""
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
    """The machine in the file, named after the file."""
    text = read_program_text(path)
    try:
        return parse(text, path.stem)
    except ProgramError as error:
        raise ProgramError(f"{path.name}: {error}") from None
