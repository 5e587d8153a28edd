"""Grading in the process of the test, where a test may change a part of it; and a look at what is left of others."""

import time
from pathlib import Path

import pytest

from kleene.exercises import Exercise, Grade
from kleene.exercises.cases import Cases, Reference, cases_from
from kleene.exercises.deciding import Decision, asked_here
from kleene.exercises.solving import Solver


def cases_of(exercise: Exercise) -> Cases:
    return cases_from(Reference(exercise).cases(), exercise)


def graded(file: str, exercise: Exercise) -> Grade:
    reference, solution = asked_here(Reference(exercise)), asked_here(Solver(file, exercise))
    return Decision(file, exercise, cases_of(exercise), reference, solution).grade()


IN_PROC = pytest.mark.skipif(not Path("/proc/self/cmdline").exists(), reason="processes are looked for in /proc")


def is_left(marker: str) -> bool:
    """Whether a process with this text in its command is there, and stays."""
    deadline = time.monotonic() + 10
    while (left := is_there(marker)) and time.monotonic() < deadline:
        time.sleep(0.02)
    return left


def is_there(marker: str) -> bool:
    """Whether a process with this text in its command is there now."""
    for file in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            if marker.encode() in file.read_bytes():
                return True
        except OSError:  # it has ended
            continue
    return False
