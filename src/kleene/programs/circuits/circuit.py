"""A circuit: for each pattern of zero registers, what every argument and register is wired to, holes left open."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np

from kleene.errors import InputError, ProgramError
from kleene.notation.wiring import Steps, Wiring, check_run, check_steps
from kleene.programs.circuits import interpreter
from kleene.traces import Channel, Trace

HOLE = -1  # the choice that a block leaves open
SYMBOLS = {"0": True, "!0": False, "-": None}


@dataclass(frozen=True)
class Block:
    """What the circuit is while the registers match a pattern: one of "0", "!0" and "-" (anything) for each register.

    `choices` has for each connection of the wiring the place of its source, or HOLE.
    """

    pattern: tuple[str, ...]
    choices: tuple[int, ...]
    line: int | None = field(default=None, compare=False)  # where the text says it

    def __str__(self) -> str:
        where = f" (line {self.line})" if self.line is not None else ""
        return f"`when {' '.join(self.pattern)}`{where}"


@dataclass(frozen=True)
class Circuit:
    """A program for an NRAM: blocks of connections, chosen at each step by which registers are zero.

    Integers are modulo M, the number of memory cells. Register i starts with i. At each step the modules run in their
    order, and then all registers change together. A hole may be anything; `run` fills it with a default, or at random.

    >>> text = '''registers 2
    ... modules READ+INC+WRITE
    ... when - -: READ(r0) INC(READ) WRITE(r0, INC)  r0 = INC'''
    >>> Circuit.from_text(text).run([3, 1, 1, 2], steps=1).output
    [0, 1, 1, 2]
    """

    wiring: Wiring
    blocks: tuple[Block, ...]
    steps: Steps | None = None  # how many steps a run takes where it is not told
    name: str = field(default="the circuit", compare=False)

    def __post_init__(self) -> None:
        for block in self.blocks:
            self._check(block)
        for one, other in combinations(self.blocks, 2):
            if all(a == b or "-" in (a, b) for a, b in zip(one.pattern, other.pattern)):
                raise ProgramError(
                    f"{one} and {other} overlap: the registers can match both, and only one block can run. Make their "
                    f"patterns differ, one with 0 where the other has !0."
                )

    def _check(self, block: Block) -> None:
        if len(block.pattern) != self.wiring.registers or any(symbol not in SYMBOLS for symbol in block.pattern):
            raise ProgramError(
                f"{block}: a pattern has one of 0, !0 and - for each of the {self.wiring.registers} registers"
            )
        connections = self.wiring.connections
        if len(block.choices) != len(connections):
            raise ProgramError(f"{block} has {len(block.choices)} choices for {len(connections)} connections")
        for connection, choice in zip(connections, block.choices):
            if not HOLE <= choice < connection.choices:
                raise ProgramError(
                    f"{block}: {connection.name} is source {choice}, and it may be one of "
                    f"{', '.join(self.wiring.sources[: connection.choices])} or a hole"
                )

    @classmethod
    def from_text(cls, text: str, name: str = "the circuit") -> "Circuit":
        """The circuit that a text says; a ProgramError names the line where it cannot be read."""
        from kleene.programs.circuits.text import parse

        return parse(text, name)

    @staticmethod
    def load(path: Any) -> "Circuit":
        """The circuit in a text file, under the file's name."""
        from kleene.programs.circuits.text import load

        return load(Path(path))

    @property
    def text(self) -> str:
        """The circuit as a text that `from_text` reads."""
        from kleene.programs.circuits.text import as_text

        return as_text(self)

    def __repr__(self) -> str:
        modules, registers = len(self.wiring.modules), self.wiring.registers
        return f"<Circuit {self.name}: {len(self.blocks)} blocks, {registers} registers, {modules} modules>"

    # Tables: blocks, connections and patterns by their places.

    @cached_property
    def choices(self) -> np.ndarray:
        """What each block wires to each connection: sources by their places [block, connection], HOLE where open."""
        return np.array([block.choices for block in self.blocks], dtype=np.int32).reshape(len(self.blocks), -1)

    @cached_property
    def block_of(self) -> np.ndarray:
        """The block for each of the 2^registers patterns, bit i of its number saying that register i is 0; -1: none."""
        numbers = np.arange(2**self.wiring.registers)
        zero = (numbers[:, None] >> np.arange(self.wiring.registers)) & 1 == 1
        found = np.full(len(numbers), -1, dtype=np.int32)
        for place, block in enumerate(self.blocks):
            asked = [(register, SYMBOLS[symbol]) for register, symbol in enumerate(block.pattern) if symbol != "-"]
            found[np.all([zero[:, register] == wanted for register, wanted in asked], axis=0) | (not asked)] = place
        return found

    @cached_property
    def default(self) -> np.ndarray:
        """What a hole of each connection is where nobody says: a register keeps its value, an argument is r0."""
        arguments = len(self.wiring.connections) - self.wiring.registers
        return np.array([0] * arguments + list(range(self.wiring.registers)), dtype=np.int32)

    @property
    def is_complete(self) -> bool:
        """Whether it has no holes."""
        return bool((self.choices != HOLE).all())

    def filled(self, generator: np.random.Generator | None = None) -> "Circuit":
        """The circuit without holes: each filled with its default, or at random by the generator."""
        drawn = self.default
        if generator is not None:
            limits = [connection.choices for connection in self.wiring.connections]
            drawn = generator.integers(0, limits, size=self.choices.shape)
        table = np.where(self.choices == HOLE, drawn, self.choices)
        blocks = [Block(b.pattern, tuple(row), b.line) for b, row in zip(self.blocks, table.tolist())]
        return Circuit(self.wiring, tuple(blocks), self.steps, self.name)

    # Running.

    def channels(self, size: int) -> tuple[Channel, ...]:
        """What a run on a memory of that size records."""
        return self.wiring.channels(size)

    def run(
        self, memory: Sequence[int], steps: int | None = None, generator: np.random.Generator | None = None
    ) -> Trace:
        """What the circuit does on a memory: `memory`, the registers, and each step's connections (`READ.a`, `r0.c`).

        The output is the memory in the end. With a `generator` every hole is drawn anew at every step.
        """
        return self.run_batch([memory], None if steps is None else [steps], generator)[0]

    def run_batch(
        self,
        memories: Iterable[Sequence[int]],
        steps: Sequence[int] | None = None,
        generator: np.random.Generator | None = None,
    ) -> list[Trace]:
        """The runs on many memories, which may be of different sizes; all at once."""
        checked = [self._checked_memory(memory) for memory in memories]
        check_steps(steps, len(checked))
        taken = [self._checked_steps(memory, steps, row) for row, memory in enumerate(checked)]
        recorded = sum(map(len, checked)) + len(checked) * (self.wiring.registers + len(self.wiring.connections))
        check_run(taken, recorded)
        done = interpreter.execute(self, checked, taken, generator) if checked else ()
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
