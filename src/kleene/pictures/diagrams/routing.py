"""How arrows run and where their labels stand, for states at given places.

An arrow is a cubic Bézier curve, an array (4, 2). In turn, each arrow takes the cheapest of its candidates, given all
others, until none changes. A candidate costs more the more it bends, the longer it is, and the closer it comes to
states and other arrows.
"""

from dataclasses import dataclass

import numpy as np

from kleene.notation.graphs import StateGraph
from kleene.pictures.style import letters

RADIUS = 23.0  # of a state
HEAD = 9.0  # the length of an arrow's head
LINE, LETTER = 15.0, 7.2  # the height and width that a label's text takes up
LEAVING, ENTERING = 1.5, 3.5  # how far from its states an arrow begins and ends


def half_widths(graph: StateGraph) -> np.ndarray:
    """Half the width of each state; a state with a long name is wider than high."""
    return np.array([max(RADIUS, letters(node.label) * 4.2 + 9) for node in graph.nodes])


def label_sizes(graph: StateGraph) -> np.ndarray:
    """The widths and heights of all arrows' labels."""
    sizes = [(max(map(letters, arrow.lines)) * LETTER + 8, len(arrow.lines) * LINE + 2) for arrow in graph.arrows]
    return np.array(sizes).reshape(-1, 2)


def points_at(curve: np.ndarray, times: np.ndarray) -> np.ndarray:
    """The points of one curve, or of several, at times from 0 to 1."""
    t = np.asarray(times)[..., None]
    a, b, c, d = curve[..., 0, :], curve[..., 1, :], curve[..., 2, :], curve[..., 3, :]
    return (1 - t) ** 3 * a + 3 * (1 - t) ** 2 * t * b + 3 * (1 - t) * t**2 * c + t**3 * d


def outside(points: np.ndarray, centre: np.ndarray, half_width: float) -> np.ndarray:
    """How far points lie outside a state, whose shape is a circle stretched to its width."""
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
    """The distance between the samples of each candidate, so that long and short arrows cost alike."""
    return np.linalg.norm(np.diff(points, axis=1), axis=2).mean(1)


BENDS = (0.0, 0.1, -0.1, 0.2, -0.2, 0.35, -0.35, 0.52, -0.52, 0.75, -0.75, 1.0, -1.0)
DIRECTIONS = 16  # of a loop, and of the arrow into the start
LOOP, START = 42.0, 38.0  # how far they reach

Candidates = list[tuple[np.ndarray, float]]


def candidates(graph: StateGraph, places: np.ndarray, widths: np.ndarray) -> list[Candidates]:
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
        direction = np.array([np.cos(angle), np.sin(angle)])
        anchor = centre + np.array([direction[0] * (half_width - RADIUS), 0])
        curve = anchor + np.linspace(RADIUS + START, RADIUS + ENTERING, 4)[:, None] * direction
        found.append((curve, 0.5 * _turn(k)))
    return found


def _turn(k: int) -> int:
    """How many directions lie between the first and the k-th."""
    return min(k, DIRECTIONS - k)


SPOTS = np.array([0.5, 0.42, 0.58, 0.34, 0.66, 0.26, 0.74])  # on its arrow; the earlier, the better


def labelled(
    graph: StateGraph, curves: list[np.ndarray], drawn: np.ndarray, places: np.ndarray, widths: np.ndarray
) -> tuple[list[np.ndarray], float]:
    """The middle of every label, and the cost of what labels cover. `drawn` has points of all arrows."""
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
    """The middle of a loop's label, which stands outside the loop."""
    top = points_at(curve, np.array([0.5]))
    out = top - curve[[0, 3]].mean(0)
    direction = out / np.linalg.norm(out)
    return top + direction * (np.abs(direction) @ half + 1)


SAMPLES = 20  # points that stand for a curve


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


def routed(graph: StateGraph, places: np.ndarray) -> Drawing:
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


def _shape_cost(graph: StateGraph, places: np.ndarray) -> float:
    """The cost of a drawing's size, of being much wider or higher than a page, of states left of the start, and of
    arrows of uneven length."""
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
    """The cost of each candidate for passing close to states other than its own."""
    others = [n for n in range(len(places)) if n not in own]
    if not others:
        return np.zeros(len(points))
    depth = np.stack([outside(points, places[n], widths[n]) for n in others])
    return 2.5 * (np.clip(1 - depth / 14, 0, 3) ** 2).sum((0, 2)) * spacing(points) / 8


def _settled(points: list[np.ndarray], fixed: list[np.ndarray]) -> tuple[list[int], float]:
    """Which candidate each arrow takes, and the total cost."""
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
    """The cost of each candidate for points of other arrows close by: low for a crossing, high for running along."""
    if not len(others):
        return np.zeros(len(points))
    flat = points.reshape(-1, 2)
    squared = (flat**2).sum(1)[:, None] + (others**2).sum(1)[None] - 2 * flat @ others.T
    nearest = np.sqrt(np.maximum(squared.min(1), 0)).reshape(points.shape[:2])
    return (np.clip(1 - nearest / 11, 0, None) ** 1.5).sum(1) * spacing(points) / 8
