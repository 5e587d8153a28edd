"""How a network's numbers are read as a Turing machine's configuration, and its ticks as steps of the machine.

`TapeReading` turns coordinates into state, head and tape, and back again. `step_of` reads off a tick's linear map what
the tick does to every configuration.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import lcm

import numpy as np

from kleene.errors import OutgrownError, RunError
from kleene.machines.turing_rnn.exact_ticks import Form
from kleene.notation.computations import Configuration, as_tape

Coordinates = Mapping[int, Fraction]


@dataclass(frozen=True)
class TapeReading:
    """The meaning of each coordinate of a network, as plain data.

    `state_of[k]` is the code of the state in which coordinate k is 1, `scanned_of[k]` of the symbol under the head,
    `left_of[k]` and `right_of[k]` of the symbol whose stack it holds; -1 if it has no such meaning. Codes are indices
    into `states` and `symbols`; len(states) means that the machine has not begun, len(symbols) is $, the left end.
    A stack's coordinate is a fraction in the `base` whose digits, top first, are base − 1 where the symbol lies.
    It takes len(word) + `lead` ticks after the end of the input until the machine begins.
    `limit` is how deep the stacks may be in floating numbers, None if numbers are exact.
    """

    states: tuple[str, ...]
    symbols: tuple[str, ...]
    blank: str
    accept: str
    reject: str
    base: int
    lead: int
    state_of: tuple[int, ...]
    scanned_of: tuple[int, ...]
    left_of: tuple[int, ...]
    right_of: tuple[int, ...]
    limit: int | None = None

    @property
    def bottom(self) -> int:
        return len(self.symbols)

    @property
    def cells(self) -> int:
        """How many cells, the input and the head's included, a tape can always have in floating numbers.

        A stack may hold all of them, as the left one does when the input has been read, and its $; if the right stack
        has a $, that is one more.
        """
        assert self.limit is not None
        return self.limit - 1 - (self.bottom in self.right_stack.values())

    @property
    def setup(self) -> int:
        return len(self.states)

    @cached_property
    def halting(self) -> dict[int, str]:
        """The verdict of each halting state, by its code."""
        return {self.states.index(self.accept): "accept", self.states.index(self.reject): "reject"}

    @cached_property
    def stops(self) -> tuple[int, ...]:
        """The coordinates of the halting states."""
        return tuple(k for k, code in enumerate(self.state_of) if code in self.halting)

    @cached_property
    def blank_code(self) -> int:
        return self.symbols.index(self.blank)

    @cached_property
    def left_stack(self) -> dict[int, int]:
        """The coordinates of the left stack, each with the code of its symbol."""
        return {k: code for k, code in enumerate(self.left_of) if code >= 0}

    @cached_property
    def right_stack(self) -> dict[int, int]:
        """The same for the right stack; it has a $ only if empty cells need a mark."""
        return {k: code for k, code in enumerate(self.right_of) if code >= 0}

    def state(self, at: Coordinates) -> int | None:
        """The code of the state, None if none is set."""
        return self._hot(at, self.state_of, "state")

    def scanned(self, at: Coordinates) -> int | None:
        """The code of the symbol under the head, None if it is still on its stack."""
        return self._hot(at, self.scanned_of, "symbol under the head")

    def _hot(self, at: Coordinates, of: tuple[int, ...], what: str) -> int | None:
        sums: dict[int, Fraction] = {}
        for k, value in at.items():
            if of[k] >= 0:
                sums[of[k]] = sums.get(of[k], Fraction(0)) + value
        found = [code for code, value in sums.items() if value]
        if len(found) > 1 or any(sums[code] != 1 for code in found):
            raise RunError(f"the hidden vector is no configuration: it does not say one {what} (one coordinate must be "
                           f"1 and the others 0); were the weights changed?")  # fmt: skip
        return found[0] if found else None

    def configuration(self, at: Coordinates) -> Configuration:
        """The configuration that the coordinates encode; a RunError if they encode none."""
        state, scanned = self.state(at), self.scanned(at)
        if state is None or state == self.setup:
            raise RunError("the hidden vector is no configuration: the machine has not begun")
        left = {code: at[k] for k, code in self.left_stack.items() if at.get(k)}
        right = {code: at[k] for k, code in self.right_stack.items() if at.get(k)}
        if scanned is None and state in self.halting:
            return self._halted(state, left, right)
        if scanned is None or scanned == self.bottom:
            raise RunError("the hidden vector is no configuration: no symbol of the tape is under the head")
        before, after = self._cells(left, True), self._cells(right, self.bottom in self.right_stack.values())
        return self._named(state, len(before), [*before[::-1], scanned, *after])

    def _halted(self, state: int, left: dict[int, Fraction], right: dict[int, Fraction]) -> Configuration:
        """The configuration of a machine that has halted and scans nothing.

        The left stack has the last written symbol, with $ beside it if the head went left; the right one has a blank.
        """
        top = Fraction(self.base - 1, self.base)
        goes_left = left.get(self.bottom, 0) > top
        if goes_left:
            left[self.bottom] -= top
        before = self._cells(left, True)
        after = self._cells({code: value * self.base for code, value in right.items()}, False)
        head = max(len(before) - 2, 0) if goes_left else len(before)
        return self._named(state, head, [*before[::-1], *after])

    def _named(self, state: int, head: int, cells: list[int]) -> Configuration:
        while cells and cells[-1] == self.blank_code:
            cells.pop()
        return Configuration(self.states[state], head, as_tape(self.symbols)(self.symbols[c] for c in cells))

    def _cells(self, stack: dict[int, Fraction], has_bottom: bool) -> list[int]:
        """The symbols on a stack, top first, without its bottom."""
        scale = lcm(*(value.denominator for value in stack.values()))
        base, numbers = self.base, {code: int(value * scale) for code, value in stack.items() if value}
        cells: list[int] = []
        while numbers:
            tops = [code for code, n in numbers.items() if n * base > scale]
            least = (base - 1) * scale
            if len(tops) > 1 or any(not least <= numbers[c] * base <= scale * base for c in tops) or (
                len(cells) > scale.bit_length()
            ):  # fmt: skip
                raise RunError("the hidden vector is no configuration: a stack's digits are no symbols")
            cells.append(tops[0] if tops else self.blank_code)
            numbers = {c: n * base - (least if c in tops else 0) for c, n in numbers.items()}
            numbers = {c: n for c, n in numbers.items() if n}
        ends = cells.pop() == self.bottom if has_bottom and cells else not has_bottom
        if not ends or self.bottom in cells:
            raise RunError("the hidden vector is no configuration: a stack has no $ at its bottom, or one elsewhere")
        return cells

    def coordinates(self, configuration: Configuration) -> dict[int, Fraction]:
        """The coordinates that encode a configuration of a machine that has not halted."""
        state = self.states.index(configuration.state)
        cells = [self.symbols.index(symbol) for symbol in configuration.tape]
        cells += [self.blank_code] * (configuration.head + 1 - len(cells))
        head = configuration.head
        left, right = [*cells[:head][::-1], self.bottom], cells[head + 1 :]
        right += [self.bottom] if self.bottom in self.right_stack.values() else []
        found = {k: Fraction(1) for k in range(len(self.state_of)) if self._shows(k, state, cells[head])}
        for places, stack in ((self.left_stack, left), (self.right_stack, right)):
            found |= {k: value for k, code in places.items() if (value := self._fraction(stack, code))}
        return found

    def _shows(self, k: int, state: int, scanned: int) -> bool:
        pair = (self.state_of[k], self.scanned_of[k])
        return pair in ((state, scanned), (state, -1), (-1, scanned))

    def _fraction(self, stack: list[int], code: int) -> Fraction:
        number = 0
        for symbol in stack:
            number = number * self.base + (self.base - 1) * (symbol == code)
        return Fraction(number, self.base ** len(stack))

    def check(self, numbers: np.ndarray) -> None:
        """Refuse numbers, floats or Fractions, that need stacks deeper than floats can compute exactly."""
        assert self.limit is not None
        scaled = numbers * self.base**self.limit  # a power of 2 times a float is exact
        if (scaled != np.floor(scaled)).any():
            raise OutgrownError(
                f"the tape has outgrown this network: its floating numbers are exact on a tape of up to {self.cells} "
                f'cells, the head\'s own among them; compile the machine with dtype="exact", which has no limit'
            )


Forms = Mapping[int, Form]
_ZERO = Form(0, {})


@dataclass(frozen=True)
class TapeStep:
    """A step of the machine: the codes of the new state and scanned symbol, the move, and the written symbol.

    `scanned` is None if the machine has halted and its network reads nothing any more.
    """

    state: int
    scanned: int | None
    move: int
    written: int


def step_of(reading: TapeReading, before: Forms, after: Forms) -> TapeStep | None:
    """The step that a tick makes, proven from its map; None if it is not a step of a machine.

    The map must be exactly that of a step: one stack pushed, the other popped of the symbol that is then scanned (or,
    at an end of the tape, unchanged). The forms are equal for all numbers, so the tapes that they encode are equal.
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
        """after − factor · before if that is a constant, else None."""
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
        return digits[0] if digits else blank  # if a blank has no digit, it leaves none

    def _digits(self, stack: dict[int, int]) -> list[int] | None:
        """The symbols whose digit was pushed; None if the map is not a push."""
        base = self.reading.base
        found = {code: self.difference(k, Fraction(1, base)) for k, code in stack.items()}
        on = [code for code, value in found.items() if value != 0]
        return on if all(found[code] == Fraction(base - 1, base) for code in on) else None

    def halting(self, state: int) -> TapeStep | None:
        """The last step of a machine, which then scans nothing; see `TapeReading._halted`."""
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

        If the top of a stack is $, all its other coordinates are 0, and it must follow from the map that they stay 0.
        """
        bottom = Form(Fraction(self.reading.base - 1, self.reading.base), {})
        others = {k for k, code in stack.items() if code != self.reading.bottom}
        marks = stack.keys() - others
        if not marks or any(at.get(k, _ZERO) != bottom for k in marks for at in (self.before, self.after)):
            return False
        forms = [at.get(k, _ZERO) for k in others for at in (self.before, self.after)]
        return all(form.constant == 0 and form.terms.keys() <= others for form in forms)
