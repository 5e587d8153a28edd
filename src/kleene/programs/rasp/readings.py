"""How a head reads for an aggregate: one category, or a mean of numbers; and whether it must first count."""

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from kleene.programs.rasp.domains import DomainError, ValueTable, means
from kleene.programs.rasp.selections import Selection, possible_pairs
from kleene.programs.rasp.selectors import Aggregate
from kleene.traces.channels import nearest


@dataclass(frozen=True, eq=False)
class Reading:
    """What the head's codes stand for (`results`), and its codes on the sample.

    A head that averages has a number for each value of the s-op (`numbers`) and declares the means that it can read
    (`outputs`). `guarded`: nothing may be selected, so the head is read only where a count is not zero.
    """

    NOWHERE: ClassVar[object] = object()  # stands for the start, which no aggregate reads

    results: Sequence[Any]
    seen: np.ndarray
    guarded: bool
    numbers: Sequence[float] | None = None
    outputs: Sequence[float] = ()
    loose: bool = False  # see `ValueTable`
    certain: bool = True  # whether it is proven that the head is defined where it is read


def reading_of(part: Aggregate, selection: Selection, values: ValueTable, most: int, *, numeric: bool) -> Reading:
    """The simplest reading that is right on every input, or on some input ends with an error.

    One position is read as a category. If several are selected, numbers are averaged, whether the s-op is `numeric` or
    not, as RASP says. Values that are no numbers must then be equal, and are averaged as numbers of their own.
    """
    counts = selection.counts[values.inside]
    guarded = not selection.never_empty
    if selection.selects_one(most):
        return _category(selection, values, guarded)
    several = bool((counts > 1).any())
    if not numeric and not several:
        return replace(_category(selection, values, guarded), certain=False)
    endless = next((value for value in values.values if _is_number(value) and not math.isfinite(value)), None)
    if endless is not None:
        raise DomainError(f"{part.described} may take means of numbers of which one is {endless!r}; a network cannot")
    numbers = numbers_of(values.values)
    if selects_equal(selection, values):
        return _numbers(selection, values, guarded, numbers, sorted(set(numbers)))
    own = [number for number, value in zip(numbers, values.values) if _is_number(value)]
    try:
        outputs = means(part, own, max(selection.possible_counts(most))) if own else []
    except DomainError:
        if several:
            raise
        return replace(_category(selection, values, guarded), certain=False)
    reading = _numbers(selection, values, guarded, numbers, sorted({*outputs, *numbers}))
    return replace(reading, loose=values.loose or any(type(value) is int for value in values.values))


def numbers_of(values: Sequence[Any]) -> list[float]:
    """A number for each value: itself, or for what is no number one that is greater than every mean.

    >>> numbers_of(["a", 2, None, 0.5])
    [3.0, 2.0, 4.0, 0.5]
    """
    greater = itertools.count(int(max((abs(value) for value in values if _is_number(value)), default=0)) + 1)
    return [float(value) if _is_number(value) else float(next(greater)) for value in values]


def _is_number(value: Any) -> bool:
    return isinstance(value, (bool, int, float))


def selects_equal(selection: Selection, values: ValueTable) -> bool:
    """Whether it is certain that all positions that a query selects have the same value."""
    pairs = possible_pairs(selection.keys, values)
    if pairs is None:
        return False
    together = np.zeros((len(selection.keys.values), len(values.values)), dtype=np.float32)
    together[pairs] = 1
    return bool(((selection.chosen.astype(np.float32) @ together > 0).sum(axis=1) <= 1).all())


def _category(selection: Selection, values: ValueTable, guarded: bool) -> Reading:
    first = selection.seen.argmax(axis=2)
    read = np.take_along_axis(values.seen, first, axis=1)
    seen = np.where(selection.counts > 0, read + 1, 0)
    return Reading([Reading.NOWHERE, *values.values], seen, guarded, loose=values.loose)


def _numbers(
    selection: Selection, values: ValueTable, guarded: bool, numbers: Sequence[float], outputs: Sequence[float]
) -> Reading:
    held = np.array([*numbers, 0.0])[np.where(values.seen >= 0, values.seen, len(numbers))]
    total = np.einsum("bqk,bk->bq", selection.seen.astype(np.float64), held)
    seen = nearest(tuple(outputs), total / np.maximum(selection.counts, 1))
    own = dict(zip(numbers, values.values))
    return Reading([own.get(output, output) for output in outputs], seen, guarded, numbers, outputs, values.loose)
