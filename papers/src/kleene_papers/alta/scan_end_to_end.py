"""Encoder-decoder Transformers that learn SCAN end to end: Table 6 and figure 18 of ALTA, and its numbers.

The paper's splits of maximum compound divergence are published files of indices. Without them, ours are computed by the
same criterion (`kleene.tasks.scan_splits`): `mcd:0`, `mcd:1` and `mcd:2` stand beside its MCD1, MCD2 and MCD3.
"""

from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from kleene.errors import InputError
from kleene.pictures.plots import Line, Panel, line_panels
from kleene.tasks.translation import Translation, scan_by_length, scan_translation
from kleene.teaching.plan import Plan
from kleene.teaching.translations import seq2seq_lesson
from kleene_papers.alta.parity_end_to_end import named
from kleene_papers.stored import Result
from kleene_papers.study import Size, Trained, Trial
from kleene_papers.tables import Table

LAYERS = (2, 6, 16, 32, 64, 128, 256)
SPLITS = {"length": "length", "MCD1": "mcd:0", "MCD2": "mcd:1", "MCD3": "mcd:2"}


class TableCell(NamedTuple):
    """A cell of Table 6: the split, whether layers share their weights, the encoder's positions, and the layers."""

    split: str
    shared: bool
    positions: str
    layers: int

    @property
    def title(self) -> str:
        return f"{self.split}, {'shared' if self.shared else 'own'} weights, {self.positions}, {self.layers} layers"


TABLE_6 = {  # test accuracy in %, by number of layers; without sharing, there are at most 64
    ("length", True, "relative"): (11, 10, 9, 7, 7, 7, 5),
    ("length", True, "absolute"): (8, 9, 7, 5, 5, 6, 4),
    ("length", False, "relative"): (9, 9, 11, 10, 10),
    ("length", False, "absolute"): (9, 6, 7, 6, 4),
    ("MCD1", True, "relative"): (5, 3, 2, 4, 3, 3, 2),
    ("MCD1", True, "absolute"): (4, 1, 3, 2, 2, 2, 1),
    ("MCD1", False, "relative"): (4, 4, 3, 2, 2),
    ("MCD1", False, "absolute"): (5, 2, 1, 1, 2),
    ("MCD2", True, "relative"): (9, 13, 9, 5, 4, 7, 3),
    ("MCD2", True, "absolute"): (5, 6, 2, 2, 2, 2, 2),
    ("MCD2", False, "relative"): (13, 7, 4, 5, 4),
    ("MCD2", False, "absolute"): (4, 4, 2, 2, 1),
    ("MCD3", True, "relative"): (12, 12, 6, 5, 7, 2, 3),
    ("MCD3", True, "absolute"): (3, 4, 3, 3, 3, 2, 2),
    ("MCD3", False, "relative"): (8, 8, 7, 3, 2),
    ("MCD3", False, "absolute"): (4, 5, 2, 3, 1),
}
CELLS = {
    TableCell(*row, layers): percent for row, numbers in TABLE_6.items() for layers, percent in zip(LAYERS, numbers)
}
FULL = tuple(cell for cell in CELLS if cell.split == "length")
QUICK = tuple(TableCell("length", True, "relative", layers) for layers in (2, 6))
PAPERS: dict[str, Any] = {"width": 128, "attention": 8, "key": 128, "hidden": 512, "rate": 5e-4, "batch": 256}
SMALL: dict[str, Any] = {"width": 64, "attention": 4, "key": 16, "hidden": 128, "batch": 32, "optimiser": "adam"}
ITERATIONS = {"quick": 600, "full": 100_000}


def scan_end_to_end(
    size: Size = "quick",
    iterations: int | None = None,
    *,
    cells: Sequence[TableCell] | None = None,
    seconds: Mapping[int, float] | None = None,
    seeds: int = 1,
    checkpoints: bool = True,
    splits: Mapping[str, Translation] | None = None,
    **options: Any,
) -> Trial:
    """Cells of Table 6. Full size has those of the length split at the paper's sizes, quick two cells of small ones.

    `cells` are others, such as those of MCD; `splits` are the pairs of a split by its name, where they are not those
    of `SPLITS`. `options` are those of `seq2seq_lesson`, and `seconds` are limits by number of layers.
    """
    chosen = tuple(cells or (QUICK if size == "quick" else FULL))
    given = (SMALL if size == "quick" else PAPERS) | options
    total, found = iterations or ITERATIONS[size], dict(splits or {})
    plans = []
    for cell in chosen:
        if cell.split not in found:
            found[cell.split] = _pairs(cell.split)
        network = {"layers": cell.layers, "shared": cell.shared, "positions": cell.positions}
        taught = seq2seq_lesson(found[cell.split], **network, **given)
        plans.append(Plan.grid(taught, seeds=seeds, iterations=total, test_every=max(1, total // 10)))
    return Trial(
        tuple(plans),
        {cell.title: CELLS.get(cell) for cell in chosen},
        partial(cells_beside, chosen),
        grows=True,
        seconds=None if seconds is None else tuple(seconds[cell.layers] for cell in chosen),
        checkpoints=checkpoints,
    )


def _pairs(split: str) -> Translation:
    if split not in SPLITS:
        raise InputError(f"Table 6 has no split {split!r}; it has {', '.join(SPLITS)}. Give its pairs in `splits`")
    return scan_by_length() if split == "length" else scan_translation(SPLITS[split])


def cells_beside(cells: Sequence[TableCell], taught: Trained) -> dict[str, Any]:
    """Our exact match in % for each cell, with the smallest and the largest of the seeds, and the paper's."""
    rows, lines = [], []
    for cell, report in zip(cells, taught.reports):
        last = report.progress.tests[-1]
        ours, fit = 100 * last["exact_match"], 100 * last["training_match"]
        row = {
            "cell": cell.title,
            "updates": report.progress.iteration,
            "ours": round(float(ours.mean()), 2),
            "seeds": [round(float(bound), 2) for bound in (ours.min(), ours.max())],
            "training_match": round(float(fit.mean()), 1),
            "paper": CELLS.get(cell),
        }
        rows.append(row)
        lines.append(
            f"{cell.title}: {row['ours']:.1f}% of the test commands, in the paper {row['paper']}%; "
            f"{row['training_match']:.0f}% of sampled training commands"
        )
    return {"cells": rows, "summary": lines}


def table_6(result: Result) -> list[Table]:
    """The cells of Table 6 that were run: percent of training commands, and of test commands, ours and the paper's."""

    def cells(cell: dict[str, Any]) -> list[str]:
        split, weights, positions, layers = named(cell["cell"])
        low, high = cell["seeds"]
        seeds = "" if low == high else f" ({low:.1f}–{high:.1f})"
        paper = "" if cell["paper"] is None else f"{cell['paper']}%"
        shares = (f"{cell['training_match']:.0f}%", f"{cell['ours']:.1f}%{seeds}", paper)
        return [split, layers, weights, positions, f"{cell['updates']:,}", *shares]

    head = ["split", "layers", "weights", "positions", "updates", "training", "test", "paper"]
    return [Table(head, [cells(cell) for cell in result["cells"]], "Table 6")]


def draw(result: Result, path: Path) -> Path:
    """Draw figure 18: exact match by number of layers, ours and the paper's (dashed), a panel for each split."""
    theirs = {title: (percent,) for title, percent in result.paper.items() if percent is not None}
    ours = {cell["cell"]: (cell["ours"], *cell["seeds"]) for cell in result["cells"]}
    panels: dict[str, Panel] = {}
    for split in dict.fromkeys(named(title)[0] for title in result.paper):
        lines: dict[str, Line] = {}
        for colour, kind in enumerate(dict.fromkeys((*named(t)[1:3],) for t in result.paper if named(t)[0] == split)):
            for name, numbers, dashed in ((", ".join(kind), ours, False), (f"{', '.join(kind)}, paper", theirs, True)):
                some = {title: numbers[title] for title in numbers if (*named(title)[:3],) == (split, *kind)}
                if some:
                    layers = [int(named(title)[3]) for title in some]
                    lines[name] = Line(layers, *zip(*some.values()), colour=colour, dashed=dashed)
        panels[split] = Panel(lines, "layers of encoder and of decoder", "right, %", marks="o", log_across=True)
    return line_panels(panels, path, title=result.shows)
