"""How arrows run: each takes the best of its candidates, given all others, until none wants another.

What is counted against a candidate: its bend and length, and the states and other arrows that it comes close to.
"""

from dataclasses import dataclass

import numpy as np

from kleene.pictures.candidates import candidates
from kleene.pictures.geometry import half_widths, outside, points_at, spacing
from kleene.pictures.graphs import Graph
from kleene.pictures.labels import labelled

SAMPLES = 20  # points that stand for a curve


@dataclass(frozen=True)
class Drawing:
    """Everything has a place: states, the curves of arrows from edge to edge, the middles of their labels.

    `start` is the arrow into the start state, and `cost` says how hard it all is to read.
    """

    places: np.ndarray
    half_widths: np.ndarray
    curves: tuple[np.ndarray, ...]
    labels: tuple[np.ndarray, ...]
    start: np.ndarray
    cost: float


def routed(graph: Graph, places: np.ndarray) -> Drawing:
    """The diagram with its states at these places."""
    widths = half_widths(graph)
    choices = candidates(graph, places, widths)
    own = [{a.source, a.target} for a in graph.arrows] + [{graph.start}]
    curves = [np.stack([curve for curve, _ in choice]) for choice in choices]
    points = [_samples(curve) for curve in curves]
    fixed = [
        np.array([cost for _, cost in choice]) + _near_states(p, places, widths, states)
        for choice, p, states in zip(choices, points, own)
    ]
    taken, cost = _settled(points, fixed)
    *chosen, start = (curve[t] for curve, t in zip(curves, taken))
    drawn = np.stack([p[t] for p, t in zip(points, taken)])
    labels, label_cost = labelled(graph, chosen, drawn, places, widths)
    cost += label_cost + _shape_cost(graph, places)
    return Drawing(places, widths, tuple(chosen), tuple(labels), start, cost)


def _shape_cost(graph: Graph, places: np.ndarray) -> float:
    """What a drawing is charged for its size, for being much wider or higher than a page, for states left of the
    start, and for arrows of uneven length."""
    spread = np.ptp(places, axis=0) + 150
    page = 4 * max(0.0, abs(np.log(spread[0] / spread[1] / 1.7)) - 0.8) + np.sqrt(spread.prod()) / 150
    behind = (places[graph.start, 0] - places[:, 0].min()) / 80
    along = np.array([places[a.source] - places[a.target] for a in graph.arrows if a.source != a.target])
    length = np.hypot(along[:, 0], along[:, 1]) if len(along) else np.ones(1)
    return float(page + behind + 8 * length.std() / length.mean())


def _samples(curves: np.ndarray) -> np.ndarray:
    """Points along each of several curves, (curve, point, 2), without the ends, where arrows have to meet."""
    return points_at(curves[:, None], np.linspace(0.06, 0.94, SAMPLES)[None])


def _near_states(points: np.ndarray, places: np.ndarray, widths: np.ndarray, own: set[int]) -> np.ndarray:
    """What each candidate is charged for passing close to states, its own excepted."""
    others = [n for n in range(len(places)) if n not in own]
    if not others:
        return np.zeros(len(points))
    depth = np.stack([outside(points, places[n], widths[n]) for n in others])
    return 2.5 * (np.clip(1 - depth / 14, 0, 3) ** 2).sum((0, 2)) * spacing(points) / 8


def _settled(points: list[np.ndarray], fixed: list[np.ndarray]) -> tuple[list[int], float]:
    """Which candidate each arrow takes, and what all of them are charged in the end."""
    taken = [int(np.argmin(cost)) for cost in fixed]
    order = sorted(range(len(points)), key=lambda n: -float(fixed[n].min()))
    drawn = np.stack([p[t] for p, t in zip(points, taken)])
    total = 0.0
    for _ in range(5):
        changed, total = False, 0.0
        for n in order:
            others = np.delete(drawn, n, axis=0).reshape(-1, 2)
            now = float(fixed[n][taken[n]] + _near_arrows(points[n][[taken[n]]], others)[0])
            hopeful = np.flatnonzero(fixed[n] < now - 1e-6)
            if len(hopeful):
                cost = fixed[n][hopeful] + _near_arrows(points[n][hopeful], others)
                best = int(np.argmin(cost))
                if cost[best] < now - 1e-6:
                    taken[n], now, changed = int(hopeful[best]), float(cost[best]), True
                    drawn[n] = points[n][taken[n]]
            total += now
        if not changed:
            break
    return taken, total


def _near_arrows(points: np.ndarray, others: np.ndarray) -> np.ndarray:
    """What each candidate is charged for points of other arrows close by: little for a crossing, much for running
    along one."""
    if not len(others):
        return np.zeros(len(points))
    flat = points.reshape(-1, 2)
    squared = (flat**2).sum(1)[:, None] + (others**2).sum(1)[None] - 2 * flat @ others.T
    nearest = np.sqrt(np.maximum(squared.min(1), 0)).reshape(points.shape[:2])
    return (np.clip(1 - nearest / 11, 0, None) ** 1.5).sum(1) * spacing(points) / 8
