"""Sweeps: what a cell and a pack cost beside their teaching. Run with `kleene bench sweep` (`--quick`: in a minute).

An RNN learns Tomita's first language (hidden 8, batch 16). The same runs are taught as one plan of the training loop,
as a sweep in one pack, in packs of eight, and one cell a pack; a sweep of several programs runs in 1, 2 and 4 processes
and on a Ray cluster of this machine, where Ray is installed. A store of 10,000 rows is filled, read and claimed.
"""

import os
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from kleene.benchmarking import measured, missing
from kleene.sweeping import packs as packing
from kleene.sweeping.cells import cells_of
from kleene.sweeping.claims import Heart, remove_claims
from kleene.sweeping.definition.reading import read_sweep
from kleene.sweeping.packs import Pack
from kleene.sweeping.store import CellStore
from kleene.sweeping.sweep import sweep
from kleene.teaching import loop

NO_PEER = "a cost of Kleene's own sweeps"
RUNS, ROWS, WRITERS = 64, 10_000, 20
BASE = {"task": "dfa:tomita_1", "batch": 16, "iterations": 200, "test_every": 50}
Row = dict[str, Any]


def measure(quick: bool = False) -> Iterator[Row]:
    """Every measurement as a row."""
    loop.use_all_cores()
    yield {"name": "load of the machine", "value": os.getloadavg()[0], "unit": "processes", "remark": _cores()}
    yield from _overhead(1 if quick else 4)
    yield from _unpacked(8 if quick else RUNS)
    yield from _many(ROWS)
    yield from _workers((1, 2) if quick else (1, 2, 4), programs=2 if quick else 8, ray=not quick)


def _cores() -> str:
    return f"on {len(os.sched_getaffinity(0)) if hasattr(os, 'sched_getaffinity') else os.cpu_count()} cores"


def _source(seeds: int, hidden: Sequence[int] = (8,), **settings: Any) -> dict[str, Any]:
    settings = BASE | {"seeds": seeds} | settings
    return {"name": "bench", "settings": settings, "grid": {"hidden": [*hidden]}, "resources": {"cpus": 0.5}}


def _seconds(function: Callable[[], Any]) -> float:
    started = time.perf_counter()
    function()
    return time.perf_counter() - started


def _swept(source: dict[str, Any], size: int | None = None, **where: Any) -> float:
    """The seconds of a sweep in a new store, in packs of `size` cells."""
    with tempfile.TemporaryDirectory() as folder:
        if size is not None:
            cells = cells_of("teach", read_sweep(source).settings)
            packs = [Pack(tuple(cells[n : n + size])) for n in range(0, len(cells), size)]
            packing.record(CellStore(folder), packs)
        return _seconds(lambda: _whole(sweep(source, store=folder, **where)))


def _whole(swept: Any) -> None:
    assert swept.finished
    assert not swept.aside


def _overhead(repeats: int) -> Iterator[Row]:
    """The same runs as one plan, with and without a checkpoint, and as sweeps."""
    source = _source(RUNS)
    plan = Pack(tuple(cells_of("teach", read_sweep(source).settings))).plan()

    def with_checkpoint() -> None:
        with tempfile.TemporaryDirectory() as folder:
            loop.teach(plan, checkpoint=Path(folder) / "c.safetensors")

    ways: dict[str, Callable[[], float]] = {
        "one plan of the loop": lambda: _seconds(lambda: loop.teach(plan)),
        "one plan of the loop, with a checkpoint": lambda: _seconds(with_checkpoint),
        "a sweep in one pack": lambda: _swept(source),
        "a sweep in 8 packs": lambda: _swept(source, RUNS // 8),
    }
    found = {name: min(way() for _ in range(repeats + 1)) for name, way in ways.items()}
    _, kept, one, eight = found.values()
    for name, seconds in found.items():
        peer = {"peer": kept, "peer_name": "the loop alone, with a checkpoint"} if "sweep" in name else {}
        yield measured(f"{RUNS} runs, {name}", seconds, "s", **peer)
    yield {"name": "overhead of a sweep in one pack", "value": one - kept, "unit": "s", "remark": "store, plan, claims"}
    remark = "of a program that another pack has compiled: it is traced again, and loaded from the cache"
    yield {"name": "overhead a pack", "value": (eight - one) / 7, "unit": "s", "remark": remark}


def _unpacked(runs: int) -> Iterator[Row]:
    source = _source(runs)
    for name, size in ((f"{runs} cells in one pack", runs), (f"{runs} cells, each a pack of its own", 1)):
        yield {"name": name, "value": runs / _swept(source, size), "unit": "cells/s"}


def _workers(numbers: tuple[int, ...], programs: int, *, ray: bool) -> Iterator[Row]:
    hidden, cells = range(4, 4 + programs), 16 * programs
    long, short = _source(16, hidden, iterations=5000, test_every=1000), _source(16, hidden, iterations=1)
    ways: dict[str, dict[str, Any]] = {f"{n} worker{'s' if n > 1 else ''}": {"workers": n} for n in numbers}
    _swept(short, workers=1)  # compiles the programs, which the cache keeps
    on_ray = {}
    if ray and not missing("ray"):
        seconds = _swept(long, ray=True)
        on_ray = {"peer": cells / seconds, "peer_name": "Ray, two packs a core, its start and end included"}
    why = missing("ray", "sweeps") or "Ray runs at the full size alone"
    for name, where in ways.items():
        _swept(short, **where)
        seconds = _swept(long, **where)
        name = f"{cells} cells of {programs} programs, {name}"
        yield measured(name, cells / seconds, "cells/s", no_peer=why, remark=f"{seconds:.1f} s", **on_ray)


def _many(rows: int) -> Iterator[Row]:
    """A large store: naming its cells, claiming them, writing and reading their rows."""
    found = [*_of_a_store(rows)]
    yield from found
    own = [row["value"] / rows for row in found if row["name"].startswith(f"{rows:,} cells: ")]
    yield {"name": "overhead a cell, all of these together", "value": 1e3 * sum(own), "unit": "ms"}


def _of_a_store(rows: int) -> Iterator[Row]:
    source = _source(rows)
    settings = read_sweep(source).settings
    yield _each("reading the sweep", rows, _seconds(lambda: read_sweep(source)))
    yield _each("naming cells", rows, _seconds(lambda: cells_of("teach", settings)))
    cells = cells_of("teach", settings)
    with tempfile.TemporaryDirectory() as folder:
        kept, names = CellStore(folder), [cell.name for cell in cells]
        with Heart(kept.path) as heart:
            yield _each("claiming cells", rows, _seconds(lambda: [heart.claim(name) for name in names]))
            yield _each("looking at claims that another holds", rows, _seconds(lambda: [*map(heart.claim, names)]))
        yield _each("removing claims", rows, _seconds(lambda: remove_claims(kept.path, {*names})))
        lines = [_row(cell) for cell in cells]
        share = rows // WRITERS
        writers = [(kept.writer(), lines[n : n + share]) for n in range(0, rows, share)]
        yield _each("appending rows, in packs of 500", rows, _seconds(lambda: [w.append(own) for w, own in writers]))
        alone, few = kept.writer(), lines[:200]
        yield _each("appending rows, one at a time", len(few), _seconds(lambda: [alone.append([one]) for one in few]))
        size = sum(file.stat().st_size for file in (kept.path / "rows").iterdir()) / 2**20
        fresh = CellStore(kept.path)
        yield _each("reading rows", rows, _seconds(fresh.rows)) | {"remark": f"{size:.0f} MiB in {WRITERS + 1} files"}
        yield {"name": f"looking for new ones among {rows:,} rows", "value": 1e3 * _seconds(fresh.rows), "unit": "ms"}
        packing.record(kept, [Pack(tuple(cells[n : n + share])) for n in range(0, rows, share)])
        yield {"name": "the same sweep again, all done", "value": _seconds(lambda: _again(source, folder)), "unit": "s"}


def _again(source: dict[str, Any], folder: str) -> None:
    _whole(sweep(source, store=folder))


def _row(cell: Any) -> Row:
    """A row as long as one of ten tests of six lengths."""
    number = 0.8460937738418579
    columns = {"accuracy_by_length": [[number] * 6] * 10, "generalises": [False] * 10, "loss": [number] * 10}
    columns |= {"accuracy": [number] * 10, "alive": [True] * 10, "iteration": list(range(10))}
    settings, shared = dict(cell.settings), {"lesson": "tomita_1 rnn", "seconds": 1.0, "runs": 500, "attempt": 1}
    return {"cell": cell.name, "settings": settings, "lengths": [5, 10, 15, 20, 30, 40], "tests": columns} | shared


def _each(what: str, count: int, seconds: float) -> Row:
    return {
        "name": f"{count:,} cells: {what}",
        "value": seconds,
        "unit": "s",
        "remark": f"{1e3 * seconds / count:.3g} ms each",
    }
