"""Packs: cells of one program are taught together, and what is measured of each is what it would be alone."""

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kleene.sweeping.cells import Cell, cells_of
from kleene.sweeping.packs import Pack, measurements, packed, progress_of, record, recorded, remove_checkpoints
from kleene.sweeping.store import CellStore, line_of, row_of
from kleene.teaching import loop
from kleene.teaching.reports import TeachingReport

SMALL = {"task": "dfa:tomita_1", "hidden": 4, "batch": 4, "iterations": 20, "test_every": 10}


def cells(**axes):
    given = [SMALL | {"hints": h, "density": d, "seed": s} for h, d in axes["hints"] for s in range(axes["seeds"])]
    return cells_of("teach", given)


@given(st.lists(st.sampled_from("abc"), max_size=40), st.integers(1, 9), st.integers(1, 12))
def test_every_cell_is_in_one_pack_with_cells_of_its_program_only(programs, workers, most):
    given = [Cell(f"{n}", {}, program) for n, program in enumerate(programs)]
    packs = packed(given, workers, dict.fromkeys("abc", most))
    assert sorted(name for pack in packs for name in pack.names) == sorted(cell.name for cell in given)
    for pack in packs:
        assert len({cell.program for cell in pack.cells}) == 1
        assert 1 <= len(pack.cells) <= most
    # Enough packs for all workers, as far as there are cells.
    assert len(packs) >= min(workers, len(given))
    for program in set(programs):
        sizes = [len(pack.cells) for pack in packs if pack.cells[0].program == program]
        assert max(sizes) - min(sizes) <= 1


def test_a_later_run_makes_the_same_packs_and_begins_with_what_has_a_checkpoint(tmp_path):
    kept, given = CellStore(tmp_path / "s"), [Cell(f"{n}", {}, "p") for n in range(10)]
    packs = packed(given, 3)
    record(kept, packs)
    (kept.path / "checkpoints" / f"{packs[1].name}.safetensors").write_bytes(b"")
    again, rest = recorded(kept, given)
    assert again[0] == packs[1]
    assert {pack.name for pack in again} == {pack.name for pack in packs}
    assert rest == []
    fewer, rest = recorded(kept, given[1:])  # a pack with a cell that is not asked for is made anew
    assert {pack.name for pack in fewer} == {pack.name for pack in packs[1:]}
    assert [cell.name for cell in rest] == ["1", "2"]


@pytest.mark.parametrize("text", ["{}", "3", '"0"', "[3]", "[[]]", '["0", "0"]', "[" * 100_000, '{"0": 1}'])
def test_a_file_that_lists_no_cells_is_no_pack(tmp_path, text):
    given, kept = [Cell(f"{n}", {}, "a") for n in range(2)], CellStore(tmp_path / "s")
    (kept.path / "packs" / "odd.json").write_text(text)
    (kept.path / "checkpoints" / "odd.safetensors").write_bytes(b"")
    assert recorded(kept, given) == ([], given)
    remove_checkpoints(kept, ["0", "1"])
    assert (kept.path / "checkpoints" / "odd.safetensors").exists()


@pytest.fixture(scope="module")
def taught():
    pack = Pack(tuple(cells(hints=[("none", 1.0), ("states", 1.0), ("states", 0.5)], seeds=2)))
    plan = pack.plan()
    progress, _ = loop.teach(plan)
    return pack, plan, progress


def test_a_cell_in_a_pack_gives_the_numbers_that_it_gives_alone(taught):
    pack, plan, progress = taught
    rows = measurements(pack, plan, progress)
    for number in (1, 3, 5):
        alone = Pack((pack.cells[number],))
        (row,) = measurements(alone, alone.plan(), loop.teach(alone.plan())[0])
        assert row["tests"] == rows[number]["tests"]


def test_the_progress_comes_back_from_the_lines_of_the_store(taught):
    pack, plan, progress = taught
    rows = [row_of(line_of(row)) for row in measurements(pack, plan, progress)]
    assert all(json.loads(json.dumps(row)) == row for row in rows)
    again = progress_of(rows)
    assert again.iteration == progress.iteration
    assert again.seconds == pytest.approx(progress.seconds, abs=0.01)
    for ours, theirs in zip(again.tests, progress.tests):
        assert ours.keys() == theirs.keys()
        for name, array in theirs.items():
            assert ours[name].dtype.kind == np.asarray(array).dtype.kind
            np.testing.assert_array_equal(ours[name], array)
    assert TeachingReport(plan, again).rows() == TeachingReport(plan, progress).rows()
