"""A circuit: a program for an NRAM, run on integers, many memories at once; and a plain interpreter to check it."""

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from kleene.errors import InputError, RunError
from kleene.files import SEAL, sealed, write_atomically
from kleene.notation.edits import Edit, Edits
from kleene.notation.store_edits import StoreEdits
from kleene.notation.wiring import OPERATIONS, check_run, check_steps
from kleene.programs.circuits.blocks import BlockTable, as_text, load, parse
from kleene.traces import Channel, Trace
from kleene.traces.markup import html_text

Run = tuple[np.ndarray, np.ndarray, np.ndarray]  # memory [step, cell], registers [step, register], choices of each step


class Circuit(BlockTable):
    """A program for an NRAM: blocks of connections, chosen at each step by which registers are zero.

    Integers are modulo M, the number of memory cells. Register i starts with i. At each step the modules run in their
    order, and then all registers change together. A hole may be anything; `run` fills it with a default, or at random.

    >>> text = '''registers 2
    ... modules READ+INC+WRITE
    ... when - -: READ(r0) INC(READ) WRITE(r0, INC)  r0 = INC'''
    >>> Circuit.from_text(text).run([3, 1, 1, 2], steps=1).output
    [0, 1, 1, 2]
    """

    @classmethod
    def from_text(cls, text: str, name: str = "the circuit") -> "Circuit":
        """The circuit in a string; a ProgramError names the line that cannot be read."""
        return cls.of(parse(text, name))

    @property
    def text(self) -> str:
        """The circuit as a string that `from_text` reads."""
        return as_text(self)

    def __str__(self) -> str:
        return self.text

    def _repr_html_(self) -> str:
        return html_text(self.text)

    @classmethod
    def load(cls, path: Any) -> "Circuit":
        """The circuit in a text file, usually one that ends in `.nram`; it is named after the file."""
        return cls.of(load(Path(path)))

    def save(self, path: Any) -> Path:
        """Save the circuit as a text file with its checksum and return the path."""
        return write_atomically(Path(path), sealed(f"// {SEAL}\n{self.text}"))

    # Running.

    def channels(self, size: int) -> tuple[Channel, ...]:
        """The channels that a run on a memory of that size records."""
        return self.wiring.channels(size)

    def run(
        self,
        memory: Sequence[int],
        steps: int | None = None,
        generator: np.random.Generator | None = None,
        *,
        edits: Sequence[Edit] = (),
    ) -> Trace:
        """The trace on a memory: `memory`, the registers, and each step's connections (`READ.a`, `r0.c`).

        The output is the final memory. With a `generator` every hole is drawn again at every step. `edits` set
        registers and cells of the `memory` after a step, and the run goes on from there: see `kleene.Edit`.
        """
        return self.run_batch([memory], None if steps is None else [steps], generator, edits=edits)[0]

    def run_batch(
        self,
        memories: Iterable[Sequence[int]],
        steps: Sequence[int] | None = None,
        generator: np.random.Generator | None = None,
        *,
        edits: Edits = (),
    ) -> list[Trace]:
        """The traces on many memories, which may be of different sizes, run together.

        `edits` are for every memory, or a list for each of them.
        """
        checked = [self._checked_memory(memory) for memory in memories]
        check_steps(steps, len(checked))
        taken = [self._checked_steps(memory, steps, row) for row, memory in enumerate(checked)]
        recorded = sum(map(len, checked)) + len(checked) * (self.wiring.registers + len(self.wiring.connections))
        check_run(taken, recorded)
        editing = StoreEdits(self.name, edits, self.wiring, [len(memory) for memory in checked], taken)
        done = _execute(self, checked, taken, generator, editing if edits else None) if checked else ()
        return [
            Trace(self.channels(len(memory)), self.wiring.entries(*run), "memory", source="program")
            for memory, run in zip(checked, done)
        ]

    def _checked_memory(self, memory: Sequence[int]) -> np.ndarray:
        cells = np.asarray(memory)
        if cells.ndim != 1 or len(cells) < 2 or not np.issubdtype(cells.dtype, np.integer):
            raise InputError(f"a memory is a list of two or more whole numbers; {self.name} was given {memory!r}")
        if cells.min() < 0 or cells.max() >= len(cells):
            cell = int(np.argmax((cells < 0) | (cells >= len(cells))))
            raise InputError(
                f"cell {cell} of the memory is {cells[cell]}, and a memory of {len(cells)} cells holds numbers 0 to "
                f"{len(cells) - 1}: integers are modulo its size"
            )
        return cells

    def _checked_steps(self, memory: np.ndarray, steps: Sequence[int] | None, row: int) -> int:
        if steps is None and self.steps is None:
            raise InputError(
                f"{self.name} does not say how many steps it runs; give steps=, or add a line such as `steps M + 2`"
            )
        return int(self.steps(memory.tolist()) if steps is None and self.steps else (steps or [])[row])


def _execute(
    circuit: BlockTable,
    memories: Sequence[np.ndarray],
    steps: Sequence[int],
    generator: np.random.Generator | None,
    editing: StoreEdits | None,
) -> Iterator[Run]:
    """The record of each run. Rows that are done keep running, unrecorded, until all are done."""
    sizes, limits = np.array([len(memory) for memory in memories]), np.array(steps)
    cells = np.zeros((len(memories), sizes.max()), dtype=np.int64)
    for row, memory in enumerate(memories):
        cells[row, : len(memory)] = memory
    registers = np.arange(circuit.wiring.registers) % sizes[:, None]
    if editing is not None:
        cells, registers = editing.after(0, cells, registers)
    recorded_cells, recorded_registers, recorded_choices = [cells], [registers], []
    for step in range(limits.max()):
        choices = _wired(circuit, registers, generator, step, step < limits)
        cells = cells.copy()
        registers = _step(circuit, choices, registers, cells, sizes)
        if editing is not None:
            cells, registers = editing.after(step + 1, cells, registers)
        recorded_cells.append(cells)
        recorded_registers.append(registers)
        recorded_choices.append(choices)
    shape = (len(recorded_choices), len(memories), len(circuit.wiring.connections))
    wired = np.array(recorded_choices).reshape(shape)  # the reshape is for runs without a step
    after, held = np.array(recorded_cells), np.array(recorded_registers)
    for row, (size, taken) in enumerate(zip(sizes, limits)):
        yield after[: taken + 1, row, :size], held[: taken + 1, row], wired[:taken, row]


def _wired(
    circuit: BlockTable, registers: np.ndarray, generator: np.random.Generator | None, step: int, going: np.ndarray
) -> np.ndarray:
    """The connections of this step for each row, with holes filled."""
    pattern = (registers == 0) @ (1 << np.arange(circuit.wiring.registers))
    block = circuit.block_of[pattern]
    stuck = np.flatnonzero(going & (block < 0))
    if len(stuck):
        shown = " ".join("0" if value == 0 else "!0" for value in registers[stuck[0]])
        raise RunError(
            f"{circuit.name}: at step {step} of input {stuck[0]} the registers are "
            f"{registers[stuck[0]].tolist()}, and no block is for `when {shown}`. Add one, or widen a pattern with -."
        )
    choices = circuit.choices[block]
    if generator is None:
        return np.where(choices < 0, circuit.default, choices)
    limits = [connection.choices for connection in circuit.wiring.connections]
    return np.where(choices < 0, generator.integers(0, limits, size=choices.shape), choices)


def _step(
    circuit: BlockTable, choices: np.ndarray, registers: np.ndarray, cells: np.ndarray, sizes: np.ndarray
) -> np.ndarray:
    """The registers after the step; `cells` are changed in place."""
    wiring, rows = circuit.wiring, np.arange(len(sizes))
    values = np.zeros((len(sizes), len(wiring.sources)), dtype=np.int64)
    values[:, : wiring.registers] = registers
    for place, kind in enumerate(wiring.modules):
        arguments = [values[rows, choices[:, connection]] for connection in wiring.places[place]]
        first, second = (*arguments, sizes, sizes)[:2]  # an argument that a module does not use may be anything
        output = np.zeros_like(sizes)
        if kind == "READ":
            output = cells[rows, first]
        elif kind == "WRITE":
            cells[rows, first] = second
        else:
            output = OPERATIONS[kind](first, second) % sizes
        values[:, wiring.registers + place] = output
    return np.take_along_axis(values, choices[:, -wiring.registers :], axis=1)


def reference_run(circuit: Circuit, memory: Sequence[int], steps: int) -> tuple[list[int], list[int]]:
    """The memory and the registers after `steps` steps; holes are filled with their defaults, as `Circuit.run` does.

    >>> from kleene.programs.circuits.library import get
    >>> reference_run(get("increment").build(), [1, 2, 0], 5)
    ([2, 0, 0], [2, 0])
    """
    circuit, size, cells = circuit.filled(), len(memory), list(memory)
    wiring = circuit.wiring
    registers = {f"r{number}": number % size for number in range(wiring.registers)}
    for _ in range(steps):
        zero = [value == 0 for value in registers.values()]
        block = next(b for b in circuit.blocks if all(s == "-" or (s == "0") == z for s, z in zip(b.pattern, zero)))
        wired = {c.name: wiring.sources[choice] for c, choice in zip(wiring.connections, block.choices)}
        known = dict(registers)
        for name in wiring.names:
            a, b = (known.get(wired.get(f"{name}.{slot}", ""), 0) for slot in "ab")
            known[name] = {
                "ZERO": 0, "ONE": 1, "TWO": 2, "INC": a + 1, "DEC": a - 1, "ADD": a + b, "SUB": a - b, "LT": int(a < b),
                "LEQ": int(a <= b), "EQ": int(a == b), "MIN": min(a, b), "MAX": max(a, b), "READ": cells[a], "WRITE": 0,
            }[name.rstrip("0123456789")] % size  # fmt: skip
            if name.startswith("WRITE"):
                cells[a] = b
        registers = {register: known[wired[f"{register}.c"]] for register in registers}
    return cells, list(registers.values())
