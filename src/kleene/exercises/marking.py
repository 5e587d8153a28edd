"""How each kind of program is marked: what a file has to define, what counts as its answer, which figures it gets."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any


def shown(entered: Iterable) -> str:
    """An input or an answer as a person types it.

    >>> shown("aba"), shown((1, 0)), shown("")
    ('aba', '1 0', '(the empty word)')
    """
    told = entered if isinstance(entered, str) else " ".join(map(str, entered))
    return told or "(the empty word)"


@dataclass(frozen=True)
class Marking:
    """What grading needs to know of a kind of program. The defaults are those of programs that map lists to lists.

    An answer is what the process that runs a solution sends: plain data, as JSON holds it, with tuples for lists.
    """

    asked: str  # what the student's file has to define
    endings: Mapping[str, str] = field(default_factory=dict)  # of files that are programs, with the prefix of a name
    limits: Mapping[str, Any] = field(default_factory=dict)  # options that end every run
    expected: Callable[[Any], Any] = lambda answer: list(answer)  # what a reference returned -> the right answer
    answer: Callable[[Any], Any] = lambda trace: list(trace.output)
    fits: Callable[[Any], bool] = lambda answer: isinstance(answer, tuple)
    counted: Callable[[Any, Any], Any] = lambda answer, expected: answer  # the part of an answer that counts
    told: Callable[[Any], str] = shown  # an answer, for a person
    figures: Callable[[Any, Sequence[Any]], dict[str, int]] = lambda program, traces: {}


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


def _is_verdict(answer: Any) -> bool:
    """Whether this is a verdict with a tape, or with none."""
    is_pair = isinstance(answer, tuple) and len(answer) == 2 and isinstance(answer[0], str)
    return is_pair and (answer[1] is None or isinstance(answer[1], (str, tuple)))


def _told_verdict(answer: tuple[str, Any]) -> str:
    verdict, tape = answer
    verdict = f"still running after {MOST_STEPS:,} steps" if verdict == "running" else verdict
    left = tape if tape is None or isinstance(tape, str) else " ".join(map(str, tape))
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
        answer=lambda trace: bool(trace.output),
        fits=lambda answer: isinstance(answer, bool),
        told=lambda accepted: "accept" if accepted else "reject",
        figures=_states,
    ),
    "Turing machine": Marking(
        "a kleene.TuringMachine",
        {".tm": "tm:", ".jff": "tm:"},
        limits={"max_steps": MOST_STEPS},
        expected=_verdict,
        answer=lambda trace: (trace.verdict, trace.tape),
        fits=_is_verdict,
        counted=lambda answer, expected: answer if expected[1] is not None else (answer[0], None),
        told=_told_verdict,
        figures=_machine,
    ),
    "circuit": Marking("a Circuit, such as Circuit.from_text(…) returns", {".nram": "circuit:"}, figures=_circuit),
}
