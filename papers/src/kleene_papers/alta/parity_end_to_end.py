"""Encoder Transformers that learn parity end to end: Table 3 and figures 5, 9, 10 and 11 of ALTA.

The paper's numbers are here, too. It does not state the batch of these runs; ours is that of its trace supervision.
"""

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from kleene.pictures.plots import Line, Panel, line_panels
from kleene.programs.alta.library import parity
from kleene.teaching.encoders import encoder_lesson
from kleene.teaching.plan import Plan, Progress
from kleene_papers.stored import Result, where
from kleene_papers.study import Size, Trained, Trial
from kleene_papers.tables import Table


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
) -> Trial:
    """Table 3 or some of its rows. `options` are those of `encoder_lesson`; `seconds` are limits by number of layers.

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
    return Trial(
        tuple(plans),
        {row.title: dict(zip(MEASURES, numbers)) for row, numbers in TABLE_3.items()},
        partial(rows_beside, variants),
        grows=True,
        learned=is_learned,
        seconds=None if seconds is None else tuple(seconds[row.layers] for row in variants),
        checkpoints=checkpoints,
    )


def is_learned(progress: Progress) -> bool:
    """Whether each run that has not diverged is right on all words of the training lengths, in two tests in a row."""
    last = progress.tests[-2:]
    return len(last) == 2 and all(((test["accuracy_within"] > 1 - ROUNDING) | ~test["alive"]).all() for test in last)


def rows_beside(variants: Sequence[Variant], taught: Trained) -> dict[str, Any]:
    """Our percentages for each row of Table 3, with the smallest and the largest of the seeds, and the paper's.

    `curves` has what figures 9, 10 and 11 draw: for each measurement the mean, the smallest and the largest value.
    """
    rows, lines = [], []
    for variant, report in zip(variants, taught.reports):
        last, paper = report.progress.tests[-1], TABLE_3.get(variant)
        found: dict[str, Any] = {}
        for number, name in enumerate(MEASURES):
            values = 100 * last[name]
            found[name] = {
                "ours": round(float(values.mean()), 1),
                "seeds": [round(float(bound), 1) for bound in (values.min(), values.max())],
                "paper": None if paper is None else paper[number],
            }
        layers = report.plan.lesson.facts()["arguments"]["layers"]
        facts = {"row": variant.title, "network_layers": layers, "updates": report.progress.iteration}
        training = {"training": round(100 * float(last["accuracy"].mean()), 1)}
        rows.append(facts | found | training | {"curves": {name: _curve(last[name]) for name in CURVES}})
        shown = ", ".join(
            f"{words} {found[name]['ours']:.0f}% ({found[name]['paper']}%)"
            for words, name in zip(("trained lengths", "longer", "more ones"), MEASURES)
        )
        here = "" if layers == variant.layers else f" (here {layers} layers)"
        lines.append(f"{variant.title}{here}: {shown}")
    return {"rows": rows, "summary": ["ours, and in brackets the paper's:", *lines]}


def _curve(values: Any) -> list[list[float | None]]:
    """The mean over seeds of each entry, the smallest and the largest."""
    ends = (of(np.asarray(values, float), axis=0) for of in (np.mean, np.min, np.max))
    return [[None if np.isnan(one) else round(float(one), 4) for one in end] for end in ends]


def named(title: str) -> list[str]:
    """What tells rows and cells apart.

    >>> named("8 layers, own weights, relative")
    ['8', 'own', 'relative']
    """
    return title.replace(" layers", "").replace(" weights", "").split(", ")


def table_3(result: Result) -> list[Table]:
    """Table 3, ours and the paper's, and what networks with relative positions answer to words with many ones."""
    longest = result.plans[0]["lesson"]["longest"]
    head = ["layers", "weights", "positions", "updates", *(["training words"] if _training(result) else [])]
    head += [f"length ≤ {longest}", "paper", f"length > {longest}", "paper", f"ones > {longest}", "paper"]
    rows = [[*_cells(result, row)] for row in result["rows"]]
    ones = sorted({min(ones, 2 * longest) for ones in range(longest, 2 * longest + 4, 4)})
    answers = [
        [row["row"], *(f"{kept['prediction_by_ones'][count]:.2f}" for count in ones)]
        for row, kept in zip(result["rows"], result.rows)
        if row["row"].endswith("relative")
    ]
    return [
        Table(head, rows, "Table 3"),
        Table(["mean answer to words with", *(f"{count} ones" for count in ones)], answers, "Figure 11, mean answers"),
    ]


def _cells(result: Result, row: dict[str, Any]) -> Iterator[str]:
    """A row of Table 3, where there are several seeds with the smallest and the largest in brackets."""
    layers, weights, positions = named(row["row"])
    depth = layers if f"{row['network_layers']}" == layers else f"{row['network_layers']} for {layers}"
    training = [f"{percent:.1f}%" for title, percent in _training(result).items() if title == row["row"]]
    yield from (depth, weights, positions, f"{row['updates']:,}", *training)
    for measure in (row[name] for name in MEASURES):
        low, high = measure["seeds"]
        several = len(result.plans[0]["seeds"]) > 1
        yield f"{measure['ours']:.0f}% ({low:.0f}–{high:.0f})" if several else f"{measure['ours']:.1f}%"
        yield "" if measure["paper"] is None else f"{measure['paper']}%"


def _training(result: Result) -> dict[str, float]:
    """The percentage of words right in training before the last test, by row; the stored quick run has none."""
    if "history" in result.found:
        return {title: 100 * history["accuracy"][-1] for title, history in result["history"].items()}
    return {row["row"]: row["training"] for row in result["rows"] if "training" in row}


FIGURES = {
    "figure 9, {}: accuracy by length": ("accuracy_by_length", "bits", "right, %"),
    "figure 10, {}: accuracy by ones": ("accuracy_by_ones", "ones", "right, %"),
    "figure 11, {}: mean answer by ones": ("prediction_by_ones", "ones", "answers 1, %"),
}
CURVES = [name for name, *_ in FIGURES.values()]


def draw(result: Result, path: Path) -> Path:
    """Draw figures 9, 10 and 11: accuracy by length, by number of ones, and the mean answer by number of ones."""
    rows = [
        {"layers": layers, "weights": weights, "positions": positions, "row": row, "kept": kept, "plan": plan}
        for row, kept, plan in zip(result["rows"], result.rows, result.plans)
        for layers, weights, positions in [named(row["row"])]
    ]
    colours = list(dict.fromkeys((row["layers"], row["weights"]) for row in rows))
    panels: dict[str, Panel] = {}
    for positions in ("relative", "absolute"):
        some = where(rows, positions=positions)
        for title, (name, across, up) in FIGURES.items() if some else ():
            lines = {
                f"{row['row']['network_layers']} layers, {row['weights']}": _line(
                    row, name, colours.index((row["layers"], row["weights"]))
                )
                for row in some
            }
            panels[title.format(positions)] = Panel(lines, across, up, limits=(-4, 104))
    return line_panels(panels, path, title=result.shows)


def _line(row: Mapping[str, Any], name: str, colour: int) -> Line:
    """The mean of a measurement over seeds, with a band from the smallest to the largest where that was kept."""
    kept = row["kept"][name]
    mean = [*kept.values()] if name == "accuracy_by_length" else kept
    curves = row["row"].get("curves", {}).get(name, [mean] * 3)
    values = 100 * np.array(curves, float)
    across = row["plan"]["lesson"]["lengths"] if name == "accuracy_by_length" else list(range(len(mean)))
    return Line(across, *values, colour=colour)
