"""Grade a solution: right as a program on all inputs, and its network equal to it; or the smallest counterexample."""

import shlex
import time
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from kleene import kinds
from kleene.compiling import compile
from kleene.compiling.checking import Ended, difference
from kleene.errors import CompileError, InputError, ProgramError, RunError
from kleene.exercises.cases import Cases, cases_of, shown, shrunk
from kleene.exercises.exercise import Exercise
from kleene.exercises.grade import Grade, WrongRun
from kleene.exercises.loading import Solution, solution_in
from kleene.exercises.marking import MARKINGS, Marking, same
from kleene.exercises.stepping import step_lines
from kleene.kinds import Kind

FIGURES = ("heads", "hidden_units", "residual_dims", "registers", "modules", "parameters")
Run = Ended | InputError  # how the run on one input ended


def graded(
    file: str, exercise: Exercise, *, width: int = 100, on_phase: Callable[[str], None] = lambda phase: None
) -> Grade:
    """The grade of the program in a file, which is run in this process. `on_phase` is told what is done next."""
    started = time.perf_counter()
    on_phase("the reference file of the exercise was read")
    cases = cases_of(exercise)
    on_phase("your file was read")
    solution = solution_in(file, exercise)
    program = solution.program
    kind, marking = kinds.of(program), MARKINGS[exercise.kind]
    on_phase("the right answers were computed")
    tried = cases.all
    expected = [_expected(cases, marking, entered) for entered in tried]
    on_phase("your program ran")
    runs = _runs(program, marking, tried)
    wrong = [at for at, run in enumerate(runs) if not _is_right(run, expected[at], marking)]
    found = partial(_grade, file, exercise, cases, started)
    if wrong:
        fails = lambda one: not _is_right(*_one(program, marking, cases, one), marking)  # noqa: E731
        smallest = shrunk(cases, tried[wrong[0]], fails)
        shown_run = _shown_run(solution, kind, marking, cases, smallest, width)
        return found(wrong=len(wrong) if len(runs) == len(tried) else None, counterexample=shown_run)
    on_phase("your program was compiled, and its network ran")
    try:
        network = compile(program)
        by_network = _runs(network, marking, tried)
    except (CompileError, ProgramError) as error:
        return found(problem=f"the program is right, and cannot be compiled: {error}")
    apart = next((at for at, run in enumerate(by_network) if _apart(runs[at], run)), None)
    if apart is not None:
        why = _apart(runs[apart], by_network[apart])
        return found(problem=f"the program is right, and its network differs on {shown(tried[apart])}: {why}")
    sizes = {key: value for key, value in kind.sizes(network).items() if key in FIGURES}
    return found(figures=marking.figures(program, runs) | sizes, ours=dict(exercise.ours))


def _grade(file: str, exercise: Exercise, cases: Cases, started: float, **outcome: Any) -> Grade:
    passed = not (outcome.get("counterexample") or outcome.get("problem"))
    seconds = round(time.perf_counter() - started, 2)
    return Grade(exercise.name, file, passed, len(cases.all), str(cases), seconds=seconds, **outcome)


def _expected(cases: Cases, marking: Marking, entered: Any) -> Any:
    answer = cases.answer(entered)
    try:
        return marking.expected(answer)
    except TypeError:
        raise InputError(
            f"the exercise {cases.exercise.name!r} is wrong, not your solution: its reference function returned "
            f"{answer!r} on {shown(entered)}, which is no answer of a {cases.exercise.kind}"
        ) from None


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


def _one(program: Any, marking: Marking, cases: Cases, entered: Any) -> tuple[Run, Any]:
    return _runs(program, marking, [entered])[0], _expected(cases, marking, entered)


def _is_right(run: Run, expected: Any, marking: Marking) -> bool:
    return not isinstance(run, (RunError, InputError)) and same(marking.answer(run, expected), expected)


def _apart(mine: Run, theirs: Run) -> str | None:
    if isinstance(mine, InputError) or isinstance(theirs, InputError):
        return str(theirs)
    return difference(mine, theirs)


def _shown_run(solution: Solution, kind: Kind, marking: Marking, cases: Cases, entered: Any, width: int) -> WrongRun:
    run, expected = _one(solution.program, marking, cases, entered)
    stopped = isinstance(run, (RunError, InputError))
    got = f"an error: {run}" if stopped else marking.told(marking.answer(run, expected))
    lines = tuple(step_lines(solution.program, kind, marking, entered, width))
    again = "" if stopped else _command(cases.exercise, solution, entered)
    return WrongRun(shown(entered), marking.told(expected), got, lines, again)


def _command(exercise: Exercise, solution: Solution, entered: Any) -> str:
    """The command that shows the same run as a page; none where a regular expression lacks a letter of the word."""
    if solution.name.startswith("dfa:") and not {*entered} <= {*solution.name[4:]}:
        return ""
    words = [entered] if isinstance(entered, str) else [" ".join(map(str, entered))]
    own = []
    if exercise.kind == "RASP program":
        own = ["--vocab", ",".join(map(str, exercise.alphabet)), "--max-length", str(exercise.longest)]
        own += ["--causal"] if exercise.causal else []
    return shlex.join(["kleene", "watch", solution.name, *words, *own])
