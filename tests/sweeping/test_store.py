"""The store: rows are whole or absent, whoever writes, and whatever happens to the writer."""

import json
import multiprocessing
import os

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kleene.errors import ModelFileError
from kleene.sweeping import store as module
from kleene.sweeping.store import CellStore, line_of, row_of

NUMBERS = st.floats() | st.integers() | st.booleans() | st.none() | st.text()


@given(st.dictionaries(st.text(), NUMBERS | st.lists(NUMBERS)))
def test_a_row_comes_back_from_its_line_as_strict_json(row):
    line = line_of(row)
    assert line.endswith(b"\n")
    assert line.count(b"\n") == 1
    found = row_of(line)
    assert found == json.loads(json.dumps(found, allow_nan=False))
    plain = {k: v for k, v in row.items() if not isinstance(v, (float, list))}
    assert {k: found[k] for k in plain} == plain


@given(st.dictionaries(st.text(), NUMBERS), st.data())
def test_no_damage_to_a_line_goes_unnoticed(row, data):
    line = bytearray(line_of(row | {"cell": "a"})[:-1])
    at = data.draw(st.integers(0, len(line) - 1))
    line[at] ^= 1 << data.draw(st.integers(0, 7))
    assert row_of(bytes(line)) is None


def test_a_line_is_read_by_any_reader_of_json():
    read = json.loads(line_of({"cell": "a", "loss": [1.5, float("nan"), float("inf")]}))
    assert read["loss"] == [1.5, None, "Infinity"]
    assert len(read["checksum"]) == 64


def test_rows_of_several_writers_are_merged_and_a_cell_counts_once(tmp_path):
    kept = CellStore(tmp_path / "s")
    first, second = kept.writer(), kept.writer()
    first.append([{"cell": "a", "n": 1}, {"cell": "b", "n": 2}])
    second.append([{"cell": "b", "n": 3}, {"cell": "c", "n": 4}])
    assert sorted(kept.rows()) == ["a", "b", "c"]
    second.append([{"cell": "d", "n": 5}])
    assert kept.rows()["d"]["n"] == 5  # read on from where it was left


def test_a_torn_end_and_a_damaged_line_are_absent_and_named(tmp_path):
    kept = CellStore(tmp_path / "s")
    kept.writer().append([{"cell": "a"}, {"cell": "b"}])
    (file,) = (kept.path / "rows").iterdir()
    whole = file.read_bytes()
    file.write_bytes(whole + line_of({"cell": "c"})[:40])
    assert sorted(CellStore(kept.path).rows()) == ["a", "b"]
    assert CellStore(kept.path).damaged == [f"line 3 of {str(file)!r} is cut short, and its cell counts as absent"]
    file.write_bytes(whole.replace(b'"b"', b'"x"'))
    damaged = CellStore(kept.path)
    assert sorted(damaged.rows()) == ["a"]
    assert damaged.damaged == [f"line 2 of {str(file)!r} is damaged: its checksum does not fit"]


def test_a_torn_end_that_is_completed_later_counts(tmp_path):
    kept = CellStore(tmp_path / "s")
    file, line = kept.path / "rows" / "w.jsonl", line_of({"cell": "a"})
    file.write_bytes(line[:30])
    assert kept.rows() == {}
    file.write_bytes(line)
    assert list(kept.rows()) == ["a"]
    assert kept.damaged == []


def test_results_say_that_the_last_line_of_a_file_is_cut_off(tmp_path, run):
    kept = CellStore(tmp_path / "s")
    (kept.path / "rows" / "w.jsonl").write_bytes(line_of({"cell": "a"})[:30])
    result = run("results", str(kept.path))
    assert result.status == 0
    assert "passed over: line 1 of" in result.err
    assert "is cut short" in result.err


@pytest.mark.parametrize("what", ["folder", "pipe", "link to itself", "device"])
def test_anything_else_in_the_place_of_a_file_of_rows_is_refused(tmp_path, what):
    kept = CellStore(tmp_path / "s")
    file = kept.path / "rows" / "w.jsonl"
    made = {"folder": file.mkdir, "pipe": lambda: os.mkfifo(file), "device": lambda: file.symlink_to("/dev/zero")}
    made.get(what, lambda: file.symlink_to(file))()
    with pytest.raises(ModelFileError, match=r"w\.jsonl' (cannot be read|is a pipe or a device)"):
        kept.rows()


def test_a_row_that_is_nested_too_deeply_is_damaged(tmp_path):
    rest = b'"cell": "a", "x": ' + b"[" * 100_000 + b"]" * 100_000 + b"}"
    line = module.BEFORE + module._sha256(rest) + module.AFTER + rest + b"\n"
    kept = CellStore(tmp_path / "s")
    (kept.path / "rows" / "w.jsonl").write_bytes(line)
    assert kept.rows() == {}
    assert len(kept.damaged) == 1


def test_a_full_disk_takes_back_what_was_half_written(tmp_path, monkeypatch):
    kept = CellStore(tmp_path / "s")
    writer = kept.writer()
    writer.append([{"cell": "a"}])
    write = os.write

    def short(descriptor, data):
        if len(data) < 300:
            raise OSError(28, "No space left on device")
        return write(descriptor, data[:200])

    monkeypatch.setattr(module.os, "write", short)
    with pytest.raises(ModelFileError, match=r"No space left.*the same command again"):
        writer.append([{"cell": "b", "long": "x" * 500}])
    monkeypatch.undo()
    writer.append([{"cell": "c"}])
    again = CellStore(kept.path)
    assert sorted(again.rows()) == ["a", "c"]
    assert again.damaged == []


def _many(path, number):
    writer = CellStore(path).writer()
    for row in range(50):
        writer.append([{"cell": f"{number}-{row}", "long": "x" * 5000}])


def test_many_processes_write_at_once(tmp_path):
    kept = CellStore(tmp_path / "s")
    workers = [multiprocessing.get_context("fork").Process(target=_many, args=(kept.path, n)) for n in range(4)]
    for worker in workers:
        worker.start()
    while any(worker.is_alive() for worker in workers):
        kept.rows()
    assert len(kept.rows()) == 200
    assert kept.damaged == []


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ('{"format": "kleene.sweep/3", "kleene": "9.1"}', "newer Kleene, 9.1"),
        ('{"format": "kleene.results/1"}', "does not say that this is the store"),
        ("[]", "does not say that this is the store"),
        ("{", "does not say that this is the store"),
    ],
)
def test_a_store_that_is_none_or_newer_is_refused(tmp_path, content, words):
    (tmp_path / "store.json").write_text(content)
    with pytest.raises(ModelFileError, match=words):
        CellStore(tmp_path)


def test_a_folder_with_other_files_is_refused(tmp_path):
    (tmp_path / "notes.txt").write_text("mine")
    with pytest.raises(ModelFileError, match="a sweep needs a store of its own"):
        CellStore(tmp_path)
    with pytest.raises(ModelFileError, match="is not the store of a sweep"):
        CellStore(tmp_path, must_exist=True)


def test_a_store_that_was_half_made_is_made_whole(tmp_path):
    for half in ("rows", "claims"):  # by another process at this moment, or by one that was killed
        (tmp_path / half).mkdir()
    (tmp_path / ".kleene-0123456789abcdef.part").write_text("{")
    assert CellStore(tmp_path).rows() == {}
    assert (tmp_path / "store.json").is_file()
