"""How a head reads for an aggregate: one category, or a mean of numbers; and whether it must first count."""

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

import numpy as np

from kleene.programs.rasp.averages import EXACT, Group, held_apart, means
from kleene.programs.rasp.domains import DomainError, Twins, ValueTable, is_rounded
from kleene.programs.rasp.selections import Selection
from kleene.programs.rasp.selectors import Aggregate
from kleene.programs.rasp.separation import selects_equal
from kleene.traces.channels import nearest
from kleene.traces.values import value_key

NARROW = 2.0**-18  # means that nobody may ever take are declared only if a float32 can well tell them apart


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
    twins: Twins = field(default_factory=dict)  # see `ValueTable`; by index into `results`
    certain: bool = True  # whether it is proven that the head is defined where it is read
    cautious: bool = False  # whether it averages although no input of the sample selects several positions


def reading_of(part: Aggregate, selection: Selection, values: ValueTable, most: int, *, trusting: bool) -> Reading:
    """The simplest reading that is right on every input, or on some input ends with an error.

    One position is read as a category, if it is proven to be one. If several may be selected, numbers are averaged, as
    RASP says. Values that are no numbers must then be equal, and are averaged as numbers of their own. If there are too
    many means, and no input of the sample selects several, one position is read, and the run on an input that selects
    two is an error. A `trusting` reading does so from the start.
    """
    guarded = not selection.never_empty
    if selection.selects_one(most):
        return _category(selection, values, guarded)
    several = bool((selection.counts[values.inside] > 1).any())
    uncertain = replace(_category(selection, values, guarded), certain=False)
    if trusting and not several:
        return uncertain
    try:
        reading = _averaging(part, selection, values, guarded, most)
    except DomainError:
        if several:
            raise
        return uncertain
    if not several and _is_narrow(reading.outputs):
        return uncertain
    return replace(reading, cautious=not several)


def _is_narrow(outputs: Sequence[float]) -> bool:
    gaps = np.diff(np.array(outputs))
    return bool(len(gaps)) and gaps.min() < NARROW * max(map(abs, outputs))


def _averaging(part: Aggregate, selection: Selection, values: ValueTable, guarded: bool, most: int) -> Reading:
    """A reading that averages numbers."""
    if selects_equal(selection.keys, selection.chosen, values):
        return _equal(part, selection, values, guarded)
    own, largest = _own(values), max(selection.possible_counts(most))
    endless = next((value for value in own if not _is_finite(value * largest)), None)
    if endless is not None:
        raise DomainError(
            f"{part.described} may take means of up to {largest} numbers of which one is {endless!r}; a network adds "
            f"them up, and the sum is no finite float"
        )
    others = sum(not _is_number(value) for value in values.values)
    if own and others and max(map(abs, own)) + others >= EXACT:  # see `numbers_of`
        raise DomainError(
            f"{part.described} may select {max(own, key=abs):g} or what is no number; a network reads both as numbers, "
            f"of which floats hold all only below {EXACT:,}. Use smaller numbers, or map them to texts first"
        )
    groups = means(part, own, largest) if own else []
    _refuse_truths_as_numbers(part, values, largest)
    return _numbers(selection, values, guarded, groups)


def _own(values: ValueTable) -> list[int | float]:
    """The different numbers among the values, and among what a network holds as one of them."""
    own = [x for at, value in enumerate(values.values) for x in (value, *values.twins.get(at, ())) if _is_number(x)]
    return list(dict.fromkeys(int(x) if isinstance(x, int) else x for x in own))


def _equal(part: Aggregate, selection: Selection, values: ValueTable, guarded: bool) -> Reading:
    """A reading of equal values: as their numbers, or where these are too near each other by their places."""
    own = _own(values)
    if not all(map(_is_finite, own)):
        return _places(selection, values, guarded)
    try:
        groups = held_apart(part, map(float, own), 1, own)
        _refuse_truths_as_numbers(part, values, 1)
    except DomainError:
        return _places(selection, values, guarded)
    apart = len(set(numbers_of(values.values, groups))) == len(values.values)
    vast = bool(own) and max(map(abs, own)) + len(values.values) >= EXACT
    return _places(selection, values, guarded) if vast or not apart else _numbers(selection, values, guarded, groups)


def _places(selection: Selection, values: ValueTable, guarded: bool) -> Reading:
    """A reading of equal values by their places among the values of the s-op: 1, 2, …"""
    numbers = [float(at) for at, _ in enumerate(values.values, 1)]
    first = np.take_along_axis(values.seen, selection.seen.argmax(axis=2), axis=1)
    seen = np.where(selection.counts > 0, first, 0)
    return Reading(values.values, seen, guarded, numbers, numbers, values.twins)


def _refuse_truths_as_numbers(part: Aggregate, values: ValueTable, most: int) -> None:
    """Refuse if RASP may give a truth value and an equal number, which is a mean of up to `most` of the others."""
    known = [x for at, value in enumerate(values.values) for x in (value, *values.twins.get(at, ())) if _is_number(x)]
    if all(isinstance(x, bool) for x in known):
        return  # only equal ones have a mean of 0 or 1, and that is the truth value
    for truth in (x for x in known if type(x) not in (int, float)):
        others = [float(x) for x in known if x is not truth]
        if any(is_rounded(float(truth), x) for group in means(part, others, most) for x in group):
            raise DomainError(
                f"{part.described} may give {truth!r} or the number {int(truth)}, which a network reads as the same "
                f"number; apply float() to what it selects"
            )


def numbers_of(values: Sequence[Any], groups: Sequence[Group]) -> list[float]:
    """A number for each value: that of its group, or for what is no number one that is greater than every mean.

    >>> numbers_of(["a", 2, None, 0.5], [(0.5,), (2.0,)])
    [3.0, 2.0, 4.0, 0.5]
    """
    held = tuple(group[0] for group in groups)
    greater = itertools.count(int(max(map(abs, held), default=0)) + 1)
    return [held[int(nearest(held, value))] if _is_number(value) else float(next(greater)) for value in values]


def _is_number(value: Any) -> bool:
    return isinstance(value, (bool, int, float))


def _is_finite(value: Any) -> bool:
    try:
        return math.isfinite(value)
    except OverflowError:
        return False


def _category(selection: Selection, values: ValueTable, guarded: bool) -> Reading:
    first = selection.seen.argmax(axis=2)
    read = np.take_along_axis(values.seen, first, axis=1)
    seen = np.where(selection.counts > 0, read + 1, 0)
    twins = {at + 1: others for at, others in values.twins.items()}
    return Reading([Reading.NOWHERE, *values.values], seen, guarded, twins=twins)


def _numbers(selection: Selection, values: ValueTable, guarded: bool, groups: Sequence[Group]) -> Reading:
    numbers = numbers_of(values.values, groups)
    held = np.array([*numbers, 0.0])[np.where(values.seen >= 0, values.seen, len(numbers))]
    total = np.stack([rows @ row for rows, row in zip(selection.seen, held)])
    outputs = sorted({*(group[0] for group in groups), *numbers})
    seen = nearest(tuple(outputs), total / np.maximum(selection.counts, 1))
    meant = _meanings(values, numbers, groups)
    results = [meant[output][0] for output in outputs]
    twins = {at: tuple(meant[output][1:]) for at, output in enumerate(outputs) if len(meant[output]) > 1}
    return Reading(results, seen, guarded, numbers, outputs, twins)


def _meanings(values: ValueTable, numbers: Sequence[float], groups: Sequence[Group]) -> dict[float, list[Any]]:
    """For each number of the head what RASP may have there: the value that stands for it, then its twins."""
    found: dict[float, dict[Any, Any]] = {}
    for at, (number, value) in enumerate(zip(numbers, values.values)):
        for x in (value, *values.twins.get(at, ())):
            found.setdefault(number, {}).setdefault(value_key(x), x)
    truths = [value for value in values.values if isinstance(value, bool)]
    mixed = any(_is_number(value) for value in values.values if not isinstance(value, bool))
    for group in groups:
        meant = found.setdefault(group[0], {})
        for x in group:
            if not any(float(truth) == x for truth in truths) or mixed:
                meant.setdefault(value_key(x), x)
    return {number: sorted(meant.values(), key=lambda x: x != number) for number, meant in found.items()}
