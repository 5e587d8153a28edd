"""`kleene.view`: one verb for everything that can be drawn."""

import subprocess
import sys
from xml.etree import ElementTree

import numpy as np
import pytest

import kleene
from kleene.errors import InputError
from kleene.pictures.traces import trace_picture
from kleene.programs.automata.library import get
from kleene.programs.turing.library import get as get_machine

SVG = "{http://www.w3.org/2000/svg}"


def names(svg: str) -> list[str]:
    return [text.text or "" for text in ElementTree.fromstring(svg).iter(f"{SVG}text") if text.get("class") == "name"]


def test_an_automaton_and_its_name_give_the_same_picture():
    by_name = kleene.view("dfa:tomita_7", "0110")
    assert by_name.svg == kleene.view(get("tomita_7").build(), "0110").svg
    assert repr(by_name) == "<Picture: DFA with 5 states>"
    assert str(by_name) == "DFA with 5 states\n'0110' is accepted: q0 → q0 → q1 → q1 → q2"
    assert by_name._repr_svg_().startswith("<svg")


def test_a_turing_machine_is_drawn():
    picture = kleene.view("tm:sipser", "11", dead=False)
    assert picture.as_json() == {"states": 7}
    assert "q6" not in names(picture.svg)
    assert "Not shown: q6" in str(picture)


def test_a_network_is_drawn_as_the_automaton_that_it_is():
    dfa = get("parity").build()
    network = kleene.compile(dfa)
    assert kleene.view(network).svg == kleene.view(kleene.extract(network)).svg
    with pytest.raises(InputError, match="need not be a regular language"):
        kleene.view(kleene.compile(get_machine("bump").build()))


def test_symbols_of_several_letters_are_typed_with_spaces(tmp_path):
    dfa = kleene.DFA.from_table([("q", "one", "r"), ("r", "one", "q")], start="q", accept=["r"])
    file = dfa.save(tmp_path / "d.json")
    assert "'one one' is rejected: q → r → q" in str(kleene.view(f"dfa:{file}", "one one"))
    assert kleene.view(dfa, ["one", "one"]).svg == kleene.view(f"dfa:{file}", "one one").svg


@pytest.mark.parametrize(("ending", "start"), [("svg", b"<svg"), ("png", b"\x89PNG"), ("pdf", b"%PDF")])
def test_a_picture_is_saved_and_knows_its_file(tmp_path, ending, start):
    path = tmp_path / f"parity.{ending}"
    picture = kleene.view("dfa:parity", path=path)
    assert picture.path == path
    assert picture.as_json() == {"file": str(path), "states": 2}
    assert path.read_bytes().startswith(start)
    assert picture.save(tmp_path / f"again.{ending}").read_bytes() == path.read_bytes()


def test_a_bad_ending_is_refused_before_anything_is_looked_for():
    with pytest.raises(InputError, match=r"is 'a.jpg', and pictures are written as .svg, .png, .pdf"):
        kleene.view("dfa:no such thing|(", path="a.jpg")


def test_what_cannot_be_shown_is_refused_with_what_can():
    with pytest.raises(InputError, match="the subject is a int; kleene view shows programs, machines, runs"):
        kleene.view(7)
    with pytest.raises(InputError, match="has no states, so that no path of a word can be drawn"):
        kleene.view("addition", "1 2")
    with pytest.raises(InputError, match="has no picture for"):
        kleene.view("addition", path="a.png")


def test_a_program_is_a_page_of_its_variables_heads_and_rules(tmp_path):
    found = kleene.view("parity_relative", path=tmp_path / "parity.html")
    text = found.path.read_text()
    assert repr(found) == "<ObjectPage: Program parity_relative: 2 variables, 2 heads, 2 cases>"
    assert found.as_json() == {"file": str(tmp_path / "parity.html")}
    assert "<td>done := 1</td><td>done_left = 1</td>" in text
    assert text.startswith("<!doctype html>")
    assert found._repr_html_() in text


def test_a_run_is_a_page_that_steps_through_it_and_a_picture_by_its_name(tmp_path):
    outcome = kleene.run("parity_relative", "101")
    assert repr(kleene.view(outcome)) == "<WatchPage of parity_relative: 3 layers>"
    kleene.view(outcome, path=tmp_path / "run.html")
    assert "kleene watch" in (tmp_path / "run.html").read_text()
    assert kleene.view(outcome, path=tmp_path / "run.svg").svg == kleene.view(outcome.trace).svg


def test_what_is_shown_is_shown_again():
    for found in (kleene.view("dfa:parity"), kleene.view("addition")):
        assert kleene.view(found) is found


def shown(svg: str) -> str:
    """The letters of a figure's SVG."""
    return " ".join(text.text or "" for text in ElementTree.fromstring(svg).iter(f"{SVG}text"))


@pytest.mark.parametrize(
    "trace",
    [
        get("parity").build().run("110"),
        kleene.Trace(
            (kleene.Channel("tape", "category", 2, labels=("a", "b")), kleene.Channel("read", "number", per_step=True)),
            {"tape": np.array([[0, 1], [1, 1]]), "read": np.array([np.nan, 0.5])},
        ),
    ],
)
def test_a_trace_is_drawn_with_every_entry(trace):
    picture = kleene.view(trace)
    written = shown(picture.svg)
    assert picture.as_json() == {"steps": trace.steps, "channels": [c.name for c in trace.channels]}
    for channel in trace.channels:
        assert channel.name in written
        entries = trace[channel.name][1:] if channel.per_step else trace[channel.name]
        for entry in entries.reshape(-1):
            assert channel.show(entry) in written


def test_what_changed_in_a_trace_is_coloured():
    still = kleene.Trace((kleene.Channel("a"),), {"a": np.array([1, 1, 1])}, axes=("step",))
    moving = kleene.Trace((kleene.Channel("a"),), {"a": np.array([1, 0, 0])}, axes=("step",))
    assert "#fed7aa" not in kleene.view(still).svg
    assert kleene.view(moving).svg.count("#fed7aa") == 1


def test_the_run_of_a_turing_machine_is_drawn():
    picture = kleene.view(get_machine("sipser").build().run("11"))
    assert picture.as_json()["steps"] == 7
    with pytest.raises(InputError, match="leave the word out"):
        kleene.view(get("parity").build().run("1"), "1")


def test_a_trace_too_large_to_be_read_is_refused_unless_forced():
    trace = get("parity").build().run("1" * 4)
    with pytest.raises(InputError, match="a trace with 15 entries cannot be read, and 14 is the limit"):
        trace_picture(trace, most=14)
    assert trace_picture(trace, most=14, force=True).svg == trace_picture(trace, most=15).svg


def test_programs_are_drawn_without_jax():
    code = (
        "import kleene, sys; kleene.view('dfa:parity', '11'); print('jax' in sys.modules, 'matplotlib' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60)
    assert done.stdout.split() == ["False", "False"]
