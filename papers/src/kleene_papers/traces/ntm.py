"""The NTM of "Training Neural Machines with Partial Traces": what is run for figures 4 and 9.

The paper's numbers are here too, so that each result has them beside ours.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import partial
from itertools import groupby
from pathlib import Path
from typing import Any

import numpy as np

from kleene.errors import InputError, did_you_mean
from kleene.pictures.plots import grouped_bars
from kleene.tasks.sequences import sequence_task
from kleene.teaching.lessons import lesson
from kleene.teaching.plan import Plan
from kleene_papers.stored import Result
from kleene_papers.study import Size, Study, Trial
from kleene_papers.tables import Table
from kleene_papers.traces import grids

DENSITIES = (1.0, 0.5, 0.1, 0.01)

Row = tuple[float | None, ...]


@dataclass(frozen=True)
class Figure9:
    """A part of figure 9: the percentages of runs that generalise by kind of hint, over densities and then strengths.

    Numbers that cannot be read in the paper are None. So are the baselines but two, which its prose gives.
    """

    figure: str
    strengths: tuple[float, ...]
    rows: dict[str, Row]
    baseline: float | None = None

    @property
    def columns(self) -> list[tuple[float, float]]:
        """(density, strength) of each column."""
        return [(density, strength) for density in DENSITIES for strength in self.strengths]


NTM = {
    "copy": Figure9(
        "9a",
        (1.0, 0.3, 0.1, 0.01),
        {
            "addr+val": (100, 100, 100, 70, 100, 100, 100, 40, 60, 80, 40, 30, 30, 50, 60, 10),
            "address": (100, 100, 100, 50, 90, 100, 90, 30, 80, 90, 70, 30, 50, 30, 40, 50),
            "value": (100, 100, 70, 40, 80, 20, 40, 10, 10, 20, 40, 30, 60, 40, 20, 10),
            "read": (90, 80, 70, 50, 60, 20, 50, 20, 40, 40, 60, 20, 70, 30, 40, 10),
            "write": (60, 70, 80, 60, 80, 80, 40, 40, 50, 70, 50, 40, 50, 60, 50, 40),
            "corner": (100, 100, 100, 50, 100, 90, 60, 70, 70, 20, 50, 30, 50, 60, 20, 30),
        },
    ),
    "repeat_copy_twice": Figure9(
        "9b",
        (1.0, 0.3, 0.03),
        {
            "addr+val": (90, 100, 60, 90, 80, 40, 80, 20, 10, 10, 0, 0),
            "address": (90, 90, 90, 100, 100, 40, 100, 60, 0, 0, 20, 30),
            "value": (80, 70, 0, 50, 50, 10, 30, 30, 20, 10, 30, 0),
            "read": (50, 30, 30, 20, 60, 30, 20, 60, 10, 10, 10, 0),
            "write": (30, 30, 20, 10, 30, 40, 20, 0, 10, 10, 20, 20),
            "corner": (60, 50, 40, 50, 60, 10, 20, 40, 20, 10, 20, 0),
        },
        baseline=15.5,
    ),
    "dyck_words": Figure9(
        "9c",
        (1.0, 0.3, 0.1, 0.01),
        {
            "address": (None, 90, 60, 80, 90, 90, 90, 50, 80, 50, 90, 80, 100, 80, 70, 70),
            "read": (80, 90, 70, 70, 100, 100, 70, 50, 50, 60, 70, 70, 80, 70, 50, 50),
            "corner": (60, 100, 80, 80, 80, 90, 90, 90, 60, 60, 100, 50, 90, 80, 80, 50),
        },
    ),
    "flip_3rd": Figure9(
        "9d",
        (1.0, 0.3, 0.1, 0.03),
        {
            "addr+val": (30, 50, 50, 50, 50, 50, 70, 80, 60, 80, 40, 40, 40, 60, 40, 10),
            "address": (None, 60, 40, 40, 20, 70, 80, 90, 90, 70, 60, 50, 50, 50, 60, 60),
            "value": (60, 50, 40, 60, 80, 70, 40, 10, 50, 10, 40, 70, 50, 30, 40, 60),
            "read": (40, 60, 70, 40, 30, 80, 90, 90, 100, 70, 80, 50, 30, 50, 60, 30),
            "write": (None, 30, 50, 20, 30, 40, 60, 20, 40, 40, 40, 40, 20, 50, 70, 50),
            "corner": (50, 70, 80, 80, 40, 40, 90, 70, 80, 70, 60, 40, 50, 60, 60, 40),
        },
    ),
    "repeat_flip_3d": Figure9(
        "9e",
        (1.0, 0.5, 0.1, 0.03),
        {
            "addr+val": (30, 20, 20, 40, 30, 30, 10, 10, 40, 10, 0, 20, 10, 10, 0, 10),
            "address": (20, 50, 30, 30, 30, 40, 20, 40, 20, 40, 20, 0, 0, 0, 20, 0),
            "value": (None, 0, 20, 20, 0, 0, 0, 0, 10, 10, 10, 0, 0, 0, 0, 0),
            "read": (30, 10, 40, 20, 10, 30, 20, 40, 30, 10, 0, 10, 20, 0, 10, 20),
            "write": (None, 0, 0, 10, 0, 0, 0, 0, 10, 10, 0, 0, 20, 20, 30, 0),
            "corner": (40, 40, 60, 20, 50, 30, 10, 30, 10, 10, 0, 0, 0, 10, 0, 10),
        },
        baseline=5,
    ),
}

# DyckWords asked after each symbol, words of up to 5 symbols, none of them negative: one of the two readings that come
# nearest to the paper (`readings.READINGS`), and the only one whose whole table is run.
ONLINE = {"variant": "online_walks", "longest": 5}
FIGURE_4 = ("write", "read", "corner", "value", "address", "addr+val")
SWEEP = ("iterations", "first_seed", "piece", "minutes")  # the options of every study here


def ntm_table(
    task: str,
    size: Size = "quick",
    iterations: int | None = None,
    first_seed: int = 0,
    *,
    options: Mapping[str, Any] | None = None,
    kinds: tuple[str, ...] = (),
) -> Trial:
    """A table of figure 9: hint kind × density × λ for a task of the NTM, whose lesson may have other options.

    Full size is the paper's: 10 seeds a setting, 40 without hints, 100,000 iterations. The quick one has only the
    strongest λ, two densities, 4 seeds and 1,000 iterations: enough to see whether hints help, not how much. Tests go
    up to twice the training length, because the criterion needs no more and a longer tape takes longer.

    With `kinds`, only these rows of the table are run, and no baseline; their runs are those of the whole table.
    """
    table, options = NTM[task], options or {}
    if missing := [kind for kind in kinds if kind not in table.rows]:
        raise InputError(f"figure {table.figure} has no row {missing[0]!r}; {did_you_mean(missing[0], table.rows)}")
    rows = {kind: table.rows[kind] for kind in kinds or table.rows}
    without = () if kinds else ("none",)
    longest = options.get("longest", sequence_task(task).longest)
    taught = lesson(task, hints=tuple(table.rows), lengths=range(1, 2 * longest + 1), **options)
    if size == "full":
        grid: dict[str, Any] = {"densities": DENSITIES, "strengths": table.strengths, "seeds": 10}
        grid |= {"first_seed": first_seed}
        schedule = _schedule(iterations or 100_000, tests=20)
        hinted = Plan.grid(taught, kinds=tuple(rows), **grid, **schedule)
        bare = {"seeds": 40, "first_seed": first_seed, **schedule}
        plans = (*(Plan.grid(taught, kinds=(kind,), **bare) for kind in without), hinted)
    else:
        grid = {"kinds": (*without, *rows), "densities": (1.0, 0.1), "seeds": 4, "first_seed": first_seed}
        plans = (Plan.grid(taught, **grid, **_schedule(iterations or 1_000)),)
    paper = {"baseline": table.baseline, "columns": table.columns, "rows": rows}
    return Trial(plans, paper, swept=True)


def _schedule(iterations: int, tests: int = 4) -> dict[str, Any]:
    return {"iterations": iterations, "test_every": max(1, iterations // tests)}


def improvements(size: Size = "quick", iterations: int | None = None, first_seed: int = 0) -> Trial:
    """Figure 4: how far each kind of hint, at density 1 and λ = 1, beats the baseline.

    The paper shows bars without numbers. Full size is 10 seeds and 100,000 iterations, the quick one 4 and 1,000.
    """
    schedule = _schedule(iterations or (100_000 if size == "full" else 1_000))
    plans = tuple(
        Plan.grid(
            lesson(task, hints=FIGURE_4, lengths=range(1, 2 * sequence_task(task).longest + 1)),
            kinds=("none", *FIGURE_4),
            seeds=10 if size == "full" else 4,
            first_seed=first_seed,
            **schedule,
        )
        for task in ("repeat_flip_3d", "copy", "reverse", "repeat_copy_twice")
    )
    return Trial(plans, swept=True)


def improved(result: Result) -> list[Table]:
    """How many seeds generalise by task and kind of hints, at the last and at some test.

    Then how many kinds of hints have more seeds at the last test than there are without hints, as many, and fewer.
    """
    rows = {task: [*found] for task, found in groupby(result.rows, key=lambda row: row["task"])}
    kinds = [row["hints"] for row in next(iter(rows.values()))]
    lines = [[task, *map(_seeds, found), *beside_none(found)] for task, found in rows.items()]
    together = ["together", *("" for _ in kinds), *beside_none(result.rows)]
    head = ["", *kinds, "kinds with more than none", "with as many", "with fewer"]
    return [Table(head, [*lines, together], "seeds that generalise (at some test)")]


def beside_none(rows: Iterable[Mapping[str, Any]]) -> list[int]:
    """In how many cases, a kind of hints in a task, more runs generalise than without hints, as many, and fewer."""
    apart = []
    for _, of_task in groupby(rows, key=lambda row: row["task"]):
        found = {row["hints"]: row["generalised"] for row in of_task}
        apart += [np.sign(count - found["none"]) for kind, count in found.items() if kind != "none"]
    return [apart.count(sign) for sign in (1, 0, -1)]


def _seeds(row: Mapping[str, Any]) -> str:
    return f"{row['generalised']} ({sum(hit is not None for hit in row['first_hit'])})"


def draw_improved(result: Result, path: Path) -> Path:
    """Draw a group of bars for each kind of hint, with a bar for each task, and return the path."""
    bars = {}
    for task, rows in groupby(result.rows, key=lambda row: row["task"]):
        share = {row["hints"]: 100 * row["generalised"] / row["seeds"] for row in rows}
        bars[task] = [share[kind] - share["none"] for kind in FIGURE_4]
    labels = {"across": "kind of hint", "up": "points above none"}
    return grouped_bars(FIGURE_4, bars, path, title=result.shows, **labels)


def _grid(
    figure: str, title: str, task: str, formerly: str, earlier: str = "", options: Any = None, **times: str
) -> Study:
    """The study of a table of figure 9, which also shows an earlier and shorter run of it where there is one."""
    name = f"traces-figure-{figure}"
    return Study(
        name,
        f"NTM, {title}: runs that generalise, by kind, density and λ of hints",
        grids.tables,
        grids.draw,
        partial(ntm_table, task, options=options),
        of=(name, f"{name}-{earlier}") if earlier else (),
        takes=SWEEP,
        formerly=formerly,
        **times,
    )


TABLES = (
    _grid("9a", "Copy", "copy", "ntm-copy", "8000", quick="143 s", full="370 s beside figure 9b"),
    _grid("9b", "RepeatCopyTwice", "repeat_copy_twice", "ntm-repeat_copy_twice", "8000",
          full="413 s beside figures 9a and 9c"),
    _grid("9c", "DyckWords, asked online", "dyck_words", "ntm-dyck_words-online", options=ONLINE,
          full="79 s beside figure 9b"),
    _grid("9c-after", "DyckWords, asked after the word", "dyck_words", "ntm-dyck_words",
          full="258 s for 6,000 of 100,000 updates"),
    _grid("9d", "Flip3rd", "flip_3rd", "ntm-flip_3rd", "7000",
          full="687 s in four processes, beside another study at first"),
    _grid("9e", "RepeatFlip3d", "repeat_flip_3d", "ntm-repeat_flip_3d",
          full="873 s in four processes, beside another study"),
)  # fmt: skip
NAMES = tuple(study.name for study in TABLES)
EARLIER = tuple(name for study in TABLES for name in study.of[1:])
STUDIES = (
    Study(
        "traces-figure-4",
        "NTM: what each kind of hint adds on four tasks",
        improved,
        draw_improved,
        improvements,
        takes=SWEEP,
        full="449 s beside other runs",
        formerly="ntm-improvements",
    ),
    Study(
        "traces-figure-6",
        "NTM: how sharp the reading head is, by kind of hint",
        grids.sharp_heads,
        grids.draw_sharp_heads,
        of=NAMES,
    ),
    Study(
        "traces-figure-9",
        "NTM: what the five tables of runs that generalise come to",
        grids.compared,
        of=(*NAMES, *EARLIER),
    ),
    *TABLES,
)
