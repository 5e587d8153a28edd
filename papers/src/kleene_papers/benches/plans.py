"""What large runs would take, by the rates that `kleene bench teach` measured on one H200."""

import math
import re

from kleene_papers.benches.rows import by_name, number
from kleene_papers.stored import Result
from kleene_papers.tables import Table

CELLS, ITERATIONS = 10_000, 100_000  # of a large sweep; the partial-traces paper trains NTMs that long
FIGURE_9 = {"copy": "9a", "repeat_copy_twice": "9b", "dyck_words": "9c", "flip_3rd": "9d", "repeat_flip_3d": "9e"}
PACK = re.compile(r"copy, ([\d,]+) seeds, gpu")
GRID = re.compile(r"(\w+), the grid of figure \w+, [\d,]+ runs(, without the kernel)?, gpu")
TIMES = 10  # as fast as when the tables were made: the aim for grids
MINUTES, SLOWER = 28, 0.6  # of a piece, and the speed of a part of the grid against that of the whole


def large_sweep(teach: Result, sweep: Result) -> list[Table]:
    """What 10,000 cells of 100,000 iterations would take, by the rates of packs."""
    lines, found = [], by_name(teach.rows)
    (probe,) = sweep["dry run, 975 cells"]["probes"].values()
    rates = {
        int(pack[1].replace(",", "")): row["ours"] for what, row in found.items() if (pack := PACK.fullmatch(what))
    }
    for size, rate in sorted(rates.items(), reverse=True):
        gpus = 1 if size == max(rates) else CELLS // size
        hours = CELLS * ITERATIONS / rate / gpus / 3600
        at = f"{number(rate)} with {size:,}"
        lines.append([f"{gpus:,}", f"{CELLS // gpus:,}", at, duration(hours), number(gpus * hours, 2)])
    least = ITERATIONS * probe["seconds_per_iteration"] / 3600
    at = f"{number(probe['runs'] / probe['seconds_per_iteration'])} with {probe['runs']}"
    lines.append(["1,000", "10", at, f"hardly less than {duration(least)}", f"about {number(1000 * least, 2)}"])
    return [Table(["GPUs", "cells a GPU", "iterations a second, measured", "time", "GPU hours"], lines, "10,000 cells")]


def figure_9(teach: Result, *grids: Result) -> list[Table]:
    """The speed of figure 9's grids, and what they take at 100,000 iterations; `grids` are their earlier runs."""
    found = [(grid, row["ours"]) for what, row in by_name(teach.rows).items() if (grid := GRID.fullmatch(what))]
    fast, plain = ({grid[1]: rate for grid, rate in found if bool(grid[2]) == without} for without in (False, True))
    measured = dict(zip(FIGURE_9, grids, strict=True))
    head = ["grid", "with the kernel", "without, quiet", "times that", "when its table was made", "times that"]
    lines = [_speed(task, rate, plain.get(task), measured[task]) for task, rate in fast.items()]
    speeds = Table([*head, f"aim, {TIMES} times that"], lines, "grids")
    head = ["figure", "runs", "seed·iterations a second, measured", "time at that speed", "pieces", "command"]
    same = fast | {"repeat_flip_3d": fast["flip_3rd"]}  # which has words of the same length
    return [
        speeds,
        Table(head, [_pieces(task, same[task], one) for task, one in measured.items()], "in pieces", marked=True),
    ]


def _speed(task: str, rate: float, plain: float | None, measured: Result) -> list[str]:
    """The speed of a grid with the kernel, without it, and as its table was measured beside other runs."""
    assert measured.seconds is not None
    before = sum(row["seeds"] for row in measured.rows) * measured.plans[0]["iterations"] / measured.seconds
    beside = ["not measured", ""] if plain is None else [f"{plain:,.0f}", f"{rate / plain:.1f}"]
    reached = "reached" if rate >= TIMES * before else "missed"
    return [f"{task} ({FIGURE_9[task]})", f"{rate:,.0f}", *beside, f"{before:,.0f}", f"{rate / before:.1f}", reached]


def _pieces(task: str, speed: float, measured: Result) -> list[str]:
    """A grid at 100,000 iterations in pieces of half an hour."""
    runs = 40 + 10 * len(measured.paper["rows"]) * len(measured.paper["columns"])
    seconds = ITERATIONS * runs / speed
    parts = math.ceil(seconds / SLOWER / (60 * MINUTES))
    command = f"kleene reproduce traces-figure-{FIGURE_9[task]} --run full --first-seed 1000 --minutes {MINUTES}"
    command += f" --piece i/{parts}" if parts > 1 else ""
    return [FIGURE_9[task], f"{runs:,}", f"{speed:,.0f}", duration(seconds / 3600), str(parts), f"`{command}`"]


def duration(hours: float) -> str:
    return f"{number(hours, 2)} h" if hours >= 1 else f"{number(60 * hours, 2)} min"
