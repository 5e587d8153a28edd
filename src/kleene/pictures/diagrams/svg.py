"""A drawing as SVG: the size of its page, its caption, and all of its parts.

Colours follow the reader's light or dark theme; the SVG needs no script, font or other file.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from textwrap import wrap
from xml.sax.saxutils import escape

import numpy as np

from kleene.notation.graphs import Arrow, Node, StateGraph
from kleene.pictures.diagrams.routing import HEAD, LINE, RADIUS, Drawing, label_sizes, points_at
from kleene.pictures.style import letters, shortened

MARGIN = 24.0
NARROWEST = 48  # characters in a line of the caption, at the least
LETTER, ROW = 6.4, 17.0  # how wide and high the caption's letters are
LONGEST = 5_000  # letters of a caption that are shown


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


def written(graph: StateGraph, drawing: Drawing) -> str:
    """The SVG text of a drawing, its caption below it."""
    page = page_of(graph, drawing)
    box = (page.left, page.top, page.wide, page.tall)
    return _document(graph.title, box, [*_parts(graph, drawing), *_captions(page)])


def written_below(parts: Sequence[tuple[StateGraph, Drawing]], title: str) -> str:
    """The SVG text of drawings, one below the other, each with its caption below it."""
    pages = [page_of(*part) for part in parts]
    wide, top, content = max(page.wide for page in pages), 0.0, []
    for (graph, drawing), page in zip(parts, pages):
        corner = f"translate({_n((wide - page.wide) / 2 - page.left)} {_n(top - page.top)})"
        content += [f'<g transform="{corner}">', *_parts(graph, drawing), *_captions(page), "</g>"]
        top += page.tall
    return _document(title, (0.0, 0.0, wide, top), content)


def _document(title: str, box: tuple[float, float, float, float], content: Sequence[str]) -> str:
    left, top, wide, tall = map(_n, box)
    size = f'width="{wide}" height="{tall}"'
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" role="img" viewBox="{left} {top} {wide} {tall}" {size}>',
            f"<title>{escape(title)}</title>",
            f"<style>{_style()}</style>",
            f'<rect class="card" x="{left}" y="{top}" {size} rx="10"/>',
            *content,
            "</svg>\n",
        ]
    )


def _captions(page: Page) -> list[str]:
    return [_text("caption", *line) for line in page.caption]


def _parts(graph: StateGraph, drawing: Drawing) -> Iterator[str]:
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
    return plain + _rules(LIGHT) + "@media (prefers-color-scheme: dark){" + _rules(DARK) + "}"


def _rules(rules: Mapping[str, str]) -> str:
    return "".join(f"{selector}{{{style}}}" for selector, style in rules.items())


def _arrow(curve: np.ndarray, tooltip: str, *, taken: bool) -> str:
    a, b, c, _ = curve
    corners, end = head_of(curve)
    head = " ".join(f"{_n(x)},{_n(y)}" for x, y in corners)
    numbers = " ".join(_n(value) for point in (b, c, end) for value in point)
    return (
        f"<g{_class(taken=taken)}><title>{escape(tooltip)}</title>"
        f'<path class="edge" d="M {_n(a[0])} {_n(a[1])} C {numbers}"/><polygon class="head" points="{head}"/></g>'
    )


def _label(arrow: Arrow, middle: np.ndarray, size: np.ndarray, *, taken: bool) -> str:
    x, y = middle
    first = y - (len(arrow.lines) - 1) / 2 * LINE + 4.5
    rows = "".join(_text("label", x, first + k * LINE, line) for k, line in enumerate(arrow.lines))
    corner = f'x="{_n(x - size[0] / 2)}" y="{_n(y - size[1] / 2)}" width="{_n(size[0])}" height="{_n(size[1])}"'
    return f'<g{_class(taken=taken)}><rect class="pill" {corner} rx="5"/>{rows}</g>'


def _node(node: Node, place: np.ndarray, half_width: float, visits: list[int], *, last: bool) -> str:
    steps = ", ".join(map(str, visits[:12])) + (", …" if len(visits) > 12 else "")
    marks = [*node.marks, *([f"visited at step {steps}"] if visits else [])]
    tooltip = node.name + (f" ({'; '.join(marks)})" if marks else "")
    kinds = _class(accepting=node.is_accepting, rejecting=node.is_rejecting, visited=bool(visits), last=last)
    ring = _outline("ring", place, half_width, 4) if node.is_accepting else ""
    name = _text("name", place[0], place[1] + 5, node.label)
    return f"<g{kinds}><title>{escape(tooltip)}</title>{_outline('shape', place, half_width, 0)}{ring}{name}</g>"


def _outline(kind: str, place: np.ndarray, half_width: float, inset: float) -> str:
    w, r = half_width - inset, RADIUS - inset
    if half_width == RADIUS:
        return f'<circle class="{kind}" cx="{_n(place[0])}" cy="{_n(place[1])}" r="{_n(r)}"/>'
    corner = f'x="{_n(place[0] - w)}" y="{_n(place[1] - r)}" width="{_n(2 * w)}" height="{_n(2 * r)}"'
    return f'<rect class="{kind}" {corner} rx="{_n(r)}"/>'


def _text(kind: str, x: float, y: float, text: str) -> str:
    return f'<text class="{kind}" x="{_n(x)}" y="{_n(y)}">{escape(shortened(text))}</text>'


def _class(**kinds: bool) -> str:
    held = " ".join(kind for kind, holds in kinds.items() if holds)
    return f' class="{held}"' if held else ""


def _n(value: float) -> str:
    """A coordinate to a tenth of a pixel, without needless signs and zeros."""
    return f"{round(value, 1) + 0.0:.1f}".removesuffix(".0")
