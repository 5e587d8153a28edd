"""The values of a figure as tooltips: an invisible shape with a `<title>` over each point, bar and cell of its SVG."""

import math
from collections.abc import Iterator
from html import escape
from typing import Any

import numpy as np

MOST = 3_000  # values of one figure that get a tooltip; of more, every second or third point has one
RADIUS = 4.0  # points of the circle over a value
STYLE = 'fill="black" fill-opacity="0" pointer-events="all"'


def with_values(figure: Any, svg: str) -> str:
    """The SVG of a figure with a tooltip for each of its values; the figure has just been written."""
    shapes = [shape for ax in figure.axes for shape in _shapes(ax)]
    every = -(-len(shapes) // MOST)
    if not shapes:
        return svg
    height, scale = figure.get_figheight() * 72, 72 / figure.dpi
    drawn = "".join(_drawn(shape, height, scale) for shape in shapes[::every])
    before, _, after = svg.rpartition("</svg>")
    return f'{before}<g class="values" {STYLE}>{drawn}</g>\n</svg>{after}'


def _shapes(ax: Any) -> Iterator[tuple[np.ndarray, str]]:
    """Corners in pixels (one: a point) and the text of each value."""
    if hasattr(ax, "_colorbar") or not ax.get_visible():
        return
    across, up = _named(ax.xaxis, ax.get_xlabel()), _named(ax.yaxis, ax.get_ylabel())
    unit = " ".join(ax.get_ylabel().split())
    unit = f" ({unit})" if unit else ""
    for line in ax.get_lines():
        placed = line.get_transform()  # perhaps beside its values, where lines coincide
        if placed in (ax.get_xaxis_transform(), ax.get_yaxis_transform()):  # a rule across the panel, such as at zero
            continue
        name = _label(line)
        for x, y in zip(*map(np.asarray, (line.get_xdata(), line.get_ydata()))):
            if _finite(x, y):
                yield placed.transform([(x, y)]), f"{name}{across(x)}: {_number(y)}{unit}"
    for bars in ax.containers:
        for bar in getattr(bars, "patches", ()):
            corners = [bar.get_xy(), (bar.get_x() + bar.get_width(), bar.get_y() + bar.get_height())]
            if _finite(*np.ravel(corners)):
                group = across(round(bar.get_x() + bar.get_width() / 2))
                yield ax.transData.transform(corners), f"{_label(bars)}{group}: {_number(bar.get_height())}{unit}"
    for image in ax.images:
        yield from _cells(ax, image, across, up)


def _cells(ax: Any, image: Any, across: Any, up: Any) -> Iterator[tuple[np.ndarray, str]]:
    values = np.ma.filled(np.ma.asarray(image.get_array()).astype(float), np.nan)
    texts = getattr(image, "texts", None)  # of an image in colours, whose numbers are no values
    if values.ndim != 2 and texts is None:
        return
    left, right, bottom, top = image.get_extent()
    rows, columns = values.shape[:2]
    wide, high = (right - left) / columns, (bottom - top) / rows
    for row, column in np.ndindex(rows, columns):
        told = _number(float(values[row, column])) if texts is None else texts[row][column]
        if texts is not None or not np.isnan(values[row, column]):
            corner = (left + wide * column, top + high * row)
            corners = [corner, (corner[0] + wide, corner[1] + high)]
            where = f"{up(corner[1] + high / 2)}, {across(corner[0] + wide / 2)}"
            yield ax.transData.transform(corners), f"{where}: {told}"


def _named(axis: Any, label: str) -> Any:
    """A function that writes a value of an axis as its ticks do, with the axis's label."""
    from matplotlib.ticker import FixedLocator

    ticks = {}
    if isinstance(axis.get_major_locator(), FixedLocator):  # the ticks were named one by one
        names = (label.get_text() for label in axis.get_majorticklabels())
        ticks = dict(zip(np.asarray(axis.get_majorticklocs(), float).tolist(), names))
    label = " ".join(label.split())

    def written(value: float) -> str:
        text = ticks.get(round(float(value), 9)) or _number(value)
        return f"{label} {text}".strip()

    return written


def _number(value: float) -> str:
    return f"{float(value):,.6g}"


def _label(artist: Any) -> str:
    """The name of a line or of bars, as the legend has it."""
    label = str(artist.get_label() or "")
    return "" if label.startswith("_") else f"{label}: "


def _finite(*values: Any) -> bool:
    return all(isinstance(value, (int, float, np.number)) and math.isfinite(value) for value in values)


def _drawn(shape: tuple[np.ndarray, str], height: float, scale: float) -> str:
    places, text = shape
    x, y = places[:, 0] * scale, height - places[:, 1] * scale
    title = f"<title>{escape(text)}</title>"
    if len(places) == 1:
        return f'<circle cx="{x[0]:.1f}" cy="{y[0]:.1f}" r="{RADIUS:g}">{title}</circle>'
    size = f'width="{abs(x[1] - x[0]):.1f}" height="{abs(y[1] - y[0]):.1f}"'
    return f'<rect x="{x.min():.1f}" y="{y.min():.1f}" {size}>{title}</rect>'
