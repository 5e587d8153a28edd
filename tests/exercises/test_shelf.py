"""Every exercise of the shelf: its solution passes, its stub fails with a counterexample, its statement is true."""

import re
import shlex
from dataclasses import replace
from pathlib import Path

import pytest

from kleene.exercises import find, shelf, start
from kleene.exercises.cases import Reference
from kleene.exercises.exercise import KINDS, LEVELS, WORDS
from kleene.exercises.marking import MARKINGS
from kleene.traces.values import is_answer
from tests.exercises.here import cases_of, graded

SOLUTIONS = Path(__file__).parent / "solutions"
NAMES = sorted(shelf())
SMALL = {"circuit": {"longest": 4, "samples": 0}}  # an NRAM is compiled anew for every size of its memory


def solution(name: str) -> Path:
    return SOLUTIONS / f"{name}{find(name).ending}"


def smaller(name: str):
    return replace(find(name), **SMALL.get(find(name).kind, {}))


def test_there_are_a_dozen_over_all_kinds_and_levels_and_each_has_hints():
    found = list(shelf().values())
    assert len(found) >= 12
    assert {one.kind for one in found} == set(KINDS)
    assert [one.level for one in found] == sorted((one.level for one in found), key=LEVELS.index)
    assert {one.level for one in found} == set(LEVELS)
    assert all(one.hints and one.learns and one.statement for one in found)


@pytest.mark.parametrize("name", NAMES)
def test_its_solution_passes_as_a_program_and_as_a_network(name):
    grade = graded(str(solution(name)), smaller(name))
    assert grade.passed, str(grade)
    assert grade.wrong == 0
    assert grade.inputs > 30
    assert grade.ours
    assert {figure: grade.figures[figure] for figure in grade.ours} == grade.ours


@pytest.mark.parametrize("name", NAMES)
def test_its_stub_runs_and_gives_a_counterexample_with_its_steps_and_a_page(name, run, tmp_path):
    file = start(name, tmp_path / f"stub{find(name).ending}")
    grade = graded(str(file), smaller(name))
    assert not grade.passed
    found = grade.counterexample
    assert found is not None
    assert found.expected != found.got
    assert found.steps
    if found.again:
        assert grade.wrong
        assert run(*shlex.split(found.again)[1:], "-o", str(tmp_path / "run.html")).status == 0


@pytest.mark.parametrize("name", NAMES)
def test_the_examples_of_its_statement_are_right(name):
    exercise = find(name)
    reference, marking = Reference(exercise), MARKINGS[exercise.kind]
    examples = re.findall(r"^    (.*?)\s+->\s+(.*?)(?:\s+\(M is .*)?$", exercise.statement, re.MULTILINE)
    assert examples
    for left, right in examples:
        inputs = [one.replace("(the empty word)", "") for one in left.split(", ")] if exercise.has_words else [left]
        for typed in inputs:
            spelled = {str(token): token for token in exercise.alphabet}
            entered = typed if exercise.kind in WORDS else [spelled.get(t) or int(t) for t in typed.split()]
            assert marking.told(*reference.answers([entered])) == right, typed


@pytest.mark.parametrize("name", [name for name in NAMES if "with: kleene" in find(name).statement])
def test_the_command_that_its_statement_gives_runs(name, run, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / solution(name).name).write_text(solution(name).read_text())
    command = re.search(r"with: (kleene .*)", find(name).statement)
    assert command is not None
    result = run(*shlex.split(command[1])[1:])
    assert result.status == 0, result.err


@pytest.mark.parametrize("name", NAMES)
def test_answers_of_its_reference_are_of_the_right_sort(name):
    exercise = find(name)
    cases = cases_of(exercise)
    assert cases.whole
    sizes = [len(entered) for entered in cases.all]
    assert sizes == sorted(sizes)
    assert max(sizes) > exercise.exhaustive
    for entered, expected in zip(cases.all[:50], cases.expected):
        assert is_answer(expected, expected)
        assert exercise.has_words or len(expected) == len(entered)
