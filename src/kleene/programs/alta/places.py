"""Where in the user's own code something happened: file and line, in helper files too."""

import os
import sys
import sysconfig
from collections.abc import Callable, Iterator
from types import CodeType, FrameType

TRACER = os.path.dirname(__file__) + os.sep
LIBRARY = os.path.join(TRACER, "library") + os.sep
INSTALLED = tuple(p + os.sep for n, p in sysconfig.get_paths().items() if n in ("stdlib", "platstdlib", "purelib"))


def place_of(error: BaseException | None = None) -> str:
    """The user's line that is being run, or that raised the error, as "caesar.py line 3"."""
    places = _running() if error is None else reversed(list(_raised(error)))
    nearest = None
    for code, line in places:
        if _is_users(code):
            return place(code, line)
        if nearest is None and not _is_tracers(code):
            nearest = (code, line)
    return place(*nearest) if nearest else "line 0"


def place(code: CodeType | None, line: int) -> str:
    """A line of a piece of code as an error names it."""
    return f"{os.path.basename(_file(code))} line {line}".strip()


def line_in(function: Callable) -> int:
    """The line of the function itself, or of another function in its file, that is being run; 0 where there is none."""
    file = _file(getattr(function, "__code__", None))
    frame: FrameType | None = sys._getframe(1)
    while frame is not None:
        if frame.f_code.co_filename == file:
            return frame.f_lineno
        frame = frame.f_back
    return 0


def line_of(function: Callable, error: BaseException) -> int:
    """The line of the function's own file that raised the error; 0 where there is none."""
    file = _file(getattr(function, "__code__", None))
    lines = [line for code, line in _raised(error) if code.co_filename == file]
    return lines[-1] if lines else 0


def _file(code: CodeType | None) -> str:
    return code.co_filename if code is not None else ""


def _is_tracers(code: CodeType) -> bool:
    return code.co_filename.startswith(TRACER) and not code.co_filename.startswith(LIBRARY)


def _is_users(code: CodeType) -> bool:
    """Whether the code is neither the tracer's nor that of Python or an installed package that the user calls."""
    library = code.co_filename.startswith(LIBRARY)
    return library or not (_is_tracers(code) or code.co_filename.startswith((*INSTALLED, "<frozen")))


def _raised(error: BaseException) -> Iterator[tuple[CodeType, int]]:
    """The places that an error passed through, innermost last."""
    trace = error.__traceback__
    while trace is not None:
        yield trace.tb_frame.f_code, trace.tb_lineno
        trace = trace.tb_next


def _running() -> Iterator[tuple[CodeType, int]]:
    """The places that are being run now, innermost first."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None:
        yield frame.f_code, frame.f_lineno
        frame = frame.f_back
