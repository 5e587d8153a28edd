"""Values as people give them, turned into the entries of a channel."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from kleene.traces import Channel
from kleene.traces.values import value_key

DIGITS = 18  # of a code that a person types


def entry_of(channel: Channel, value: Any) -> Any:
    """The value as a trace holds it: a code, a number, or booleans for a set; None where the channel cannot take it.

    Where the codes of a channel have meanings, a value is one of these.

    >>> entry_of(Channel("token", "category", 2, labels=("a", "b")), "b"), entry_of(Channel("x", "number"), "1/4")
    (1, 0.25)
    """
    value = value[()] if isinstance(value, np.ndarray) and value.ndim == 0 else value
    if channel.kind == "category":
        return _code(channel, value)
    if channel.kind == "number":
        return _number_of(value)
    if channel.kind == "set":
        return _members(channel, value)
    return _vector(channel, value)


def _vector(channel: Channel, value: Any) -> np.ndarray | None:
    if isinstance(value, str):
        value = value.strip().removeprefix("[").removesuffix("]").replace(",", " ").split()
    try:
        found = np.asarray(value, dtype=np.float64)
    except (TypeError, ValueError):
        return None
    return found if found.shape == channel.entry_shape and np.isfinite(found).all() else None


def _code(channel: Channel, value: Any) -> int | None:
    if isinstance(value, str) and channel.labels is not None and value in channel.labels:
        return channel.labels.index(value)
    if channel.meanings is not None:
        return _meant(channel.meanings, value)
    if isinstance(value, str):
        value = int(value) if value.isdecimal() and len(value) <= DIGITS else None
    if not isinstance(value, (int, np.integer, np.bool_)) or not 0 <= int(value) < (channel.size or 0):
        return None
    return int(value)


def _meant(meanings: Sequence[Any], value: Any) -> int | None:
    """The code that means the value; if there is none, the only code that means an equal number, as 2 is 2.0."""
    found = [code for code, meaning in enumerate(meanings) if value_key(meaning) == value_key(value)]
    if not found and type(value) in (int, float):
        found = [code for code, meaning in enumerate(meanings) if type(meaning) in (int, float) and meaning == value]
    return found[0] if len(found) == 1 else None


def _number_of(value: Any) -> float | None:
    try:
        above, slash, below = value.partition("/") if isinstance(value, str) else (value, "", "")
        number = float(above) / float(below) if slash else float(above)
    except (TypeError, ValueError, ZeroDivisionError, OverflowError):
        return None
    return number if np.isfinite(number) else None


def _members(channel: Channel, value: Any) -> np.ndarray | None:
    size = channel.size or 0
    if isinstance(value, np.ndarray) and value.dtype == bool:
        return value if value.shape == (size,) else None
    if isinstance(value, str):
        value = value.strip().removeprefix("{").removesuffix("}").replace(",", " ").split()
    try:
        members = {int(member) for member in value}
    except (TypeError, ValueError):
        return None
    if any(not 0 <= member < size for member in members):
        return None
    return np.isin(np.arange(size), list(members))


def takes(channel: Channel) -> str:
    """What a channel takes, for an error message."""
    if channel.kind == "category":
        if channel.labels is not None:
            shown = " ".join(channel.labels[:12]) + (" …" if len(channel.labels) > 12 else "")
            return f"takes one of {shown}"
        return f"takes an integer in 0..{(channel.size or 0) - 1}"
    if channel.kind == "set":
        return f"takes a set of integers in 0..{(channel.size or 0) - 1}"
    if channel.kind == "number" and channel.values is not None:
        few = ", ".join(f"{value:.4g}" for value in channel.values[:8]) + (" …" if len(channel.values) > 8 else "")
        return f"takes one of its declared numbers: {few}"
    return "takes a number" if channel.kind == "number" else f"takes {channel.size} numbers"
