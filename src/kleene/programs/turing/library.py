"""Turing machines for the command line: a shelf of examples, how a word is typed, and how a run is shown.

Most of the machines are files in `machines/`, easy to read and to start from.
"""

from collections.abc import Sequence
from dataclasses import asdict
from importlib import resources
from itertools import pairwise
from typing import Any

from kleene.errors import InputError
from kleene.notation.console import Entry, Shelf, Telling, typed_word
from kleene.programs.jflap import ENDING
from kleene.programs.turing.machine import TuringMachine
from kleene.programs.turing.universal import universal


def stored(name: str) -> TuringMachine:
    """The machine in `machines/NAME.tm`."""
    text = resources.files("kleene.programs.turing").joinpath("machines", f"{name}.tm").read_text(encoding="utf-8")
    return TuringMachine.from_text(text, name)


def walk_right(cells: int, *, name: str = "") -> TuringMachine:
    """A machine that goes `cells` cells to the right over any symbols, and accepts."""
    if cells < 1:
        raise InputError(f"walk_right({cells}): give 1 cell or more")
    states = [*(f"w{number}" for number in range(cells)), "there"]
    transitions = {(q, a): (r, a, "R") for q, r in pairwise(states) for a in ("1", "_")}
    named = name or f"walk_right({cells})"
    return TuringMachine(transitions=transitions, start="w0", accept="there", reject="never", name=named)  # type: ignore[arg-type]


BEAVER = {
    ("A", "_"): ("B", "1", "R"),
    ("A", "1"): ("B", "1", "L"),
    ("B", "_"): ("A", "1", "L"),
    ("B", "1"): ("C", "_", "L"),
    ("C", "_"): ("halt", "1", "R"),
    ("C", "1"): ("D", "1", "L"),
    ("D", "_"): ("D", "1", "R"),
    ("D", "1"): ("A", "_", "R"),
}
BEAVER_ROOM = 10  # how many cells it moves to the left of its first one


def busy_beaver_4() -> TuringMachine:
    """The busiest machine of four states and two symbols: 107 steps from an empty tape, and 13 ones left.

    In the literature the tape has no left end. Here the machine first walks far enough to the right to never reach
    it: 10 cells in 10 steps, so that it halts after 117.
    """
    states = [*(f"walk{number}" for number in range(BEAVER_ROOM)), "A"]
    walk = {(q, a): (r, a, "R") for q, r in pairwise(states) for a in ("1", "_")}
    return TuringMachine(
        transitions=walk | BEAVER,  # type: ignore[arg-type]
        start=states[0],
        accept="halt",
        reject="never",
        name="busy_beaver_4",
    )


def ping_pong_word(cells: int) -> str:
    """A word on which `ping_pong` runs to and fro over `cells` cells."""
    if cells < 2:
        raise InputError(f"ping_pong_word({cells}): two marks need 2 cells or more")
    return "x" + "1" * (cells - 2) + "x"


def _plus_one(word: str) -> str:
    number = int(word[::-1] or "0", 2) + 1
    return format(number, f"0{len(word)}b")[::-1]


def _is_anbncn(word: str) -> bool:
    third = len(word) // 3
    return word == "a" * third + "b" * third + "c" * third


_SHELF = Shelf(
    "machine",
    (
        Entry(
            "sipser",
            "1s, as many as a power of two (the example of Sipser and of Chiang's notes)",
            lambda: stored("sipser"),
            ("1111",),
            reference=lambda word: len(word).bit_count() == 1,
            cases=(("1111", "accept"), ("11", "accept"), ("111", "reject"), ("", "reject")),
        ),
        Entry(
            "palindrome",
            "words over a and b that read the same backwards",
            lambda: stored("palindrome"),
            ("abba",),
            reference=lambda word: word == word[::-1],
            cases=(("abba", "accept"), ("abab", "reject"), ("aba", "accept"), ("", "accept")),
        ),
        Entry(
            "anbncn",
            "as many a as b as c, in this order",
            lambda: stored("anbncn"),
            ("aabbcc",),
            reference=_is_anbncn,
            cases=(("aabbcc", "accept"), ("aabbc", "reject"), ("abcabc", "reject"), ("", "accept")),
        ),
        Entry(
            "increment",
            "adds one to a binary number, least bit first",
            lambda: stored("increment"),
            ("111101",),
            reference=lambda word: True,
            cases=(("111101", "accept"), ("", "accept"), ("111", "accept")),
            leaves=_plus_one,
        ),
        Entry(
            "copy",
            "writes w#w for the word w",
            lambda: stored("copy"),
            ("abb",),
            reference=lambda word: True,
            cases=(("abb", "accept"), ("", "accept")),
            leaves=lambda word: f"{word}#{word}",
        ),
        Entry(
            "bump",
            "an even number of 1s, found out at the left end of the tape",
            lambda: stored("bump"),
            ("1111",),
            reference=lambda word: len(word) % 2 == 0,
            cases=(("1111", "accept"), ("111", "reject"), ("", "accept")),
            leaves=lambda word: "",
        ),
        Entry(
            "walk_right",
            "goes three cells to the right and accepts",
            lambda: walk_right(3, name="walk_right"),
            ("",),
            reference=lambda word: True,
            cases=(("", "accept"), ("1", "accept")),
            leaves=lambda word: word,
        ),
        Entry(
            "busy_beaver_4", "107 steps from an empty tape, and 13 ones", busy_beaver_4, ("",), cases=(("", "accept"),)
        ),
        Entry(
            "universal",
            "does what the machine in its word does; see kleene.programs.turing.universal for the code",
            universal,
            ("#*0Li;1R;:0RA;0Lii;:0RX;0Li;=l1",),
            cases=(("#*0Li;1R;:0RA;0Lii;:0RX;0Li;=l1", "accept"), ("#*0Li;1R;:0RA;0Lii;:0RX;0Li;=l11", "reject")),
        ),
        Entry(
            "ping_pong",
            "runs to and fro between two x for ever",
            lambda: stored("ping_pong"),
            ("x11x",),
            cases=(("x11x", "running"),),
        ),
    ),
)
entries, get = _SHELF.entries, _SHELF.get


def spelled(text: str) -> TuringMachine | None:
    """The machine in a .tm or .jff file; None for any other text."""
    return TuringMachine.load(text) if text.endswith((".tm", ENDING)) else None


def read(words: Sequence[str], subject: Any) -> str | list[str]:
    """The word that a person typed, over the input alphabet."""
    return typed_word(words, subject.input_alphabet)


def telling(outcome: Any) -> Telling:
    """The verdict and the tape that was left."""
    done = outcome.trace
    tape = done.tape if isinstance(done.tape, str) else list(done.tape)
    facts = {"output": done.verdict, "verdict": done.verdict, "steps": done.steps, "state": done.state}
    facts |= {"head": done.head, "tape": tape} | ({"ticks": done.ticks} if outcome.compiled else {})
    remark = f", {done.ticks} ticks of the network" if outcome.compiled else ""
    remark += "; it has not halted: give more with --max-steps" if done.verdict == "running" else ""
    left = (tape if isinstance(tape, str) else " ".join(tape)) or "(blank)"
    return Telling(
        facts,
        f"{done.verdict}  tape: {left}",
        f"took {done.steps} steps",
        remark,
        lines=done.window_lines,
        stored=lambda: {"configurations": [asdict(configuration) for configuration in done.configurations]},
    )


def sizes(network: Any) -> dict[str, Any]:
    """How large a compiled network is, and whether its weights are exact."""
    return {"exact": network.rnn.is_exact, "activation": network.rnn.activation} | asdict(network.size)
