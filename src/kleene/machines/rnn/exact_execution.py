"""Exact runs of simple recurrent networks, whatever the size of their numbers.

`PlainStepper` takes one word through a network of any exact weights in Python's own integers. The numbers of a hidden
vector have one common denominator, as those of the weights do; zeros are not stored.

`SparseStepper` takes many words at once through a network of integer weights. The hidden vectors of a batch are triples
(word, unit, value). A step expands every triple along its unit's column of the recurrent matrix, adds up the products
of the same word and unit, adds bias and input, and keeps what is positive. Of the units without products, only those
that bias and input alone make positive are computed. Time and memory grow with the live units, so that a compiled
automaton of thousands of states costs one unit a word.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from math import floor, gcd, lcm
from typing import Any, NamedTuple

import numpy as np

from kleene.notation.exact import ExactMatrix

SAFE = 2**62  # sums that are proven to stay below this are computed in int64
EXPANDED = 1 << 22  # products computed at once; a larger step is done in halves


@dataclass(frozen=True)
class ExactVector:
    """A vector that has live[unit] / denominator at each of its live units and 0 elsewhere."""

    live: dict[int, int]
    denominator: int

    def value(self, unit: int) -> int | Fraction:
        exact = Fraction(self.live.get(unit, 0), self.denominator)
        return exact.numerator if exact.denominator == 1 else exact

    @staticmethod
    def reduced(live: dict[int, int], denominator: int) -> "ExactVector":
        common = gcd(denominator, *live.values())
        return ExactVector({unit: n // common for unit, n in live.items()}, denominator // common)


class PlainStepper:
    """Steps a network of exact weights; `network` is a `SimpleRNN`."""

    def __init__(self, network: Any):
        recurrent, inputs, bias = network.recurrent, network.inputs, network.bias
        self.denominator = lcm(recurrent.denominator, inputs.denominator, bias.denominator)
        self.columns = _Columns(recurrent, self.denominator)
        self.inputs = _Columns(inputs, self.denominator)
        self.biases = dict(zip(bias.rows.tolist(), bias.over(self.denominator)))
        self.resting: dict[int, dict[int, int]] = {}  # for each symbol seen, W x + b
        self.awake: dict[int, list[int]] = {}  # for each symbol seen, the units where that is positive
        self.clips = network.activation == "slu"
        start = network.start
        self.start = ExactVector(dict(zip(start.rows.tolist(), start.numerators)), start.denominator)

    def step(self, state: ExactVector, symbol: int) -> ExactVector:
        """σ(V h + W x + b) for one symbol."""
        if symbol not in self.resting:
            self._prepare(symbol)
        sums = dict.fromkeys(self.awake[symbol], 0)  # of the units without products, only these become positive
        for unit, value in state.live.items():
            for row, weight in self.columns[unit]:
                sums[row] = sums.get(row, 0) + weight * value
        resting, one = self.resting[symbol], self.denominator * state.denominator
        live = {}
        for unit, n in sums.items():
            n += resting.get(unit, 0) * state.denominator
            if n > 0:
                live[unit] = min(n, one) if self.clips else n
        return ExactVector.reduced(live, one)

    def _prepare(self, symbol: int) -> None:
        resting = dict(self.biases)
        for row, n in self.inputs[symbol]:
            resting[row] = resting.get(row, 0) + n
        self.resting[symbol], self.awake[symbol] = resting, [unit for unit, n in resting.items() if n > 0]

    def states(self, symbols: Iterable[int]) -> Iterator[ExactVector]:
        """The start, and the hidden vector after each symbol."""
        state = self.start
        yield state
        for symbol in symbols:
            state = self.step(state, symbol)
            yield state


class PlainReadout:
    """The outputs of a hidden vector, and whether the first of them accepts."""

    def __init__(self, network: Any):
        self.denominator = lcm(network.readout.denominator, network.readout_bias.denominator)
        self.columns = _Columns(network.readout, self.denominator)
        self.bias = [0] * network.readout.shape[0]
        for row, n in zip(network.readout_bias.rows.tolist(), network.readout_bias.over(self.denominator)):
            self.bias[row] = n
        self.threshold = Fraction(network.threshold)

    def outputs(self, state: ExactVector) -> list[Fraction]:
        sums = [n * state.denominator for n in self.bias]
        for unit, value in state.live.items():
            for row, weight in self.columns[unit]:
                sums[row] += weight * value
        return [Fraction(n, self.denominator * state.denominator) for n in sums]

    def accepts(self, state: ExactVector) -> bool:
        return self.outputs(state)[0] > self.threshold


def whole(value: Fraction) -> int | Fraction:
    """An int where the number is whole."""
    return floor(value) if value.denominator == 1 else value


class _Columns(dict[int, list[tuple[int, int]]]):
    """The entries (row, numerator) of each column, made at the first access because a word needs few of them."""

    def __init__(self, matrix: ExactMatrix, denominator: int):
        self.matrix, self.factor = matrix, denominator // matrix.denominator

    def __missing__(self, column: int) -> list[tuple[int, int]]:
        starts, rows, order = self.matrix.by_column
        places = slice(starts[column], starts[column + 1])
        numbers = [self.matrix.numerators[k] * self.factor for k in order[places].tolist()]
        self[column] = list(zip(rows[places].tolist(), numbers))
        return self[column]


class TooLargeError(ArithmeticError):
    """A number might not fit into int64; the caller continues in Python's integers."""


class LiveUnits(NamedTuple):
    """Hidden vectors of a batch: word words[k] has values[k] at units[k], and 0 elsewhere."""

    words: np.ndarray
    units: np.ndarray
    values: np.ndarray

    def where(self, kept: np.ndarray) -> "LiveUnits":
        return LiveUnits(self.words[kept], self.units[kept], self.values[kept])

    @property
    def largest(self) -> int:
        return max(int(self.values.max(initial=0)), -int(self.values.min(initial=0)))


class SparseStepper:
    """Steps a batch of words through a network of integer weights; `network` is a `SimpleRNN`."""

    def __init__(self, network: Any, expanded: int = EXPANDED):
        recurrent, start, self.expanded = network.recurrent, network.start, expanded
        self.hidden, self.clips = recurrent.shape[0], network.activation == "slu"
        self.starts, self.rows, order = recurrent.by_column
        self.weights = _small(recurrent)[order]
        self.growth = recurrent.largest_row_sum
        self.resting = _resting(network.inputs, network.bias)
        self.most_resting = int(np.abs(self.resting).max(initial=0))
        symbols, self.awake = np.nonzero(self.resting > 0)
        self.awake_starts = np.searchsorted(symbols, np.arange(len(network.alphabet) + 1))
        self.start = (start.rows, _small(start))

    def begin(self, words: int) -> LiveUnits:
        units, values = self.start
        return LiveUnits(np.repeat(np.arange(words), len(units)), np.tile(units, words), np.tile(values, words))

    def step(self, live: LiveUnits, words: np.ndarray, symbols: np.ndarray) -> LiveUnits:
        """The live units of these words, which ascend, after a step; `symbols` has every word's symbol of the batch."""
        if live.largest * self.growth + self.most_resting > SAFE:
            raise TooLargeError
        counts = self.starts[live.units + 1] - self.starts[live.units]
        if counts.sum() > self.expanded and len(words) > 1:
            return self._in_halves(live, words, symbols)
        places = _ranges(self.starts[live.units], counts)
        fallen = np.repeat(live.words * self.hidden, counts) + self.rows[places]
        products = self.weights[places] * np.repeat(live.values, counts)
        awake_counts = np.diff(self.awake_starts)[symbols[words]]
        awake = np.repeat(words * self.hidden, awake_counts)
        awake += self.awake[_ranges(self.awake_starts[symbols[words]], awake_counts)]
        return self._activated(np.append(fallen, awake), np.append(products, np.zeros_like(awake)), symbols)

    def _in_halves(self, live: LiveUnits, words: np.ndarray, symbols: np.ndarray) -> LiveUnits:
        middle = words[len(words) // 2]
        low = self.step(live.where(live.words < middle), words[words < middle], symbols)
        high = self.step(live.where(live.words >= middle), words[words >= middle], symbols)
        return LiveUnits(*(np.append(a, b) for a, b in zip(low, high)))

    def _activated(self, keys: np.ndarray, products: np.ndarray, symbols: np.ndarray) -> LiveUnits:
        """The positive units; a key is word · hidden + unit, and products of one key are added up."""
        keys, sums = _added(keys, products)
        words = keys // max(self.hidden, 1)
        units = keys - words * self.hidden
        sums = sums + self.resting[symbols[words], units]
        positive = sums > 0
        live = LiveUnits(words[positive], units[positive], sums[positive])
        return live._replace(values=np.minimum(live.values, 1)) if self.clips else live

    def run(self, tokens: np.ndarray, lengths: np.ndarray) -> Iterator[tuple[np.ndarray, LiveUnits]]:
        """The words still being read and their live units, at the start and after each step."""
        words = np.arange(len(lengths))
        live = self.begin(len(words))
        yield words, live
        for t in range(int(lengths.max(initial=0))):
            goes_on = lengths > t
            words, live = np.flatnonzero(goes_on), live.where(goes_on[live.words])
            live = self.step(live, words, tokens[:, t])
            yield words, live


class SparseReadout:
    """Which words of a batch the network's first output accepts; `network` is a `SimpleRNN`."""

    def __init__(self, network: Any):
        readout, bias = network.readout, network.readout_bias
        denominator = lcm(readout.denominator, bias.denominator)
        first = [
            (u, n) for row, u, n in zip(readout.rows.tolist(), readout.columns, readout.over(denominator)) if row == 0
        ]
        self.bias = sum(n for row, n in zip(bias.rows.tolist(), bias.over(denominator)) if row == 0)
        self.growth = sum(abs(n) for _, n in first)
        # An integer exceeds a number exactly when it exceeds the number's floor.
        self.least = floor(Fraction(network.threshold) * denominator) + 1 - self.bias
        if self.growth > SAFE or abs(self.least) > SAFE:
            raise TooLargeError
        self.weights = np.zeros(readout.shape[1], dtype=np.int64)
        self.weights[[u for u, _ in first]] = [n for _, n in first]

    def accepts(self, live: LiveUnits, words: int) -> np.ndarray:
        """Whether each word of the batch is accepted."""
        if live.largest * self.growth > SAFE:
            raise TooLargeError
        sums = np.zeros(words, dtype=np.int64)
        np.add.at(sums, live.words, self.weights[live.units] * live.values)
        return sums >= self.least


def _small(matrix: ExactMatrix) -> np.ndarray:
    if matrix.small_numerators is None:
        raise TooLargeError
    return matrix.small_numerators


def _resting(inputs: ExactMatrix, bias: ExactMatrix) -> np.ndarray:
    """Bias plus input of each unit, (symbols, hidden)."""
    if max((abs(n) for m in (inputs, bias) for n in m.numerators), default=0) > SAFE // 2:
        raise TooLargeError
    resting = np.zeros((inputs.shape[1], inputs.shape[0]), dtype=np.int64)
    resting[:, bias.rows] = _small(bias)
    resting[inputs.columns, inputs.rows] += _small(inputs)
    return resting


def _ranges(starts: np.ndarray, counts: np.ndarray) -> np.ndarray:
    """start, start + 1, … for each start, `count` numbers each.

    >>> _ranges(np.array([5, 0]), np.array([2, 3])).tolist()
    [5, 6, 0, 1, 2]
    """
    ends = np.cumsum(counts)
    return np.arange(ends[-1] if len(ends) else 0) + np.repeat(starts - (ends - counts), counts)


def _added(keys: np.ndarray, numbers: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The different keys, ascending, and the sum of each key's numbers."""
    if (keys[1:] > keys[:-1]).all():  # always so if each word has one live unit
        return keys, numbers
    order = np.argsort(keys, kind="stable")
    keys, numbers = keys[order], numbers[order]
    firsts = np.flatnonzero(np.append(True, keys[1:] != keys[:-1]))
    return keys[firsts], np.add.reduceat(numbers, firsts)
