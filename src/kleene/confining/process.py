"""Code of strangers in a process of its own, which answers requests within limits of time, memory and size."""

import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Mapping
from contextlib import suppress
from types import TracebackType
from typing import IO, Any, Self

from kleene.errors import InputError
from kleene.limits import GIB, printable

GRACE = 5.0  # seconds that the process has to stop by itself
LOADING = 120.0  # seconds in which it has to load Kleene; only then the time of the file begins
ENDING = 10.0  # seconds in which it has to end all that it has started
DRAINING = 1.0  # seconds to wait for the end of what it printed, which a process that left may hold open
KEPT = 4_000  # characters of what it prints
MOST = 8 << 20  # bytes of all answers together
LARGEST = 64 << 20  # bytes of a file that it writes
CHUNK = 1 << 16
NO_ANSWER = "what it answers is no answer, because it replaced a part of Kleene or wrote in its place"
HOLDS = ("numbers", "writes")  # what only some systems have; see `kernel`


class Confined:
    """A process in which one object answers requests; a context, at whose end all that was started there has ended.

    `service` is the object's class, as "module:name", made with `given`. It runs the code of `file`, which errors name.
    The process begins at once. It has `seconds` from the first request on, is killed `grace` seconds later, and holds
    at most `memory_gib`. Its answers have at most `most` bytes, are plain data, and may be any: whoever asks checks
    them. It works in a folder of its own, which is removed, and where the system can do so, it writes in no other
    folder, and signals no process that it has not started.
    """

    def __init__(
        self,
        service: str,
        given: Mapping[str, Any],
        file: str,
        *,
        seconds: float,
        memory_gib: float = 4.0,
        grace: float = GRACE,
        most: int = MOST,
        holds: tuple[str, ...] = HOLDS,
    ):
        self._file, self._seconds, self._left = file, seconds, most
        self._deadline, self._is_ready = time.monotonic() + LOADING, False
        self._patience = seconds + grace  # left for all answers together
        self._received = bytearray()
        self._kept: list[bytes] = []
        self._folder = tempfile.mkdtemp(prefix="kleene-confined-")
        self._socket, theirs = socket.socketpair()
        asked = {"service": service, "given": given, "file": os.path.abspath(file), "folder": self._folder}
        asked |= {"seconds": seconds, "memory": int(memory_gib * GIB), "largest": LARGEST}
        asked |= {"socket": theirs.fileno(), "holds": holds}
        command = [sys.executable, "-P", "-m", "kleene.confining.worker", json.dumps(asked)]
        pipes: dict[str, Any] = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.STDOUT}
        pipes |= {"bufsize": 0}  # so that closing the pipe waits for nobody who still holds its other end
        pipes |= {"pass_fds": (theirs.fileno(),), "start_new_session": True}
        # A small network is run sooner than a GPU has started.
        own = os.environ | {"JAX_PLATFORMS": "cpu", "TMPDIR": self._folder}
        with theirs:
            self._process = subprocess.Popen(command, **pipes, env=own)
        assert self._process.stdout is not None
        self._reader = threading.Thread(target=_drain, args=(self._process.stdout, self._kept), daemon=True)
        self._reader.start()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._socket.close()
        self._end()
        assert self._process.stdout is not None
        self._process.stdout.close()
        with suppress(subprocess.TimeoutExpired):  # Python itself would give up at a thousand nested folders
            subprocess.run(["rm", "-rf", self._folder], stderr=subprocess.DEVNULL, timeout=ENDING, check=False)

    def ask(self, what: str, *given: Any, doing: str) -> Any:
        """What the object's method answers; `doing` says in errors what is going on. Any fault is an InputError."""
        name = repr(self._file)
        try:
            if not self._is_ready:
                self._is_ready = self._receive()["ready"]
            self._deadline = time.monotonic() + self._patience
            self._socket.settimeout(self._time_left())
            self._socket.sendall(json.dumps({"what": what, "given": given, "doing": doing}).encode() + b"\n")
            answer = self._receive()
            self._patience = self._deadline - time.monotonic()
            if "found" in answer:
                return answer["found"]
            why = str(answer["error"]).replace(os.path.abspath(self._file), self._file)
        except TimeoutError:
            why = f"{name} did not end within {self._seconds:g} seconds; look for a loop that never ends"
        except OverflowError:
            why = f"{name} cannot be graded: it answers with more than is read of it"
        except OSError:
            why = f"{name} cannot be graded: {self._how_it_ended()}"
        except (ValueError, RecursionError, LookupError, TypeError):
            why = f"{name} cannot be graded: {NO_ANSWER}"
        raise InputError(printable(why, KEPT))

    @property
    def printed(self) -> str:
        """The beginning of what the process has printed so far."""
        return printable(b"".join(self._kept).decode("utf-8", "replace"), KEPT)

    def _receive(self) -> dict[str, Any]:
        """The next line, as it came."""
        while b"\n" not in self._received[-CHUNK:]:
            self._socket.settimeout(self._time_left())
            part = self._socket.recv(CHUNK)
            self._left -= len(part)
            if not part:
                raise ConnectionError
            if self._left < 0:
                raise OverflowError
            self._received += part
        line, _, rest = bytes(self._received).partition(b"\n")
        self._received = bytearray(rest)
        return json.loads(line)

    def _time_left(self) -> float:
        left = self._deadline - time.monotonic()
        if left <= 0:
            raise TimeoutError
        return left

    def _how_it_ended(self) -> str:
        """Why it says nothing more."""
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(DRAINING)
        self._reader.join(DRAINING)
        last = self.printed.strip().splitlines()[-1:] or [""]
        status = self._process.returncode
        if status is None:
            return "it closed the connection on which it answers"
        number = -status if status < 0 else status - 128
        known = {one.value: one.name for one in signal.Signals}
        how = f"was ended by {known[number]}" if number in known else f"left with status {status}"
        return f"the process that ran it {how}{': ' if last[0] else ''}{last[0]}"

    def _end(self) -> None:
        self._process.terminate()
        try:
            self._process.wait(ENDING)
        except subprocess.TimeoutExpired:
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(self._process.pid, signal.SIGKILL)
            self._process.wait()
        self._reader.join(DRAINING)


def _drain(stream: IO[bytes], kept: list[bytes]) -> None:
    """Read to the end, so that the process never waits, and keep the beginning."""
    held = 0
    with suppress(OSError, ValueError):
        while part := stream.read(CHUNK):
            if held <= 4 * KEPT:
                kept.append(part)
                held += len(part)
