"""One panel of lines with their intervals, which stay apart where they lie on each other.

A line that others cover is drawn wider below them. Where there are few sizes, lines are moved apart sideways by a few
points of the paper; their data stay what they are.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from kleene.pictures.style import BAND, HEAVY, LINE, MARK, PAPER, THIN, colour_of, dress, mark_of

Numbers = Sequence[float] | np.ndarray
FEW = 6  # sizes up to which lines are moved apart
APART = 3.2  # points between lines that are moved apart
TOLD = 3  # lines that colours alone tell apart; more have marks
NEAR, MOST = 0.012, 0.9  # lines coincide that are nearer than this share of the panel, at more than this share of sizes
MANY = 20  # points of a line beyond which only some are marked
NARROW = 100  # ratio of logarithmic values below which powers of ten alone are too few ticks
TICKS = 6  # sizes of a logarithmic axis that are all written


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
    marks: str = ""  # "o": every point has the mark of its line's colour
    log: bool = False  # logarithmic values
    log_across: bool = False  # logarithmic sizes
    limits: tuple[float, float] | None = None


def draw_panel(ax: Any, name: str, panel: Panel) -> dict[str, Any]:
    """Draw the panel, and return what a legend shows by the names of its lines."""
    lines, handles = list(panel.lines.values()), {}
    above = _coinciding(lines, panel)
    sizes = {float(size) for line in lines for size in line.across}
    moved = APART if len(sizes) <= FEW and all(line.joined for line in lines) else 0.0
    marked = bool(panel.marks) or len({line.colour for line in lines}) > TOLD
    for number, (label, line) in enumerate(panel.lines.items()):
        aside = moved * (number - (len(lines) - 1) / 2)
        every = None if panel.marks and len(line.across) <= MANY else _some(len(line.across), number, len(lines))
        mark = mark_of(line.colour) if marked else ""
        handles[label] = _draw(ax, line, mark, every, width=LINE + HEAVY * above[number], aside=aside)
        ax.get_lines()[-1].set_label(label)  # for the values on hover
    _scale(ax, panel, sizes)
    dress(ax, panel.across, panel.up, name=name)
    return handles


def _draw(ax: Any, line: Line, mark: str, every: tuple[int, int] | None, *, width: float, aside: float) -> Any:
    from matplotlib.transforms import ScaledTranslation

    colour, style = colour_of(line.colour), "none" if not line.joined else "--" if line.dashed else "-"
    face, covered = PAPER if line.dashed else colour, width > LINE
    look = {"marker": mark, "markersize": MARK, "markerfacecolor": face, "markevery": every}
    look |= {"linestyle": style, "linewidth": width, "alpha": 0.5 if covered else 1.0}
    drawn = ax.plot(line.across, line.values, color=colour, **look)
    if len(line.low) == 1:  # a band of one size has no area
        drawn.append(ax.vlines(line.across, line.low, line.high, color=colour, linewidth=LINE, alpha=0.6))
    elif len(line.low):
        low, high = (np.asarray(side, float) for side in (line.low, line.high))
        edge = {"facecolor": (colour, BAND), "edgecolor": (colour, 0.45), "linewidth": THIN}
        drawn.append(ax.fill_between(line.across, low, high, linestyle="--" if line.dashed else "-", **edge))
    if aside:  # only now, because axes find their limits from what is drawn in their own coordinates
        for artist in drawn:
            artist.set_transform(ax.transData + ScaledTranslation(aside / 72, 0, ax.get_figure().dpi_scale_trans))
    return _entry(colour, mark, style, face)


def _entry(colour: str, mark: str, style: str, face: str) -> Any:
    """What a legend shows of a line: its usual width, whatever lies on it."""
    from matplotlib.lines import Line2D

    look: dict[str, Any] = {"color": colour, "marker": mark, "linestyle": style, "markerfacecolor": face}
    return Line2D([], [], markersize=MARK, linewidth=LINE, **look)


def _some(points: int, number: int, lines: int) -> tuple[int, int]:
    """The first marked point of a curve, and how far the next ones are; the marks of several curves take turns."""
    step = max(1, points // 6)
    return (number * step // max(1, lines)) % max(1, points), step


def _coinciding(lines: Sequence[Line], panel: Panel) -> list[int]:
    """How many later lines lie on each line, two at the most."""
    every = np.concatenate([np.asarray(line.values, float) for line in lines] or [np.zeros(1)])
    spread = np.ptp(panel.limits) if panel.limits else np.nanmax(every) - np.nanmin(every)
    found = []
    for number, line in enumerate(lines):
        mine = dict(zip(line.across, line.values))
        count = 0
        for other in lines[number + 1 :]:
            both = [abs(mine[x] - y) <= NEAR * spread for x, y in zip(other.across, other.values) if x in mine]
            count += len(both) > 1 and line.joined and other.joined and float(np.mean(both)) > MOST
        found.append(min(int(count), 2))
    return found


def _scale(ax: Any, panel: Panel, sizes: set[float]) -> None:
    from matplotlib.ticker import LogLocator, MaxNLocator

    if panel.log_across:
        ax.set_xscale("log")
        ax.minorticks_off()
        if len(sizes) <= TICKS:
            ax.set_xticks(sorted(sizes))
        else:
            ax.xaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
        plain_numbers(ax.xaxis)
    else:
        ax.xaxis.set_major_locator(MaxNLocator(8, integer=True))  # words, edges, epochs
    if panel.log:
        ax.set_yscale("log")
        low, high = ax.get_ylim()
        if high < NARROW * low:
            ax.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
        plain_numbers(ax.yaxis)
    if panel.limits is not None:
        ax.set_ylim(*panel.limits)


def plain_numbers(axis: Any) -> None:
    """Write 10,000 and 0.00001 in place of powers of ten, which need fonts that not every machine has."""
    from matplotlib.ticker import NullFormatter

    axis.set_major_formatter(lambda value, _: f"{value:,.12f}".rstrip("0").rstrip("."))
    axis.set_minor_formatter(NullFormatter())
