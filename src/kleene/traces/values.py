"""Values of any kind, such as a RASP program's: which of them are the same, so that no function tells them apart.

A class of a user's own may say of its objects that they are equal to anything. So values are made Python's own before
they are compared: numbers and texts where a user's function returns them (`unboxed`), answers as a whole (`exact`).
"""

import io
import math
import pickle
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np

from kleene.errors import InputError

MOST_NESTED = 100  # of tuples in tuples in an answer
_PLAIN = {bool, int, str, bytes, type(None)}
_NUMBERS = {float, complex, Fraction, Decimal}
_COPIES: dict[type, Callable[[Any], Any]] = {  # none of them calls a method of a class that inherits from these
    int: int.__int__,
    float: float.__float__,
    str: str.__str__,
    bytes: lambda value: bytes.__getitem__(value, slice(None)),
}


def unboxed(value: Any) -> Any:
    """Numbers and texts as Python's own, those of numpy and of classes that inherit from `int`, `float`, `str` or
    `bytes`, in a tuple too; every nan as `math.nan`; any other value as it is.

    >>> from http import HTTPStatus
    >>> unboxed((np.float32(0.5), HTTPStatus.OK, None))
    (0.5, 200, None)
    """
    if type(value) is tuple:
        return tuple(map(unboxed, value))
    if issubclass(type(value), np.generic):
        value = np.generic.item(value)
    if type(value) not in _PLAIN:
        value = next((copy(value) for base, copy in _COPIES.items() if issubclass(type(value), base)), value)
    return math.nan if type(value) is float and math.isnan(value) else value  # one object is equal to itself in a tuple


def exact(value: Any, depth: int = MOST_NESTED) -> Any:
    """An answer in Python's own types: numbers, texts, truth values, None, and tuples, lists and sets of them.

    Objects of classes that inherit from these are made plain; an answer of another class is refused, because nothing
    but its own code says what it is equal to.

    >>> from collections import namedtuple
    >>> exact([np.int64(3), namedtuple("Pair", "a b")(1, "x"), Fraction(1, 3)])
    [3, (1, 'x'), Fraction(1, 3)]
    """
    value = unboxed(value)
    kind = type(value)
    if kind in _PLAIN or kind in _NUMBERS:
        return value
    for base in (tuple, list, frozenset):
        if issubclass(kind, base) and depth:
            return base([exact(part, depth - 1) for part in base.__iter__(value)])
    too_deep = "" if depth else f" at a depth of {MOST_NESTED}"
    raise InputError(
        f"an answer has a part of type {kind.__name__}{too_deep}, which cannot be compared; make it a number, a text, "
        f"a truth value, None, or a tuple of them"
    )


def value_key(value: Any) -> Any:
    """A key that two values share only if they are the same: of one type, zeros of one sign, and so are their parts.

    A value of another class is the same if pickle writes it in the same way. What pickle cannot write is the same only
    as itself.

    >>> value_key(1) == value_key(1.0), value_key((1, "a")) == value_key((True, "a")), value_key(0.0) == value_key(-0.0)
    (False, False, False)
    >>> value_key((1, (2.5, "a"))) == value_key((1, (2.5, "a"))), value_key(float("nan")) == value_key(float("nan"))
    (True, True)
    """
    kind = type(value)
    if kind in _PLAIN:
        return kind, value
    if kind is float:
        return kind, "nan" if math.isnan(value) else value, math.copysign(1.0, value)
    if isinstance(value, tuple) and not hasattr(value, "__dict__"):
        return kind, *map(value_key, value)
    if kind is frozenset:
        return kind, frozenset(map(value_key, value))
    try:
        return kind, _pickled(value)
    except Exception:  # whatever its class raises
        return kind, _Itself(value)


def _pickled(value: Any) -> bytes:
    written = io.BytesIO()
    pickler = pickle.Pickler(written, 4)
    pickler.fast = True  # parts that are written twice do not depend on whether they are one object
    pickler.dump(value)
    return written.getvalue()


class _Itself:
    """A key that an object shares with no other; it keeps the object, so that no other gets its place in memory."""

    def __init__(self, value: Any):
        self.value = value

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Itself) and other.value is self.value

    def __hash__(self) -> int:
        return id(self.value)


def renewed(value: Any) -> Any:
    """The same value as another object, where Python has two of them: a function that asks with `is` is found out.

    >>> renewed((0.5, "ab")), renewed(0.5) is renewed(0.5)
    ((0.5, 'ab'), False)
    """
    kind = type(value)
    if kind is tuple:
        return tuple(map(renewed, value))
    if kind is int:
        return value + 1 - 1
    if kind is float:
        return value * 1.0
    return f"{value} "[:-1] if kind is str else value


def is_same(found: Any, expected: Any) -> bool:
    """Whether a network's value is the program's: the same, but a number may be an int or a float, and rounded.

    >>> is_same((2, "a"), (2.0, "a")), is_same(0.3, 0.1 + 0.2), is_same(1, True), is_same((1,), (True,))
    (True, True, False, False)
    """
    if isinstance(found, tuple) and type(found) is type(expected):
        return len(found) == len(expected) and all(map(is_same, found, expected))
    kinds = {type(found), type(expected)}
    if isinstance(found, (int, float)) and isinstance(expected, (int, float)) and kinds in ({float}, {int, float}):
        try:
            both_nan = found != found and expected != expected
            return both_nan or math.isclose(found, expected, rel_tol=1e-9, abs_tol=1e-12)
        except OverflowError:  # an int that no float can hold
            return found == expected
    return value_key(found) == value_key(expected)


def is_answer(found: Any, expected: Any) -> bool:
    """Whether an answer is what a plain reference says: as `is_same` does, but True may be 1 there.

    >>> is_answer([1, 0.1 + 0.2], [True, 0.3]), is_answer(["1"], [1]), is_answer([1, 2], [1])
    (True, False, False)
    """
    if type(found) is type(expected) and isinstance(found, (tuple, list)):
        return len(found) == len(expected) and all(map(is_answer, found, expected))
    return is_same(found, expected) or found == expected
