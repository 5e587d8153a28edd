"""A heat map of two settings, with its numbers in the cells."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from kleene.pictures.figures import new_figure, save_figure, set_title

DARK = 0.6  # share of the scale from which numbers are white


def heat_map(
    rows: Sequence[str],
    columns: Sequence[str],
    values: Sequence[Sequence[float | None]],
    path: Any,
    *,
    across: str,
    up: str,
    limits: tuple[float, float] | None = None,
    title: str = "",
) -> Path:
    """Draw a number in every cell, the larger the darker, and return the path; None is left white.

    The colours reach from the smallest number to the largest, unless `limits` says otherwise.
    """
    numbers = np.array([[np.nan if v is None else v for v in row] for row in values], dtype=float)
    low, high = limits or _range(numbers)
    longest = max(map(len, columns), default=1)
    figure = new_figure(
        1.6 + max(0.52, 0.08 * longest) * len(columns) + 0.06 * max(map(len, rows), default=1), 1.1 + 0.3 * len(rows)
    )
    ax = figure.subplots()
    ax.imshow(np.where(np.isfinite(numbers), numbers, np.nan), vmin=low, vmax=high, cmap="YlGnBu", aspect="auto")
    for (row, column), value in np.ndenumerate(numbers):
        if not np.isnan(value):
            colour = "white" if high > low and np.isfinite(value) and (value - low) / (high - low) > DARK else "black"
            ax.text(column, row, f"{value:.3g}", ha="center", va="center", fontsize=7, color=colour)
    ax.set_xticks(range(len(columns)), columns, fontsize=7)
    ax.set_yticks(range(len(rows)), rows, fontsize=7)
    ax.set_xlabel(across, fontsize=8)
    ax.set_ylabel(up, fontsize=8)
    set_title(figure, title)
    return save_figure(figure, path)


def _longest(names: Sequence[str]) -> int:
    return max(map(len, names), default=1)


def _range(numbers: np.ndarray) -> tuple[float, float]:
    found = numbers[np.isfinite(numbers)]
    return (float(found.min()), float(found.max())) if found.size else (0.0, 1.0)
