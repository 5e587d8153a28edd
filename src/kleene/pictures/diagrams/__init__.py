"""The state diagram of a graph, as SVG and as the same matplotlib figure for .png and .pdf files.

What would hide the rest of a large machine is left out, and a note below the drawing says so. `layout` places states,
arrows and labels, and `svg` writes and paints them.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from functools import partial

from kleene.errors import InputError
from kleene.notation.graphs import Arrow, StateGraph, Walk
from kleene.pictures.diagrams.layout import Drawing
from kleene.pictures.diagrams.layout import best_drawing as best_drawing
from kleene.pictures.diagrams.svg import painted, svg_of, written
from kleene.pictures.figures import Picture

MANY = 60  # a diagram of more states cannot be read
CROWD = 10  # arrows into a state without a way out from which they are left out
WIDE = 18  # characters of a line of a label beyond which it is cut


def diagram(graph: StateGraph, *, force: bool = False, most: int = MANY) -> Picture:
    """The state diagram of a graph, the walk in it drawn bold. The same graph gives the same picture.

    Of more than `most` states only those near the walk are drawn; where these are too many too, the graph is refused.
    Arrows that crowd into one dead state are left out. `force` draws everything.
    """
    return diagrams([graph], graph.title, force=force, most=most)


def diagrams(graphs: Sequence[StateGraph], title: str, *, force: bool = False, most: int = MANY) -> Picture:
    """Several state diagrams in one picture, one below the other; the facts are those of the first."""
    parts = [_drawn(graph, force, most) for graph in graphs]
    captions = [line for graph, _ in parts for line in (graph.walk.caption, graph.note) if line]
    svg = svg_of(parts, title)
    return Picture(title, written(svg), partial(painted, svg), "\n".join(captions), {"states": graphs[0].total})


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


def near_walk(graph: StateGraph, most: int) -> StateGraph:
    """The states that the walk visits, if the graph has more than `most` and these are no more."""
    kept = {graph.start, *graph.walk.visits}
    if len(graph.nodes) <= most or not graph.walk.visits or len(kept) > most:
        return graph
    hidden = len(graph.nodes) - len(kept)
    arrows = tuple(a for a in graph.arrows if {a.source, a.target} <= kept)
    note = f"Not shown: {hidden} states that the run does not visit, and their arrows. --force draws all."
    return _with(graph, kept, arrows, note)


def thinned(graph: StateGraph) -> StateGraph:
    """The graph without the many arrows into a state that has no way out, and with long labels cut.

    Most states of a universal machine have an arrow into its reject state, and these hide how the machine works.

    A state that is then without an arrow is left out too. The walk keeps all of its arrows and states.
    """
    trap = _trap(graph)
    lines = [replace(a, lines=tuple(_cut(line) for line in a.lines)) for a in graph.arrows]
    if trap is None:
        return replace(graph, arrows=tuple(lines))
    left_out = [a for a in lines if _into(a, trap) and (a.source, a.target) not in graph.walk.arrows]
    arrows = tuple(a for a in lines if a not in left_out)
    kept = set(range(len(graph.nodes)))
    if trap != graph.start and trap not in graph.walk.visits and not any(_into(a, trap) for a in arrows):
        kept.remove(trap)
        arrows = tuple(a for a in arrows if a.source != trap)
    name = graph.nodes[trap].name
    note = (
        f"Not shown: {len(left_out)} arrows into {name}. A state goes there on symbols without an arrow. "
        f"--force draws all."
    )
    return _with(graph, kept, arrows, note)


def _trap(graph: StateGraph) -> int | None:
    """The state without a way out that most arrows lead into, if they are a crowd and it does not accept."""
    leaving = {a.source for a in graph.arrows if a.source != a.target}
    into = Counter(a.target for a in graph.arrows if a.target not in leaving and a.source != a.target)
    crowded = [n for n, count in into.most_common() if count >= CROWD and not graph.nodes[n].is_accepting]
    return crowded[0] if crowded else None


def _into(arrow: Arrow, trap: int) -> bool:
    return arrow.target == trap and arrow.source != trap


def _cut(line: str) -> str:
    """The line of a label with symbols left out; its action stays.

    >>> _cut("#, *, :, 0, 1, L, R, i, A, X, ;, = → z, R")
    '#, *, … → z, R'
    """
    symbols, arrow, action = line.rpartition(" → ")
    if len(line) <= WIDE or not arrow:
        return line
    room = max(1, WIDE - 4 - len(arrow + action))
    return f"{symbols[: symbols.rfind(', ', 0, room) + 1] or symbols[:room]} …{arrow}{action}"


def _with(graph: StateGraph, kept: set[int], arrows: tuple[Arrow, ...], note: str) -> StateGraph:
    """The graph with these states and arrows, which get new numbers."""
    place = {old: new for new, old in enumerate(sorted(kept))}
    moved = tuple(replace(a, source=place[a.source], target=place[a.target]) for a in arrows)
    walk = graph.walk
    visits = {place[n]: steps for n, steps in walk.visits.items() if n in place}
    taken = frozenset((place[a], place[b]) for a, b in walk.arrows if a in place and b in place)
    return replace(
        graph,
        nodes=tuple(graph.nodes[n] for n in sorted(kept)),
        arrows=moved,
        start=place[graph.start],
        note=" ".join(part for part in (graph.note, note) if part),
        walk=Walk(visits, taken, None if walk.last is None else place.get(walk.last), walk.caption),
    )
