"""The experiments of "Training Neural Machines with Partial Traces", and one of ours with automaton states as hints."""

from pathlib import Path
from typing import Any

import numpy as np

from kleene.experiments.experiment import Experiment, Size
from kleene.experiments.partial_trace_tables import NRAM
from kleene.pictures.teaching import against_size
from kleene.teaching.catalog import lesson
from kleene.teaching.loop import Plan
from kleene.teaching.reports import Report


def nram_errors(task: str, size: Size = "quick") -> Experiment:
    """Figures 7 and 12–17: the errors of the NRAM by kind of hint and difficulty."""
    taught = lesson(task)
    kinds = tuple(NRAM[task]) if size == "full" else ("none", "corners", "full")
    seeds = 20 if size == "full" else 6
    plan = Plan.grid(taught, kinds=kinds, strengths=(40.0,), seeds=seeds)
    title = f"errors on the test set in %, {task}, NRAM"
    return Experiment(f"figure-12-{task}", title, (plan,), dict(NRAM[task]), draw_errors)


def draw_errors(experiment: Experiment, reports: list[Report], path: Path) -> Path:
    """The mean error by difficulty and kind, and the spread from the 10th to the 90th of 100 seeds."""
    series = {}
    for report in reports:
        for number, setting in enumerate(report.plan.settings):
            runs = slice(number * len(report.plan.seeds), (number + 1) * len(report.plan.seeds))
            wrong = 100 * (1 - report.progress.tests[-1]["accuracy_by_length"][runs])
            low, high = np.percentile(wrong, [10, 90], axis=0)
            name = setting["kind"] + (f" {setting['density']:.0%}" if 0 < setting["density"] < 1 else "")
            series[name] = (list(report.plan.lesson.lengths), wrong.mean(axis=0), low, high)
    return against_size(series, path, across="difficulty", up="% wrong", title=experiment.shows)


def state_hints(language: str = "tomita_4", machine: str = "rnn", size: Size = "quick") -> Experiment:
    """Ours: how soon a recurrent network learns a regular language, by the share of an automaton's states revealed."""
    taught = lesson(f"dfa:{language}", machine)
    schedule: dict[str, Any] = {"iterations": 2_000 if size == "quick" else 10_000, "test_every": 100}
    seeds = 6 if size == "quick" else 20
    plan = Plan.grid(taught, kinds=("none", "scattered"), densities=(0.1, 1.0), seeds=seeds, **schedule)
    title = f"words wrong in %, {language} with states as hints, {machine}"
    return Experiment(f"state-hints-{language}-{machine}", title, (plan,), {}, draw_errors)


def experiments(size: Size = "quick") -> dict[str, Any]:
    """A function without arguments for each experiment, by name."""
    found: dict[str, Any] = {f"nram-{task}": lambda task=task: nram_errors(task, size) for task in NRAM}
    for language in ("tomita_2", "tomita_3", "tomita_4", "tomita_5", "tomita_7"):
        for machine in ("rnn", "lstm"):
            found[f"states-{language}-{machine}"] = lambda a=language, b=machine: state_hints(a, b, size)
    return found
