"""The blocks of a circuit, and the text that spells them.

    registers 2
    modules   def+R           // READ ZERO … WRITE, and one more READ; so there are READ1 and READ2
    steps     M + 2           // how long a run takes; may be left out

    when - !0:                // r1 is not zero, r0 may be anything
        READ1(r0)  INC(r0)  ADD(READ1, ONE)  WRITE(r0, ADD)  READ2(INC)
        r0 = INC   r1 = READ2
    when - 0:
        READ1(r0)  WRITE(r0, READ1)
        r0 = r0    r1 = ?     // a hole; what is not mentioned is a hole too

A block says, for a pattern of zero registers, where every argument and register comes from. Statements may stand on
one line or on many, in any order, because the module sequence decides what runs first. What follows `//` is a comment.
"""

import difflib
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from itertools import combinations
from pathlib import Path
from typing import Self

import numpy as np

from kleene.errors import InputError, ProgramError
from kleene.files import read_program_text
from kleene.limits import read_count
from kleene.notation.wiring import ARITIES, Steps, Wiring, module_sequence

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


HEADERS = ("registers", "modules", "steps")
WHEN = re.compile(r"when\b([^:]*)(:?)(.*)")
CALL = re.compile(r"(\w+)\s*\(([^()]*)\)[\s;,]*")
ASSIGNMENT = re.compile(r"(\w+)\s*=\s*(\w+|\?)[\s;,]*")


@dataclass
class _Reading:
    """What has been read so far: headers by name, and blocks with their choices by connection."""

    headers: dict[str, tuple[int, str]] = field(default_factory=dict)
    blocks: list[tuple[int, tuple[str, ...], dict[str, int]]] = field(default_factory=list)
    wiring: Wiring | None = None


def parse(text: str, name: str = "the circuit") -> BlockTable:
    """The circuit in the content of a file; a ProgramError names the line that cannot be read."""
    reading = _Reading()
    for number, line in _lines(text):
        try:
            _read_line(reading, number, line)
        except (ProgramError, InputError) as error:
            raise ProgramError(f"{name}, line {number}: {error}") from None
    if reading.wiring is None or not reading.blocks:
        raise ProgramError(f"{name}: the text has no block; write `when` and a pattern of 0, !0 and -, then statements")
    names = [connection.name for connection in reading.wiring.connections]
    blocks = tuple(
        Block(pattern, tuple(choices.get(c, HOLE) for c in names), number)
        for number, pattern, choices in reading.blocks
    )
    steps = Steps.parse(reading.headers["steps"][1]) if "steps" in reading.headers else None
    try:
        return BlockTable(reading.wiring, blocks, steps, name)
    except ProgramError as error:
        raise ProgramError(f"{name}: {error}") from None


def _lines(text: str) -> Iterator[tuple[int, str]]:
    for number, line in enumerate(text.removeprefix("\ufeff").splitlines(), start=1):  # byte-order mark
        code = line.split("//")[0].strip()
        if code:
            yield number, code


def _read_line(reading: _Reading, number: int, line: str) -> None:
    match = WHEN.fullmatch(line)
    if match:
        _begin_block(reading, number, match)
        line = match[3].strip()
    elif not reading.blocks:
        _read_header(reading, number, line)
        return
    if line:
        _read_statements(reading, line)


def _read_header(reading: _Reading, number: int, line: str) -> None:
    key, _, value = line.replace("\t", " ").partition(" ")
    if key not in HEADERS:
        close = difflib.get_close_matches(key, HEADERS, n=1)
        hint = f"did you mean {close[0]}?" if close else f"before the first `when` come {', '.join(HEADERS)}"
        raise ProgramError(f"{line!r} is not understood; {hint}")
    if key in reading.headers:
        raise ProgramError(f"a second {key} line; the first is line {reading.headers[key][0]}")
    if key == "registers" and not re.fullmatch(r"\s*([1-9]|1[0-6])\s*", value):
        raise ProgramError(f"registers is {value.strip()!r}; write how many there are, 1 to 16")
    if key == "modules":
        module_sequence(value)
    if key == "steps":
        Steps.parse(value)
    reading.headers[key] = (number, value)


def _begin_block(reading: _Reading, number: int, match: re.Match[str]) -> None:
    for key in ("registers", "modules"):
        if key not in reading.headers:
            example = {"registers": "registers 2", "modules": "modules def"}[key]
            raise ProgramError(f"there is no {key} line before the first block; add one such as `{example}`")
    if reading.wiring is None:
        registers = int(reading.headers["registers"][1])
        reading.wiring = Wiring(registers, module_sequence(reading.headers["modules"][1]))
    pattern = tuple(match[1].split())
    if not match[2]:
        raise ProgramError("the pattern does not end with a colon; write `when 0 !0 -:`")
    wrong = [symbol for symbol in pattern if symbol not in SYMBOLS]
    if wrong:
        raise ProgramError(f"the pattern has {wrong[0]!r}; write 0 (zero), !0 (not zero) or - (anything)")
    if len(pattern) != reading.wiring.registers:
        raise ProgramError(
            f"the pattern `{' '.join(pattern)}` is for {len(pattern)} registers, and there are "
            f"{reading.wiring.registers}"
        )
    reading.blocks.append((number, pattern, {}))


def _read_statements(reading: _Reading, line: str) -> None:
    """Put the choices of a line into the newest block."""
    wiring, choices = reading.wiring, reading.blocks[-1][2]
    assert wiring is not None
    at = 0
    while at < len(line):
        if match := CALL.match(line, at):
            new = _call(wiring, match[1], [part.strip() for part in match[2].split(",") if part.strip()])
        elif match := ASSIGNMENT.match(line, at):
            new = {
                f"r{_register(wiring, match[1])}.c": _source(wiring, match[2], len(wiring.sources), match[0].strip())
            }
        else:
            raise ProgramError(
                f"{line[at:]!r} is not understood; write statements such as `ADD(READ, ONE)` and `r0 = ADD`"
            )
        again = sorted(set(new) & set(choices))
        if again:
            raise ProgramError(
                f"{again[0].split('.')[0]} has been given in this block before; each module and register has one line"
            )
        choices |= new
        at = match.end()


def _call(wiring: Wiring, name: str, arguments: list[str]) -> dict[str, int]:
    place = _module(wiring, name)
    kind, full = wiring.modules[place], wiring.names[place]
    if len(arguments) != ARITIES[kind]:
        takes = {0: "no argument", 1: "one argument", 2: "two arguments"}[ARITIES[kind]]
        raise ProgramError(f"{name}({', '.join(arguments)}) has {len(arguments)} arguments; {kind} takes {takes}")
    limit = wiring.registers + place
    return {f"{full}.{slot}": _source(wiring, written, limit, full) for slot, written in zip("ab", arguments)}


def _source(wiring: Wiring, written: str, limit: int, user: str) -> int:
    """The index of a source, or HOLE; `user`, a module or register, may take only the first `limit` sources."""
    if written == "?":
        return HOLE
    if re.fullmatch(r"r\d+", written):
        return _register(wiring, written)
    if written in ("0", "1", "2"):
        raise ProgramError(f"{user} uses the number {written}; write {['ZERO', 'ONE', 'TWO'][int(written)]}, a module")
    place = wiring.registers + _module(wiring, written)
    if place >= limit:
        same = place == limit
        raise ProgramError(
            f"{user} uses {written}, which is {'that module itself' if same else 'a later module'}: the order is "
            f"{' '.join(wiring.names)}, and a module can use only registers and what stands before it"
        )
    return place


def _register(wiring: Wiring, written: str) -> int:
    if not re.fullmatch(r"r\d+", written):
        raise ProgramError(f"{written!r} cannot be assigned; only registers can, r0 to r{wiring.registers - 1}")
    number = read_count(written[1:])
    if number is None or number >= wiring.registers:
        raise ProgramError(f"there is no register {written}; the registers are r0 to r{wiring.registers - 1}")
    return number


def _module(wiring: Wiring, written: str) -> int:
    if written in wiring.names:
        return wiring.names.index(written)
    kind = written.rstrip("0123456789")
    named = [name for name, k in zip(wiring.names, wiring.modules) if k == kind]
    if written == kind and len(named) > 1:
        raise ProgramError(f"{written} is not one module: there are {', '.join(named)}; say which")
    if written == f"{kind}1" and len(named) == 1:
        return wiring.names.index(kind)
    close = named or difflib.get_close_matches(written, wiring.names, n=1)
    hint = f"did you mean {close[-1]}?" if close else f"the modules are {' '.join(wiring.names)}"
    raise ProgramError(f"there is no module {written}; {hint}")


def as_text(circuit: BlockTable) -> str:
    """The circuit in the format above. Holes are left out."""
    wiring = circuit.wiring
    lines = [f"registers {wiring.registers}", f"modules {'+'.join(wiring.modules)}"]
    lines += [f"steps {circuit.steps}"] if circuit.steps else []
    for block in circuit.blocks:
        lines += ["", f"when {' '.join(block.pattern)}:"]
        sources = ["?" if choice == HOLE else wiring.sources[choice] for choice in block.choices]
        for name, connections in zip(wiring.names, wiring.places):
            arguments = [sources[connection] for connection in connections]
            if set(arguments) - {"?"}:
                lines.append(f"    {name}({', '.join(arguments)})")
        ends = [
            f"r{i} = {sources[c[0]]}" for i, c in enumerate(wiring.places[len(wiring.names) :]) if sources[c[0]] != "?"
        ]
        lines += ["    " + "  ".join(ends)] if ends else []
    return "\n".join(lines) + "\n"


def load(path: Path) -> BlockTable:
    """The circuit in the file, named after the file."""
    return parse(read_program_text(path), path.stem)
