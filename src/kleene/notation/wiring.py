"""The wiring of circuits: modules and what they compute, what each argument may be wired to, the number of steps.

Programs (circuits that people write) and machines (the NRAM, which learns them) share these names, so that their traces
have the same channels.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from kleene.errors import InputError, ProgramError
from kleene.limits import check_memory, read_count
from kleene.traces.channels import NOTHING, Channel

# How many arguments each module uses. READ and WRITE use the memory, and WRITE returns 0.
ARITIES = {
    "READ": 1,
    "ZERO": 0,
    "ONE": 0,
    "TWO": 0,
    "INC": 1,
    "ADD": 2,
    "SUB": 2,
    "DEC": 1,
    "LT": 2,
    "LEQ": 2,
    "EQ": 2,
    "MIN": 2,
    "MAX": 2,
    "WRITE": 2,
}
# What the other modules return for their arguments a and b, before it is taken modulo the memory's size M. They use
# operators only, so that they work on integers of Python, numpy and jax.
OPERATIONS: dict[str, Callable[[Any, Any], Any]] = {
    "ZERO": lambda a, b: 0,
    "ONE": lambda a, b: 1,
    "TWO": lambda a, b: 2,
    "INC": lambda a, b: a + 1,
    "ADD": lambda a, b: a + b,
    "SUB": lambda a, b: a - b,
    "DEC": lambda a, b: a - 1,
    "LT": lambda a, b: (a < b) * 1,
    "LEQ": lambda a, b: (a <= b) * 1,
    "EQ": lambda a, b: (a == b) * 1,
    "MIN": lambda a, b: a * (a <= b) + b * (a > b),
    "MAX": lambda a, b: a * (a >= b) + b * (a < b),
}
MOST_MODULES = 500
SHORT = {"def": tuple(ARITIES), "R": ("READ",), "W": ("WRITE",)}


def module_sequence(text: str) -> tuple[str, ...]:
    """The modules that are written as `def`, `R+def+R+W` or `def*3`; `def` is all fourteen in their order.

    >>> module_sequence("R+W*2+INC")
    ('READ', 'WRITE', 'WRITE', 'INC')
    """
    found: list[str] = []
    for part in text.split("+"):
        match = re.fullmatch(r"\s*([A-Za-z]+)\s*(?:[*×]\s*([1-9][0-9]*))?\s*", part)
        modules = SHORT.get(match[1], (match[1],) if match[1] in ARITIES else ()) if match else ()
        if not match or not modules:
            raise InputError(
                f"the module sequence {text!r} has the part {part.strip()!r}; join with + any of def (all fourteen in "
                f"their order), R, W, {', '.join(ARITIES)}, and repeat with *3"
            )
        times = read_count(match[2] or "1")
        if times is None or len(found) + len(modules) * times > MOST_MODULES:
            raise InputError(f"the module sequence {_short(text)} has more than {MOST_MODULES} modules; use fewer")
        found += modules * times
    return tuple(found)


def _short(text: str) -> str:
    return repr(text if len(text) <= 60 else f"{text[:60]}…")


@dataclass(frozen=True)
class Connection:
    """One choice that a circuit makes: what an argument of a module, or a register, is wired to.

    `unit` counts the modules and then the registers; `choices` says how many sources there are to choose from.
    """

    name: str
    unit: int
    choices: int


@dataclass(frozen=True)
class Wiring:
    """Registers and a sequence of modules. Sources are counted: registers first, then the modules' outputs.

    A module's arguments are registers or outputs of earlier modules; a register may take any source at the end of a
    step. Arguments that a module ignores are no connections. Modules that occur more than once are numbered.

    >>> wiring = Wiring(2, ("READ", "INC", "WRITE", "READ"))
    >>> wiring.sources
    ('r0', 'r1', 'READ1', 'INC', 'WRITE', 'READ2')
    >>> [connection.name for connection in wiring.connections]
    ['READ1.a', 'INC.a', 'WRITE.a', 'WRITE.b', 'READ2.a', 'r0.c', 'r1.c']
    """

    registers: int
    modules: tuple[str, ...]

    def __post_init__(self) -> None:
        if len(self.modules) > MOST_MODULES:
            raise InputError(f"the wiring has {len(self.modules):,} modules, and {MOST_MODULES} is the most")
        if self.registers < 1 or not self.modules or any(kind not in ARITIES for kind in self.modules):
            raise InputError(
                f"a wiring needs a register and a module at least; it was given registers={self.registers} and the "
                f"modules {' '.join(self.modules) or '(none)'}, of which {', '.join(ARITIES)} exist"
            )

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The name of each module."""
        return tuple(
            kind + str(self.modules[: place + 1].count(kind)) if self.modules.count(kind) > 1 else kind
            for place, kind in enumerate(self.modules)
        )

    @cached_property
    def sources(self) -> tuple[str, ...]:
        return (*(f"r{number}" for number in range(self.registers)), *self.names)

    @cached_property
    def connections(self) -> tuple[Connection, ...]:
        """The arguments in the order of the modules, then the registers."""
        found = []
        for place, (kind, name) in enumerate(zip(self.modules, self.names)):
            for slot in "ab"[: ARITIES[kind]]:
                found.append(Connection(f"{name}.{slot}", place, self.registers + place))
        for register in range(self.registers):
            found.append(Connection(f"r{register}.c", len(self.modules) + register, len(self.sources)))
        return tuple(found)

    @cached_property
    def places(self) -> tuple[tuple[int, ...], ...]:
        """Which connections belong to each unit: none, one or two for a module, one for a register."""
        units = range(len(self.modules) + self.registers)
        return tuple(tuple(i for i, c in enumerate(self.connections) if c.unit == unit) for unit in units)

    @cached_property
    def allowed(self) -> np.ndarray:
        """Which sources each connection may choose: booleans [connection, source]."""
        choices = np.array([connection.choices for connection in self.connections])
        return np.arange(len(self.sources)) < choices[:, None]

    def channels(self, size: int) -> tuple[Channel, ...]:
        """The channels of a run on a memory of that size: memory, registers, and each step's connections."""
        kept = [Channel("memory", "category", size)]
        kept += [Channel(f"r{number}", "category", size) for number in range(self.registers)]
        labels = self.sources
        return (
            *kept,
            *(Channel(c.name, "category", len(labels), labels=labels, per_step=True) for c in self.connections),
        )

    def entries(self, memory: np.ndarray, registers: np.ndarray, choices: np.ndarray) -> dict[str, np.ndarray]:
        """The data of a trace, from memory [step, cell], registers [step, register], choices [step - 1, connection]."""
        undefined = np.full((1, len(self.connections)), NOTHING, dtype=np.int32)
        chosen = np.concatenate([undefined, choices]).astype(np.int32)
        found = {"memory": memory.astype(np.int32)}
        found |= {f"r{number}": registers[:, number].astype(np.int32) for number in range(self.registers)}
        return found | {c.name: chosen[:, place] for place, c in enumerate(self.connections)}


MOST_STEPS = 100_000  # of one run; each is recorded
TERM = re.compile(r"([0-9]+)|(M)|memory\[([0-9]+)\]")


@dataclass(frozen=True)
class Steps:
    """How many steps a run takes: `constant + sizes * M + sum(memory[c] for c in cells)`, of the memory at the start.

    >>> Steps.parse("memory[1] + 5")([7, 3, 2, 0])
    8
    """

    constant: int = 0
    sizes: int = 0
    cells: tuple[int, ...] = ()

    @classmethod
    def parse(cls, text: str) -> "Steps":
        """The number of steps that is written as `7`, `M + 2` or `memory[1] + 5`."""
        if not isinstance(text, str):
            raise ProgramError(f"the number of steps is {text!r}, and a sum such as 'M + 2' was expected")
        found = [(term, TERM.fullmatch(term.strip())) for term in text.split("+")]
        constant, sizes, cells = 0, 0, []
        for term, match in found:
            if match is None:
                raise ProgramError(
                    f"the number of steps is {text.strip()!r}, and {term.strip()!r} is not understood; write a sum of "
                    f"whole numbers, M (the size of the memory) and memory[1] (what cell 1 holds at the start)"
                )
            numbers = [read_count(digits or "0") for digits in match.group(1, 3)]
            if None in numbers:
                raise ProgramError(
                    f"the number of steps has a term of {len(term.strip())} characters; a run has at most "
                    f"{MOST_STEPS:,} steps"
                )
            constant += numbers[0] or 0
            sizes += bool(match[2])
            cells += [numbers[1] or 0] if match[3] else []
        return cls(constant, sizes, tuple(cells))

    def __call__(self, memory: Sequence[int]) -> int:
        missing = [cell for cell in self.cells if cell >= len(memory)]
        if missing:
            raise InputError(
                f"the number of steps is {self}, and the memory has {len(memory)} cells: give a larger memory"
            )
        return self.constant + self.sizes * len(memory) + sum(int(memory[cell]) for cell in self.cells)

    def __str__(self) -> str:
        terms = ["M"] * self.sizes + [f"memory[{cell}]" for cell in self.cells]
        return " + ".join([*terms, *([str(self.constant)] if self.constant or not terms else [])])


def check_steps(steps: Sequence[int] | None, runs: int) -> None:
    """Refuse numbers of steps that are negative, or not one for each run; None is allowed."""
    if steps is not None and len(steps) != runs:
        raise InputError(f"steps has {len(steps)} numbers for {runs} memories; give one for each, or leave it out")
    for taken in steps or ():
        if taken < 0:
            raise InputError(f"steps is {taken}; give 0 or more")


def check_run(taken: Sequence[int], entries: int) -> None:
    """Refuse a run of too many steps, or one whose record would not fit into memory, before it begins.

    `entries` is the count of numbers recorded at each step of all runs together.
    """
    longest = max(taken, default=0)
    if longest > MOST_STEPS:
        raise InputError(f"the run takes {longest:,} steps, and {MOST_STEPS:,} is the most; give fewer with steps=")
    what = f"the record of {longest:,} steps with {entries:,} numbers each"
    check_memory(longest * entries * 16.0, what, "give a smaller memory or fewer steps")
