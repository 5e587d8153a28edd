"""No file and no command line gives a traceback, an error of Kleene's own, a hang or unbounded memory.

Some cases are tried in every run of the tests, and thousands with `pytest -m slow`, together with the attacks on
everything else. What fails names the number of its case.
"""

import sys
from random import Random

import pytest

from tests.fuzzing.attacks.table import KINDS, row_of
from tests.fuzzing.cases import Case, case, files_of
from tests.fuzzing.lines import drawn, drawn_of
from tests.fuzzing.mutations import BYTES, STRUCTURED, TEXT
from tests.fuzzing.parameters import commands
from tests.fuzzing.samples import MAKERS, NAMES, sample
from tests.fuzzing.trial import fault_of, tried
from tests.fuzzing.typed import USES
from tests.fuzzing.valid import NEVER

# Cases that once ended otherwise, by kind and number; the attack of all cases found them.
MENDED = {
    "line": (309, 1107, 1513, 2014, 2333),
    "file": (1621, 2010, 3289, 3513, 4008, 4132, 4164, 4792, 4842, 5390, 5574, 5579),
}
FEW = [("line", 0), ("line", 20), ("file", 0), ("file", 50)]
EACH = {"line": 20, "file": 50}
MANY = [(kind, first) for kind, end in (("line", 3_000), ("file", 6_000)) for first in range(1_000, end, 100)]


def faults(kind, numbers, folder) -> list[str]:
    return [fault for fault in (fault_of(case(kind, number), folder / "case") for number in numbers) if fault]


@pytest.mark.parametrize(("kind", "first"), FEW)
def test_nothing_hostile_ends_otherwise_than_in_a_clear_error(tmp_path, kind, first):
    found = faults(kind, range(first, first + EACH[kind]), tmp_path)
    assert not found, "\n\n".join(found)


@pytest.mark.parametrize("kind", MENDED)
def test_what_once_ended_otherwise_ends_in_a_clear_error(tmp_path, kind):
    found = faults(kind, MENDED[kind], tmp_path)
    assert not found, "\n\n".join(found)


@pytest.mark.slow
@pytest.mark.parametrize(("kind", "first"), MANY)
def test_nothing_hostile_among_many_ends_otherwise_than_in_a_clear_error(tmp_path, kind, first):
    found = faults(kind, range(first, first + 100), tmp_path)
    assert not found, "\n\n".join(found)


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_every_attack_of_a_kind_is_withstood(tmp_path, kind, record_property):
    row = row_of(kind, tmp_path)
    record_property("attacks", str(row))  # which the end of the tests shows as a table
    assert not row.failures, "\n\n".join(row.failures)


@pytest.mark.parametrize("name", commands())
def test_every_option_of_a_command_is_drawn(name):
    given = {word for number in range(400) for word in drawn_of(Random(number), name)}
    for one in commands()[name]:
        if one.spellings and (name, one.name) not in NEVER:
            assert given & {*one.spellings}, f"no line of {name} has {one.name}"


def test_lines_of_every_command_are_drawn():
    lines = [drawn(Random(number)) for number in range(3_000)]
    begun = {name for name in commands() for line in lines if line[: len(name.split())] == name.split()}
    assert begun == {*commands()} - {"demo"}  # which takes no options, and minutes


def test_most_lines_get_past_the_parser(tmp_path):
    parsed = 0
    for number in range(40):
        words = tuple(drawn(Random(number)))
        if words[0] in ("run", "view", "rules", "results", "data", "exercise") and words[:2] != ("exercise", "grade"):
            ended = tried(Case(number, words, files_of(words)), tmp_path / "case")[1]
            parsed += 1 if ended is None or ended.was_parsed else -2  # at least two thirds
    assert parsed > 0


def test_a_case_is_the_same_whenever_it_is_drawn():
    assert all(case(kind, number) == case(kind, number) for kind in ("line", "file") for number in range(50))


@pytest.mark.parametrize("way", [*BYTES, *TEXT, *(way for ways in STRUCTURED.values() for way in ways)])
def test_every_way_to_spoil_a_file_changes_a_file_that_it_is_for(way):
    endings = [ending for ending, ways in STRUCTURED.items() if way in ways] or [".tm"]
    content = sample(next(name for name in NAMES if name.endswith(endings[0])))
    assert any(way(Random(number), content, b"{}") != content for number in range(20))


def test_every_kind_of_file_is_spoiled_and_used():
    assert {*MAKERS} <= {*USES} <= {*NAMES}


@pytest.mark.parametrize(
    ("fault", "seconds", "told"),
    [
        ("raise RuntimeError('odd')", 60, "an error of Kleene's own"),
        ("while True: pass", 1, "still running after 1 s"),
        ("held = b'x' * (3 << 29)", 60, "MiB"),  # a busy machine may need seconds to hand out 1.5 GiB
        ("import sys; sys.exit(2)", 60, "it ended with status 2"),
        ("import sys; sys.stderr.write('kleene: no\\n')", 60, "with status 0 and said"),
        ("print('no')", 60, "with --json it printed"),
        ("import os; os.chdir('/')", 60, "['folder'] changed"),
        ("import sys; sys.path.append('here')", 60, "['path'] changed"),
        ("import tempfile; open(tempfile.mkstemp()[1], 'w')", 60, "it wrote"),
        ("open('../left', 'w')", 60, "it wrote"),
    ],
)
def test_a_fault_is_found(tmp_path, monkeypatch, fault, seconds, told):
    import kleene.running as listing

    def spoiled() -> list[dict]:
        exec(fault)
        return [{"name": "a", "summary": "", "example": [], "kind": 1}]

    monkeypatch.setattr(listing, "listed", spoiled)
    monkeypatch.setattr("sys.path", list(sys.path))
    assert told in (fault_of(Case(0, ("list", "--json")), tmp_path / "case", seconds) or "")
