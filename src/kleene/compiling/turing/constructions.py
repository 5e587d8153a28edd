"""The two constructions of Theorem 4.11: the formulas of one step of a Turing machine.

`Merged` follows Chiang's notes and takes one tick of the network for each step of the machine. Its variables are the
state and the scanned symbol (each one-hot) and two stacks with $ at the bottom. Every transition has its own gates,
merged as in the notes. It closes the gaps of the notes: a halted machine stays halted, the cell past the end of the
right stack is blank, and "not at the left end" is computed as everything less what is at the left end.

`Compact` needs few units, because a variable for each pair of state and scanned symbol makes every transition's
condition a single variable, which needs no gate. All transitions into one state by one move share the gates that scan
the next symbol. A blank is a stack's digit 0, so an empty right stack is an endless blank tape. The left end is a cell
of its own, $, from which every state bounces back, and rewinding over the word is a state like any other. A bump into
the left end costs a tick that is no step of the machine.
"""

from collections import defaultdict
from collections.abc import Hashable, Mapping
from fractions import Fraction

from kleene.compiling.turing.formulas import Affine, Number, StepFormulas, total
from kleene.programs.turing import TuringMachine

LOAD, REWIND, BOTTOM = ("load",), ("rewind",), ("$",)  # tuples, which no machine has as names


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
        """The part of a configuration that each variable stands for, in the variables' order."""
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
        """1 if the gate is open and only $ is on the stack, else 0 or less."""
        base = self.formulas.base
        return gate + base * self._is(side, BOTTOM) - (base - 2) - 1

    def _popped(self, side: str, gate: Affine) -> tuple[Affine, Affine]:
        """Scan the top of a stack and pop it, but leave $; returns whether the gate is open, and open at the end."""
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


# (state, scanned symbol) → (next state, symbol written or None, move). None takes the cell out of the tape.
Rules = Mapping[tuple[Hashable, Hashable], tuple[Hashable, Hashable | None, str]]


def rules_of(machine: TuringMachine) -> Rules:
    """The machine's transitions, the rules that rewind to the left end, and a bounce for each state that may bump."""
    halting = (machine.accept, machine.reject)
    rules: dict = {(REWIND, x): (REWIND, x, "L") for x in (*machine.input_alphabet, machine.blank)}
    rules[REWIND, BOTTOM] = (machine.start, BOTTOM, "R")
    rules |= machine.transitions
    bumping = {target for target, _, move in machine.transitions.values() if move == "L"}
    rules |= {(q, BOTTOM): (q, BOTTOM, "R") for q in machine.states if q in bumping and q not in halting}
    return rules


class Compact:
    """The step of a table of rules. For a machine's rules it has 2(|Σ|+1) + T_L(2|Γ|+1) + T_R(2|Γ|−1) + 4|Γ| + 2 gates.

    T_L and T_R count the states entered by a left and by a right move. With `keeps_right`, a right stack that is filled
    at the start stays while the word is read.
    """

    def __init__(
        self,
        rules: Rules,
        *,
        inputs: tuple[str, ...],
        symbols: tuple[Hashable, ...],
        blank: Hashable,
        end: str,
        first: tuple[Hashable, Hashable],
        halting: tuple[Hashable, ...],
        base: int,
        keeps_right: bool = False,
    ):
        self.rules, self.inputs, self.end, self.first, self.halting = rules, inputs, end, first, halting
        self.blank = blank
        marks = tuple(x for x in symbols if x != blank)
        self.marks: dict[str, tuple[Hashable, ...]] = {"R": marks, "L": (*marks, BOTTOM)}
        self.formulas = StepFormulas((*inputs, end), base)
        self._gather()
        self._load()
        self._scan()
        self._move()
        if keeps_right:
            self._keep_right()
        for state in halting:
            entered = self.formulas.variable(("halted", state)) + self.into[state, "L"] + self.into[state, "R"]
            self.formulas.add(("halted", state), self.formulas.gate(entered))

    @classmethod
    def of(cls, machine: TuringMachine, end: str, base: int) -> "Compact":
        return cls(
            rules_of(machine),
            inputs=machine.input_alphabet,
            symbols=machine.tape_alphabet,
            blank=machine.blank,
            end=end,
            first=(REWIND, machine.blank),
            halting=(machine.accept, machine.reject),
            base=base,
        )

    def start(self) -> dict[Hashable, Number]:
        """The variables before the first symbol."""
        return {LOAD: 1, ("left", BOTTOM): self.formulas.top_digit}

    def halted(self, state: Hashable) -> Affine:
        return self.formulas.variable(("halted", state))

    def roles(self) -> list[dict[str, Hashable]]:
        """The part of a configuration that each variable stands for, in the variables' order."""
        return [self._role(name) for name in self.formulas.variables]

    @staticmethod
    def _role(name: Hashable) -> dict[str, Hashable]:
        kind, *names = name if isinstance(name, tuple) else (name,)
        if kind == "at":
            return {"state": names[0], "scanned": names[1]}
        if kind == "halted":
            return {"state": names[0]}
        return {"state": LOAD} if name == LOAD else {str(kind): names[0]}

    def _gather(self) -> None:
        """Collect from the rules who enters each state by which move, and who pushes what on which stack."""
        self.into: dict[tuple[Hashable, str], Affine] = defaultdict(Affine)
        self.pushes: dict[tuple[str, Hashable], Affine] = defaultdict(Affine)
        self.takes_out, self.halts = Affine(), Affine()
        for (state, symbol), (target, written, move) in self.rules.items():
            here = self.formulas.variable(("at", state, symbol))
            self.into[target, move] += here
            if target in self.halting:
                self._halt(here, written, move)
            elif written is None:
                self.takes_out += here
            else:
                self.pushes["right" if move == "L" else "left", written] += here

    def _halt(self, here: Affine, written: Hashable | None, move: str) -> None:
        """Nothing is scanned any more: the written symbol goes on the left stack, with $ beside it for a move left.

        A blank is pushed on the right stack. So both are proper stacks, and no gate opens again.
        """
        self.halts += here
        self.pushes["left", written] += here
        if move == "L":
            self.pushes["left", BOTTOM] += here

    def _load(self) -> None:
        """The symbols are pushed on the left stack; at the end of the input the first rule takes over."""
        formulas = self.formulas
        inputs = {symbol: formulas.input(symbol) for symbol in self.inputs}
        reads = formulas.variable(LOAD) + total(inputs.values()) - 1
        ends = formulas.variable(LOAD) + formulas.input(self.end) - 1
        formulas.add(LOAD, formulas.gate(reads))
        formulas.add(("at", *self.first), formulas.gate(ends))
        for x in (*self.inputs, BOTTOM):
            left = formulas.variable(("left", x))
            pushed = formulas.pushed(left, inputs.get(x, Affine()))  # type: ignore[arg-type]
            formulas.add(("left", x), formulas.where(reads, pushed) + formulas.where(ends, left))

    def _scan(self) -> None:
        """For each state and the move into it: scan the symbol that the head moves to, and pop it from its stack."""
        formulas = self.formulas
        for (state, move), gate in self.into.items():
            if state in self.halting:
                continue
            blank = formulas.gate(gate)
            for x in self.marks[move]:
                stack = ("left" if move == "L" else "right", x)
                top = formulas.top(gate, formulas.variable(stack))
                formulas.add(("at", state, x), top)
                formulas.add(stack, (1 - formulas.base) * top)
                blank -= top
            formulas.add(("at", state, self.blank), blank)

    def _move(self) -> None:
        """The stack that the head moves to is popped, and the written symbol is pushed on the other one."""
        formulas = self.formulas
        going = {(r, move): gate for (r, move), gate in self.into.items() if r not in self.halting}
        left, right = (total(gate for (_, move), gate in going.items() if move == side) for side in "LR")
        pops = {"left": left, "right": right}
        pushes = {"left": right + self.halts, "right": left - self.takes_out + self.halts}
        for stack, marks in (("left", self.marks["L"]), ("right", self.marks["R"])):
            for x in marks:
                here = formulas.variable((stack, x))
                popped = formulas.base * formulas.where(pops[stack], here)
                pushed = formulas.where(pushes[stack], formulas.pushed(here, self.pushes[stack, x]))
                formulas.add((stack, x), popped + pushed)

    def _keep_right(self) -> None:
        """The right stack stays as it is while the word is read, and where a cell is taken out in a move left."""
        formulas, stays = self.formulas, self.formulas.variable(LOAD) + self.takes_out
        for x in self.marks["R"]:
            formulas.add(("right", x), formulas.where(stays, formulas.variable(("right", x))))
