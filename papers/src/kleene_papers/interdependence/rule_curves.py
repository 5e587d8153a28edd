"""What was measured of a rule α Q ω during training: curves by condition, the last test, and the papers' figures."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from kleene.pictures.plots import Line, Panel, line_panels
from kleene.teaching.lesson import Lesson
from kleene.teaching.reports import TeachingReport
from kleene_papers.interdependence.resampling import interval_over
from kleene_papers.stored import Result
from kleene_papers.study import Trained

LENGTHS = (2, 4, 8)  # k; the papers do not list theirs, and 8 is the largest that fits
CORPUS = ", corpus "  # between a condition and the number of a corpus, in the name of a text
CURVES = (
    "omega_in",
    "omega_out",
    "omega_by_prefix_in",
    "omega_by_prefix_out",
    "omega_by_scaffold_in",
    "omega_by_scaffold_out",
    "interdependence_in",
    "interdependence_logits_in",
    "gradient_in",
    "perplexity",
)


def curves(taught: Trained) -> dict[str, Any]:
    """All measurements by condition, [test, run] or [test, run, token of the rule], the last test, and a summary.

    The runs of a condition are those of its first corpus, one for each seed, then those of the next.
    """
    (report,) = taught.reports
    tests, lesson = report.progress.tests, report.plan.lesson
    assert isinstance(lesson, Lesson)
    found: dict[str, Any] = {"epochs": [round(float(test["iteration"]) / lesson.task.epoch, 3) for test in tests]}
    conditions = _runs(report)
    for kind, runs in conditions.items():
        found[kind] = {name: _plain(np.stack([test[name][runs] for test in tests])) for name in CURVES}
    corpora = len(report.plan.settings) // len(conditions)
    last = {kind: _last(found[kind], corpora) for kind in conditions}
    summary = [_summary(kind, estimates) for kind, estimates in last.items()]
    return {"corpora": corpora, "curves": found, "last": last, "summary": summary}


def _runs(report: TeachingReport) -> dict[str, slice]:
    """The runs of each condition; its corpora follow each other."""
    seeds, found = len(report.plan.seeds), {}
    for number, setting in enumerate(report.plan.settings):
        kind = setting["kind"].partition(CORPUS)[0]
        first = found[kind].start if kind in found else number * seeds
        found[kind] = slice(first, (number + 1) * seeds)
    return found


def _last(values: dict[str, Any], corpora: int) -> dict[str, Any]:
    """The last test: the mean of each corpus over its seeds, and the mean over corpora with its 95% interval."""
    measures = {name: (name, None) for name in CURVES if np.ndim(values[name][-1]) == 1}
    measures |= {"omega_by_alpha_in": ("omega_by_prefix_in", 0), "omega_by_alpha_out": ("omega_by_prefix_out", 0)}
    found = {}
    for name, (measure, token) in measures.items():
        means = _values(values[measure], token)[-1].reshape(corpora, -1).mean(axis=1)
        over = _plain(interval_over(means)) if corpora > 1 else None
        (mean,) = _plain(means.mean(keepdims=True))
        found[name] = {"mean": mean, "corpora": _plain(means), "over_corpora": over}
    return found


def _plain(array: np.ndarray) -> list[Any]:
    """The array as lists of rounded numbers for JSON; NaN becomes None."""
    return [_plain(row) if np.ndim(row) else None if np.isnan(row) else round(float(row), 5) for row in array]


def _summary(kind: str, last: dict[str, Any]) -> str:
    """The last test of a condition in one line."""
    mean = {name: np.nan if estimate["mean"] is None else estimate["mean"] for name, estimate in last.items()}
    return (
        f"{kind}: P(ω) {mean['omega_in']:.2f}, with random scaffolds {mean['omega_out']:.2f}, there by α "
        f"{mean['omega_by_alpha_out']:.2f} and by the scaffold {mean['omega_by_scaffold_out']:.4f}; "
        f"DI {mean['interdependence_in']:.2f}, at the logits {mean['interdependence_logits_in']:.2f}"
    )


def draw_familiarity(result: Result, path: Path) -> Path:
    """Draw the figures as one picture and return the path; bands reach from the lowest to the highest run."""
    return line_panels(_familiarity_panels(result["curves"]), path, title=result.shows)


def _familiarity_panels(curves: dict[str, Any]) -> dict[str, Panel]:
    """The panels of the curves in a result."""
    epochs = curves["epochs"]
    found = {kind: values for kind, values in curves.items() if kind != "epochs"}
    longest = {kind: values for kind, values in found.items() if _length(kind) == max(map(_length, found))}

    def over_time(measure: str, up: str, token: int | None = None) -> Panel:
        lines = {kind: _line(kind, epochs, _values(values[measure], token)) for kind, values in found.items()}
        return Panel(lines, "epoch", up)

    def at(test: int, kinds: dict[str, Any], measure: str, across: str, up: str) -> Panel:
        return Panel({kind: _profile(kind, values[measure][test]) for kind, values in kinds.items()}, across, up, "o")

    early = len(epochs) // 4
    return {
        "P(ω), scaffolds of the training text": over_time("omega_in", "P(ω)"),
        "P(ω), random scaffolds": over_time("omega_out", "P(ω)"),
        "P(ω) by α, random scaffolds": over_time("omega_by_prefix_out", "P(ω)", 0),
        "interdependence of α and scaffold": over_time("interdependence_in", "DI"),
        "the same at the logits": over_time("interdependence_logits_in", "DI"),
        f"by α and i tokens, epoch {epochs[early]:.1f}": at(early, longest, "omega_by_prefix_in", "i, tokens", "P(ω)"),
        f"by α and i tokens, epoch {epochs[-1]:.1f}": at(-1, longest, "omega_by_prefix_in", "i, tokens", "P(ω)"),
        f"gradient, epoch {epochs[early]:.1f}": at(early, found, "gradient_in", "tokens after α", "‖∂E/∂h‖"),
        f"gradient, epoch {epochs[-1]:.1f}": at(-1, found, "gradient_in", "tokens after α", "‖∂E/∂h‖"),
    }


def draw_frequency(result: Result, path: Path) -> Path:
    """Draw P(ω) by α and by the scaffold against k, a line for each n, and return the path."""
    return line_panels(_frequency_panels(result["curves"]), path, title=result.shows)


def _frequency_panels(curves: dict[str, Any]) -> dict[str, Panel]:
    """The panels of the curves in a result, at the last test."""
    counts = sorted({_count(kind) for kind in curves if kind != "epochs"})
    panels = {}
    measures = (("by α", "omega_by_prefix_out", 0), ("by the scaffold", "omega_by_scaffold_out", None))
    for name, measure, token in measures:
        lines = {}
        for colour, count in enumerate(counts):
            last = np.array([_values(curves[f"k={length} n={count}"][measure], token)[-1] for length in LENGTHS])
            lines[f"n={count}"] = Line(LENGTHS, last.mean(1), last.min(1), last.max(1), colour)
        panels[name] = Panel(lines, "k, tokens of the scaffold", "P(ω)", marks="o", log=True)
    return panels


def _values(measured: list[Any], token: int | None) -> np.ndarray:
    """The measurements [test, run]; those of one `token` of the rule where there are several."""
    values = np.array(measured, float)
    return values if token is None else values[..., token]


def _line(kind: str, across: Sequence[float], runs: np.ndarray) -> Line:
    """The mean over the runs, the last axis, with a band from the lowest to the highest."""
    return Line(across, runs.mean(-1), runs.min(-1), runs.max(-1), _colour(kind), _is_familiar(kind))


def _profile(kind: str, measured: list[Any]) -> Line:
    """The values of one test for each token of the rule; entries past its end are None and left out."""
    runs = np.array(measured, float).T
    runs = runs[~np.isnan(runs).any(axis=-1)]
    return _line(kind, range(len(runs)), runs)


def _length(kind: str) -> int:
    return int(kind.split()[0].removeprefix("k="))


def _count(kind: str) -> int:
    return int(kind.split()[1].removeprefix("n="))


def _colour(kind: str) -> int:
    return LENGTHS.index(_length(kind)) if _length(kind) in LENGTHS else 0


def _is_familiar(kind: str) -> bool:
    return kind.endswith(" familiar")
