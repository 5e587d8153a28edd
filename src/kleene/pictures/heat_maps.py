"""A heat map of two settings, with its numbers in the cells."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from kleene.pictures.figures import new_figure, save_figure, set_title
from kleene.pictures.style import SHADES, dress, letters, write_number


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
    cell = max(0.42, 0.07 * max(map(letters, columns), default=1))
    left = 1.2 + 0.06 * max(map(letters, rows), default=1)
    figure = new_figure(left + cell * len(columns), 1.0 + 0.25 * len(rows))
    ax = figure.subplots()
    ax.imshow(np.where(np.isfinite(numbers), numbers, np.nan), vmin=low, vmax=high, cmap=SHADES, aspect="auto")
    for (row, column), value in np.ndenumerate(numbers):
        if not np.isnan(value):
            share = (value - low) / (high - low) if high > low and np.isfinite(value) else 0.0
            write_number(ax, column, row, f"{value:.3g}", float(share))
    ax.set_xticks(range(len(columns)), columns)
    ax.set_yticks(range(len(rows)), rows)
    dress(ax, across, up, grid=False)
    set_title(figure, title)
    return save_figure(figure, path)


def _range(numbers: np.ndarray) -> tuple[float, float]:
    found = numbers[np.isfinite(numbers)]
    return (float(found.min()), float(found.max())) if found.size else (0.0, 1.0)
