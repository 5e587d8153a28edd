"""A trace as a picture: rows are steps, columns are channels and positions, and changed entries are coloured."""

from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from kleene.errors import InputError
from kleene.pictures.figures import Picture, figure_bytes, new_figure
from kleene.pictures.style import CHANGED, GROUND, INK, PLAIN, QUIET, letters
from kleene.traces import Channel, Trace

MOST_CELLS = 2_000  # a larger table cannot be read
LETTER, ROW, GAP = 0.085, 0.22, 1.5  # inches of a letter and of a row; letters between two channels


@dataclass(frozen=True)
class Column:
    """One position of a channel: its entry at each step, and whether it differs from the step before."""

    head: str
    cells: tuple[str, ...]
    changed: tuple[bool, ...]

    @property
    def width(self) -> int:
        return max(map(letters, (self.head, *self.cells))) + 2


def trace_picture(trace: Trace, *, force: bool = False, most: int = MOST_CELLS) -> Picture:
    """The table of a trace as a picture; more than `most` cells are refused unless you `force` it."""
    sizes = {c.name: _positions(trace, c) for c in trace.channels}
    cells = (trace.steps + 1) * sum(sizes.values())
    if cells > most and not force:
        raise InputError(
            f"a picture of a trace with {cells:,} entries cannot be read, and {most:,} is the limit. Print the trace, "
            f"take a shorter input, or draw it all the same (force=True)."
        )
    blocks = {c.name: _columns(trace, c, sizes[c.name]) for c in trace.channels}
    figure = partial(_painted, blocks, trace.steps + 1)
    svg = figure_bytes(figure()).decode()
    facts = {"steps": trace.steps, "channels": [c.name for c in trace.channels]}
    return Picture(f"Trace of {trace.steps} steps", svg, figure, f"channels: {', '.join(sizes)}", facts)


def _positions(trace: Trace, channel: Channel) -> int:
    shape = trace.data[channel.name].shape[1 : trace.data[channel.name].ndim - len(channel.entry_shape)]
    return int(np.prod(shape))


def _columns(trace: Trace, channel: Channel, positions: int) -> list[Column]:
    """The columns of a channel, one for each position; a channel without positions has one."""
    steps = trace.steps + 1
    data = trace.data[channel.name].reshape(steps, positions, *channel.entry_shape)
    found = []
    for position in range(positions):
        entries = data[:, position]
        cells = [channel.show(entry) for entry in entries]
        differs = [False, *(bool(x) for x in channel.differs(entries[1:], entries[:-1]))]
        if channel.per_step:
            cells[0] = ""
            differs = [False] * steps
        found.append(Column(str(position) if positions > 1 else "", tuple(cells), tuple(differs)))
    return found


def _painted(blocks: dict[str, list[Column]], rows: int) -> Any:
    """The figure of the columns of each channel, steps downwards."""
    first = len(str(rows)) + 3
    across = first + sum(max(len(n) + 1, sum(c.width for c in block)) + GAP for n, block in blocks.items())
    figure = new_figure(across * LETTER, (rows + 2.5) * ROW)
    figure.set_layout_engine("none")
    ax = figure.add_axes((0, 0, 1, 1))
    ax.set_xlim(0, across)
    ax.set_ylim(rows + 0.2, -2.3)  # downwards, with room for two lines of headings
    ax.axis("off")
    for step in range(rows):
        _text(ax, first / 2, step + 0.5, str(step), QUIET)
    left = float(first)
    for name, block in blocks.items():
        wide = sum(column.width for column in block)
        _text(ax, left + max(wide, len(name)) / 2, -1.6, name, INK, weight="bold")
        at = left + max(0.0, (len(name) - wide) / 2)
        for column in block:
            _paint_column(ax, column, at)
            at += column.width
        left += max(len(name) + 1, wide) + GAP
    return figure


def _paint_column(ax: Any, column: Column, left: float) -> None:
    from matplotlib.patches import Rectangle

    middle = left + column.width / 2
    _text(ax, middle, -0.5, column.head, QUIET)
    for step, (cell, changed) in enumerate(zip(column.cells, column.changed)):
        corner, size = (left + 0.1, step + 0.06), (column.width - 0.2, 0.88)
        ax.add_patch(Rectangle(corner, *size, facecolor=CHANGED if changed else GROUND, edgecolor="none"))
        _text(ax, middle, step + 0.5, cell, INK)


def _text(ax: Any, x: float, y: float, text: str, colour: str, *, weight: str = "normal") -> None:
    look = {"fontsize": PLAIN, "color": colour, "fontweight": weight, "parse_math": False}
    ax.text(x, y, text, ha="center", va="center", **look)
