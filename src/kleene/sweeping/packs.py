"""Packs: cells that share a program are taught as one vmapped program. A pack is a plan of the training loop."""

import functools
import hashlib
import itertools
import json
import math
from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from kleene.errors import KleeneError
from kleene.files import MOST_TEXT, parsed_json, read_bytes, write_atomically
from kleene.sweeping.cells import DIGITS, Cell, kind_of, lesson_of
from kleene.sweeping.store import CellStore
from kleene.teaching.plan import Plan, Progress

FEWEST = 1 << 20  # cells in a pack where nothing bounds it


@dataclass(frozen=True)
class CellPlan(Plan):
    """A plan of single runs: each setting goes with the seed of the same number."""

    @property
    def pairs(self) -> list[tuple[dict[str, Any], int]]:
        return list(zip(self.settings, self.seeds))


@dataclass(frozen=True)
class Pack:
    """Cells that are taught together. The name is a digest of theirs, so that a checkpoint is found again."""

    cells: tuple[Cell, ...]

    @functools.cached_property
    def name(self) -> str:
        return hashlib.sha256(" ".join(self.names).encode()).hexdigest()[:DIGITS]

    @property
    def names(self) -> list[str]:
        return [cell.name for cell in self.cells]

    def __repr__(self) -> str:
        return f"<Pack {self.name}: {len(self.cells)} cells>"

    @property
    def iterations(self) -> int:
        """Iterations of all cells together: the work in the pack."""
        return sum(cell.settings.get("iterations") or 1 for cell in self.cells)

    def plan(self) -> CellPlan:
        """The plan that teaches these cells. The lesson has the hints of all of them."""
        first = self.cells[0].settings
        hints = tuple(dict.fromkeys(cell.settings["hints"] for cell in self.cells))
        settings = tuple(
            {"kind": kind_of(c), "density": c.settings.get("density", 0.0), "strength": c.settings.get("strength", 0.0)}
            for c in self.cells
        )
        seeds = tuple(cell.settings["seed"] for cell in self.cells)
        return CellPlan(lesson_of(first, hints), settings, seeds, first["iterations"], first["test_every"])


def packed(cells: Sequence[Cell], workers: int, most: Mapping[str, int] | None = None) -> list[Pack]:
    """The cells in packs: cells of one program together, at most `most[program]`, enough packs for all workers.

    The packs of a program are of nearly equal size.
    """
    groups: dict[str, list[Cell]] = {}
    for cell in cells:
        groups.setdefault(cell.program, []).append(cell)
    counts = {program: math.ceil(len(group) / (most or {}).get(program, FEWEST)) for program, group in groups.items()}

    def size(program: str) -> float:
        return len(groups[program]) / counts[program]

    while sum(counts.values()) < min(workers, len(cells)):
        counts[max(groups, key=size)] += 1
    packs = []
    for program, group in groups.items():
        bounds = [len(group) * n // counts[program] for n in range(counts[program] + 1)]
        packs += [Pack(tuple(group[a:b])) for a, b in itertools.pairwise(bounds)]
    return packs


def record(store: CellStore, packs: Sequence[Pack]) -> None:
    """Keep which cells each pack has, so that a later run makes the same packs and finds their checkpoints."""
    for pack in packs:
        file = store.path / "packs" / f"{pack.name}.json"
        if not file.exists():
            write_atomically(file, json.dumps(pack.names))


def recorded(store: CellStore, cells: Sequence[Cell]) -> tuple[list[Pack], list[Cell]]:
    """The packs of earlier runs that have only cells from these, and the cells that are in none."""
    open_cells, found = {cell.name: cell for cell in cells}, []
    for file in sorted((store.path / "packs").glob("*.json"), key=lambda file: _begun(store, file)):
        try:
            names = _names(file)
        except ValueError:
            continue
        if names and all(name in open_cells for name in names):
            found.append(Pack(tuple(open_cells.pop(name) for name in names)))
    return found, list(open_cells.values())


def _names(file: Path) -> list[str]:
    """The cells of a pack as its file lists them; a ValueError where it lists none."""
    names = parsed_json(read_bytes(file, MOST_TEXT))
    if not isinstance(names, list) or not all(isinstance(name, str) for name in names) or len({*names}) < len(names):
        raise ValueError("it does not list cells")
    return names


def remove_checkpoints(store: CellStore, done: Collection[str]) -> None:
    """Remove the checkpoints of packs whose cells are all done: what a worker left that was killed as it finished."""
    for file in (store.path / "checkpoints").glob("*.safetensors"):
        with suppress(KleeneError, ValueError):
            names = _names(store.path / "packs" / f"{file.stem}.json")
            if all(name in done for name in names):
                file.unlink(missing_ok=True)


def _begun(store: CellStore, file: Path) -> tuple[bool, str]:
    """Packs with a checkpoint come first."""
    return not checkpoint_of(store, file.stem).exists(), file.name


def checkpoint_of(store: CellStore, pack: str) -> Path:
    """The file of a pack's checkpoint, which need not exist."""
    return store.path / "checkpoints" / f"{pack}.safetensors"


def measurements(pack: Pack, plan: Plan, progress: Progress) -> list[dict[str, Any]]:
    """What was measured of each cell: `tests` has an entry a test in each of its columns."""
    columns = {name: np.stack([test[name] for test in progress.tests]) for name in progress.tests[0]}
    lesson, lengths = plan.lesson.name, list(plan.lesson.lengths)
    return [
        {
            "cell": cell.name,
            "program": cell.program,
            "lesson": lesson,
            "settings": dict(cell.settings),
            "lengths": lengths,
            "tests": {k: (v if v.ndim == 1 else v[:, run]).tolist() for k, v in columns.items()},
            "seconds": round(progress.seconds, 3),
            "runs": plan.runs,
            "pack": pack.name,
        }
        for run, cell in enumerate(pack.cells)
    ]


def progress_of(rows: Sequence[Mapping[str, Any]]) -> Progress:
    """The progress of a plan whose runs are these rows, in their order; what `measurements` took apart."""
    names = rows[0]["tests"]
    columns = {name: np.stack([_array(row["tests"][name]) for row in rows], axis=1) for name in names}
    iterations = columns.pop("iteration")[:, 0]
    tests = [
        {"iteration": np.asarray(at)} | {name: column[number] for name, column in columns.items()}
        for number, at in enumerate(iterations)
    ]
    seconds = sum(row["seconds"] / row["runs"] for row in rows)
    return Progress(int(iterations[-1]), seconds, tests)


def _array(column: Any) -> np.ndarray:
    """A column of JSON as an array of the type that the loop measures in."""
    array = np.array(column, dtype=object)
    kinds = {type(entry) for entry in array.ravel()}
    if kinds == {bool}:
        return array.astype(bool)
    if kinds == {int}:
        return array.astype(np.int64)
    return np.array([np.nan if entry is None else float(entry) for entry in array.ravel()], np.float32).reshape(
        array.shape
    )
