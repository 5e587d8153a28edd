"""Where the states of a diagram stand. Several layouts are tried, and the drawing that is easiest to read is kept."""

import math
from collections.abc import Iterator

import numpy as np

from kleene.notation.graphs import StateGraph

STEP = 126.0  # between two states that are joined, in pixels
ROW = 100.0  # between two states in a column
FOLD, AIR = 150.0, 1.2  # between two rows of columns; how much more room their states have, because loops are many
LONG = 10  # columns beyond which they are folded into several rows
WORTH = 0.1  # what a move must save, where a crossing costs 1, so that a nearly regular shape stays


def layouts(graph: StateGraph, gap: float) -> Iterator[np.ndarray]:
    """Places for the states, (state, 2), in several layouts, rows and columns first.

    `gap` is added between columns, so that wide names and labels fit.
    """
    columns = layered(graph, gap)
    if np.unique(columns[:, 0]).size > LONG:
        columns = folded(columns, STEP + gap)
    yield columns
    if len(graph.nodes) > 3:
        step = STEP + gap
        hops, tangle = _hops(graph), Tangle(graph, step)
        for number, first in enumerate((columns, ring(graph))):
            settled = _turned(graph, stressed(first, hops, step))
            yield settled
            yield untangled(settled, tangle, np.random.default_rng(number))


def untangled(places: np.ndarray, tangle: "Tangle", rng: np.random.Generator) -> np.ndarray:
    """The places after many small moves and exchanges; only those that made the drawing easier to read were kept."""
    cost, size = tangle(places), len(places)
    rounds = max(3, min(4 + size, 3000 // size // 8))
    for reach in np.geomspace(1.5 * STEP, STEP / 8, rounds):
        for node in range(size):
            for _ in range(8):
                trial = places.copy()
                if rng.random() < 0.2:
                    other = int(rng.integers(size))
                    trial[[node, other]] = trial[[other, node]]
                else:
                    trial[node] += rng.normal(size=2) * reach
                if (found := tangle(trial)) < cost - WORTH:
                    places, cost = trial, found
    return places


def layered(graph: StateGraph, gap: float) -> np.ndarray:
    """Columns by distance from the start, left to right, each in the order that makes the fewest crossings."""
    depths = graph.depths
    columns = [[n for n, depth in enumerate(depths) if depth == d] for d in range(max(depths) + 1)]
    tangle = Tangle(graph, STEP + gap)
    best = _sorted_by_neighbours(columns, tangle, gap)
    cost = tangle(_placed(best, gap))
    for _ in range(4):
        before = cost
        for c, column in enumerate(best):
            for i in range(len(column)):
                for j in range(i):
                    swapped = [*column]
                    swapped[i], swapped[j] = swapped[j], swapped[i]
                    trial = [*best[:c], swapped, *best[c + 1 :]]
                    if (found := tangle(_placed(trial, gap))) < cost - 1e-9:
                        best, cost, column = trial, found, swapped
        if cost == before:
            break
    return _placed(best, gap)


def folded(places: np.ndarray, step: float) -> np.ndarray:
    """Columns in several rows, as an ox ploughs: every second row runs from right to left."""
    columns = np.rint((places[:, 0] - places[:, 0].min()) / step).astype(int)
    count = int(columns.max()) + 1
    across = math.ceil(count / math.ceil(count / LONG))
    row, column = np.divmod(columns, across)
    found = np.stack([np.where(row % 2 == 0, column, across - 1 - column) * step, AIR * places[:, 1]], axis=1)
    bottom = float(found[row == 0, 1].max())
    for number in range(1, int(row.max()) + 1):
        here = row == number
        found[here, 1] += bottom + FOLD - found[here, 1].min()
        bottom = float(found[here, 1].max())
    return found


def _sorted_by_neighbours(columns: list[list[int]], tangle: "Tangle", gap: float) -> list[list[int]]:
    best, cost = columns, tangle(_placed(columns, gap))
    for sweep in range(8):
        for c in range(len(columns)) if sweep % 2 == 0 else reversed(range(len(columns))):
            places = _placed(columns, gap)
            means = {n: _mean_height(n, places, tangle.ends) for n in columns[c]}
            columns = [*columns[:c], sorted(columns[c], key=lambda n: (means[n], n)), *columns[c + 1 :]]
        if (found := tangle(_placed(columns, gap))) < cost:
            best, cost = columns, found
    return best


def _mean_height(node: int, places: np.ndarray, ends: np.ndarray) -> float:
    others = np.concatenate([ends[ends[:, 0] == node, 1], ends[ends[:, 1] == node, 0]])
    others = others[places[others, 0] != places[node, 0]]
    return float(places[others, 1].mean()) if len(others) else float(places[node, 1])


def _placed(columns: list[list[int]], gap: float) -> np.ndarray:
    places = np.zeros((sum(map(len, columns)), 2))
    for c, column in enumerate(columns):
        heights = (np.arange(len(column)) - (len(column) - 1) / 2) * ROW
        for node, height in zip(column, heights):
            places[node] = c * (STEP + gap), height
    return places


def ring(graph: StateGraph) -> np.ndarray:
    """All states on a circle, in the order of a depth-first search."""
    order, stack = [], [graph.start]
    while stack or len(order) < len(graph.nodes):
        node = stack.pop() if stack else next(n for n in range(len(graph.nodes)) if n not in order)
        if node not in order:
            order.append(node)
            stack += [a.target for a in reversed(graph.arrows) if a.source == node and a.target not in order]
    angles = np.pi + 2 * np.pi * np.argsort(order) / len(order)
    radius = STEP / 2 / np.sin(np.pi / max(len(order), 2))
    return np.stack([np.cos(angles), np.sin(angles)], axis=1) * radius


def stressed(places: np.ndarray, hops: np.ndarray, step: float, rounds: int = 300) -> np.ndarray:
    """Places whose distances are as close as possible to the number of steps between states (stress majorisation)."""
    size = len(places)
    wanted = hops * step * np.where(hops > 1, 0.94, 1.0)  # a little closer than a straight line
    weights = np.where(hops > 0, 1 / np.maximum(hops, 1) ** 2, 0)
    laplacian = np.diag(weights.sum(1)) - weights
    inverse = np.linalg.pinv(laplacian + 1 / size)
    for _ in range(rounds):
        apart = places[:, None] - places[None]
        distance = np.maximum(np.linalg.norm(apart, axis=2), 1e-3)
        pull = weights * wanted / distance
        places = inverse @ (np.diag(pull.sum(1)) - pull) @ places
    return places


def _hops(graph: StateGraph) -> np.ndarray:
    """The number of arrows between each two states, whatever their direction."""
    size = len(graph.nodes)
    hops = np.where(np.eye(size), 0, size).astype(float)
    for a in graph.arrows:
        if a.source != a.target:
            hops[a.source, a.target] = hops[a.target, a.source] = 1
    for middle in range(size):
        hops = np.minimum(hops, hops[:, middle, None] + hops[None, middle])
    return hops


def _turned(graph: StateGraph, places: np.ndarray) -> np.ndarray:
    """The places rotated so that the start is on the left and distant states are on the right."""
    places = places - places.mean(0)
    depths = np.array(graph.depths) - np.mean(graph.depths)

    def backward(angle: float) -> float:
        x = places @ np.array([np.cos(angle), np.sin(angle)])
        return float((x[graph.start] - x.min()) / STEP - depths @ x / max(np.abs(depths).sum() * STEP, 1))

    angle = min(np.linspace(0, 2 * np.pi, 73), key=backward)
    return places @ np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])


def _ends(graph: StateGraph) -> np.ndarray:
    """The two ends of every arrow but loops, each pair of states once."""
    pairs = {(min(a.source, a.target), max(a.source, a.target)) for a in graph.arrows if a.source != a.target}
    return np.array(sorted(pairs), dtype=int).reshape(-1, 2)


class Tangle:
    """How hard straight arrows would be to follow, for states at given places.

    It counts crossings, arrows that pass near a state, states close together, length, and states left of the start.
    """

    def __init__(self, graph: StateGraph, step: float):
        self.ends, self.start, self.step = _ends(graph), graph.start, step
        self.shared = (self.ends[:, None, :, None] == self.ends[None, :, None, :]).any((2, 3))
        self.own = (self.ends[:, :, None] == np.arange(len(graph.nodes))).any(1)

    def __call__(self, places: np.ndarray) -> float:
        a, b = places[self.ends[:, 0]], places[self.ends[:, 1]]
        along = b - a
        length = np.hypot(along[:, 0], along[:, 1])
        behind = float(places[self.start, 0] - places[:, 0].min()) / self.step
        effort = length.sum() / self.step / 3 + ((length / self.step) ** 2).sum() / 12 + behind
        cramped = 6 * (np.clip(1 - length / self.step, 0, None) ** 2).sum()  # no room for a label and a head
        near = 2 * self._near_passes(places, a, along, length)
        return float(self._crossings(a, along) + near + _crowding(places) + cramped + effort)

    def _crossings(self, a: np.ndarray, along: np.ndarray) -> float:
        between_x, between_y = a[None, :, 0] - a[:, None, 0], a[None, :, 1] - a[:, None, 1]
        x, y = along[:, 0], along[:, 1]
        turn = x[:, None] * y[None] - y[:, None] * x[None]
        safe = np.where(np.abs(turn) < 1e-9, np.inf, turn)
        t = (between_x * y[None] - between_y * x[None]) / safe
        s = (between_x * y[:, None] - between_y * x[:, None]) / safe
        return float(np.count_nonzero((t > 0) & (t < 1) & (s > 0) & (s < 1) & ~self.shared) / 2)

    def _near_passes(self, places: np.ndarray, a: np.ndarray, along: np.ndarray, length: np.ndarray) -> float:
        x, y = places[None, :, 0] - a[:, None, 0], places[None, :, 1] - a[:, None, 1]
        t = (x * along[:, None, 0] + y * along[:, None, 1]) / np.maximum(length, 1e-9)[:, None] ** 2
        t = np.clip(t, 0, 1)
        distance = np.hypot(x - t * along[:, None, 0], y - t * along[:, None, 1])
        return float((np.clip(1 - distance / 42, 0, None) * ~self.own).sum())


def _crowding(places: np.ndarray) -> float:
    distance = np.hypot(*(places[:, None] - places[None]).transpose(2, 0, 1)) / ROW
    return 3 * float((np.clip(1 - distance, 0, None) ** 2).sum() - len(places))
