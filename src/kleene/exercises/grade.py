"""What comes back from grading, and grading itself, in a process that has limits on its time and memory.

Grading runs the student's own Python. The process keeps a mistake from taking the machine down: it ends after a time,
and holds no more than a few GiB. It does not keep a file from doing what Python can do.
"""

import json
import os
import select
import signal
import subprocess
import sys
import tempfile
import threading
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import IO, Any

from kleene.errors import InputError
from kleene.exercises.exercise import Exercise
from kleene.exercises.finding import exercise_of, find
from kleene.traces.markup import html_text

GRACE = 5.0  # seconds that the process has to stop by itself
DRAINING = 1.0  # seconds to wait for the end of what it printed, which a process that left its session may hold open
LOADING = 120.0  # seconds in which it has to load Kleene; only then the time of the file begins
KEPT = 4_000  # characters of what the student's file prints


@dataclass(frozen=True)
class WrongRun:
    """An input on which a solution is wrong: the right answer, the solution's, and its run step by step."""

    input: str
    expected: str
    got: str
    steps: tuple[str, ...]
    again: str = ""  # the command that shows the run as a page

    def __str__(self) -> str:
        told = [f"the smallest input found on which it is wrong: {self.input}"]
        told += [f"  expected  {self.expected}", f"  got       {self.got}"]
        told += ["", "your program on it, step by step:", *(f"  {line}".rstrip() for line in self.steps)]
        told += ["", f"as a page: {self.again}"] if self.again else []
        return "\n".join(told)


@dataclass(frozen=True)
class Grade:
    """Whether a solution passed, what it was tried on, and its figures, or why it did not pass."""

    exercise: str
    file: str
    passed: bool
    inputs: int
    tried: str
    wrong: int | None = 0  # on how many inputs; None if a run ended with an error, after which no other was tried
    counterexample: WrongRun | None = None
    problem: str | None = None
    figures: dict[str, int] = field(default_factory=dict)
    ours: dict[str, int] = field(default_factory=dict)  # figures of the exercise's own solution
    seconds: float = 0.0
    printed: str = ""  # what the student's file printed

    def __bool__(self) -> bool:
        return self.passed

    def __str__(self) -> str:
        if self.passed:
            right = f"right on {self.tried}; the compiled network does the same, step by step"
            ours = f"\nours has {_told(self.ours)}" if self.ours else ""
            return f"{self.exercise}: passed\n{right}\n{_told(self.figures)}{ours}"
        if self.problem is not None:
            return f"{self.exercise}: not yet\n{self.problem}"
        counted = f"wrong on {self.wrong:,} of {self.inputs:,} inputs" if self.wrong else "its run ends with an error"
        return f"{self.exercise}: not yet, {counted}\n{self.counterexample}"

    def _repr_html_(self) -> str:
        return html_text(str(self))

    def as_json(self) -> dict[str, Any]:
        """The grade as plain data."""
        return asdict(self)

    @classmethod
    def from_json(cls, content: dict[str, Any]) -> "Grade":
        """The grade that `as_json` gave."""
        found = content["counterexample"]
        shown: Any = None if found is None else WrongRun(**(found | {"steps": tuple(found["steps"])}))
        return cls(**(content | {"counterexample": shown}))


def _told(figures: Mapping[str, int]) -> str:
    return ", ".join(f"{name.replace('_', ' ')} {value:,}" for name, value in figures.items())


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
    given = os.fspath(file)
    if not os.path.isfile(given):
        raise InputError(f"there is no file {given!r}; `kleene exercise start NAME` writes one to begin with")
    meant = exercise_of(given) if exercise is None else find(exercise)
    limit = float(meant.seconds if seconds is None else seconds)
    with tempfile.TemporaryDirectory(prefix="kleene-exercise-") as folder:
        result = Path(folder, "grade.json")
        asked = {"file": given, "folder": str(meant.folder), "name": meant.name, "result": str(result)}
        asked |= {"seconds": limit, "memory": int(memory_gib * 2**30), "width": width}
        ended, printed = _in_a_process(asked, limit + grace)
        content = _read(result)
    if "error" in content:
        raise InputError(content["error"])
    if not content:
        raise InputError(_why(given, meant, ended, limit, printed))
    return Grade.from_json(content | {"printed": printed})


def _in_a_process(asked: dict[str, Any], limit: float) -> tuple[int | None, str]:
    """The exit status of the process that grades, None if it had to be killed, and the beginning of what it printed."""
    ready, loaded = os.pipe()
    command = [sys.executable, "-P", "-m", "kleene.exercises.worker", json.dumps(asked | {"ready": loaded})]
    pipes: dict[str, Any] = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.STDOUT}
    pipes |= {"bufsize": 0}  # so that closing the pipe waits for nobody who still holds its other end
    pipes |= {"pass_fds": (loaded,), "start_new_session": True}
    own = os.environ | {"JAX_PLATFORMS": "cpu"}  # a small network, for which a GPU takes longer to start than to run
    with subprocess.Popen(command, **pipes, env=own) as process:
        os.close(loaded)
        assert process.stdout is not None
        kept: list[bytes] = []
        reader = threading.Thread(target=_drain, args=(process.stdout, kept), daemon=True)
        reader.start()
        try:
            select.select([ready], [], [], LOADING)
            status = process.wait(limit)
        except subprocess.TimeoutExpired:
            status = None
        finally:
            os.close(ready)
            with suppress(ProcessLookupError, PermissionError):  # whatever the file has started ends with it
                os.killpg(process.pid, signal.SIGKILL)
        reader.join(DRAINING)
    return status, b"".join(kept).decode("utf-8", "replace")[:KEPT]


def _drain(stream: IO[bytes], kept: list[bytes]) -> None:
    """Read to the end, so that the process never waits, and keep the beginning."""
    held = 0
    with suppress(OSError, ValueError):
        while part := stream.read(1 << 16):
            if held <= 4 * KEPT:
                kept.append(part)
                held += len(part)


def _read(result: Path) -> dict[str, Any]:
    try:
        return json.loads(result.read_text("utf-8"))
    except (OSError, ValueError):
        return {}


def _why(file: str, exercise: Exercise, status: int | None, limit: float, printed: str) -> str:
    """Why there is no grade: the process was killed, or ended before it could write one."""
    if status is None:
        return f"{file!r} did not end within {limit:g} seconds; look for a loop that never ends"
    last = printed.strip().splitlines()[-1:] or [""]
    how = f"was ended by {signal.Signals(-status).name}" if status < 0 else f"left with status {status}"
    return f"{file!r} cannot be graded: the process that ran it {how}{': ' if last[0] else ''}{last[0]}"
