"""Watches runs of a user's function from a second thread: shows how far they are, and ends a run that does not end."""

import ctypes
import sys
import threading
import time
from collections.abc import Callable, Collection
from types import CodeType
from typing import Any

SHOWN_AFTER = 2.0  # seconds
INTERVAL = 0.1
AGAIN = 0.01  # seconds after which a run that has caught `Lost` is ended again


class Lost(BaseException):
    """Raised in the watched thread where a run took too long. It is not an `Exception`, so that no handler takes it."""


class Patience:
    """A context in which each run may take some seconds. `runs` says how many have ended, `share` which part of all.

    Nothing of the process changes: no signal handler, no trace function. A run that is inside a C function, such as a
    power of huge numbers, is ended when that function returns. Only what is called by a function with one of the
    `callers`' codes is ended. A handler of the user's may catch that, so it is done again until the run has ended.
    """

    def __init__(
        self,
        seconds: float,
        runs: Callable[[], int],
        share: Callable[[], float],
        what: str,
        callers: Collection[CodeType],
    ):
        self._seconds, self._runs, self._share, self._what, self._callers = seconds, runs, share, what, callers
        self._closed, self._lock = threading.Event(), threading.Lock()

    def __enter__(self) -> "Patience":
        self._watched = threading.get_ident()
        threading.Thread(target=self._watch, daemon=True).start()
        return self

    def __exit__(self, *_: Any) -> None:
        with self._lock:
            self._closed.set()

    def _watch(self) -> None:
        started = since = time.monotonic()
        runs, bar, interval = self._runs(), None, INTERVAL
        while not self._closed.wait(interval):
            now, before, runs = time.monotonic(), runs, self._runs()
            since = since if runs == before else now
            interval = AGAIN if now - since > self._seconds else INTERVAL
            if interval == AGAIN:
                self._end_run()
            if bar is None and now - started > SHOWN_AFTER and sys.stderr.isatty():
                bar = _bar(self._what)
            if bar is not None:
                bar.update(bar.task_ids[0], completed=self._share(), runs=f"{runs:,}")
        if bar is not None:
            bar.stop()

    def _end_run(self) -> None:
        with self._lock:
            if not self._closed.is_set() and self._is_running():
                ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(self._watched), ctypes.py_object(Lost))

    def _is_running(self) -> bool:
        """Whether the watched thread is in the user's function, and not on its way out of it."""
        frame = sys._current_frames().get(self._watched)
        while frame is not None and (frame := frame.f_back) is not None:
            if frame.f_code in self._callers:
                return True
        return False


def _bar(what: str) -> Any:
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn

    columns = (TextColumn("{task.description}"), BarColumn(), TextColumn("{task.fields[runs]} runs"))
    bar = Progress(*columns, console=Console(stderr=True), transient=True)
    bar.add_task(what, total=1.0, runs="0")
    bar.start()
    return bar
