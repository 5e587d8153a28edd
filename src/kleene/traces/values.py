"""Values of any kind, such as a RASP program's: which of them are the same, so that no function tells them apart."""

import io
import math
import pickle
from typing import Any

import numpy as np

_PLAIN = {bool, int, str, bytes, type(None)}


def unboxed(value: Any) -> Any:
    """A number of numpy's as Python's own, and every nan as `math.nan`, in a tuple too; any other value as it is."""
    if type(value) is tuple:
        return tuple(map(unboxed, value))
    value = value.item() if isinstance(value, np.generic) else value
    return math.nan if type(value) is float and math.isnan(value) else value  # one object is equal to itself in a tuple


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
