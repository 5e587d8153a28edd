"""Where the labels of arrows stand."""

import numpy as np

from kleene.pictures.geometry import HEAD, RADIUS, label_sizes, points_at, spacing
from kleene.pictures.graphs import Graph

SPOTS = np.array([0.5, 0.42, 0.58, 0.34, 0.66, 0.26, 0.74])  # on its arrow; the earlier, the better


def labelled(
    graph: Graph, curves: list[np.ndarray], drawn: np.ndarray, places: np.ndarray, widths: np.ndarray
) -> tuple[list[np.ndarray], float]:
    """The middle of every label, and what is charged for what they cover. `drawn` has points of all arrows."""
    halves = label_sizes(graph) / 2
    spots, fixed = [], []
    for n, (arrow, curve) in enumerate(zip(graph.arrows, curves)):
        spots.append(_outside_loop(curve, halves[n]) if arrow.source == arrow.target else points_at(curve, SPOTS))
        hidden = _arrows_covered(spots[n], halves[n], np.delete(drawn, n, axis=0))
        hidden += _states_covered(spots[n], halves[n], places, widths)
        hidden += np.clip(HEAD + 3 - (np.abs(spots[n] - curve[3]) - halves[n]).max(1), 0, None)  # its own head
        fixed.append(hidden + 0.15 * np.arange(len(spots[n])))
    taken, total = [int(np.argmin(cost)) for cost in fixed], 0.0
    for _ in range(4):
        total = 0.0
        for n in range(len(spots)):
            middles = np.array([spot[t] for spot, t in zip(spots, taken)])
            gaps = (np.abs(spots[n][:, None] - middles[None]) - halves - halves[n]).max(2)
            gaps[:, n] = np.inf
            cost = fixed[n] + np.clip(3 - gaps, 0, None).sum(1)
            taken[n] = int(np.argmin(cost))
            total += float(cost[taken[n]])
    return [spot[t] for spot, t in zip(spots, taken)], total


def _arrows_covered(spots: np.ndarray, half: np.ndarray, drawn: np.ndarray) -> np.ndarray:
    """How much of other arrows a label would lie on, at each of its spots."""
    lengths = np.repeat(spacing(drawn), drawn.shape[1])
    return (np.abs(drawn.reshape(-1, 2)[None] - spots[:, None]) < half + 2).all(2) @ lengths / 8


def _states_covered(spots: np.ndarray, half: np.ndarray, places: np.ndarray, widths: np.ndarray) -> np.ndarray:
    states = np.stack([widths, np.full(len(widths), RADIUS)], axis=1)
    gaps = (np.abs(spots[:, None] - places[None]) - half - states).max(2)
    return np.clip(4 - gaps, 0, None).sum(1)


def _outside_loop(curve: np.ndarray, half: np.ndarray) -> np.ndarray:
    """A loop's label stands outside it."""
    top = points_at(curve, np.array([0.5]))
    out = top - curve[[0, 3]].mean(0)
    way = out / np.linalg.norm(out)
    return top + way * (np.abs(way) @ half + 1)
