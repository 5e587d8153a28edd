"""Pictures of what was taught: where heads went, which settings generalise, and errors against difficulty."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from kleene.pictures.figures import COLOURS, GRID, new_figure, save_figure


def head_positions(panels: Sequence[tuple[str, np.ndarray, np.ndarray]], path: Any, *, first_cell: int = 0) -> Path:
    """Where heads stood over time, a panel for each (title, read, write); both are (step, cells) and add up to 1.

    Time runs downwards and the tape to the right, as in figures 1 and 6 of the paper: the write head is white, the read
    head orange, and darkness is where neither was.
    """
    from matplotlib.ticker import MaxNLocator

    figure = new_figure(0.8 + 2.4 * len(panels), 3.6)
    for ax, (title, read, write) in zip(figure.subplots(1, len(panels), squeeze=False)[0], panels):
        orange, white = np.array([1.0, 0.6, 0.1]), np.ones(3)
        shown = np.asarray(write)[..., None] * white + np.asarray(read)[..., None] * orange
        steps, cells = shown.shape[:2]
        place = (first_cell - 0.5, first_cell + cells - 0.5, steps - 0.5, -0.5)
        ax.imshow(np.clip(shown, 0, 1), aspect="auto", interpolation="nearest", extent=place)
        ax.xaxis.set_major_locator(MaxNLocator(6, integer=True))
        ax.yaxis.set_major_locator(MaxNLocator(8, integer=True))
        ax.set_title(title, fontsize=9)
        ax.set_xlabel("cell", fontsize=8)
        ax.tick_params(labelsize=7)
    figure.axes[0].set_ylabel("step", fontsize=8)
    return save_figure(figure, path)


def generalisation_grids(
    rows: Sequence[str],
    columns: Sequence[str],
    tables: Mapping[str, Sequence[Sequence[float | None]]],
    path: Any,
    *,
    title: str = "",
) -> Path:
    """Tables of percentages as heat maps under each other, such as the paper's and ours; None is left white."""
    figure = new_figure(2 + 0.52 * len(columns), (0.7 + 0.3 * len(rows)) * len(tables) + 0.4)
    for ax, (name, table) in zip(figure.subplots(len(tables), 1, squeeze=False)[:, 0], tables.items()):
        values = np.array([[np.nan if v is None else v for v in row] for row in table], dtype=float)
        ax.imshow(values, vmin=0, vmax=100, cmap="YlGnBu", aspect="auto")
        for (row, column), value in np.ndenumerate(values):
            if not np.isnan(value):
                colour = "white" if value > 60 else "black"
                ax.text(column, row, f"{value:.0f}", ha="center", va="center", fontsize=7, color=colour)
        ax.set_xticks(range(len(columns)), columns, fontsize=6)
        ax.set_yticks(range(len(rows)), rows, fontsize=7)
        ax.set_title(name, fontsize=8, loc="left")
    figure.suptitle(title, fontsize=10)
    return save_figure(figure, path)


def against_size(
    series: Mapping[str, tuple[Sequence[float], Sequence[float], Sequence[float], Sequence[float]]],
    path: Any,
    *,
    across: str,
    up: str,
    title: str = "",
) -> Path:
    """Lines of values against sizes with their intervals: for each name (sizes, values, low, high)."""
    figure = new_figure(5, 3.2)
    ax = figure.subplots()
    for colour, (name, (sizes, values, low, high)) in zip(COLOURS * 4, series.items()):
        ax.plot(sizes, values, "o-", color=colour, markersize=3, linewidth=1.2, label=name)
        ax.fill_between(sizes, low, high, color=colour, alpha=0.15, linewidth=0)
    ax.set_xlabel(across)
    ax.set_ylabel(up)
    ax.grid(color=GRID, linewidth=0.6)
    ax.legend(fontsize=7, frameon=False)
    ax.set_title(title, fontsize=10)
    return save_figure(figure, path)


def grouped_bars(
    groups: Sequence[str], bars: Mapping[str, Sequence[float]], path: Any, *, up: str, title: str = ""
) -> Path:
    """Bars side by side in groups: for each name a bar in every group."""
    figure = new_figure(6, 3.2)
    ax, width = figure.subplots(), 0.8 / len(bars)
    for number, (colour, (name, heights)) in enumerate(zip(COLOURS * 4, bars.items())):
        ax.bar(np.arange(len(groups)) + (number + 0.5) * width - 0.4, heights, width, color=colour, label=name)
    ax.axhline(0, color="black", linewidth=0.8)
    ax.set_xticks(range(len(groups)), groups, fontsize=8)
    ax.set_ylabel(up)
    ax.grid(color=GRID, linewidth=0.6, axis="y")
    ax.set_axisbelow(True)
    ax.legend(fontsize=7, frameon=False)
    ax.set_title(title, fontsize=10)
    return save_figure(figure, path)
