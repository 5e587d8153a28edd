"""What circuits of modules are made of: which modules there are, and what each of their arguments may be wired to.

Programs (circuits that people write) and machines (the NRAM, which learns them) share these names, so that their traces
have the same channels.
"""

import re
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from kleene.counts import read_count
from kleene.errors import InputError
from kleene.traces.channels import NOTHING, Channel

# How many arguments each module uses. WRITE says 0; the others say what their names do, modulo M.
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
MOST_MODULES = 500
SHORT = {"def": tuple(ARITIES), "R": ("READ",), "W": ("WRITE",)}


def module_sequence(text: str) -> tuple[str, ...]:
    """The modules that a text such as `def`, `R+def+R+W` or `def*3` stands for; `def` is all fourteen in their order.

    >>> module_sequence("R+W*2+INC")
    ('READ', 'WRITE', 'WRITE', 'INC')
    """
    found: list[str] = []
    for part in text.split("+"):
        said = re.fullmatch(r"\s*([A-Za-z]+)\s*(?:[*×]\s*([1-9][0-9]*))?\s*", part)
        modules = SHORT.get(said[1], (said[1],) if said[1] in ARITIES else ()) if said else ()
        if not said or not modules:
            raise InputError(
                f"the module sequence {text!r} has the part {part.strip()!r}; join with + any of def (all fourteen in "
                f"their order), R, W, {', '.join(ARITIES)}, and repeat with *3"
            )
        times = read_count(said[2] or "1")
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
        """What each module is called."""
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
        """What a run on a memory of that size records: memory, registers, and each step's connections."""
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
