"""Plots of measurements: how costs grow, the panels of experiments, and what was taught.

A plot of teaching shows where heads stood, which settings generalise, or errors against difficulty.
"""

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
    """Draw cost against size for the benchmark rows that have an `against` (.svg, .png or .pdf); return the path.

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
Numbers = Sequence[float] | np.ndarray


@dataclass(frozen=True)
class Line:
    """Values against sizes, with a band from `low` to `high`. Lines that belong together share a colour number."""

    across: Numbers
    values: Numbers
    low: Numbers = ()
    high: Numbers = ()
    colour: int = 0
    dashed: bool = False
    joined: bool = True  # or points alone, with the panel's marks


@dataclass(frozen=True)
class Panel:
    """One plot: its lines by name, and the labels of its axes."""

    lines: Mapping[str, Line]
    across: str
    up: str
    marks: str = ""  # matplotlib's marker for the points
    log: bool = False  # logarithmic values
    log_across: bool = False  # logarithmic sizes
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
            handles[label].set_label(label)  # of this panel's line too, which the legend need not have
        _dress(ax, name, panel)
    for ax in axes[len(panels) :]:
        ax.set_axis_off()
    set_legend(figure, handles)
    set_title(figure, title)
    return save_figure(figure, path)


def _draw(ax: Any, line: Line, marks: str) -> Any:
    colour = COLOURS[line.colour % len(COLOURS)]
    style = "" if not line.joined else "--" if line.dashed else "-"
    (drawn,) = ax.plot(line.across, line.values, marks + style, color=colour, markersize=3, linewidth=1.2)
    if len(line.low):
        low, high = (np.asarray(side, float) for side in (line.low, line.high))
        ax.fill_between(line.across, low, high, color=colour, alpha=0.12, linewidth=0)
    return drawn


def _dress(ax: Any, name: str, panel: Panel) -> None:
    from matplotlib.ticker import MaxNLocator

    if panel.log_across:
        ax.set_xscale("log")
        ax.set_xticks(sorted({size for line in panel.lines.values() for size in line.across}))
        _plain_numbers(ax.xaxis)
    else:
        ax.xaxis.set_major_locator(MaxNLocator(8, integer=True))  # words, edges, epochs
    if panel.log:
        ax.set_yscale("log")
        _plain_numbers(ax.yaxis)
    if panel.limits is not None:
        ax.set_ylim(*panel.limits)
    ax.set_xlabel(panel.across, fontsize=8)
    ax.set_ylabel(panel.up, fontsize=8)
    ax.tick_params(labelsize=7, which="both")
    ax.grid(color=GRID, linewidth=0.6)
    ax.set_title(fill(name, int(WIDTH * LETTERS)), fontsize=9)


def _plain_numbers(axis: Any) -> None:
    """Write 100 in place of a power of ten, which needs fonts that not every machine has."""
    from matplotlib.ticker import NullFormatter

    axis.set_major_formatter(lambda value, _: f"{value:,.10g}")
    axis.set_minor_formatter(NullFormatter())


QUIET = "#555555"  # the colour of legend entries that belong to no series


def head_positions(panels: Sequence[tuple[str, np.ndarray, np.ndarray]], path: Any, *, first_cell: int = 0) -> Path:
    """Draw where heads stood over time and return the path.

    There is a panel for each (title, read, write), where both are (step, cells) with rows that sum to 1. Time runs
    downwards and the tape to the right, as in figures 1 and 6 of the partial-traces paper: the write head is white, the
    read head orange, and cells under no head are black.
    """
    from matplotlib.ticker import MaxNLocator

    figure = new_figure(0.8 + 2.4 * len(panels), 3.6)
    for ax, (title, read, write) in zip(figure.subplots(1, len(panels), squeeze=False)[0], panels):
        orange, white = np.array([1.0, 0.6, 0.1]), np.ones(3)
        shown = np.asarray(write)[..., None] * white + np.asarray(read)[..., None] * orange
        steps, cells = shown.shape[:2]
        place = (first_cell - 0.5, first_cell + cells - 0.5, steps - 0.5, -0.5)
        image = ax.imshow(np.clip(shown, 0, 1), aspect="auto", interpolation="nearest", extent=place)
        image.texts = [
            [f"read {r:.3g}, write {w:.3g}" for r, w in zip(*rows)] for rows in zip(np.asarray(read), np.asarray(write))
        ]
        ax.xaxis.set_major_locator(MaxNLocator(6, integer=True))
        ax.yaxis.set_major_locator(MaxNLocator(8, integer=True))
        ax.set_title(fill(title, int(2.2 * LETTERS)), fontsize=9)
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
    """Draw tables of percentages, such as the paper's and ours, as heat maps below each other; None is left white."""
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
    set_title(figure, title)
    return save_figure(figure, path)


def against_size(
    series: Mapping[str, tuple[Sequence[float], Sequence[float], Sequence[float], Sequence[float]]],
    path: Any,
    *,
    across: str,
    up: str,
    title: str = "",
) -> Path:
    """Draw values against sizes with their intervals; `series` has (sizes, values, low, high) by name."""
    figure = new_figure(5, 3.6)
    ax, drawn = figure.subplots(), {}
    for colour, (name, (sizes, values, low, high)) in zip(COLOURS * 4, series.items()):
        (drawn[name],) = ax.plot(sizes, values, "o-", color=colour, markersize=3, linewidth=1.2)
        ax.fill_between(sizes, low, high, color=colour, alpha=0.15, linewidth=0)
    _dress_axes(ax, across, up)
    set_legend(figure, drawn)
    set_title(figure, title)
    return save_figure(figure, path)


def until_reached(
    series: Mapping[str, Mapping[str, Sequence[float | None]]],
    path: Any,
    *,
    cap: float,
    across: str,
    up: str,
    title: str = "",
) -> Path:
    """Draw how much each run needed to reach its goal; `series` has the runs by name and condition.

    A line goes through the medians, and bars reach from the 10th to the 90th percentile of the runs. None is a run that
    did not reach its goal within the `cap`, and counts as more than any number. A median that was not reached is a
    hollow triangle at the cap, without a line to it; a bar whose upper end was not reached ends there in an arrow.
    """
    figure = new_figure(5, 3.8)
    ax, drawn, names = figure.subplots(), {}, list(dict.fromkeys(c for found in series.values() for c in found))
    for number, (colour, (name, found)) in enumerate(zip(COLOURS * 4, series.items())):
        places = [names.index(c) + 0.5 * ((number + 1) / (len(series) + 1) - 0.5) for c in found]
        low, middle, high = ([_reached_by(share, runs) for runs in found.values()] for share in (0.1, 0.5, 0.9))
        kept = [math.nan if value is None else value for value in middle]
        (drawn[name],) = ax.plot(places, kept, "o-", color=colour, markersize=4, linewidth=1.2)
        for place, bottom, median, top in zip(places, low, middle, high):
            _open_bar(ax, place, bottom, median, top, cap, colour)
    runs_of_all = [runs for found in series.values() for runs in found.values()]
    if any(_reached_by(0.5, runs) is None for runs in runs_of_all):
        drawn[f"median not reached within {cap:,g}"] = _hollow(ax, [], [], QUIET)
    if any(_reached_by(0.9, runs) is None for runs in runs_of_all):
        drawn[f"90% not reached within {cap:,g}"] = _arrow(ax, [], [], QUIET)
    ax.set_xticks(range(len(names)), names)
    _dress_axes(ax, across, up)
    ax.set_ylim(0, cap * 1.08)
    ax.yaxis.set_major_formatter(lambda value, _: f"{value:,.0f}")
    set_legend(figure, drawn)
    set_title(figure, title)
    return save_figure(figure, path)


def _reached_by(share: float, runs: Sequence[float | None]) -> float | None:
    """The least number within which this share of the runs reached its goal; None if fewer did.

    >>> _reached_by(0.5, [3, None, 1, 2]), _reached_by(0.9, [3, None, 1, 2])
    (2, None)
    """
    reached = sorted(value for value in runs if value is not None)
    wanted = max(1, math.ceil(share * len(runs)))
    return reached[wanted - 1] if wanted <= len(reached) else None


def _open_bar(
    ax: Any, place: float, low: float | None, middle: float | None, high: float | None, cap: float, colour: str
) -> None:
    """Draw a bar from `low` to `high`; None was not reached, and is drawn at the cap."""
    ax.vlines(place, cap if low is None else low, cap if high is None else high, color=colour, linewidth=1, alpha=0.5)
    if middle is None:
        _hollow(ax, [place], [cap], colour)
    elif high is None:
        _arrow(ax, [place], [cap], colour)


def _arrow(ax: Any, places: Sequence[float], values: Sequence[float], colour: str) -> Any:
    return ax.plot(places, values, marker="^", markersize=3.5, color=colour, alpha=0.6, linestyle="none")[0]


def _hollow(ax: Any, places: Sequence[float], values: Sequence[float], colour: str) -> Any:
    look = {"marker": "^", "markersize": 6, "markerfacecolor": "white", "linestyle": "none", "color": colour}
    return ax.plot(places, values, **look)[0]


def grouped_bars(
    groups: Sequence[str], bars: Mapping[str, Sequence[float]], path: Any, *, up: str, title: str = ""
) -> Path:
    """Draw bars side by side in groups: every name has one bar in each group."""
    figure = new_figure(6, 3.5)
    ax, width, drawn = figure.subplots(), 0.8 / len(bars), {}
    for number, (colour, (name, heights)) in enumerate(zip(COLOURS * 4, bars.items())):
        drawn[name] = ax.bar(np.arange(len(groups)) + (number + 0.5) * width - 0.4, heights, width, color=colour)
    ax.axhline(0, color="black", linewidth=0.8)
    ax.set_xticks(range(len(groups)), groups)
    _dress_axes(ax, "", up)
    ax.grid(visible=False, axis="x")
    ax.set_axisbelow(True)
    set_legend(figure, drawn)
    set_title(figure, title)
    return save_figure(figure, path)


def _dress_axes(ax: Any, across: str, up: str) -> None:
    ax.set_xlabel(across, fontsize=9)
    ax.set_ylabel(up, fontsize=9)
    ax.tick_params(labelsize=8)
    ax.grid(color=GRID, linewidth=0.6)
