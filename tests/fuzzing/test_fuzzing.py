"""No file and no command line gives a traceback, an error of Kleene's own, a hang or unbounded memory.

300 cases in every run of the tests, and 10,000 with `pytest -m slow`. What fails names the number of its case.
"""

from random import Random

import pytest

from tests.fuzzing.cases import Case, case
from tests.fuzzing.mutations import BYTES, STRUCTURED, TEXT
from tests.fuzzing.samples import MAKERS, sample
from tests.fuzzing.trial import fault_of
from tests.fuzzing.typed import USES

FEW, MANY = range(0, 300, 50), range(300, 10_300, 100)


def faults(numbers: range, folder) -> list[str]:
    return [fault for fault in (fault_of(case(number), folder / "case") for number in numbers) if fault]


@pytest.mark.parametrize("first", FEW)
def test_nothing_hostile_ends_otherwise_than_in_a_clear_error(tmp_path, first):
    found = faults(range(first, first + FEW.step), tmp_path)
    assert not found, "\n\n".join(found)


@pytest.mark.slow
@pytest.mark.parametrize("first", MANY)
def test_nothing_hostile_among_many_ends_otherwise_than_in_a_clear_error(tmp_path, first):
    found = faults(range(first, first + MANY.step), tmp_path)
    assert not found, "\n\n".join(found)


def test_a_case_is_the_same_whenever_it_is_drawn():
    assert all(case(number) == case(number) for number in range(100))


@pytest.mark.parametrize("way", [*BYTES, *TEXT, *(way for ways in STRUCTURED.values() for way in ways)])
def test_every_way_to_spoil_a_file_changes_a_file_that_it_is_for(way):
    endings = [ending for ending, ways in STRUCTURED.items() if way in ways] or [".tm"]
    content = sample(next(name for name in MAKERS if name.endswith(endings[0])))
    assert any(way(Random(number), content, b"{}") != content for number in range(20))


def test_every_kind_of_file_is_spoiled_and_used():
    assert set(USES) == set(MAKERS)


@pytest.mark.parametrize(
    ("fault", "seconds", "told"),
    [
        ("raise RuntimeError('odd')", 60, "an error of Kleene's own"),
        ("while True: pass", 1, "still running after 1 s"),
        ("held = b'x' * (3 << 29)", 60, "MiB"),  # a busy machine may need seconds to hand out 1.5 GiB
    ],
)
def test_a_fault_is_found(tmp_path, monkeypatch, fault, seconds, told):
    import kleene.running as listing

    def spoiled() -> list[dict]:
        exec(fault)
        return [{"name": "a", "summary": "", "example": [], "kind": 1}]

    monkeypatch.setattr(listing, "listed", spoiled)
    assert told in (fault_of(Case(0, ("list",)), tmp_path / "case", seconds) or "")
