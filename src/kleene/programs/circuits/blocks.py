"""Blocks: for each pattern of zero registers, the source of every argument and register; holes are left open."""

from dataclasses import dataclass, field
from functools import cached_property
from itertools import combinations
from typing import Self

import numpy as np

from kleene.errors import ProgramError
from kleene.notation.wiring import Steps, Wiring

HOLE = -1  # the choice that a block leaves open
SYMBOLS = {"0": True, "!0": False, "-": None}


@dataclass(frozen=True)
class Block:
    """The wiring while the registers match a pattern: one of "0", "!0" and "-" (anything) for each register.

    `choices` has the index of the source of each connection, or HOLE.
    """

    pattern: tuple[str, ...]
    choices: tuple[int, ...]
    line: int | None = field(default=None, compare=False)  # in its file

    def __str__(self) -> str:
        where = f" (line {self.line})" if self.line is not None else ""
        return f"`when {' '.join(self.pattern)}`{where}"


@dataclass(frozen=True)
class BlockTable:
    """A wiring and its blocks, checked, as arrays that an interpreter can index; `Circuit` adds running and files."""

    wiring: Wiring
    blocks: tuple[Block, ...]
    steps: Steps | None = None  # how many steps a run takes by default
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
    def of(cls, table: "BlockTable") -> Self:
        """The same blocks as an instance of this class."""
        return cls(table.wiring, table.blocks, table.steps, table.name)

    def __repr__(self) -> str:
        modules, registers = len(self.wiring.modules), self.wiring.registers
        return (
            f"<{type(self).__name__} {self.name}: {len(self.blocks)} blocks, {registers} registers, {modules} modules>"
        )

    # Tables: blocks, connections and patterns by their indices.

    @cached_property
    def choices(self) -> np.ndarray:
        """The source of each connection in each block: indices [block, connection], HOLE where open."""
        return np.array([block.choices for block in self.blocks], dtype=np.int32).reshape(len(self.blocks), -1)

    @cached_property
    def block_of(self) -> np.ndarray:
        """The block for each of the 2^registers patterns, or -1; bit i of a pattern says that register i is 0."""
        numbers = np.arange(2**self.wiring.registers)
        zero = (numbers[:, None] >> np.arange(self.wiring.registers)) & 1 == 1
        found = np.full(len(numbers), -1, dtype=np.int32)
        for place, block in enumerate(self.blocks):
            asked = [(register, SYMBOLS[symbol]) for register, symbol in enumerate(block.pattern) if symbol != "-"]
            found[np.all([zero[:, register] == wanted for register, wanted in asked], axis=0) | (not asked)] = place
        return found

    @cached_property
    def default(self) -> np.ndarray:
        """The default source for a hole of each connection: a register keeps its value, an argument is r0."""
        arguments = len(self.wiring.connections) - self.wiring.registers
        return np.array([0] * arguments + list(range(self.wiring.registers)), dtype=np.int32)

    @property
    def is_complete(self) -> bool:
        """Whether it has no holes."""
        return bool((self.choices != HOLE).all())

    def filled(self, generator: np.random.Generator | None = None) -> Self:
        """The same without holes: each is filled with its default, or at random with a generator."""
        drawn = self.default
        if generator is not None:
            limits = [connection.choices for connection in self.wiring.connections]
            drawn = generator.integers(0, limits, size=self.choices.shape)
        table = np.where(self.choices == HOLE, drawn, self.choices)
        blocks = [Block(b.pattern, tuple(row), b.line) for b, row in zip(self.blocks, table.tolist())]
        return type(self)(self.wiring, tuple(blocks), self.steps, self.name)
