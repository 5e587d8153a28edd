"""The state diagram of a graph, as SVG and as the same matplotlib figure for .png and .pdf files.

`thinning` leaves out what would hide the rest, `layouts` places the states, `routing` draws arrows and labels between
them, and `svg` writes the result.
"""

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np

from kleene.errors import InputError
from kleene.notation.graphs import Arrow, Node, StateGraph
from kleene.pictures.diagrams.layouts import STEP, layouts
from kleene.pictures.diagrams.routing import LINE, RADIUS, Drawing, half_widths, label_sizes, routed
from kleene.pictures.diagrams.svg import Page, head_of, page_of, written, written_below
from kleene.pictures.diagrams.thinning import near_walk, thinned
from kleene.pictures.figures import Picture, new_figure

MANY = 60  # a diagram of more states cannot be read
PIXEL = 1 / 72  # inches: a pixel of the drawing is a point of the figure
NAME, LABEL, CAPTION = 12.5, 11.0, 10.5  # points; the figure's letters are wider than a browser's
EDGE, TAKEN, INK, QUIET = "#64748b", "#ea580c", "#0f172a", "#475569"
SHAPE, ACCEPTING, REJECTING, LAST = "#f1f5f9", "#dcfce7", "#fee2e2", "#fed7aa"
GREEN, RED = "#15803d", "#b91c1c"


def diagram(graph: StateGraph, *, force: bool = False, most: int = MANY) -> Picture:
    """The state diagram of a graph, the walk in it drawn bold. The same graph gives the same picture.

    Of more than `most` states only those near the walk are drawn; where these are too many too, the graph is refused.
    Arrows that crowd into one dead state are left out. `force` draws everything.
    """
    graph, drawing = _drawn(graph, force, most)
    caption = "\n".join(line for line in (graph.walk.caption, graph.note) if line)
    facts = {"states": graph.total}
    return Picture(graph.title, written(graph, drawing), partial(painted, [(graph, drawing)]), caption, facts)


def diagrams(graphs: Sequence[StateGraph], title: str, *, force: bool = False, most: int = MANY) -> Picture:
    """Several state diagrams in one picture, one below the other; the facts are those of the first."""
    parts = [_drawn(graph, force, most) for graph in graphs]
    captions = [line for graph, _ in parts for line in (graph.walk.caption, graph.note) if line]
    facts = {"states": graphs[0].total}
    return Picture(title, written_below(parts, title), partial(painted, parts), "\n".join(captions), facts)


def _drawn(graph: StateGraph, force: bool, most: int) -> tuple[StateGraph, Drawing]:
    """What is left of a graph that can be read, and its drawing."""
    graph = graph if force else thinned(near_walk(graph, most))
    if len(graph.nodes) > most and not force:
        raise InputError(
            f"a diagram of {len(graph.nodes)} states cannot be read, and {most} is the limit. Minimise the automaton, "
            f"leave its dead state out (dead=False, or --no-dead), give a word whose run visits fewer of them, or draw "
            f"it all the same (force=True, or --force), which may take minutes."
        )
    return graph, best_drawing(graph)


def best_drawing(graph: StateGraph) -> Drawing:
    """The easiest to read of several drawings of a graph; rows and columns are preferred, because people know them."""
    widths = label_sizes(graph)[:, 0]
    loops = np.array([arrow.source == arrow.target for arrow in graph.arrows], dtype=bool)
    between, above = (float(some.max(initial=0.0)) for some in (widths[~loops], widths[loops]))
    gap = max(0.0, between - 30, above - STEP / 2) + 2 * max(0.0, float(half_widths(graph).max()) - RADIUS)
    first, *others = (routed(graph, places) for places in layouts(graph, gap))
    best = min(others, key=lambda drawing: drawing.cost, default=first)
    return first if first.cost * 0.75 <= best.cost else best


def painted(parts: Sequence[tuple[StateGraph, Drawing]]) -> Any:
    """The figure of drawings, one below the other, each with its caption below it."""
    pages = [page_of(*part) for part in parts]
    wide, tall = max(page.wide for page in pages), sum(page.tall for page in pages)
    figure = new_figure(wide * PIXEL, tall * PIXEL)
    figure.set_layout_engine("none")
    left = tall
    for (graph, drawing), page in zip(parts, pages):
        left -= page.tall
        box = ((wide - page.wide) / 2 / wide, left / tall, page.wide / wide, page.tall / tall)
        _paint(figure.add_axes(box), graph, drawing, page)
    return figure


def _paint(ax: Any, graph: StateGraph, drawing: Drawing, page: Page) -> None:
    ax.set_xlim(page.left, page.left + page.wide)
    ax.set_ylim(page.top + page.tall, page.top)  # downwards, as in an SVG
    ax.axis("off")
    taken = [(arrow.source, arrow.target) in graph.walk.arrows for arrow in graph.arrows]
    _arrow(ax, drawing.start, taken=graph.walk.last is not None)
    for curve, is_taken in zip(drawing.curves, taken):
        _arrow(ax, curve, taken=is_taken)
    for arrow, middle, size, is_taken in zip(graph.arrows, drawing.labels, label_sizes(graph), taken):
        _label(ax, arrow, middle, size, taken=is_taken)
    for number, (node, place, half_width) in enumerate(zip(graph.nodes, drawing.places, drawing.half_widths)):
        _node(ax, node, place, float(half_width), visited=number in graph.walk.visits, last=number == graph.walk.last)
    for x, y, line in page.caption:
        _text(ax, x, y, line, CAPTION, QUIET)


def _arrow(ax: Any, curve: np.ndarray, *, taken: bool) -> None:
    from matplotlib.patches import PathPatch, Polygon
    from matplotlib.path import Path

    colour, width = (TAKEN, 2.8) if taken else (EDGE, 1.6)
    corners, end = head_of(curve)
    line = Path([*curve[:3], end], [Path.MOVETO, Path.CURVE4, Path.CURVE4, Path.CURVE4])
    ax.add_patch(PathPatch(line, fill=False, edgecolor=colour, linewidth=width, capstyle="round"))
    ax.add_patch(Polygon(corners, facecolor=colour, edgecolor="none"))


def _label(ax: Any, arrow: Arrow, middle: np.ndarray, size: np.ndarray, *, taken: bool) -> None:
    from matplotlib.patches import Rectangle

    corner, (wide, high) = tuple(middle - size / 2), size
    ax.add_patch(Rectangle(corner, wide, high, facecolor="white", edgecolor="none", alpha=0.9))
    first = middle[1] - (len(arrow.lines) - 1) / 2 * LINE
    for row, line in enumerate(arrow.lines):
        colour, weight = ("#c2410c", "bold") if taken else (INK, "normal")
        _text(ax, middle[0], first + row * LINE, line, LABEL, colour, weight=weight)


def _node(ax: Any, node: Node, place: np.ndarray, half_width: float, *, visited: bool, last: bool) -> None:
    fill, line = (ACCEPTING, GREEN) if node.is_accepting else (REJECTING, RED) if node.is_rejecting else (SHAPE, QUIET)
    line, width = (TAKEN, 3.2) if visited else (line, 1.6)
    _outline(ax, place, half_width, 0, facecolor=LAST if last else fill, edgecolor=line, linewidth=width)
    if node.is_accepting:
        _outline(ax, place, half_width, 4, fill=False, edgecolor=GREEN, linewidth=1.4)
    _text(ax, place[0], place[1], node.label, NAME, INK, weight="bold" if visited else "normal")


def _outline(ax: Any, place: np.ndarray, half_width: float, inset: float, **look: Any) -> None:
    """Draw a state's shape: a circle stretched to its width."""
    from matplotlib.patches import Polygon

    angles = np.linspace(0, 2 * np.pi, 121)
    round_about = (RADIUS - inset) * np.stack([np.cos(angles), np.sin(angles)], axis=1)
    round_about[:, 0] += np.sign(np.round(np.cos(angles), 9)) * (half_width - RADIUS)
    ax.add_patch(Polygon(place + round_about, **look))


def _text(ax: Any, x: float, y: float, text: str, size: float, colour: str, *, weight: str = "normal") -> None:
    look = {"fontsize": size, "color": colour, "fontweight": weight, "parse_math": False}
    ax.text(x, y, text, ha="center", va="center", **look)
