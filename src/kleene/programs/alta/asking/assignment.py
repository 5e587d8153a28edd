"""The dict-like `z` that an MLP function is asked with: plain values, and a note of what is read and written.

A dict holds the values that were chosen so far and answers at C speed. Only a read of anything else lands in
`__missing__`, which takes the variable's first value and opens a fork. Writes are kept apart, so that every read gives
the value from before the MLP.
"""

import difflib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from enum import Enum
from sys import _getframe
from types import FrameType
from typing import Any

from kleene.errors import FunctionError, ProgramError
from kleene.programs.alta.asking.undefined import Undefined, use
from kleene.programs.alta.source import place_of
from kleene.programs.alta.variables import unwrapped

FILLED = object()


class Refusal(BaseException):
    """Ends the asking. It is not an Exception, so that no `except` in the user's function catches it."""

    def __init__(self, error: ProgramError):
        super().__init__(str(error))
        self.error = error


class Assignment(dict):
    """The `z` of one run after another. `path` has what was read and which value is its turn, in the order of reads."""

    __slots__ = ("_domains", "_path", "_refused", "_writes")

    def __init__(self, domains: Mapping[str, Sequence[Any]], values: Mapping[str, Any] | None = None):
        super().__init__(values or {})
        dict.__setitem__(self, FILLED, None)  # json.dumps takes a dict that is empty inside for {}
        for name, value in (("_domains", domains), ("_path", []), ("_writes", {}), ("_refused", None)):
            object.__setattr__(self, name, value)

    def __missing__(self, name: Any) -> Any:
        if name not in self._domains:
            known = self._named(name)
            if known in self._domains:
                return self[known]
            self._refuse(ProgramError(f"{place_of() or 'the function'}: {unknown(name, self._domains)}"))
        value = self._domains[name][0]
        self._path.append((name, []))
        dict.__setitem__(self, name, value)
        return value

    def __setitem__(self, name: Any, value: Any) -> None:
        name = name if type(name) is str else self._named(name)
        self._writes[name] = value if type(value) is int or type(value) is bool else plain(value)

    # What else a dict does, so that nothing is read or written without notice.

    def __contains__(self, name: object) -> bool:
        return self._named(name) in self._domains

    def _named(self, name: Any) -> Any:
        return name.value if isinstance(name, Enum) and name not in self._domains else name

    def __iter__(self) -> Iterator[str]:
        return iter(self._domains)

    def __reversed__(self) -> Iterator[str]:
        return reversed(list(self._domains))

    def __len__(self) -> int:
        return len(self._domains)

    def __bool__(self) -> bool:
        return True

    def __eq__(self, other: object) -> bool:
        return self.copy() == other

    def __ne__(self, other: object) -> bool:
        return self.copy() != other

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return repr(self.copy())

    def get(self, name: Any, default: Any = None) -> Any:
        return self[name] if name in self else default  # noqa: SIM401  # dict.get would not ask

    def keys(self) -> Any:
        return self._domains.keys()

    def values(self) -> Any:
        return self.copy().values()

    def items(self) -> Any:
        return self.copy().items()

    def copy(self) -> dict[str, Any]:
        return {name: self[name] for name in self._domains}

    __copy__ = copy

    def __deepcopy__(self, memo: Any) -> dict[str, Any]:
        return self.copy()

    def __reduce_ex__(self, protocol: Any) -> Any:
        return dict, (self.copy(),)

    def __or__(self, other: Any) -> Any:
        return self.copy() | other

    def __ror__(self, other: Any) -> Any:
        return other | self.copy()

    def update(self, *given: Any, **named: Any) -> None:
        for name, value in dict(*given, **named).items():
            self[name] = value

    def __ior__(self, other: Any) -> "Assignment":  # type: ignore[override, misc]
        self.update(other)
        return self

    def setdefault(self, name: Any, default: Any = None) -> Any:
        return self[name]

    def __delitem__(self, name: Any) -> None:
        self._cannot(f"deletes {name!r} from z; a variable always has a value, so write another one")

    def pop(self, name: Any, *default: Any) -> Any:
        self._cannot(f"deletes {name!r} from z; a variable always has a value, so write another one")

    def popitem(self) -> Any:
        self._cannot("deletes a variable from z; a variable always has a value, so write another one")

    def clear(self) -> None:
        self._cannot("deletes all variables from z; a variable always has a value, so write another one")

    def __getattr__(self, name: str) -> Any:
        if not name.startswith("__"):
            self._cannot(f'asks for z.{name}; a variable is read as z["{name}"]')
        raise AttributeError(name)

    def __setattr__(self, name: str, value: Any) -> None:
        self._cannot(f'sets z.{name}, which has no effect; a variable is written as z["{name}"] = …')

    def _cannot(self, what: str) -> None:
        self._refuse(FunctionError(f"{place_of() or 'z'}: the function {what}."))

    def _refuse(self, error: ProgramError) -> None:
        object.__setattr__(self, "_refused", error)  # kept, because a bare `except:` may swallow what is raised
        raise Refusal(error)


class LocatedAssignment(Assignment):
    """The `z` of one run on known values that notes the lines of a file that write."""

    __slots__ = ("_file", "_lines")

    def __init__(self, domains: Mapping[str, Sequence[Any]], values: Mapping[str, Any], file: str):
        super().__init__(domains, values)
        object.__setattr__(self, "_file", file)
        object.__setattr__(self, "_lines", {})

    def __setitem__(self, name: Any, value: Any) -> None:
        super().__setitem__(name, value)
        self._lines[self._named(name)] = _line_in(self._file, _getframe(1))


def lines_of(z: LocatedAssignment) -> dict[Any, int]:
    """The line of the file that wrote each variable."""
    return z._lines


Assignment.__name__ = Assignment.__qualname__ = "z"  # what Python's own messages call it
LocatedAssignment.__name__ = LocatedAssignment.__qualname__ = "z"


def plain(value: Any) -> Any:
    """A written value as a leaf keeps it: an integer as it is, all else with its type, so that 1.0 is not 1."""
    if type(value) is Undefined:
        use(value)
    value = unwrapped(value)
    if type(value) is int:
        return value
    try:
        hash(value)
    except TypeError:  # a set or a list
        value = frozenset(value) if isinstance(value, Iterable) and not isinstance(value, Mapping) else repr(value)
    return type(value), value


def unknown(name: Any, known: Iterable[str]) -> str:
    """That there is no such variable, with the name that is near."""
    close = difflib.get_close_matches(str(name), list(known), n=1)
    hint = f"; did you mean {close[0]!r}?" if close else "."
    return f"there is no variable {name!r}{hint} The program has {', '.join(known)}."


def _line_in(file: str, frame: FrameType | None) -> int:
    """The line of the nearest caller in the file; 0 where there is none."""
    while frame is not None and frame.f_code.co_filename != file:
        frame = frame.f_back
    return 0 if frame is None else frame.f_lineno
