"""Figure 18 of "Training Neural Machines with Partial Traces": Merge, an NRAM with full traces and a Neural GPU.

The paper says that the Neural GPU had at most 10,000 samples, in 20 runs of its authors' code, and the NRAM 5,000, in
38 runs. That code draws its 20,000 updates from training sets of 10,000 samples. So there are two readings: 10,000
examples in all, or 10,000 different ones that are seen again and again. The second takes a hundred times as long, so it
is an experiment of its own.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from kleene.pictures.plots import against_size
from kleene.teaching.lessons import lesson
from kleene.teaching.plan import Plan
from kleene.teaching.reports import TeachingReport
from kleene_papers.experiment import Experiment, Size, SweptExperiment
from kleene_papers.traces.partial_traces import NRAM

SAMPLES = 10_000
SIZES: dict[Size, tuple[int, int]] = {"quick": (48, 4), "full": (96, 20)}  # units and runs of the Neural GPU
REPEATED: dict[Size, int] = {"quick": 600, "full": 20_000}  # updates on examples that are seen again
PAPER = {"nram": NRAM["merge"]["full"]}  # in % wrong; the curves of figure 18 have no numbers


def merge_compared(size: Size = "quick", iterations: int | None = None) -> Experiment:
    """Figure 18: the errors of both machines on Merge by difficulty, 10,000 examples in all for the Neural GPU.

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
    title = "errors on Merge in %: an NRAM with full traces, and a Neural GPU"
    return SweptExperiment("figure-18", title, plans, PAPER, draw_compared, further=compared)


def merge_repeated(size: Size = "quick", iterations: int | None = None) -> Experiment:
    """Figure 18 in its other reading: the Neural GPU sees 10,000 different examples again and again."""
    hidden, runs = SIZES[size]
    taught = lesson("merge", "neural_gpu", hidden=hidden, samples=SAMPLES)
    plans = (Plan.grid(taught, seeds=runs, iterations=iterations or REPEATED[size]),)
    title = "errors on Merge in %: a Neural GPU that sees its examples again"
    return SweptExperiment("figure-18-repeated", title, plans, {}, draw_compared, further=compared)


def compared(reports: list[TeachingReport]) -> dict[str, Any]:
    """The errors of each plan by difficulty with the 10th to the 90th percentile of runs, and their mean, in %.

    `each` has the errors of every run.
    """
    curves, lines = {}, []
    for report in reports:
        wrong = 100 * (1 - np.asarray(report.progress.tests[-1]["accuracy_by_length"], np.float64))
        low, high = np.percentile(wrong, [10, 90], axis=0)
        found = {"difficulty": list(report.plan.lesson.lengths), "runs": len(wrong), "mean": round(wrong.mean(), 2)}
        found |= {"wrong": wrong.mean(axis=0).round(2).tolist(), "each": wrong.round(2).tolist()}
        curves[_named(report)] = found | {"low": low.round(2).tolist(), "high": high.round(2).tolist()}
        lines.append(
            f"{_named(report)}: {found['mean']:.1f}% wrong on average over {len(wrong)} runs and all difficulties"
        )
    return {"errors": curves, "summary": lines}


def _named(report: TeachingReport) -> str:
    facts, iterations = report.plan.lesson.facts(), report.plan.iterations
    examples = iterations * facts["batch"]
    if facts["machine"] == "nram":
        return f"NRAM, full traces, {examples:,} examples"
    once = f"Neural GPU, {examples:,} examples"
    return once if facts["samples"] is None else f"{once}, {facts['samples']:,} different"


def draw_compared(experiment: Experiment, reports: list[TeachingReport], path: Path) -> Path:
    """Draw the mean error by difficulty, with the 10th to the 90th percentile of runs; return the path."""
    return draw_curves(compared(reports)["errors"], path, title=experiment.shows)


def draw_curves(errors: Mapping[str, Mapping[str, Any]], path: Path, *, title: str) -> Path:
    """Draw the "errors" of the JSON file of such an experiment."""
    series = {name: tuple(row[key] for key in ("difficulty", "wrong", "low", "high")) for name, row in errors.items()}
    return against_size(series, path, across="difficulty", up="% wrong", title=title)


def experiments(size: Size = "quick", iterations: int | None = None) -> dict[str, Any]:
    """A function without arguments for each experiment, by name."""
    return {
        "neural-gpu-merge": lambda: merge_compared(size, iterations),
        "neural-gpu-merge-repeated": lambda: merge_repeated(size, iterations),
    }
