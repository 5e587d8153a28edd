"""The text of circuits: what it says, and how faults are named."""

import pytest

from kleene.errors import ProgramError
from kleene.notation.wiring import Steps
from kleene.programs.circuits import Circuit
from kleene.programs.circuits.blocks import HOLE
from kleene.programs.circuits.library import entries, read

HEAD = "registers 2\nmodules def+R\n"


def test_statements_may_stand_on_one_line_or_on_many_in_any_order():
    one = Circuit.from_text(HEAD + "when - -: r0 = INC  WRITE(r0, INC)  INC(READ1)")
    many = Circuit.from_text(HEAD + "// adds\nwhen - -:\n  INC(READ1);\n  WRITE(r0,INC)\n\n  r0 = INC  // all of it\n")
    assert one == many


def test_what_is_not_said_is_a_hole_like_a_question_mark():
    circuit = Circuit.from_text(HEAD + "when - -: ADD(?, r1) r0 = ?")
    choices = dict(zip((c.name for c in circuit.wiring.connections), circuit.blocks[0].choices))
    assert choices.pop("ADD.b") == 1
    assert set(choices.values()) == {HOLE}


def test_a_module_that_is_the_only_one_may_be_numbered():
    plain = Circuit.from_text(HEAD + "when - -: ADD(READ1, ONE)")
    assert plain == Circuit.from_text(HEAD + "when - -: ADD1(READ1, ONE1)")


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        ("when - -:\n INC(WRITE)", "line 4: INC uses WRITE, which is a later module"),
        ("when - -:\n INC(INC)", "line 4: INC uses INC, which is that module itself"),
        ("when - -:\n INC(r2)", "line 4: there is no register r2; the registers are r0 to r1"),
        ("when - -:\n r5 = INC", "line 4: there is no register r5"),
        ("when - -:\n INC = r0", "line 4: 'INC' cannot be assigned"),
        ("when - -:\n ADD(r0)", "line 4: ADD.r0. has 1 arguments; ADD takes two arguments"),
        ("when - -:\n ZERO(r0)", "line 4: .*ZERO takes no argument"),
        ("when - -:\n READ(r0)", "line 4: READ is not one module: there are READ1, READ2"),
        ("when - -:\n READ3(r0)", "line 4: there is no module READ3; did you mean READ2"),
        ("when - -:\n JUMP(r0)", "line 4: there is no module JUMP"),
        ("when - -:\n ADD(r0, 1)", "line 4: ADD uses the number 1; write ONE"),
        ("when - -:\n INC(r0) INC(r1)", "line 4: INC has been given in this block before"),
        ("when - -:\n r0 = INC\n r0 = ADD", "line 5: r0 has been given in this block before"),
        ("when - -:\n goto 7", "line 4: 'goto 7' is not understood"),
        ("when - 1:", "line 3: the pattern has '1'"),
        ("when - - -:", "line 3: the pattern `- - -` is for 3 registers, and there are 2"),
        ("when - -", "line 3: the pattern does not end with a colon"),
        ("when - 0: r0 = r1\nwhen 0 -: r0 = r1", r"`when - 0` \(line 3\) and `when 0 -` \(line 4\) overlap"),
        ("register 3", "line 3: 'register 3' is not understood; did you mean registers"),
        ("modules def", "line 3: a second modules line; the first is line 2"),
        ("steps M * 2", "line 3: the number of steps is 'M . 2'"),
        ("steps 7", "the text has no block"),
    ],
)
def test_a_fault_is_named_with_its_line(lines, message):
    with pytest.raises(ProgramError, match=f"mine.*{message}"):
        Circuit.from_text(HEAD + lines, "mine")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("modules def\nwhen -: r0 = r0", "line 2: there is no registers line"),
        ("registers 2\nwhen - -: r0 = r0", "line 2: there is no modules line"),
        ("registers two", "line 1: registers is 'two'"),
        ("registers 17\nmodules R\nwhen " + "- " * 17 + ":", "line 1: registers is '17'"),
        ("registers 2\nmodules JUMP", "line 2: the module sequence"),
    ],
)
def test_a_faulty_heading_is_named_with_its_line(text, message):
    with pytest.raises(ProgramError, match=message):
        Circuit.from_text(text)


def test_a_circuit_is_read_from_a_file_under_its_name(tmp_path):
    (tmp_path / "mine.nram").write_text(HEAD + "when - -: r0 = r1")
    assert Circuit.load(tmp_path / "mine.nram").name == "mine"
    (tmp_path / "marked.nram").write_bytes(b"\xef\xbb\xbf" + (tmp_path / "mine.nram").read_bytes())
    assert Circuit.load(tmp_path / "marked.nram").blocks == Circuit.load(tmp_path / "mine.nram").blocks
    (tmp_path / "latin.nram").write_bytes(b"registers 2 // \xe9")
    with pytest.raises(ProgramError, match="UTF-8"):
        Circuit.load(tmp_path / "latin.nram")


@pytest.mark.parametrize("entry", entries().values(), ids=list(entries()))
def test_a_circuit_is_saved_and_loaded(tmp_path, entry):
    circuit, path = entry.build(), tmp_path / f"{entry.name}.nram"
    assert circuit.save(path) == path
    again = Circuit.load(path)
    assert (again, again.name) == (circuit, entry.name)
    memory = read(entry.example)
    assert again.run(memory) == circuit.run(memory)


def test_a_circuit_shows_itself_as_its_text():
    circuit = Circuit.from_text(HEAD + "when - -: r0 = r1", "<mine>")
    assert str(circuit) == circuit.text
    assert repr(circuit).startswith("<Circuit <mine>: 1 blocks, 2 registers, ")
    assert circuit._repr_html_() == f"<pre>{circuit.text}</pre>"


@pytest.mark.parametrize(("text", "steps"), [("7", 7), ("M+2", 6), ("memory[1] + 5", 8), ("M + M + memory[0]", 10)])
def test_the_number_of_steps_depends_on_the_memory(text, steps):
    rule = Steps.parse(text)
    assert rule([2, 3, 0, 0]) == steps
    assert Steps.parse(str(rule)) == rule
