"""What a user's function shows without being run: files and lines, what its results depend on, its constants."""

import dis
import os
import sys
import sysconfig
from collections.abc import Callable, Iterator
from types import BuiltinFunctionType, CodeType, FrameType, FunctionType, ModuleType
from typing import Any

import numpy as np

from kleene.programs.alta.symbols import key_of

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
    """The line being run in the function, or in another function of its file; 0 where there is none."""
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
    """Whether the code is the user's own: not the tracer's, Python's or an installed package's."""
    library = code.co_filename.startswith(LIBRARY)
    return library or not (_is_tracers(code) or code.co_filename.startswith((*INSTALLED, "<frozen")))


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
DEEPEST = 3  # functions that call functions


def signature_of(function: Any, depth: int = 0) -> Any:
    """A key for what the function's results depend on besides its arguments; None where that is unknown."""
    if isinstance(function, np.ufunc):
        return ("ufunc", function.__name__) if getattr(np, function.__name__, None) is function else None
    if type(function) is not FunctionType or depth > DEEPEST:
        return None
    parts = [_key(thing, depth) for thing in _surroundings(function)]
    return None if any(part is None for part in parts) else ("function", function.__code__, *parts)


def _surroundings(function: FunctionType) -> Iterator[Any]:
    yield from (function.__defaults__, function.__kwdefaults__, dict(vars(function)))
    for name in function.__code__.co_names:
        if name in function.__globals__:
            yield function.__globals__[name]
    for cell in function.__closure__ or ():
        yield from _contents(cell)


def _key(thing: Any, depth: int) -> Any:
    if type(thing) in PLAIN:
        return key_of(thing)
    if type(thing) in (tuple, list, set, frozenset, dict):
        items = [item for pair in thing.items() for item in pair] if type(thing) is dict else list(thing)
        keys = [_key(item, depth) for item in items]
        ordered = frozenset(keys) if type(thing) in (set, frozenset) else tuple(keys)
        return None if any(key is None for key in keys) else (type(thing), ordered)
    if isinstance(thing, (type, ModuleType, BuiltinFunctionType)):
        return ("fixed", id(thing))
    return signature_of(thing, depth + 1)


def constants_of(function: Callable) -> list[int]:
    """The whole numbers that a function names: in its code, in functions inside it, and as variables outside it."""
    plain = getattr(function, "__func__", function)
    code = getattr(plain, "__code__", None)
    found = set(_numbers(code)) if code is not None else set()
    if isinstance(plain, FunctionType):
        found |= {thing for thing in _surroundings(plain) if type(thing) is int}
    return sorted(found)


def identity_test(function: Callable) -> int | None:
    """The line on which a function compares something with a number, string or set by `is`; None where it does not.

    Python answers `is` without asking the traced value, so no path would show what the function does there.
    """
    plain = getattr(function, "__func__", function)
    if not isinstance(plain, FunctionType):
        return None
    cells = dict(zip(plain.__code__.co_freevars, plain.__closure__ or ()))
    line, before = 0, None
    for instruction in dis.get_instructions(plain.__code__):
        positions = instruction.positions
        line = positions.lineno if positions is not None and positions.lineno is not None else line
        if instruction.opname == "IS_OP" and before is not None and _is_plain(before, plain.__globals__, cells):
            return line
        before = instruction
    return None


def _is_plain(load: dis.Instruction, known: dict[str, Any], cells: dict[str, Any]) -> bool:
    """Whether an instruction loads a number, a string or a set; None, True and False may be compared by `is`."""
    value: Any = None
    if load.opname == "LOAD_CONST":
        value = load.argval
    elif load.opname == "LOAD_GLOBAL":
        value = known.get(load.argval)
    elif load.opname == "LOAD_DEREF" and load.argval in cells:
        value = next(_contents(cells[load.argval]), None)
    return type(value) in (int, float, str, bytes, frozenset, tuple)


def _contents(cell: Any) -> Iterator[Any]:
    try:
        yield cell.cell_contents
    except ValueError:  # a variable that has no value yet
        return


def _numbers(code: CodeType) -> Iterator[int]:
    for constant in code.co_consts:
        if type(constant) is int:
            yield constant
        elif isinstance(constant, CodeType):
            yield from _numbers(constant)
