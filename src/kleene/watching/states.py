"""What the page of an automaton or a Turing machine shows beside its trace: the diagram of its states."""

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np

from kleene.notation.graphs import StateGraph
from kleene.pictures.diagrams import best_drawing
from kleene.pictures.diagrams.layout import Drawing
from kleene.pictures.diagrams.svg import head_of, page_of
from kleene.running import Outcome
from kleene.traces import Trace
from kleene.watching.cutting import Cut
from kleene.watching.document import ViewParts

DRAWN = 16  # states that are all drawn; of a larger machine those that the run visits
LONGEST = 12  # characters of a label in such a diagram; the rest is in its tooltip
MOST_DRAWN = 40  # states; a diagram of more cannot be read


def word_parts(outcomes: Sequence[Outcome], cut: Cut, program: Any | None) -> ViewParts:
    """The view of a word that is read symbol by symbol, with the diagram of an automaton."""
    return ViewParts(view="word", step="symbol", more=_diagram(program, outcomes[0].trace))


def tape_parts(outcomes: Sequence[Outcome], cut: Cut, program: Any | None) -> ViewParts:
    """The view of a tape, with the diagram of a Turing machine."""
    trace = cut.of(outcomes[0].trace)
    cells = tuple(map(str, range(outcomes[0].trace.channel("head").size or 0)))
    codes = trace.channel("tape").labels or ()
    blank = getattr(outcomes[0].trace, "blank", None)
    more = {"blank": codes.index(blank) if blank in codes else -1}
    return ViewParts(view="tape", positions=cells, more=more | _diagram(program, trace))


def _diagram(program: Any | None, trace: Trace) -> dict[str, Any]:
    """The diagram, and what it leaves out; without a diagram, why there is none."""
    if program is None or "state" not in trace:
        return {"diagram": None, "undrawn": ""}
    labels = trace.channel("state").labels or ()
    visited = [str(labels[code]) for code in trace["state"].tolist()]
    graph: StateGraph = program.graph(dead=False)  # without states from which nothing is accepted, if the run allows it
    if not set(visited) <= {node.name for node in graph.nodes}:
        graph = program.graph()
    note = graph.note
    if len(graph.nodes) > DRAWN:
        near = near_the_run(graph, visited)
        left_out = graph.total - len(near.nodes)
        note = f"States that this run does not visit are left out: {left_out} of {graph.total}." if left_out else ""
        graph = near
    if len(graph.nodes) > MOST_DRAWN:
        return {"diagram": None, "undrawn": f"The run visits {len(graph.nodes)} states, too many for a diagram."}
    return {"diagram": drawn(replace(graph, note="")), "undrawn": note}


def near_the_run(graph: StateGraph, visited: Sequence[str]) -> StateGraph:
    """The states that a run visits, and the arrows that it takes between them, with short labels."""
    place = {node.name: number for number, node in enumerate(graph.nodes)}
    taken = {(place[a], place[b]) for a, b in pairwise(visited) if a in place and b in place}
    kept = sorted({place[name] for name in visited if name in place} | {graph.start})
    number = {old: new for new, old in enumerate(kept)}
    arrows = tuple(
        replace(arrow, source=number[arrow.source], target=number[arrow.target], lines=_short(arrow.lines))
        for arrow in graph.arrows
        if (arrow.source, arrow.target) in taken
    )
    return StateGraph(graph.title, tuple(graph.nodes[n] for n in kept), arrows, number[graph.start], graph.total)


def _short(lines: Sequence[str]) -> tuple[str, ...]:
    shown = [line if len(line) <= LONGEST else line[: LONGEST - 1] + "…" for line in lines[:2]]
    return (*shown[:1], "…") if len(lines) > 2 else tuple(shown)


def drawn(graph: StateGraph) -> dict[str, Any]:
    """The places of states, arrows and labels, as plain numbers."""
    drawing = best_drawing(graph)
    box = page_of(graph, drawing)
    return {
        "title": graph.title,
        "box": _rounded([box.left, box.top, box.wide, box.tall]),
        "start": _curve(drawing.start),
        "nodes": [
            {
                "name": node.name,
                "label": node.label,
                "accepting": node.is_accepting,
                "rejecting": node.is_rejecting,
                "at": _rounded(place),
                "half": round(float(half), 1),
            }
            for node, place, half in zip(graph.nodes, drawing.places, drawing.half_widths)
        ],
        "arrows": _arrows(graph, drawing),
    }


def _arrows(graph: StateGraph, drawing: Drawing) -> list[dict[str, Any]]:
    return [
        {
            "source": arrow.source,
            "target": arrow.target,
            "lines": list(arrow.lines),
            "all": "; ".join(arrow.transitions),
            "at": _rounded(middle),
            **_curve(curve),
        }
        for arrow, curve, middle in zip(graph.arrows, drawing.curves, drawing.labels)
    ]


def _curve(curve: np.ndarray) -> dict[str, Any]:
    corners, end = head_of(curve)
    return {"curve": _rounded([*curve[:3].reshape(-1), *end]), "head": _rounded(corners.reshape(-1))}


def _rounded(numbers: Any) -> list[float]:
    return [round(float(x), 1) for x in numbers]
