"""Diagrams of large machines: what is left out is named, and the run keeps all of its states."""

import numpy as np
import pytest

import kleene
from kleene.errors import InputError
from kleene.notation.graphs import Arrow, Node, StateGraph
from kleene.pictures.diagrams import CROWD, best_drawing, diagram, near_walk, thinned
from kleene.pictures.diagrams.layout import LONG, RADIUS, STEP, columns, folded, label_sizes
from kleene.programs.turing.library import get

WORD = "#*0R;1RA;=l"  # right over 0s, and accept on a 1


@pytest.fixture(scope="module")
def universal():
    return get("universal").build()


def names(graph: StateGraph) -> list[str]:
    return [node.name for node in graph.nodes]


def arrows(graph: StateGraph) -> set[tuple[str, str]]:
    return {(graph.nodes[a.source].name, graph.nodes[a.target].name) for a in graph.arrows}


def test_the_universal_machine_is_drawn_without_the_crowd_of_arrows_into_reject(universal):
    whole = universal.graph()
    part = thinned(whole)
    into = {pair for pair in arrows(whole) if pair[1] == "reject"}
    assert len(into) >= 20
    assert arrows(part) == arrows(whole) - into
    assert names(part) == [name for name in names(whole) if name != "reject"]
    assert f"Not shown: {len(into)} arrows into reject." in part.note
    assert "--force draws all" in part.note
    assert part.total == whole.total


def test_in_its_drawing_no_label_covers_a_state_and_it_is_no_strip(universal):
    part = thinned(universal.graph())
    drawing = best_drawing(part)
    states = np.stack([drawing.half_widths, np.full(len(part.nodes), RADIUS)], axis=1)
    for middle, size in zip(drawing.labels, label_sizes(part)):
        assert (np.abs(drawing.places - middle) - states - size / 2).max(axis=1).min() > 0
    wide, tall = np.ptp(drawing.places, axis=0)
    assert wide < 4 * tall


def test_long_labels_are_cut_and_the_tooltip_has_every_symbol(universal):
    part = thinned(universal.graph())
    loop = next(a for a in part.arrows if part.nodes[a.source].name == part.nodes[a.target].name == "look")
    assert loop.lines == ("#, *, :, … → R",)
    assert loop.transitions == ("#, *, :, 0, 1, L, R, i, A, X, ;, =, z, e, I → R",)


def test_a_run_into_the_reject_state_keeps_its_way(universal):
    whole = universal.graph("#")
    assert whole.walk.last is not None
    part = thinned(whole)
    assert names(part)[part.walk.last] == "reject"  # pyright: ignore
    assert {pair for pair in arrows(part) if pair[1] == "reject"} == {("look", "reject")}
    assert {part.nodes[n].name for n in part.walk.visits} == {whole.nodes[n].name for n in whole.walk.visits}
    assert len(part.walk.arrows) == len(whole.walk.arrows)


def test_force_draws_everything():
    graph = wheel(CROWD)
    assert "trap" not in diagram(graph).svg.split("</style>")[1].split("Not shown")[0]
    assert diagram(graph, force=True).svg.count('class="edge"') == len(graph.arrows) + 1


def wheel(spokes: int, **options: bool) -> StateGraph:
    """A ring of states, each with an arrow into one trap."""
    nodes = (*(Node(f"q{n}") for n in range(spokes)), Node("trap", **options))
    ring = [Arrow(n, (n + 1) % spokes, ("a",), ("a",)) for n in range(spokes)]
    into = [Arrow(n, spokes, ("b",), ("b",)) for n in range(spokes)]
    return StateGraph("a wheel", nodes, (*ring, *into), 0, spokes + 1)


def test_a_few_arrows_and_those_into_an_accepting_state_are_all_drawn():
    assert thinned(wheel(CROWD - 1)) == wheel(CROWD - 1)
    assert thinned(wheel(CROWD, is_accepting=True)) == wheel(CROWD, is_accepting=True)


def test_of_too_many_states_those_of_the_run_are_drawn():
    moves = {(str(q), str(bit)): str((2 * q + bit) % 70) for q in range(70) for bit in (0, 1)}
    dfa = kleene.DFA(states=tuple(map(str, range(70))), alphabet="01", transitions=moves, start="0", accept={"0"})
    picture = kleene.view(dfa, "101")
    assert "Not shown: 66 states that the run does not visit" in str(picture)
    assert names(near_walk(dfa.graph("101"), 60)) == ["0", "1", "2", "5"]
    assert picture.as_json() == {"states": 70}
    with pytest.raises(InputError, match="a diagram of 70 states cannot be read"):
        kleene.view(dfa)
    with pytest.raises(InputError, match="give a word whose run visits fewer"):
        diagram(dfa.graph("101"), most=3)


def test_a_long_row_of_columns_is_folded_and_no_two_states_share_a_place():
    count = 2 * LONG + 1
    line = tuple(Arrow(n, n + 1, ("a",), ("a",)) for n in range(count - 1))
    graph = StateGraph("a line", tuple(Node(f"q{n}") for n in range(count)), line, 0, count)
    places = folded(next(columns(graph)), STEP)
    assert len({tuple(place) for place in places.round(3).tolist()}) == count
    assert places[:, 0].max() - places[:, 0].min() < LONG * STEP
    assert places[6, 0] == places[7, 0]  # a row ends where the next begins
