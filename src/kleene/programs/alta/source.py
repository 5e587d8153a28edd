"""Where a user's function is: the file and line that is being run, or that raised an error."""

import functools
import os
import sys
import sysconfig
from collections.abc import Callable, Iterator
from types import CodeType, FrameType
from typing import Any

HERE = os.path.dirname(__file__) + os.sep
LIBRARY = os.path.join(HERE, "library") + os.sep
KLEENE = os.path.abspath(os.path.join(HERE, "..", "..")) + os.sep
INSTALLED = tuple(p + os.sep for n, p in sysconfig.get_paths().items() if n in ("stdlib", "platstdlib", "purelib"))


def place_of(error: BaseException | None = None) -> str:
    """The user's line that is being run, or that raised the error, as "caesar.py line 3"; "" where there is none."""
    places = _running() if error is None else reversed(list(_raised(error)))
    nearest = None
    for code, line in places:
        if _is_users(code):
            return place(code, line)
        if nearest is None and not _is_ours(code):
            nearest = (code, line)
    return place(*nearest) if nearest else ""


def place(code: CodeType | None, line: int) -> str:
    """A line of a piece of code as an error names it."""
    return f"{os.path.basename(_file(code))} line {line}".strip()


def first_place(function: Callable) -> str:
    """The first line of a function."""
    code = code_of(function)
    return place(code, getattr(code, "co_firstlineno", 0)) if code is not None else repr(function)


def code_of(function: Any) -> CodeType | None:
    """The code of a function, of a method, of what a `partial` calls, or of what a class or its instances do if called;
    None for what is not written in Python."""
    while isinstance(function, functools.partial):
        function = function.func
    if not hasattr(function, "__code__"):
        function = function.__init__ if isinstance(function, type) else type(function).__call__
    return getattr(function, "__code__", None)


def line_of(function: Callable, error: BaseException) -> int:
    """The line of the function's own file that raised the error; 0 where there is none."""
    file = _file(code_of(function))
    lines = [line for code, line in _raised(error) if code.co_filename == file]
    return lines[-1] if lines else 0


def _file(code: CodeType | None) -> str:
    return code.co_filename if code is not None else ""


def _is_ours(code: CodeType) -> bool:
    return code.co_filename.startswith(HERE) and not code.co_filename.startswith(LIBRARY)


def _is_users(code: CodeType) -> bool:
    """Whether the code is the user's own: not Kleene's, Python's or an installed package's."""
    library = code.co_filename.startswith(LIBRARY)
    return library or not (_is_ours(code) or code.co_filename.startswith((*INSTALLED, "<frozen")))


def is_users_file(file: str | None) -> bool:
    """Whether a file is the user's own, or of the library; "" is what was typed, and None what has no file."""
    if file is None or file.startswith((*INSTALLED, "<frozen")):
        return False
    return file.startswith(LIBRARY) or not file.startswith(KLEENE)


def _raised(error: BaseException) -> Iterator[tuple[CodeType, int]]:
    """The places that an error passed through, innermost last."""
    trace = error.__traceback__
    while trace is not None:
        yield trace.tb_frame.f_code, trace.tb_lineno
        trace = trace.tb_next


def _running() -> Iterator[tuple[CodeType, int]]:
    """The places on the call stack, innermost first."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None:
        yield frame.f_code, frame.f_lineno
        frame = frame.f_back


PLAIN = (bool, int, float, str, bytes, type(None))
