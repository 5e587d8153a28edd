"""State diagrams of automata and Turing machines."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from kleene.errors import InputError
from kleene.files import write_atomically
from kleene.pictures.diagrams.graphs import Graph, Walk, graph_of, walk_of
from kleene.pictures.diagrams.layouts import layouts
from kleene.pictures.diagrams.painting import painted
from kleene.pictures.diagrams.routing import RADIUS, Drawing, half_widths, label_sizes, routed
from kleene.pictures.diagrams.svg import written
from kleene.pictures.figures import check_picture, save_figure

MANY = 60  # states beyond which nobody can read a diagram


def diagram(machine: Any, *, trace: Sequence[str] | None = None, dead: bool = True, force: bool = False) -> str:
    """The state diagram of a DFA or Turing machine as SVG text that stands alone: no script, no font, no other file.

    `trace` is a word whose path is shown in bold. With `dead=False` states from which nothing is accepted are left out,
    and a note says so. More than 60 states are refused unless you `force` it. The same machine gives the same picture.
    """
    graph, drawing, walk = _drawn(machine, trace, dead, force)
    return written(graph, drawing, walk)


def save(
    machine: Any, path: Any, *, trace: Sequence[str] | None = None, dead: bool = True, force: bool = False
) -> Path:
    """The path of the file now holding the diagram; options as for `diagram`.

    It is what the name says, .svg, .png or .pdf, and SVG if it has no ending.
    """
    check_picture(path)
    parts = _drawn(machine, trace, dead, force)
    if Path(path).suffix.lower() in ("", ".svg"):
        return write_atomically(path, written(*parts).encode())
    return save_figure(painted(*parts), path)


def _drawn(machine: Any, trace: Sequence[str] | None, dead: bool, force: bool) -> tuple[Graph, Drawing, Walk]:
    graph = graph_of(machine, dead=dead)
    if len(graph.nodes) > MANY and not force:
        raise InputError(
            f"a diagram of {len(graph.nodes)} states cannot be read, and {MANY} is the limit. Minimise the automaton, "
            f"leave its dead state out (dead=False, or --no-dead), or draw it all the same (force=True, or --force), "
            f"which may take minutes."
        )
    walk = Walk() if trace is None else walk_of(machine, graph, trace)
    return graph, best_drawing(graph), walk


def best_drawing(graph: Graph) -> Drawing:
    """The easiest to read of several drawings of a graph. Rows and columns are what people know, and are preferred."""
    widest = max((float(size[0]) for size in label_sizes(graph)), default=0.0)
    gap = max(0.0, widest - 30) + 2 * max(0.0, float(half_widths(graph).max()) - RADIUS)
    first, *others = (routed(graph, places) for places in layouts(graph, gap))
    best = min(others, key=lambda drawing: drawing.cost, default=first)
    return first if first.cost * 0.75 <= best.cost else best
