"""The experiment on ways of teaching an algorithm, tiny: rows, realism, going on."""

import json

from kleene.groundtruth.taught import teach_subjects
from kleene_papers.judged.taught_algorithms import TaughtAlgorithms, summary

TINY = TaughtAlgorithms(("shift",), seeds=1, iterations=1, longest=2)


def test_every_way_has_a_row_and_every_network_a_likeness_and_a_second_run_teaches_nothing(tmp_path):
    found = TINY.run(tmp_path)
    assert [row["method"] for row in found["rows"]] == ["interchange", "hints", "strict hints", "none"]
    names = [one["name"] for one in found["realism"]["shift"]["networks"]]
    taught = ["taught, interchange", "taught, hints", "taught, strict hints"]
    assert names == ["compiled", "hidden", "softened", *taught]
    assert found["realism"]["shift"]["networks"][0]["zeros"] > 0.5 > found["realism"]["shift"]["networks"][1]["zeros"]
    assert (tmp_path / "taught-algorithms.svg").is_file()
    times = {path: path.stat().st_mtime_ns for path in (tmp_path / "taught").iterdir()}
    seen = []
    again = TINY.run(tmp_path, watch=lambda share, line: seen.append((share, line)))
    assert again["rows"] == found["rows"]
    assert {path: path.stat().st_mtime_ns for path in (tmp_path / "taught").iterdir()} == times
    assert seen[-1] == (1, "shift, none")


def test_a_row_of_another_size_is_taught_again(tmp_path):
    options = {"subjects": ["shift"], "methods": ["none"], "seeds": 1, "again": False, "hidden": 4, "pairs": 4}
    teach_subjects(tmp_path, iterations=1, longest=2, **options)
    (row,) = teach_subjects(tmp_path, iterations=2, longest=2, **options)
    assert row["iterations"] == 2
    (tmp_path / "shift.none.row.json").write_text("not JSON")
    (row,) = teach_subjects(tmp_path, iterations=2, longest=2, **options)
    assert json.loads((tmp_path / "shift.none.row.json").read_text()) == row


def test_the_summary_counts_programs_that_are_kept():
    def row(method, right):
        return {"method": method, "best": {"interchange": {"right": right, "pairs": 4}}}

    lines = summary([row("interchange", 4), row("interchange", 2), row("none", 1)])
    assert lines[0] == "interchange: 1 of 2 programs are kept, interchange accuracy 75.0%"
    assert lines[-1] == "none: 0 of 1 programs are kept, interchange accuracy 25.0%"
