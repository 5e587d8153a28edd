import json

import pytest

from kleene.errors import InputError
from kleene.programs.alta.library.scan_language import interpret
from kleene.tasks import scan_splits
from kleene.tasks.compounds import command_parts
from kleene.tasks.scan_splits import ScanSplit, computed_split, scan_split
from tests.tasks.published import need

COMMANDS = ["walk", "jump left", "turn around right", "run twice and look", "look after run"]


@pytest.fixture
def own(tmp_path, monkeypatch):
    """A data folder of our own, with five commands; the file of a split in it."""
    monkeypatch.setenv("KLEENE_DATA", str(tmp_path))
    (tmp_path / "scan").mkdir()
    lines = "".join(f"IN: {c} OUT: {interpret(c)}\n" for c in COMMANDS)
    (tmp_path / "scan" / "tasks.txt").write_text(lines)
    return tmp_path / "own.json"


def test_the_published_splits_have_their_divergences():
    need("scan")
    found = {name: scan_split(name).divergences for name in ("simple", "length", "addprim_jump")}
    assert found["simple"].compound < 0.05 < found["addprim_jump"].compound < found["length"].compound
    assert found["simple"].atom < 0.001 < found["length"].atom
    assert "3,920 test commands; atom divergence 0.0510, compound divergence 0.3806" in str(scan_split("length"))


def test_a_file_of_indices_is_a_split_and_a_split_can_be_kept_as_one(own):
    own.write_text(json.dumps({"trainIdxs": [4, 0], "devIdxs": [2], "testIdxs": [1, 3]}))
    found = scan_split(str(own))
    assert (found.train, found.dev, found.test) == (
        ("look after run", "walk"), ("turn around right",), ("jump left", "run twice and look"),
    )  # fmt: skip
    kept = scan_split(str(found.save(own.with_name("again.json"))))
    assert (kept.train, kept.dev, kept.test) == (found.train, found.dev, found.test)
    assert found.as_json()["train"] == 2
    with pytest.raises(InputError, match=r"tasks\.txt has no line for 'jump right', which the test part of x holds"):
        ScanSplit("x", ("walk",), ("jump right",)).save(own)


def test_a_computed_split_has_its_sizes_and_keeps_the_bound(monkeypatch):
    few = [
        f"{verb}{rest}" for verb in ("walk", "run", "jump", "look") for rest in ("", " left", " right twice", " twice")
    ]
    few += [f"{a} and {b}" for a in few for b in few]
    monkeypatch.setattr(scan_splits, "scan_parts", lambda: command_parts(few))
    monkeypatch.setattr(scan_splits, "SIZES", {"train": 100, "dev": 20, "test": 20})
    found = computed_split.__wrapped__(5)
    assert (found.name, len(found.train), len(found.dev), len(found.test)) == ("mcd:5", 100, 20, 20)
    assert len({*found.train, *found.dev, *found.test}) == 140
    both = ScanSplit("both", found.train, found.dev + found.test)
    assert both.divergences.atom <= 0.02 < 0.3 < both.divergences.compound


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("lenght", "no split 'lenght'; did you mean length?"),
        ("all", "no split 'all'; there are simple, length, .*mcd:SEED, FILE.json"),
        ("mcd:", "'mcd:' has no seed; give mcd: and a number from 0 to 4,294,967,295"),
        ("mcd:-1", "has no seed"),
        ("mcd:4294967296", "has no seed"),
        ("none.json", "there is no file 'none.json'"),
    ],
)
def test_what_is_no_split_is_refused(name, message, own):
    with pytest.raises(InputError, match=message):
        scan_split(name)


def test_a_file_without_training_commands_is_refused(own):
    own.write_text(json.dumps({"trainIdxs": [], "devIdxs": [2], "testIdxs": [1, 3]}))
    with pytest.raises(InputError, match=r"own\.json': trainIdxs is empty"):
        scan_split(str(own))
