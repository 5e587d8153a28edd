"""Encoder Transformers that learn parity end to end: Table 3 and figures 5, 9, 10 and 11 of ALTA.

The paper's numbers are here, too. It does not state the batch of these runs; ours is that of its trace supervision.
"""

from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from kleene.pictures.plots import Line, Panel, line_panels
from kleene.programs.alta.library import parity
from kleene.teaching.encoders import encoder_lesson
from kleene.teaching.plan import Plan, Progress
from kleene.teaching.reports import TeachingReport
from kleene_papers.experiment import Experiment, GrowingExperiment, Size


class Variant(NamedTuple):
    """A row of Table 3: the network's layers, whether they share their weights, and how positions are known."""

    layers: int
    shared: bool
    positions: str

    @property
    def title(self) -> str:
        return f"{self.layers} layers, {'shared' if self.shared else 'own'} weights, {self.positions}"


MEASURES = ("accuracy_within", "accuracy_beyond", "accuracy_many_ones")  # the columns of Table 3
TABLE_3 = {
    Variant(8, False, "relative"): (100, 60, 51),
    Variant(8, True, "relative"): (100, 65, 52),
    Variant(40, False, "relative"): (100, 55, 51),
    Variant(40, True, "relative"): (100, 54, 48),
    Variant(8, False, "absolute"): (100, 49, 50),
    Variant(8, True, "absolute"): (100, 50, 52),
    Variant(40, False, "absolute"): (100, 50, 51),
    Variant(40, True, "absolute"): (100, 52, 51),
}
PAPERS: dict[str, Any] = {"width": 512, "attention": 6, "key": 64, "hidden": 2048, "rate": 5e-4, "batch": 256}
SIZES: dict[Size, dict[str, Any]] = {
    "full": PAPERS | {"longest": 20, "pool": 2048, "optimiser": "adafactor"},
    "quick": {"width": 32, "attention": 2, "key": 16, "hidden": 64, "longest": 6, "pool": 256, "optimiser": "adam"},
}
QUICK_LAYERS = {8: 3, 40: 8}  # of the quick size
ITERATIONS = {"quick": 1_000, "full": 50_000}
ROUNDING = 1e-6  # by which a share of 1 may be off on a GPU; one wrong word of the full size is a hundred times that


def parity_end_to_end(
    size: Size = "quick",
    iterations: int | None = None,
    *,
    variants: Sequence[Variant] = tuple(TABLE_3),
    seconds: Mapping[int, float] | None = None,
    seeds: int | None = None,
    checkpoints: bool = True,
    **options: Any,
) -> Experiment:
    """The experiment. `options` are those of `encoder_lesson`, and `seconds` are limits by number of layers.

    A variant ends once every seed is right on all words of the training lengths in two tests in a row. The quick size
    has small networks of 3 and 8 layers in place of 8 and 40, and words of up to 6 bits in place of 20.
    """
    given = SIZES[size] | options
    total = iterations or ITERATIONS[size]
    lengths = range(1, 2 * given["longest"] + 1)
    plans = []
    for layers, shared, positions in variants:
        depth = layers if size == "full" else QUICK_LAYERS.get(layers, layers)
        network = {"layers": depth, "shared": shared, "positions": positions}
        taught = encoder_lesson(parity.sum_modulo(), answer="last", lengths=lengths, **network, **given)
        of_seeds = seeds or (2 if size == "quick" else 1)
        plans.append(Plan.grid(taught.only(["none"]), seeds=of_seeds, iterations=total, test_every=max(1, total // 20)))
    title = f"parity end to end: Transformers taught words of up to {given['longest']} bits"
    return GrowingExperiment(
        "parity-end-to-end",
        title,
        tuple(plans),
        {row.title: dict(zip(MEASURES, numbers)) for row, numbers in TABLE_3.items()},
        partial(draw_parity, variants),
        partial(rows_beside, variants),
        learned=is_learned,
        seconds=None if seconds is None else tuple(seconds[row.layers] for row in variants),
        checkpoints=checkpoints,
    )


def is_learned(progress: Progress) -> bool:
    """Whether each run that has not diverged is right on all words of the training lengths, in two tests in a row."""
    last = progress.tests[-2:]
    return len(last) == 2 and all(((test["accuracy_within"] > 1 - ROUNDING) | ~test["alive"]).all() for test in last)


def rows_beside(variants: Sequence[Variant], reports: Sequence[TeachingReport]) -> dict[str, Any]:
    """Our percentages for each row of Table 3, with the smallest and the largest of the seeds, and the paper's."""
    rows, lines = [], []
    for variant, report in zip(variants, reports):
        last, paper = report.progress.tests[-1], TABLE_3.get(variant)
        found: dict[str, Any] = {}
        for number, name in enumerate(MEASURES):
            values = 100 * last[name]
            found[name] = {
                "ours": round(float(values.mean()), 1),
                "seeds": [round(float(bound), 1) for bound in (values.min(), values.max())],
                "paper": None if paper is None else paper[number],
            }
        layers = _layers(report)
        rows.append({"row": variant.title, "network_layers": layers, "updates": report.progress.iteration} | found)
        shown = ", ".join(
            f"{words} {found[name]['ours']:.0f}% ({found[name]['paper']}%)"
            for words, name in zip(("trained lengths", "longer", "more ones"), MEASURES)
        )
        here = "" if layers == variant.layers else f" (here {layers} layers)"
        lines.append(f"{variant.title}{here}: {shown}")
    return {"rows": rows, "summary": ["ours, and in brackets the paper's:", *lines]}


def draw_parity(
    variants: Sequence[Variant], experiment: Experiment, reports: Sequence[TeachingReport], path: Path
) -> Path:
    """Draw figures 9, 10 and 11: accuracy by length, by number of ones, and the mean answer by number of ones."""
    panels: dict[str, Panel] = {}
    colours = list(dict.fromkeys((variant.layers, variant.shared) for variant in variants))
    for positions in ("relative", "absolute"):
        some = [(v, r) for v, r in zip(variants, reports) if v.positions == positions]
        figures = {
            f"figure 9, {positions}: accuracy by length": ("accuracy_by_length", "bits", "right, %"),
            f"figure 10, {positions}: accuracy by ones": ("accuracy_by_ones", "ones", "right, %"),
            f"figure 11, {positions}: mean answer by ones": ("prediction_by_ones", "ones", "answers 1, %"),
        }
        for title, (name, across, up) in figures.items() if some else ():
            lines = {}
            for variant, report in some:
                label = f"{_layers(report)} layers, {'shared' if variant.shared else 'own'}"
                lines[label] = _line(report, name, colours.index((variant.layers, variant.shared)))
            panels[title] = Panel(lines, across, up, limits=(-4, 104))
    return line_panels(panels, path, title=experiment.shows)


def _layers(report: TeachingReport) -> int:
    """The layers of the network that was taught; the quick size has fewer than the paper."""
    return report.plan.lesson.facts()["arguments"]["layers"]


def _line(report: TeachingReport, name: str, colour: int) -> Line:
    """The mean of a measurement over seeds, with a band from the smallest to the largest."""
    values = 100 * np.asarray(report.progress.tests[-1][name])
    across = list(report.plan.lesson.lengths) if name == "accuracy_by_length" else list(range(values.shape[1]))
    return Line(across, values.mean(axis=0), values.min(axis=0), values.max(axis=0), colour=colour)


def experiments(size: Size = "quick", iterations: int | None = None) -> dict[str, Any]:
    """A function without arguments for each experiment, by name."""
    return {"parity-end-to-end": lambda: parity_end_to_end(size, iterations)}
