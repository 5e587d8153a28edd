"""A program and a network side by side: a variable by layer and position in both, and what probes read of it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from kleene.pictures.figures import new_figure, save_figure, set_legend, set_title
from kleene.pictures.lines import Line, Panel, draw_panel
from kleene.pictures.style import HIGH, INK, LINE, PAGE, PALE_SHADES, SHADES, SMALL, WRONG, dress

MOST = (14, 24)  # layers and positions of a heat map up to which values are written into it
PALE = 2.2  # how far the scale goes beyond the largest value, so that values can be read in every cell
TICKS = 8  # of an axis of a heat map, at most


@dataclass(frozen=True, eq=False)
class VariablePanel:
    """What is drawn of one variable.

    `program` and `network` are (layer, position), -1 where nothing is defined, or None. `probes` is (layers, steps):
    the share of the entries of the program's steps that are read at the network's layers. `lines` are shares by layer.
    """

    name: str
    program: np.ndarray | None
    network: np.ndarray | None
    layers: Sequence[int]
    steps: Sequence[int]
    probes: np.ndarray
    lines: Mapping[str, Sequence[float] | None]


def compared_panels(panels: Sequence[VariablePanel], word: Sequence[int], path: Any, *, title: str = "") -> Path:
    """Draw two rows of panels for each variable, and return the path.

    They are the program's values, the network's with a red frame where they differ, the probes by layer and step, and
    those for the step of the same number beside an untrained network.
    """
    figure = new_figure(PAGE, 2 * HIGH * len(panels) + 0.6)
    axes, handles = figure.subplots(2 * len(panels), 2, squeeze=False).reshape(-1, 4), {}
    for row, panel in zip(axes, panels):
        _draw_values(row[0], panel.program, None, word, f"{panel.name}: program")
        _draw_values(row[1], panel.network, panel.program, word, f"{panel.name}: network")
        _draw_probes(row[2], panel)
        handles |= _draw_lines(row[3], panel)
    set_legend(figure, handles)
    set_title(figure, title)
    return save_figure(figure, path)


def _draw_values(ax: Any, values: np.ndarray | None, wanted: np.ndarray | None, word: Sequence[int], name: str) -> None:
    """Layers downwards, positions to the right; a red frame where the values differ from those that are wanted."""
    from matplotlib.patches import PathPatch
    from matplotlib.path import Path as Outline

    if values is None:
        ax.set_axis_off()
        return
    shown = np.where(values < 0, np.nan, values).astype(float)
    defined = [array.max() for array in (values, wanted) if array is not None and array.size]
    ax.imshow(shown, cmap=PALE_SHADES, vmin=-0.5, vmax=PALE * max(1, *defined), aspect="auto", interpolation="nearest")
    if all(size <= most for size, most in zip(shown.shape, MOST)):
        for (layer, position), value in np.ndenumerate(values):
            if value >= 0:
                ax.text(position, layer, str(value), ha="center", va="center", fontsize=SMALL, color=INK)
    if wanted is not None:
        corners = np.array([(-0.5, -0.5), (0.5, -0.5), (0.5, 0.5), (-0.5, 0.5), (-0.5, -0.5)])
        places = np.argwhere((wanted >= 0) & (wanted != values))[:, ::-1]
        if len(places):  # all frames are one path, which keeps files small
            frames = Outline.make_compound_path(*(Outline(place + corners) for place in places))
            ax.add_patch(PathPatch(frames, fill=False, edgecolor=WRONG, linewidth=LINE))
    if len(word) <= MOST[1]:
        ax.set_xticks(range(len(word)), [str(token) for token in word])
    dress(ax, "token" if len(word) <= MOST[1] else "position", "layer", name=name, grid=False)


def _draw_probes(ax: Any, panel: VariablePanel) -> None:
    ax.imshow(panel.probes, cmap=SHADES, vmin=0, vmax=1, aspect="auto", interpolation="nearest")
    for numbers, mark in ((panel.steps, ax.set_xticks), (panel.layers, ax.set_yticks)):
        every = -(-len(numbers) // TICKS)
        mark(range(0, len(numbers), every), [str(number) for number in numbers[::every]])
    dress(ax, "step of the program", "layer of the network", name=f"{panel.name}: probes (dark: 100%)", grid=False)


def _draw_lines(ax: Any, panel: VariablePanel) -> dict[str, Any]:
    lines = {
        name: Line(panel.layers, 100 * np.asarray(values, float), colour=number, dashed=number == 1)
        for number, (name, values) in enumerate(panel.lines.items())
        if values is not None
    }
    shown = Panel(lines, "layer of the network", "read, %", marks="o", limits=(-4, 104))
    return draw_panel(ax, f"{panel.name}: same step, by layer", shown)
