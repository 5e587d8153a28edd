"""Table 3 of ALTA: its plans, that a tiny size runs and is kept after each row, and when a row ends."""

import numpy as np

from kleene.teaching.plan import Progress
from kleene_papers.alta.parity_end_to_end import TABLE_3, Variant, draw, is_learned, parity_end_to_end, table_3
from kleene_papers.registry import studies
from kleene_papers.stored import Result
from kleene_papers.study import run

TINY = {"width": 4, "attention": 1, "key": 2, "hidden": 4, "longest": 2, "pool": 4, "batch": 2}


def test_the_full_size_has_the_papers_rows_and_sizes():
    rows = [row for row in TABLE_3 if row.layers == 8]
    plans = parity_end_to_end("full", variants=rows, pool=2, longest=3).plans  # few words, because they are not used
    assert len(TABLE_3) == 8
    for row, plan in zip(rows, plans):
        facts = plan.lesson.facts()
        sizes = {name: facts["arguments"][name] for name in ("layers", "width", "units", "heads", "key_size", "shared")}
        assert sizes == {"layers": 8, "width": 512, "units": 2048, "heads": 6, "key_size": 64, "shared": row.shared}
        assert (facts["arguments"]["places"] is None) == (row.positions == "relative")
        assert (facts["rate"], facts["optimiser"], facts["answer"]) == (5e-4, "adafactor", "last")
        assert plan.iterations == 50_000


def test_a_tiny_size_is_kept_after_each_row_with_the_papers_numbers_beside(tmp_path):
    rows = [Variant(8, True, "relative"), Variant(8, False, "absolute")]
    seen = []

    def watch(share, line):
        file = tmp_path / "alta-table-3.json"
        seen.append(len(Result.load(file)["rows"]) if file.exists() else 0)

    trial = parity_end_to_end("quick", 4, variants=rows, seeds=2, checkpoints=False, **TINY)
    content = run(studies()["alta-table-3"], trial, tmp_path, watch=watch)
    assert set(seen) == {0, 1}
    assert [row["row"] for row in content["rows"]] == [row.title for row in rows]
    assert [row["accuracy_beyond"]["paper"] for row in content["rows"]] == [65, 49]
    for row in content["rows"]:
        low, high = row["accuracy_within"]["seeds"]
        assert 0 <= low <= row["accuracy_within"]["ours"] <= high <= 100
    assert [row["network_layers"] for row in content["rows"]] == [3, 3]
    assert content.summary[1].startswith("8 layers, shared weights, relative (here 3 layers): trained lengths")
    assert "more ones" in content.summary[1]
    assert "(52%)" in content.summary[1]
    drawn = (tmp_path / "alta-table-3.svg").read_text()
    assert all(f"figure {number}" in drawn for number in (9, 10, 11))
    assert Result.load(tmp_path / "alta-table-3.json")["rows"] == content["rows"]


def test_a_new_result_keeps_what_its_pictures_and_tables_show_of_several_seeds(tmp_path):
    rows = [Variant(8, True, "relative"), Variant(8, False, "absolute")]
    run(studies()["alta-table-3"], parity_end_to_end("quick", 2, variants=rows, seeds=2, **TINY), tmp_path)
    kept = Result.load(tmp_path / "alta-table-3.json")
    for row, means in zip(kept["rows"], kept.rows):
        assert 0 <= row["training"] <= 100
        for name, (mean, low, high) in row["curves"].items():
            stored = [*means[name].values()] if name == "accuracy_by_length" else means[name]
            np.testing.assert_allclose(mean, stored, atol=1e-4)
            assert all(a <= b <= c for a, b, c in zip(low, mean, high))
    table, answers = table_3(kept)
    assert [row[:3] for row in table.rows] == [["3 for 8", "shared", "relative"], ["3 for 8", "own", "absolute"]]
    assert ["training words" in table.head, "ones > 2" in table.head, len(answers.rows)] == [True, True, 1]
    assert draw(kept, tmp_path / "again.svg").read_text().startswith("<?xml")


def test_a_row_ends_once_training_lengths_are_right_twice_or_after_its_seconds(tmp_path):
    right, wrong = ({"accuracy_within": np.array([1.0, value]), "alive": np.array([True, True])} for value in (1, 0.9))
    assert not is_learned(Progress(2, 1.0, [right]))
    assert not is_learned(Progress(2, 1.0, [right, wrong]))
    assert is_learned(Progress(2, 1.0, [wrong, right, right]))
    rounded = right | {"accuracy_within": np.array([1, 0.99999994], np.float32)}  # all right, as a GPU sums it
    assert is_learned(Progress(2, 1.0, [rounded, rounded]))
    one_wrong = right | {"accuracy_within": np.array([1, 0.9998], np.float32)}
    assert not is_learned(Progress(2, 1.0, [one_wrong, one_wrong]))
    diverged = wrong | {"alive": np.array([True, False])}
    assert is_learned(Progress(2, 1.0, [diverged, diverged]))
    rows = [Variant(8, True, "relative")]
    short = parity_end_to_end("quick", 40, variants=rows, seconds={8: 0.0}, seeds=1, **TINY)
    assert run(studies()["alta-table-3"], short, tmp_path)["rows"][0]["updates"] == 2  # the first test
