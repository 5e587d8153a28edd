"""A Turing machine's computation, put together from the ticks of a network.

`Simulation` runs a network and turns its ticks into configurations. `ExactExecution` runs exact networks;
`FloatExecution` runs floating ones and checks after every tick that its numbers are still exact.
"""

from array import array
from collections.abc import Callable, Iterable, Mapping
from fractions import Fraction
from typing import Any

import numpy as np

from kleene.errors import RunError
from kleene.machines.turing_rnn.exact_execution import ExactExecution
from kleene.machines.turing_rnn.exact_ticks import Form
from kleene.machines.turing_rnn.reading import TapeReading
from kleene.notation.computations import Computation, Configuration, Configurations
from kleene.notation.exact import ExactMatrix

CHUNK = 1 << 16  # ticks between two evaluations of the trail


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
        """Go back to the network's start, or to given coordinates if floats can hold them."""
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
        """Read the symbols, given by their index in the alphabet, one tick each."""
        for symbol in symbols:
            self.run(symbol, 1)

    def run(self, symbol: int, ticks: int, trail: array | None = None) -> int:
        """Take up to `ticks` ticks with the same symbol and return their number: fewer if the run stopped."""
        for taken in range(ticks):
            if self.stopped:
                return taken
            before = self.coordinates if trail is not None else {}
            self._tick(symbol)
            if trail is not None:
                self._remember(before, trail)
        return ticks

    def _tick(self, symbol: int) -> None:
        if self.hidden is None:  # begun at given coordinates
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


Execution = ExactExecution | FloatExecution


class Simulation:
    """Runs of one network; the traced ticks of its execution are kept from one run to the next."""

    def __init__(self, reading: TapeReading, execution: Execution, end: int):
        self.reading, self.execution, self.end = reading, execution, end

    def load(self, word: list[int]) -> None:
        """Read the word, and continue until the machine begins."""
        self.execution.begin()
        self.execution.read([*word, self.end])
        self.execution.run(self.end, len(word) + self.reading.lead)

    def take_up(self, configuration: Configuration) -> None:
        self.execution.begin(self.reading.coordinates(configuration))

    def configuration(self) -> Configuration:
        return self.reading.configuration(self.execution.coordinates)

    def computation(self, first: Configuration, ticks: int, max_steps: int, record: bool) -> Computation:
        """The computation from that configuration on; `ticks` were taken before it."""
        reading, moves, trail, steps = self.reading, _Moves(self.reading, record), array("q"), 0
        while steps < max_steps and not self.execution.stopped:
            # Every step is one tick, or two at the left end: a step that has not yet bounced back is not counted.
            ticks += self.execution.run(self.end, min(max_steps - steps, CHUNK), trail)
            steps += moves.add(np.array(trail), self.execution.labels)
            del trail[:]
        last = self.configuration()
        kept = moves.configurations(first) if record else _alone(reading, last)
        if kept[-1] != last:
            raise RunError(f"the network ends with {last}, but its steps lead to {kept[-1]}; were its weights changed?")
        verdict: Any = reading.halting.get(reading.states.index(last.state), "running")
        names = (reading.states, reading.symbols, reading.blank)
        return Computation(verdict, steps, kept, *names, source="network", ticks=ticks)


class _Moves:
    """The states, moves and written symbols of each tick; a bump into the left end and its bounce are one step."""

    def __init__(self, reading: TapeReading, record: bool):
        self.reading, self.record = reading, record
        self.ticks = [np.zeros((0, 4), dtype=np.int32)]  # state, whether about to bounce, move, written
        self.seen: dict[int, list[int]] = {}

    def add(self, trail: np.ndarray, labels: Mapping[int, Any]) -> int:
        """Add the ticks of the trail and return how many steps they completed."""
        numbers, which = np.unique(trail, return_inverse=True)
        rows = np.array([self._row(number, labels) for number in numbers.tolist()], dtype=np.int32).reshape(-1, 4)
        if self.record:
            self.ticks.append(rows[which])
        return int((rows[which, 1] == 0).sum())

    def _row(self, number: int, labels: Mapping[int, Any]) -> list[int]:
        step = labels[number]
        if step is None:
            raise RunError(
                "the network did something that is no step of a Turing machine; its hidden vector is no configuration. "
                "Were its weights changed?"
            )
        return [step.state, step.scanned == self.reading.bottom, step.move, step.written]

    def configurations(self, first: Configuration) -> Configurations:
        reading = self.reading
        states, bounces, moves, written = np.concatenate(self.ticks).T
        kept = np.flatnonzero(bounces == 0)
        bumped = np.append(0, bounces)[kept] == 1  # then the step wrote at the tick before, and this one put $ back
        written = np.where(bumped, written[np.maximum(kept - 1, 0)], written[kept])
        heads = np.maximum(first.head + np.cumsum(moves), 0)[kept]  # a machine may halt with a bump
        tape = [reading.symbols.index(symbol) for symbol in first.tape]
        begins = reading.states.index(first.state)
        names = (reading.states, reading.symbols, reading.blank)
        return Configurations(*names, tape, np.append(begins, states[kept]), np.append(first.head, heads), written)


def _alone(reading: TapeReading, last: Configuration) -> Configurations:
    """The last configuration as the only one."""
    tape, state = [reading.symbols.index(symbol) for symbol in last.tape], reading.states.index(last.state)
    return Configurations(reading.states, reading.symbols, reading.blank, tape, [state], [last.head], [])
