"""Where the states of a diagram stand, how its arrows run, and where their labels are.

States stand in columns from left to right by their distance from the start. They move within their columns, and in a
second drawing a little out of them, as long as that saves crossings; the drawing that is easier to read is kept. An
arrow is a cubic Bézier curve, an array (4, 2). In turn, each takes the cheapest of its candidates, given all others.
"""

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache

import numpy as np

from kleene.notation.graphs import StateGraph
from kleene.pictures.style import letters

STEP, ROW = 126.0, 100.0  # between two columns, and between two states in a column, in pixels
LONG, FOLD, AIR = 10, 150.0, 1.2  # columns in a row, the space between two rows, and how much more room its states have
RADIUS, HEAD = 23.0, 9.0  # of a state; the length of an arrow's head
LINE, LETTER = 15.0, 7.2  # the height and width that a label's text takes up
LEAVING, ENTERING = 1.5, 3.5  # how far from its states an arrow begins and ends
LOOP, START = 42.0, 38.0  # how far a loop reaches, and the arrow into the start
TRIES, ROUNDS = 6, 30  # orders of the columns that are tried; rounds in which each state moves once
UP_AND_DOWN = [(0.0, rows) for rows in (-3, -2, -1.5, -1, -0.5, 0.5, 1, 1.5, 2, 3)]
ANYWHERE = [*UP_AND_DOWN, *((columns, 0.0) for columns in (-1, -0.5, 0.5, 1))]
FEW, WORTH = 12, 0.85  # states that stay in columns, which readers know, unless the cost falls below this share of it
BENDS = np.array([0.0, 0.1, -0.1, 0.2, -0.2, 0.35, -0.35, 0.52, -0.52, 0.75, -0.75, 1.0, -1.0])
DIRECTIONS = np.arange(8) * np.pi / 4  # of a loop and of the arrow into the start, the best of which is the first
TURNED = np.array([0, 1, 2, 3, 4, 3, 2, 1])  # how far each is from the first
SPOTS = np.array([0.5, 0.42, 0.58, 0.34, 0.66, 0.26, 0.74])  # of a label on its arrow; the earlier, the better
NEAR = 11.0  # pixels between two arrows that are hard to tell apart
SAMPLES = np.linspace(0.06, 0.94, 20)  # of a curve, without the ends, where arrows have to meet


@dataclass(frozen=True)
class Drawing:
    """Where everything is drawn: states, the curves of arrows from edge to edge, the middles of their labels.

    `start` is the arrow into the start state, and `cost` is how hard the drawing is to read.
    """

    places: np.ndarray
    half_widths: np.ndarray
    curves: tuple[np.ndarray, ...]
    labels: tuple[np.ndarray, ...]
    start: np.ndarray
    cost: float

    def moved(self, by: np.ndarray) -> "Drawing":
        """The same drawing at another place."""
        curves, labels = (tuple(one + by for one in some) for some in (self.curves, self.labels))
        return replace(self, places=self.places + by, curves=curves, labels=labels, start=self.start + by)


def best_drawing(graph: StateGraph) -> Drawing:
    """The drawing that is easiest to read of several in columns and one whose states may leave them."""
    sizes, loops = label_sizes(graph), np.array([arrow.source == arrow.target for arrow in graph.arrows], dtype=bool)
    between, above = (float(sizes[kind, 0].max(initial=0.0)) for kind in (~loops, loops))
    step = STEP + max(0.0, between - 30, above - STEP / 2) + 2 * (float(half_widths(graph).max()) - RADIUS)
    starts = columns(graph, step, max(1, min(TRIES, 80 // len(graph.nodes))))
    found = {places.tobytes(): places for places in (untangled(graph, start, step) for start in starts)}
    first = min((routed(graph, folded(places, step)) for places in found.values()), key=lambda drawing: drawing.cost)
    loose = (untangled(graph, places, step, ANYWHERE) for places in (first.places, stressed(graph, first.places, step)))
    best = min((routed(graph, places) for places in loose), key=lambda drawing: drawing.cost)
    return best if best.cost < first.cost * (WORTH if len(graph.nodes) <= FEW else 0.95) else first


# States.


def columns(graph: StateGraph, step: float = STEP, count: int = 1) -> Iterator[np.ndarray]:
    """Places for the states, (state, 2): columns by distance from the start, left to right, in several orders."""
    depths, rng = np.array(graph.depths), np.random.default_rng(0)
    for number in range(count):
        places = np.stack([depths * step, np.zeros(len(depths))], axis=1)
        for depth in range(int(depths.max()) + 1):
            rows = np.arange(int((depths == depth).sum()))
            order = rng.permutation(rows) if number else rows
            places[depths == depth, 1] = (order - (len(rows) - 1) / 2) * ROW
        yield places


def folded(places: np.ndarray, step: float) -> np.ndarray:
    """Many columns in several rows, as an ox ploughs: every second row runs from right to left."""
    column = np.rint(places[:, 0] / step).astype(int)
    count = int(column.max()) + 1
    across = math.ceil(count / math.ceil(count / LONG))
    row, column = np.divmod(column, across)
    found, bottom = np.stack([np.where(row % 2, across - 1 - column, column) * step, AIR * places[:, 1]], axis=1), 0.0
    if row.any():
        for here in (row == number for number in range(int(row.max()) + 1)):
            found[here, 1] += bottom - found[here, 1].min()
            bottom = float(found[here, 1].max()) + FOLD
        return found
    return places


def stressed(graph: StateGraph, places: np.ndarray, step: float) -> np.ndarray:
    """Places whose distances are as close as possible to the number of steps between states (stress majorisation)."""
    size = len(places)
    hops = np.where(np.eye(size), 0.0, size)
    for arrow in graph.arrows:
        if arrow.source != arrow.target:
            hops[arrow.source, arrow.target] = hops[arrow.target, arrow.source] = 1
    for middle in range(size):
        hops = np.minimum(hops, hops[:, middle, None] + hops[None, middle])
    weights = np.where(hops > 0, 1 / np.maximum(hops, 1) ** 2, 0)
    inverse = np.linalg.pinv(np.diag(weights.sum(1)) - weights + 1 / size)
    for _ in range(100):
        distance = np.maximum(np.linalg.norm(places[:, None] - places, axis=2), 1e-3)
        pull = weights * hops * step / distance
        places = inverse @ (np.diag(pull.sum(1)) - pull) @ places
    return places


def untangled(
    graph: StateGraph, places: np.ndarray, step: float = STEP, moves: list[tuple[float, float]] = UP_AND_DOWN
) -> np.ndarray:
    """The places after each state in turn made the move that helps most, or changed places with one in its column."""
    tangle, offsets = Tangle(graph, places, step), np.array(moves) * (step, ROW)
    for _ in range(ROUNDS):
        before = places
        for n in range(len(places)):
            column = np.flatnonzero(places[:, 0] == places[n, 0])
            moved, swapped = (np.repeat(places[None], len(some) + 1, axis=0) for some in (offsets, column))
            moved[1:, n] += offsets
            for trial, other in zip(swapped[1:], column):
                trial[[n, other]] = trial[[other, n]]
            for trials, states in ((moved, [n]), (swapped, column)):
                costs = tangle(trials, np.array(states))
                if costs.min() < costs[0] - 1e-3:
                    places = trials[costs.argmin()]
                    break
        if places is before:
            break
    return places


class Tangle:
    """How hard straight arrows would be to follow, for states at given places (trial, state, 2).

    It counts crossings, arrows that pass near a state, states close together, length, states left of the start, and
    states out of their columns.
    """

    def __init__(self, graph: StateGraph, places: np.ndarray, step: float):
        pairs = {(min(a.source, a.target), max(a.source, a.target)) for a in graph.arrows if a.source != a.target}
        self.ends = np.array(sorted(pairs), dtype=int).reshape(-1, 2)
        self.start, self.step, self.first = graph.start, step, places[:, 0]
        self.apart = ~(self.ends[:, None, :, None] == self.ends[None, :, None, :]).any((2, 3))
        self.foreign = ~(self.ends[:, :, None] == np.arange(len(places))).any(1)

    def __call__(self, places: np.ndarray, moved: np.ndarray) -> np.ndarray:
        """The costs of trials that differ in the places of the `moved` states; what these do not change is left out."""
        touched = np.asarray(np.isin(self.ends, moved).any(1))
        x, a, b = places[..., 0], places[:, self.ends[:, 0]], places[:, self.ends[:, 1]]
        length = np.linalg.norm(b - a, axis=-1) / self.step
        effort = (length / 3 + length**2 / 12).sum(-1)
        cramped = 6 * (np.clip(1 - length, 0, None) ** 2).sum(-1)  # no room for a label and a head
        near = self._near(places, a, b, touched, np.arange(len(places[0]))) + self._near(places, a, b, ~touched, moved)
        distance = np.linalg.norm(places[:, moved, None] - places[:, None], axis=-1)
        crowded = 6 * (np.clip(1 - distance / ROW, 0, None) ** 2).sum((-2, -1))
        strayed = 0.6 * np.abs(x - self.first).sum(-1) / self.step
        behind = (x[:, self.start] - x.min(-1)) / self.step
        return self._crossings(a, b - a, touched) + 2 * near + crowded + cramped + effort + strayed + behind

    def _near(
        self, places: np.ndarray, a: np.ndarray, b: np.ndarray, ends: np.ndarray, states: np.ndarray
    ) -> np.ndarray:
        """How closely these arrows pass these states."""
        offset, along = places[:, None, states] - a[:, ends, None], (b - a)[:, ends, None]
        on = np.clip((offset * along).sum(-1) / np.maximum((along**2).sum(-1), 1e-9), 0, 1)
        passed = np.linalg.norm(offset - on[..., None] * along, axis=-1)
        return (np.clip(1 - passed / 42, 0, None) * self.foreign[np.ix_(ends, states)]).sum((-2, -1))

    def _crossings(self, a: np.ndarray, along: np.ndarray, touched: np.ndarray) -> np.ndarray:
        between = a[:, None] - a[:, touched, None]
        first, second = along[:, touched, None], along[:, None]
        turn = _cross(first, second)
        turn = np.where(np.abs(turn) < 1e-9, np.inf, turn)
        t, s = _cross(between, second) / turn, _cross(between, first) / turn
        crossed = (t > 0) & (t < 1) & (s > 0) & (s < 1) & self.apart[touched]
        return crossed @ np.where(touched, 0.5, 1.0) @ np.ones(touched.sum())


def _cross(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    return a[..., 0] * b[..., 1] - a[..., 1] * b[..., 0]


# Arrows.


def half_widths(graph: StateGraph) -> np.ndarray:
    """Half the width of each state; a state with a long name is wider than high."""
    return np.array([max(RADIUS, letters(node.label) * 4.2 + 9) for node in graph.nodes])


def points_at(curve: np.ndarray, times: np.ndarray) -> np.ndarray:
    """The points of one curve, or of several, at times from 0 to 1."""
    t = np.asarray(times)[:, None]
    a, b, c, d = (curve[..., None, k, :] for k in range(4))
    return (1 - t) ** 3 * a + 3 * (1 - t) ** 2 * t * b + 3 * (1 - t) * t**2 * c + t**3 * d


def routed(graph: StateGraph, places: np.ndarray) -> Drawing:
    """The diagram with its states at these places."""
    widths = half_widths(graph)
    curves, costs = zip(*_candidates(graph, places, widths))
    points = [points_at(some, SAMPLES) for some in curves]
    spacing = [np.linalg.norm(np.diff(p, axis=1), axis=2).mean(1) / 8 for p in points]  # long and short cost alike
    own = [{a.source, a.target} for a in graph.arrows] + [{graph.start}]
    foreign = [[n for n in range(len(places)) if n not in states] for states in own]
    fixed = [
        cost + 2.5 * space * sum((_passing(p, places[n], widths[n]) for n in others), np.zeros(len(p)))
        for p, cost, space, others in zip(points, costs, spacing, foreign)
    ]
    taken, cost = _chosen(fixed, _clashes(points, spacing))
    *chosen, start = (some[t] for some, t in zip(curves, taken))
    drawn = [np.repeat(s[t], len(SAMPLES)) for s, t in zip(spacing, taken)], [p[t] for p, t in zip(points, taken)]
    labels, covered = _labelled(graph, chosen, drawn, places, widths)
    spread = np.ptp(places, axis=0) + 150
    page = 4 * max(0.0, abs(np.log(spread[0] / spread[1] / 1.7)) - 0.8) + np.sqrt(spread.prod()) / 150
    behind = (places[graph.start, 0] - places[:, 0].min()) / 40
    return Drawing(places, widths, tuple(chosen), tuple(labels), start, cost + covered + float(page + behind))


def _passing(points: np.ndarray, centre: np.ndarray, half_width: float) -> np.ndarray:
    """How closely each candidate passes a state that is not its own."""
    return (np.clip(1 - outside(points, centre, half_width) / 14, 0, 3) ** 2).sum(1)


def _clashes(points: list[np.ndarray], spacing: list[np.ndarray]) -> Callable[[int, list[int]], np.ndarray | float]:
    """What the candidates of an arrow cost for the arrows near them: little for a crossing, much for running along."""
    plane = [p[..., 0] + 1j * p[..., 1] for p in points]
    low, high = ([side(p, axis=(0, 1)) for p in points] for side in (np.min, np.max))

    @cache
    def clash(n: int, m: int, taken: int) -> np.ndarray | float:
        other = points[m][taken]
        if n == m or (low[n] > other.max(0) + NEAR).any() or (other.min(0) > high[n] + NEAR).any():
            return 0.0
        nearest = np.abs(plane[n][:, :, None] - plane[m][taken]).min(2)
        return 1.5 * (np.clip(1 - nearest / NEAR, 0, None) ** 1.5).sum(1) * spacing[n]

    return lambda n, taken: sum(clash(n, m, t) for m, t in enumerate(taken))


def _chosen(
    fixed: Sequence[np.ndarray], clash: Callable[[int, list[int]], np.ndarray | float]
) -> tuple[list[int], float]:
    """Which candidate each takes, and the total cost: its own, and its `clash` with what the others take."""
    taken, total = [int(cost.argmin()) for cost in fixed], 0.0
    for _ in range(5):
        before, total = list(taken), 0.0
        for n in sorted(range(len(fixed)), key=lambda n: -float(fixed[n].min())):
            cost = fixed[n] + clash(n, taken)
            if cost.min() < cost[taken[n]] - 1e-6:
                taken[n] = int(cost.argmin())
            total += float(cost[taken[n]])
        if taken == before:
            break
    return taken, total


def _candidates(graph: StateGraph, places: np.ndarray, widths: np.ndarray) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """The curves (candidate, 4, 2) that every arrow may take with their costs, and last those into the start."""
    pairs = {(arrow.source, arrow.target) for arrow in graph.arrows}
    for arrow in graph.arrows:
        if arrow.source == arrow.target:
            yield _loops(places[arrow.source], widths[arrow.source])
        else:
            ends = [(places[n], float(widths[n])) for n in (arrow.source, arrow.target)]
            yield _between(*ends, back=(arrow.target, arrow.source) in pairs)
    out = np.stack([-np.cos(DIRECTIONS), -np.sin(DIRECTIONS)], axis=1)
    anchors = places[graph.start] + out * (widths[graph.start] - RADIUS, 0)
    yield anchors[:, None] + np.linspace(RADIUS + START, RADIUS + ENTERING, 4)[:, None] * out[:, None], 1.0 * TURNED


def _between(
    source: tuple[np.ndarray, float], target: tuple[np.ndarray, float], *, back: bool
) -> tuple[np.ndarray, np.ndarray]:
    """Arcs from one state to another. Where there is an arrow `back`, both keep to their left if they can."""
    (a, _), (b, _) = source, target
    bends = BENDS[np.abs(BENDS) >= 0.15] if back else BENDS
    length, normal = float(np.hypot(*(b - a))), np.array([b[1] - a[1], a[0] - b[0]])
    middles = (a + b) / 2 + normal * bends[:, None]
    curves = [np.stack([a, a + (m - a) * 2 / 3, b + (m - b) * 2 / 3, b]) for m in middles]
    cost = 7 * bends**2 + np.abs(bends) * length / 220 + length / 400 + 0.4 * (back & (bends < 0))
    return np.stack([_clipped(curve, source, target) for curve in curves]), cost


def _loops(centre: np.ndarray, half_width: float) -> tuple[np.ndarray, np.ndarray]:
    """Loops at a state, the best of which points up."""
    angles = DIRECTIONS - np.pi / 2
    out, into = (np.stack([np.cos(angles + lean), np.sin(angles + lean)], axis=1) for lean in (-0.42, 0.42))
    reach = RADIUS + LOOP
    curves = np.stack([out * (RADIUS + LEAVING), out * reach, into * reach, into * (RADIUS + ENTERING)], axis=1)
    curves[..., 0] += np.cos(angles)[:, None] * (half_width - RADIUS)
    return curves + centre, 0.24 * TURNED + 0.3 * (TURNED % 2)


def outside(points: np.ndarray, centre: np.ndarray, half_width: float) -> np.ndarray:
    """How far points lie outside a state, whose shape is a circle stretched to its width."""
    offset = np.abs(points - centre)
    offset[..., 0] = np.maximum(offset[..., 0] - (half_width - RADIUS), 0)
    return np.linalg.norm(offset, axis=-1) - RADIUS


def _clipped(curve: np.ndarray, source: tuple[np.ndarray, float], target: tuple[np.ndarray, float]) -> np.ndarray:
    """The part of a curve from where it leaves its first state to just before it enters its last."""
    times = np.linspace(0, 1, 201)
    points = points_at(curve, times)
    out = outside(points, *source) > LEAVING
    into = outside(points, *target) > ENTERING
    first = times[int(np.argmax(out))] if out.any() else 0.3
    last = max(times[len(times) - 1 - int(np.argmax(into[::-1]))] if into.any() else 0.7, first + 0.05)

    def blossom(*at: float) -> np.ndarray:
        points = curve
        for t in at:
            points = (1 - t) * points[:-1] + t * points[1:]
        return points[0]

    return np.stack([blossom(*at) for at in ((first,) * 3, (first, first, last), (first, last, last), (last,) * 3)])


# Labels.


def label_sizes(graph: StateGraph) -> np.ndarray:
    """The widths and heights of all arrows' labels."""
    sizes = [(max(map(letters, arrow.lines)) * LETTER + 8, len(arrow.lines) * LINE + 2) for arrow in graph.arrows]
    return np.array(sizes).reshape(-1, 2)


def _labelled(
    graph: StateGraph,
    curves: list[np.ndarray],
    drawn: tuple[list[np.ndarray], list[np.ndarray]],
    places: np.ndarray,
    widths: np.ndarray,
) -> tuple[list[np.ndarray], float]:
    """The middle of every label, and the cost of what labels cover. `drawn` has points of all arrows, and weights."""
    halves = label_sizes(graph) / 2
    states = np.stack([widths, np.full(len(widths), RADIUS)], axis=1)
    spots, fixed = [], []
    for n, (arrow, curve) in enumerate(zip(graph.arrows, curves)):
        spot = _beyond(curve, halves[n]) if arrow.source == arrow.target else points_at(curve, SPOTS)
        cost = 0.15 * np.arange(len(spot))
        for m, (weight, points) in enumerate(zip(*drawn)):
            if m != n:
                cost += (np.abs(points - spot[:, None]) < halves[n] + 2).all(2) @ weight
        cost += np.clip(4 - (np.abs(spot[:, None] - places) - halves[n] - states).max(2), 0, None).sum(1)
        cost += np.clip(HEAD + 3 - (np.abs(spot - curve[3]) - halves[n]).max(1), 0, None)  # its own head
        spots.append(spot)
        fixed.append(cost)

    def near_others(n: int, taken: list[int]) -> np.ndarray:
        middles = np.array([spot[t] for spot, t in zip(spots, taken)])
        gaps = (np.abs(spots[n][:, None] - middles) - halves - halves[n]).max(2)
        gaps[:, n] = np.inf
        return np.clip(3 - gaps, 0, None).sum(1)

    taken, total = _chosen(fixed, near_others)
    return [spot[t] for spot, t in zip(spots, taken)], total


def _beyond(curve: np.ndarray, half: np.ndarray) -> np.ndarray:
    """The middle of a loop's label, which stands outside the loop."""
    top = points_at(curve, np.array([0.5]))
    out = top - curve[[0, 3]].mean(0)
    direction = out / np.linalg.norm(out)
    return top + direction * (np.abs(direction) @ half + 1)
