"""Theorem 4.11 with few units: what a step needs to know is one-hot already, so that transitions need no gates.

A variable for each pair of state and scanned symbol makes every transition's condition a single variable, and all
transitions into one state by one move share the gates that scan the next symbol. A blank is a stack's digit 0, so an
empty right stack is an endless blank tape. The left end is a cell of its own, $, from which every state bounces back;
going back over the word is then a state like any other. A bump costs a tick that is no step of the machine.
"""

from collections import defaultdict
from collections.abc import Hashable, Mapping

from kleene.compiling.turing.formulas import Affine, Number, StepFormulas, total
from kleene.compiling.turing.merged import BOTTOM, LOAD, REWIND
from kleene.programs.turing import TuringMachine

# (state, scanned symbol) → (next state, symbol written or None, move). None takes the cell out of the tape.
Rules = Mapping[tuple[Hashable, Hashable], tuple[Hashable, Hashable | None, str]]


def rules_of(machine: TuringMachine) -> Rules:
    """The machine's transitions with the way back to the left end, and a bounce for each state that may bump."""
    halting = (machine.accept, machine.reject)
    rules: dict = {(REWIND, x): (REWIND, x, "L") for x in (*machine.input_alphabet, machine.blank)}
    rules[REWIND, BOTTOM] = (machine.start, BOTTOM, "R")
    rules |= machine.transitions
    bumping = {target for target, _, move in machine.transitions.values() if move == "L"}
    rules |= {(q, BOTTOM): (q, BOTTOM, "R") for q in machine.states if q in bumping and q not in halting}
    return rules


class Compact:
    """The step of a table of rules: 2(|Σ|+1) + T_L(2|Γ|+1) + T_R(2|Γ|−1) + 4|Γ| + 2 gates for a machine's.

    T_L and T_R count the states entered by a left and by a right move. `keeps_right` lets a right stack that is there
    from the start last while the word is read.
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
        """What each variable tells of a configuration, in their order."""
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
        """What the rules come to: who enters each state by which move, and who pushes what on which stack."""
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
        """Nothing is scanned any more: what was written goes on the left stack, with $ beside it for a move left.

        The right stack is pushed a blank. So both are proper stacks, and no gate opens again.
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
        """For each state and the move into it: the symbol that the head then stands on, and its stack without it."""
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
        """The stack that the head moves to is popped, and the other one is pushed what was written."""
        formulas = self.formulas
        going = {(r, move): gate for (r, move), gate in self.into.items() if r not in self.halting}
        left, right = (total(gate for (_, move), gate in going.items() if move == way) for way in "LR")
        pops = {"left": left, "right": right}
        pushes = {"left": right + self.halts, "right": left - self.takes_out + self.halts}
        for stack, marks in (("left", self.marks["L"]), ("right", self.marks["R"])):
            for x in marks:
                here = formulas.variable((stack, x))
                popped = formulas.base * formulas.where(pops[stack], here)
                pushed = formulas.where(pushes[stack], formulas.pushed(here, self.pushes[stack, x]))
                formulas.add((stack, x), popped + pushed)

    def _keep_right(self) -> None:
        """The right stack stays as it is while the word is read, and where a cell is taken out on the way left."""
        formulas, stays = self.formulas, self.formulas.variable(LOAD) + self.takes_out
        for x in self.marks["R"]:
            formulas.add(("right", x), formulas.where(stays, formulas.variable(("right", x))))
