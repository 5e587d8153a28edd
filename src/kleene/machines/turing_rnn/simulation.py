"""A Turing machine's computation, put together from what the ticks of a network did.

What a tick does to the configuration is read off its linear map once and for all.
"""

from array import array
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from kleene.errors import RunError
from kleene.machines.turing_rnn.exact_execution import ExactExecution
from kleene.machines.turing_rnn.exact_ticks import Form
from kleene.machines.turing_rnn.float_execution import FloatExecution
from kleene.machines.turing_rnn.reading import TapeReading
from kleene.notation.computations import Computation, Configuration, Configurations

CHUNK = 1 << 16  # ticks between two looks at what was done, where nothing is recorded


Execution = ExactExecution | FloatExecution


class Simulation:
    """Runs of one network; what its execution works out is kept from one run to the next."""

    def __init__(self, reading: TapeReading, execution: Execution, end: int):
        self.reading, self.execution, self.end = reading, execution, end

    def load(self, word: list[int]) -> None:
        """Read the word, and go on until the machine begins."""
        self.execution.begin()
        self.execution.read([*word, self.end])
        self.execution.run(self.end, len(word) + self.reading.lead)

    def take_up(self, configuration: Configuration) -> None:
        self.execution.begin(self.reading.coordinates(configuration))

    def configuration(self) -> Configuration:
        return self.reading.configuration(self.execution.coordinates)

    def computation(self, first: Configuration, ticks: int, max_steps: int, record: bool) -> Computation:
        """The run from that configuration on, of which there were so many ticks before."""
        reading, moves, trail, steps = self.reading, _Moves(self.reading, record), array("q"), 0
        while steps < max_steps and not self.execution.stopped:
            # Every step is a tick, and a bump one more: a step that is still bouncing back is not counted yet.
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
    """The states, moves and symbols written, tick by tick; a bounce off the left end is one step with the bump."""

    def __init__(self, reading: TapeReading, record: bool):
        self.reading, self.record = reading, record
        self.ticks = [np.zeros((0, 4), dtype=np.int32)]  # state, whether about to bounce, move, written
        self.seen: dict[int, list[int]] = {}

    def add(self, trail: np.ndarray, labels: Mapping[int, Any]) -> int:
        """How many steps the ticks of the trail completed."""
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
    """The last configuration, as the only one."""
    tape, state = [reading.symbols.index(symbol) for symbol in last.tape], reading.states.index(last.state)
    return Configurations(reading.states, reading.symbols, reading.blank, tape, [state], [last.head], [])


Forms = Mapping[int, Form]
_ZERO = Form(0, {})


@dataclass(frozen=True)
class TapeStep:
    """What a tick did: the state and symbol (codes) that the head then has, where it moved and what it left behind.

    No symbol is scanned (None) where the machine has halted and its network looks at nothing any more.
    """

    state: int
    scanned: int | None
    move: int
    written: int


def step_of(reading: TapeReading, before: Forms, after: Forms) -> TapeStep | None:
    """What a tick does, proven from its map; None where it is no step of a machine.

    The map must be exactly that of a step: one stack pushed, the other popped of the symbol that is then scanned (or,
    at an end of the tape, left alone). As forms are equal for all numbers, so are the tapes that they stand for.
    """
    known = {k: Fraction(form.constant) for k, form in after.items() if not form.terms}
    if any(reading.state_of[k] >= 0 or reading.scanned_of[k] >= 0 for k in after.keys() - known.keys()):
        return None
    try:
        state, scanned = reading.state(known), reading.scanned(known)
    except RunError:
        return None
    if state is None or (scanned is None and state not in reading.halting):
        return None
    change, left, right = _Change(reading, before, after, scanned), reading.left_stack, reading.right_stack
    if scanned is None:
        return change.halting(state)
    written = change.pushed(right)
    if written is not None and change.popped(left):
        return TapeStep(state, scanned, -1, written)
    written = change.pushed(left)
    if written is not None and (change.popped(right) or change.past_the_end(right)):
        return TapeStep(state, scanned, 1, written)
    if change.bottom_alone(left) and change.none(right):
        return TapeStep(state, scanned, 0, scanned)
    return None


@dataclass(frozen=True)
class _Change:
    """The stacks before and after a tick."""

    reading: TapeReading
    before: Forms
    after: Forms
    scanned: int | None

    def difference(self, k: int, factor: Fraction | int) -> Fraction | None:
        """after − factor · before, where that is a constant."""
        old, new = self.before.get(k, _ZERO), self.after.get(k, _ZERO)
        apart = any(new.terms.get(t, 0) != factor * old.terms.get(t, 0) for t in (*old.terms, *new.terms))
        return None if apart else Fraction(new.constant - factor * old.constant)

    def none(self, stack: dict[int, int]) -> bool:
        return all(self.difference(k, 1) == 0 for k in stack)

    def pushed(self, stack: dict[int, int]) -> int | None:
        """The symbol that was pushed on the stack."""
        digits = self._digits(stack)
        blank = self.reading.blank_code
        if digits is None or len(digits) > 1 or (not digits and blank in stack.values()):
            return None
        return digits[0] if digits else blank  # where a blank is no digit, it leaves none

    def _digits(self, stack: dict[int, int]) -> list[int] | None:
        """The symbols whose digit is set in what was pushed; None where the map is no push."""
        base = self.reading.base
        found = {code: self.difference(k, Fraction(1, base)) for k, code in stack.items()}
        on = [code for code, value in found.items() if value != 0]
        return on if all(found[code] == Fraction(base - 1, base) for code in on) else None

    def halting(self, state: int) -> TapeStep | None:
        """The step of a machine that scans nothing any more: see `TapeReading._halted`."""
        digits, bottom = self._digits(self.reading.left_stack), self.reading.bottom
        if digits is None or self._digits(self.reading.right_stack) != []:
            return None
        written = [code for code in digits if code != bottom]
        if len(written) > 1:
            return None
        move = -1 if bottom in digits else 1
        return TapeStep(state, None, move, written[0] if written else self.reading.blank_code)

    def popped(self, stack: dict[int, int]) -> bool:
        """Whether the stack was popped of the symbol that is scanned now."""
        base = self.reading.base
        return all(self.difference(k, base) == (1 - base if code == self.scanned else 0) for k, code in stack.items())

    def past_the_end(self, stack: dict[int, int]) -> bool:
        """Whether the stack had nothing but $ and still has, and a blank is scanned."""
        return self.bottom_alone(stack) and self.scanned == self.reading.blank_code

    def bottom_alone(self, stack: dict[int, int]) -> bool:
        """Whether the stack had nothing but $ and still has.

        In a code of a stack whose top is $ all else is 0, known or not; it must follow from the map that it stays 0.
        """
        bottom = Form(Fraction(self.reading.base - 1, self.reading.base), {})
        others = {k for k, code in stack.items() if code != self.reading.bottom}
        marks = stack.keys() - others
        if not marks or any(at.get(k, _ZERO) != bottom for k in marks for at in (self.before, self.after)):
            return False
        forms = [at.get(k, _ZERO) for k in others for at in (self.before, self.after)]
        return all(form.constant == 0 and form.terms.keys() <= others for form in forms)
