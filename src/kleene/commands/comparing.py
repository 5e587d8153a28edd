"""Results side by side."""

from pathlib import Path
from typing import Any

from kleene.errors import InputError


def stored(folder: str) -> list[dict[str, Any]]:
    """Every results file of a folder, with the file's name; an experiment's name stands for the lesson's."""
    from kleene.teaching.results import listed

    if not Path(folder).is_dir():
        raise InputError(
            f"there is no folder {folder!r}; `kleene teach … --results FOLDER` makes one, and `kleene reproduce`"
        )
    found = listed(folder)
    if not found:
        raise InputError(f"there are no results in {folder!r}; `kleene teach … --results {folder}` puts them there")
    return [{"file": path.name, "lesson": content.get("name")} | content for path, content in found]


def table_of(results: list[dict[str, Any]]) -> Any:
    """A row for every setting of every result."""
    from rich.table import Table

    heads = ("lesson", "hints", "density", "λ", "seeds", "generalise", "95%", "first, median", "loss", "diverged")
    says_words = any("perplexity" in row for result in results for row in result["settings"])
    table = Table(*heads, *(["perplexity"] if says_words else []), box=None, header_style="bold")
    for result in results:
        has_tasks = len({row.get("task") for row in result["settings"]}) > 1  # an experiment may have several
        for row in result["settings"]:
            hits = sorted(hit for hit in row["first_hit"] if hit is not None)
            low, high = row["interval"]
            table.add_row(
                f"{result['lesson']} {row['task']}" if has_tasks else result["lesson"],
                row["hints"],
                f"{row['density']:g}",
                f"{row['strength']:g}",
                str(row["seeds"]),
                str(row["generalised"]),
                f"{low:.0%}–{high:.0%}",
                f"{hits[row['seeds'] // 2]:,}" if len(hits) * 2 > row["seeds"] else "·",  # seeds without a hit are last
                "·" if row["loss"] is None else f"{row['loss']:.4f}",
                str(len(row["diverged"])),
                *([f"{row['perplexity']:,.1f}" if row.get("perplexity") else "·"] if says_words else []),
            )
    return table
