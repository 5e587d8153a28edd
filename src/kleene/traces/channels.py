"""A named quantity that a run records: what its numbers mean, and when two of them are equal."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol, get_args, runtime_checkable

import numpy as np

from kleene.traces.values import unboxed

Kind = Literal["category", "number", "set", "distribution", "vector"]

NOTHING = -1  # the code of an undefined category; an undefined number is NaN
# A number belongs to neither of two declared values if it is nearer to their middle than this share of the gap.
BLUR = 1 / 64
Meaning = bool | int | float | str | tuple | None  # what a code stands for outside the program


def nested_tuple(value: Any) -> Any:
    """A value that was kept as JSON, its lists as tuples.

    >>> nested_tuple(["a", [1, [2.5]]])
    ('a', (1, (2.5,)))
    """
    return tuple(map(nested_tuple, value)) if isinstance(value, list) else value


@dataclass(frozen=True)
class Channel:
    """A named quantity of a run.

    The arrays of a channel have the step as their first axis, and then:

    - `category`: integers in `0..size-1`; -1 is undefined;
    - `number`: floats; NaN is undefined. `values` are the declared numbers (buckets), if there are any;
    - `set`: booleans with a last axis of length `size`;
    - `distribution` and `vector`: floats with a last axis of length `size`.

    `meanings` say what each code of a category stands for, where that is a value of its own, as in RASP. An output is
    given in them.

    `per_step` channels hold what was computed *during* a step (what a head read), so their entry at step 0, before
    anything ran, is undefined.

    >>> Channel("parity", "category", 2).show(1)
    '1'
    >>> Channel("token", "category", 3, labels=("a", "b", "end")).show(2)
    'end'
    """

    name: str
    kind: Kind = "category"
    size: int | None = None
    values: tuple[float, ...] | None = None
    labels: tuple[str, ...] | None = None
    per_step: bool = False
    meanings: tuple[Meaning, ...] | None = field(default=None, metadata={"sparse": True})

    def __post_init__(self) -> None:
        if self.kind not in get_args(Kind):
            raise ValueError(
                f"channel {self.name!r} is of kind {self.kind!r}; the kinds are {', '.join(get_args(Kind))}"
            )
        if self.meanings is not None:
            object.__setattr__(self, "meanings", unboxed(self.meanings))

    @property
    def entry_shape(self) -> tuple[int, ...]:
        """The shape of one entry: `()` for categories and numbers, `(size,)` for the others."""
        return () if self.kind in ("category", "number") else (int(self.size or 0),)

    @property
    def dtype(self) -> type:
        return {"category": np.int32, "set": np.bool_}.get(self.kind, np.float64)

    @property
    def empty(self) -> float | int | bool:
        """The entry where nothing was recorded."""
        return {"category": NOTHING, "set": False}.get(self.kind, float("nan"))

    def show(self, entry: Any) -> str:
        """One entry as a short string, `·` where it is undefined."""
        if self.kind == "category":
            if entry < 0:
                return "·"
            return self.labels[int(entry)] if self.labels else str(int(entry))
        if self.kind == "number":
            return "·" if np.isnan(entry) else f"{float(entry):.4g}"
        if self.kind == "set":
            return "{" + ",".join(str(i) for i in np.flatnonzero(entry)) + "}"
        return "[" + " ".join(f"{x:.2f}" for x in np.asarray(entry)[:4]) + ("…]" if np.size(entry) > 4 else "]")

    def differs(self, a: np.ndarray, b: np.ndarray) -> np.ndarray:
        """Where two arrays of this channel's entries differ (one boolean an entry).

        Numbers with declared values are equal when they are nearest to the same value, or equal within the precision
        of bfloat16, because a network may hold 1/3 in that type. Other floats are compared to a relative 1e-5.
        """
        if self.kind in ("category", "set"):
            unequal = a != b
        else:
            absent = np.isnan(a) != np.isnan(b)
            a, b = np.nan_to_num(a), np.nan_to_num(b)
            if self.kind == "number" and self.values is not None:
                scale = max(abs(v) for v in self.values)  # numbers of that size may have cancelled
                apart = ~np.isclose(a, b, rtol=2**-7, atol=2**-18 * scale)
                unequal = absent | (apart & (nearest(self.values, a) != nearest(self.values, b)))
            else:
                unequal = absent | ~np.isclose(a, b, rtol=1e-5, atol=1e-6)
        return unequal.any(axis=-1) if self.entry_shape else unequal


def nearest(values: tuple[float, ...], x: Any) -> np.ndarray:
    """The index of the declared value nearest to each `x`; `values` ascend, and a tie goes to the smaller.

    >>> int(nearest((0, 0.25, 0.5, 0.75, 1), 0.6))
    2
    """
    table = np.asarray(values, dtype=np.float64)
    return np.asarray(np.searchsorted((table[:-1] + table[1:]) / 2, np.asarray(x, dtype=np.float64), side="left"))


def blurred(values: tuple[float, ...], x: Any) -> np.ndarray:
    """Whether each number is too near the middle between two declared values to belong to either."""
    table, x = np.asarray(values), np.asarray(x, dtype=np.float64)
    if len(table) == 1:
        return np.zeros(x.shape, dtype=bool)
    middles, gaps = (table[:-1] + table[1:]) / 2, np.diff(table)
    below = np.maximum(np.searchsorted(middles, x) - 1, 0)
    above = np.minimum(below + 1, len(middles) - 1)
    close = [np.abs(x - middles[i]) < gaps[i] * BLUR for i in (below, above)]
    return np.asarray(close[0] | close[1])


@runtime_checkable
class RecordedRun(Protocol):
    """The part of a trace that storage and tables use."""

    @property
    def channels(self) -> tuple[Channel, ...]: ...

    @property
    def data(self) -> Mapping[str, np.ndarray]: ...

    @property
    def output_name(self) -> str | None: ...

    @property
    def halted(self) -> bool: ...

    @property
    def axes(self) -> tuple[str, ...]: ...

    @property
    def source(self) -> str: ...

    @property
    def prefix(self) -> int: ...

    @property
    def steps(self) -> int: ...

    @property
    def output(self) -> Any: ...

    def channel(self, name: str) -> Channel: ...
