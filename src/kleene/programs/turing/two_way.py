"""Machines whose tape has no left end, as JFLAP's, on a tape that has one: exact, and step by step.

If no run can move left from the first cell, both tapes are the same. Otherwise the tape is folded: the cell i of the
new tape holds the cells i and -1-i of the old, as one symbol `a/b`, and a state q on the cells left of the first is
called `q←`. The first cell is marked (`⊢a`), so that the machine knows where to turn. There, a move left stays on the
cell, as Kleene's machines do at the left end, and so a step stays one step. Half a cell that is blank is not written:
`a/_` is `a`.

A step that stays (S) becomes two: right, and left again.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from kleene.errors import ProgramError
from kleene.programs.jflap import unused_name

MOST_ENTRIES = 1_000_000  # transitions of the machine on a folded tape
Move = Literal["L", "R", "S"]
Rules = dict[tuple[str, str], tuple[str, str, Move]]


@dataclass(frozen=True)
class TwoWayTable:
    """A machine on a tape without ends. Where there is no rule, it halts and rejects; moves are L, R or S."""

    rules: Mapping[tuple[str, str], tuple[str, str, Move]]
    start: str
    accept: str
    reject: str
    blank: str
    symbols: tuple[str, ...]  # without the blank
    inputs: tuple[str, ...]

    @property
    def tape(self) -> tuple[str, ...]:
        return (*self.symbols, self.blank)

    @property
    def states(self) -> tuple[str, ...]:
        """The states that do not halt, the start first."""
        named = [self.start, *(q for q, _ in self.rules), *(r for r, _, _ in self.rules.values())]
        return tuple(q for q in dict.fromkeys(named) if q not in (self.accept, self.reject))


def never_leaves(machine: TwoWayTable) -> bool:
    """Whether no run can move left from the first cell. False may also mean that this cannot be seen so easily.

    It follows what state and symbol can be at the first cell: a state comes back there only by a move left, with what
    the cell was left with.
    """
    coming = {r for r, _, move in machine.rules.values() if move == "L"}
    waiting = [(machine.start, symbol) for symbol in (*machine.inputs, machine.blank)]
    seen = set(waiting)
    while waiting:
        rule = machine.rules.get(waiting.pop())
        if rule is None:
            continue
        target, written, move = rule
        if move == "L":
            return False
        for pair in {(target, written)} if move == "S" else {(state, written) for state in coming}:
            if pair not in seen:
                seen.add(pair)
                waiting.append(pair)
    return True


def one_way(machine: TwoWayTable) -> tuple[Rules, str]:
    """The complete rules of a machine on a tape with a left end, without S, and its start state."""
    if never_leaves(machine):
        return _without_stays(completed(machine), machine), machine.start
    folded = _Folded(machine)
    return _without_stays(folded.rules, machine), folded.start


def completed(machine: TwoWayTable) -> Rules:
    """The rules of a machine for all of its states and symbols; a missing one rejects."""
    return {(q, a): machine.rules.get((q, a), (machine.reject, a, "R")) for q in machine.states for a in machine.tape}


def _without_stays(rules: Rules, machine: TwoWayTable) -> Rules:
    """Every step that stays as one to the right, and one back from a state of its own."""
    taken = {machine.accept, machine.reject, *(q for q, _ in rules)}
    back: dict[str, str] = {}
    for target, _, move in rules.values():
        if move == "S" and target not in back:
            back[target] = unused_name(f"{target}·", taken)
            taken.add(back[target])
    tape = dict.fromkeys(a for _, a in rules)
    found: Rules = {key: (back[r], b, "R") if move == "S" else (r, b, move) for key, (r, b, move) in rules.items()}
    for target, state in back.items():
        found.update({(state, a): (target, a, "L") for a in tape})
    return found


Cell = tuple[str, str, bool]  # the symbols of a cell and of its mirror image, and whether it is the first
Side = tuple[str, bool]  # a state, and whether it is left of the first cell


class _Folded:
    """The rules on the folded tape, for every state and symbol that may occur.

    What may occur is found as in `never_leaves`, for the first cell and for all others.
    """

    def __init__(self, machine: TwoWayTable):
        self.machine = machine
        blank, begin = machine.blank, (*machine.inputs, machine.blank)
        self.rules: Rules = {}
        self._symbols: dict[Cell, str] = {(symbol, blank, False): symbol for symbol in begin}
        self._states: dict[Side, str] = {}
        self._taken_symbols = set(machine.tape)
        self._taken_states = {*machine.states, machine.accept, machine.reject}
        # Who may come to the first cell, and to others; what may be in them; and who stays on the first cell.
        self._to_first: dict[Side, None] = {}
        self._to_others: dict[Side, None] = {}
        self._firsts: dict[Cell, None] = {}
        self._others: dict[Cell, None] = dict.fromkeys(self._symbols)
        self._staying: dict[tuple[Side, Cell], None] = {}
        self.start = unused_name(f"⊢{machine.start}", self._taken_states)
        self._taken_states.add(self.start)
        for symbol in begin:
            self.rules[self.start, symbol] = self._step((machine.start, False), (symbol, blank, True))
        self._follow()
        self._complete()

    def _follow(self) -> None:
        """Add the rules of all pairs that may occur, until there are no new ones."""
        done: dict[tuple[Side, Cell], None] = {}
        while True:
            pairs = [(side, cell) for side in self._to_first for cell in self._firsts]
            pairs += [(side, cell) for side in self._to_others for cell in self._others]
            new = [pair for pair in dict.fromkeys([*self._staying, *pairs]) if pair not in done]
            if not new:
                return
            if len(done) + len(new) > MOST_ENTRIES:
                raise ProgramError(
                    f"the machine may move left from the first cell, where Kleene's tape ends, and on a folded tape it "
                    f"has more than {MOST_ENTRIES:,} transitions. Mark the first cell, and turn back there"
                )
            for side, cell in new:
                self.rules[self._state(side), self._symbol(cell)] = self._step(side, cell)
            done |= dict.fromkeys(new)

    def _step(self, side: Side, cell: Cell) -> tuple[str, str, Move]:
        """The rule of a pair; what follows from it is noted."""
        (state, is_left), (own, mirrored, is_first) = side, cell
        rule = self.machine.rules.get((state, mirrored if is_left else own))
        if rule is None:
            return self.machine.reject, self._symbol(cell), "R"
        target, written, move = rule
        after = (own, written, is_first) if is_left else (written, mirrored, is_first)
        turns = is_first and move == ("R" if is_left else "L")
        if turns:
            move = "L"  # which stays on the first cell
        elif is_left and move != "S":
            move = "R" if move == "L" else "L"
        following = (target, is_left ^ turns)
        if target not in (self.machine.accept, self.machine.reject):
            self._note(following, after, move, stays=turns or move == "S")
        return self._state(following), self._symbol(after), move

    def _note(self, side: Side, after: Cell, move: Move, *, stays: bool) -> None:
        """Note what may occur after a step that left `after` in its cell."""
        is_first = after[2]
        if is_first and stays:
            self._staying[side, after] = None
            return
        (self._firsts if is_first else self._others)[after] = None
        self._to_others[side] = None
        if move == "L":
            self._to_first[side] = None

    def _complete(self) -> None:
        """Let every other pair reject; it cannot occur."""
        names = {self.start: None} | dict.fromkeys(self._states.values())
        for state in names:
            for symbol in self._symbols.values():
                self.rules.setdefault((state, symbol), (self.machine.reject, symbol, "R"))

    def _state(self, side: Side) -> str:
        state, is_left = side
        if state in (self.machine.accept, self.machine.reject):
            return state
        if side not in self._states:
            name = unused_name(f"{state}←", self._taken_states) if is_left else state
            self._taken_states.add(name)
            self._states[side] = name
        return self._states[side]

    def _symbol(self, cell: Cell) -> str:
        if cell not in self._symbols:
            own, mirrored, is_first = cell
            name = ("⊢" if is_first else "") + (own if mirrored == self.machine.blank else f"{own}/{mirrored}")
            if is_first or mirrored != self.machine.blank:
                name = unused_name(name, self._taken_symbols)
                self._taken_symbols.add(name)
            self._symbols[cell] = name
        return self._symbols[cell]
