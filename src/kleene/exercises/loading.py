"""The program in a student's file; an error says what the file has to define, and on which line it went wrong."""

import os
import traceback
from pathlib import Path
from typing import Any, NamedTuple

from kleene import kinds, naming
from kleene.errors import InputError, KleeneError, ProgramError
from kleene.exercises.exercise import Requirement
from kleene.exercises.marking import MARKINGS, Marking
from kleene.programs.automata import DFA


class Solution(NamedTuple):
    """A student's program, and the regular expression that the student gave in its place, if so."""

    program: Any
    regex: str | None


def solution_in(file: str, exercise: Requirement) -> Solution:
    """The program that the file holds, of the exercise's kind. A Python file is run."""
    marking = MARKINGS[exercise.kind]
    ending = Path(file).suffix
    if ending in marking.endings:
        found = naming.find(marking.endings[ending] + file).subject
    elif ending == ".py":
        found = _defined(file, exercise, marking)
    else:
        endings = " or ".join([".py", *marking.endings])
        raise InputError(f"{file!r} ends in {ending or 'nothing'!r}; the exercise takes a file that ends in {endings}")
    return Solution(_of_kind(found, file, exercise, marking), found if _is_regex(found, exercise) else None)


def _is_regex(found: Any, exercise: Requirement) -> bool:
    letters = all(len(symbol) == 1 for symbol in exercise.alphabet if exercise.has_words)
    return exercise.kind == "automaton" and isinstance(found, str) and letters


def _defined(file: str, exercise: Requirement, marking: Marking) -> Any:
    """What a Python file has under the name that is asked for, called where it is a function."""
    name = exercise.define or "program"
    try:
        module = naming.module_in(Path(file))
        found = getattr(module, name, None)
        if callable(found) and kinds.find(found) is None:
            found = found()
    except KleeneError as error:
        raise _with_line(error, file) from error
    except (Exception, SystemExit) as error:
        raise _with_line(
            InputError(f"calling {name}() in {file!r} raised {type(error).__name__}: {error}"), file, error
        ) from error
    if found is None:
        raise InputError(f"{file!r} does not define {name!r}; the exercise asks for {marking.asked}, called {name}")
    return found


def _with_line(error: KleeneError, file: str, cause: BaseException | None = None) -> InputError:
    """The error with the line of the student's file in which it came up, where its message has none."""
    first = cause or error.__cause__ or error
    if isinstance(first, MemoryError):
        return InputError(f"{file!r} needs more memory than grading allows{_place(first, file)}")
    told = str(error).rstrip(".")
    return InputError(told if isinstance(first, SyntaxError) or " line " in told else told + _place(first, file))


def _place(error: BaseException, file: str) -> str:
    frames = traceback.extract_tb(error.__traceback__)
    lines = [frame.lineno for frame in frames if os.path.abspath(frame.filename) == os.path.abspath(file)]
    return f" (line {lines[-1]} of {file})" if lines else ""


def _of_kind(found: Any, file: str, exercise: Requirement, marking: Marking) -> Any:
    """What was found as a program of the exercise's kind, or an error that names both kinds."""
    if _is_regex(found, exercise):
        try:
            return DFA.from_regex(found, "".join(exercise.alphabet))
        except ProgramError as error:
            raise InputError(f"{file!r}: {error}") from error
    kind = kinds.find(found)
    if kind is None or kind.name != exercise.kind:
        is_now = f"of the kind {kind.name!r}" if kind is not None else f"of type {type(found).__name__}"
        raise InputError(
            f"{exercise.define or 'the program'!r} in {file!r} is {is_now}, and the exercise asks for {marking.asked}"
        )
    given = {"vocab": exercise.alphabet, "max_length": exercise.longest, "causal": exercise.causal}
    program = kinds.taken(found, given if kind.adoption else {})[0]
    if not kind.is_program(program):
        raise InputError(f"{file!r} holds a network, and the exercise asks for {marking.asked}")
    return program
