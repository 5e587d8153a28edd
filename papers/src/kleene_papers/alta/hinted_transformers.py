"""Ours: how much of a program's trace does a Transformer need to learn its algorithm, and can any amount be enough?

Five programs are the teachers. ALTA's theory says of two that their training sets determine them, and of three that
they do not, because positions, counts or places beyond the training set are never seen.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from kleene.explaining.programs.data_sets import InputSource, inputs_of
from kleene.explaining.programs.learnable import learnable
from kleene.pictures.plots import Line, Panel, line_panels
from kleene.programs.alta.library import entries
from kleene.teaching.lessons import lesson
from kleene.teaching.plan import Plan
from kleene.teaching.reports import TeachingReport, interval
from kleene_papers.stored import Result
from kleene_papers.study import Size, Trained, Trial
from kleene_papers.tables import Table

NONE = {"kind": "none", "density": 0.0, "strength": 0.0}
DENSITIES = (1.0, 0.1, 0.01)
STRENGTHS = (10.0, 0.1)  # besides 1
SAMPLES = 1_000  # inputs of each length, on which a minimal version is judged; as many as in a pool of words


@dataclass(frozen=True)
class TeachingProgram:
    """A program as a teacher: the longest words in training, how long it teaches, and options of its lesson.

    A `slow` one teaches with fewer settings.
    """

    longest: int
    iterations: int
    options: Mapping[str, Any] = field(default_factory=dict)
    slow: bool = False

    def plan(self, name: str, settings: Sequence[dict[str, Any]], seeds: int, iterations: int | None) -> Plan:
        """The plan of those settings that the program has: one that reads no categories has no heads to hint at."""
        taught = lesson(name, "transformer", longest=self.longest, **self.options)
        some = tuple(setting for setting in settings if setting["kind"] in taught.kinds)
        taught = taught.only([kind for kind in dict.fromkeys(setting["kind"] for setting in some) if kind != "none"])
        total = iterations or self.iterations
        return Plan(taught, some, tuple(range(100, 100 + seeds)), total, max(1, total // 4))


LARGER = {"width": 64, "attention": 4, "hidden": 256, "rate": 1e-3, "batch": 64}
TEACHERS = {
    "parity_relative": TeachingProgram(10, 4_000, {"answer": "last"}),
    "addition": TeachingProgram(5, 5_000, LARGER | {"noise": 0.4, "rate": 2e-3, "reach": 1}, slow=True),
    "parity_absolute": TeachingProgram(10, 3_000, {"answer": "last"}),
    "parity_sum_modulo_steps": TeachingProgram(10, 4_000, LARGER | {"noise": 0.0, "hidden": 512, "batch": 128}),
    "reverse": TeachingProgram(8, 3_000, LARGER | {"noise": 0.1}),
}
QUICK = ("parity_relative", "parity_sum_modulo_steps")


def settings_of(size: Size, *, slow: bool = False) -> list[dict[str, Any]]:
    """The hints of all runs: kinds and densities at λ = 1, and two other λ at density 0.1."""
    if size == "quick":
        return [NONE, *(_hints("scattered", density) for density in (1.0, 0.1))]
    if slow:
        return [NONE, _hints("full", 1.0), _hints("full", 0.1), _hints("scattered", 0.1), _hints("heads", 1.0)]
    found = [_hints(kind, density) for kind in ("full", "scattered") for density in DENSITIES]
    found += [_hints("ends", 1.0), _hints("heads", 1.0)]
    return [NONE, *found, *(_hints("scattered", 0.1, strength) for strength in STRENGTHS)]


def _hints(kind: str, density: float, strength: float = 1.0) -> dict[str, Any]:
    return {"kind": kind, "density": density, "strength": strength}


def hinted_transformers(size: Size = "quick", iterations: int | None = None) -> Trial:
    """What is taught. Full size is 10 seeds of 11 settings for each of five programs; of 5 for addition.

    The seeds are not those with which the lesson's defaults were chosen.
    """
    names, seeds = (tuple(TEACHERS), 10) if size == "full" else (QUICK, 4)
    short = iterations or (None if size == "full" else 1_500)
    settings = {name: settings_of(size, slow=TEACHERS[name].slow) for name in names}
    plans = tuple(TEACHERS[name].plan(name, settings[name], seeds, short) for name in names)
    return Trial(plans, measure=judged, swept=True)


def judged(taught: Trained) -> dict[str, Any]:
    """What the theory says of each program, what was taught, and lines with both."""
    verdicts, found, lines = {}, {}, []
    for report in taught.reports:
        name = report.plan.lesson.name
        verdicts[name] = is_determined(name, TEACHERS[name].longest)
        found[name] = [measured(report, number) for number in range(len(report.plan.settings))]
        lines += [_line(name, verdicts[name], found[name])]
    return {"minimal_generalises": verdicts, "generalisation": found, "summary": lines}


@cache
def is_determined(name: str, longest: int) -> bool:
    """Whether the minimal version of a program, by words up to `longest`, is right on words up to twice as long."""
    entry = entries()[name]
    source = InputSource(entry.build(), entry)
    train = inputs_of(source, f"length<={longest}", samples=SAMPLES, seed=0)
    test = inputs_of(source, f"length<={2 * longest}", samples=SAMPLES, seed=1)
    return learnable(source.program, train, test).generalises


def measured(report: TeachingReport, number: int) -> dict[str, Any]:
    """The figures of one setting: seeds that generalise, accuracy within and beyond the training lengths, the trace.

    Accuracies are those of each seed.
    """
    plan, last = report.plan, report.progress.tests[-1]
    runs = slice(number * len(plan.seeds), (number + 1) * len(plan.seeds))
    beyond = np.array(plan.lesson.lengths) > plan.lesson.facts()["longest"]
    accuracy, hits = last["accuracy_by_length"][runs], int(last["generalises"][runs].sum())
    low, high = interval(hits, len(plan.seeds))
    return dict(plan.settings[number]) | {
        "generalise": hits,
        "seeds": len(plan.seeds),
        "interval": [round(low, 3), round(high, 3)],
        "within": _rounded(accuracy[:, ~beyond].mean(axis=1)),
        "beyond": _rounded(accuracy[:, beyond].mean(axis=1)),
        "trace": _rounded(last["trace"][runs]),
    }


def _rounded(values: np.ndarray) -> list[float]:
    return [round(float(value), 4) for value in values]


def _line(name: str, determined: bool, rows: Sequence[dict[str, Any]]) -> str:
    best = max(rows, key=lambda row: (row["generalise"], np.mean(row["beyond"])))
    none, given = rows[0], "none" if best["kind"] == "none" else f"{best['kind']} at density {best['density']:g}"
    says = "is determined by its training words" if determined else "is not determined by its training words"
    return (
        f"{name} {says}: {none['generalise']} of {none['seeds']} seeds generalise without hints, "
        f"{best['generalise']} with the best hints ({given}, λ {best['strength']:g})"
    )


def table(result: Result) -> list[Table]:
    """For each setting and program the seeds that generalise, the mean accuracy beyond, and the share of the trace."""
    found = result["generalisation"]
    entries = {name: {(r["kind"], r["density"], r["strength"]): r for r in rows} for name, rows in found.items()}
    lines = []
    for kind, density, strength in dict.fromkeys(key for rows in entries.values() for key in rows):
        shown = ["", ""] if kind == "none" else [f"{density:g}", f"{strength:g}"]
        cells = [_cell(rows.get((kind, density, strength))) for rows in entries.values()]
        lines.append([kind, *shown, *cells])
    head = ["hints", "density", "λ", *(f"`{name}`" for name in found)]
    return [Table(head, lines, "Seeds that generalise, accuracy beyond the training lengths, share of the trace")]


def _cell(row: dict[str, Any] | None) -> str:
    if row is None:
        return "·"
    return f"{row['generalise']}, {100 * np.mean(row['beyond']):.0f}%, {np.mean(row['trace']):.2f}"


def draw(result: Result, path: Path) -> Path:
    """Draw accuracy beyond the training lengths against density, a panel for each program, and return the path.

    Lines are means over seeds, and bands reach from the 10th to the 90th percentile.
    """
    panels = {}
    for name, rows in result["generalisation"].items():
        verdict = "learnable" if result["minimal_generalises"][name] else "not learnable"
        panels[f"{name}: theory: {verdict}"] = _panel(rows)
    return line_panels(panels, path, title=result.shows)


def _panel(rows: Sequence[dict[str, Any]]) -> Panel:
    lines = {}
    for colour, kind in enumerate(("full", "scattered", "ends", "heads")):
        some = sorted((r for r in rows if r["kind"] == kind and r["strength"] == 1), key=lambda row: row["density"])
        if some:
            lines[kind] = _drawn([100 * row["density"] for row in some], [row["beyond"] for row in some], colour)
    ends = [100 * f(row["density"] for row in rows if row["kind"] != "none") for f in (min, max)]
    lines["no hints"] = Line(ends, [100 * np.mean(rows[0]["beyond"])] * 2, colour=4, dashed=True)
    return Panel(lines, "density of the hints, %", "right, %", marks="o", limits=(-4, 104), log_across=True)


def _drawn(across: list[float], seeds: Sequence[Sequence[float]], colour: int) -> Line:
    values = 100 * np.array(seeds)
    low, high = np.percentile(values, [10, 90], axis=1)
    return Line(across, values.mean(axis=1), low, high, colour=colour)


def asked_everywhere(result: Result) -> list[Table]:
    """Seeds that generalise where the output is asked for at every position, for each program and kind of hints."""
    runs = result["runs"]
    kinds = [("none", None), *((kind, density) for kind in ("full", "scattered", "ends") for density in DENSITIES)]

    def cell(*asked: Any) -> str:
        found = [r["generalises"] for r in runs if (r["task"], r["longest"], r["hints"], r["density"]) == asked]
        return str(sum(found)) if found else "·"

    subjects = sorted({(run["task"], run["longest"]) for run in runs}, key=lambda one: (ORDER.index(one[0]), one[1]))
    head = [
        "program",
        "trained up to",
        *(kind if density is None else f"{kind} {density:g}" for kind, density in kinds),
    ]
    rows = [[f"`{task}`", f"{longest} bits", *(cell(task, longest, *kind) for kind in kinds)]
            for task, longest in subjects]  # fmt: skip
    return [Table(head, rows, "Seeds of ten that generalise, asked at every position")]


ORDER = ("parity_relative", "parity_absolute", "parity_sum_modulo")
