"""Plots of measurements: how costs grow, the panels of experiments, and what was taught.

A plot of teaching shows where heads stood, which settings generalise, or errors against difficulty.
"""

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from kleene.errors import InputError
from kleene.pictures.figures import new_figure, save_figure, set_legend, set_title
from kleene.pictures.lines import Line as Line
from kleene.pictures.lines import Panel as Panel
from kleene.pictures.lines import draw_panel, plain_numbers
from kleene.pictures.style import (
    BLUE,
    HIGH,
    INK,
    LINE,
    MARK,
    PAGE,
    PANEL,
    PAPER,
    QUIET,
    SHADES,
    colour_of,
    dress,
    mark_of,
    write_number,
)

COLUMNS = 2  # panels in a row


def cost_curves(rows: Sequence[dict[str, Any]], path: Any, *, title: str = "") -> Path:
    """Draw cost against size for records of `kleene bench` that have an `against`, and return the path.

    Each unit has a row of panels, which share its axis. Axes are logarithmic, so that a power law is a line; each panel
    names the slope between its last two points.
    """
    units: dict[str, dict[str, list[tuple[float, float]]]] = {}
    for row in rows:
        if "against" in row:
            unit = "seconds" if row["unit"] == "s" else row["unit"]
            units.setdefault(unit, {}).setdefault(row["against"], []).append((row["size"], row["ours"]))
    if not units:
        raise InputError("these measurements have no cost that grows with a size, so there is nothing to plot")
    columns = max(map(len, units.values()))
    figure = new_figure(max(PANEL, PAGE / 3 * columns), HIGH * len(units))
    grid = figure.subplots(len(units), columns, sharey="row", squeeze=False)
    for axes, (unit, panels) in zip(grid, units.items()):
        _draw_costs(axes, unit, panels)
    set_title(figure, title)
    return save_figure(figure, path)


def _draw_costs(axes: Sequence[Any], unit: str, panels: Mapping[str, Sequence[tuple[float, float]]]) -> None:
    """Draw the costs of one unit beside each other; the first of the axes has the numbers of all."""
    from matplotlib.ticker import LogLocator

    for ax, (against, points) in zip(axes, panels.items()):
        sizes, costs = zip(*points)
        ax.loglog(sizes, costs, "o-", color=BLUE, markersize=MARK, linewidth=LINE)
        ax.set_xticks(sizes, [f"{s:g}" for s in sizes])
        ax.minorticks_off()
        dress(ax, against, "", name=f"slope at the end {_slope(points):.2f}")
    for ax in axes[len(panels) :]:
        ax.set_axis_off()
    axes[0].yaxis.set_major_locator(LogLocator(subs=(1, 2, 5), numticks=20))
    plain_numbers(axes[0].yaxis)
    axes[0].set_ylabel(unit)


def _slope(points: Sequence[tuple[float, float]]) -> float:
    """The exponent of the power law through the last two points."""
    if len(points) < 2:
        return math.nan
    (x, y), (x2, y2) = points[-2:]
    return math.log(y2 / y) / math.log(x2 / x)


def line_panels(panels: Mapping[str, Panel], path: Any, *, title: str = "") -> Path:
    """Draw a panel for each title, with one legend for all lines below, and return the path."""
    rows = -(-len(panels) // COLUMNS)
    columns = min(COLUMNS, len(panels))
    figure = new_figure(PANEL * columns, HIGH * rows + 0.2)
    axes = figure.subplots(rows, columns, squeeze=False).ravel()
    handles: dict[str, Any] = {}
    for ax, (name, panel) in zip(axes, panels.items()):
        handles = draw_panel(ax, name, panel) | handles
    for ax in axes[len(panels) :]:
        ax.set_axis_off()
    set_legend(figure, dict(sorted(handles.items(), key=lambda named: _order(panels, named[0]))))
    set_title(figure, title)
    return save_figure(figure, path)


def _order(panels: Mapping[str, Panel], label: str) -> int:
    """Where a line's name first occurs."""
    return list(dict.fromkeys(name for panel in panels.values() for name in panel.lines)).index(label)


def head_positions(panels: Sequence[tuple[str, np.ndarray, np.ndarray]], path: Any, *, first_cell: int = 0) -> Path:
    """Draw where heads stood over time and return the path.

    There is a panel for each (title, read, write), where both are (step, cells) with rows that sum to 1. Time runs
    downwards and the tape to the right, as in figures 1 and 6 of the partial-traces paper: the write head is white, the
    read head orange, and cells under no head are black.
    """
    from matplotlib.ticker import MaxNLocator

    figure = new_figure(max(PANEL, PAGE / 3 * len(panels)), PANEL)
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
        dress(ax, "cell", "", name=title, grid=False)
    figure.axes[0].set_ylabel("step")
    return save_figure(figure, path)


def generalisation_grids(
    rows: Sequence[str],
    columns: Sequence[str],
    tables: Mapping[str, Sequence[Sequence[float | None]]],
    path: Any,
    *,
    across: str = "density of the hints, and their weight λ",
    up: str = "kind of hint",
    title: str = "",
) -> Path:
    """Draw tables of percentages, such as the paper's and ours, as heat maps below each other; None is left white."""
    wide = 1.0 + 0.37 * len(columns)
    figure = new_figure(max(PANEL, wide), (0.75 + 0.22 * len(rows)) * len(tables) + 0.4)
    axes = figure.subplots(len(tables), 1, squeeze=False)[:, 0]
    for ax, (name, table) in zip(axes, tables.items()):
        values = np.array([[np.nan if v is None else v for v in row] for row in table], dtype=float)
        ax.imshow(values, vmin=0, vmax=100, cmap=SHADES, aspect="auto")
        for (row, column), value in np.ndenumerate(values):
            if not np.isnan(value):
                write_number(ax, column, row, f"{value:.0f}", value / 100)
        ax.set_xticks(range(len(columns)), columns)
        ax.set_yticks(range(len(rows)), rows)
        dress(ax, across if ax is axes[-1] else "", up, name=name, grid=False)
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
    lines = {name: Line(*found, colour=number) for number, (name, found) in enumerate(series.items())}
    figure = new_figure(PANEL, HIGH + 0.2)
    set_legend(figure, draw_panel(figure.subplots(), "", Panel(lines, across, up, marks="o")))
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
    figure = new_figure(PANEL, HIGH + 0.2)
    ax, drawn, names = figure.subplots(), {}, list(dict.fromkeys(c for found in series.values() for c in found))
    for number, (name, found) in enumerate(series.items()):
        colour = colour_of(number)
        places = [names.index(c) + 0.5 * ((number + 1) / (len(series) + 1) - 0.5) for c in found]
        low, middle, high = ([_reached_by(share, runs) for runs in found.values()] for share in (0.1, 0.5, 0.9))
        kept = [math.nan if value is None else value for value in middle]
        (drawn[name],) = ax.plot(places, kept, mark_of(number) + "-", color=colour, markersize=MARK, linewidth=LINE)
        for place, bottom, median, top in zip(places, low, middle, high):
            _open_bar(ax, place, bottom, median, top, cap, colour)
    runs_of_all = [runs for found in series.values() for runs in found.values()]
    if any(_reached_by(0.5, runs) is None for runs in runs_of_all):
        drawn[f"median not reached within {cap:,g}"] = _hollow(ax, [], [], QUIET)
    if any(_reached_by(0.9, runs) is None for runs in runs_of_all):
        drawn[f"90% not reached within {cap:,g}"] = _arrow(ax, [], [], QUIET)
    ax.set_xticks(range(len(names)), names)
    dress(ax, across, up)
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
    look = {"marker": "^", "markersize": 6, "markerfacecolor": PAPER, "linestyle": "none", "color": colour}
    return ax.plot(places, values, **look)[0]


HATCHES = ("", "////", "\\\\\\\\", "....")  # of bars, beside their colours


def grouped_bars(
    groups: Sequence[str], bars: Mapping[str, Sequence[float]], path: Any, *, across: str = "", up: str, title: str = ""
) -> Path:
    """Draw bars side by side in groups: every name has one bar in each group."""
    figure = new_figure(PANEL, HIGH + 0.2)
    ax, width, drawn = figure.subplots(), 0.8 / len(bars), {}
    for number, (name, heights) in enumerate(bars.items()):
        look = {"color": colour_of(number), "hatch": HATCHES[number % len(HATCHES)], "edgecolor": PAPER, "linewidth": 0}
        drawn[name] = ax.bar(np.arange(len(groups)) + (number + 0.5) * width - 0.4, heights, width, **look)
    ax.axhline(0, color=INK, linewidth=LINE / 2)
    ax.set_xticks(range(len(groups)), groups)
    dress(ax, across, up)
    ax.grid(visible=False, axis="x")
    set_legend(figure, drawn)
    set_title(figure, title)
    return save_figure(figure, path)
