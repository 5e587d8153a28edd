"""The means that an aggregate can give, as RASP computes them, and which of them a head holds as one number.

RASP's mean of floats is exact before it is rounded once. Sums of floats such as 0.1 and 0.2 are off by rounding, so
that 0.3 and 0.30000000000000004 can both be means. A head averages in its own number type and cannot tell them apart:
they form a `Group`, and a function that treats them differently is refused.
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


def grouped(numbers: Iterable[float]) -> list[Group]:
    """The numbers in ascending groups.

    >>> grouped([0.5, 0.1 + 0.2, 0.3])
    [(0.3, 0.30000000000000004), (0.5,)]
    """
    ascending = np.unique(np.array(list(numbers), dtype=np.float64))
    if not len(ascending):
        return []
    bound = SAME * float(np.abs(ascending).max())
    parts = np.split(ascending, np.flatnonzero(np.diff(ascending) > bound) + 1)
    return [tuple(sorted(part.tolist(), key=_by_length)) if len(part) > 1 else (float(part[0]),) for part in parts]


def _by_length(number: float) -> tuple[int, float]:
    return len(repr(number)), number


def means(expr: RASPExpr, numbers: Sequence[float], most: int) -> list[Group]:
    """Every mean of one to `most` of the numbers; a DomainError if they are too many.

    >>> means(RASPExpr(), [0.1, 0.2], 2)
    [(0.1,), (0.15000000000000002,), (0.2,)]
    """
    exact = [Fraction(number) for number in numbers]
    found = _means(exact, most)
    if found is not None and len(groups := grouped(found)) <= MOST_VALUES:
        return groups
    near = [_near(number) for number in numbers]
    found = _means(near, most) if None not in near else None
    if found is None or len(found) > MOST_VALUES:
        raise DomainError(
            f"{expr.described} takes means of up to {most} of {len(numbers)} numbers, which are more than "
            f"{MOST_VALUES:,} values. Use a smaller vocabulary or max_length, or map its inputs to fewer values first"
        )
    noise = 0.0 if near == exact else float(np.spacing(max(map(abs, numbers))))
    return [(mean, mean - noise, mean + noise) if noise else (mean,) for mean in sorted(found)]


def _near(number: float) -> Fraction | None:
    """The fraction with a denominator of up to a million that the number is meant to be, if there is one."""
    fraction = Fraction(number).limit_denominator(10**6)
    return fraction if abs(float(fraction) - number) <= SAME * max(1.0, abs(number)) else None


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
