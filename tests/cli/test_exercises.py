"""`kleene exercise` on the command line: list, start, hint and grade."""

import subprocess
import sys

import pytest

from kleene.exercises import shelf
from tests.command_line import assert_refused


def test_the_list_has_every_exercise_with_its_level_and_what_it_teaches(run):
    result = run("exercise", "list", "--json")
    assert [row["name"] for row in result.json] == list(shelf())
    shown = run("exercise", "list").out
    for row in result.json:
        assert row["learns"]
        assert row["name"] in shown


def test_from_the_stub_to_a_passing_grade(run, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    started = run("exercise", "start", "even_a")
    assert started.status == 0
    assert "wrote even_a.py: edit it, then kleene exercise grade even_a.py" in started.out
    first = run("exercise", "grade", "even_a.py")
    assert first.status == 1
    assert first.err == ""
    assert "even_a: not yet, wrong on" in first.out
    assert "the smallest input found on which it is wrong: a\n  expected  reject\n  got       accept" in first.out
    assert "a hint: kleene exercise hint even_a" in first.out
    text = (tmp_path / "even_a.py").read_text()
    (tmp_path / "even_a.py").write_text(text.replace("(a|b)*", "(b|ab*a)*"))
    passed = run("exercise", "grade", "even_a.py", "--json")
    assert passed.status == 0
    assert passed.json["passed"]
    assert passed.json["figures"]["states"] == 2
    assert_refused(run("exercise", "start", "even_a"), "already", "-o")


def test_many_files_get_a_row_each_also_those_that_cannot_be_graded(run, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "ada.py").write_text("# exercise: even_a\neven_a = '(b|ab*a)*'\n")
    (tmp_path / "bob.py").write_text("# exercise: even_a\neven_a = 'b*'\n")
    (tmp_path / "eve.py").write_text("even_a = 'b*'\n")
    result = run("exercise", "grade", "ada.py", "bob.py", "eve.py")
    assert result.status == 1
    assert [line.split()[0] for line in result.out.splitlines()[1:4]] == ["ada.py", "bob.py", "eve.py"]
    assert "aa: expected accept, got reject" in result.out
    assert "does not say which exercise it is for" in " ".join(result.out.split())
    assert result.out.endswith("1 of 3 passed\n")
    rows = run("exercise", "grade", "ada.py", "eve.py", "--json").json
    assert [row["passed"] for row in rows] == [True, False]
    assert "error" in rows[1]


def test_hints_come_one_at_a_time(run):
    first = run("exercise", "hint", "rank")
    assert first.out.startswith("hint 1 of 2: ")
    assert "the next: kleene exercise hint rank 2" in first.out
    assert run("exercise", "hint", "rank", "2", "--json").json["number"] == 2
    assert "the next" not in run("exercise", "hint", "rank", "2").out
    assert_refused(run("exercise", "hint", "rank", "3"), "has 2 hints, and no hint 3")


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("list", "nowhere"), "'nowhere' cannot be listed"),
        (("list", "."), "has no exercises in it"),
        (("start", "sortt"), "no exercise 'sortt'"),
        (("start", "."), "is no exercise: it has no exercise.md"),
        (("grade", "nothing.py"), "there is no file 'nothing.py'"),
        (("grade", "empty.py"), "does not say which exercise it is for"),
        (("grade", "empty.py", "--exercise", "rnak"), "did you mean rank"),
        (("hint", "empty.py"), "does not say which exercise it is for"),
    ],
)
def test_what_cannot_be_found_is_refused(run, words, told, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "empty.py").write_text("")
    assert_refused(run("exercise", *words), told)


def test_lists_hints_and_stubs_need_no_jax(tmp_path):
    code = "import sys; sys.argv = ['kleene', 'exercise', *sys.argv[1:]]\nfrom kleene.cli import main\ntry: main()\n"
    code += "except SystemExit: pass\nprint(*sys.modules, file=sys.stderr)"
    for words in (("list",), ("--help",), ("start", "rank")):
        command = [sys.executable, "-c", code, *words]
        done = subprocess.run(command, capture_output=True, text=True, timeout=60, cwd=tmp_path)
        loaded = set(done.stderr.split())
        assert "kleene.cli" in loaded
        assert not {"jax", "equinox", "matplotlib", "kleene.compiling", "kleene.programs"} & loaded
