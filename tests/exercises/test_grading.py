"""Wrong solutions, and the smallest counterexample that each of them gets."""

from pathlib import Path

import pytest

import kleene
from kleene.errors import CompileError, InputError, KleeneError
from kleene.exercises import Exercise, Grade, find, solving
from kleene.exercises.cases import MOST, shrunk
from tests.exercises.here import cases_of, graded

ALTA = """
from kleene.programs import alta
def step(z):
    {step}
{name} = alta.program_spec(
    variables={{"token": alta.input_var(3), "turn": alta.var(4), "done": alta.var(2)}},
    heads={{"left": alta.v_relative("token", -1)}},
    ffn_fn=step, output_name="token", input_range=3, position_range={positions}, max_layers=5,
    {halt} name="{name}",
)
"""


def wrong(folder: Path, name: str, text: str, ending: str = ".py") -> Grade:
    file = folder / f"wrong{ending}"
    file.write_text(text)
    grade = graded(str(file), find(name))
    assert not grade.passed
    return grade


@pytest.mark.parametrize(
    ("name", "text", "smallest", "expected", "got"),
    [
        ("even_a", "even_a = 'b*'", "aa", "accept", "reject"),
        ("even_a", "even_a = '(b|ab*a)+'", "(the empty word)", "accept", "reject"),
        ("same_ends", "same_ends = '(a(a|b)*a)|(b(a|b)*b)|a|b|(ab)'", "ab", "reject", "accept"),
        ("rank", "from kleene.programs import rasp\nrank = rasp.tokens", "1", "0", "1"),
        (
            "rank",
            "from kleene.programs import rasp\n"
            "rank = rasp.SelectorWidth(rasp.Select(rasp.tokens, rasp.tokens, rasp.Comparison.LEQ)) - 1",
            "1 1",
            "0 0",
            "1 1",
        ),
    ],
)
def test_the_smallest_input_is_shown_with_the_right_answer(name, text, smallest, expected, got, tmp_path):
    found = wrong(tmp_path, name, text).counterexample
    assert found is not None
    assert (found.input, found.expected, found.got) == (smallest, expected, got)


def test_a_machine_that_never_halts_is_wrong_and_its_first_steps_are_shown(tmp_path):
    text = "start q\naccept yes\nreject no\ninput 0 1\nq 0 -> q 0 L\nq 1 -> q 1 L\nq _ -> yes _ R\n"
    found = wrong(tmp_path, "flip", text, ".tm").counterexample
    assert found is not None
    assert (found.input, found.got) == ("0", "still running after 5,000 steps, with the tape 0")
    assert found.steps[0].split() == ["0", "q", "[0]"]
    assert found.steps[-1] == "… and 4,981 steps more"
    assert len(found.steps) < 30


def test_an_automaton_that_lacks_a_symbol_is_shown_up_to_it(tmp_path):
    text = "import kleene\neven_a = kleene.DFA.from_regex('b*')\n"
    found = wrong(tmp_path, "even_a", text).counterexample
    assert found is not None
    assert (found.input, found.expected) == ("a", "reject")
    assert "'a', which is not in the alphabet" in found.got
    assert len(found.steps) == 3  # a head of the table, and the start


def test_the_tape_counts_where_the_reference_gives_one(tmp_path):
    text = "start q\naccept yes\nreject no\ninput 0 1\nq 0 -> q 0 R\nq 1 -> q 0 R\nq _ -> yes _ R\n"
    found = wrong(tmp_path, "flip", text, ".tm").counterexample
    assert found is not None
    assert (found.input, found.expected, found.got) == ("0", "accept, with the tape 1", "accept, with the tape 0")


def test_a_run_that_breaks_off_is_shown_up_to_there(tmp_path):
    """The head is read in the second layer, and is undefined at the first position."""
    step = "z['turn'] = z['turn'] + 1 if z['turn'] < 3 else 3\n    if z['turn'] == 1: z['token'] = z['left']"
    found = wrong(tmp_path, "copy_left", ALTA.format(step=step, name="copy_left", positions=8, halt="")).counterexample
    assert found is not None
    assert found.input == "0"
    assert "an error" in found.got
    assert "in layer 2" in found.got
    steps = [line.split()[0] for line in found.steps if line.split() and line.split()[0].isdigit()]
    assert steps == ["0", "1"]
    assert found.again == ""


def test_a_program_that_does_not_halt_is_wrong_and_shown(tmp_path):
    text = ALTA.format(step="pass", name="copy_left", positions=8, halt="halt=alta.halt_spec('done'),")
    found = wrong(tmp_path, "copy_left", text).counterexample
    assert found is not None
    assert "has not halted after 5 layers" in found.got
    steps = [line.split()[0] for line in found.steps if line.split() and line.split()[0].isdigit()]
    assert steps == ["0", "1", "2", "3"]


def test_a_program_for_too_few_positions_is_wrong_on_the_shortest_input_that_it_refuses(tmp_path):
    step = "z['token'] = z['token']"
    grade = wrong(tmp_path, "largest_so_far", ALTA.format(step=step, name="largest_so_far", positions=1, halt=""))
    assert grade.counterexample is not None
    assert grade.counterexample.input == "0 0"
    assert "an error" in grade.counterexample.got


def test_a_circuit_without_a_block_for_its_registers_is_shown_up_to_there(tmp_path):
    text = "registers 3\nmodules R+R+def\nsteps 3\nwhen 0 - -:\n    WRITE(r2, r2)  r0 = ONE  r1 = r1  r2 = r2\n"
    found = wrong(tmp_path, "add_cells", text, ".nram").counterexample
    assert found is not None
    assert "no block is for" in found.got
    assert any(line.split()[:2] == ["1", "memory"] for line in found.steps)


def test_rasp_is_shown_up_to_the_expression_that_has_no_value(tmp_path):
    text = "from kleene.programs import rasp\nfirst_letter = rasp.Map(lambda t: 1 / (t != 'b'), rasp.tokens)"
    found = wrong(tmp_path, "first_letter", text).counterexample
    assert found is not None
    assert found.input == "a"  # the answer is 1.0 there
    text = "from kleene.programs import rasp\nfirst_letter = rasp.Map(lambda t: t if t != 'b' else 1 / 0, rasp.tokens)"
    found = wrong(tmp_path, "first_letter", text).counterexample
    assert found is not None
    assert found.input == "b"
    assert found.steps[-1].endswith("has no value")


EXERCISE = """---
title: Own
kind: {kind}
level: easy
learns: nothing
define: own
alphabet: {alphabet}
longest: {longest}
exhaustive: {exhaustive}
---
Do it.
## Stub
```python
own = "a"
```
"""


def own_exercise(folder: Path, reference: str, *, kind="automaton", alphabet="a", longest=30, exhaustive=3) -> Exercise:
    folder.mkdir()
    text = EXERCISE.format(kind=kind, alphabet=alphabet, longest=longest, exhaustive=exhaustive)
    (folder / "exercise.md").write_text(text)
    (folder / "reference.py").write_text(reference)
    return Exercise.load(folder)


def test_a_random_counterexample_is_made_as_small_as_it_can_be(tmp_path):
    exercise = own_exercise(tmp_path / "own", "def reference(word): return True", alphabet="a b")
    (tmp_path / "own.py").write_text("own = 'b*(ab*){0,6}'")
    found = graded(str(tmp_path / "own.py"), exercise).counterexample
    assert found is not None
    assert found.input == "aaaaaaa"
    assert "aaaaaaa" not in cases_of(exercise).drawn


def test_a_network_that_differs_from_its_program_does_not_pass(tmp_path, monkeypatch):
    monkeypatch.setattr(solving, "compile", lambda program: kleene.compile(program.complement()))
    (tmp_path / "own.py").write_text("even_a = '(b|ab*a)*'")
    grade = graded(str(tmp_path / "own.py"), find("even_a"))
    assert not grade
    assert grade.problem is not None
    assert "the program is right, and its network differs on (the empty word): step 0" in str(grade)


def test_a_program_that_cannot_be_compiled_does_not_pass(tmp_path, monkeypatch):
    def refuse(program):
        raise CompileError("too large")

    monkeypatch.setattr(solving, "compile", refuse)
    (tmp_path / "own.py").write_text("even_a = '(b|ab*a)*'")
    grade = graded(str(tmp_path / "own.py"), find("even_a"))
    assert not grade
    assert str(grade) == "even_a: not yet\nthe program is right, and cannot be compiled: too large"


@pytest.mark.parametrize("ending", [".json", ".dot", ".jff"])
def test_an_automaton_may_be_a_file_of_its_own(ending, tmp_path):
    kleene.DFA.from_regex("(b|ab*a)*", "ab").save(tmp_path / f"own{ending}")
    assert graded(str(tmp_path / f"own{ending}"), find("even_a"))


def test_after_a_run_that_ends_with_an_error_no_other_is_tried(tmp_path):
    text = "from kleene.programs import rasp\nfirst_letter = rasp.Map(lambda t: t if t != 'b' else 1 / 0, rasp.tokens)"
    grade = wrong(tmp_path, "first_letter", text)
    assert grade.wrong is None
    assert "its run ends with an error" in str(grade)


def test_inputs_that_an_exercise_makes_itself_are_not_cut(tmp_path):
    reference = (
        "def reference(word): return True\ndef every(size): return ['aa']\ndef sample(c, size): return 'a' * size"
    )
    cases = cases_of(own_exercise(tmp_path / "own", reference))
    assert cases.every == ("aa",)
    assert shrunk(cases, cases.drawn[-1], lambda found: 0) == cases.drawn[-1]


def test_too_many_small_inputs_are_cut_and_the_report_says_so(tmp_path):
    cases = cases_of(own_exercise(tmp_path / "own", "def reference(word): return True", alphabet="ab", exhaustive=20))
    assert len(cases.every) == MOST
    assert not cases.whole
    assert str(cases).startswith(f"the {MOST:,} smallest inputs")


@pytest.mark.parametrize(
    ("reference", "told"),
    [
        ("def reference(word): return 1 / 0", "its reference function raised ZeroDivisionError on (the empty word)"),
        ("answer = 1", "defines no `reference`"),
        ("reference = 1", "`reference` in"),
        ("def reference(word) return 1", "SyntaxError"),
        ("def reference(word): return 1\ndef every(size): return [3]", "its own inputs cannot be made (TypeError"),
        ("def reference(word): return 1\ndef sample(chance, size): return 1 / 0", "cannot be made (ZeroDivisionError"),
    ],
)
def test_a_mistake_of_the_teacher_is_not_blamed_on_the_student(reference, told, tmp_path):
    (tmp_path / "own.py").write_text("own = 'a*'")
    with pytest.raises(InputError) as refused:
        graded(str(tmp_path / "own.py"), own_exercise(tmp_path / "own", reference))
    assert told in str(refused.value)


def test_an_answer_of_the_wrong_sort_is_the_teachers_mistake(tmp_path):
    exercise = own_exercise(tmp_path / "own", "def reference(tokens): return 3", kind="RASP program", exhaustive=1)
    (tmp_path / "own.py").write_text("from kleene.programs import rasp\nown = rasp.tokens")
    with pytest.raises(InputError, match="its reference function returned 3 on a, which is no answer"):
        graded(str(tmp_path / "own.py"), exercise)


@pytest.mark.parametrize(
    ("name", "ending", "text", "told"),
    [
        ("rank", ".py", "x = 1", "does not define 'rank'; the exercise asks for an s-op"),
        ("rank", ".py", "rank = 3", "is of type int, and the exercise asks for an s-op"),
        ("rank", ".py", "import kleene\nrank = kleene.DFA.from_regex('a')", "is of the kind 'automaton', and"),
        ("rank", ".py", "rank = (\n", "was never closed (wrong.py, line 1)"),
        ("rank", ".py", "x = 1\nrank = y", "NameError: name 'y' is not defined (line 2 of"),
        ("rank", ".py", "import sys\nsys.exit(3)", "SystemExit: 3 (line 2 of"),
        ("rank", ".py", "def rank():\n    return [][0]", "calling rank() in"),
        ("rank", ".tm", "start q", "the exercise takes a file that ends in .py"),
        ("flip", ".tm", "start q", "the text has no accept line"),
        ("even_a", ".py", "even_a = '(a|b'", "there is a ( that is never closed"),
        ("even_a", ".py", "even_a = 'c*'", "which is not in the alphabet: a b"),
    ],
)
def test_a_file_that_cannot_be_graded_is_refused_with_the_reason(name, ending, text, told, tmp_path):
    file = tmp_path / f"wrong{ending}"
    file.write_text(text)
    with pytest.raises(KleeneError) as refused:
        graded(str(file), find(name))
    assert told in str(refused.value)
