"""A drawing as SVG, and as the same matplotlib figure, which is painted from the SVG's elements.

Colours follow the reader's light or dark theme; the SVG needs no script, font or other file.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from textwrap import wrap
from typing import Any
from xml.etree.ElementTree import Element, tostring

import numpy as np

from kleene.notation.graphs import Arrow, Node, StateGraph
from kleene.pictures.diagrams.layout import HEAD, LINE, RADIUS, Drawing, label_sizes, points_at
from kleene.pictures.figures import new_figure
from kleene.pictures.style import letters, shortened

MARGIN = 24.0
NARROWEST = 48  # characters in a line of the caption, at the least
LETTER, ROW = 6.4, 17.0  # how wide and high the caption's letters are
LONGEST = 5_000  # letters of a caption that are shown
PIXEL = 1 / 72  # inches: a pixel of the drawing is a point of the figure
POINTS = 0.87  # of a letter in a figure, for a pixel in an SVG; the figure's letters are wider than a browser's


@dataclass(frozen=True)
class Page:
    """The corner and the size of a picture, in pixels, and the lines of its caption, each with its place."""

    left: float
    top: float
    wide: float
    tall: float
    caption: tuple[tuple[float, float, str], ...]


def page_of(graph: StateGraph, drawing: Drawing) -> Page:
    """A page just large enough for the drawing and its caption."""
    low, high = _extent(graph, drawing)
    width, height = (float(side) for side in high - low)
    lines = [
        part
        for text in (graph.walk.caption, graph.note)
        for part in wrap(shortened(text, LONGEST), max(NARROWEST, int(width / LETTER)))
    ]
    wide = max([width, *(letters(line) * LETTER + 2 * MARGIN for line in lines)])
    left, top = float(low[0]) - (wide - width) / 2, float(low[1])
    caption = tuple((left + wide / 2, top + height + ROW * k, line) for k, line in enumerate(lines))
    return Page(left, top, wide, height + ROW * len(lines), caption)


def head_of(curve: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The three corners of an arrow's head, and the point in it at which the arrow's line ends."""
    tip = curve[3]
    along = tip - _before(curve, HEAD)
    along = along / max(float(np.hypot(*along)), 1e-6)
    side = np.array([-along[1], along[0]]) * HEAD * 0.42
    return np.stack([tip, tip - along * HEAD + side, tip - along * HEAD - side]), tip - along * HEAD * 0.7


def _extent(graph: StateGraph, drawing: Drawing) -> tuple[np.ndarray, np.ndarray]:
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


# There are no CSS variables, because many SVG viewers do not know them. These ignore the dark theme as well, and show
# the light one on its own white card.
LIGHT = {
    ".card": "fill:#ffffff",
    ".edge": "fill:none;stroke:#64748b;stroke-width:1.6;stroke-linecap:round",
    ".head": "fill:#64748b",
    ".pill": "fill:#ffffff;fill-opacity:0.9",
    ".label": "fill:#0f172a;font-size:13px",
    ".shape": "fill:#f1f5f9;stroke:#475569;stroke-width:1.6",
    ".ring": "fill:none;stroke:#15803d;stroke-width:1.4",
    ".accepting .shape": "fill:#dcfce7;stroke:#15803d",
    ".rejecting .shape": "fill:#fee2e2;stroke:#b91c1c",
    ".name": "fill:#0f172a;font-size:14px",
    ".caption": "fill:#475569;font-size:12px",
    ".taken .edge": "stroke:#ea580c;stroke-width:2.8",
    ".taken .head": "fill:#ea580c",
    ".taken .label": "fill:#c2410c;font-weight:bold",
    ".visited .shape": "stroke:#ea580c;stroke-width:3.2",
    ".visited .name": "font-weight:bold",
    ".last .shape": "fill:#fed7aa",
}
DARK = {
    ".card": "fill:#12161d",
    ".edge": "stroke:#8b98ab",
    ".head": "fill:#8b98ab",
    ".pill": "fill:#12161d",
    ".label": "fill:#e6eaf0",
    ".shape": "fill:#232a35;stroke:#a3b0c2",
    ".ring": "stroke:#4ade80",
    ".accepting .shape": "fill:#143423;stroke:#4ade80",
    ".rejecting .shape": "fill:#3d1a1d;stroke:#f87171",
    ".name": "fill:#f1f5f9",
    ".caption": "fill:#a3b0c2",
    ".taken .edge": "stroke:#fb923c",
    ".taken .head": "fill:#fb923c",
    ".taken .label": "fill:#fdba74",
    ".visited .shape": "stroke:#fb923c",
    ".last .shape": "fill:#7c2d12",
}


def svg_of(parts: Sequence[tuple[StateGraph, Drawing]], title: str) -> Element:
    """The SVG of drawings, one below the other, each with its caption below it."""
    pages = [page_of(*part) for part in parts]
    wide, tall = max(page.wide for page in pages), sum(page.tall for page in pages)
    size = {"width": _n(wide), "height": _n(tall)}
    look = {"xmlns": "http://www.w3.org/2000/svg", "role": "img", "viewBox": f"0 0 {_n(wide)} {_n(tall)}", **size}
    svg = _element("svg", _element("title", title), _element("style", _style()), **look)
    svg.append(_element("rect", kind="card", x="0", y="0", **size, rx="10"))
    top = 0.0
    for (graph, drawing), page in zip(parts, pages):
        corner = np.array([(wide - page.wide) / 2 - page.left, top - page.top])
        svg.extend(_parts(graph, drawing.moved(corner)))
        svg.extend(_text("caption", x + corner[0], y + corner[1], line) for x, y, line in page.caption)
        top += page.tall
    return svg


def written(svg: Element) -> str:
    """The text of an SVG, a line for each arrow, label and state."""
    for element in svg.iter():
        element.tail = "\n" if element.tag in ("g", "style", "svg") else None
    return tostring(svg, encoding="unicode")


def painted(svg: Element) -> Any:
    """The figure of an SVG that `svg_of` made."""
    wide, tall = (float(svg.attrib[side]) for side in ("width", "height"))
    figure = new_figure(wide * PIXEL, tall * PIXEL)
    figure.set_layout_engine("none")
    ax = figure.add_axes((0, 0, 1, 1))
    ax.set_xlim(0, wide)
    ax.set_ylim(tall, 0)  # downwards, as in an SVG
    ax.axis("off")
    for part in svg:
        around = set(part.get("class", "").split())
        for element in part if part.tag == "g" else [part]:
            if element.tag not in ("title", "style") and element.get("class") != "card":
                _paint(ax, element, _look(element.get("class", ""), around))
    return figure


def _look(kind: str, around: set[str]) -> dict[str, str]:
    """The style of an element of that class in a group of these classes."""
    look = {}
    for selector, rules in LIGHT.items():
        *outer, own = selector.replace(".", "").split()
        if own == kind and around.issuperset(outer):
            look |= dict(rule.split(":") for rule in rules.split(";"))
    return look


def _paint(ax: Any, element: Element, look: dict[str, str]) -> None:
    from matplotlib.patches import PathPatch, Polygon
    from matplotlib.path import Path

    if element.tag == "text":
        style = {"color": look["fill"], "fontsize": POINTS * float(look["font-size"].removesuffix("px"))}
        x, y = float(element.attrib["x"]), float(element.attrib["y"])
        ax.text(x, y, element.text, ha="center", parse_math=False, fontweight=look.get("font-weight"), **style)
        return
    fill, stroke, width = look.get("fill", "none"), look.get("stroke", "none"), float(look.get("stroke-width", 0))
    style = {"facecolor": fill, "edgecolor": stroke, "linewidth": width, "alpha": float(look.get("fill-opacity", 1))}
    if element.tag == "path":
        corners = _numbers(element.attrib["d"]).reshape(-1, 2)
        ax.add_patch(PathPatch(Path(corners, [Path.MOVETO, *[Path.CURVE4] * 3]), capstyle="round", **style))
    else:
        corners = _numbers(element.attrib["points"]) if element.tag == "polygon" else _round_corners(element)
        ax.add_patch(Polygon(corners.reshape(-1, 2), **style))


def _round_corners(box: Element) -> np.ndarray:
    x, y, wide, tall, round_ = (float(box.attrib[name]) for name in ("x", "y", "width", "height", "rx"))
    angles = np.linspace(0, 2 * np.pi, 121)
    ways = np.stack([np.cos(angles), np.sin(angles)], axis=1)
    half = np.array([wide, tall]) / 2
    return np.array([x, y]) + half + np.sign(np.round(ways, 9)) * (half - round_) + ways * round_


def _parts(graph: StateGraph, drawing: Drawing) -> Iterator[Element]:
    """Arrows, then labels over them, then states."""
    yield _arrow(drawing.start, "start", taken=graph.walk.last is not None)
    taken = [(arrow.source, arrow.target) in graph.walk.arrows for arrow in graph.arrows]
    for arrow, curve, is_taken in zip(graph.arrows, drawing.curves, taken):
        ends = f"{graph.nodes[arrow.source].name} → {graph.nodes[arrow.target].name}"
        yield _arrow(curve, f"{ends}: {'; '.join(arrow.transitions)}", taken=is_taken)
    for arrow, middle, size, is_taken in zip(graph.arrows, drawing.labels, label_sizes(graph), taken):
        yield _label(arrow, middle, size, taken=is_taken)
    for number, (node, place, half_width) in enumerate(zip(graph.nodes, drawing.places, drawing.half_widths)):
        yield _node(node, place, half_width, graph.walk.visits.get(number, []), last=number == graph.walk.last)


def _style() -> str:
    plain = "text{font-family:ui-sans-serif,system-ui,'Helvetica Neue',Arial,sans-serif;text-anchor:middle}"
    light, dark = ("".join(f"{name}{{{look}}}" for name, look in rules.items()) for rules in (LIGHT, DARK))
    return f"{plain}{light}@media (prefers-color-scheme: dark){{{dark}}}"


def _arrow(curve: np.ndarray, tooltip: str, *, taken: bool) -> Element:
    corners, end = head_of(curve)
    first, *rest = (f"{_n(x)} {_n(y)}" for x, y in (*curve[:3], end))
    head = " ".join(f"{_n(x)},{_n(y)}" for x, y in corners)
    line = _element("path", kind="edge", d=f"M {first} C {' '.join(rest)}")
    return _group(_element("title", tooltip), line, _element("polygon", kind="head", points=head), taken=taken)


def _label(arrow: Arrow, middle: np.ndarray, size: np.ndarray, *, taken: bool) -> Element:
    x, y = middle
    first = y - (len(arrow.lines) - 1) / 2 * LINE + 4.5
    rows = (_text("label", x, first + k * LINE, line) for k, line in enumerate(arrow.lines))
    return _group(_box("pill", middle, size / 2, 5), *rows, taken=taken)


def _node(node: Node, place: np.ndarray, half_width: float, visits: list[int], *, last: bool) -> Element:
    steps = ", ".join(map(str, visits[:12])) + (", …" if len(visits) > 12 else "")
    marks = [*node.marks, *([f"visited at step {steps}"] if visits else [])]
    tooltip = node.name + (f" ({'; '.join(marks)})" if marks else "")
    half = np.array([half_width, RADIUS])
    shapes = [_box("shape", place, half, RADIUS)]
    if node.is_accepting:
        shapes.append(_box("ring", place, half - 4, RADIUS - 4))
    kinds = {"accepting": node.is_accepting, "rejecting": node.is_rejecting, "visited": bool(visits), "last": last}
    return _group(_element("title", tooltip), *shapes, _text("name", place[0], place[1] + 5, node.label), **kinds)


def _box(kind: str, middle: np.ndarray, half: np.ndarray, round_: float) -> Element:
    (x, y), (wide, tall) = middle - half, 2 * half
    return _element("rect", kind=kind, x=_n(x), y=_n(y), width=_n(wide), height=_n(tall), rx=_n(round_))


def _text(kind: str, x: float, y: float, text: str) -> Element:
    return _element("text", shortened(text), kind=kind, x=_n(x), y=_n(y))


def _group(*content: Element, **kinds: bool) -> Element:
    """A group whose classes are the kinds that hold."""
    return _element("g", *content, kind=" ".join(kind for kind, holds in kinds.items() if holds))


def _element(tag: str, *content: Element | str, kind: str = "", **attributes: str) -> Element:
    found = Element(tag, ({"class": kind} if kind else {}) | attributes)
    found.text = next((part for part in content if isinstance(part, str)), None)
    found.extend(part for part in content if not isinstance(part, str))
    return found


def _numbers(text: str) -> np.ndarray:
    return np.array([float(number) for number in re.findall(r"-?[\d.]+", text)])


def _n(value: float) -> str:
    """A coordinate to a tenth of a pixel, without needless signs and zeros."""
    return f"{round(float(value), 1) + 0.0:.1f}".removesuffix(".0")
