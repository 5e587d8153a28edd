"""Theorem 4.11 with the notes' own timing: a tick of the network for each step of the machine.

Variables are the state and the scanned symbol (each one-hot) and two stacks with $ at the bottom. Every transition has
gates of its own, merged as the notes do it, with their gaps closed: halting absorbs, the cell past the end
of the right stack is blank, and "not at the left end" is everything less what is at the left end.
"""

from collections.abc import Hashable
from fractions import Fraction

from kleene.compiling.turing.formulas import Affine, Number, StepFormulas, total
from kleene.programs.turing import TuringMachine

LOAD, REWIND, BOTTOM = ("load",), ("rewind",), ("$",)  # tuples, so that no machine has a name like it


class Merged:
    """The step of one machine: 5G·N_L + 4G·N_R + 8G + 3 gates, where G counts the tape symbols and $."""

    def __init__(self, machine: TuringMachine, end: str, base: int):
        self.machine, self.end = machine, end
        self.symbols = (*machine.tape_alphabet, BOTTOM)
        self.formulas = StepFormulas((*machine.input_alphabet, end), base)
        self._load()
        self._rewind()
        for (state, symbol), (target, written, move) in machine.transitions.items():
            gate = self._is("state", state) + self._is("scanned", symbol) - 1
            (self._left if move == "L" else self._right)(gate, target, written)
        for state in (machine.accept, machine.reject):
            self.formulas.add(("state", state), self.formulas.gate(self._is("state", state)))

    def _is(self, kind: str, name: Hashable) -> Affine:
        return self.formulas.variable((kind, name))

    def start(self) -> dict[Hashable, Number]:
        """The variables before the first symbol (Eq. 4.33)."""
        bottom, blank = self.formulas.top_digit, self.machine.blank
        return {("state", LOAD): 1, ("scanned", blank): 1, ("left", BOTTOM): bottom, ("right", BOTTOM): bottom}

    def halted(self, state: str) -> Affine:
        return self._is("state", state)

    def roles(self) -> list[dict[str, Hashable]]:
        """What each variable tells of a configuration, in their order."""
        return [{kind: name} for kind, name in self.formulas.variables]  # type: ignore[misc]

    def _load(self) -> None:
        """Eq. 4.36: the symbols are pushed on the left stack; the end of the input begins the rewinding."""
        formulas, blank = self.formulas, self.machine.blank
        inputs = {symbol: formulas.input(symbol) for symbol in self.machine.input_alphabet}
        reads = self._is("state", LOAD) + total(inputs.values()) - 1
        ends = self._is("state", LOAD) + formulas.input(self.end) - 1
        for x in self.symbols:
            pushed = formulas.pushed(self._is("left", x), inputs.get(x, Affine()))  # type: ignore[arg-type]
            formulas.add(("left", x), formulas.where(reads, pushed) + formulas.where(ends, self._is("left", x)))
        reading, ending = formulas.gate(reads), formulas.gate(ends)
        formulas.add(("state", LOAD), reading)
        formulas.add(("state", REWIND), ending)
        formulas.add(("scanned", blank), reading + ending)
        formulas.add(("right", BOTTOM), formulas.top_digit * (reading + ending))

    def _rewind(self) -> None:
        """Eq. 4.37: back to the left end, and from there into the machine's start state."""
        formulas, top = self.formulas, self.formulas.top_digit
        gate = self._is("state", REWIND)
        going, at_end = self._popped("left", gate)
        formulas.add(("state", REWIND), going - at_end)
        formulas.add(("state", self.machine.start), at_end)
        for x in self.symbols:
            right, scanned = self._is("right", x), self._is("scanned", x) if x != BOTTOM else Affine()
            formulas.add(("right", x), formulas.where(gate, formulas.pushed(right, scanned)))
            formulas.add(("right", x), top * formulas.where(self._at_end("left", gate), right))
            if x != BOTTOM:  # $ is never scanned
                stays = formulas.where(self._at_end("left", gate), scanned)
                formulas.add(("right", x), -1 * top * stays)
                formulas.add(("scanned", x), stays)

    def _left(self, gate: Affine, target: str, written: str) -> None:
        """Eq. 4.38: at the left end the head stays, and the stacks with it."""
        formulas, top = self.formulas, self.formulas.top_digit
        going, at_end = self._popped("left", gate)
        for x in self.symbols:
            right = self._is("right", x)
            kept = formulas.where(self._at_end("left", gate), right)
            formulas.add(("right", x), Fraction(1, formulas.base) * formulas.where(gate, right) + top * kept)
        formulas.add(("right", written), top * (going - at_end))
        formulas.add(("scanned", written), at_end)
        formulas.add(("state", target), going)

    def _right(self, gate: Affine, target: str, written: str) -> None:
        """Eq. 4.39: past the end of the right stack there is a blank."""
        formulas = self.formulas
        going, at_end = self._popped("right", gate)
        for x in self.symbols:
            formulas.add(("left", x), Fraction(1, formulas.base) * formulas.where(gate, self._is("left", x)))
        formulas.add(("left", written), formulas.top_digit * going)
        formulas.add(("scanned", self.machine.blank), at_end)
        formulas.add(("state", target), going)

    def _at_end(self, side: str, gate: Affine) -> Affine:
        """Whether the gate is open and nothing but $ is on the stack: 1, or 0 and less."""
        base = self.formulas.base
        return gate + base * self._is(side, BOTTOM) - (base - 2) - 1

    def _popped(self, side: str, gate: Affine) -> tuple[Affine, Affine]:
        """Scan the top of a stack and pop it, but leave $ there. Whether the gate is open, and open at the end."""
        formulas, base = self.formulas, self.formulas.base
        going, at_end = formulas.gate(gate), formulas.gate(self._at_end(side, gate))
        for x in self.symbols:
            formulas.add((side, x), base * formulas.where(gate, self._is(side, x)))
            if x != BOTTOM:
                top = formulas.top(gate, self._is(side, x))
                formulas.add((side, x), (1 - base) * top)
                formulas.add(("scanned", x), top)
        formulas.add((side, BOTTOM), Fraction(-((base - 1) ** 2), base) * at_end)
        return going, at_end
