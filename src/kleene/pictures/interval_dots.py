"""Means with their intervals as dots and bars: a row for each thing that is judged, a colour for each group."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from kleene.errors import InputError
from kleene.pictures.figures import new_figure, save_figure, set_legend, set_title
from kleene.pictures.style import INK, LINE, MARK, PAGE, QUIET, THIN, colour_of, dress, mark_of

ROW, DOT = 0.1, 0.075  # inches between rows, and for each dot of a row
SPREAD = 0.7  # of a row's height, in which its dots lie

Interval = tuple[float, float, float]  # mean, low, high
DotPanel = Mapping[str, Mapping[str, Interval]]  # by row, and then by group


def interval_dots(
    panels: Mapping[str, DotPanel],
    path: Any,
    *,
    across: str,
    title: str = "",
    limits: tuple[float, float] | None = None,
) -> Path:
    """Draw panels side by side, with the rows of the first from top to bottom, and return the path.

    A group that a row does not have is left out there.
    """
    rows = list(next(iter(panels.values()), {}))
    groups = list(dict.fromkeys(group for panel in panels.values() for row in panel.values() for group in row))
    if not rows or not groups:
        raise InputError("there is no interval to draw")
    figure = new_figure(PAGE, 0.9 + len(rows) * (ROW + DOT * len(groups)))
    axes = figure.subplots(1, len(panels), sharex=True, sharey=True, squeeze=False)[0]
    handles: dict[str, Any] = {}
    for ax, (name, panel) in zip(axes, panels.items()):
        handles |= _draw(ax, panel, rows, groups)
        ax.axvline(0, color=QUIET, linewidth=THIN)
        if limits is not None:
            ax.set_xlim(*limits)
        dress(ax, across, "", name=name)
        ax.grid(visible=False, axis="y")
    axes[0].set_yticks(range(len(rows)), rows, color=INK)
    axes[0].set_ylim(len(rows) - 0.5, -0.5)
    for ax in axes:
        for edge in range(1, len(rows)):
            ax.axhline(edge - 0.5, color=QUIET, linewidth=THIN / 2, alpha=0.4)
    set_legend(figure, {group: handles[group] for group in groups})
    set_title(figure, title)
    return save_figure(figure, path)


def _draw(ax: Any, panel: DotPanel, rows: Sequence[str], groups: Sequence[str]) -> dict[str, Any]:
    """The handles of a legend, by group."""
    from matplotlib.lines import Line2D

    handles = {}
    for number, group in enumerate(groups):
        aside = SPREAD * ((number + 0.5) / len(groups) - 0.5)
        places = [(place + aside, panel[row][group]) for place, row in enumerate(rows) if group in panel.get(row, {})]
        colour, mark = colour_of(number), mark_of(number)
        heights = [height for height, _ in places]
        means, lows, highs = ([found[side] for _, found in places] for side in range(3))
        ax.hlines(heights, lows, highs, color=colour, linewidth=LINE)
        ax.plot(means, heights, linestyle="none", marker=mark, markersize=MARK, color=colour, label=group)
        handles[group] = Line2D([], [], color=colour, marker=mark, markersize=MARK, linewidth=LINE)
    return handles
