"""The experiments of "Training Neural Machines with Partial Traces", and one of ours with automaton states as hints.

The paper's numbers are here too, so that each result has them beside ours.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from kleene.errors import InputError, did_you_mean
from kleene.pictures.plots import against_size, generalisation_grids, grouped_bars, until_reached
from kleene.tasks.sequences import sequence_task
from kleene.teaching.lessons import lesson
from kleene.teaching.memories import VARIANTS
from kleene.teaching.plan import Plan
from kleene.teaching.reports import TeachingReport
from kleene_papers.experiment import Experiment, Size, SweptExperiment

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

# Readings of DyckWords whose whole table is run, as options of the lesson. "online" is one of the two that come nearest
# to the paper in `ntm_choices.READINGS`: asked after each symbol, words of up to 5 symbols, none of them negative.
READINGS: dict[str, dict[str, Any]] = {"online": {"variant": "online_walks", "longest": 5}}

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

FIGURE_4 = ("write", "read", "corner", "value", "address", "addr+val")


def ntm_table(
    task: str,
    size: Size = "quick",
    iterations: int | None = None,
    first_seed: int = 0,
    *,
    reading: str | None = None,
    kinds: tuple[str, ...] = (),
) -> Experiment:
    """Part of figure 9: hint kind × density × λ for a task of the NTM, or for another of its `READINGS`.

    Full size is the paper's: 10 seeds a setting, 40 without hints, 100,000 iterations. The quick one has only the
    strongest λ, two densities, 4 seeds and 1,000 iterations: enough to see whether hints help, not how much. Tests go
    up to twice the training length, because the criterion needs no more and a longer tape takes longer.

    With `kinds`, only these rows of the table are run, and no baseline; their runs are those of the whole table.
    """
    table, options = NTM[task], READINGS[reading] if reading else {}
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
    name = "-".join([task, *([reading] if reading else []), *kinds])
    title = f"runs that generalise in %, {name}, NTM"
    return SweptExperiment(f"figure-{table.figure}-{name}", title, plans, paper, draw_table)


def _schedule(iterations: int, tests: int = 4) -> dict[str, Any]:
    return {"iterations": iterations, "test_every": max(1, iterations // tests)}


def draw_table(experiment: Experiment, reports: list[TeachingReport], path: Path) -> Path:
    """Draw the paper's table and ours as heat maps and return the path; every column has the baseline."""
    rows = [row for report in reports for row in report.settings()]
    share = {(r["hints"], r["density"], r["strength"]): 100 * r["generalised"] / r["seeds"] for r in rows}
    columns = sorted({(r["density"], r["strength"]) for r in rows if r["hints"] != "none"}, reverse=True)
    kinds = ["none", *experiment.paper["rows"]]
    theirs = {
        (kind, *column): value
        for kind, values in experiment.paper["rows"].items()
        for column, value in zip(experiment.paper["columns"], values)
    }
    tables = {
        "paper": [[theirs.get((kind, *c), experiment.paper["baseline"]) for c in columns] for kind in kinds],
        "ours": [[share.get((kind, *c), share.get((kind, 0.0, 0.0))) for c in columns] for kind in kinds],
    }
    names = [f"{density:.0%}\nλ {strength:g}" for density, strength in columns]
    return generalisation_grids(kinds, names, tables, path, title=experiment.shows)


def improvements(size: Size = "quick", iterations: int | None = None, first_seed: int = 0) -> Experiment:
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
    return SweptExperiment("figure-4", "runs that generalise, against none, in points", plans, {}, draw_improvements)


def draw_improvements(experiment: Experiment, reports: list[TeachingReport], path: Path) -> Path:
    """Draw a group of bars for each kind of hint, with a bar for each task, and return the path."""
    bars = {}
    for report in reports:
        share = {row["hints"]: 100 * row["generalised"] / row["seeds"] for row in report.settings()}
        bars[report.plan.lesson.name] = [share[kind] - share["none"] for kind in FIGURE_4]
    labels = {"across": "kind of hint", "up": "points above none"}
    return grouped_bars(FIGURE_4, bars, path, title=experiment.shows, **labels)


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
    found: dict[str, Any] = {f"ntm-{task}": lambda task=task: ntm_table(task, *given) for task in NTM}
    found["ntm-dyck_words-online"] = lambda: ntm_table("dyck_words", *given, reading="online")
    found["ntm-improvements"] = lambda: improvements(*given)
    for task in NRAM:
        found[f"nram-{task}"] = lambda task=task: nram_errors(task, *given)
        found[f"nram-{task}-stated"] = lambda task=task: nram_errors(task, *given, variant="stated")
    found["nram-deviations"] = lambda: nram_deviations(*given)
    found["nram-deviations-permute"] = lambda: nram_deviations(*given, task="permute")
    for language in ("tomita_2", "tomita_3", "tomita_4", "tomita_5", "tomita_7"):
        for machine in ("rnn", "lstm"):
            found[f"states-{language}-{machine}"] = lambda a=language, b=machine: state_hints(a, b, *given)
    return found
