"""Ticks of a Turing machine's network in floating numbers, each one checked to be exact."""

from array import array
from collections.abc import Callable, Iterable, Mapping
from fractions import Fraction
from typing import Any

import numpy as np

from kleene.machines.turing_rnn.exact_ticks import Form
from kleene.notation.exact import ExactMatrix


class FloatExecution:
    """Steps a floating ReLU network; `check` may refuse its numbers after each tick.

    Its coordinates are outer · h, and its recurrent weights inner · outer.
    """

    def __init__(
        self,
        network: Any,
        *,
        inner: ExactMatrix,
        outer: ExactMatrix,
        stop: Iterable[int],
        describe: Callable[[Mapping[int, Form], Mapping[int, Form]], Any],
        check: Callable[[np.ndarray], None],
    ):
        weights = {name: np.asarray(weight) for name, weight in network.weights().items()}
        self.recurrent, self.start = weights["recurrent"], weights["start"]
        self.resting = (weights["inputs"] + weights["bias"][:, None]).T
        self.inner, self.outer = (matrix.to_float(self.recurrent.dtype) for matrix in (inner, outer))
        self.stop, self.describe, self.check = list(stop), describe, check
        self.labels: dict[int, Any] = {}
        self.begin()

    def begin(self, coordinates: Mapping[int, Fraction] | None = None) -> None:
        """Go back to the network's start, or to any other variables, if floats can hold them."""
        self.hidden = self.start if coordinates is None else None
        self.variables = self.outer @ self.start
        if coordinates is not None:
            self.variables = np.zeros(len(self.outer), dtype=self.recurrent.dtype)
            self.check(np.array(list(coordinates.values()), dtype=object))
            for k, value in coordinates.items():
                self.variables[k] = float(value)
        self.stopped = False

    @property
    def coordinates(self) -> dict[int, Fraction]:
        """The variables that are not 0, as the exact rationals that floats are."""
        return {int(k): Fraction(float(self.variables[k])) for k in np.flatnonzero(self.variables)}

    def read(self, symbols: Iterable[int]) -> None:
        """Read the symbols, given by their place in the alphabet, one tick each."""
        for symbol in symbols:
            self.run(symbol, 1)

    def run(self, symbol: int, ticks: int, trail: array | None = None) -> int:
        """How many ticks were taken with the same symbol: all of them, or fewer where the run stopped."""
        for taken in range(ticks):
            if self.stopped:
                return taken
            before = self.coordinates if trail is not None else {}
            self._tick(symbol)
            if trail is not None:
                self._remember(before, trail)
        return ticks

    def _tick(self, symbol: int) -> None:
        if self.hidden is None:  # taken up at some variables
            given = self.inner @ self.variables
        else:
            given = self.recurrent @ self.hidden
        self.hidden = np.maximum(given + self.resting[symbol], 0)
        self.check(self.hidden)
        self.variables = self.outer @ self.hidden
        self.check(self.variables)
        self.stopped = bool(self.variables[self.stop].any())

    def _remember(self, before: Mapping[int, Fraction], trail: array) -> None:
        forms = ({k: Form(value, {}) for k, value in at.items()} for at in (before, self.coordinates))
        number = len(trail)  # the trail is read and emptied before the labels are written again
        self.labels[number] = self.describe(*forms)
        trail.append(number)
