"""The means that an aggregate can give, as RASP computes them, and which of them a head holds as one number.

RASP's mean of floats is exact before it is rounded once. Sums of floats such as 0.1 and 0.2 are off by rounding, so
that 0.3 and 0.30000000000000004 can both be means. A head averages in its own number type and cannot tell them apart:
they form a `Group`, and a function that treats them differently is refused. So are numbers that differ by more than
rounding and that a head cannot tell apart all the same, such as 10¹⁵ and 10¹⁵ + 1.
"""

import math
from collections.abc import Iterable, Sequence
from fractions import Fraction

import numpy as np

from kleene.programs.rasp.domains import MOST_VALUES, SAME, DomainError
from kleene.programs.rasp.graph import RASPExpr

Group = tuple[float, ...]  # numbers that differ by rounding; the first, which is the shortest to write, stands for all

MOST_SUMS = 4 * MOST_VALUES
MOST_FLOATS = 64 * MOST_VALUES  # means before they are grouped; few of them differ only by rounding
EXACT = 1 << 53  # floats hold whole numbers up to here
ROUNDED = 2.0**-46  # of the numbers that are added: what rounding may change


def grouped(numbers: Iterable[float], *, most: int = 1, own: Sequence[int | float] = ()) -> list[Group]:
    """The numbers in ascending groups, if they are means of up to `most` of the s-op's `own` values.

    A head adds in floats, so two means are one to it if they differ by less than `SAME` of the greatest number that it
    may have added: no more than `most` times the mean, unless positive and negative numbers cancel. What differs by
    more than rounding is never a group, but `TooNear`, and so are two whole numbers.

    >>> grouped([0.5, 0.1 + 0.2, 0.3])
    [(0.3, 0.30000000000000004), (0.5,)]
    >>> grouped([0, 1, 10**12])
    [(0.0,), (1.0,), (1000000000000.0,)]
    """
    ascending = np.unique(np.array(list(numbers), dtype=np.float64))
    if not len(ascending):
        return []
    sizes, mixed = np.abs(ascending), ascending[0] < 0 < ascending[-1] and most > 1
    added = sizes.max() if mixed else np.minimum(sizes.max(), most * np.maximum(sizes[1:], sizes[:-1]))
    parts = np.split(ascending, np.flatnonzero(np.diff(ascending) > SAME * added) + 1)
    for part in parts:
        if len(part) > 1:
            _refuse_apart(part.tolist(), own, most, float(sizes.max()) if mixed else None)
    return [tuple(sorted(part.tolist(), key=_by_length)) if len(part) > 1 else (float(part[0]),) for part in parts]


class TooNear(Exception):
    """Two numbers that are not the same up to rounding, and that a head cannot hold apart."""

    def __init__(self, one: float, other: float):
        super().__init__(one, other)
        self.numbers = one, other


def _refuse_apart(group: Sequence[float], own: Sequence[int | float], most: int, cancelled: float | None) -> None:
    """Refuse a group whose numbers differ by more than rounding, as means of whole numbers always do.

    `cancelled`: the greatest number, where sums of positive and negative ones leave a rest.
    """
    exact = {float(x) for x in own if isinstance(x, int)}
    whole = [x for x in group if x in exact or (x.is_integer() and abs(x) <= EXACT)]
    if len(whole) > 1:
        raise TooNear(whole[0], whole[1])
    if own and all(isinstance(x, int) for x in own):
        raise TooNear(group[0], group[-1])
    spread, largest = group[-1] - group[0], max(map(abs, group))
    if spread <= ROUNDED * most * largest:
        return
    given = [x for x in group if x and x in own]
    if cancelled is None or given or spread > ROUNDED * cancelled:
        one = given[0] if given else group[0]
        raise TooNear(one, max(group, key=lambda x: abs(x - one)))


def _by_length(number: float) -> tuple[int, float]:
    return len(repr(number)), number


def means(expr: RASPExpr, numbers: Sequence[int | float], most: int) -> list[Group]:
    """Every mean of one to `most` of the numbers; a DomainError if they are too many or cannot be held apart.

    >>> means(RASPExpr(), [0.1, 0.2], 2)
    [(0.1,), (0.15000000000000002,), (0.2,)]
    """
    exact = [Fraction(number) for number in numbers]
    found = _means(exact, most)
    if found is not None and len(groups := held_apart(expr, found, most, numbers)) <= MOST_VALUES:
        return groups
    near = [_near(number) for number in numbers]
    found = _means(near, most) if None not in near else None
    if found is None or len(found) > MOST_VALUES:
        raise DomainError(
            f"{expr.described} takes means of up to {most} of {len(numbers)} numbers, which are more than "
            f"{MOST_VALUES:,} values. Use a smaller vocabulary or max_length, or map its inputs to fewer values first"
        )
    for group in held_apart(expr, found, most, numbers):
        if len(group) > 1:
            raise _too_near(expr, group[:2])
    noise = 0.0 if near == exact else float(np.spacing(max(map(abs, numbers))))
    return [(mean, mean - noise, mean + noise) if noise else (mean,) for mean in sorted(found)]


def held_apart(expr: RASPExpr, numbers: Iterable[float], most: int, own: Sequence[int | float]) -> list[Group]:
    """The groups of the numbers; a DomainError that names two if a head cannot hold them apart."""
    for number in own:
        if isinstance(number, int) and int(float(number)) != number:
            raise _too_near(expr, (number, int(float(number))))
    try:
        return grouped(numbers, most=most, own=own)
    except TooNear as error:
        raise _too_near(expr, error.numbers) from None


def _too_near(expr: RASPExpr, numbers: Sequence[int | float]) -> DomainError:
    one, other = numbers
    return DomainError(
        f"{expr.described} averages, and the floats of a network cannot hold {one!r} and {other!r} apart beside its "
        f"other numbers. Map the numbers to smaller ones or to texts first, or round() them"
    )


def _near(number: int | float) -> Fraction | None:
    """The fraction with a denominator of up to a million that the number is meant to be, if there is one."""
    fraction = Fraction(number).limit_denominator(10**6)
    return fraction if abs(float(fraction) - number) <= SAME * abs(number) else None


def _means(numbers: Sequence[Fraction | None], most: int) -> set[float] | None:
    """Every mean of one to `most` of the numbers, rounded once; None if there are too many sums or means."""
    exact = [number for number in numbers if number is not None]
    scale = math.lcm(*(number.denominator for number in exact))
    steps = sorted({int(number * scale) for number in exact})
    if max(map(abs, steps)) * most >= 1 << 62:
        return _large_means(steps, scale, most)
    sums, found = np.zeros(1, dtype=np.int64), set()
    for count in range(1, most + 1):
        sums = np.unique(np.add.outer(sums, np.array(steps)))
        if len(sums) > MOST_SUMS:
            return None
        if max(abs(int(sums[0])), abs(int(sums[-1])), count * scale) <= EXACT:
            found.update((sums / (count * scale)).tolist())
        else:
            found.update(total / (count * scale) for total in sums.tolist())
        if len(found) > MOST_FLOATS:
            return None
    return found


def _large_means(steps: Sequence[int], scale: int, most: int) -> set[float] | None:
    """The same for sums that need more than 64 bits."""
    sums, found = {0}, set()
    for count in range(1, most + 1):
        if len(sums) * len(steps) > 16 * MOST_SUMS:
            return None
        sums = {total + step for total in sums for step in steps}
        found.update(total / (count * scale) for total in sums)
        if len(found) > MOST_FLOATS:
            return None
    return found
