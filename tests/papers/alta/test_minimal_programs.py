import json
from functools import partial

import pytest

from kleene.errors import InputError
from kleene.programs.alta.library.scan_language import interpret
from kleene_papers.alta import minimal_programs
from kleene_papers.alta.minimal_programs import PAPER, Ranges, measured, scans, tables
from kleene_papers.registry import studies
from kleene_papers.reproduce import trial_of
from kleene_papers.stored import Result
from kleene_papers.study import Trial, run


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
    trial = Trial(paper=PAPER, measure=partial(measured, ranges, (("scan", split),)))
    found = run(studies()["alta-section-4"], trial, tmp_path / "out", watch=lambda *now: told.append(now))
    relative, modulo = found["programs"]
    assert (relative["minimal_rules"], relative["paper_rules"], relative["generalises"]) == (7, 7, True)
    assert not modulo["generalises"]
    assert modulo["by_length"]["5"][0] == modulo["by_length"]["5"][1]
    (scan,) = found["scan"]
    assert (scan["agree"], scan["test"], scan["command"]) == (1, 2, "jump left twice")
    assert 0 < scan["divergences"]["atom"] < scan["divergences"]["compound"] <= 1
    assert [line for _, line in told] == ["parity_relative", "parity_sum_modulo", f"scan on {split}"]
    assert found.summary[0].startswith("parity_relative, length<=5: 7 of 7 rules (ALTA: 7); length<=8:")
    assert "1 of 2 right" in found.summary[2]
    assert (tmp_path / "out" / "alta-section-4.svg").read_text().startswith("<?xml")
    kept = Result.load(tmp_path / "out" / "alta-section-4.json")
    assert kept["programs"] == found["programs"]
    assert kept.paper == PAPER
    programs, splits = tables(kept)
    assert programs.rows[0][:4] == ["`parity_relative`", f"up to 5 bits: {relative['train']}", "7", "7"]
    assert [row[-1] for row in splits.rows] == ["1 of 2"]


def test_without_data_the_quick_size_has_a_computed_split_and_the_full_one_asks_for_it(monkeypatch, tmp_path):
    monkeypatch.setenv("KLEENE_DATA", str(tmp_path))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert scans("quick") == [("scan", "mcd:0")]
    with pytest.raises(InputError, match="the data set 'scan' is not on this machine"):
        trial_of("alta-section-4", "full")


def test_the_full_size_has_the_splits_that_alta_speaks_of(monkeypatch):
    monkeypatch.setattr(minimal_programs, "_published", lambda: True)
    full = scans("full")
    assert {split for name, split in full if name == "scan_shift_reduce"} == {"length", "mcd:0", "mcd:1", "mcd:2"}
    assert {name for name, _ in full} == {"scan", "scan_shift_reduce"}


def test_iterations_of_an_experiment_that_teaches_nothing_are_refused():
    with pytest.raises(InputError, match="alta-section-4 takes no --iterations"):
        trial_of("alta-section-4", iterations=5)
