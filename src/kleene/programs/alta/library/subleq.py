"""A computer with one instruction, SUBLEQ, whose memory is the sequence itself.

An instruction is three cells a, b, c: subtract cell a from cell b; if the result is zero or less go on at c,
otherwise at the next three cells. The machine halts when it goes on at a negative address. Instructions are cells
like any other, so a program may rewrite itself. Each takes three layers:

- FETCH: the addresses a and b are copied out of the heads, so that they can be queries in the next layer;
- SUBTRACT: heads read both cells, the position with address b takes the difference, all remember whether to jump;
- MOVE: the three instruction pointers, which every position holds, jump to c or step by three. The cell of c is read
  only now, so an instruction that overwrites its own c jumps to the new one.

Differences that do not fit between `smallest` and `largest` saturate. A cell that is not there, because the
sequence is shorter or the address is not one, cannot be read: the run ends with an UndefinedAttentionError that names
the head. A program that never halts ends with a HaltError.
"""

import itertools
import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from kleene.errors import ProgramError, RunError
from kleene.programs.alta import Program, halt_spec, input_var, position_var, program_spec, qkv, var
from kleene.programs.alta.library.inputs import Integers

SMALLEST, LARGEST, REGISTERS = -16, 16, 16
FETCH, SUBTRACT, MOVE, DONE = range(4)
EXAMPLE = "9 11 3 11 10 6 11 11 -1 5 10 0"  # adds two cells
MOST_INSTRUCTIONS = 333  # three layers each: what a run of at most 1,000 layers can do


def build(smallest: int = SMALLEST, largest: int = LARGEST, registers: int = REGISTERS) -> Program:
    """A machine of up to `registers` cells with values in smallest..largest; tokens are value - smallest.

    >>> machine = build()
    >>> output = machine.run([v + 16 for v in [9, 11, -1, 0, 0, 0, 0, 0, 0, 7, 0, 0]]).output
    >>> output[11] - 16
    -7
    """
    if not smallest < 0 <= largest or registers < 3:
        raise ProgramError(
            f"subleq: values {smallest}..{largest} in {registers} registers; the values must include -1 (to halt) and "
            f"0, and an instruction needs 3 registers. For example smallest=-16, largest=16, registers=16."
        )
    values, nowhere = largest - smallest + 1, registers  # no cell has the address `nowhere`
    address = registers + 1
    variables = {
        "mem": input_var(values),
        "position": position_var(registers),
        "position_a": var(address, default=0),
        "position_b": var(address, default=1),
        "position_c": var(address, default=2),
        "a_clipped": var(address, default=nowhere),
        "b_clipped": var(address, default=nowhere),
        "jump": var(2),
        "state": var(4),
    }
    heads = {
        "a": qkv("position_a", "position", "mem"),
        "b": qkv("position_b", "position", "mem"),
        "c": qkv("position_c", "position", "mem"),
        "mem_a": qkv("a_clipped", "position", "mem"),
        "mem_b": qkv("b_clipped", "position", "mem"),
    }

    def fetch(name):
        def copy_address(z):
            if z["state"] == FETCH:
                cell = z[name] + smallest
                z[f"{name}_clipped"] = cell if 0 <= cell < registers else nowhere

        return copy_address

    def subtract(z):
        if z["state"] == SUBTRACT and z["position"] == z["b_clipped"]:  # this cell is the one that mem_b reads
            z["mem"] = _clipped(z["mem"] - z["mem_a"], smallest, largest) - smallest

    def remember_jump(z):
        if z["state"] == SUBTRACT:
            z["jump"] = z["mem_b"] - z["mem_a"] <= 0

    def move(name, offset):
        def move_pointer(z):
            if z["state"] == MOVE:
                if not z["jump"]:
                    z[name] = _clipped(z[name] + 3, 0, nowhere)
                elif z["c"] + smallest >= 0:
                    z[name] = _clipped(z["c"] + smallest + offset, 0, nowhere)

        return move_pointer

    def next_state(z):
        if z["state"] == MOVE:
            z["state"] = DONE if z["jump"] and z["c"] + smallest < 0 else FETCH
        elif z["state"] != DONE:
            z["state"] = SUBTRACT if z["state"] == FETCH else MOVE

    pointers = ("position_a", "position_b", "position_c")
    functions = [fetch("a"), fetch("b"), subtract, remember_jump, next_state]
    functions += [move(name, offset) for offset, name in enumerate(pointers)]
    return program_spec(
        variables, heads, functions, "mem", input_range=values, position_range=registers,
        halt=halt_spec("state", DONE), name="subleq", inputs=Machines(smallest, largest, 3, registers, EXAMPLE),
    )  # fmt: skip


def _clipped(value, low, high):
    return low if value < low else high if value > high else value


def execute(cells: Sequence[int], smallest: int = SMALLEST, largest: int = LARGEST) -> tuple[list[int], int]:
    """The memory when the machine has halted, and how many instructions it took; RunError where it cannot halt."""
    memory = list(cells)
    at = 0

    def cell(address: int) -> int:
        if not 0 <= address < len(memory):
            raise RunError(
                f"subleq: the instruction at {at} needs cell {address}; there are cells 0..{len(memory) - 1}"
            )
        return memory[address]

    for done in range(MOST_INSTRUCTIONS):
        a, b = cell(at), cell(at + 1)
        memory[b] = max(smallest, min(largest, cell(b) - cell(a)))
        at = cell(at + 2) if memory[b] <= 0 else at + 3
        if at < 0:
            return memory, done + 1
    raise RunError(f"subleq: the machine has not halted after {MOST_INSTRUCTIONS} instructions")


def reference(tokens: Sequence[int]) -> list[int]:
    """The program's output for the default value range, computed by a machine in plain Python."""
    memory, _ = execute([token + SMALLEST for token in tokens])
    return [value - SMALLEST for value in memory]


@dataclass(frozen=True)
class Machines(Integers):
    """Memories of a SUBLEQ machine; those made here halt within `MOST` instructions."""

    MOST = 30

    def sample(self, rng: random.Random, size: int) -> list[int]:
        length = max(self.shortest, min(size, self.longest))
        while True:
            cells = [rng.randint(-1, length - 1) if rng.random() < 0.8 else self._any(rng) for _ in range(length)]
            if self._halts(cells):
                return [cell - self.smallest for cell in cells]

    def every(self, most: int) -> Iterator[list[int]]:
        """Up to `most` cells, but at least the three of one instruction."""
        values = range(self.smallest, self.largest + 1)
        for length in range(self.shortest, max(self.shortest, min(most, self.longest)) + 1):
            addresses = range(length)  # the first instruction must find its two cells
            for cells in itertools.product(addresses, addresses, *[values] * (length - 2)):
                if self._halts(cells):
                    yield [cell - self.smallest for cell in cells]

    def _any(self, rng: random.Random) -> int:
        return rng.randint(self.smallest, self.largest)

    def _halts(self, cells: Sequence[int]) -> bool:
        try:
            _, instructions = execute(cells, self.smallest, self.largest)
        except RunError:
            return False
        return instructions <= self.MOST
