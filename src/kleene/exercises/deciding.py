"""Decide on a solution: right as a program and as a network on all inputs; or the smallest counterexample.

The process that runs the solution is asked for answers. Whatever the file has changed there, the answers are compared
here, with those of the exercise. That process may send anything, so that every text is made printable and bounded, and
the shape of everything is checked.
"""

import shlex
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple, NoReturn

from kleene.confining.process import NO_ANSWER
from kleene.errors import InputError
from kleene.exercises.cases import Cases, answers_from, shrunk
from kleene.exercises.exercise import Exercise
from kleene.exercises.grade import Grade, WrongRun
from kleene.exercises.marking import MARKINGS, Marking, shown
from kleene.limits import printable
from kleene.traces.channels import nested_tuple
from kleene.traces.values import exact, is_answer

LONGEST, MOST_LINES, MOST_FIGURES, LARGEST = 4_000, 100, 20, 10**15  # of a text, of lines, of figures, and of one
Ask = Callable[..., Any]  # (what, *given, doing=…) -> the answer of a process, as `Confined.ask`


def asked_here(service: Any) -> Ask:
    """The methods of an object in this process, asked as those of another are."""
    return lambda what, *given, doing: getattr(service, what)(*given)


class Ran(NamedTuple):
    """How the run on one input ended: with an answer, or with an error."""

    answer: Any
    error: str | None


@dataclass(frozen=True)
class Decision:
    """A student's file and what decides on it: the process of the `solution` is asked, and that of the `reference`."""

    file: str
    exercise: Exercise
    cases: Cases
    reference: Ask
    solution: Ask
    width: int = 100

    @property
    def marking(self) -> Marking:
        return MARKINGS[self.exercise.kind]

    def grade(self) -> Grade:
        started, cases = time.perf_counter(), self.cases
        outcome = self._outcome()
        seconds = round(time.perf_counter() - started, 2)
        passed = "figures" in outcome
        return Grade(self.exercise.name, self.file, passed, len(cases.all), str(cases), seconds=seconds, **outcome)

    def _outcome(self) -> dict[str, Any]:
        """The fields of the grade that say how it came out."""
        regex, tried = self.solution("read", doing="your file was read"), self.cases.all
        runs = self._runs(self.solution("run", tried, doing="your program ran"), tried)
        wrong = self._wrong(runs, self.cases.expected)
        if wrong:
            count = len(wrong) if len(runs) == len(tried) else None
            return {"wrong": count, "counterexample": self._shown(regex, tried[wrong[0]])}
        sent = self.solution("run_network", doing="your program was compiled, and its network ran")
        if not isinstance(sent, dict):
            self._refuse()
        problem = self._problem(sent)
        if problem is not None:
            return {"problem": f"the program is right, and {problem}"}
        return {"figures": self._figures(sent.get("figures")), "ours": dict(self.exercise.ours)}

    def _problem(self, sent: dict[str, Any]) -> str | None:
        """What is wrong with the network: what its process says, or else its answers."""
        if sent.get("problem") is not None:
            return self._text(sent["problem"])
        tried, expected = self.cases.all, self.cases.expected
        runs = self._runs(sent.get("answers"), tried)
        wrong = self._wrong(runs, expected)
        if not wrong:
            return None
        at = wrong[0]
        return f"its network gives {self._got(runs[at], expected[at])} for {shown(tried[at])}"

    def _runs(self, sent: Any, inputs: Sequence[Any]) -> list[Ran]:
        """The runs as they were sent: one for each input, or fewer, of which the last ended with an error."""
        found = [self._ran(one) for one in sent] if isinstance(sent, list) else []
        if len(found) != len(inputs) and (not found or len(found) > len(inputs) or found[-1].error is None):
            self._refuse()
        return found

    def _ran(self, sent: Any) -> Ran:
        if isinstance(sent, dict) and sent.keys() == {"error"}:
            return Ran(None, self._text(sent["error"]))
        try:
            answer = nested_tuple(exact(sent["answer"]))
        except (TypeError, LookupError, InputError):
            self._refuse()
        if not self.marking.fits(answer):
            self._refuse()
        return Ran(answer, None)

    def _wrong(self, runs: Sequence[Ran], expected: Sequence[Any]) -> list[int]:
        """On which inputs the runs are wrong."""
        return [at for at, (run, right) in enumerate(zip(runs, expected)) if not self._is_right(run, right)]

    def _is_right(self, run: Ran, right: Any) -> bool:
        return run.error is None and is_answer(self.marking.counted(run.answer, right), right)

    def _got(self, run: Ran, right: Any) -> str:
        if run.error is not None:
            return f"an error: {run.error}"
        return self._text(self.marking.told(self.marking.counted(run.answer, right)))

    def _tried(self, inputs: Sequence[Any]) -> tuple[Sequence[Ran], Sequence[Any]]:
        """How the program ran on other inputs, and the right answers."""
        runs = self._runs(self.solution("run", inputs, doing="your program ran"), inputs)
        known = dict(zip(self.cases.all, self.cases.expected))
        if all(entered in known for entered in inputs):
            return runs, [known[entered] for entered in inputs]
        found = self.reference("answers", inputs, doing="the right answers were computed")
        return runs, answers_from(found, len(inputs), self.exercise)

    def _first_wrong(self, inputs: Sequence[Any]) -> int | None:
        return next(iter(self._wrong(*self._tried(inputs))), None)

    def _shown(self, regex: Any, entered: Any) -> WrongRun:
        smallest = shrunk(self.cases, entered, self._first_wrong)
        (run,), (right,) = self._tried([smallest])
        lines = self.solution("steps", smallest, self.width, doing="your program was shown")
        if not isinstance(lines, list):
            self._refuse()
        told = self._text(self.marking.told(right))
        again = "" if run.error is not None else self._command(regex, smallest)
        steps = tuple(map(self._text, lines[:MOST_LINES]))
        return WrongRun(self._text(shown(smallest)), told, self._got(run, right), steps, again)

    def _command(self, regex: Any, entered: Any) -> str:
        """The command that shows the same run as a page; none where a regular expression lacks a letter of the word."""
        exercise, ending = self.exercise, Path(self.file).suffix
        if regex is not None:
            if not {*entered} <= {*self._text(regex)}:
                return ""
            name = f"dfa:{regex}"
        elif ending in self.marking.endings:
            name = self.marking.endings[ending] + self.file
        else:
            name = f"{self.file}:{exercise.define or 'program'}"
        words = [entered] if isinstance(entered, str) else [" ".join(map(str, entered))]
        own = []
        if exercise.kind == "RASP program":
            own = ["--vocab", ",".join(map(str, exercise.alphabet)), "--max-length", str(exercise.longest)]
            own += ["--causal"] if exercise.causal else []
        return printable(shlex.join(["kleene", "watch", name, *words, *own]))

    def _figures(self, sent: Any) -> dict[str, int]:
        if not isinstance(sent, dict) or len(sent) > MOST_FIGURES:
            self._refuse()
        if not all(name.isidentifier() and type(size) is int and 0 <= size < LARGEST for name, size in sent.items()):
            self._refuse()
        return {self._text(name): size for name, size in sent.items()}

    def _text(self, sent: Any) -> str:
        if not isinstance(sent, str):
            self._refuse()
        return printable(sent, LONGEST)

    def _refuse(self) -> NoReturn:
        raise InputError(f"{self.file!r} cannot be graded: {NO_ANSWER}")
