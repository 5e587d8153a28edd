"""The experiments of "Training Neural Machines with Partial Traces", and one of ours with automaton states as hints.

The paper's numbers are here too, so that each result has them beside ours.
"""

from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from kleene.pictures.plots import against_size, grouped_bars, until_reached
from kleene.teaching.lessons import lesson
from kleene.teaching.memories import VARIANTS
from kleene.teaching.plan import Plan
from kleene.teaching.reports import TeachingReport
from kleene_papers.experiment import Experiment, Size, SweptExperiment

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

def nram_errors(
    task: str, size: Size = "quick", iterations: int | None = None, first_seed: int = 0, *, variant: str = "paper"
) -> Experiment:
    """Figures 7 and 12–17: the errors of the NRAM by kind of hint and difficulty.

    The paper draws NoisyFull for Increment and ListK, without numbers (figure 14, and the run counts of figure 10).
    """
    taught = lesson(task, variant=variant)
    noisy = ("noisy_full",) if task in ("increment", "list_k") else ()
    kinds = (*NRAM[task], *noisy) if size == "full" else ("none", "corners", "full")
    seeds = 20 if size == "full" else 6
    schedule: dict[str, Any] = {"seeds": seeds, "first_seed": first_seed, "iterations": iterations}
    plan = Plan.grid(taught, kinds=kinds, strengths=(40.0,), **schedule)
    title = f"errors on the test set in %, {task}, NRAM"
    beside = partial(errors_beside, NRAM[task])
    name = f"figure-12-{task}" + ("" if variant == "paper" else f"-{variant}")
    return SweptExperiment(name, title, (plan,), dict(NRAM[task]), draw_errors, further=beside)


COMPARED = ("modules", "corners", "single_hint", "full")


def nram_deviations(
    size: Size = "quick", iterations: int | None = None, first_seed: int = 0, *, task: str = "increment"
) -> Experiment:
    """Ours: what each way in which training may differ from the paper's changes (`nram_lesson`), on one task."""
    schedule: dict[str, Any] = {"seeds": 20 if size == "full" else 4, "first_seed": first_seed}
    schedule |= {"iterations": iterations}
    plans = tuple(
        Plan.grid(lesson(task, variant=variant), kinds=COMPARED, strengths=(40.0,), **schedule) for variant in VARIANTS
    )
    title = "errors on the test set in % by how training differs from the paper's, NRAM"
    paper = {task: {kind: NRAM[task][kind] for kind in COMPARED}}
    name = "nram-deviations" + ("" if task == "increment" else f"-{task}")
    return SweptExperiment(name, title, plans, paper, draw_deviations, further=deviations_beside)


def deviations_beside(reports: list[TeachingReport]) -> dict[str, Any]:
    """The mean error over all tests in % by task, variant and kind of hint."""
    errors: dict[str, dict[str, dict[str, float]]] = {}
    for report in reports:
        facts = report.plan.lesson.facts()
        errors.setdefault(facts["name"], {})[facts["variant"]] = _errors(report.settings())
    lines = [
        f"{task}, {variant}: " + ", ".join(f"{kind} {error:.1f}%" for kind, error in found.items())
        for task, variants in errors.items()
        for variant, found in variants.items()
    ]
    return {"errors": errors, "summary": lines}


def draw_deviations(experiment: Experiment, reports: list[TeachingReport], path: Path) -> Path:
    """Draw a group of bars for each kind of hint, with a bar for the paper and for each variant; return the path."""
    errors = deviations_beside(reports)["errors"]
    groups = [f"{kind}\n{task}" for task in errors for kind in COMPARED]
    bars = {"paper's numbers": [experiment.paper[task][kind] for task in errors for kind in COMPARED]}
    for variant in VARIANTS:
        bars[f"ours, {variant}"] = [errors[task][variant][kind] for task in errors for kind in COMPARED]
    return grouped_bars(groups, bars, path, up="% wrong", title=experiment.shows)


def _errors(rows: Sequence[Mapping[str, Any]]) -> dict[str, float]:
    return {r["hints"]: round(100 * (1 - float(np.mean([*r["accuracy_by_length"].values()]))), 2) for r in rows}


def errors_beside(paper: Mapping[str, float], reports: list[TeachingReport]) -> dict[str, Any]:
    """The mean error over all tests in % by kind of hint, and lines with the paper's error beside ours."""
    rows = [row for report in reports for row in report.settings()]
    errors = _errors(rows)
    lines = [
        f"{kind}: {error:.1f}% wrong, in the paper " + (f"{paper[kind]:.1f}%" if kind in paper else "without a number")
        for kind, error in errors.items()
    ]
    return {"errors": errors, "summary": lines}


def draw_errors(experiment: Experiment, reports: list[TeachingReport], path: Path) -> Path:
    """Draw the mean error by difficulty and kind, with the 10th to the 90th percentile of seeds; return the path."""
    series = {}
    for report in reports:
        for number, setting in enumerate(report.plan.settings):
            runs = slice(number * len(report.plan.seeds), (number + 1) * len(report.plan.seeds))
            wrong = 100 * (1 - report.progress.tests[-1]["accuracy_by_length"][runs])
            low, high = np.percentile(wrong, [10, 90], axis=0)
            name = setting["kind"] + (f" {setting['density']:.0%}" if 0 < setting["density"] < 1 else "")
            series[name] = (list(report.plan.lesson.lengths), wrong.mean(axis=0), low, high)
    return against_size(series, path, across="difficulty", up="% wrong", title=experiment.shows)


def state_hints(
    language: str = "tomita_4",
    machine: str = "rnn",
    size: Size = "quick",
    iterations: int | None = None,
    first_seed: int = 0,
) -> Experiment:
    """Ours: how fast a recurrent network learns a regular language, by the share of an automaton's states revealed."""
    taught = lesson(f"dfa:{language}", machine)
    total = iterations or (2_000 if size == "quick" else 10_000)
    schedule: dict[str, Any] = {"iterations": total, "test_every": min(100, total)}
    schedule |= {"seeds": 6 if size == "quick" else 20, "first_seed": first_seed}
    plan = Plan.grid(taught, kinds=("none", "scattered"), densities=(0.1, 1.0), **schedule)
    title = f"{language}, {machine}: examples until all tests are right, by the share of states revealed"
    name = f"state-hints-{language}-{machine}"
    return SweptExperiment(name, title, (plan,), {}, draw_examples, further=examples_needed)


def examples_needed(reports: list[TeachingReport]) -> dict[str, Any]:
    """The number of examples that each seed had seen when it first passed all tests, by share of states in %."""
    (report,) = reports
    batch, found, lines = report.plan.lesson.facts()["batch"], {}, []
    for row in report.settings():
        share, needed = f"{100 * row['density']:g}", [hit and hit * batch for hit in row["first_hit"]]
        found[share] = needed
        reached = [examples for examples in needed if examples is not None]
        half = f"half of them within {np.median(reached):,.0f} examples" if reached else "none"
        lines.append(f"{share}% of the states: {len(reached)} of {len(needed)} seeds got all tests right, {half}")
    return {"examples": found, "summary": lines}


def draw_examples(experiment: Experiment, reports: list[TeachingReport], path: Path) -> Path:
    """Draw the median and the 10th to the 90th percentile of seeds, open where seeds never passed; return the path."""
    (report,) = reports
    most = report.plan.iterations * report.plan.lesson.facts()["batch"]
    return draw_shares({"all seeds": examples_needed(reports)["examples"]}, most, path, title=experiment.shows)


def draw_shares(series: Mapping[str, Mapping[str, Any]], most: int, path: Path, *, title: str) -> Path:
    """Draw the "examples" of the JSON files of such experiments, by name; `most` is how many examples there were."""
    labels = {"across": "% of the states revealed", "up": "examples until all tests are right"}
    return until_reached(series, path, cap=most, title=title, **labels)


def experiments(size: Size = "quick", iterations: int | None = None, first_seed: int = 0) -> dict[str, Any]:
    """A function without arguments for each experiment, by name; each has its seeds from `first_seed` on."""
    given = (size, iterations, first_seed)
    found: dict[str, Any] = {}
    for task in NRAM:
        found[f"nram-{task}"] = lambda task=task: nram_errors(task, *given)
        found[f"nram-{task}-stated"] = lambda task=task: nram_errors(task, *given, variant="stated")
    found["nram-deviations"] = lambda: nram_deviations(*given)
    found["nram-deviations-permute"] = lambda: nram_deviations(*given, task="permute")
    for language in ("tomita_2", "tomita_3", "tomita_4", "tomita_5", "tomita_7"):
        for machine in ("rnn", "lstm"):
            found[f"states-{language}-{machine}"] = lambda a=language, b=machine: state_hints(a, b, *given)
    return found
