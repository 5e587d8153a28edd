"""Ctrl-C while networks are taught: the loop stops where nothing is lost, and the process ends without a crash.

XLA compiles and computes on threads of its own, and an interpreter that is torn down under them may end in a
segmentation fault. So the signal raises nothing. A thread hears of it at once, while the main thread compiles too:
where nothing would be lost, it ends the process there and then; otherwise the loop stops at its next safe point.
"""

import os
import signal
import socket
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import NoReturn

STOPPED = 128 + signal.SIGINT  # the exit status, as of a process that the signal ended
PATIENCE = 2.0  # seconds after which the user is told what is being waited for
RESTORED = "\r\x1b[2K\x1b[?25h"  # a line with a progress bar is cleared, and the cursor shown again


class Stopped(BaseException):
    """Raised at a safe point when the user has asked to stop; no `Exception`, so that nothing takes it for an error."""


class _Desk:
    """What the loop and the thread that hears the signal tell each other."""

    def __init__(self, line: str) -> None:
        self.line = line  # what is said when the process ends now
        self.at_stake = False  # whether something would be lost then
        self.asked = False

    def listen(self, ear: socket.socket) -> None:
        """Hear the user ask to stop. The second time, or where nothing is at stake, that is at once."""
        while True:
            try:
                heard = ear.recv(1)  # the number of a signal
            except TimeoutError:
                _say("stopping as soon as what was learned is kept; press Ctrl-C again to leave at once")
                ear.settimeout(None)
                continue
            if not heard:
                return
            if heard[0] != signal.SIGINT:
                continue
            if self.asked or not self.at_stake:
                leave(self.line)
            self.asked = True
            ear.settimeout(PATIENCE)


_desk: _Desk | None = None


def tell(line: str, *, at_stake: bool) -> None:
    """Say what would be told, and whether anything would be lost, if the user stopped now."""
    if _desk is not None:
        _desk.line, _desk.at_stake = line, at_stake


def is_asked() -> bool:
    """Whether the user has asked to stop."""
    return _desk is not None and _desk.asked


@contextmanager
def stoppable(line: str) -> Iterator[None]:
    """Stop cleanly at Ctrl-C within; until the loop has told more, the process ends with this line.

    Signals belong to the main thread: called from another one, this changes nothing.
    """
    global _desk
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before, _desk = _desk, _Desk(line)
    with _heard(_desk):
        try:
            yield
        except Stopped:
            leave(_desk.line)
        finally:
            _desk = before


@contextmanager
def _heard(desk: _Desk) -> Iterator[None]:
    """Within, Ctrl-C is heard by a thread, whatever the main thread is at."""
    ear, mouth = socket.socketpair()
    mouth.setblocking(False)
    listener = threading.Thread(target=desk.listen, args=(ear,), name="kleene-ctrl-c", daemon=True)
    listener.start()
    wakeup = signal.set_wakeup_fd(mouth.fileno(), warn_on_full_buffer=False)
    handler = signal.signal(signal.SIGINT, lambda *_: None)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, handler)
        signal.set_wakeup_fd(wakeup)
        mouth.close()
        listener.join()
        ear.close()


def leave(line: str = "") -> NoReturn:
    """End the process as it stands, with the status of one that was interrupted; nothing is torn down."""
    if line:
        _say(line)
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError, ValueError, AttributeError):  # closed, or none at all
            stream.flush()
    os._exit(STOPPED)


def _say(line: str) -> None:
    with suppress(OSError, ValueError, AttributeError):
        sys.stderr.write(f"{RESTORED if sys.stderr.isatty() else ''}kleene: {line}\n")
        sys.stderr.flush()
