"""What a tick of a network does to a Turing machine's configuration, read off its linear map once and for all."""

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction

from kleene.errors import RunError
from kleene.machines.rnn.exact_ticks import Form
from kleene.machines.rnn.tape_reading import TapeReading

Forms = Mapping[int, Form]
_ZERO = Form(0, {})


@dataclass(frozen=True)
class Step:
    """What a tick did: the state and symbol (codes) that the head then has, where it moved and what it left behind.

    No symbol is scanned (None) where the machine has halted and its network looks at nothing any more.
    """

    state: int
    scanned: int | None
    move: int
    written: int


def step_of(reading: TapeReading, before: Forms, after: Forms) -> Step | None:
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
        return Step(state, scanned, -1, written)
    written = change.pushed(left)
    if written is not None and (change.popped(right) or change.past_the_end(right)):
        return Step(state, scanned, 1, written)
    if change.bottom_alone(left) and change.none(right):
        return Step(state, scanned, 0, scanned)
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

    def halting(self, state: int) -> Step | None:
        """The step of a machine that scans nothing any more: see `TapeReading._halted`."""
        digits, bottom = self._digits(self.reading.left_stack), self.reading.bottom
        if digits is None or self._digits(self.reading.right_stack) != []:
            return None
        written = [code for code in digits if code != bottom]
        if len(written) > 1:
            return None
        move = -1 if bottom in digits else 1
        return Step(state, None, move, written[0] if written else self.reading.blank_code)

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
