"""Automata, Turing machines and recurrent networks on the command line."""

import json
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest

import kleene
from kleene.kinds import COUNTERS
from kleene.machines.rnn.library import NETWORKS
from kleene.traces import Trace
from tests.command_line import assert_refused

EVEN = "dfa:(0|10*1)*"


@pytest.fixture(autouse=True)
def in_a_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize(
    "more", [(), ("--compiled",), ("--compiled", "--form", "textbook"), ("--compiled", "--dtype", "float32")]
)
def test_an_automaton_is_run_on_a_word(run, more):
    assert run("run", EVEN, "110", *more).out.splitlines()[0] == "accept"
    assert run("run", EVEN, "100", *more).out.splitlines()[0] == "reject"
    assert run("run", EVEN, *more).out.splitlines()[0] == "accept"  # the empty word


def test_an_automatons_run_in_json_has_verdict_and_trace(run):
    plain, compiled = (run("run", EVEN, "110", "--trace", "--json", *more).json for more in ((), ("--compiled",)))
    assert (plain["verdict"], plain["accepted"], plain["steps"]) == ("accept", True, 3)
    assert plain["trace"]["data"]["state"] == [0, 1, 0, 0]
    assert Trace.from_json(plain["trace"]) == Trace.from_json(compiled["trace"])


def test_a_turing_machine_is_run_and_its_network_too(run):
    plain = run("run", "tm:palindrome", "abba", "--trace", "--json").json
    assert (plain["verdict"], plain["steps"], plain["state"]) == ("accept", 15, "yes")
    for construction, ticks in (("compact", 21), ("merged", 20)):
        network = run(
            "run", "tm:palindrome", "abba", "--compiled", "--construction", construction, "--trace", "--json"
        ).json
        assert network["configurations"] == plain["configurations"]
        assert network["ticks"] == ticks


def test_a_machine_that_goes_on_is_reported_as_such(run):
    result = run("run", "tm:ping_pong", "x11x", "--max-steps", "50")
    assert result.status == 0
    assert result.out.startswith("running")
    assert "it has not halted: give more with --max-steps" in result.out


def test_a_machine_in_a_text_file_and_programs_in_a_python_file_are_found(run):
    from kleene.programs.turing.library import get

    Path("mine.tm").write_text(get("increment").build().to_text())
    assert run("run", "tm:mine.tm", "111101", "--json").json["tape"] == "000011"
    Path("mine.py").write_text("import kleene\nends = kleene.DFA.from_regex('(a|b)*abb')\n")
    assert run("run", "mine.py:ends", "aabb", "--compiled", "--json").json["accepted"]


def test_exact_networks_are_compiled_stored_and_run_again(run):
    facts = run("compile", "tm:sipser", "-o", "sipser.safetensors", "--json").json
    assert (facts["hidden_units"], facts["exact"]) == (58, True)
    assert run("run", "sipser.safetensors", "1111", "--json").json["verdict"] == "accept"
    assert run("run", "sipser.safetensors", "111", "--json").json["verdict"] == "reject"
    facts = run("compile", "dfa:parity", "--form", "textbook", "-o", "parity.safetensors", "--json").json
    assert (facts["hidden_units"], facts["form"]) == (5, "textbook")
    assert run("run", "parity.safetensors", "111", "--json").json["accepted"]


def test_an_automaton_is_extracted_from_a_file_and_written(run):
    run("compile", "dfa:tomita_7", "-o", "net.safetensors")
    found = run("extract", "net.safetensors", "--minimise", "-o", "found.json", "--json").json
    assert found["states"] == 5
    assert kleene.DFA.load("found.json").equivalent(kleene.DFA.from_regex("0*1*0*1*"))
    assert kleene.DFA.from_json(json.dumps(found["automaton"])) == kleene.DFA.load("found.json")
    for ending in ("dot", "svg"):
        assert run("extract", "net.safetensors", "-o", f"found.{ending}").status == 0
        assert Path(f"found.{ending}").stat().st_size > 100


def test_an_automaton_that_is_too_large_to_draw_is_kept(run):
    result = run("extract", "dfa:(a|b)*a(a|b){6}", "--minimise", "-o", "large.svg", "--json")
    assert (result.status, result.json["file"], result.json["states"]) == (1, "large.svg.json", 128)
    assert kleene.DFA.load("large.svg.json").equivalent(kleene.DFA.from_regex("(a|b)*a(a|b){6}"))
    assert "'large.svg.json' has the automaton" in result.json["note"]
    assert result.err == f"kleene: {result.json['note']}\n"


@pytest.mark.parametrize("error", [MemoryError, KeyboardInterrupt])
def test_an_automaton_that_cannot_be_minimised_is_kept_as_it_was_extracted(run, monkeypatch, error):
    def fail(_):
        assert len(kleene.DFA.load("found.json").states) == 256  # kill -9 would not lose it either
        raise error

    monkeypatch.setattr(kleene.DFA, "minimise", fail)
    result = run("extract", "dfa:(a|b)*a(a|b){6}", "--minimise", "-o", "found.json", "--json")
    assert (result.status, result.json["file"], result.json["states"]) == (1, "found.json", 256)
    assert "kleene: the automaton of 256 states is not minimised" in result.err
    assert len(kleene.DFA.load("found.json").states) == 256


def test_an_automaton_is_learned_by_asking(run):
    result = run("extract", "rnn:majority_relu", "--method", "lstar", "--max-states", "6", "--json").json
    assert result["report"]["incomplete"]
    run("compile", "dfa:parity", "--dtype", "float32", "-o", "net.safetensors")
    learned = run("extract", "net.safetensors", "--method", "lstar", "--json").json
    assert (learned["states"], learned["report"]["agreement"]) == (2, 1.0)


def test_all_states_of_theorem_4_6_are_those_of_the_automaton_compiled_with_saturating_units(run):
    found = run("extract", "dfa:parity", "--method", "textbook", "--json").json
    assert found["states"] == 2**4 + 1
    whole = kleene.DFA.from_json(json.dumps(found["automaton"]))
    assert whole.start == "q0"
    assert whole.equivalent(kleene.DFA.from_regex("0*1(0|10*1)*"))
    assert run("extract", "dfa:parity", "--method", "textbook", "--minimise", "--json").json["states"] == 2


def test_too_many_states_of_theorem_4_6_are_refused_with_their_number(run):
    refused = run("extract", "dfa:divisible_by_20", "--method", "textbook")
    assert refused.status == 2
    assert "2^40 + 1 states, and max_states is 100,000; use the method 'reachable'" in refused.err
    # A network in a file keeps the units that it was compiled with.
    run("compile", "dfa:parity", "-o", "net.safetensors")
    refused = run("extract", "net.safetensors", "--method", "textbook")
    assert "Compile the automaton with the activation 'slu'" in refused.err
    run("compile", "dfa:parity", "--activation", "slu", "-o", "net.safetensors")
    assert run("extract", "net.safetensors", "--method", "textbook", "--json").json["states"] == 17


def test_a_diagram_is_written_or_printed(run):
    assert run("view", "dfa:divisible_by_20", "10100", "-o", "twenty.svg").out == "wrote twenty.svg\n"
    words = set(ET.parse("twenty.svg").getroot().itertext())
    assert {str(n) for n in range(20)} <= {word.strip() for word in words}
    assert ET.fromstring(run("view", EVEN).out).tag.endswith("svg")
    assert ET.fromstring(run("view", "tm:sipser").out).tag.endswith("svg")


@pytest.mark.parametrize(
    ("ending", "start"), [("svg", b"<svg"), ("png", b"\x89PNG"), ("pdf", b"%PDF"), ("PNG", b"\x89PNG")]
)
def test_a_picture_is_what_its_name_says(run, ending, start):
    for words in (("view", EVEN, "110"), ("extract", EVEN)):
        assert run(*words, "-o", f"even.{ending.lower()}").status == 0
        assert Path(f"even.{ending.lower()}").read_bytes().startswith(start)
    assert run("view", "tm:bump", "-o", f"bump.{ending}").status == 0
    assert Path(f"bump.{ending}").read_bytes().startswith(start)


def test_a_picture_of_another_kind_is_refused_before_anything_is_made(run):
    for words in (("view", EVEN, "-o", "even.jpg"), ("bench", "alta", "--plot", "costs.jpg")):
        assert_refused(run(*words), ".jpg', and pictures are written as .svg, .png, .pdf, .html; give such a name")
    assert run("view", EVEN, "-o", "even").status == 0
    assert Path("even").read_text().startswith("<svg")


def test_automata_and_machines_are_checked(run):
    for name in ("dfa:tomita_3", "tm:bump"):
        found = run("check", name, "--samples", "20", "--json").json
        assert found["agree"] == found["of"] > 30


def test_the_networks_that_are_listed_are_those_of_the_shelf(run):
    assert list(COUNTERS.shelf()) == list(NETWORKS)
    for name, entry in COUNTERS.shelf().items():
        assert run("run", f"rnn:{name}", *entry.example, "--json").json["accepted"]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("run", EVEN, "12"), "symbol 1 of the word is '2'"),
        (("run", "dfa:(0|1", "0"), "(0|1"),
        (("run", "dfa:missing.json", "0"), "missing.json"),
        (("run", "tm:palindrom", "a"), "did you mean tm:palindrome"),
        (("run", "tm:missing.tm", "a"), "missing.tm"),
        (("run", "tm:palindrome", "abc"), "'c'"),
        (("run", "rnn:dyck2", "a"), "did you mean rnn:dyck1?"),
        (("run", EVEN, "1", "--rules", "paper"), "--rules has no meaning"),
        (("run", EVEN, "1", "--compiled", "--form", "small"), "'small'"),
        (("compile", "tm:sipser", "--construction", "small"), "'small'"),
        (("compile", "tm:sipser", "--dtype", "bfloat16"), "bfloat16"),
        (("compile", EVEN, "--dtype", "bfloat16"), "bfloat16"),
        (("compile", "rnn:dyck1"), "is a network already"),
        (("extract", "rnn:majority_slu"), "needs integer weights, and recurrent"),
        (("extract", "rnn:dyck1", "--max-states", "50"), "max_states"),
        (("extract", EVEN, "--method", "guess"), "no extraction method 'guess'"),
        (("view", "addition", "-o", "a.svg"), "has no picture for 'a.svg'; give a name that ends in .html"),
        (("certify", EVEN), "takes a transformer program"),
        (("rules", "tm:sipser"), "takes a transformer program"),
        (("check", "rnn:dyck1"), "is a network"),
        (("check", "dfa:parity", "--rules", "paper"), "--rules has no meaning"),
        (("check", "tm:bump", "--form", "live"), "--form has no meaning"),
        (("check", "--all", "--form", "live"), "give it with a PROGRAM"),
        (("run", "dfa:parity", "11", "--form", "bogus"), "add --compiled"),
        (("run", "parity_relative", "1", "--rules", "paper"), "add --compiled"),
        (("extract", "rnn:dyck1", "-o", "found.txt"), ".json, .dot, .gv, .jff, .svg, .png, .pdf or .html"),
        (("extract", "tm:bump"), "need not be a regular language"),
    ],
)
def test_bad_input_is_refused_in_words(run, words, message):
    assert_refused(run(*words), message)


def test_a_diagrams_file_and_size_in_json(run):
    assert run("view", EVEN, "--json").json == {"file": "diagram.svg", "states": 2}
    assert Path("diagram.svg").stat().st_size > 100
    assert_refused(run("view", "dfa:(a|b)*a(a|b){6}", "-o", "large.svg"), "--force")


def test_an_automaton_in_a_gv_file_is_found(run):
    assert run("extract", EVEN, "-o", "even.gv").status == 0
    assert run("run", "dfa:even.gv", "110", "--json").json["accepted"]


def test_options_that_would_do_nothing_are_refused(run):
    run("compile", "tm:sipser", "-o", "sipser.safetensors")
    assert_refused(run("run", "sipser.safetensors", "11", "--construction", "merged"), "is a network already")
    assert run("run", "sipser.safetensors", "11", "--max-steps", "50").status == 0
