"""Figures 7 and 12 to 17 of the paper on partial traces: errors of the NRAM by task, kind of hint and difficulty."""

from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from kleene.pictures.plots import against_size
from kleene.teaching.lessons import lesson
from kleene.teaching.plan import Plan
from kleene_papers.stored import Result, stored, where
from kleene_papers.study import NOT_MEASURED, Size, Study, Trained, Trial
from kleene_papers.tables import Table

# Figure 12: the mean error of the NRAM on its test set in %, by kind.
NRAM = {
    "list_k": {"none": 95.08, "single_hint": 93.61, "corners": 94.47, "single_timestep": 36.91, "full": 12.77,
               "registers": 93.22, "modules": 93.70},
    "swap": {"none": 91.52, "single_hint": 2.41, "corners": 99.09, "single_timestep": 1.75, "full": 11.01,
             "registers": 93.44, "modules": 95.57},
    "permute": {"none": 99.97, "single_hint": 57.55, "corners": 16.40, "single_timestep": 47.79, "full": 7.83,
                "registers": 99.97, "modules": 86.48},
    "increment": {"none": 99.91, "single_hint": 14.86, "corners": 2.14, "single_timestep": 13.77, "full": 9.89,
                  "registers": 90.36, "modules": 40.87},
    "merge": {"none": 99.96, "single_hint": 100.0, "corners": 100.0, "single_timestep": 100.0, "full": 78.44},
    "permute_noise": {"none": 99.99, "single_hint": 56.90, "corners": 20.79, "single_timestep": 33.60, "full": 23.57},
}  # fmt: skip
# The figures that show one task, in the order of our tables: the task, its title, and the figure's number.
FIGURES = {
    "increment": ("Increment", 14),
    "swap": ("Swap", 13),
    "permute": ("Permute", 15),
    "list_k": ("ListK", 16),
    "merge": ("Merge", 17),
    "permute_noise": ("PermuteNoise", 7),
}
KINDS = ("none", "registers", "modules", "corners", "single_timestep", "single_hint", "full", "noisy_full")
STATED = "-stated"
SWEPT = ("iterations", "first_seed", "piece", "minutes")  # the options of a sweep


def name_of(task: str, variant: str = "") -> str:
    """The name of the study and of the result of a task."""
    return f"traces-figure-{FIGURES[task][1]}{variant}"


def taught(task: str, variant: str, size: Size, iterations: int | None = None, first_seed: int = 0) -> Trial:
    """An NRAM is taught a task with each kind of hint.

    The paper draws NoisyFull for Increment and ListK, without numbers (figure 14, and the run counts of figure 10).
    """
    noisy = ("noisy_full",) if task in ("increment", "list_k") else ()
    kinds = (*NRAM[task], *noisy) if size == "full" else ("none", "corners", "full")
    schedule: dict[str, Any] = {"first_seed": first_seed, "iterations": iterations}
    plan = Plan.grid(
        lesson(task, variant=variant), kinds=kinds, strengths=(40.0,), seeds=20 if size == "full" else 6, **schedule
    )
    return Trial((plan,), dict(NRAM[task]), partial(errors_beside, NRAM[task]), swept=True)


def mean_errors(rows: Sequence[Mapping[str, Any]]) -> dict[str, float]:
    """The mean error over all difficulties of the tests, in % by kind of hint."""
    return {r["hints"]: round(100 * (1 - float(np.mean([*r["accuracy_by_length"].values()]))), 2) for r in rows}


def errors_beside(paper: Mapping[str, float], found: Trained) -> dict[str, Any]:
    """The mean errors by kind of hint, and the 10th and 90th percentile of the seeds at each difficulty, in %."""
    (report,) = found.reports
    errors, spread, seeds = mean_errors(report.settings()), {}, len(report.plan.seeds)
    for number, setting in enumerate(report.plan.settings):
        runs = slice(number * seeds, (number + 1) * seeds)
        wrong = 100 * (1 - report.progress.tests[-1]["accuracy_by_length"][runs])
        ends = np.percentile(wrong, [10, 90], axis=0).round(2).T.tolist()
        spread[setting["kind"]] = dict(zip(map(str, report.plan.lesson.lengths), ends))
    lines = [
        f"{kind}: {error:.1f}% wrong, in the paper " + (f"{paper[kind]:.1f}%" if kind in paper else "without a number")
        for kind, error in errors.items()
    ]
    return {"errors": errors, "spread": spread, "summary": lines}


def draw_errors(result: Result, path: Path) -> Path:
    """Draw the mean error by difficulty and kind, with the 10th to the 90th percentile of seeds; return the path."""
    series = {}
    for row in result.rows:
        sizes = row["accuracy_by_length"]
        low, high = zip(*(result["spread"][row["hints"]][size] for size in sizes))
        wrong = [100 * (1 - right) for right in sizes.values()]
        series[row["hints"]] = ([int(size) for size in sizes], wrong, low, high)
    return against_size(series, path, across="difficulty", up="% wrong", title=result.shows)


def row_of(result: Result, kind: str) -> Mapping[str, Any] | None:
    """The row of a kind of hint, None where the task was not taught with it."""
    return next(iter(where(result.rows, hints=kind)), None)


def kinds_of(result: Result) -> list[str]:
    return [kind for kind in KINDS if row_of(result, kind)]


def error(result: Result, kind: str) -> str:
    """The mean error of a kind of hint in %, and how many runs generalise; empty where it was not taught."""
    row = row_of(result, kind)
    return "" if row is None else f"{result['errors'][kind]:.1f} ({row['generalised']})"


def printed(result: Result, kind: str) -> str:
    """The paper's error in %, empty where it has none."""
    return f"{result.paper[kind]:.1f}" if kind in result.paper else ""


def tables_of_task(result: Result) -> list[Table]:
    """The errors of one task beside the paper's, and by difficulty."""
    rows, sizes = [], [*result.rows[0]["accuracy_by_length"]]
    beside = []
    for kind in kinds_of(result):
        row = row_of(result, kind)
        assert row is not None
        updates = f"{row['updates']:.0f}" if "updates" in row else ""  # older results do not have them
        beside.append([kind, error(result, kind), printed(result, kind), updates, len(row["diverged"])])
        rows.append([kind, *(f"{100 * (1 - right):.1f}" for right in row["accuracy_by_length"].values())])
    head = ["hints", "% wrong (runs that generalise)", "paper", "updates", "diverged"]
    return [Table(head, beside, "errors"), Table(["% wrong at difficulty", *sizes], rows, "errors by difficulty")]


Both = Mapping[str, tuple[Result, Result]]  # by task: the result as the paper trains, and that of the variant `stated`


def tables_of_all(*results: Result) -> list[Table]:
    """Figure 12; the results are those of `ALL`."""
    both = dict(zip(FIGURES, zip(results[::2], results[1::2])))
    return [_in_short(both), _both_ways(both), _distances(both), _costs(both)]


def _in_short(both: Both) -> Table:
    def cell(ours: Result, kind: str) -> str:
        return f"{ours['errors'][kind]:.1f} ({printed(ours, kind)})" if row_of(ours, kind) else ""

    rows = [[kind, *(cell(ours, kind) for ours, _ in both.values())] for kind in KINDS[:-1]]
    return Table(["hints", *(title for title, _ in FIGURES.values())], rows, "ours and, in brackets, the paper's")


def _both_ways(both: Both) -> Table:
    rows = []
    for task, (ours, variant) in both.items():
        for kind in kinds_of(ours):
            updates = f"{where(ours.rows, hints=kind)[0]['updates']:.0f}"
            cells = [error(ours, kind), error(variant, kind), printed(ours, kind), updates]
            rows.append([FIGURES[task][0], kind, *cells])
    return Table(
        ["task", "hints", "as the paper trains", "`stated`", "paper", "updates"], rows, "both ways of training"
    )


def distance(result: Result) -> float:
    """How far the errors are from the paper's, in points, the mean over the kinds of hints that it has."""
    return float(np.mean([abs(result["errors"][kind] - error) for kind, error in result.paper.items()]))


def _distances(both: Both) -> Table:
    def mean(found: Result) -> float:
        return float(np.mean([found["errors"][kind] for kind in found.paper]))

    found = {FIGURES[task][0]: [of(one) for of in (mean, distance) for one in pair] for task, pair in both.items()}
    without = [values for title, values in found.items() if title != "Swap"]
    for title, several in ((f"mean of the {len(found)}", [*found.values()]), ("mean without Swap", without)):
        found[title] = [float(value) for value in np.mean(several, axis=0)]
    head = ["", "mean error, as the paper trains", "`stated`", "distance from the paper, as it trains", "`stated`"]
    rows = [
        [title, *(f"{value:.1f}" for value in values), "as the paper trains" if values[2] < values[3] else "`stated`"]
        for title, values in found.items()
    ]
    return Table([*head, "nearer to the paper"], rows, "distances")


def _costs(both: Both) -> Table:
    """Runs, time and the runs that diverged, by kind of hint."""

    def cells(result: Result) -> list[str]:
        lost = ", ".join(f"{row['hints']} {len(row['diverged'])}" for row in result.rows if row["diverged"])
        return [str(sum(column["seeds"] for column in result.rows)), f"{result.seconds or 0:,.0f} s", lost or "none"]

    rows = [
        [FIGURES[task][0], " ".join(ours.rows[0]["accuracy_by_length"]), *cells(ours), *cells(variant)]
        for task, (ours, variant) in both.items()
    ]
    head = ["runs", "time", "diverged"]
    return Table(["task", "test difficulties", *head, *(f"`stated`: {word}" for word in head)], rows, "costs")


ALL = tuple(name_of(task, variant) for task in FIGURES for variant in ("", STATED))
TIMES: dict[str, tuple[str, str]] = {  # of the quick size, and of the full one
    "increment": (NOT_MEASURED, "1,904 s beside other work on 2 cores"),
    "swap": (NOT_MEASURED, "1,190 s beside other work on 2 cores"),
    "permute": (NOT_MEASURED, "43 s beside other runs"),
    "list_k": (NOT_MEASURED, "24 s beside other runs"),
    "merge": (NOT_MEASURED, "3,116 s beside other work on 2 cores"),
    "permute_noise": (NOT_MEASURED, "39 s beside other runs"),
    "increment-stated": ("132 s", "588 s on 2 cores"),
    "swap-stated": ("110 s", "367 s on 2 cores"),
    "permute-stated": ("237 s", "73 s"),
    "list_k-stated": ("148 s", "29 s"),
    "merge-stated": (NOT_MEASURED, "64 s"),
    "permute_noise-stated": (NOT_MEASURED, "52 s"),
}


def _study(task: str, variant: str) -> Study:
    (title, figure), how = FIGURES[task], "our variant" if variant else "trained as the paper trains"
    quick, full = TIMES[f"{task}{variant}"]
    return Study(
        name_of(task, variant),
        f"errors of an NRAM on {title} in %, {how} (Partial Traces, figures {min(figure, 12)} and {max(figure, 12)})",
        tables_of_task,
        draw_errors,
        lambda size, **given: taught(task, variant.removeprefix("-") or "paper", size, **given),
        takes=SWEPT,
        quick=quick,
        full=full,
        formerly=f"nram-{task}{variant}",
    )


STUDIES = (
    *(_study(task, variant) for task in sorted(FIGURES, key=lambda task: FIGURES[task][1]) for variant in ("", STATED)),
    Study(
        "traces-figure-12", "errors of an NRAM in % by task and kind of hint (Partial Traces)", tables_of_all, of=ALL
    ),
)


def nram(task: str, kind: str, variant: str = "") -> dict[str, Any]:
    """For pages: the row of a task and kind of hint, with the error in % (`wrong`) and the paper's (`paper`)."""
    result = stored(name_of(task, variant))
    (row,) = where(result.rows, hints=kind)
    return {"wrong": result["errors"][kind], "paper": result.paper.get(kind), **row}


def nram_distance(variant: str = "", without: str = "") -> float:
    """For pages: how far the errors of all tasks, or of all but one, are from the paper's, in points."""
    return float(np.mean([distance(stored(name_of(task, variant))) for task in FIGURES if task != without]))


WORDS = (nram, nram_distance)
