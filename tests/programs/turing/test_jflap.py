import re
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

import kleene
from kleene.errors import ProgramError
from kleene.programs import jflap
from kleene.programs.jflap import JflapDrawing, JflapState, JflapTransition
from kleene.programs.turing import TuringMachine
from kleene.programs.turing.jflap import from_drawing, to_drawing, two_way_table
from kleene.programs.turing.library import entries
from kleene.programs.turing.two_way import never_leaves
from tests.programs.jflap.examples import A_N_B_N
from tests.programs.turing.jflap_tape import jflap_run, random_drawing
from tests.programs.turing.random_machines import random_machine

rngs = st.randoms(use_true_random=False)
machines, drawings = st.builds(random_machine, rngs), st.builds(random_drawing, rngs)
WORDS = ["".join(word) for length in range(4) for word in product("ab", repeat=length)]
MOST = 60  # steps


def loaded(drawing) -> TuringMachine:
    return TuringMachine.of(from_drawing(jflap.read(jflap.written(drawing).encode())))


@given(drawings)
def test_a_machine_of_jflap_does_what_jflap_does_step_by_step(drawing):
    """A step that stays takes one more here, and so does a rejection by a missing transition."""
    try:
        machine = loaded(drawing)
    except ProgramError as error:
        assert "it has no transitions" in str(error)  # noqa: PT017 - the start is final, or nothing leads anywhere
        return
    for word in (word for word in WORDS if set(word) <= set(machine.input_alphabet)):
        theirs, ours = jflap_run(drawing, word, MOST), machine.run(word, max_steps=2 * MOST + 2)
        if theirs.verdict == "running":
            assert ours.steps > MOST or ours.verdict == "running"
            continue
        assert ours.verdict == theirs.verdict
        assert ours.steps - theirs.steps - theirs.stays in ((0,) if theirs.verdict == "accept" else (0, 1))
        assert unfolded(ours, machine) == theirs.tape


def unfolded(run, machine) -> dict[int, str]:
    """The cells of JFLAP's tape: those left of the first have negative numbers."""
    cells: dict[int, str] = {}
    for place, symbol in enumerate(run.tape):
        own, _, mirrored = symbol.removeprefix("⊢").partition("/")
        for cell, held in ((place, own), (-1 - place, mirrored)):
            if held not in ("", machine.blank):
                cells[cell] = held
    return dict(sorted(cells.items()))


@given(drawings)
def test_no_run_leaves_the_first_cell_to_the_left_if_that_is_what_is_seen(drawing):
    table = two_way_table(drawing)
    if not never_leaves(table):
        return
    for word in (word for word in WORDS if set(word) <= set(table.inputs)):
        assert jflap_run(drawing, word, MOST).leftmost == 0


@given(machines)
def test_a_machine_comes_back_from_jflap(machine):
    assert loaded(to_drawing(machine)) == machine


@given(machines)
def test_jflap_does_what_the_machine_does(machine):
    drawing = to_drawing(machine)
    for word in (word for word in WORDS if set(word) <= set(machine.input_alphabet)):
        ours, theirs = machine.run(word, max_steps=MOST), jflap_run(drawing, word, 3 * MOST)
        if ours.verdict != "running":
            assert theirs.verdict == ours.verdict
            kept = {cell: symbol for cell, symbol in theirs.tape.items() if symbol not in "⊢"}
            assert kept == {cell: a for cell, a in enumerate(ours.tape) if a != machine.blank}


@pytest.mark.parametrize("name", entries())
def test_every_machine_of_the_shelf_is_saved_and_loaded_and_survives_jflap(tmp_path, name):
    entry = entries()[name]
    machine = entry.build()
    file = machine.save(tmp_path / "x.jff")
    assert TuringMachine.load(file) == machine
    file.write_text(re.sub("<!--.*?-->", "", file.read_text()))  # JFLAP drops comments
    again = TuringMachine.load(file)
    word = "".join(entry.example)
    assert again.run(word, record=False).verdict == machine.run(word, record=False).verdict


def test_a_machine_that_goes_back_to_the_blank_before_the_word_runs_on_a_folded_tape(tmp_path):
    file = tmp_path / "anbn.jff"
    file.write_text(A_N_B_N)
    machine = TuringMachine.load(file)
    assert machine.name == "anbn"
    assert machine.accept == "yes"
    assert [n for n in range(6) if machine.accepts("a" * n + "b" * n)] == [0, 1, 2, 3, 4, 5]
    assert not any(machine.accepts(word) for word in ("a", "b", "ba", "aab", "abb", "abab"))
    network = kleene.compile(machine)
    assert network.run("aabb") == machine.run("aabb")


def test_what_was_written_far_to_the_left_is_read_again_on_the_way_back():
    steps = ["~~L", "-aL", "-bL", "--R", "bbR", "aaR", "abR"]  # what is read and written; - is the blank
    states = tuple(JflapState(f"q{n}", (0.0, 0.0), n == 0, n == len(steps)) for n in range(len(steps) + 1))
    arrows = tuple(
        JflapTransition(f"q{n}", f"q{n + 1}", read.strip("-"), write.strip("-"), move)
        for n, (read, write, move) in enumerate(steps)
    )
    machine, drawing = loaded(JflapDrawing("turing", states, arrows)), JflapDrawing("turing", states, arrows)
    for word in ("a", "b", "ab"):
        theirs, ours = jflap_run(drawing, word, MOST), machine.run(word)
        assert (ours.verdict, ours.steps) == (theirs.verdict, theirs.steps + (theirs.verdict == "reject"))
        assert unfolded(ours, machine) == theirs.tape
    assert machine.run("a").verdict == "accept"
    assert list(machine.run("a").tape) == ["⊢b/a", "_/b"]


def test_a_drawing_that_was_changed_by_hand_is_read_as_it_is():
    machine = entries()["bump"].build()
    text = jflap.written(to_drawing(machine))
    assert "⊢" in text
    turned = text.replace("<write>⊢</write><move>R</move>", "<write>⊢</write><move>S</move>", 1)
    assert loaded(to_drawing(machine)) == machine
    drawing = jflap.read(turned.encode())
    changed = TuringMachine.of(from_drawing(drawing))
    assert changed != machine
    assert changed.run("11").verdict == jflap_run(drawing, "11", 1000).verdict


def test_positions_are_kept(tmp_path):
    (tmp_path / "x.jff").write_text(A_N_B_N.replace("<tag>Machine4</tag><x>100.0</x>", "<tag>Machine4</tag><x>5</x>"))
    machine = TuringMachine.load(tmp_path / "x.jff")
    assert machine.positions is not None
    assert machine.positions["yes"] == (5.0, 200.0)
    copy = entries()["copy"].build()
    assert set(TuringMachine.load(copy.save(tmp_path / "y.jff")).positions or {}) == set(copy.states)


@pytest.mark.parametrize(
    ("symbol", "message"),
    [("ab", "holds one character"), ("~", "something else in JFLAP"), ("□", "something else"), ("\x01", "XML")],
)
def test_symbols_that_jflap_cannot_have_are_refused(tmp_path, symbol, message):
    table = {("p", symbol): ("yes", symbol, "R"), ("p", "_"): ("no", "_", "R")}
    machine = TuringMachine(transitions=table, start="p", accept="yes", reject="no")  # type: ignore[arg-type]
    with pytest.raises(ProgramError, match=message):
        machine.save(tmp_path / "x.jff")
