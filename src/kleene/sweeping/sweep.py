"""`kleene.sweep`: run the cells of a sweep wherever there is room, each of them once.

The same call again goes on where the last one stopped, however that was.
"""

import itertools
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from kleene import stopping
from kleene.errors import InputError, KleeneError, UnfinishedError
from kleene.limits import read_count
from kleene.reproducing import papers
from kleene.sweeping import packs as packing
from kleene.sweeping.cells import Cell, cells_of, cells_of_plan
from kleene.sweeping.claims import living, remove_claims, remove_dead
from kleene.sweeping.cluster import ray_ended, ray_slots, run_on_ray
from kleene.sweeping.definition.reading import SweepFile, read_sweep
from kleene.sweeping.packs import Pack
from kleene.sweeping.places import Job, run_here, run_in_processes
from kleene.sweeping.probing import RUNS, PackProbe, probe_elsewhere
from kleene.sweeping.store import CellStore, Row, is_store
from kleene.sweeping.worker import set_aside
from kleene.teaching.plan import Plan
from kleene.teaching.reports import TeachingReport
from kleene.traces.markup import html_text

EVERY = 0.5  # seconds between two looks at the store for the table of a sweep
SMALL = 256  # cells of one program that are packed without a probe


@dataclass(frozen=True)
class Status:
    """How far a sweep is: cells by what became of them, its share of all iterations, and seconds that are left."""

    cells: int
    done: int
    running: int
    failed: int  # attempts, of cells that are not set aside among them
    aside: int
    share: float
    seconds_left: float | None


@dataclass(frozen=True)
class SweepPlan:
    """What a sweep will run: packs of cells, with what a probe measured of each program."""

    name: str
    store: Path
    cells: int
    done: int
    packs: tuple[Pack, ...]
    workers: int
    probes: Mapping[str, PackProbe] = field(default_factory=dict)
    damaged: tuple[str, ...] = ()  # a message for each line of the store that counts as absent

    @property
    def seconds(self) -> float | None:
        """The time that the packs take, if they were measured: the work shared evenly, but no less than one pack."""
        if not self.packs or any(pack.cells[0].program not in self.probes for pack in self.packs):
            return None
        each = [self.probes[pack.cells[0].program].seconds(pack) for pack in self.packs]
        return max(sum(each) / self.workers, max(each))

    def lines(self) -> list[str]:
        """The plan in words."""
        left = sum(len(pack.cells) for pack in self.packs)
        shared = f"{len(self.packs)} {'pack' if len(self.packs) == 1 else 'packs'}"
        workers = f"{self.workers} {'worker' if self.workers == 1 else 'workers'}"
        found = [f"{self.name}: {self.cells:,} cells, {self.done:,} done, {left:,} to run in {shared} on {workers}"]
        for program, probe in self.probes.items():
            sizes = [len(pack.cells) for pack in self.packs if pack.cells[0].program == program]
            if sizes:
                found.append(_probe_line(probe, max(sizes)))
        if self.seconds is not None:
            found.append(f"about {in_words(self.seconds)}, by this probe")
        return found + [f"passed over: {problem}" for problem in self.damaged]

    def as_json(self) -> dict[str, Any]:
        return {
            "sweep": self.name,
            "store": str(self.store),
            "cells": self.cells,
            "done": self.done,
            "packs": [len(pack.cells) for pack in self.packs],
            "workers": self.workers,
            "seconds": self.seconds,
            "damaged": list(self.damaged),
            "probes": {program: vars(probe) | {"most": probe.most} for program, probe in self.probes.items()},
        }

    def _repr_html_(self) -> str:
        return html_text(self)

    def __str__(self) -> str:
        return "\n".join(self.lines())

    def __repr__(self) -> str:
        return f"<SweepPlan {self.name}: {self.cells} cells, {self.done} done, {len(self.packs)} packs>"


def _probe_line(probe: PackProbe, size: int) -> str:
    memory = f"{size * probe.bytes_per_run / 2**20:,.0f} MiB of {probe.memory / 2**20:,.0f}"
    speed = f"{probe.runs / probe.seconds_per_iteration:,.0f} cell·iterations a second with {probe.runs} cells"
    fits = f"up to {size:,} cells a pack: {memory} ({probe.most:,} would fit)"
    return f"{fits}, {speed}, {probe.compile_seconds:.1f} s to compile"


def in_words(seconds: float) -> str:
    """A duration as people say it.

    >>> in_words(42), in_words(600), in_words(9000)
    ('42 s', '10 min', '2.5 h')
    """
    return (
        f"{seconds:.0f} s"
        if seconds < 100
        else f"{seconds / 60:.0f} min"
        if seconds < 5400
        else f"{seconds / 3600:.1f} h"
    )


@dataclass(frozen=True, eq=False)
class Swept:
    """What a sweep came to. `finished` says whether every cell is done or set aside."""

    name: str
    store: Path
    cells: tuple[Cell, ...]
    rows: Mapping[str, Row]
    aside: Mapping[str, str]
    finished: bool
    seconds: float

    @property
    def done(self) -> int:
        return len(self.rows)

    @property
    def runs(self) -> Any:
        """The rows as `Runs`, to filter, group, pivot and draw."""
        from kleene.runs.table import Runs  # drawing is slow to import

        return Runs.of_rows(self.rows)

    def lines(self) -> list[str]:
        """How many cells are done, and the name and reason of each that was set aside."""
        found = [
            f"{self.done:,} of {len(self.cells):,} cells are done, in {in_words(self.seconds)}; kept in {self.store}"
        ]
        named = {cell.name: cell for cell in self.cells}
        for cell, reason in self.aside.items():
            settings = ", ".join(f"{name}={value}" for name, value in named[cell].settings.items())
            found.append(f"cell {cell} was set aside ({settings}): {reason.splitlines()[0] if reason else ''}")
        if not self.finished:
            found.append("stopped before the end; the same command goes on from there")
        return found

    def as_json(self) -> dict[str, Any]:
        return {
            "sweep": self.name,
            "store": str(self.store),
            "cells": len(self.cells),
            "done": self.done,
            "set_aside": dict(self.aside),
            "finished": self.finished,
            "seconds": round(self.seconds, 2),
        }

    def __str__(self) -> str:
        return "\n".join(self.lines())

    def __repr__(self) -> str:
        return f"<Swept {self.name}: {self.done} of {len(self.cells)} cells, {len(self.aside)} set aside>"

    def _repr_html_(self) -> str:
        return html_text(self)


@ray_ended()
def sweep(
    source: Any,
    *,
    store: Any = None,
    workers: int = 1,
    ray: str | bool = False,
    shard: str | None = None,
    minutes: float | None = None,
    retry: bool = False,
    on_plan: Callable[[SweepPlan], None] | None = None,
    on_status: Callable[[Status], None] | None = None,
) -> Swept:
    """Run every cell of a sweep that the store does not have yet, and return what the sweep came to.

    `source` is a TOML file or a dict of the same shape (docs/sweeps.md). With one worker the cells run in this process,
    with more in as many processes; `ray` is True for a Ray cluster on this machine, or the address of one. `shard` is
    "i/n", the i-th of n parts, for a job array. After `minutes`, the sweep stops at a checkpoint. With `retry`, cells
    that were set aside are tried again.

    >>> import tempfile
    >>> settings = {"task": "dfa:tomita_1", "iterations": 2, "hidden": 2, "batch": 2, "seeds": 3}
    >>> sweep({"name": "small", "settings": settings}, store=tempfile.mkdtemp())
    <Swept small: 3 of 3 cells, 0 set aside>
    """
    started = time.monotonic()
    deadline = None if minutes is None else time.time() + 60 * minutes
    file = read_sweep(source)
    plan, kept, cells = _planned(file, store, workers, ray, shard, probing=False)
    if retry:
        _retry(kept, cells)
    if on_plan is not None:
        on_plan(plan)
    watch = _watch(kept, cells, on_status)
    packing.record(kept, plan.packs)
    job = Job(kept, plan.packs, deadline)
    if plan.packs:
        stopping.announce("stopped; what is finished is in the store, and the same command goes on", at_stake=True)
        _run(job, watch, plan.workers, ray, file)
    swept = _swept(file.name, kept, cells, started)
    if stopping.is_asked() and not swept.finished:
        raise stopping.Stopped
    return swept


def _retry(kept: CellStore, cells: Sequence[Cell]) -> None:
    aside, wanted = set_aside(kept.failures()), {cell.name for cell in cells}
    if again := [name for name in aside if name in wanted]:
        kept.writer().fail({"cell": name, "reason": "it was asked for again", "retry": True} for name in again)


@ray_ended()
def plan_sweep(
    source: Any, *, store: Any = None, workers: int = 1, ray: str | bool = False, shard: str | None = None
) -> SweepPlan:
    """What `sweep` with the same arguments would run, with the time and the memory that a probe measures."""
    file = read_sweep(source)
    place = Path(file.store if store is None else store)
    with tempfile.TemporaryDirectory() as empty:  # in place of a store that is not there yet
        plan = _planned(file, place if is_store(place) else empty, workers, ray, shard, probing=True)[0]
    return replace(plan, store=place.resolve())


def swept_plans(
    plans: Sequence[Plan],
    store: Any,
    *,
    piece: str | None = None,
    minutes: float | None = None,
    on_status: Callable[[Status], None] | None = None,
) -> list[TeachingReport]:
    """The reports of plans that are run as a sweep in this process: only the cells that the store does not have.

    The lessons must have been made by name. A cell that was set aside is an error. `piece` is "i/n", the i-th of n
    parts, and after `minutes` the sweep stops at a checkpoint; cells that are left then are an `UnfinishedError`.
    """
    deadline = None if minutes is None else time.time() + 60 * minutes
    part, of = _shard(piece, "piece")
    kept, by_plan = CellStore(store), [cells_of_plan(plan) for plan in plans]
    cells = list({cell.name: cell for group in by_plan for cell in group}.values())
    wanted = _part(cells, part, of)
    packs = _packs(kept, wanted, 1, probing=False)[0]
    packing.record(kept, packs)
    stopping.announce("stopped; what is finished is in the store, and the same command goes on", at_stake=True)
    run_here(Job(kept, packs, deadline), _watch(kept, wanted, on_status))
    swept = _swept("", kept, cells, time.monotonic())
    if not swept.finished and (stopping.is_asked() or (piece, minutes) == (None, None)):
        raise stopping.Stopped
    if not swept.finished:
        left = any(cell.name not in swept.rows and cell.name not in swept.aside for cell in wanted)
        if left or not any(cell.name in swept.aside for cell in wanted):
            next_step = "the same command goes on" if left else "run the other pieces with the same folder"
            raise UnfinishedError(f"{swept.done:,} of {len(cells):,} cells are done, kept in {kept.path}; {next_step}")
    if swept.aside:
        raise KleeneError("\n".join(swept.lines()[1 : 1 + len(swept.aside)]))
    return [TeachingReport(p, packing.progress_of([swept.rows[c.name] for c in g])) for p, g in zip(plans, by_plan)]


def _planned(
    file: SweepFile, store: Any, workers: int, ray: str | bool, shard: str | None, *, probing: bool
) -> tuple[SweepPlan, CellStore, list[Cell]]:
    if workers < 1:
        raise InputError(f"workers is {workers}; give 1 or more")
    if ray and workers > 1:
        raise InputError("--workers is for processes of this machine; with --ray, [resources] say how many packs run")
    if file.verb == "reproduce":
        papers()  # refuses before any cell fails where they are not installed
    cells = _part(cells_of(file.verb, file.settings), *_shard(shard))
    if ray:
        workers = ray_slots(_address(ray), file.cpus, file.gpus)
    kept = CellStore(file.store if store is None else store)
    packs, probes = _packs(kept, cells, workers, probing=probing)
    done = kept.rows()
    left = tuple(pack for pack in packs if any(name not in done for name in pack.names))
    finished = sum(cell.name in done for cell in cells)
    plan = SweepPlan(file.name, kept.path, len(cells), finished, left, workers, probes, tuple(kept.damaged))
    return plan, kept, cells


def _packs(
    kept: CellStore, cells: Sequence[Cell], workers: int, *, probing: bool
) -> tuple[list[Pack], dict[str, PackProbe]]:
    """The packs of all cells: those of an earlier run, and new ones, as large as the memory that a probe measured."""
    earlier, new = packing.recorded(kept, cells)
    groups: dict[str, list[Cell]] = {}
    for cell in new if not probing else cells:
        if cell.verb == "teach":
            groups.setdefault(cell.program, []).append(cell)
    large = [group for group in groups.values() if probing or len(group) > SMALL]
    tried = [Pack(tuple(group[:RUNS])) for group in large]
    probes = {pack.cells[0].program: found for pack, found in zip(tried, probe_elsewhere(tried) if tried else ())}
    packs = earlier + packing.packed(new, workers, {program: probe.most for program, probe in probes.items()})
    return packs, probes


def _shard(shard: str | None, word: str = "shard") -> tuple[int, int]:
    if shard is None:
        return 1, 1
    part, _, of = shard.partition("/")
    numbers = read_count(part) or 0, read_count(of) or 0
    if not 1 <= numbers[0] <= numbers[1]:
        raise InputError(f"the {word} is {shard!r}; give i/n, such as 1/8 for the first of eight parts")
    return numbers


def _part(cells: Sequence[Cell], part: int, of: int) -> list[Cell]:
    """The cells of one shard: an equal share of all iterations, with cells of one program together.

    It depends on nothing else, because the shards of a sweep start at different times, on different machines.
    """
    order = {program: n for n, program in enumerate(dict.fromkeys(cell.program for cell in cells))}
    ordered = sorted(cells, key=lambda cell: order[cell.program])
    work = [cell.settings.get("iterations") or 1 for cell in ordered]
    middles = [after - own / 2 for after, own in zip(itertools.accumulate(work), work)]
    return [cell for cell, middle in zip(ordered, middles) if int(of * middle / sum(work)) == part - 1]


def _address(ray: str | bool) -> str | None:
    return ray if isinstance(ray, str) and ray not in ("", "local") else None


def _run(job: Job, watch: Callable[[], None], workers: int, ray: str | bool, file: SweepFile) -> None:
    if ray:
        run_on_ray(job, watch, address=_address(ray), cpus=file.cpus, gpus=file.gpus)
    elif workers > 1:
        run_in_processes(job, watch, workers=workers)
    else:
        run_here(job, watch)


def _swept(name: str, kept: CellStore, cells: Sequence[Cell], started: float) -> Swept:
    done, aside = kept.rows(), set_aside(kept.failures())
    rows = {cell.name: done[cell.name] for cell in cells if cell.name in done}
    given_up = {cell.name: aside[cell.name] for cell in cells if cell.name in aside and cell.name not in done}
    finished = len(rows) + len(given_up) == len(cells)
    if finished:
        remove_claims(kept.path, rows)
        remove_dead(kept.path)
        packing.remove_checkpoints(kept, rows)
    return Swept(name, kept.path, tuple(cells), rows, given_up, finished, time.monotonic() - started)


def _watch(kept: CellStore, cells: Sequence[Cell], on_status: Callable[[Status], None] | None) -> Callable[[], None]:
    """A function that tells `on_status` how far the sweep is, at most twice a second."""
    if on_status is None:
        return lambda: None
    work = {cell.name: cell.settings.get("iterations") or 1 for cell in cells}
    total, began, told = sum(work.values()), time.monotonic(), 0.0
    before = sum(work[name] for name in kept.rows() if name in work)

    def watch() -> None:
        nonlocal told
        now = time.monotonic()
        if now - told < EVERY:
            return
        told = now
        rows, failures, facts = kept.rows(), kept.failures(), [f for f in living(kept.path).values() if f]
        finished = sum(work[name] for name in rows if name in work)
        gained = finished - before + sum(fact["done"] for fact in facts)
        left = (total - before - gained) / gained * (now - began) if gained > 0 else None
        done = sum(name in rows for name in work)
        tried = [name for name in failures if name in work]
        aside = sum(name in work and name not in rows for name in set_aside(failures))
        running = sum(fact["cells"] for fact in facts)
        on_status(Status(len(work), done, running, len(tried), aside, (before + gained) / total, left))

    return watch
