"""The tables of speed of partial-traces.md, interdependence.md, learnability.md, and what 10,000 cells would cost."""

import math
import re
from collections.abc import Callable, Iterator

from benchmark_rows import MACHINES, Row, number, rows, shown  # these two lie beside this file
from tables import EARLIER, markdown, stored

from kleene_papers.traces.partial_traces import NTM as FIGURE_9

EAGER = "eager PyTorch"
TREEBANKS = {"EWT test": "test part of English-EWT", "all of EWT": "all of English-EWT"}
CELLS, ITERATIONS = 10_000, 100_000  # of a large sweep; the partial-traces paper trains NTMs that long
PACK = re.compile(r"copy, ([\d,]+) seeds, gpu")
GRID = re.compile(r"(\w+), the grid of figure \w+, [\d,]+ runs(, without the kernel)?, gpu")
TIMES = 10  # as fast as when the tables were made: the aim for grids
WHOLE = {"CPU": ("bench-2-cores",), "H200": ("teach-h200", "interdependence-h200", "scan-h200")}  # newest first
MINUTES, SLOWER = 28, 0.6  # of a piece, and the speed of a part of the grid against that of the whole


def taught(benchmark: str) -> str:
    """Every rate of teaching, on every machine whose rows are stored, beside what ran in the same run."""
    unit, lines = "", []
    for file, machine in MACHINES.items():
        found = rows(f"{benchmark}-{file}")
        for what, row in found.items():
            if row["unit"].startswith("seed·") and EAGER not in what:
                unit = row["unit"].removesuffix("/s")
                title = what.replace(", cpu", "").replace(", gpu", "").replace(", 1 seeds", ", 1 seed")
                compiling = found.get(f"{what.replace(', cpu', '').replace(', gpu', '')}: compile")
                lines.append([title, machine, number(row["ours"], 3), *_around(row, compiling)])
    return markdown(["", "on", f"{unit} a second", "compiling", "beside it in the same run", "aim"], lines)


def _around(row: Row, compiling: Row | None) -> Iterator[str]:
    """How long compiling took, the peer, and the aim, each where there is one."""
    yield "" if compiling is None else shown(compiling)
    beside = "" if row["peer"] is None else f"{row['peer_name'].removesuffix(', 1 seed')}: {number(row['peer'])}"
    yield beside and f"{beside}; ours is {row['ratio']:.1f} times as fast"
    yield f"{row['aim']:,.0f}: {'reached' if row['reached'] else 'missed'}" if "aim" in row else ""


def pairs_of_scan() -> str:
    """Pairs of the MLP on SCAN's commands."""
    row = rows("learnability-2-cores")["scan: pairs of the MLP"]
    return markdown(["pairs of the MLP a second", "which"], [[number(row["ours"]), row["remark"]]])


def interdependence() -> str:
    """All pairs of words of sentences and of treebanks, on both machines."""
    lines = []
    for file, machine in MACHINES.items():
        found = rows(f"interdependence-{file}")
        for what, row in found.items():
            if "pairs_a_second" in row:
                lines.append([*_measured(what, row, found, machine)])
        memory = found["peak memory of all this, jax included"]
        lines.append(["peak memory, jax included", machine, f"{memory['ours']:,.0f} MB", "", "", "", ""])
    return markdown(["", "on", "time", "compiling", "plain numpy", "pairs a second", "aim"], lines)


def _measured(what: str, row: Row, found: dict[str, Row], machine: str) -> Iterator[str]:
    corpus, _, count = what.removesuffix(", cpu").removesuffix(", gpu").partition(", ")
    name = TREEBANKS.get(corpus, "")
    compiling, plain = (
        found.get(f"{corpus if name else what}: compile"),
        found.get(f"{what}, plain numpy, three a pair"),
    )
    yield from (f"{name}, {count}" if name else what, machine, shown(row))
    yield "" if compiling is None else shown(compiling)
    yield "" if plain is None else f"{shown(plain)}{', ' * bool(plain['remark'])}{plain['remark']}"
    yield number(row["pairs_a_second"])
    yield f"{row['aim']:.0f} s: {'reached' if row['reached'] else 'missed'}" if "aim" in row else ""


def whole(device: str) -> str:
    """Every row of `kleene bench` on one machine, with what ran beside it."""
    lines = []
    for row in (row for name in WHOLE[device] for row in stored(name)):
        beside = "" if row["peer"] is None else f"{shown(row | {'ours': row['peer']}, 3)} ({row['peer_name']})"
        ratio = "" if row["ratio"] is None else f"{float(format(row['ratio'], '.2g')):g}×"
        ours = f"{row['ours']:,} {row['unit']}" if isinstance(row["ours"], int) else shown(row, 3)  # counts are exact
        lines.append([row["benchmark"], row["what"], ours, beside, ratio])
    return markdown(["benchmark", "what", "ours", "beside it, in the same run", "ours is better by"], lines)


def large_sweeps() -> str:
    """What 10,000 cells of 100,000 iterations would take, by the rates of packs on the H200."""
    found, lines = rows("teach-h200"), []
    (probe,) = stored("sweeps-h200")["dry run, 975 cells"]["probes"].values()
    rates = {
        int(pack[1].replace(",", "")): row["ours"] for what, row in found.items() if (pack := PACK.fullmatch(what))
    }
    for size, rate in sorted(rates.items(), reverse=True):
        gpus = 1 if size == max(rates) else CELLS // size
        hours = CELLS * ITERATIONS / rate / gpus / 3600
        at = f"{number(rate, 3)} with {size:,}"
        lines.append([f"{gpus:,}", f"{CELLS // gpus:,}", at, _duration(hours), f"{number(gpus * hours)}"])
    least = ITERATIONS * probe["seconds_per_iteration"] / 3600
    at = f"{number(probe['runs'] / probe['seconds_per_iteration'], 3)} with {probe['runs']}"
    lines.append(["1,000", "10", at, f"hardly less than {_duration(least)}", f"about {number(1000 * least)}"])
    head = ["GPUs", "cells a GPU", "iterations a second, measured", "time", "GPU hours"]
    return markdown(head, lines)


def grid_rates() -> tuple[dict[str, float], dict[str, float]]:
    """The seed·iterations a second of the grids of figure 9 by task, with the kernel and without it."""
    found = [(grid, row["ours"]) for what, row in rows("teach-h200").items() if (grid := GRID.fullmatch(what))]
    fast, plain = ({grid[1]: rate for grid, rate in found if bool(grid[2]) == without} for without in (False, True))
    return fast, plain


def grids() -> str:
    """The grids of figure 9: with the kernel, without it, and as their tables were measured beside other runs."""
    fast, plain = grid_rates()

    def row(task: str, rate: float) -> list[str]:
        name = f"figure-{FIGURE_9[task].figure}-{task}"
        measured = stored(EARLIER.get(name, name))
        before = sum(r["seeds"] for r in measured["settings"]) * measured["plans"][0]["iterations"]
        before /= measured["seconds"]
        beside = [f"{plain[task]:,.0f}", f"{rate / plain[task]:.1f}"] if task in plain else ["not measured", ""]
        reached = "reached" if rate >= TIMES * before else "missed"
        then = [f"{before:,.0f}", f"{rate / before:.1f}", reached]
        return [f"{task} ({FIGURE_9[task].figure})", f"{rate:,.0f}", *beside, *then]

    head = ["grid", "with the kernel", "without, quiet", "times that", "when its table was made", "times that"]
    return markdown([*head, f"aim, {TIMES} times that"], [row(*item) for item in fast.items()])


def pieces() -> str:
    """Every grid of figure 9 at 100,000 iterations, in pieces of half an hour, by the speeds measured."""
    fast, _ = grid_rates()

    def row(task: str) -> list[str]:
        figure = FIGURE_9[task]
        speed = fast["flip_3rd" if task == "repeat_flip_3d" else task]  # which has words of the same length
        runs = 40 + 10 * len(figure.rows) * len(figure.columns)
        seconds = ITERATIONS * runs / speed
        parts = math.ceil(seconds / SLOWER / (60 * MINUTES))
        command = f"kleene reproduce ntm-{task} --full --first-seed 1000 --minutes {MINUTES}"
        command += f" --piece i/{parts}" if parts > 1 else ""
        time = _duration(seconds / 3600)
        return [figure.figure, f"{runs:,}", f"{speed:,.0f}", time, str(parts), f"`{command}`"]

    head = ["figure", "runs", "seed·iterations a second, measured", "time at that speed", "pieces", "command"]
    return markdown(head, [row(task) for task in FIGURE_9])


def _duration(hours: float) -> str:
    return f"{number(hours)} h" if hours >= 1 else f"{number(60 * hours)} min"


def random_programs() -> str:
    """Tallies of random programs. The part of the million that was run again counts as it came out then."""
    attack, million, again = stored("random-programs").values()
    rest = million["done"] - again["done"]
    assert million["agree"] + len(million["failures"]) == million["done"]
    assert all(one["program"] % 1_000_000_000 <= again["done"] for one in million["failures"])
    counted = {
        "done": million["done"],
        "agree": rest + again["agree"],
        "refused": million["refused"] + again["refused"],
        "inputs": million["inputs"] * rest // million["done"] + again["inputs"],
        "seconds": million["seconds"],
    }
    found = {"compared with their networks": counted, "the part of these that was run again": again}
    found["certified, and attacked"] = attack
    shares = [
        [name, *(f"{tally[key]:,}" for key in ("done", "agree", "refused", "inputs")), f"{tally['seconds']:,.0f} s"]
        for name, tally in found.items()
    ]
    head = ["random programs", "programs", "agree, or certificate stood", "refused, or not certified", "inputs", "time"]
    return markdown(head, shares)


TABLES: dict[str, Callable[[], str]] = {
    "all benchmarks, 2 cores": lambda: whole("CPU"),
    "all benchmarks, H200": lambda: whole("H200"),
    "speed of teaching": lambda: taught("teach"),
    "speed of grids": grids,
    "figure 9 in pieces": pieces,
    "speed of teaching Transformers": lambda: taught("learnability"),
    "speed of pairs": pairs_of_scan,
    "speed of interdependence": interdependence,
    "sweeps, 10,000 cells": large_sweeps,
    "random programs": random_programs,
}
