"""Line plots: how costs grow with size, and the panels of experiments, lines with bands, solid or dashed."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from textwrap import fill
from typing import Any

import numpy as np

from kleene.errors import InputError
from kleene.pictures.figures import BLUE, COLOURS, GRID, LETTERS, new_figure, save_figure, set_legend, set_title


def cost_curves(rows: Sequence[dict[str, Any]], path: Any, *, title: str = "") -> Path:
    """Draw the benchmark rows that have a size to grow `against` (.svg, .png or .pdf) and return the path.

    Axes are logarithmic, so that a power law is a line; each panel names the slope between its last two points.
    """
    from matplotlib.ticker import FuncFormatter, LogLocator

    panels: dict[str, list[tuple[float, float]]] = {}
    unit = ""
    for row in rows:
        if "against" in row:
            panels.setdefault(row["against"], []).append((row["size"], row["value"]))
            unit = "seconds" if row["unit"] == "s" else row["unit"]
    if not panels:
        raise InputError("these measurements have no cost that grows with a size, so there is nothing to plot")
    figure = new_figure(3.2 * len(panels), 3)
    axes = figure.subplots(1, len(panels), sharey=True, squeeze=False)[0]
    for ax, (against, points) in zip(axes, panels.items()):
        sizes, costs = zip(*points)
        ax.loglog(sizes, costs, "o-", color=BLUE, markersize=4, linewidth=1.2)
        ax.set_xticks(sizes, [f"{s:g}" for s in sizes])
        ax.minorticks_off()
        ax.set_xlabel(against)
        ax.grid(color=GRID, linewidth=0.6)
        ax.set_title(f"slope at the end {_slope(points):.2f}", fontsize=8, color="#555555")
    axes[0].yaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
    axes[0].yaxis.set_major_formatter(FuncFormatter(lambda cost, _: f"{cost:,g}"))
    axes[0].set_ylabel(unit)
    set_title(figure, title)
    return save_figure(figure, path)


def _slope(points: Sequence[tuple[float, float]]) -> float:
    """The exponent of the power law through the last two points."""
    if len(points) < 2:
        return math.nan
    (x, y), (x2, y2) = points[-2:]
    return math.log(y2 / y) / math.log(x2 / x)


COLUMNS = 3  # panels in a row
WIDTH = 3.6  # inches of a panel


@dataclass(frozen=True)
class Line:
    """Values against sizes, with a band from `low` to `high`; lines of one colour number belong together."""

    across: Sequence[float]
    values: Sequence[float]
    low: Sequence[float] = ()
    high: Sequence[float] = ()
    colour: int = 0
    dashed: bool = False


@dataclass(frozen=True)
class Panel:
    """One plot: its lines by name, and what its axes are."""

    lines: Mapping[str, Line]
    across: str
    up: str
    marks: str = ""  # how points are marked, as matplotlib names it
    log: bool = False  # whether the values go up by powers
    limits: tuple[float, float] | None = None


def line_panels(panels: Mapping[str, Panel], path: Any, *, title: str = "") -> Path:
    """Draw a panel for each title, with one legend for all lines below, and return the path."""
    rows = -(-len(panels) // COLUMNS)
    columns = min(COLUMNS, len(panels))
    figure = new_figure(WIDTH * columns, 2.9 * rows + 0.3)
    axes = figure.subplots(rows, columns, squeeze=False).ravel()
    handles: dict[str, Any] = {}
    for ax, (name, panel) in zip(axes, panels.items()):
        for label, line in panel.lines.items():
            handles[label] = _draw(ax, line, panel.marks)
        _dress(ax, name, panel)
    for ax in axes[len(panels) :]:
        ax.set_axis_off()
    set_legend(figure, handles)
    set_title(figure, title)
    return save_figure(figure, path)


def _draw(ax: Any, line: Line, marks: str) -> Any:
    colour = COLOURS[line.colour % len(COLOURS)]
    style = "--" if line.dashed else "-"
    (drawn,) = ax.plot(line.across, line.values, marks + style, color=colour, markersize=3, linewidth=1.2)
    if len(line.low):
        low, high = (np.asarray(side, float) for side in (line.low, line.high))
        ax.fill_between(line.across, low, high, color=colour, alpha=0.12, linewidth=0)
    return drawn


def _dress(ax: Any, name: str, panel: Panel) -> None:
    from matplotlib.ticker import MaxNLocator

    ax.xaxis.set_major_locator(MaxNLocator(8, integer=True))  # words, edges, epochs
    if panel.log:
        ax.set_yscale("log")
    if panel.limits is not None:
        ax.set_ylim(*panel.limits)
    ax.set_xlabel(panel.across, fontsize=8)
    ax.set_ylabel(panel.up, fontsize=8)
    ax.tick_params(labelsize=7, which="both")
    ax.grid(color=GRID, linewidth=0.6)
    ax.set_title(fill(name, int(WIDTH * LETTERS)), fontsize=9)
