"""Figure 18 of "Training Neural Machines with Partial Traces": Merge, an NRAM with full traces and a Neural GPU.

The paper says that the Neural GPU had at most 10,000 samples, in 20 runs of its authors' code, and the NRAM 5,000, in
38 runs. That code draws its 20,000 updates from training sets of 10,000 samples. So there are two readings: 10,000
examples in all, or 10,000 different ones that are seen again and again. The second takes a hundred times as long, so it
is a study of its own.
"""

from pathlib import Path
from typing import Any

import numpy as np

from kleene.pictures.plots import against_size
from kleene.teaching.lessons import lesson
from kleene.teaching.plan import Plan
from kleene.teaching.reports import TeachingReport
from kleene_papers.stored import Result, stored
from kleene_papers.study import Size, Study, Trained, Trial
from kleene_papers.tables import Table
from kleene_papers.traces.nram import NRAM

SAMPLES = 10_000
SIZES: dict[Size, tuple[int, int]] = {"quick": (48, 4), "full": (96, 20)}  # units and runs of the Neural GPU
REPEATED: dict[Size, int] = {"quick": 600, "full": 20_000}  # updates on examples that are seen again
PAPER = {"nram": NRAM["merge"]["full"]}  # in % wrong; the curves of figure 18 have no numbers


def taught_once(size: Size, iterations: int | None = None) -> Trial:
    """Both machines are taught Merge, the Neural GPU with 10,000 examples in all.

    Full size has the paper's runs and the 96 units of the authors' code, the quick one 4 runs of each and 48 units.
    """
    hidden, runs = SIZES[size]
    plans = (
        Plan.grid(lesson("merge", "neural_gpu", hidden=hidden), seeds=runs, iterations=iterations),
        Plan.grid(
            lesson("merge"),
            kinds=("full",),
            strengths=(40.0,),
            seeds=38 if size == "full" else 4,
            iterations=iterations,
        ),
    )
    return Trial(plans, PAPER, compared, swept=True)


def taught_again(size: Size, iterations: int | None = None) -> Trial:
    """A Neural GPU is taught Merge with 10,000 different examples, which it sees again and again."""
    hidden, runs = SIZES[size]
    again = lesson("merge", "neural_gpu", hidden=hidden, samples=SAMPLES)
    plan = Plan.grid(again, seeds=runs, iterations=iterations or REPEATED[size])
    return Trial((plan,), measure=compared, swept=True)


def compared(found: Trained) -> dict[str, Any]:
    """The errors of each plan by difficulty with the 10th to the 90th percentile of runs, and their mean, in %.

    `each` has the errors of every run.
    """
    curves, lines = {}, []
    for report in found.reports:
        wrong = 100 * (1 - np.asarray(report.progress.tests[-1]["accuracy_by_length"], np.float64))
        low, high = np.percentile(wrong, [10, 90], axis=0)
        curve = {"difficulty": list(report.plan.lesson.lengths), "runs": len(wrong), "mean": round(wrong.mean(), 2)}
        curve |= {"wrong": wrong.mean(axis=0).round(2).tolist(), "each": wrong.round(2).tolist()}
        curves[_named(report)] = curve | {"low": low.round(2).tolist(), "high": high.round(2).tolist()}
        lines.append(
            f"{_named(report)}: {curve['mean']:.1f}% wrong on average over {len(wrong)} runs and all difficulties"
        )
    return {"errors": curves, "summary": lines}


def _named(report: TeachingReport) -> str:
    facts, iterations = report.plan.lesson.facts(), report.plan.iterations
    examples = iterations * facts["batch"]
    if facts["machine"] == "nram":
        return f"NRAM, full traces, {examples:,} examples"
    once = f"Neural GPU, {examples:,} examples"
    return once if facts["samples"] is None else f"{once}, {facts['samples']:,} different"


def draw_curves(result: Result, path: Path) -> Path:
    """Draw the mean error by difficulty, with the 10th to the 90th percentile of runs; return the path."""
    names = ("difficulty", "wrong", "low", "high")
    series = {title: tuple(row[name] for name in names) for title, row in result["errors"].items()}
    return against_size(series, path, across="difficulty", up="% wrong", title=result.shows)


def tables_of_curves(result: Result) -> list[Table]:
    """The errors of each machine by difficulty, and how many of its runs are right on at least one memory."""
    sizes, rows = next(iter(result["errors"].values()))["difficulty"], []
    for title, row in result["errors"].items():
        right = (np.array(row["each"]) < 100).sum(axis=0).tolist()
        rows.append([title, row["runs"], *(f"{wrong:.1f}" for wrong in row["wrong"])])
        rows.append(["its runs that are right on some memory", "", *right])
    return [Table(["% wrong at difficulty", "runs", *map(str, sizes)], rows, "errors by difficulty")]


STUDIES = (
    Study(
        "traces-figure-18",
        "errors on Merge in %: an NRAM with full traces, and a Neural GPU (Partial Traces)",
        tables_of_curves,
        draw_curves,
        taught_once,
        takes=("iterations", "piece", "minutes"),
        quick="231 s",
        full="1,300 s on 2 cores",
        formerly="neural-gpu-merge",
    ),
    Study(
        "traces-figure-18-repeated",
        "errors on Merge in %: a Neural GPU that sees its 10,000 examples again and again (Partial Traces)",
        tables_of_curves,
        draw_curves,
        taught_again,
        takes=("iterations", "piece", "minutes"),
        formerly="neural-gpu-merge-repeated",
    ),
)


def right_on_merge(machine: str, beyond: int = 0) -> int:
    """For pages: how many runs of a machine are right on some memory of a greater difficulty than this."""
    (row,) = (row for title, row in stored("traces-figure-18")["errors"].items() if title.startswith(machine))
    wrong = np.array(row["each"])[:, np.array(row["difficulty"]) > beyond]
    return int((wrong < 100).any(axis=1).sum())


WORDS = (right_on_merge,)
