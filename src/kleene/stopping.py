"""Ctrl-C during training: the loop stops where nothing is lost, and the process ends without a crash.

XLA compiles and computes on threads of its own, and an interpreter that is torn down under them may end in a
segmentation fault. So the signal raises nothing. A thread receives it at once, even while the main thread compiles:
if nothing would be lost, it ends the process at once; otherwise the loop stops at its next safe point.
"""

import os
import signal
import socket
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import NoReturn

STOPPED, TERMINATED = 128 + signal.SIGINT, 128 + signal.SIGTERM  # exit statuses of a process that a signal ended
PATIENCE = 2.0  # seconds until a line explains the wait
RESTORED = "\r\x1b[2K\x1b[?25h"  # a line with a progress bar is cleared, and the cursor shown again


class Stopped(BaseException):
    """Raised at a safe point after the user asked to stop; not an `Exception`, so that no handler takes it as one."""


class _StopRequest:
    """The state shared by the loop and the thread that receives the signal."""

    def __init__(self, line: str) -> None:
        self.line = line  # the last line if the process ends now
        self.at_stake = False  # whether something would be lost then
        self.asked = False
        self.terminated = False  # by `exit_at_sigterm`; Ray raises a SystemExit of its own in place of that one

    def listen(self, receiver: socket.socket) -> None:
        """Wait for Ctrl-C. The process ends at once if nothing is at stake, and at the second Ctrl-C in any case."""
        while True:
            try:
                received = receiver.recv(1)  # the number of a signal
            except TimeoutError:
                _print("stopping as soon as what was learned is kept; press Ctrl-C again to leave at once")
                receiver.settimeout(None)
                continue
            if not received:
                return
            if received[0] != signal.SIGINT:
                continue
            if self.asked or not self.at_stake:
                leave(self.line)
            self.asked = True
            receiver.settimeout(PATIENCE)


_request: _StopRequest | None = None


def announce(line: str, *, at_stake: bool) -> None:
    """Set the line to print, and whether anything would be lost, if the user stops now."""
    if _request is not None:
        _request.line, _request.at_stake = line, at_stake


def is_asked() -> bool:
    """Whether the user has asked to stop."""
    return _request is not None and _request.asked


@contextmanager
def stoppable(line: str) -> Iterator[None]:
    """A context in which Ctrl-C stops cleanly; `line` is printed then, until the loop announces another.

    Only the main thread can handle signals: in another thread this changes nothing.
    """
    global _request
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before, _request = _request, _StopRequest(line)
    with _received_by_a_thread(_request):
        try:
            yield
        except Stopped:
            leave(_request.line)
        except SystemExit:
            if _request.terminated:
                leave(_request.line, TERMINATED)
            raise
        finally:
            _request = before


@contextmanager
def _received_by_a_thread(request: _StopRequest) -> Iterator[None]:
    """A context in which a thread receives Ctrl-C, whatever the main thread does."""
    receiver, sender = socket.socketpair()
    sender.setblocking(False)
    listener = threading.Thread(target=request.listen, args=(receiver,), name="kleene-ctrl-c", daemon=True)
    listener.start()
    wakeup = signal.set_wakeup_fd(sender.fileno(), warn_on_full_buffer=False)
    handler = signal.signal(signal.SIGINT, lambda *_: None)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, handler)
        signal.set_wakeup_fd(wakeup)
        sender.close()
        listener.join()
        receiver.close()


def exit_at_sigterm(*_: object) -> NoReturn:
    """What may answer SIGTERM: the main thread leaves its blocks one after the other, and `stoppable` the process."""
    signal.signal(signal.SIGTERM, signal.SIG_IGN)  # a second one must not disturb what the blocks end
    if _request is not None:
        _request.terminated = True
    raise SystemExit(TERMINATED)


def leave(line: str = "", status: int = STOPPED) -> NoReturn:
    """End the process at once with the status of an interrupted one; nothing is torn down."""
    if line:
        _print(line)
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError, ValueError, AttributeError):  # the stream is closed, or there is none
            stream.flush()
    os._exit(status)


def _print(line: str) -> None:
    with suppress(OSError, ValueError, AttributeError):
        sys.stderr.write(f"{RESTORED if sys.stderr.isatty() else ''}kleene: {line}\n")
        sys.stderr.flush()
