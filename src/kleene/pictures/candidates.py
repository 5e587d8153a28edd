"""The curves that an arrow may take, each with what it is charged for its own shape."""

import numpy as np

from kleene.pictures.geometry import ENTERING, LEAVING, RADIUS, clipped
from kleene.pictures.graphs import Graph

BENDS = (0.0, 0.1, -0.1, 0.2, -0.2, 0.35, -0.35, 0.52, -0.52, 0.75, -0.75, 1.0, -1.0)
DIRECTIONS = 16  # in which a loop may point, and from which the start's arrow may come
LOOP, START = 42.0, 38.0  # how far they reach

Candidates = list[tuple[np.ndarray, float]]


def candidates(graph: Graph, places: np.ndarray, widths: np.ndarray) -> list[Candidates]:
    """The candidates of every arrow of the graph, and last those of the arrow into its start."""
    found = []
    for arrow in graph.arrows:
        if arrow.source == arrow.target:
            found.append(_loops(places[arrow.source], widths[arrow.source]))
        else:
            back = any((a.source, a.target) == (arrow.target, arrow.source) for a in graph.arrows)
            ends = [(places[n], float(widths[n])) for n in (arrow.source, arrow.target)]
            found.append(_between(*ends, back=back))
    return [*found, _into_start(places[graph.start], widths[graph.start])]


def _between(source: tuple[np.ndarray, float], target: tuple[np.ndarray, float], *, back: bool) -> Candidates:
    """Arcs from one state to another. Where there is an arrow `back`, both keep to their left if they can."""
    (a, _), (b, _) = source, target
    length, normal = float(np.hypot(*(b - a))), np.array([b[1] - a[1], a[0] - b[0]])
    found = []
    for bend in BENDS:
        if back and abs(bend) < 0.15:
            continue
        middle = (a + b) / 2 + normal * bend
        curve = np.stack([a, a + (middle - a) * 2 / 3, b + (middle - b) * 2 / 3, b])
        cost = 7 * bend**2 + abs(bend) * length / 220 + length / 400 + (0.4 if back and bend < 0 else 0)
        found.append((clipped(curve, source, target), cost))
    return found


def _loops(centre: np.ndarray, half_width: float) -> Candidates:
    """Loops at a state, the best of which points up."""
    found = []
    for k in range(DIRECTIONS):
        angle = -np.pi / 2 + k * 2 * np.pi / DIRECTIONS
        anchor = centre + np.array([np.cos(angle) * (half_width - RADIUS), 0])
        out, into = (np.array([np.cos(angle + lean), np.sin(angle + lean)]) for lean in (-0.42, 0.42))
        reach = RADIUS + LOOP
        curve = np.stack([out * (RADIUS + LEAVING), out * reach, into * reach, into * (RADIUS + ENTERING)]) + anchor
        found.append((curve, 0.12 * _turn(k) + (0.3 if k % 4 else 0) + (0.3 if k % 2 else 0)))
    return found


def _into_start(centre: np.ndarray, half_width: float) -> Candidates:
    """Straight arrows into a state, the best of which comes from the left."""
    found = []
    for k in range(DIRECTIONS):
        angle = np.pi + k * 2 * np.pi / DIRECTIONS
        way = np.array([np.cos(angle), np.sin(angle)])
        anchor = centre + np.array([way[0] * (half_width - RADIUS), 0])
        curve = anchor + np.linspace(RADIUS + START, RADIUS + ENTERING, 4)[:, None] * way
        found.append((curve, 0.5 * _turn(k)))
    return found


def _turn(k: int) -> int:
    """How many directions lie between the first and the k-th."""
    return min(k, DIRECTIONS - k)
