"""The process that grades one file, within limits: `python -m kleene.exercises.worker REQUEST`.

A file that never ends is stopped by an alarm, whose handler sees the line that the file is at. It writes the result and
leaves at once, so that no `except` of the file can catch it. Only code that does not come back to Python is left to the
process that started this one.
"""

import json
import os
import resource
import signal
import sys
import traceback
from contextlib import suppress
from pathlib import Path
from types import FrameType
from typing import Any

from kleene.errors import KleeneError
from kleene.exercises.exercise import Exercise

_phase = "the exercise was read"


def main(words: list[str]) -> None:
    """Grade the file that the request names, and write the grade, or the error, to the file for the result."""
    asked = json.loads(words[0])
    _limit_memory(asked["memory"])
    try:
        from kleene.exercises.grading import graded  # takes time, with the memory limited already

        os.close(asked["ready"])  # now the time begins, here and in the process that waits
        signal.signal(signal.SIGALRM, lambda number, frame: _too_long(asked, frame))
        signal.setitimer(signal.ITIMER_REAL, asked["seconds"])
        exercise = Exercise.load(Path(asked["folder"]), asked["name"])
        found = graded(asked["file"], exercise, width=asked["width"], on_phase=_enter).as_json()
    except KleeneError as error:
        found = {"error": str(error)}
    except MemoryError:
        found = {"error": f"{asked['file']!r} needs more memory than grading allows, while {_phase}"}
    except Exception as error:
        found = {"error": _told(error, asked["file"])}
    signal.setitimer(signal.ITIMER_REAL, 0)
    _leave(asked, found)


def _enter(phase: str) -> None:
    global _phase
    _phase = phase


def _limit_memory(most: int) -> None:
    """Let this process hold at most so many bytes of data; a system that has no such limit goes without."""
    try:
        hard = resource.getrlimit(resource.RLIMIT_DATA)[1]
        resource.setrlimit(resource.RLIMIT_DATA, (most if hard == resource.RLIM_INFINITY else min(most, hard), hard))
    except (OSError, ValueError):
        pass


def _too_long(asked: dict[str, Any], frame: FrameType | None) -> None:
    while frame is not None and not _is_in(frame.f_code.co_filename, asked["file"]):
        frame = frame.f_back
    where = "" if frame is None else f", at line {frame.f_lineno} of it"
    told = f"{asked['file']!r} did not end within {asked['seconds']:g} seconds: time was up while {_phase}{where}"
    _leave(asked, {"error": told})


def _told(error: Exception, file: str) -> str:
    """An error that is no error of Kleene's: one of the student's functions, or a bug of ours."""
    lines = [frame.lineno for frame in traceback.extract_tb(error.__traceback__) if _is_in(frame.filename, file)]
    what = f"{type(error).__name__}: {error}"
    if lines:
        return f"{file!r} raised {what} (line {lines[-1]} of it), while {_phase}"
    return f"an error of Kleene's own while {_phase}, please report it ({what})"


def _is_in(filename: str, file: str) -> bool:
    return os.path.abspath(filename) == os.path.abspath(file)


def _leave(asked: dict[str, Any], found: dict[str, Any]) -> None:
    """Write the result and end at once, whatever the file has left running."""
    content = json.dumps(found)
    with suppress(Exception):  # the file may have closed or replaced them
        sys.stdout.flush()
        sys.stderr.flush()
    with open(asked["result"], "w", encoding="utf-8") as file:
        file.write(content)
    os._exit(0)


if __name__ == "__main__":
    main(sys.argv[1:])
