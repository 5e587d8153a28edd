"""Every combination of codes, in blocks: plainly, or with the hidden units that may be on in each block."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from kleene.compiling.alta.conditions.units import Codes, Inputs

CHUNK = 1 << 20  # numbers that are computed at once


def size_of(codes: Codes) -> int:
    """How many assignments there are in arrays of codes."""
    return len(next(iter(codes.values()))) if codes else 1


def assignments(axes: Sequence[Codes], width: int) -> Iterator[Codes]:
    """Every combination of the axes, in blocks of so many that `width` numbers for each fit."""
    shape = tuple(size_of(axis) for axis in axes)
    chunk = max(1, CHUNK // max(width, 1))
    for start in range(0, math.prod(shape), chunk):
        index = np.unravel_index(np.arange(start, min(start + chunk, math.prod(shape))), shape) if shape else ()
        yield {n: column[i] for axis, i in zip(axes, index) for n, column in axis.items()}


@dataclass(frozen=True)
class Run:
    """Some assignments, the units that may be on there, and their pre-activations (assignment, unit)."""

    codes: Codes
    units: np.ndarray
    pre: np.ndarray

    def at(self, where: np.ndarray) -> "Run":
        return Run({n: c[where] for n, c in self.codes.items()}, self.units, self.pre[where])


def runs(inputs: Inputs, axes: Sequence[Codes]) -> Iterator[Run]:
    """Every combination of the axes with the units' pre-activations; units left out are at most 0 there.

    Where there are many units, few are on: the axes are fixed one by one, and with each the units go that can no longer
    be on, whatever the others are.
    """
    tables = [_table(inputs, axis) for axis in axes]
    bits = sum((np.maximum(weights, 0) for _, weights in inputs.bits), np.zeros(len(inputs.bias)))
    most = [table.max(axis=0) for table in tables]
    search = _Search(inputs, list(axes), tables, most, bits)
    start = inputs.bias.copy()
    yield from search.below({}, list(range(len(axes))), np.arange(len(start)), start)


def _table(inputs: Inputs, axis: Codes) -> np.ndarray:
    """What an axis adds to every unit's input, for each of its values: (values, units)."""
    table = np.zeros((size_of(axis), len(inputs.bias)), dtype=inputs.bias.dtype)
    for name, codes in axis.items():
        if name in inputs.tables:
            table += inputs.tables[name][codes]
    return table


@dataclass(frozen=True)
class _Search:
    inputs: Inputs
    axes: list[Codes]
    tables: list[np.ndarray]
    most: list[np.ndarray]
    bits: np.ndarray

    def below(self, fixed: dict[int, int], left: list[int], units: np.ndarray, pre: np.ndarray) -> Iterator[Run]:
        """The runs with some axes fixed, of which `units` have the input `pre` so far."""
        rest = sum((self.most[a][units] for a in left), self.bits[units])
        going = pre + rest > 0
        units, pre, rest = units[going], pre[going], rest[going]
        sizes = [size_of(self.axes[a]) for a in left]
        if len(units) <= 32 or len(left) < 2 or math.prod(sizes) * len(units) <= CHUNK // 16:
            yield from self._plainly(fixed, left, units, pre)
            return
        alive = [
            ((self.tables[a][:, units] - self.most[a][units] + pre + rest) > 0).sum() / n for a, n in zip(left, sizes)
        ]
        axis = left[int(np.argmin(alive))]
        others = [a for a in left if a != axis]
        for value in range(size_of(self.axes[axis])):
            yield from self.below(fixed | {axis: value}, others, units, pre + self.tables[axis][value, units])

    def _plainly(self, fixed: dict[int, int], left: list[int], units: np.ndarray, pre: np.ndarray) -> Iterator[Run]:
        tables = {a: self.tables[a][:, units] for a in left}
        axes = [{str(a): np.arange(size_of(self.axes[a]))} for a in left]
        for index in assignments(axes, max(1, len(units))):
            size = size_of(index)
            total = np.tile(pre, (size, 1))
            for a in left:
                total += tables[a][index[str(a)]]
            codes = {n: c[index[str(a)]] for a in left for n, c in self.axes[a].items()}
            codes |= {n: np.full(size, c[v]) for a, v in fixed.items() for n, c in self.axes[a].items()}
            for bit, weights in self.inputs.bits:
                if weights[units].any():
                    total += bit.at(codes)[:, None] * weights[units]
            yield Run(codes, units, total)
