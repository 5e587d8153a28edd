"""Exact runs of one word in Python's own integers: for all exact weights, slow and plain.

The numbers of a hidden vector stand over one denominator, as those of the weights do. What is 0 is not kept.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from math import floor, gcd, lcm
from typing import Any

from kleene.notation.exact import ExactMatrix


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
        self.resting: dict[int, dict[int, int]] = {}  # for each symbol seen, what W x + b gives every unit
        self.awake: dict[int, list[int]] = {}  # those of them that it makes positive
        self.clips = network.activation == "slu"
        start = network.start
        self.start = ExactVector(dict(zip(start.rows.tolist(), start.numerators)), start.denominator)

    def step(self, state: ExactVector, symbol: int) -> ExactVector:
        """σ(V h + W x + b) for one symbol."""
        if symbol not in self.resting:
            self._prepare(symbol)
        sums = dict.fromkeys(self.awake[symbol], 0)  # of the units that nothing touches, only these become positive
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
    """The entries (row, numerator) of each column, made when it is first looked at: a word needs few of them."""

    def __init__(self, matrix: ExactMatrix, denominator: int):
        self.matrix, self.factor = matrix, denominator // matrix.denominator

    def __missing__(self, column: int) -> list[tuple[int, int]]:
        starts, rows, order = self.matrix.by_column
        places = slice(starts[column], starts[column + 1])
        numbers = [self.matrix.numerators[k] * self.factor for k in order[places].tolist()]
        self[column] = list(zip(rows[places].tolist(), numbers))
        return self[column]
