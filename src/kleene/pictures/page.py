"""Where a diagram stands on its page, with its caption below it, and the heads of its arrows."""

from dataclasses import dataclass
from textwrap import wrap

import numpy as np

from kleene.pictures.geometry import HEAD, RADIUS, label_sizes, points_at
from kleene.pictures.graphs import Graph
from kleene.pictures.routing import Drawing
from kleene.pictures.walks import Walk

MARGIN = 24.0
NARROWEST = 48  # characters in a line of the caption, at the least
LETTER, ROW = 6.4, 17.0  # how wide and high the caption's letters are


@dataclass(frozen=True)
class Page:
    """The corner and the size of a picture, in pixels, and the lines of its caption, each with its place."""

    left: float
    top: float
    wide: float
    tall: float
    caption: tuple[tuple[float, float, str], ...]


def page_of(graph: Graph, drawing: Drawing, walk: Walk) -> Page:
    """A page that is as large as the drawing and its caption need."""
    low, high = _extent(graph, drawing)
    width, height = (float(side) for side in high - low)
    lines = [part for text in (walk.caption, graph.note) for part in wrap(text, max(NARROWEST, int(width / LETTER)))]
    wide = max([width, *(len(line) * LETTER + 2 * MARGIN for line in lines)])
    left, top = float(low[0]) - (wide - width) / 2, float(low[1])
    caption = tuple((left + wide / 2, top + height + ROW * k, line) for k, line in enumerate(lines))
    return Page(left, top, wide, height + ROW * len(lines), caption)


def head_of(curve: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The three corners of an arrow's head, and the point in it at which the arrow's line ends."""
    tip = curve[3]
    way = tip - _before(curve, HEAD)
    way = way / max(float(np.hypot(*way)), 1e-6)
    side = np.array([-way[1], way[0]]) * HEAD * 0.42
    return np.stack([tip, tip - way * HEAD + side, tip - way * HEAD - side]), tip - way * HEAD * 0.7


def _extent(graph: Graph, drawing: Drawing) -> tuple[np.ndarray, np.ndarray]:
    """The corners of the picture."""
    nodes = np.stack([drawing.half_widths, np.full(len(drawing.half_widths), RADIUS)], axis=1)
    lows, highs = [drawing.places - nodes], [drawing.places + nodes]
    times = np.linspace(0, 1, 21)
    for curve in (*drawing.curves, drawing.start):
        lows.append(points_at(curve, times))
        highs.append(lows[-1])
    for middle, size in zip(drawing.labels, label_sizes(graph)):
        lows.append((middle - size / 2)[None])
        highs.append((middle + size / 2)[None])
    return np.concatenate(lows).min(0) - MARGIN, np.concatenate(highs).max(0) + MARGIN


def _before(curve: np.ndarray, distance: float) -> np.ndarray:
    """The point of a curve at some distance before its end."""
    found = points_at(curve, np.linspace(0.5, 1, 101))
    away = np.linalg.norm(found - curve[3], axis=1)
    return found[int(np.argmin(np.abs(away - distance)))]
