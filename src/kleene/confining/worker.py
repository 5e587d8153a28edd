"""The process behind a `Confined`: `python -m kleene.confining.worker REQUEST`.

It splits before it loads anything. The first process keeps watch: once the second ends, or once it is told to, it ends
all that the second has started. Where the system can number processes anew, a third one between them has the number 1,
and all others end with it.

What takes too long is stopped by an alarm, whose handler sees the line that the file is at. It sends the error and
leaves at once, so that no `except` of the file can catch it. Only code that does not come back to Python is left to the
process that waits for the answer.
"""

import importlib
import json
import os
import signal
import socket
import sys
import time
import traceback
from contextlib import suppress
from functools import cached_property, partial
from operator import attrgetter
from types import FrameType
from typing import Any, NoReturn

from kleene.confining import kernel
from kleene.errors import KleeneError

ENDING = 5.0  # seconds in which descendants are ended that start others again and again


def main(words: list[str]) -> None:
    """Keep watch over a process that does what the request says."""
    asked = json.loads(words[0])
    kernel.adopt_orphans()
    anew = "numbers" in asked["holds"] and kernel.number_anew()
    kernel.end_with_parent(signal.SIGTERM)
    if worker := os.fork():
        os.close(asked["socket"])
        signal.signal(signal.SIGTERM, lambda number, frame: _end_all(worker, 128 + number))
        _end_all(None, _status_of(worker))
    kernel.end_with_parent(signal.SIGKILL)
    if anew and (worker := os.fork()):
        os.close(asked["socket"])
        os._exit(_status_of(worker))
    os.setsid()
    _Server(asked).serve()


def _status_of(worker: int) -> int:
    """Wait for the process, and for orphans; its exit status, or as in a shell 128 and the number of a signal."""
    while True:
        number, status = os.waitpid(-1, 0)
        if number == worker:
            return os.WEXITSTATUS(status) if os.WIFEXITED(status) else 128 + os.WTERMSIG(status)


def _end_all(worker: int | None, status: int) -> NoReturn:
    """End what is left of all descendants, and leave."""
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    if worker is not None:
        for end in (os.kill, os.killpg):
            with suppress(ProcessLookupError, PermissionError):
                end(worker, signal.SIGKILL)
    deadline = time.monotonic() + ENDING
    with suppress(ChildProcessError):  # there is none any more
        while time.monotonic() < deadline:
            for child in kernel.children():
                with suppress(ProcessLookupError, PermissionError):
                    os.kill(child, signal.SIGKILL)
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass
            time.sleep(0.001)
    os._exit(status)


class _Server:
    """Answers one request after another, until there are no more, or until the time is up."""

    def __init__(self, asked: dict[str, Any]):
        self._asked, self._file = asked, asked["file"]
        self._doing = "it was loaded"
        self._socket = socket.socket(fileno=asked["socket"])
        self._socket.set_inheritable(False)

    def serve(self) -> NoReturn:
        asked = self._asked
        kernel.limit_sizes(asked["memory"], asked["largest"])
        if "writes" in asked["holds"]:
            kernel.give_up_writing(asked["folder"])
        module, _, names = asked["service"].partition(":")
        self._make = partial(attrgetter(names)(importlib.import_module(module)), **asked["given"])
        os.chdir(asked["folder"])
        self._send({"ready": True})
        signal.signal(signal.SIGALRM, self._too_late)
        left = asked["seconds"]
        for line in self._socket.makefile("rb"):
            signal.setitimer(signal.ITIMER_REAL, left)
            answer = self._answer(**json.loads(line))
            left = signal.setitimer(signal.ITIMER_REAL, 0)[0]
            self._send(answer)
        os._exit(0)

    @cached_property
    def _service(self) -> Any:
        return self._make()

    def _answer(self, what: str, given: list, doing: str) -> dict[str, Any]:
        self._doing = doing
        try:
            return {"found": getattr(self._service, what)(*given)}
        except KleeneError as error:
            return {"error": str(error)}
        except MemoryError:
            return {"error": f"{self._file!r} needs more memory than it may have, while {doing}"}
        except Exception as error:
            return {"error": self._told(error)}

    def _too_late(self, number: int, frame: FrameType | None) -> None:
        while frame is not None and not self._is_mine(frame.f_code.co_filename):
            frame = frame.f_back
        where = "" if frame is None else f", at line {frame.f_lineno} of it"
        seconds = f"{self._asked['seconds']:g} seconds"
        self._send({"error": f"{self._file!r} did not end within {seconds}: time was up while {self._doing}{where}"})
        os._exit(0)

    def _told(self, error: Exception) -> str:
        """An error that is no error of Kleene's: one of the file's functions, or a bug of ours."""
        lines = [frame.lineno for frame in traceback.extract_tb(error.__traceback__) if self._is_mine(frame.filename)]
        what = f"{type(error).__name__}: {error}"
        if lines:
            return f"{self._file!r} raised {what} (line {lines[-1]} of it), while {self._doing}"
        return f"an error of Kleene's own while {self._doing}, please report it ({what})"

    def _is_mine(self, filename: str) -> bool:
        return os.path.abspath(filename) == self._file

    def _send(self, content: dict[str, Any]) -> None:
        try:
            text = json.dumps(content, default=_plain)
        except (TypeError, ValueError, RecursionError) as error:
            text = json.dumps({"error": f"what {self._file!r} answers cannot be handed over ({error})"})
        with suppress(Exception):  # the file may have closed or replaced them
            sys.stdout.flush()
            sys.stderr.flush()
        try:
            self._socket.sendall(text.encode() + b"\n")
        except OSError:  # nobody waits for it any more
            os._exit(1)


def _plain(value: Any) -> list:
    """A set or bytes as JSON can hold them; a TypeError for what has no parts."""
    return sorted(value, key=repr) if isinstance(value, frozenset) else list(value)


if __name__ == "__main__":
    main(sys.argv[1:])
