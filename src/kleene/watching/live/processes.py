"""Runs in processes of their own, so that one which does not end can be ended.

A process serves one run. The next one starts when that has ended and imports what it needs, so that it is ready.
"""

import contextlib
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from typing import Any

from kleene.errors import RunError

WORKER = "kleene.watching.live.worker"
LOOK = 0.05  # seconds between two looks at whether the run should be given up


class RunProcesses:
    """A process that waits for the next run, replaced after each."""

    def __init__(self, seconds: float = 30.0, *, network: bool = False) -> None:
        self.seconds = seconds
        self._network = network
        self._next = self._started()

    def run(self, request: Mapping[str, Any], should_stop: Callable[[], bool] = lambda: False) -> dict[str, Any] | None:
        """The worker's answer; None if it was given up because `should_stop` said so. Raises `RunError` after
        `seconds`, and if the process ends without an answer."""
        process = self._next
        until, left = time.monotonic() + self.seconds, json.dumps(request)
        try:
            while True:
                try:
                    said, _ = process.communicate(left, timeout=LOOK)
                    break
                except subprocess.TimeoutExpired:
                    left = None  # it has been sent
                if should_stop():
                    return None
                if time.monotonic() > until:
                    raise RunError(
                        f"the run took longer than {self.seconds:g} s and was stopped; "
                        f"save the file or type another input to run again"
                    )
        finally:
            _end(process)
            self._next = self._started()
        try:
            return json.loads(said)
        except ValueError:
            status = process.returncode
            raise RunError(f"the process of the run ended without an answer (exit status {status})") from None

    def close(self) -> None:
        """End the process that waits."""
        _end(self._next)

    def _started(self) -> subprocess.Popen:
        # -P: the current folder is not searched for modules, as it is not by `kleene` itself.
        words = [sys.executable, "-P", "-m", WORKER, str(self.seconds + 10), *(["--network"] if self._network else [])]
        return subprocess.Popen(
            words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, encoding="utf-8", start_new_session=True
        )


def _end(process: subprocess.Popen) -> None:
    """End the process and those that it started."""
    with contextlib.suppress(OSError):
        if hasattr(os, "killpg"):
            os.killpg(process.pid, signal.SIGKILL)
        else:
            process.kill()
    process.wait()
    for pipe in (process.stdin, process.stdout):
        if pipe is not None:
            with contextlib.suppress(OSError):
                pipe.close()
