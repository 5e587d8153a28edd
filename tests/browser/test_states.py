"""The pages of automata and Turing machines in a real browser."""

import dataclasses

import pytest

import kleene
from kleene.watching.cutting import Cut
from kleene.watching.watch import page_of

pytestmark = pytest.mark.browser


def test_an_automaton_lights_its_state_and_the_arrow_it_took(tab, tmp_path):
    path = kleene.watch("dfa:(a|b)*abb", "abab", both=True).save(tmp_path / "dfa.html")
    trace = kleene.run("dfa:(a|b)*abb", "abab").trace
    tab.open(path)
    for step in range(trace.steps + 1):
        state = trace.channel("state").show(trace["state"][step])
        assert tab.texts(".diagram .now .statename") == [state]
        assert tab.text(".headline").count(state) == 1 + (step > 0 and trace["state"][step] == trace["state"][step - 1])
        assert len(tab.texts(".diagram .taken")) == (step > 0)
        assert tab.texts(".grid td.lit")[0] == state
        tab.press("ARROW_RIGHT")
    tab.press("ARROW_LEFT")
    assert tab.text(".where") == "symbol 3 / 4"


def test_a_turing_machine_shows_its_tape_forward_and_back(tab, tmp_path):
    path = kleene.watch("tm:copy", "ab").save(tmp_path / "tm.html")
    run = kleene.run("tm:copy", "ab").trace
    tab.open(path)
    symbols = """return [...document.querySelectorAll(".tape td")].map((cell) =>
        [...cell.childNodes].filter((n) => n.nodeType === 3).map((n) => n.data).join(""))"""
    for step in [*range(run.steps + 1), *range(run.steps - 1, -1, -1)]:
        assert tab.text(".where") == f"step {step} / {run.steps}"
        tape = [run.channel("tape").show(code).replace("_", "") for code in run["tape"][step]]
        assert tab.js(symbols) == tape
        assert tab.js("return document.querySelector('.tape td.head').cellIndex") == run["head"][step]
        assert tab.texts(".statechip") == [run.channel("state").show(run["state"][step])]
        tab.press("ARROW_RIGHT" if step < run.steps and tab.js("return !window.back") else "ARROW_LEFT")
        if step == run.steps:
            tab.js("window.back = true")


def test_a_long_tape_shows_the_part_around_its_head(tab, tmp_path):
    run = kleene.run("tm:copy", "ab" * 20).trace
    path = kleene.watch("tm:copy", "ab" * 20).save(tmp_path / "long.html")
    step = int(run["head"].argmax())
    tab.open(path, f"#step={step}")
    assert run["tape"].shape[1] > 61
    assert len(tab.texts(".tape td")) == 61
    assert tab.text(".tape th.head") == str(run["head"][step])
    tab.press("HOME")
    assert tab.text(".tape th.head") == "0"


def test_a_network_that_counts_shows_its_units(tab, tmp_path):
    tab.open(kleene.watch("rnn:dyck1", "(())").save(tmp_path / "rnn.html"), "#step=2")
    assert tab.texts(".grid td.lit") == ["2", "0", "0", "–"]


def test_a_difference_between_automaton_and_network_is_marked(tab, tmp_path):
    program, network = (kleene.run("dfa:(a|b)*abb", "ab", compiled=compiled) for compiled in (False, True))
    states = network.trace["state"].copy()
    states[1] = 0
    other = dataclasses.replace(network.trace, data={**network.trace.data, "state": states})
    page = page_of([program, dataclasses.replace(network, trace=other)], Cut(), "ab", program.subject)
    tab.open(page.save(tmp_path / "different.html"), "#step=1")
    assert tab.texts("td[data-differs]") == ["≠ q0"]
    assert tab.text(".badge").startswith("≠ step 1: 'state' is q1 in program but q0 in network")


def test_a_view_offers_the_filters_that_it_heeds(tab, tmp_path):
    tab.open(kleene.watch("tm:copy", "abba").save(tmp_path / "tm.html"))
    offered = "return [...document.querySelectorAll('.filters input')].map((field) => field.id)"
    assert tab.js(offered) == ["filter-positions", "filter-steps"]
    tab.click("[aria-controls=filters]")
    tab.type("#filter-positions", "2-5")
    assert tab.texts(".tape th") == ["2", "3", "4", "5"]
    tab.open(kleene.watch("dfa:(a|b)*abb", "ab").save(tmp_path / "dfa.html"))
    assert tab.js("return [...document.querySelectorAll('.filters input')].map((field) => field.id)") == [
        "filter-steps"
    ]


@pytest.mark.parametrize(
    ("name", "words", "edit", "step"),
    [
        ("dfa:(a|b)*abb", "bbabb", "state@1=q1", 2),
        ("tm:copy", "ab", "tape@1,1=a", 3),
        ("increment", "3 1 2 0", "r0@2=0", 4),
        ("parity_relative", "10110", "parity@3,3=1", 5),
    ],
)
def test_a_page_of_a_file_marks_what_differs_from_the_run_without_its_edits(tab, tmp_path, name, words, edit, step):
    page = kleene.watch(name, words, edits=[edit], both=True).save(tmp_path / "edited.html")
    tab.open(page, f"#step={step}")
    assert tab.texts(".edit code") == [edit]
    assert tab.texts(".edit button, .editform") == []  # a file has no server to run it again
    marked = tab.js("return [...document.querySelectorAll('.moved, [data-moved]')].map((cell) => cell.title)")
    assert marked
    assert all(title.startswith("without the edits: ") for title in marked)
    assert "entries differ from that" in tab.text("#edits-note")
