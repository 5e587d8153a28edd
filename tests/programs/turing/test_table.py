import pytest
from hypothesis import given
from hypothesis import strategies as st

from kleene.errors import ModelFileError, ProgramError
from kleene.programs.turing import TuringMachine
from kleene.programs.turing.library import entries, get
from tests.programs.turing.random_machines import random_machine

ODD = """
// Does the word have an odd number of 1s?
start  even
accept yes
reject no
otherwise reject

even 1 -> odd  1 R   // comments may follow
odd  1 -> even 1 R
odd  _ -> yes  _ R
"""


@given(st.randoms(use_true_random=False))
def test_a_machine_comes_back_from_its_text(rng):
    machine = random_machine(rng)
    back = TuringMachine.from_text(machine.to_text())
    assert back == machine
    assert (back.states, back.tape_alphabet) == (machine.states, machine.tape_alphabet)


def test_the_whole_shelf_comes_back_from_its_texts(tmp_path):
    for name, entry in entries().items():
        machine = entry.build()
        assert TuringMachine.from_text(machine.to_text()) == machine
        loaded = TuringMachine.load(machine.save(tmp_path / f"{name}.tm"))
        assert (loaded, loaded.name) == (machine, name)


def test_transitions_that_are_not_listed_reject():
    machine = TuringMachine.from_text(ODD)
    assert machine.transitions["even", "_"] == ("no", "_", "R")
    assert [machine.run("1" * n).verdict for n in range(4)] == ["reject", "accept", "reject", "accept"]
    assert machine.blank == "_"
    assert machine.input_alphabet == ("1",)


def test_a_file_may_begin_with_the_mark_of_an_editor(tmp_path):
    (tmp_path / "odd.tm").write_bytes(b"\xef\xbb\xbf" + ODD.strip().removeprefix("//").encode().split(b"\n", 1)[1])
    assert TuringMachine.load(tmp_path / "odd.tm") == TuringMachine.from_text(ODD)


def test_input_symbols_may_be_listed_that_no_transition_names():
    machine = TuringMachine.from_text(ODD + "input 1 2\n")
    assert machine.input_alphabet == ("1", "2")
    assert machine.run("12").verdict == "reject"


def test_another_blank_and_states_called_like_headers():
    text = "start start\naccept accept\nreject reject\nblank #\nstart # -> accept # R\nstart a -> start a R"
    assert TuringMachine.from_text(text).run("aa").steps == 3


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "the text has no start line; add `start STATE`"),
        (ODD.replace("accept yes", ""), "the text has no accept line"),
        (ODD.replace("reject no\n", "\n"), "the text has no reject line"),
        (ODD.replace("accept yes", "acept yes"), "line 4: 'acept yes' is not understood; did you mean accept"),
        (ODD + "what is this", "line 11: 'what is this' is not understood; write a transition with ->"),
        (ODD + "start odd", "line 11: a second start line; the first is line 3"),
        (ODD + "blank a b", "line 11: 'blank a b' names 2 things; blank takes one"),
        (ODD + "blank", "line 11: 'blank' names 0 things"),
        (ODD + "even -> odd", "line 11: 'even -> odd' is not a transition; write `state symbol -> state symbol move`"),
        (ODD + "even 1 2 -> odd 1 R", "line 11: .* is not a transition"),
        (ODD + "even 2 -> odd 2 N", "line 11: the move is 'N'; write L or R"),
        (ODD + "even 1 -> odd 1 L", r"line 11: \(even, 1\) has a second transition; the first is in line 8"),
        (ODD.replace("otherwise reject", ""), r"incomplete: there is no transition for \(even, _\)"),
        (ODD.replace("otherwise reject", "otherwise accept"), "the only shorthand is `otherwise reject`"),
        (ODD + "no 1 -> odd 1 R", r"a transition from \('no', '1'\), but 'no' is the reject state"),
        (ODD.replace("reject no\n", "reject yes\n"), "accept and reject are both 'yes'"),
    ],
)
def test_a_text_that_cannot_be_read_is_refused_with_its_line(text, message):
    with pytest.raises(ProgramError, match=message):
        TuringMachine.from_text(text)


def test_names_that_the_text_could_not_tell_apart_are_refused():
    table = {("a state", "1"): ("yes", "1", "R"), ("a state", "_"): ("yes", "_", "R")}
    machine = TuringMachine(transitions=table, start="a state", accept="yes", reject="no")  # type: ignore[arg-type]
    with pytest.raises(ProgramError, match="'a state' cannot be written in a text"):
        machine.to_text()


def test_files_that_hold_no_machine_are_refused(tmp_path):
    with pytest.raises(ModelFileError, match="there is no file"):
        TuringMachine.load(tmp_path / "none.tm")
    (tmp_path / "bad.tm").write_text("start q\nhello")
    with pytest.raises(ProgramError, match=r"bad\.tm: line 2: 'hello'"):
        TuringMachine.load(tmp_path / "bad.tm")
    (tmp_path / "binary.tm").write_bytes(b"\xff\xfe")
    with pytest.raises(ProgramError, match="is not a text in UTF-8"):
        TuringMachine.load(tmp_path / "binary.tm")


def test_the_text_is_easy_to_read():
    assert get("increment").build().to_text() == (
        "start  carry\naccept done\nreject never\nblank  _\ninput  0 1\n\n"
        "carry 1 -> carry 0 R\ncarry 0 -> done  1 R\ncarry _ -> done  1 R\n"
    )
