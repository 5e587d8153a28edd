"""Means: no average that a head can read is so near to where its answer changes that rounding could matter.

A numeric head reads m = Σ cᵥ·v / n, where cᵥ of the n selected positions hold the number v. The answer changes only at
the two edges of each *strip*, the middle between two declared values ± 1/64 of their gap. Below the strip the lower
value is meant, above it the higher one, and inside it the mean is refused (`Reason.BETWEEN`). Program and network agree
on all means if no mean that can be read lies within w of an edge, where w bounds the error of every execution.

The bound w is made of these errors, with u half a unit in the last place (2⁻²⁴, 2⁻⁵³, 2⁻⁸):

- *The numbers.* The network holds each v in its number type, and on a grid if the MLP writes it. This is measured.
- *The sum.* n numbers added up in any order are off by at most (n - 1)·u·Σ|v|, because no number passes through more
  than n - 1 additions. If all numbers are multiples of one power of two g, and n·max|v|/g is at most 2²⁴ (2⁵³),
  every partial sum is exact. Softmax adds up the same numbers: its weights before the division are exactly 1 and 0
  (see `selection`).
- *The division*, the rounding to the number type, and the step `slope·x + bias` are off by u relative to what they
  make, and slope and bias are rounded themselves: the network's own edge, (0 - bias)/slope or (1 - bias)/slope, is
  computed exactly, and w is counted from both edges.
- No sum overflows: even `length` times the greatest number is at most a quarter of the greatest float.
- The program adds in float64, to which the same bounds apply with u = 2⁻⁵³.

Which means can be read? If the numbers are v = a + g·k with integers k, then Σ cₖ·k is an integer. Near an edge E (in
units of g) only the integers next to n·E matter, for each n ≤ length. For large n all of these are assumed to be
readable, which errs on the side of refusing; for small n the sums are listed. Two numbers always have such a g. More
numbers have one if they are fractions with small denominators, as 0.1 and 1/3 are up to 2⁻⁵⁰, which is added to w. The
sums of numbers without a g are listed as long as there are not too many, and no greater length is certified.

A mean exactly on an edge does no harm if nothing is rounded, because all executions then judge it alike.
"""

import bisect
import itertools
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np

from kleene.compiling.alta.conditions import Condition
from kleene.compiling.alta.conditions.weights import held_numbers, number_steps, unit_roundoff, wide_type
from kleene.machines.transformer.layer import RELU_NOISE
from kleene.machines.transformer.universal_transformer import UniversalTransformer
from kleene.programs.alta.program import Program
from kleene.programs.alta.variables import BLUR, Numeric

LISTED = 1 << 17  # sums that are listed one by one, at most
DENOMINATORS = 10_000
BLOCK = 1 << 16
SEARCHED = 1 << 24  # numbers in one mean, at most
SPARE = 1.05  # for what is of second order in u, as long as n·u is at most 1/64


@dataclass(frozen=True)
class StepEdge:
    """A place between `low` and `high` where an answer changes; rounding there is at most `fixed + size·n·unit`.

    `exact`: all executions judge a mean that is exactly this number alike. `tolerated`: how far two readings may differ
    and still be equal in a trace; 0 if the side of the edge changes what is computed.
    """

    low: Fraction
    high: Fraction
    fixed: float
    size: float
    unit: float
    exact: bool
    tolerated: float = 0.0

    def width(self, n: np.ndarray, exactly_summed: int) -> np.ndarray | np.floating:
        """How far a mean of n numbers can be off, or -1 where the error does no harm."""
        width = SPARE * (self.fixed + np.where(n > exactly_summed, self.size * self.unit * n, 0.0))
        apart = width * (1 + 2.0**-53 / self.unit)  # how far program and network may be from each other
        return np.where(apart > self.tolerated, width, -1.0) if self.tolerated else width


@dataclass(frozen=True)
class Near:
    """A mean too near an edge: that of n numbers, with how many are each value (None if that was not found)."""

    n: int
    edge: StepEdge
    counts: dict[float, int] | None


@dataclass(frozen=True)
class Means:
    """What a numeric head can read: the `values`, at most `most` at once, and the edges between answers."""

    head: str
    values: tuple[float, ...]
    most: int
    edges: tuple[StepEdge, ...]
    exactly_summed: int

    def first_near(self, length: int) -> Near | None:
        """The smallest set of at most `length` numbers whose mean is too near an edge."""
        asked = min(length, self.most)
        most = min(asked, SEARCHED, max(self.exactly_summed, int(1 / (64 * self.edges[0].unit))))
        scale = _Scale.of(self.values)
        if scale is None:
            found = _first_listed(self, _Scale.plain(self.values), most, most)
        else:
            listed = min(most, 0 if scale.dense else 48)
            found = _first_listed(self, scale, listed, most) or _first_whole(self, scale, listed + 1, most)
        return Near(most + 1, self.edges[0], None) if found is None and asked > most else found

    def longest(self, length: int) -> int:
        """The greatest length up to `length` at which every mean is decided correctly."""
        near = self.first_near(length)
        return length if near is None else near.n - 1


@dataclass(frozen=True)
class _Scale:
    """The values as `start + unit·k`: whole `steps` k (or the numbers themselves), off by at most `off`."""

    start: Fraction
    unit: Fraction
    steps: np.ndarray
    off: float

    @property
    def dense(self) -> bool:
        return len(self.steps) == int(self.steps[-1]) + 1

    @staticmethod
    def plain(values: Sequence[float]) -> "_Scale":
        return _Scale(Fraction(0), Fraction(1), np.array(values), 2.0**-52 * max(abs(v) for v in values))

    @staticmethod
    def of(values: Sequence[float]) -> "_Scale | None":
        exact = [Fraction(v) for v in values]
        if len(exact) <= 2:
            unit = exact[-1] - exact[0] or Fraction(1)
            return _Scale(exact[0], unit, np.arange(len(exact)), 0.0)
        simple = [v.limit_denominator(DENOMINATORS) for v in exact]
        off = max(abs(a - b) for a, b in zip(exact, simple))
        common = math.lcm(*(v.denominator for v in simple))
        steps = [int((v - simple[0]) * common) for v in simple]
        if off > Fraction(max(abs(v) for v in values)) / 2**50 or steps[-1] > 1 << 24:
            return None
        shared = math.gcd(*steps)
        return _Scale(simple[0], Fraction(shared, common), np.array(steps) // shared, float(off))


def _first_listed(means: Means, scale: _Scale, listed: int, most: int) -> Near | None:
    """The first mean too near an edge among all sums of 1, 2, … numbers, as long as they are few enough to list."""
    low = np.array([float((e.low - scale.start) / scale.unit) for e in means.edges])
    high = np.array([float((e.high - scale.start) / scale.unit) for e in means.edges])
    largest, sums = float(np.abs(scale.steps).max()), np.zeros(1, dtype=scale.steps.dtype)
    for n in range(1, listed + 1):
        if len(sums) * len(scale.steps) > LISTED:
            return Near(n, means.edges[0], None) if listed == most else None
        sums = np.unique(np.add.outer(sums, scale.steps))
        width = np.array([float(e.width(np.array(n), means.exactly_summed)) for e in means.edges])
        reach = np.where(width < 0, -1.0, (width + scale.off) / float(scale.unit) + 2.0**-50 * largest)
        first = np.searchsorted(sums, n * (low - reach))
        for k in np.flatnonzero((first < np.searchsorted(sums, n * (high + reach), side="right")) & (reach >= 0)):
            edge, total = means.edges[k], sums[first[k]].item()
            spared = edge.exact and n <= means.exactly_summed and total == n * (edge.low - scale.start) / scale.unit
            if not spared:
                return Near(n, edge, _counted(means.values, scale.steps, n, total))
    return None


def _first_whole(means: Means, scale: _Scale, first: int, most: int) -> Near | None:
    """The first n for which n times an edge is too near an integer. n·E modulo 1 is computed in units of 2⁻⁶⁴."""
    best: Near | None = None
    for edge in sorted(means.edges, key=lambda e: e.tolerated):
        low, high = (edge.low - scale.start) / scale.unit, (edge.high - scale.start) / scale.unit
        last = most if best is None else best.n - 1
        widest = float(edge.width(np.array(last), means.exactly_summed))
        apart = 2 * last * (Fraction(widest) + Fraction(scale.off)) / scale.unit * low.denominator
        away = float(max(low - int(scale.steps[-1]), -high))  # how far an edge lies beyond all means
        if (edge.exact and last <= means.exactly_summed and apart < 0.9) or widest / float(scale.unit) < away:
            continue  # harmless even for the largest n: means that are not on the edge are further away
        for n in _blocks(max(first, _first_harm(means, edge, last)), last):
            width = edge.width(n, means.exactly_summed)
            reach = (width + scale.off) / float(scale.unit)
            share = (n.astype(np.uint64) * np.uint64(int(low * 2**64) % 2**64)).astype(np.float64) / 2.0**64
            room = n * (float(high - low) + 2 * reach) + n * 2.0**-60
            close = ((n * reach - share) % 1.0 <= room) & (width >= 0) & (reach >= away)
            if edge.exact:
                spared = (n <= means.exactly_summed) & (n % min(low.denominator, 1 << 62) == 0) & (room < 1)
                close &= ~spared
            if close.any():
                at = int(n[np.argmax(close)])
                total = round(at * (low + high) / 2)
                best = Near(at, edge, _counted(means.values, scale.steps, at, total))
                break
    return best


def _first_harm(means: Means, edge: StepEdge, last: int) -> int:
    """The first n for which the error does harm, or `last + 1` if there is none; the error grows with n."""
    return bisect.bisect_left(range(last + 1), True, key=lambda n: edge.width(np.array(n), means.exactly_summed) >= 0)


def _blocks(first: int, last: int) -> Iterator[np.ndarray]:
    for start in range(first, last + 1, BLOCK):
        yield np.arange(start, min(start + BLOCK, last + 1))


def _counted(values: Sequence[float], steps: np.ndarray, n: int, total: float) -> dict[float, int] | None:
    """How often each value occurs among n values with this total of steps, or None after a few thousand trials."""
    trials = iter(range(4096))

    def solve(index: int, n: int, total: float) -> list[int] | None:
        if next(trials, None) is None or not total - n * float(steps[0]) >= -1e-9 or total - n * steps[index] > 1e-9:
            return None
        if index == 0:
            return [n]
        share = float(steps[index] - steps[0])
        most = min(n, int((total - n * float(steps[0])) / share + 1e-9)) if share else n  # 0: nearly the same number
        for count in range(most, -1, -1):
            rest = solve(index - 1, n - count, total - count * steps[index])
            if rest is not None:
                return [*rest, count]
        return None

    found = solve(len(steps) - 1, n, total)
    return None if found is None else {v: c for v, c in zip(values, found) if c}


def means_of(network: UniversalTransformer, program: Program, head: str) -> Means | None:
    """What a numeric head can read, or None for a head that reads categories or has a single value."""
    output, source = program.outputs[head], program.heads[head].value
    if not isinstance(output, Numeric) or len(output.values) < 2:
        return None
    exact, kept = held_numbers(network, program, source)
    grid = min((_lowest_bit(h) for h in (*exact, *kept) if h), default=1.0)
    largest = max(abs(h) for h in (*exact, *kept))
    summed = int(grid / largest / unit_roundoff(wide_type(network))) if largest else 1 << 53
    offsets = program.heads[head].offsets
    return Means(
        head, tuple(exact), len(offsets) or 1 << 53, tuple(_edges(network, program, head, exact, kept)), summed
    )


def _lowest_bit(x: float) -> float:
    """The largest power of two of which the number is a multiple."""
    numerator, denominator = abs(Fraction(x)).as_integer_ratio()
    return float(Fraction(numerator & -numerator, denominator))


def _edges(
    network: UniversalTransformer, program: Program, head: str, exact: Sequence[float], held: Sequence[float]
) -> Iterator[StepEdge]:
    """The edges of every strip, and the middles, at which a trace that shows the mean might be read differently."""
    output = program.outputs[head]
    assert isinstance(output, Numeric)
    steps = number_steps(network, head) if head in program.reads else None
    rounding = _Rounding.of(network, exact, held)
    values, scale = [Fraction(v) for v in output.values], max(abs(v) for v in output.values)
    for i, (below, above) in enumerate(itertools.pairwise(values)):
        middle, half = (below + above) / 2, (above - below) * Fraction(BLUR)
        near = replace(rounding, half=float(half))
        # Two readings this near are equal in a trace: see `Channel.differs`.
        yield near.at(middle, [], exact=near.unmoved, tolerated=2.0**-18 * scale + 2.0**-7 * 0.9 * abs(float(middle)))
        if steps is not None:
            for ideal, theirs, code in zip((middle - half, middle + half), steps.edges(i, RELU_NOISE), (i, i + 1)):
                shown = not output.blurred(float(ideal)) and int(output.bucket(float(ideal))) == code
                unrounded = _passes_unrounded(network, ideal, float(steps.slopes[i]))
                yield near.at(ideal, theirs, exact=near.unmoved and shown and unrounded)


@dataclass(frozen=True)
class _Rounding:
    """The parts of the error bounds at the edges of one head: see the top of this module."""

    narrow: float
    wide: float
    largest: float  # summand; 0 if all have one sign, because no partial sum then exceeds the sum
    moved: float
    share: float
    half: float = 0.0

    @staticmethod
    def of(network: UniversalTransformer, exact: Sequence[float], held: Sequence[float]) -> "_Rounding":
        one_sign = min(exact) >= 0 or max(exact) <= 0
        moved = max(abs(a - b) for a, b in zip(exact, held))
        share = max((abs(a - b) / abs(a) for a, b in zip(exact, held) if a), default=0.0)
        narrow, wide = unit_roundoff(network.tokens.dtype), unit_roundoff(wide_type(network))
        largest = 0.0 if one_sign else max(abs(v) for v in exact)
        return _Rounding(narrow, wide, largest, moved, share if one_sign else 1.0)

    @property
    def unmoved(self) -> bool:
        return self.moved == 0

    def at(self, ideal: Fraction, theirs: list[Fraction], *, exact: bool, tolerated: float = 0.0) -> StepEdge:
        size = abs(float(ideal)) + 2.0**-100
        off = min(self.moved, self.share * size / (1 - self.share)) if self.share < 0.5 else self.moved
        fixed = off + size * (8 * self.wide + self.narrow) + 256 * self.half * self.wide
        low, high = min([ideal, *theirs]), max([ideal, *theirs])
        return StepEdge(low, high, fixed, max(self.largest, size), self.wide, exact and low == high, tolerated)


def _passes_unrounded(network: UniversalTransformer, ideal: Fraction, slope: float) -> bool:
    """Whether a mean that is exactly this number, and its product with the slope, are numbers of the network's type."""
    product = ideal * Fraction(slope)
    held = float(np.asarray(float(ideal)).astype(network.tokens.dtype))
    return Fraction(held) == ideal and Fraction(float(wide_type(network)(float(product)))) == product


def summable(network: UniversalTransformer, program: Program, head: str) -> int:
    """At how many positions no sum of what a head reads overflows: of all numbers there, whatever it selects."""
    if not isinstance(program.outputs[head], Numeric):
        return 1 << 53
    _, held = held_numbers(network, program, program.heads[head].value)
    return min(1 << 53, int(np.finfo(wide_type(network)).max / 4 / max(1.0, *map(abs, held))))


def averages(network: UniversalTransformer, program: Program, length: int) -> Condition:
    """No mean that can be read is so near an edge that rounding could push it over, and no sum overflows."""
    for head in program.heads:
        if (most := summable(network, program, head)) < length:
            how = f"the sum of {length:,} numbers that {head!r} may read can overflow, that of {most:,} cannot"
            return Condition("averages", False, how)
    shown = []
    for head in program.heads:
        means = means_of(network, program, head)
        if means is None:
            continue
        near = means.first_near(length)
        if near is not None:
            return Condition("averages", False, _shown(means, near, length))
        width = max(float(e.width(np.array(min(length, means.most)), means.exactly_summed)) for e in means.edges)
        shown.append(
            f"{head!r} is off by at most {max(width, 0):.1e}, and no mean is as near to where its answer changes"
        )
    return Condition("averages", True, "; ".join(shown) or "no numeric heads")


def _shown(means: Means, near: Near, length: int) -> str:
    able = f"{means.head!r} can be decided for at most {near.n - 1:,} positions, not {length:,}"
    if near.counts is None:
        return f"{able}: the means of {near.n:,} numbers are too many to search"
    mean = sum(Fraction(v) * c for v, c in near.counts.items()) / near.n
    counted = " and ".join(f"{c:,} × {v:g}" for v, c in near.counts.items())
    off = float(near.edge.width(np.array(near.n), means.exactly_summed))
    return (
        f"{able}: {counted} have the mean {float(mean):.10g}, and its answer changes at {float(near.edge.low):.10g}, "
        f"where rounding may be off by {off:.1e}"
    )
