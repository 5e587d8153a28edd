"""Grade files: each is run in a process of its own, and so is the reference file of its exercise."""

import os
from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from dataclasses import replace
from functools import cache
from typing import Any

from kleene.confining.process import GRACE, Confined
from kleene.errors import InputError
from kleene.exercises.cases import Cases, Reference, cases_from
from kleene.exercises.deciding import Ask, Decision, asked_here
from kleene.exercises.finding import SHELF, exercise_of, find
from kleene.exercises.grade import Grade

Known = dict[str, Cases]  # of the exercises whose reference file was run already, by their folders


def grade(
    file: str | os.PathLike,
    exercise: str | os.PathLike | None = None,
    *,
    seconds: float | None = None,
    memory_gib: float = 4.0,
    grace: float = GRACE,
    width: int = 100,
) -> Grade:
    """The grade of a student's file: for the exercise that it names, or for the one that is given.

    The file is run as Python, in a process that ends after `seconds`, is killed `grace` seconds later, and holds at
    most `memory_gib`. A file that cannot be graded is an InputError.
    """
    limits = {"memory_gib": memory_gib, "grace": grace}
    return _graded(os.fspath(file), exercise, {}, seconds=seconds, width=width, limits=limits)


def grade_each(
    files: Iterable[str | os.PathLike], exercise: str | os.PathLike | None = None, *, seconds: float | None = None
) -> Iterator[Grade | Exception]:
    """The grade of each file, or the error because of which it has none."""
    known: Known = {}
    for file in files:
        try:
            yield _graded(os.fspath(file), exercise, known, seconds=seconds)
        except Exception as error:
            yield error


def _graded(
    file: str,
    exercise: str | os.PathLike | None,
    known: Known,
    *,
    seconds: float | None,
    width: int = 100,
    limits: dict[str, Any] | None = None,
) -> Grade:
    if not os.path.isfile(file):
        raise InputError(f"there is no file {file!r}; `kleene exercise start NAME` writes one to begin with")
    meant = exercise_of(file) if exercise is None else find(exercise)
    limits = {"seconds": float(meant.seconds if seconds is None else seconds)} | (limits or {})
    with ExitStack() as stack:

        @cache
        def reference() -> Ask:
            """A reference file of the shelf is run in this process; one of somebody's own, whoever that is, is not."""
            if meant.folder.parent == SHELF:
                return asked_here(Reference(meant))
            given = {"folder": folder, "name": meant.name}
            made = Confined("kleene.exercises.cases:Reference.of", given, str(meant.reference), **limits)
            return stack.enter_context(made).ask

        folder, given = os.path.abspath(meant.folder), {"file": os.path.abspath(file), "required": meant.required}
        solution = stack.enter_context(Confined("kleene.exercises.solving:Solver.of", given, file, **limits))
        if folder not in known:
            known[folder] = cases_from(reference()("cases", doing="the right answers were computed"), meant)
        ask = lambda *asked, doing: reference()(*asked, doing=doing)  # noqa: E731
        found = Decision(file, meant, known[folder], ask, solution.ask, width).grade()
    return replace(found, printed=solution.printed)
