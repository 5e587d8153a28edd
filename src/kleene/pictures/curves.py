"""How a cost grows: measured points against size, one panel for each thing that grows."""

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from kleene.errors import InputError
from kleene.pictures.figures import BLUE, GRID, new_figure, save_figure, set_title


def cost_curves(rows: Sequence[dict[str, Any]], path: Any, *, title: str = "") -> Path:
    """The path of a picture (.svg, .png or .pdf) of the benchmark rows that say what they grow `against`.

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
