"""A program and a network side by side: a variable by layer and position in both, and what probes read of it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from kleene.pictures.figures import COLOURS, GRID, INK, new_figure, save_figure, set_legend, set_title

WIDTH, HEIGHT = 2.7, 2.3  # inches of a panel
WRONG = "#c0392b"
LETTERS = 150  # entries of a heat map up to which values are written into them


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
    """Draw a row for each variable, and return the path.

    A row has the program's values, the network's with a red frame where they differ, the probes by layer and step, and
    those for the step of the same number beside an untrained network.
    """
    figure = new_figure(4 * WIDTH, HEIGHT * len(panels) + 0.6)
    axes, handles = figure.subplots(len(panels), 4, squeeze=False), {}
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

    ax.set_title(name, fontsize=8)
    if values is None:
        ax.set_axis_off()
        return
    shown = np.where(values < 0, np.nan, values).astype(float)
    defined = [array.max() for array in (values, wanted) if array is not None and array.size]
    ax.imshow(shown, cmap="Blues", vmin=-0.5, vmax=1.4 * max(1, *defined), aspect="auto", interpolation="nearest")
    if shown.size <= LETTERS:
        for (layer, position), value in np.ndenumerate(values):
            if value >= 0:
                ax.text(position, layer, str(value), ha="center", va="center", fontsize=5, color=INK)
    if wanted is not None:
        corners = np.array([(-0.5, -0.5), (0.5, -0.5), (0.5, 0.5), (-0.5, 0.5), (-0.5, -0.5)])
        places = np.argwhere((wanted >= 0) & (wanted != values))[:, ::-1]
        if len(places):  # all frames are one path, which keeps files small
            frames = Outline.make_compound_path(*(Outline(place + corners) for place in places))
            ax.add_patch(PathPatch(frames, fill=False, edgecolor=WRONG, linewidth=0.9))
    if len(word) <= 24:
        ax.set_xticks(range(len(word)), [str(token) for token in word])
    _dress(ax, "token" if len(word) <= 24 else "position", "layer")


def _draw_probes(ax: Any, panel: VariablePanel) -> None:
    ax.imshow(panel.probes, cmap="YlGnBu", vmin=0, vmax=1, aspect="auto", interpolation="nearest")
    for numbers, mark in ((panel.steps, ax.set_xticks), (panel.layers, ax.set_yticks)):
        every = -(-len(numbers) // 8)
        mark(range(0, len(numbers), every), [str(number) for number in numbers[::every]])
    ax.set_title(f"{panel.name}: probes (dark: 100%)", fontsize=8)
    _dress(ax, "step of the program", "layer of the network")


def _draw_lines(ax: Any, panel: VariablePanel) -> dict[str, Any]:
    drawn = {}
    for number, (name, values) in enumerate(panel.lines.items()):
        if values is not None:
            shares, style = 100 * np.asarray(values, float), ("o-", "o--", ":")[number % 3]
            (drawn[name],) = ax.plot(panel.layers, shares, style, color=COLOURS[number], markersize=2.5, linewidth=1.1)
    ax.set_ylim(-4, 104)
    ax.grid(color=GRID, linewidth=0.6)
    ax.set_title(f"{panel.name}: same step, by layer", fontsize=8)
    _dress(ax, "layer of the network", "read, %")
    return drawn


def _dress(ax: Any, across: str, up: str) -> None:
    ax.set_xlabel(across, fontsize=7)
    ax.set_ylabel(up, fontsize=7)
    ax.tick_params(labelsize=6)
