"""A student's solution in the process that runs it.

It is given inputs alone. Whether its answers are right is decided elsewhere.
"""

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any

from kleene import kinds
from kleene.compiling import compile
from kleene.compiling.checking import Ended, difference
from kleene.errors import CompileError, InputError, ProgramError, RunError
from kleene.exercises.exercise import Requirement
from kleene.exercises.loading import Solution, solution_in
from kleene.exercises.marking import MARKINGS, Marking, shown
from kleene.exercises.stepping import step_lines
from kleene.traces.values import exact

FIGURES = ("heads", "hidden_units", "residual_dims", "registers", "modules", "parameters")
Run = Ended | InputError  # how the run on one input ended


class Solver:
    """The program in a student's file, and its network. What the methods return is plain data."""

    def __init__(self, file: str, exercise: Requirement):
        self.file, self.exercise, self.marking = file, exercise, MARKINGS[exercise.kind]
        self._inputs: Sequence[Any] = ()
        self._runs: Sequence[Run] = ()

    @classmethod
    def of(cls, file: str, required: Mapping[str, Any]) -> "Solver":
        return cls(file, Requirement(**{**required, "alphabet": tuple(required["alphabet"])}))

    @cached_property
    def _solution(self) -> Solution:
        return solution_in(self.file, self.exercise)

    def read(self) -> str | None:
        """Run the file; the regular expression that stands for the program, if one does."""
        return self._solution.regex

    def run(self, inputs: Sequence[Any]) -> list[dict[str, Any]]:
        """The answers of the program, or the error with which a run ended, after which no other is tried."""
        self._inputs, self._runs = inputs, _runs(self._solution.program, self.marking, inputs)
        return self._answers(self._runs)

    def steps(self, entered: Any, width: int) -> list[str]:
        """The run on an input, step by step, in lines of about that width."""
        program = self._solution.program
        return step_lines(program, kinds.of(program), self.marking, entered, width)

    def run_network(self) -> dict[str, Any]:
        """The network's answers to the inputs on which the program ran last, figures of both, and where they differ.

        Of a program that cannot be compiled, why not.
        """
        program = self._solution.program
        kind = kinds.of(program)
        try:
            network = compile(program)
            by_network = _runs(network, self.marking, self._inputs)
        except (CompileError, ProgramError) as error:
            return {"problem": f"cannot be compiled: {error}"}
        apart = (_apart(mine, theirs) for mine, theirs in zip(self._runs, by_network))
        problems = (f"its network differs on {shown(one)}: {why}" for one, why in zip(self._inputs, apart) if why)
        sizes = {key: value for key, value in kind.sizes(network).items() if key in FIGURES}
        figures = self.marking.figures(program, self._runs) | sizes
        return {"problem": next(problems, None), "answers": self._answers(by_network), "figures": figures}

    def _answers(self, runs: Sequence[Run]) -> list[dict[str, Any]]:
        return [self._answer(run) for run in runs]

    def _answer(self, run: Run) -> dict[str, Any]:
        try:
            return {"error": str(run)} if isinstance(run, Exception) else {"answer": exact(self.marking.answer(run))}
        except InputError as error:
            return {"error": str(error)}


def _runs(runner: Any, marking: Marking, inputs: Sequence[Any]) -> list[Run]:
    """How the run on each input ended: all at once, or if that fails one by one up to the first error.

    Runs that do not halt take long, so those after the first are not tried.
    """
    given = [list(entered) if isinstance(entered, tuple) else entered for entered in inputs]
    try:
        return list(runner.run_batch(given, **marking.limits))
    except (RunError, InputError):
        found: list[Run] = []
        for entered in given:
            try:
                found += runner.run_batch([entered], **marking.limits)
            except (RunError, InputError) as error:
                return [*found, error]
        return found


def _apart(mine: Run, theirs: Run) -> str | None:
    if isinstance(mine, InputError) or isinstance(theirs, InputError):
        return str(theirs)
    return difference(mine, theirs)
