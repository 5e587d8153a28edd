"""The synthetic experiments of Saphra & Lopez 2020: how a familiar scaffold changes what is learned of a rule α Q ω.

They are figures 7–12 of "LSTMs Compose (and Learn) Bottom-Up", and figures 3–6, 10 and 11 of "Word Interdependence
Exposes How LSTMs Compose Representations".
"""

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from kleene.experiments.experiment import Experiment, Size
from kleene.experiments.rule_probes import RuleProbes
from kleene.pictures.plots import Line, Panel, line_panels
from kleene.tasks.rules import RuleSettings, rule_corpus
from kleene.teaching.language import language_lesson
from kleene.teaching.lesson import Lesson
from kleene.teaching.plan import Plan
from kleene.teaching.reports import TeachingReport

LENGTHS = (2, 4, 8)  # k; the papers do not list theirs, and 8 is the largest that fits
COUNTS: dict[Size, tuple[int, ...]] = {"quick": (150, 250, 500), "full": (100, 300, 1_000, 3_000)}
# The papers' training, and ours for a small corpus: a higher rate, because there are few updates.
TRAINING: dict[Size, dict[str, Any]] = {
    "full": {"hidden": 200, "batch": 20, "rate": 1.0, "clip": 0.25, "epochs": 40},
    "quick": {"hidden": 64, "batch": 10, "rate": 5.0, "clip": 1.0, "epochs": 6},
}
MEASURED = {"quick": 50, "full": 200}  # rules of each test
SEEDS = {"quick": 2, "full": 5}
CURVES = ("omega_in", "omega_out", "omega_by_prefix_in", "omega_by_prefix_out", "omega_by_scaffold_in",
          "omega_by_scaffold_out", "interdependence_in", "gradient_in", "perplexity")  # fmt: skip

PAPER = {
    "omega_in": "familiar scaffolds: the rule is learned earlier",
    "omega_out": "familiar scaffolds: the rule never generalises; unfamiliar: it does",
    "omega_by_prefix_out, i = 0": "α alone predicts ω in both, and earlier with familiar scaffolds",
    "omega_by_prefix, k = 8": "unfamiliar: high from α alone; familiar: climbs with every scaffold token",
    "interdependence_in": "familiar scaffolds: much higher, and rising",
    "gradient_in": "familiar scaffolds: smaller",
}


def familiarity(size: Size = "quick", iterations: int | None = None) -> Experiment:
    """Figures 7–10 and 12 of "LSTMs Compose": k = 2, 4, 8, each with familiar and with unfamiliar scaffolds.

    Each condition has one corpus for all seeds; a seed draws the weights of a network.
    """
    settings = {
        f"k={length} {'familiar' if familiar else 'unfamiliar'}": _settings(size, length, familiar)
        for length in LENGTHS
        for familiar in (False, True)
    }
    plan = _plan("rules", settings, size, iterations)
    title = "a rule α Q ω learned with familiar (dashed) and unfamiliar scaffolds Q"
    return Experiment("rules", title, (plan,), PAPER, draw_familiarity, curves)


def frequency(size: Size = "quick", iterations: int | None = None) -> Experiment:
    """Figure 11 of "LSTMs Compose": P(ω) by α and by the scaffold against k, for several numbers n of rules.

    Training scaffolds are unfamiliar, and tests have random ones; the papers give neither the scaffolds of this test
    nor their n.
    """
    settings = {
        f"k={length} n={count}": _settings(size, length, rules=count) for length in LENGTHS for count in COUNTS[size]
    }
    plan = _plan("rule frequency", settings, size, iterations)
    paper = {
        "omega_by_prefix_out, i = 0": "a longer scaffold needs more rules; steady in k where rules are rare",
        "omega_by_scaffold_out": "tiny, and falling with k",
    }
    title = "P(ω) by what α and by what the scaffold contributes"
    return Experiment("rule-frequency", title, (plan,), paper, draw_frequency, curves)


def _settings(size: Size, length: int, familiar: bool = False, rules: int | None = None) -> RuleSettings:
    settings = RuleSettings(length, familiar) if size == "full" else RuleSettings.quick(length, familiar)
    if rules is None:
        return settings
    sizes = {name: getattr(settings, name) for name in ("tokens", "types", "scaffolds", "test_tokens", "test_rules")}
    return RuleSettings(length, familiar, rules=rules, **sizes)


def _plan(name: str, settings: dict[str, RuleSettings], size: Size, iterations: int | None) -> Plan:
    return rule_plan(
        name, settings, seeds=SEEDS[size], measured=MEASURED[size], iterations=iterations, **TRAINING[size]
    )


def rule_plan(
    name: str,
    settings: dict[str, RuleSettings],
    *,
    seeds: int,
    measured: int,
    iterations: int | None = None,
    **training: Any,
) -> Plan:
    """All conditions with all seeds in one plan, measured after every epoch, or sixteen times where epochs are few."""
    corpora = {kind: rule_corpus(wanted) for kind, wanted in settings.items()}
    lesson = language_lesson(
        next(iter(corpora.values())).vocabulary,
        {kind: corpus.train.tokens for kind, corpus in corpora.items()},
        {kind: corpus.in_domain.tokens for kind, corpus in corpora.items()},
        name=name,
        probes={"rule": RuleProbes.of(list(corpora.values()), measured)},
        settling=None,
        **training,
    )
    total = iterations or lesson.iterations
    every = min(lesson.task.epoch, max(1, total // 16))
    total -= 0 if iterations else total % every  # all stretches between tests are equally long
    return Plan.grid(lesson, kinds=lesson.kinds, seeds=seeds, iterations=total, test_every=every)


def curves(reports: list[TeachingReport]) -> dict[str, Any]:
    """All measurements by condition, [test, seed] or [test, seed, token of the rule], and a summary."""
    (report,) = reports
    tests, lesson = report.progress.tests, report.plan.lesson
    assert isinstance(lesson, Lesson)
    found: dict[str, Any] = {"epochs": [round(float(test["iteration"]) / lesson.task.epoch, 3) for test in tests]}
    for kind, runs in _runs(report):
        found[kind] = {name: _plain(np.stack([test[name][runs] for test in tests])) for name in CURVES}
    return {"curves": found, "summary": [_summary(kind, found[kind]) for kind, _ in _runs(report)]}


def _runs(report: TeachingReport) -> Iterable[tuple[str, slice]]:
    """The runs of each condition."""
    seeds = len(report.plan.seeds)
    for number, setting in enumerate(report.plan.settings):
        yield setting["kind"], slice(number * seeds, (number + 1) * seeds)


def _plain(array: np.ndarray) -> list[Any]:
    """The array as lists of rounded numbers for JSON; NaN becomes None."""
    return [_plain(row) if np.ndim(row) else None if np.isnan(row) else round(float(row), 5) for row in array]


def _summary(kind: str, values: dict[str, Any]) -> str:
    """The last test of a condition in one line."""
    last = {name: np.mean(np.array(measured[-1], float), axis=0) for name, measured in values.items()}
    return (
        f"{kind}: P(ω) {last['omega_in']:.2f}, with random scaffolds {last['omega_out']:.2f}, there by α "
        f"{last['omega_by_prefix_out'][0]:.2f} and by the scaffold {last['omega_by_scaffold_out']:.4f}; "
        f"DI {last['interdependence_in']:.2f}"
    )


def draw_familiarity(experiment: Experiment, reports: list[TeachingReport], path: Path) -> Path:
    """Draw the figures as one picture and return the path; bands reach from the lowest to the highest seed."""
    return line_panels(familiarity_panels(curves(reports)["curves"]), path, title=experiment.shows)


def familiarity_panels(curves: dict[str, Any]) -> dict[str, Panel]:
    """The panels of the curves in a JSON file."""
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
        f"by α and i tokens, epoch {epochs[early]:.1f}": at(early, longest, "omega_by_prefix_in", "i, tokens", "P(ω)"),
        f"by α and i tokens, epoch {epochs[-1]:.1f}": at(-1, longest, "omega_by_prefix_in", "i, tokens", "P(ω)"),
        f"gradient, epoch {epochs[early]:.1f}": at(early, found, "gradient_in", "tokens after α", "‖∂E/∂h‖"),
        f"gradient, epoch {epochs[-1]:.1f}": at(-1, found, "gradient_in", "tokens after α", "‖∂E/∂h‖"),
    }


def draw_frequency(experiment: Experiment, reports: list[TeachingReport], path: Path) -> Path:
    """Draw P(ω) by α and by the scaffold against k, a line for each n, and return the path."""
    return line_panels(frequency_panels(curves(reports)["curves"]), path, title=experiment.shows)


def frequency_panels(curves: dict[str, Any]) -> dict[str, Panel]:
    """The panels of the curves in a JSON file, at the last test."""
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
    """The measurements [test, seed]; those of one `token` of the rule where there are several."""
    values = np.array(measured, float)
    return values if token is None else values[..., token]


def _line(kind: str, across: Sequence[float], runs: np.ndarray) -> Line:
    """The mean over the seeds, the last axis, with a band from the lowest to the highest."""
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


def experiments(size: Size = "quick", iterations: int | None = None) -> dict[str, Callable[[], Experiment]]:
    """A function without arguments for each experiment, by name."""
    return {"rules": lambda: familiarity(size, iterations), "rule-frequency": lambda: frequency(size, iterations)}
