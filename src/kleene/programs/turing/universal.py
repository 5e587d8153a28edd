"""A universal Turing machine: it reads another machine and a word, and does what that machine does on that word.

The simulated machine has two tape symbols, its blank and one more; every machine has an equivalent one. Its code is

    # * rule rule : rule rule : rule rule … = tape

with a block for each state that does not halt, the first being the start; `*` marks the block of the current state. A
block has a rule for the blank (0) and one for the other symbol (1): the bit to write, L or R, and where to go: as many
`i` as the number of the block, or A to accept, X to reject; then `;`. On the tape the cell under the head is o for a 0
and l for a 1. So `#*0R;1RA;=l` means: in the only state, go right over 0s; accept on a 1; the head is on a 1.

A step is simulated by four trips: read the bit under the head; carry the rule's bit and move to the tape; put the mark
`*` on the first block; push it one block on for every `i`, turning each one counted into I.
"""

from collections.abc import Iterable

from kleene.errors import InputError
from kleene.notation.computations import Tape
from kleene.notation.words import Word, word_codes
from kleene.programs.turing.machine import TuringMachine
from kleene.programs.turing.table import Move

CODE = "#*:01LRiAX;=ol"
SYMBOLS = CODE + "zeI"  # z and e are the bits 0 and 1 of the rule that is being carried out
BITS, MARKED, CARRIED = "01", "ol", "ze"


class _Transitions:
    """Transitions, added one trip at a time."""

    def __init__(self) -> None:
        self.transitions: dict[tuple[str, str], tuple[str, str, Move]] = {}

    def on(self, state: str, symbol: str, target: str, move: Move, write: str | None = None) -> None:
        self.transitions[state, symbol] = (target, write or symbol, move)

    def go(self, state: str, move: Move, until: Iterable[str]) -> None:
        """Run over everything that is not in `until`; `on` defines what happens there."""
        for symbol in SYMBOLS:
            if symbol not in until:
                self.on(state, symbol, state, move)


def universal() -> TuringMachine:
    """The universal machine. Give it words that `encoded` makes."""
    table = _Transitions()
    _read_the_rule(table)
    _change_the_tape(table)
    _change_the_state(table)
    states = {q for q, _ in table.transitions} | {r for r, _, _ in table.transitions.values()}
    for state in sorted(states - {"accept", "reject"}):
        for symbol in (*SYMBOLS, "_"):  # no code leads to these
            table.transitions.setdefault((state, symbol), ("reject", symbol, "R"))
    return TuringMachine(
        transitions=table.transitions,
        start="look",
        accept="accept",
        reject="reject",
        input_alphabet=tuple(CODE),
        name="universal",
    )


def _read_the_rule(table: _Transitions) -> None:
    """To the head, back to the current block, and to its rule for the bit under the head; the rule gets marked."""
    table.go("look", "R", until=MARKED)
    for bit, marked in zip(BITS, MARKED):
        table.on("look", marked, f"saw{bit}", "L")
        table.go(f"saw{bit}", "L", until="*")
    table.on("saw0", "*", "rule", "R")
    table.on("saw1", "*", "skip", "R")
    table.go("skip", "R", until=";")
    table.on("skip", ";", "rule", "R")
    for bit, carried in zip(BITS, CARRIED):
        table.on("rule", bit, f"move{bit}", "R", write=carried)


def _change_the_tape(table: _Transitions) -> None:
    """Write the bit under the head, and move the mark of the head; at the left end it stays."""
    for bit in BITS:
        for move in ("L", "R"):
            carry = f"carry{bit}{move}"
            table.on(f"move{bit}", move, carry, "R")
            table.go(carry, "R", until=MARKED)
            for marked in MARKED:
                table.on(carry, marked, f"land{move}", move, write=bit)
    for move in ("L", "R"):
        for bit, marked in zip(BITS, MARKED):
            table.on(f"land{move}", bit, "back", "L", write=marked)
    table.on("landL", "=", "landR", "R")
    table.on("landR", "_", "back", "L", write="o")
    table.go("back", "L", until=CARRIED)
    for carried in CARRIED:
        table.on("back", carried, "target", "R")


def _change_the_state(table: _Transitions) -> None:
    """Halt, or mark the first block and push the mark on, once for every i of the rule."""
    for move in "LR":
        table.on("target", move, "target", "R")
    table.on("target", "A", "accept", "R")
    table.on("target", "X", "reject", "R")
    for symbol in "i;":
        table.on("target", symbol, "leave", "L")
    table.go("leave", "L", until="*")
    table.on("leave", "*", "home", "L", write=":")
    table.go("home", "L", until="#")
    table.on("home", "#", "first", "R")
    table.on("first", ":", "find", "R", write="*")
    table.go("find", "R", until=CARRIED)
    for carried in CARRIED:
        table.on("find", carried, "count", "R")
    for symbol in "LRI":
        table.on("count", symbol, "count", "R")
    table.on("count", "i", "push", "L", write="I")
    table.on("count", ";", "restore", "L")
    table.go("push", "L", until="#")
    table.on("push", "#", "pushed", "R")
    table.go("pushed", "R", until="*")
    table.on("pushed", "*", "next", "R", write=":")
    table.go("next", "R", until=":=")
    table.on("next", ":", "again", "L", write="*")
    table.go("again", "L", until="#")
    table.on("again", "#", "find", "R")
    table.on("restore", "I", "restore", "L", write="i")
    for move in "LR":
        table.on("restore", move, "restore", "L")
    for bit, carried in zip(BITS, CARRIED):
        table.on("restore", carried, "look", "R", write=bit)


def encoded(machine: TuringMachine, word: Word) -> str:
    """The word on which the universal machine does what this machine of two tape symbols does on `word`."""
    if len(machine.tape_alphabet) != 2:
        raise InputError(
            f"{machine.name} has the tape symbols {' '.join(machine.tape_alphabet)}; the universal machine simulates "
            f"machines with two, the blank and one more"
        )
    working = [state for state in machine.states if state not in (machine.accept, machine.reject)]
    if not working or machine.start != working[0]:
        raise InputError(f"{machine.name} halts at once; there is nothing to simulate")
    other = machine.tape_alphabet[0]
    goals = {machine.accept: "A", machine.reject: "X"} | {state: "i" * n for n, state in enumerate(working)}
    blocks = []
    for state in working:
        rules = [machine.transitions[state, symbol] for symbol in (machine.blank, other)]
        blocks.append("".join(f"{int(b == other)}{move}{goals[target]};" for target, b, move in rules))
    cells = "1" * len(word_codes(word, machine.input_alphabet))
    return f"#*{':'.join(blocks)}={'l' if cells else 'o'}{cells[1:]}"


def decoded(machine: TuringMachine, tape: Tape) -> str:
    """The tape of the simulated machine, up to its last symbol that is not blank, from the universal machine's."""
    bits = "".join(tape).partition("=")[2].translate(str.maketrans("ol", "01"))
    return bits.rstrip("0").replace("0", machine.blank).replace("1", machine.tape_alphabet[0])
