"""Results side by side."""

import os
from typing import Any

import numpy as np

from kleene.errors import InputError


def stored(folder: str) -> tuple[list[dict[str, Any]], list[str]]:
    """Every results file of a folder, with the file's name, and what is wrong with those that cannot be read.

    An experiment's name stands for the lesson's.
    """
    from kleene.teaching.results import listed

    if not os.path.isdir(folder):
        raise InputError(
            f"there is no folder {folder!r}; `kleene teach … --results FOLDER` makes one, and `kleene reproduce`"
        )
    found, damaged = listed(folder)
    if not found:
        told = "".join(f"; {one}" for one in damaged)
        raise InputError(
            f"there are no results in {folder!r}; `kleene teach … --results {folder}` puts them there{told}"
        )
    return [{"file": path.name, "lesson": content.get("name")} | content for path, content in found], damaged


def table_of(results: list[dict[str, Any]]) -> Any:
    """A row for every setting of every result. Language models get no hints: what differs is the text they learn.

    Beside a perplexity is that of one who knows only how often each word is: a model above it has learned nothing.
    "right" is the mean over all tests, and "first" the iteration by which half of the seeds had generalised.
    """
    from rich.markup import escape
    from rich.table import Table

    rows = [row | {"result": result} for result in results for row in result["settings"]]
    says_words = ["perplexity" in row for row in rows]
    texts_alone = bool(rows) and all(says_words)
    columns = {"lesson": _lesson, **(TEXTS if texts_alone else HINTS | GENERALISED), **MEASURED}
    columns |= PERPLEXITY if any(says_words) else {}
    columns |= UNIGRAMS if any(row.get("unigram_perplexity") for row in rows) else {}
    columns |= DIVERGED if any(row["diverged"] for row in rows) else {}
    table = Table(box=None, header_style="bold", pad_edge=False, collapse_padding=True)
    for name in columns:
        table.add_column(name, overflow="fold")  # in a narrow terminal nothing is cut off
    for row in rows:
        table.add_row(*(escape(shown(row)) for shown in columns.values()))  # [ab] is a language, and no colour
    return table


def _lesson(row: dict[str, Any]) -> str:
    """The lesson's name, and the task's where an experiment has several."""
    tasks = {setting.get("task") for setting in row["result"]["settings"]}
    return f"{row['result']['lesson']} {row['task']}" if len(tasks) > 1 else row["result"]["lesson"]


def _median_hit(row: dict[str, Any]) -> str:
    """The iteration by which half of the seeds had generalised; those that never did come last."""
    if "perplexity" in row:
        return "·"
    hits = sorted(hit for hit in row["first_hit"] if hit is not None)
    return f"{hits[row['seeds'] // 2]:,}" if len(hits) * 2 > row["seeds"] else "·"


def _generalised(row: dict[str, Any]) -> str:
    """How many seeds do so, and the interval of the share; a language model is never said to."""
    if "perplexity" in row:
        return "·"
    low, high = row["interval"]
    return f"{row['generalised']} of {row['seeds']} ({100 * low:.0f}–{high:.0%})"


def _perplexity(value: float | None) -> str:
    return f"{value:,.1f}" if value else "·"


HINTS = {
    "hints": lambda row: row["hints"],
    "density": lambda row: f"{row['density']:g}",
    "λ": lambda row: f"{row['strength']:g}",
}
TEXTS = {"text": lambda row: "·" if row["hints"] == "none" else row["hints"]}
GENERALISED = {
    "generalise (95%)": _generalised,
    "first": _median_hit,
}
MEASURED = {
    "right": lambda row: f"{np.mean([*row['accuracy_by_length'].values()]):.1%}",
    "loss": lambda row: "·" if row["loss"] is None else f"{row['loss']:.4f}",
}
DIVERGED = {"diverged": lambda row: str(len(row["diverged"]))}
PERPLEXITY = {"perplexity": lambda row: _perplexity(row.get("perplexity"))}
UNIGRAMS = {"unigrams": lambda row: _perplexity(row.get("unigram_perplexity"))}
