"""Pictures of what was taught: where heads went, which settings generalise, and errors against difficulty."""

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from textwrap import fill
from typing import Any

import numpy as np

from kleene.pictures.figures import COLOURS, GRID, LETTERS, new_figure, save_figure, set_legend, set_title

QUIET = "#555555"  # of what belongs to no series


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
    """Lines of values against sizes with their intervals: for each name (sizes, values, low, high)."""
    figure = new_figure(5, 3.6)
    ax, drawn = figure.subplots(), {}
    for colour, (name, (sizes, values, low, high)) in zip(COLOURS * 4, series.items()):
        (drawn[name],) = ax.plot(sizes, values, "o-", color=colour, markersize=3, linewidth=1.2)
        ax.fill_between(sizes, low, high, color=colour, alpha=0.15, linewidth=0)
    _dress(ax, across, up)
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
    """How much runs needed until they got there, under each of some conditions; for each name, condition: runs.

    A line goes through the medians, and bars reach from the 10th to the 90th of 100 runs. None is a run that did not
    get there up to the `cap`: it counts as more than any number, and what it decides is open. A median of that kind is
    a hollow triangle at the cap, without a line to it, and a bar ends there in an arrow.
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
    _dress(ax, across, up)
    ax.set_ylim(0, cap * 1.08)
    ax.yaxis.set_major_formatter(lambda value, _: f"{value:,.0f}")
    set_legend(figure, drawn)
    set_title(figure, title)
    return save_figure(figure, path)


def _reached_by(share: float, runs: Sequence[float | None]) -> float | None:
    """The least number by which a share of the runs got there; None if that many did not.

    >>> _reached_by(0.5, [3, None, 1, 2]), _reached_by(0.9, [3, None, 1, 2])
    (2, None)
    """
    reached = sorted(value for value in runs if value is not None)
    wanted = max(1, math.ceil(share * len(runs)))
    return reached[wanted - 1] if wanted <= len(reached) else None


def _open_bar(
    ax: Any, place: float, low: float | None, middle: float | None, high: float | None, cap: float, colour: str
) -> None:
    """A bar from `low` to `high`; what is None is open, and drawn at the cap."""
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
    """Bars side by side in groups: for each name a bar in every group."""
    figure = new_figure(6, 3.5)
    ax, width, drawn = figure.subplots(), 0.8 / len(bars), {}
    for number, (colour, (name, heights)) in enumerate(zip(COLOURS * 4, bars.items())):
        drawn[name] = ax.bar(np.arange(len(groups)) + (number + 0.5) * width - 0.4, heights, width, color=colour)
    ax.axhline(0, color="black", linewidth=0.8)
    ax.set_xticks(range(len(groups)), groups)
    _dress(ax, "", up)
    ax.grid(visible=False, axis="x")
    ax.set_axisbelow(True)
    set_legend(figure, drawn)
    set_title(figure, title)
    return save_figure(figure, path)


def _dress(ax: Any, across: str, up: str) -> None:
    ax.set_xlabel(across, fontsize=9)
    ax.set_ylabel(up, fontsize=9)
    ax.tick_params(labelsize=8)
    ax.grid(color=GRID, linewidth=0.6)
