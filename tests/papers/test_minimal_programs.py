import json

import pytest

from kleene.errors import InputError
from kleene.programs.alta.library.scan_language import interpret
from kleene.teaching.results import results
from kleene_papers.alta import minimal_programs
from kleene_papers.alta.minimal_programs import PAPER, MinimalPrograms, Ranges
from kleene_papers.reproduce import experiment


@pytest.fixture
def split(tmp_path, monkeypatch):
    """A split of six commands, as a file of indices."""
    monkeypatch.setenv("KLEENE_DATA", str(tmp_path))
    (tmp_path / "scan").mkdir()
    commands = ["walk", "jump", "walk and jump", "jump and walk", "walk and walk", "jump left twice"]
    text = "".join(f"IN: {c} OUT: {interpret(c)}\n" for c in commands)
    (tmp_path / "scan" / "tasks.txt").write_text(text)
    path = tmp_path / "few.json"
    path.write_text(json.dumps({"trainIdxs": [0, 1, 2, 3], "devIdxs": [], "testIdxs": [4, 5]}))
    return str(path)


def test_a_tiny_size_is_measured_kept_and_drawn(split, tmp_path):
    ranges = (
        Ranges("parity_relative", "length<=5", "length<=8", 20, 20),
        Ranges("parity_sum_modulo", "length<=5", "length<=8", 20, 20),
    )
    told = []
    found = MinimalPrograms(ranges, (("scan", split),)).run(tmp_path / "out", watch=lambda *now: told.append(now))
    relative, modulo = found["programs"]
    assert (relative["minimal_rules"], relative["paper_rules"], relative["generalises"]) == (7, 7, True)
    assert not modulo["generalises"]
    assert modulo["by_length"]["5"][0] == modulo["by_length"]["5"][1]
    (scan,) = found["scan"]
    assert (scan["agree"], scan["test"], scan["command"]) == (1, 2, "jump left twice")
    assert 0 < scan["divergences"]["atom"] < scan["divergences"]["compound"] <= 1
    assert [line for _, line in told] == ["parity_relative", "parity_sum_modulo", f"scan on {split}"]
    assert found["summary"][0].startswith("parity_relative, length<=5: 7 of 7 rules (ALTA: 7); length<=8:")
    assert "1 of 2 right" in found["summary"][2]
    assert (tmp_path / "out" / "minimal-programs.svg").read_text().startswith("<?xml")
    (kept,) = results(tmp_path / "out").rows
    assert kept["programs"] == found["programs"]
    assert kept["paper"] == PAPER


def test_without_data_the_quick_size_has_a_computed_split_and_the_full_one_asks_for_it(monkeypatch, tmp_path):
    monkeypatch.setenv("KLEENE_DATA", str(tmp_path))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert experiment("minimal-programs").scans == (("scan", "mcd:0"),)  # type: ignore[attr-defined]
    with pytest.raises(InputError, match="the data set 'scan' is not on this machine"):
        experiment("minimal-programs", "full")


def test_the_full_size_has_the_splits_that_alta_speaks_of(monkeypatch):
    monkeypatch.setattr(minimal_programs, "_published", lambda: True)
    full = minimal_programs.minimal_programs("full")
    assert {split for name, split in full.scans if name == "scan_shift_reduce"} == {"length", "mcd:0", "mcd:1", "mcd:2"}
    assert {name for name, _ in full.scans} == {"scan", "scan_shift_reduce"}


def test_iterations_of_an_experiment_that_teaches_nothing_are_refused():
    with pytest.raises(InputError, match="'minimal-programs' teaches nothing"):
        experiment("minimal-programs", iterations=5)
