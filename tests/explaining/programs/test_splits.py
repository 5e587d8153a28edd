import json

import pytest

from kleene.errors import InputError
from kleene.explaining.programs import learnable_on_split
from kleene.programs.alta.library.scan_language import interpret
from kleene.tasks.scan_splits import ScanSplit
from tests.command_line import assert_refused

FEW = ScanSplit("few", ("walk", "jump", "walk", "walk and jump", "jump and walk"), ("walk and walk", "jump left twice"))


def test_a_split_that_leaves_something_open_is_told_with_the_command_that_fails():
    found = learnable_on_split("scan", FEW)
    assert not found
    assert found.report.minimal.inputs == 4  # a command that is there twice is run once
    assert found.command == "jump left twice"
    told = found.as_json()
    assert (told["split"], told["command"], told["agree"], told["test"]) == ("few", "jump left twice", 1, 2)
    assert told["by_length"] == {"3": [1, 2]}
    assert set(told["divergences"]) == {"atom", "compound"}
    assert str(found).startswith("split few: 5 training and 2 test commands; atom divergence")


def test_a_split_that_shows_everything_is_learnable():
    found = learnable_on_split("scan", ScanSplit("same", FEW.test, FEW.test))
    assert found
    assert found.command is None
    assert "generalises" in repr(found)


def test_the_command_explains_a_program_on_a_split(run, tmp_path, monkeypatch):
    monkeypatch.setenv("KLEENE_DATA", str(tmp_path))
    (tmp_path / "scan").mkdir()
    lines = [*FEW.train[:2], *FEW.train[3:], *FEW.test]
    text = "".join(f"IN: {c} OUT: {interpret(c)}\n" for c in lines)
    (tmp_path / "scan" / "tasks.txt").write_text(text)
    path = tmp_path / "mcd.json"
    path.write_text(json.dumps({"trainIdxs": [0, 1, 2, 3], "devIdxs": [], "testIdxs": [4, 5]}))
    status, out, err = run("explain", "scan", "--split", str(path), "-o", str(tmp_path / "found.svg"))
    assert (status, err) == (0, "")
    assert "shortest command on which it fails: jump left twice\n" in out
    assert "does not generalise: it agrees with the program on 1 of 2 test inputs" in out
    assert (tmp_path / "found.svg").read_text().startswith("<?xml")
    path.write_text(json.dumps({"trainIdxs": [0, 1, 20909], "devIdxs": [], "testIdxs": [4, 5]}))
    assert_refused(run("explain", "scan", "--split", str(path)), "trainIdxs holds 20909 at 2; tasks.txt has lines 0..5")


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("parity_relative", "--split", "length"), "'parity_relative' is no program of SCAN"),
        (("fraction_previous", "--split", "length"), "'fraction_previous' is no program of SCAN"),
        (("dfa:ab", "--split", "length"), "'dfa:ab' is no program of SCAN"),
        (("scan", "--split", "legnth"), "did you mean length?"),
        (("scan", "--split", "length", "--train", "length<=3"), "leave --train out"),
        (("scan", "--split", "length", "--seed", "3"), "leave --seed out"),
        (("scan", "--split", "length", "--layer", "1"), "--layer is about a sentence"),
        (("--split", "length"), "--split needs a program of SCAN"),
    ],
)
def test_what_has_no_split_is_refused(run, words, told):
    assert_refused(run("explain", *words), told)


def test_a_split_of_ones_own_with_other_commands_is_refused():
    with pytest.raises(InputError, match="'jump opposite' is no command"):
        learnable_on_split("scan", ScanSplit("own", ("jump opposite",), ("walk",)))
