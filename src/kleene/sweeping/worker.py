"""A worker: it claims the cells of a pack, teaches them, and appends their rows to the store.

Workers know nothing of each other but what the store says. Any of them may be killed at any moment: its claims expire,
and another continues from the checkpoint of the pack.
"""

import errno
import os
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from kleene import stopping
from kleene.errors import KleeneError, MemoryLimitError, ModelFileError
from kleene.reproducing import reproduce
from kleene.sweeping.cells import Cell
from kleene.sweeping.claims import EXPIRES, Heart
from kleene.sweeping.packs import Pack, checkpoint_of, measurements, record
from kleene.sweeping.store import CellStore, Row, not_written
from kleene.teaching import loop
from kleene.teaching.plan import Progress
from kleene.teaching.results import versions

FAILURES = 3  # errors after which a cell is set aside
DEATHS = 10  # of workers that held the cell, after which it is set aside: what kills them may be the cell
REASON = 2_000  # characters of a reason that are kept
WAIT = 0.5  # seconds until a worker looks again at cells that others hold

Outcome = Literal["done", "held", "failed", "stopped"]


def set_aside(failures: dict[str, list[Row]]) -> dict[str, str]:
    """The cells that are not tried again, each with the last reason. A retry that was asked for clears the slate."""
    found = {}
    for cell, all_tries in failures.items():
        last = max((n for n, one in enumerate(all_tries, start=1) if one.get("retry")), default=0)
        tries = all_tries[last:]
        deaths, errors = ([one for one in tries if bool(one.get("death")) is dead] for dead in (True, False))
        if len(errors) >= FAILURES or len(deaths) >= DEATHS:
            found[cell] = (errors or deaths)[-1]["reason"]
    return found


@dataclass
class Worker:
    """Runs packs in this process. `deadline` is a time (of `time.time`) at which it stops at a checkpoint."""

    store: CellStore
    deadline: float | None = None
    parent: int | None = None  # a process with which this one ends
    stop_file: Path | None = None  # a file that asks to stop, once it exists
    on_progress: Callable[[], None] | None = None
    expires: float = EXPIRES
    heart: Heart = field(init=False)

    def __post_init__(self) -> None:
        self.heart = Heart(self.store.path, expires=self.expires)
        self.writer = self.store.writer()

    def __enter__(self) -> "Worker":
        return self

    def __exit__(self, *_: Any) -> None:
        self.heart.__exit__()

    def run_all(self, packs: Sequence[Pack]) -> bool:
        """Run all packs that no other worker holds, until all cells are finished; False if it was stopped before."""
        while True:
            left = list(self._open(packs))
            if not left:
                return True
            outcomes: list[Outcome] = []
            for pack in left:
                if self.is_over():
                    return False
                outcomes.append(self.run(pack))
                if outcomes[-1] == "stopped":
                    return False
            if set(outcomes) == {"held"}:
                self._wait()

    def _open(self, packs: Sequence[Pack]) -> Iterator[Pack]:
        done, aside = self.store.rows(), set_aside(self.store.failures())
        for pack in packs:
            if any(name not in done and name not in aside for name in pack.names):
                yield pack

    def _wait(self) -> None:
        if self.on_progress is not None:
            self.on_progress()
        time.sleep(WAIT)

    def is_over(self) -> bool:
        """Whether the worker must stop: at the deadline, at Ctrl-C, or because its parent is gone."""
        return (
            stopping.is_asked()
            or (self.deadline is not None and time.time() >= self.deadline)
            or (self.parent is not None and os.getppid() != self.parent)
            or (self.stop_file is not None and self.stop_file.exists())
        )

    def run(self, pack: Pack) -> Outcome:
        """Claim the cells of the pack that are open, run them, and say what became of them."""
        cells = self._claimed(pack.cells)
        if not cells:
            return "held"
        claimed = Pack(tuple(cells))
        try:
            if len(cells) < len(pack.cells):  # others hold the rest: then a later run must know of this pack too
                record(self.store, [claimed])
            rows = self._experiment(cells[0]) if cells[0].verb == "reproduce" else self._taught(claimed)
        except stopping.Stopped:
            self.heart.release(claimed.names)
            return "stopped"
        except Exception as error:
            self.heart.release(claimed.names)
            if full := _of_the_disk(error):  # no cell's fault
                raise error if isinstance(error, KleeneError) else not_written(self.store.path, full) from error
            return self._failed(claimed, error)
        except BaseException:  # Ctrl-C in a program of the user's own
            self.heart.release(claimed.names)
            raise
        finally:
            self.heart.facts = {}
        failures = self.store.failures()
        held = [row for row in rows if self.heart.holds(row["cell"])]
        self.writer.append(
            [row | {"attempt": 1 + len(failures.get(row["cell"], ())), "versions": versions()} for row in held]
        )
        checkpoint_of(self.store, claimed.name).unlink(missing_ok=True)
        return "done"

    def _claimed(self, cells: Sequence[Cell]) -> list[Cell]:
        """The cells that are now this worker's. Rows are looked at after the claims, because another may have finished
        a cell and gone in between."""
        done, aside = self.store.rows(), set_aside(self.store.failures())
        claimed, deaths = [], []
        for cell in cells:
            if cell.name in done or cell.name in aside:
                continue
            before = self.heart.claim(cell.name)
            if before is None:
                continue
            claimed.append(cell)
            if before:
                deaths.append({"cell": cell.name, "reason": f"the worker {before} died", "death": True})
        done = self.store.rows()
        self.heart.release(cell.name for cell in claimed if cell.name in done)
        if deaths := [death for death in deaths if death["cell"] not in done]:
            self.writer.fail(deaths)
        return [cell for cell in claimed if cell.name not in done]

    def _taught(self, pack: Pack) -> list[Row]:
        plan, checkpoint = pack.plan(), checkpoint_of(self.store, pack.name)
        begun = False

        def should_stop(progress: Progress) -> bool:
            nonlocal begun
            begun, share = True, progress.iteration / plan.iterations
            self.heart.facts = {"pack": pack.name, "cells": plan.runs, "done": share * pack.iterations}
            if self.on_progress is not None:
                self.on_progress()
            return self.is_over()

        self.heart.facts = {"pack": pack.name, "cells": plan.runs, "done": 0}
        try:
            progress, _ = loop.teach(plan, checkpoint=checkpoint, should_stop=should_stop)
        except ModelFileError:
            if begun or not checkpoint.exists():
                raise
            checkpoint.unlink()  # it is damaged: the pack begins again
            progress, _ = loop.teach(plan, checkpoint=checkpoint, should_stop=should_stop)
        return measurements(pack, plan, progress)

    def _experiment(self, cell: Cell) -> list[Row]:
        folder = self.store.path / "checkpoints" / cell.name
        settings = dict(cell.settings)

        def watch(share: float, _: str) -> None:  # called when a checkpoint is written
            self.heart.facts = {"pack": cell.name, "cells": 1, "done": share * Pack((cell,)).iterations}
            if self.is_over():
                raise stopping.Stopped

        self.heart.facts = {"pack": cell.name, "cells": 1, "done": 0}
        size = "full" if settings.pop("full", False) else "quick"
        found = reproduce(settings.pop("experiment"), run=size, folder=folder, watch=watch, **settings)
        return [{"cell": cell.name, "settings": dict(cell.settings), "content": found.content, "runs": 1}]

    def _failed(self, pack: Pack, error: Exception) -> Outcome:
        """Keep the reason. A pack that memory does not hold is tried in halves instead, and so is one at its last try:
        what fails may be one of its cells, and the others shall not be set aside with it."""
        errors = [sum(not one.get("death") for one in self.store.failures().get(name, ())) for name in pack.names]
        if (_is_of_the_memory(error) or max(errors) >= FAILURES - 1) and len(pack.cells) > 1:
            middle = len(pack.cells) // 2
            outcomes: list[Outcome] = [self.run(Pack(half)) for half in (pack.cells[:middle], pack.cells[middle:])]
            return _worst(outcomes)
        plain = str(error) if isinstance(error, KleeneError) else f"{type(error).__name__}: {error}"
        self.writer.fail({"cell": name, "reason": plain[:REASON], "pack": pack.name} for name in pack.names)
        return "failed"


def _worst(outcomes: Sequence[Outcome]) -> Outcome:
    """What to say of a pack in parts."""
    order: tuple[Outcome, ...] = ("stopped", "failed", "held", "done")
    return min(outcomes, key=order.index)


def _is_of_the_memory(error: Exception) -> bool:
    return isinstance(error, (MemoryError, MemoryLimitError)) or "RESOURCE_EXHAUSTED" in str(error)


def _of_the_disk(error: BaseException | None) -> OSError | None:
    """The error, or what caused it, that says that the disk has no room; None if there is none such."""
    while error is not None:
        if isinstance(error, OSError) and error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EFBIG):
            return error
        error = error.__cause__
    return None
