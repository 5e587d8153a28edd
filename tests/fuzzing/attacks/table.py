"""All attacks by kind, and the table of what became of them: cases, failures."""

import importlib
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from tests.fuzzing.attacks import Attack
from tests.fuzzing.cases import Kind, case
from tests.fuzzing.trial import tried

CASES = 600  # of drawn command lines, and of spoiled files


@dataclass
class Row:
    """A row of the table."""

    kind: str
    cases: int = 0
    failures: list[str] = field(default_factory=list)
    seconds: float = 0.0
    remark: str = ""

    def __str__(self) -> str:
        facts = f"{self.cases:7,} {len(self.failures):9,} {self.seconds:8,.0f} s"
        return f"{self.kind:16} {facts}  {self.remark}".rstrip()


HEAD = f"{'kind':16} {'cases':>7} {'failures':>9} {'time':>10}"


def _drawn(kind: Kind) -> Callable[[Row], Iterator[Attack]]:
    def attacks(row: Row) -> Iterator[Attack]:
        parsed = 0

        def attempt(number: int, folder: Path) -> str | None:
            nonlocal parsed
            fault, ended = tried(case(kind, number), folder / "case")
            parsed += ended is not None and ended.was_parsed
            row.remark = f"{parsed / (number + 1):.0%} got past the parser" if kind == "line" else ""
            return fault

        for number in range(CASES):
            yield str(number), lambda folder, number=number: attempt(number, folder)

    return attacks


def _written(name: str) -> Callable[[Row], Iterator[Attack]]:
    return lambda row: importlib.import_module(f"tests.fuzzing.attacks.{name}").attacks()


KINDS: dict[str, Callable[[Row], Iterator[Attack]]] = {
    "interruptions": _written("interruptions"),
    "command lines": _drawn("line"),
    "spoiled files": _drawn("file"),
    "live pages": _written("live_pages"),
    "mirrors": _written("mirrors"),
    "students": _written("students"),
    "full disks": _written("full_disks"),
    "threads": _written("threads"),
}


def row_of(kind: str, folder: Path, only: str = "") -> Row:
    """The row of all attacks of that kind, or of those whose names have these letters; each has a folder for itself."""
    row, began = Row(kind), time.perf_counter()
    for name, attack in KINDS[kind](row):
        if only not in name:
            continue
        place = folder / str(row.cases)
        place.mkdir()
        row.cases += 1
        try:
            fault = attack(place)
        except Exception as error:
            fault = f"{type(error).__name__}: {error}"
        row.failures += [f"{kind}, {name}: {fault}"] if fault else []
    row.seconds = time.perf_counter() - began
    return row
