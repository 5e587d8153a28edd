"""The graph that every RASP program is: expressions, their names and notes, and the values of all of them on an input.

An expression is frozen once it is made, and is equal only to itself: one that is used twice is computed once.
"""

import os
import sys
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from enum import Enum
from itertools import count
from types import FrameType, MappingProxyType
from typing import Any, Protocol, Self, TypeVar

from kleene.errors import ProgramError, RunError
from kleene.programs.rasp.wording import bare, bracketed, unused
from kleene.traces.markup import html_table
from kleene.traces.values import unboxed

Value = bool | int | float | str | tuple | None
NumericValue = int | float
SelectorValue = list[list[bool]]
VT = TypeVar("VT", bound=Value)
RASPExprT = TypeVar("RASPExprT", bound="RASPExpr")
T = TypeVar("T")

_HERE = tuple(os.path.join(os.path.dirname(__file__), name) for name in ("graph.py", "expressions.py", "selectors.py"))
_ids = count(1)


class RaspError(RunError):
    """RASP itself gives no value to an expression on an input; the message names the expression, the line and why."""


class Encoding(Enum):
    """How a network holds an s-op's values: a category each, or as one number. The values are the same."""

    CATEGORICAL = "categorical"
    NUMERICAL = "numerical"


class Annotator(Protocol):
    """What gives an expression a default annotation."""

    def __call__(self, expr: "RASPExpr", /) -> Any: ...


class RASPExpr:
    """A RASP expression. Calling it on a sequence evaluates it.

    `children` are the expressions that it reads; `place` is the line that made it.
    """

    _default_name = "expression"
    _shared = False  # whether there is one for all programs, which must not be renamed
    children: tuple["RASPExpr", ...] = ()

    def __init__(self) -> None:
        self.unique_id = next(_ids)
        self.place = _place()
        self._notes: dict[str, Any] = {}

    def __class_getitem__(cls, item: Any) -> type:
        """The class itself: `Aggregate[int]` says to a reader, as in Tracr's programs, what the values are."""
        return cls

    def __setattr__(self, name: str, value: Any) -> None:
        if name in self.__dict__:
            raise ProgramError(
                f"{self.described} is frozen: make a new expression instead of setting its {name!r}, "
                f"or use .named(…) and .annotated(…)"
            )
        super().__setattr__(name, value)

    def __call__(self, xs: Sequence[Any]) -> list:
        return values_on(self, xs)[self]

    def compute(self, xs: list, of: Mapping["RASPExpr", list], causal: bool) -> list:
        """What the expression gives on an input, from the values of its children."""
        raise ProgramError(f"a {type(self).__name__} has no value of its own; use one of its subclasses")

    def written(self, names: Mapping["RASPExpr", str]) -> str:
        """The expression as a person would write it, its children by these names."""
        return called(self, *(names[child] for child in self.children))

    @property
    def name(self) -> str:
        """The name that it was given, or that of its class, such as "select"."""
        return self._notes.get("name", self._default_name)

    @property
    def label(self) -> str:
        """The name with a number that no other expression has."""
        return f"{self.name}_{self.unique_id}"

    @property
    def annotations(self) -> Mapping[str, Any]:
        """The defaults, which are the name and the encoding, and whatever `annotated` added."""
        return MappingProxyType({key: default(self) for key, default in DEFAULT_ANNOTATORS.items()} | self._notes)

    @annotations.setter
    def annotations(self, annotations: Mapping[str, Any]) -> None:
        if self._shared:
            raise ProgramError(f"all programs share {self.name!r}; annotate a copy: {self.name}.annotated(…)")
        self._notes.clear()
        self._notes.update(annotations)

    @property
    def given_annotations(self) -> Mapping[str, Any]:
        """The annotations that were given, without defaults."""
        return MappingProxyType(self._notes)

    def named(self, name: str) -> Self:
        """The same expression with a name; `tokens`, `indices` and `length` are copied instead."""
        return self.annotated(name=name)

    def annotated(self, **annotations: Any) -> Self:
        """The same expression with notes of any kind; `tokens`, `indices` and `length` are copied instead."""
        noted = self.copy() if self._shared else self
        noted._notes.update(annotations)
        return noted

    def copy(self) -> Self:
        """Another expression with the same meaning and notes."""
        twin = object.__new__(type(self))
        twin.__dict__.update(self.__dict__, _notes=dict(self._notes), unique_id=next(_ids), _shared=False)
        return twin

    @property
    def described(self) -> str:
        """How an error calls the expression: its name or class, and the line that made it."""
        kind = type(self).__name__
        called = f"the {kind} {self._notes['name']!r}" if "name" in self._notes else f"the {kind}"
        return f"{called} ({self.place})" if self.place else called

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self._notes['name']}>" if "name" in self._notes else f"<{type(self).__name__}>"

    def __str__(self) -> str:
        return "\n".join(f"{name} = {text}" for name, text in definitions(self).items())

    def _repr_html_(self) -> str:
        return html_table([("name", "expression"), *definitions(self).items()])


def default_name(expr: RASPExpr) -> str:
    """The name of an expression that was given none: that of its class, such as "select"."""
    return expr._default_name


def default_encoding(expr: RASPExpr) -> Encoding:
    """How the values of an expression are held if nothing says otherwise: as categories."""
    return Encoding.CATEGORICAL


DEFAULT_ANNOTATORS: dict[str, Annotator] = {"name": default_name, "encoding": default_encoding}  # others may be added


def called(expr: RASPExpr, *arguments: str) -> str:
    """The class of an expression, called on arguments."""
    return f"{type(expr).__name__}({', '.join(map(bare, arguments))})"


def definitions(expr: RASPExpr) -> dict[str, str]:
    """What the expression and its parts are, by name, those that are read first.

    Parts that have no name and only one reader stand inside it.

    >>> from kleene.programs import rasp
    >>> mirrored = (rasp.length - rasp.indices).named("mirrored")
    >>> same = rasp.Select(rasp.indices, mirrored - 1, rasp.Comparison.EQ)
    >>> print(rasp.Aggregate(same, rasp.tokens).named("reverse"))
    mirrored = length - indices
    reverse = Aggregate(Select(indices, mirrored - 1, EQ), tokens)
    """
    parts = parts_of(expr)
    readers = Counter(child for part in parts for child in part.children)
    names: dict[RASPExpr, str] = {}
    found: dict[str, str] = {}
    for part in parts:
        text = part.written(names)
        if part is expr or (part.children and ("name" in part.given_annotations or readers[part] > 1)):
            names[part] = unused(part.name, found)
            found[names[part]] = text
        else:
            names[part] = bracketed(text)
    return found


def annotate(expr: RASPExpr, **annotations: Any) -> Any:
    """The expression with notes: `annotate(x, name="x")` is `x.annotated(name="x")`."""
    return expr.annotated(**annotations)


def parts_of(expr: RASPExpr) -> list[RASPExpr]:
    """The expression and all that it is made of: each once, children before what reads them, the whole last."""
    found: dict[RASPExpr, None] = {}
    stack: list[tuple[RASPExpr, Iterator[RASPExpr]]] = [(expr, iter(expr.children))]
    while stack:
        children = stack[-1][1]
        child = next(children, None)
        if child is None:
            found[stack.pop()[0]] = None
        elif child not in found:
            stack.append((child, iter(child.children)))
    return list(found)


def values_on(expr: RASPExpr, xs: Sequence[Any], causal: bool = False) -> dict[RASPExpr, list]:
    """The value of the expression and of each of its parts on an input, children first."""
    given = list(xs)
    values: dict[RASPExpr, list] = {}
    for part in parts_of(expr):
        values[part] = part.compute(given, values, causal)
    return values


def applied(expr: RASPExpr, function: Any, *values: Any) -> Any:
    """What a user's function gives, NumPy's numbers as Python's. A RaspError names the expression and the values."""
    try:
        result = function(*values)
    except Exception as error:
        shown = ", ".join(map(repr, values))
        raise RaspError(
            f"{expr.described} has no value for {shown}: its function raised {type(error).__name__}: {error}"
        ) from error
    return unboxed(result)


def needs(expr: RASPExpr, argument: Any, wanted: type, name: str) -> None:
    """Refuse an argument of an expression that is of another kind than it needs."""
    if not isinstance(argument, wanted):
        what = {"SOp": "an s-op", "Selector": "a selector"}.get(wanted.__name__, wanted.__name__)
        raise ProgramError(f"{expr.described}: `{name}` is {argument!r}; it has to be {what}")


def needs_function(expr: RASPExpr, function: Any) -> None:
    """Refuse what cannot be called on values; an expression is called on sequences."""
    if not callable(function) or isinstance(function, RASPExpr):
        raise ProgramError(f"{expr.described}: {function!r} is not a function of values")


def _place() -> str:
    """The line outside this language that makes an expression, as "sort.py line 3"."""
    frame: FrameType | None = sys._getframe(2)
    while frame is not None and frame.f_code.co_filename in _HERE:
        frame = frame.f_back
    return f"{os.path.basename(frame.f_code.co_filename)} line {frame.f_lineno}" if frame is not None else ""
