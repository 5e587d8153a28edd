"""Programs of one's own with labels, from the command line: typed, compiled, kept, and checked against a reference."""

from pathlib import Path

import pytest

import kleene
from tests.command_line import assert_refused

CAESAR = """
from kleene.programs import alta

def shift(z):
    z["letter"] = (z["letter"] + 3) % 26

caesar = alta.program_spec(
    {"letter": alta.input_var(26)}, {}, shift, "letter", 26, name="caesar", alphabet="abcdefghijklmnopqrstuvwxyz"
)

def expected(tokens):
    return [(token + 3) % 26 for token in tokens]

def off_by_one(tokens):
    return [(token + 2) % 26 for token in tokens]

def failing(tokens):
    raise ValueError("no idea")
"""
MOVES = """
from kleene.programs import alta

def turn(z):
    z["way"] = 1 - z["way"]

back = alta.program_spec({"way": alta.input_var(2)}, {}, turn, "way", 2, alphabet=["left", "right"])
sign = alta.program_spec({"way": alta.input_var(2)}, {}, turn, "way", 2, alphabet="<>", output_alphabet=["go", "stay"])
"""


@pytest.fixture(autouse=True)
def files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("caesar.py").write_text(CAESAR)
    Path("moves.py").write_text(MOVES)


@pytest.mark.parametrize("words", [["hello"], ["hel", "lo"], ["h e l l o"]])
def test_a_word_is_typed_and_a_word_comes_out(run, words):
    found = run("run", "caesar.py", *words, "--json").json
    assert (found["output"], found["output_tokens"], found["input"]) == (
        "khoor",
        [10, 7, 14, 14, 17],
        [7, 4, 11, 11, 14],
    )
    assert run("run", "caesar.py", *words, "--compiled").out.splitlines()[0] == "khoor"


def test_a_saved_network_reads_and_shows_the_same_labels(run):
    assert run("compile", "caesar.py", "-o", "caesar.safetensors").status == 0
    assert run("run", "caesar.safetensors", "xyz", "--json").json["output"] == "abc"
    network = kleene.load("caesar.safetensors")
    assert network.run("xyz") == kleene.compile(_caesar()).run("xyz") == _caesar().run("xyz")
    assert_refused(
        run("run", "caesar.safetensors", "xYz"), "caesar: symbol 1 of the input is 'Y', and the alphabet is abc"
    )
    assert run("decode", "caesar.safetensors", "a", "--tokens", "3").out == "dgj\n"
    assert run("decode", "caesar.py:caesar", "a", "--tokens", "3", "--compiled").out == "dgj\n"


def _caesar():
    from kleene.naming import find

    return find("caesar.py").subject


def test_symbols_of_several_letters_have_spaces_between_them(run):
    assert run("run", "moves.py:back", "left right left", "--json").json["output"] == ["right", "left", "right"]
    assert run("run", "moves.py:sign", "<>", "--json").json["output"] == ["stay", "go"]
    trace = run("run", "moves.py:back", "left", "--trace").out
    assert ["1", "way", "*right"] in [line.split() for line in trace.splitlines()]


def test_a_file_with_several_programs_is_asked_which(run):
    assert_refused(
        run("run", "moves.py", "left"), "'moves.py' has several programs; say which: moves.py:back, moves.py:sign"
    )


def test_a_check_says_what_was_compared(run):
    result = run("check", "caesar.py", "--samples", "5")
    assert result.out.splitlines()[-1] == (
        "10 of 10 inputs: program, independent interpreter and network have the same trace; there was no reference of "
        "what they should do"
    )
    with_one = run("check", "caesar.py", "--samples", "5", "--reference", "caesar.py:expected")
    assert with_one.out.splitlines()[-1] == "10 of 10 inputs: program, network and reference have the same trace"
    compared = run("check", "dfa:(a|b)*abb", "--samples", "5", "--json").json["programs"][0]["compared"]
    assert compared == ["automaton", "network", "automata-lib"]


def test_a_reference_of_ones_own_can_disagree(run):
    result = run("check", "caesar.py", "--samples", "5", "--reference", "caesar.py:off_by_one", "--json")
    assert result.status == 1
    assert "caesar on [0]: the output is [3], but the plain reference says [2]" in result.json["first_disagreement"]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("caesar.py", "--reference", "caesar.py"), "give FILE.py:NAME, NAME being a function in that file"),
        (("caesar.py", "--reference", "nowhere.py:f"), "there is no file 'nowhere.py'"),
        (("caesar.py", "--reference", "caesar.py:nothing"), "'caesar.py' defines no function 'nothing'"),
        (("caesar.py", "--reference", "caesar.py:failing"), "the reference failing([0]) raised ValueError: no idea"),
        (("dfa:parity", "--reference", "caesar.py:expected"), "--reference is for one transformer program"),
    ],
)
def test_a_reference_that_cannot_be_used_is_refused(run, words, message):
    assert_refused(run("check", *words, "--samples", "2"), message)
