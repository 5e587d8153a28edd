"""Sizes, and the curves that arrows are: cubic Bézier curves, each an array (4, 2)."""

import numpy as np

from kleene.pictures.graphs import Graph

RADIUS = 23.0  # of a state
HEAD = 9.0  # the length of an arrow's head
LINE, LETTER = 15.0, 7.2  # the height and width that a label's text takes up
LEAVING, ENTERING = 1.5, 3.5  # how far from its states an arrow begins and ends


def half_widths(graph: Graph) -> np.ndarray:
    """Half of how wide each state is; one with a long name is wider than high."""
    return np.array([max(RADIUS, len(node.label) * 4.2 + 9) for node in graph.nodes])


def label_sizes(graph: Graph) -> np.ndarray:
    """The widths and heights of all arrows' labels."""
    sizes = [(max(map(len, arrow.lines)) * LETTER + 8, len(arrow.lines) * LINE + 2) for arrow in graph.arrows]
    return np.array(sizes).reshape(-1, 2)


def points_at(curve: np.ndarray, times: np.ndarray) -> np.ndarray:
    """The points of one curve, or of several, at times from 0 to 1."""
    t = np.asarray(times)[..., None]
    a, b, c, d = curve[..., 0, :], curve[..., 1, :], curve[..., 2, :], curve[..., 3, :]
    return (1 - t) ** 3 * a + 3 * (1 - t) ** 2 * t * b + 3 * (1 - t) * t**2 * c + t**3 * d


def outside(points: np.ndarray, centre: np.ndarray, half_width: float) -> np.ndarray:
    """How far points lie outside a state, whose shape is a circle drawn out to its width."""
    offset = np.abs(points - centre)
    offset[..., 0] = np.maximum(offset[..., 0] - (half_width - RADIUS), 0)
    return np.linalg.norm(offset, axis=-1) - RADIUS


def clipped(curve: np.ndarray, source: tuple, target: tuple) -> np.ndarray:
    """The part of a curve from where it leaves its first state to just before it enters its last."""
    times = np.linspace(0, 1, 201)
    points = points_at(curve, times)
    out = outside(points, *source) > LEAVING
    into = outside(points, *target) > ENTERING
    first = times[int(np.argmax(out))] if out.any() else 0.3
    last = times[len(times) - 1 - int(np.argmax(into[::-1]))] if into.any() else 0.7
    return _part(curve, first, max(last, first + 0.05))


def _part(curve: np.ndarray, first: float, last: float) -> np.ndarray:
    """The piece of a Bézier curve between two times, as a curve of its own."""

    def blossom(*times):
        points = curve
        for t in times:
            points = (1 - t) * points[:-1] + t * points[1:]
        return points[0]

    corners = [(first,) * 3, (first, first, last), (first, last, last), (last,) * 3]
    return np.stack([blossom(*times) for times in corners])


def spacing(points: np.ndarray) -> np.ndarray:
    """How far apart the samples of each candidate lie, so that long and short arrows are charged alike."""
    return np.linalg.norm(np.diff(points, axis=1), axis=2).mean(1)
