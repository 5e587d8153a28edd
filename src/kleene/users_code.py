"""Where the user's own code runs: a program's file, an MLP function, a map of a RASP program.

What such code prints is printed, in the thread that runs it. A command keeps its standard output for its answer, so it
prints on stderr what is printed there.
"""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

PARSING = threading.RLock()  # held while a syntax tree is made: CPython 3.11 counts its depth for all threads together
_runs: ContextVar[bool] = ContextVar("the user's code runs", default=False)


@contextmanager
def users_code() -> Iterator[None]:
    """A context in which this thread runs the user's code."""
    token = _runs.set(True)
    try:
        yield
    finally:
        _runs.reset(token)


def users_code_runs() -> bool:
    """Whether this thread runs the user's code now."""
    return _runs.get()
