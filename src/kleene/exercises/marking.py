"""How each kind of program is marked: what a file has to define, what counts as its answer, which figures it gets."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from kleene.exercises.cases import shown


@dataclass(frozen=True)
class Marking:
    """What grading needs to know of a kind of program. The defaults are those of programs that map lists to lists."""

    asked: str  # what the student's file has to define
    endings: Mapping[str, str] = field(default_factory=dict)  # of files that are programs, with the prefix of a name
    limits: Mapping[str, Any] = field(default_factory=dict)  # options that end every run
    expected: Callable[[Any], Any] = lambda answer: list(answer)  # what a reference returned -> the right answer
    answer: Callable[[Any, Any], Any] = lambda trace, expected: list(trace.output)
    told: Callable[[Any], str] = shown  # an answer, for a person
    figures: Callable[[Any, Sequence[Any]], dict[str, int]] = lambda program, traces: {}


def same(one: Any, other: Any) -> bool:
    """Whether two answers are equal, floats up to rounding; as in Python, True is 1.

    >>> same([0.1 + 0.2, "a"], [0.3, "a"]), same([1, 2], [1])
    (True, False)
    """
    if isinstance(one, (list, tuple)) and isinstance(other, (list, tuple)):
        return len(one) == len(other) and all(map(same, one, other))
    if isinstance(one, (int, float)) and isinstance(other, (int, float)):
        return math.isclose(one, other, rel_tol=1e-9, abs_tol=1e-12)
    return one == other


def _most_steps(traces: Sequence[Any]) -> int:
    return max((trace.steps for trace in traces), default=0)


def _layers(program: Any, traces: Sequence[Any]) -> dict[str, int]:
    return {"layers": _most_steps(traces)}


def _states(program: Any, traces: Sequence[Any]) -> dict[str, int]:
    return {"states": len(program.states)}


def _machine(program: Any, traces: Sequence[Any]) -> dict[str, int]:
    working = len(program.states) - 2  # accept and reject are not counted
    return {"working_states": working, "tape_symbols": len(program.tape_alphabet), "most_steps": _most_steps(traces)}


def _circuit(program: Any, traces: Sequence[Any]) -> dict[str, int]:
    return {"blocks": len(program.blocks), "most_steps": _most_steps(traces)}


def _verdict(accepted: Any) -> tuple[str, Any]:
    """The verdict, and the tape that has to be left where the reference gives one."""
    if isinstance(accepted, (str, list, tuple)):
        return "accept", accepted if isinstance(accepted, str) else tuple(accepted)
    return ("accept" if accepted else "reject"), None


def _told_verdict(answer: tuple[str, Any]) -> str:
    verdict, tape = answer
    verdict = f"still running after {MOST_STEPS:,} steps" if verdict == "running" else verdict
    left = tape if tape is None or isinstance(tape, str) else " ".join(tape)
    return verdict if left is None else f"{verdict}, with the tape {left or '(blank)'}"


MOST_STEPS = 5_000  # of a Turing machine on one word
AUTOMATA_FILES = {".json": "dfa:", ".dot": "dfa:", ".gv": "dfa:", ".jff": "dfa:"}
MARKINGS = {
    "RASP program": Marking(
        "an s-op of RASP, such as rasp.Aggregate(…), or a function that returns one", figures=_layers
    ),
    "transformer program": Marking("a transformer program, such as alta.program_spec(…) returns", figures=_layers),
    "automaton": Marking(
        "a regular expression as a string, a kleene.DFA or a kleene.NFA",
        AUTOMATA_FILES,
        expected=bool,
        answer=lambda trace, expected: bool(trace.output),
        told=lambda accepted: "accept" if accepted else "reject",
        figures=_states,
    ),
    "Turing machine": Marking(
        "a kleene.TuringMachine",
        {".tm": "tm:", ".jff": "tm:"},
        limits={"max_steps": MOST_STEPS},
        expected=_verdict,
        answer=lambda trace, expected: (trace.verdict, trace.tape if expected[1] is not None else None),
        told=_told_verdict,
        figures=_machine,
    ),
    "circuit": Marking("a Circuit, such as Circuit.from_text(…) returns", {".nram": "circuit:"}, figures=_circuit),
}
