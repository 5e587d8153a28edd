"""Table 6 of ALTA: its cells, and that a tiny size runs with the paper's numbers beside."""

import pytest

from kleene.errors import InputError
from kleene.tasks.translation import Translation
from kleene_papers.alta.scan_end_to_end import CELLS, FULL, TableCell, scan_end_to_end, table_6
from kleene_papers.registry import studies
from kleene_papers.stored import Result
from kleene_papers.study import run

TINY = {"width": 4, "attention": 1, "key": 2, "hidden": 4, "batch": 2}
OWN = Translation("own", [("jump", "I_JUMP"), ("jump twice", "I_JUMP I_JUMP")], [("run", "I_RUN")])


def test_the_table_has_the_papers_cells():
    assert len(CELLS) == 4 * (2 * 7 + 2 * 5) == 96
    assert CELLS[TableCell("length", True, "relative", 256)] == 5
    assert CELLS[TableCell("MCD3", False, "absolute", 64)] == 1
    assert TableCell("MCD1", False, "relative", 128) not in CELLS
    assert {cell.split for cell in FULL} == {"length"}


def test_the_full_size_is_the_papers():
    (plan,) = scan_end_to_end("full", cells=FULL[:1], splits={"length": OWN}).plans
    facts = plan.lesson.facts()
    sizes = {name: facts["arguments"][name] for name in ("layers", "width", "units", "heads", "key_size", "shared")}
    assert sizes == {"layers": 2, "width": 128, "units": 512, "heads": 8, "key_size": 128, "shared": True}
    assert (facts["rate"], facts["optimiser"], plan.iterations) == (5e-4, "adafactor", 100_000)


def test_a_tiny_size_runs_and_is_drawn(tmp_path):
    cells = (TableCell("length", True, "relative", 2), TableCell("own", False, "absolute", 1))
    trial = scan_end_to_end("quick", 2, cells=cells, splits={"length": OWN, "own": OWN}, seeds=2, **TINY)
    content = run(studies()["alta-table-6"], trial, tmp_path)
    assert [cell["paper"] for cell in content["cells"]] == [11, None]
    assert all(0 <= cell["ours"] <= 100 for cell in content["cells"])
    assert "in the paper 11%" in content.summary[0]
    drawn = (tmp_path / "alta-table-6.svg").read_text()
    assert all(words in drawn for words in ("shared, relative, paper", "own, absolute"))
    kept = Result.load(tmp_path / "alta-table-6.json")
    assert kept["cells"] == content["cells"]
    assert [(row[0], row[-1]) for row in table_6(kept)[0].rows] == [("length", "11%"), ("own", "")]


def test_a_split_that_the_table_lacks_is_refused():
    with pytest.raises(InputError, match="Table 6 has no split 'simple'; it has length, MCD1, MCD2, MCD3"):
        scan_end_to_end(cells=[TableCell("simple", True, "relative", 2)])
