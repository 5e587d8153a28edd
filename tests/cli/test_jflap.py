"""JFLAP files and nondeterministic automata on the command line."""

from pathlib import Path

import pytest

import kleene
from tests.command_line import assert_refused
from tests.programs.jflap.examples import A_N_B_N, ENDS_IN_AB, of_type


@pytest.fixture(autouse=True)
def in_a_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("ab.jff").write_text(ENDS_IN_AB)
    Path("anbn.jff").write_text(A_N_B_N)


@pytest.mark.parametrize("name", ["ab.jff", "dfa:ab.jff"])
@pytest.mark.parametrize("more", [(), ("--compiled",)])
def test_an_automaton_of_jflap_is_run(run, name, more):
    assert run("run", name, "bab", *more).out.startswith("accept")
    assert run("run", name, "aba", *more).out.startswith("reject")


@pytest.mark.parametrize("name", ["anbn.jff", "tm:anbn.jff"])
@pytest.mark.parametrize("more", [(), ("--compiled",)])
def test_a_turing_machine_of_jflap_is_run(run, name, more):
    assert run("run", name, "ab", *more).out.startswith("accept")
    assert run("run", name, "abb", *more).out.startswith("reject")


def test_the_trace_shows_the_sets_of_states(run):
    assert "{q0,q1,q2}" in run("run", "ab.jff", "ab", "--trace").out


def test_both_are_drawn_and_either_is_written(run):
    drawn = run("view", "ab.jff", "ab").out
    assert "<title>NFA with 4 states, and its DFA with 3 states</title>" in drawn
    assert run("view", "ab.jff", "-o", "dfa.jff", "--minimise", "--json").json == {"file": "dfa.jff", "states": 3}
    assert kleene.DFA.load("dfa.jff").states == ("q0", "q1", "q2")
    for ending in ("jff", "json", "dot"):
        assert run("view", "ab.jff", "-o", f"again.{ending}").out == f"wrote again.{ending}\n"
        assert kleene.DFA.load(f"again.{ending}").equivalent(kleene.DFA.load("ab.jff"))
    run("view", "tm:copy", "-o", "copy.jff")
    assert run("run", "copy.jff", "ab").out.startswith("accept  tape: ab#ab")
    run("extract", "ab.jff", "--minimise", "-o", "found.jff")
    assert kleene.DFA.load("found.jff").equivalent(kleene.DFA.load("ab.jff"))


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("run", "pda.jff", "a"), "it is a pushdown automaton"),
        (("run", "none.jff", "a"), "there is no file"),
        (("run", "tm:ab.jff", "a"), "name it dfa:ab.jff"),
        (("view", "ab.jff", "-o", "x.tm"), "is written as .jff, .json, .dot, .gv"),
        (("view", "addition", "-o", "x.jff"), "is written as no file at all"),
        (("view", "rnn:dyck1", "-o", "x.jff"), "kleene extract"),
        (("view", "tm:copy", "--minimise", "-o", "x.jff"), "cannot be minimised"),
        (("view", "addition", "--minimise", "-o", "x.html"), "only an automaton"),
    ],
)
def test_bad_input_is_refused_in_words(run, words, message):
    Path("pda.jff").write_text(of_type("pda"))
    assert_refused(run(*words), message)
