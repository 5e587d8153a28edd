"""State diagrams, read back from their SVG: everything is there, and nothing lies on anything else."""

import functools
import os
import random
import re
import subprocess
import sys
from itertools import combinations
from xml.etree import ElementTree

import numpy as np
import pytest

from kleene.errors import InputError
from kleene.notation.graphs import Arrow, Node, StateGraph
from kleene.notation.words import Word
from kleene.pictures.diagrams import diagram as picture_of
from kleene.programs.automata import DFA
from kleene.programs.turing import TuringMachine


def diagram(machine: DFA | TuringMachine, word: Word | None = None, *, dead: bool = True, **options) -> str:
    """The SVG of a machine's graph."""
    return picture_of(machine.graph(word, dead=dead), **options).svg


SVG = "{http://www.w3.org/2000/svg}"


def divisible(by: int) -> DFA:
    """The binary numbers that a number divides; its states are the remainders."""
    moves = {(str(q), str(bit)): str((2 * q + bit) % by) for q in range(by) for bit in (0, 1)}
    return DFA(states=tuple(map(str, range(by))), alphabet="01", transitions=moves, start="0", accept={"0"})


def random_dfa(states: int, seed: int) -> DFA:
    rng, names = random.Random(seed), [f"q{i}" for i in range(states)]
    moves = {(q, a): rng.choice(names) for q in names for a in "ab"}
    return DFA(states=tuple(names), alphabet="ab", transitions=moves, start="q0", accept={names[-1]})


DFAS = {
    "one state": DFA(states=("q",), alphabet="a", transitions={("q", "a"): "q"}, start="q", accept={"q"}),
    "parity": DFA.from_regex("(0|10*1)*"),
    "tomita 7": DFA.from_regex("0*1*0*1*"),
    "third from the end": DFA.from_regex("(a|b)*a(a|b){2}"),
    "random, 12 states": random_dfa(12, 1),
    "20 remainders": divisible(20),
}


@functools.cache
def drawn(name: str) -> str:
    return diagram(DFAS[name])


BOUNCE = TuringMachine(
    transitions={
        ("go", "a"): ("go", "b", "R"),
        ("go", "b"): ("go", "b", "R"),
        ("go", "_"): ("back", "_", "L"),
        ("back", "a"): ("no", "a", "R"),
        ("back", "b"): ("yes", "a", "R"),
        ("back", "_"): ("no", "_", "R"),
    },
    start="go",
    accept="yes",
    reject="no",
)


def texts(svg: str, kind: str) -> list[str]:
    return [text.text or "" for text in ElementTree.fromstring(svg).iter(f"{SVG}text") if text.get("class") == kind]


def titles(svg: str) -> list[str]:
    return [title.text or "" for title in ElementTree.fromstring(svg).iter(f"{SVG}title")]


def shapes(svg: str) -> list[tuple[np.ndarray, np.ndarray]]:
    """The middle and the half width and height of every state."""
    found = []
    for shape in ElementTree.fromstring(svg).iter():
        if shape.get("class") == "shape" and shape.tag == f"{SVG}circle":
            r = float(shape.attrib["r"])
            found.append((np.array([float(shape.attrib["cx"]), float(shape.attrib["cy"])]), np.array([r, r])))
        elif shape.get("class") == "shape":
            half = np.array([float(shape.attrib["width"]), float(shape.attrib["height"])]) / 2
            found.append((np.array([float(shape.attrib["x"]), float(shape.attrib["y"])]) + half, half))
    return found


def pills(svg: str) -> list[tuple[np.ndarray, np.ndarray]]:
    """The middle and the half width and height of every label's ground."""
    found = []
    for rect in ElementTree.fromstring(svg).iter(f"{SVG}rect"):
        if rect.get("class") == "pill":
            half = np.array([float(rect.attrib["width"]), float(rect.attrib["height"])]) / 2
            found.append((np.array([float(rect.attrib["x"]), float(rect.attrib["y"])]) + half, half))
    return found


def paths(svg: str) -> list[np.ndarray]:
    """Points along every arrow."""
    found = []
    for path in ElementTree.fromstring(svg).iter(f"{SVG}path"):
        a, b, c, d = np.array([float(x) for x in re.findall(r"-?[\d.]+", path.attrib["d"])]).reshape(4, 2)
        t = np.linspace(0, 1, 60)[:, None]
        found.append((1 - t) ** 3 * a + 3 * (1 - t) ** 2 * t * b + 3 * (1 - t) * t**2 * c + t**3 * d)
    return found


def outside(points: np.ndarray, shape: tuple[np.ndarray, np.ndarray]) -> float:
    """How far the nearest of the points is from a state, negative where it lies inside."""
    middle, half = shape
    offset = np.abs(points - middle)
    offset[:, 0] = np.maximum(offset[:, 0] - (half[0] - half[1]), 0)
    return float((np.hypot(*offset.T) - half[1]).min())


@pytest.mark.parametrize("name", DFAS)
def test_every_state_and_every_transition_is_in_the_picture(name):
    dfa, svg = DFAS[name], drawn(name)
    assert texts(svg, "name") == [str(state) for state in dfa.states]
    tooltips = set(titles(svg))
    labels = sorted(texts(svg, "label"))
    joined = {}
    for (state, symbol), target in dfa.transitions.items():
        joined.setdefault((state, target), []).append(symbol)
    assert labels == sorted(", ".join(symbols) for symbols in joined.values())
    for (state, target), symbols in joined.items():
        assert f"{state} → {target}: {'; '.join(symbols)}" in tooltips


@pytest.mark.parametrize("name", DFAS)
def test_accepting_states_have_a_second_ring_and_the_start_an_arrow(name):
    dfa, svg = DFAS[name], drawn(name)
    groups = [g for g in ElementTree.fromstring(svg).iter(f"{SVG}g") if "shape" in {c.get("class") for c in g}]
    ringed = [g.find(f"{SVG}text").text for g in groups if any(c.get("class") == "ring" for c in g)]  # pyright: ignore
    assert set(ringed) == {str(state) for state in dfa.accept}
    arrow = paths(svg)[0]
    start = shapes(svg)[dfa.states.index(dfa.start)]
    assert outside(arrow[-1:], start) < 12 < outside(arrow[:1], start)


@pytest.mark.parametrize("name", DFAS)
def test_states_do_not_overlap_and_arrows_do_not_run_through_them(name):
    svg = drawn(name)
    for (a, a_half), (b, b_half) in combinations(shapes(svg), 2):
        assert (np.abs(a - b) - a_half - b_half).max() > 10 or np.hypot(*(a - b)) > 56
    for points in paths(svg):
        assert all(outside(points, shape) > -0.6 for shape in shapes(svg))


@pytest.mark.parametrize("name", DFAS)
def test_labels_cover_neither_states_nor_one_another(name):
    svg, rounding = drawn(name), 0.2
    for (a, a_half), (b, b_half) in combinations(pills(svg), 2):
        assert (np.abs(a - b) - a_half - b_half).max() > -4
    for middle, half in pills(svg):
        assert all((np.abs(middle - place) - half - size).max() > -rounding for place, size in shapes(svg))


@pytest.mark.parametrize("name", DFAS)
def test_everything_lies_within_the_picture(name):
    svg = drawn(name)
    left, top, width, height = map(float, ElementTree.fromstring(svg).attrib["viewBox"].split())
    for middle, half in shapes(svg) + pills(svg):
        assert ((middle - half) > (left, top)).all()
        assert ((middle + half) < (left + width, top + height)).all()
    points = np.concatenate(paths(svg))
    assert (points > (left, top)).all()
    assert (points < (left + width, top + height)).all()


@pytest.mark.parametrize("name", DFAS)
def test_a_picture_stands_alone_and_has_colours_for_light_and_dark(name):
    svg = drawn(name)
    assert not re.search(r"<script|href|url\(|@import|@font-face|\son\w+=", svg)
    light, dark = re.search(r"<style>(.*)@media \(prefers-color-scheme: dark\)\{(.*)\}</style>", svg).groups()  # pyright: ignore
    for part in ("card", "edge", "head", "pill", "label", "shape", "name"):
        assert f".{part}{{" in light
        assert f".{part}{{" in dark


def test_the_same_automaton_gives_the_same_picture_in_every_process():
    code = (
        "from kleene.pictures.diagrams import diagram; from kleene.programs.automata import DFA; import sys;"
        "sys.stdout.write(diagram(DFA.from_regex('(a|b)*a(a|b){2}').graph()).svg)"
    )
    environment = os.environ | {"PYTHONHASHSEED": "7", "PYTHONIOENCODING": "utf-8"}
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True, timeout=60, env=environment)
    assert done.stdout.decode() == drawn("third from the end")


def test_pictures_are_made_without_jax():
    code = "import kleene.pictures.diagrams, sys; print('jax' in sys.modules, 'equinox' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60)
    assert done.stdout.split() == ["False", "False"]


def test_names_and_symbols_that_mean_something_in_xml_are_escaped():
    dfa = DFA(
        states=("<b>", 'a & "b"'),
        alphabet=("<", "&&"),
        transitions={(q, a): "<b>" if a == "<" else 'a & "b"' for q in ("<b>", 'a & "b"') for a in ("<", "&&")},
        start="<b>",
        accept={"<b>"},
    )
    svg = diagram(dfa, ["<", "&&"])
    assert texts(svg, "name") == ["<b>", 'a & "b"']
    assert sorted(texts(svg, "label")) == ["&&", "&&", "<", "<"]
    assert "<b>" not in svg


def test_a_long_name_is_shortened_and_stands_whole_in_the_tooltip():
    name = "the state in which all that was read is even"
    moves = {(name, "a"): "odd", ("odd", "a"): name}
    svg = diagram(DFA(states=(name, "odd"), alphabet="a", transitions=moves, start=name, accept={name}))
    assert texts(svg, "name") == ["the state in wh…", "odd"]
    assert f"{name} (start; accepting)" in titles(svg)
    (_, wide), (_, round_) = shapes(svg)
    assert wide[0] > 70 > 30 > round_[0]


def test_symbols_in_a_row_are_written_as_a_range():
    dfa = DFA.from_regex("(a|b|c|d|e|1|2)*z", alphabet="abcde12z")
    assert {"a–e, 1, 2", "z"} <= set(texts(diagram(dfa, dead=False), "label"))
    many = dict.fromkeys(("alpha", "beta", "gamma", "delta"), "q")
    wide = DFA(
        states=("q",), alphabet=tuple(many), transitions={("q", s): q for s, q in many.items()}, start="q", accept=()
    )
    assert texts(diagram(wide), "label") == ["alpha, beta,", "gamma, delta"]


def test_dead_states_can_be_left_out_and_a_note_says_so():
    dfa = DFA.from_regex("ab*")
    dead = next(iter(dfa.dead))
    svg = diagram(dfa, dead=False)
    assert dead not in texts(svg, "name")
    assert len(texts(svg, "name")) == 2
    assert f"Not shown: {dead}, from where nothing is accepted" in " ".join(texts(svg, "caption"))
    assert texts(diagram(dfa), "caption") == []
    nothing = DFA(states=("q",), alphabet="a", transitions={("q", "a"): "q"}, start="q", accept=())
    assert texts(diagram(nothing, dead=False), "name") == ["q"]


def test_states_that_nothing_reaches_are_drawn_too():
    moves = {("start", "a"): "start", ("lost", "a"): "start", ("alone", "a"): "alone"}
    dfa = DFA(states=("start", "lost", "alone"), alphabet="a", transitions=moves, start="start", accept={"lost"})
    assert texts(diagram(dfa), "name") == ["start", "lost", "alone"]


def marked(svg: str, kind: str) -> list[str]:
    """The tooltips of what has a mark."""
    found = ElementTree.fromstring(svg).iter(f"{SVG}g")
    return [t.text or "" for g in found if kind in g.get("class", "").split() for t in g.findall(f"{SVG}title")]


def test_the_way_of_a_word_is_shown():
    svg = diagram(DFAS["tomita 7"], "0110")
    assert [tooltip.split(" ")[0] for tooltip in marked(svg, "visited")] == ["q0", "q1", "q2"]
    assert "visited at step 0, 1" in marked(svg, "visited")[0]
    assert set(marked(svg, "taken")) == {"start", "q0 → q0: 0", "q0 → q1: 1", "q1 → q1: 1", "q1 → q2: 0"}
    assert [tooltip.split(" ")[0] for tooltip in marked(svg, "last")] == ["q2"]
    assert texts(svg, "caption") == ["'0110' is accepted: q0 → q0 → q1 → q1 → q2"]
    assert not marked(drawn("tomita 7"), "visited")


def test_the_way_of_the_empty_word_and_one_into_a_state_that_is_not_shown():
    dfa = DFA.from_regex("ab*")
    assert texts(diagram(dfa, ""), "caption") == ["the empty word is rejected: q0"]
    svg = diagram(dfa, "abaa", dead=False)
    assert marked(svg, "last") == []
    assert [tooltip.split(" ")[0] for tooltip in marked(svg, "visited")] == ["q0", "q1"]


def test_a_word_outside_the_alphabet_is_refused():
    with pytest.raises(InputError, match="symbol 1 of the word is 'x'"):
        diagram(DFAS["parity"], "0x")


def test_a_turing_machine_says_what_it_writes_and_where_it_goes():
    svg = diagram(BOUNCE, "ab")
    assert texts(svg, "name") == ["go", "back", "yes", "no"]
    assert sorted(texts(svg, "label")) == ["_ → L", "a → b, R", "a, _ → R", "b → R", "b → a, R"]
    assert [tooltip.split(" ")[0] for tooltip in marked(svg, "accepting")] == ["yes"]
    assert [tooltip.split(" ")[0] for tooltip in marked(svg, "rejecting")] == ["no"]
    assert texts(svg, "caption") == ["'ab' is accepted: go → go → go → back → yes"]
    svg = diagram(BOUNCE, dead=False)
    assert texts(svg, "name") == ["go", "back", "yes"]
    assert "Not shown: no, which rejects" in " ".join(texts(svg, "caption"))


def test_too_many_states_are_refused_unless_forced():
    with pytest.raises(InputError, match=r"a diagram of 61 states cannot be read, and 60 is the limit.*force=True"):
        diagram(divisible(61))
    with pytest.raises(InputError, match="a diagram of 5 states"):
        diagram(divisible(5), most=4)
    assert len(texts(diagram(divisible(5), most=4, force=True), "name")) == 5


def test_a_picture_is_saved(tmp_path):
    path = picture_of(DFAS["parity"].graph()).save(tmp_path / "parity.svg")
    assert path.read_text(encoding="utf-8") == drawn("parity")


def test_how_far_states_are_from_the_start():
    assert DFAS["tomita 7"].graph().depths == [0, 1, 2, 3, 4]
    assert divisible(5).graph().depths == [0, 1, 2, 2, 3]
    nodes = tuple(map(Node, ("start", "next", "lost", "before it", "alone")))
    arrows = tuple(Arrow(*ends, ("a",), ("a",)) for ends in ((0, 1), (2, 0), (3, 2)))
    assert StateGraph("", nodes, arrows, 0, 5).depths == [0, 1, 1, 2, 3]


@pytest.mark.parametrize("name", ["one state", "parity", "tomita 7", "third from the end", "random, 12 states"])
def test_states_stand_from_left_to_right_by_their_distance_from_the_start(name):
    places = [middle[0] for middle, _ in shapes(drawn(name))]
    by_depth = zip(*sorted(zip(DFAS[name].graph().depths, places)))
    depths, across = (np.array(column) for column in by_depth)
    assert (np.diff(across)[np.diff(depths) > 0] > 50).all()
    assert (np.diff(across)[np.diff(depths) == 0] == 0).all()


def test_a_figure_has_everything_that_its_svg_has():
    picture = picture_of(BOUNCE.graph("ab"))
    (ax,) = picture.figure().axes
    assert [text.get_text() for text in ax.texts] == [
        text.text for text in ElementTree.fromstring(picture.svg).iter(f"{SVG}text")
    ]
    assert len(ax.patches) == len(re.findall(r"<(?:path|polygon|rect)", picture.svg)) - 1  # the card
    visited = [patch for patch in ax.patches if patch.get_linewidth() == 3.2]
    assert len(visited) == 3


def test_symbols_and_captions_of_any_length_are_cut(tmp_path):
    long = "a" * 100_000
    moves = {("p", long): "q", ("p", "b"): "p", ("q", long): "p", ("q", "b"): "q"}
    dfa = DFA(states=("p", "q"), alphabet=(long, "b"), transitions=moves, start="p", accept={"q"})
    shown = ElementTree.fromstring(diagram(dfa, ["b"] * 20_000)).iter(f"{SVG}text")
    assert sum(len(text.text or "") for text in shown) < 10_000
    assert picture_of(dfa.graph()).save(tmp_path / "a.png").stat().st_size < 1_000_000


def test_a_name_that_is_no_text_is_refused_when_the_diagram_is_saved(tmp_path):
    dfa = DFA(states=("\ud800",), alphabet="a", transitions={("\ud800", "a"): "\ud800"}, start="\ud800", accept=set())
    with pytest.raises(InputError, match="is no character"):
        picture_of(dfa.graph()).save(tmp_path / "a.svg")
