"""The study of ways of teaching an algorithm, tiny: rows, realism, going on; and the tables of its stored result."""

import json

from kleene.groundtruth.taught import teach_subjects
from kleene_papers.judged.studies import STUDIES
from kleene_papers.judged.taught_algorithms import draw, make, summary, tables, trial
from kleene_papers.report import PICTURES, words
from kleene_papers.reproduce import trial_of
from kleene_papers.stored import Result, stored
from kleene_papers.study import run

STUDY = STUDIES[-1]
TINY = trial(("shift",), seeds=1, iterations=1, longest=2)


def test_every_way_has_a_row_and_every_network_a_likeness_and_a_second_run_teaches_nothing(tmp_path):
    found = run(STUDY, TINY, tmp_path)
    assert [row["method"] for row in found["rows"]] == ["interchange", "hints", "strict hints", "none"]
    names = [one["name"] for one in found["realism"]["shift"]["networks"]]
    taught = ["taught, interchange", "taught, hints", "taught, strict hints"]
    assert names == ["compiled", "hidden", "softened", *taught]
    assert found["realism"]["shift"]["networks"][0]["zeros"] > 0.5 > found["realism"]["shift"]["networks"][1]["zeros"]
    assert found.seconds > 0
    assert len(found.summary) == 4
    assert (tmp_path / "ours-taught-algorithms.svg").is_file()
    assert Result.load(tmp_path / "ours-taught-algorithms.json") == found
    times = {path: path.stat().st_mtime_ns for path in (tmp_path / "taught").iterdir()}
    seen = []
    again = run(STUDY, TINY, tmp_path, watch=lambda share, line: seen.append((share, line)))
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


def test_the_tables_hold_the_papers_finding_beside_ours():
    kept, looks = tables(stored("ours-taught-algorithms"))
    rows = {row[0]: dict(zip(kept.head[1:], row[1:])) for row in kept.rows}
    assert rows["InterpBench, 86 networks"]["interchange, inside"] == "100%"
    assert rows["reverse"]["strict hints, inside"] == "94.6%"
    assert rows["hist"]["none, outside"] == "26.3%"
    assert looks.rows[0] == ["compiled", "0.71", "0.10", "0.96"]


def test_a_program_that_one_way_made_no_network_of_is_shown_without_it(tmp_path):
    whole = stored("ours-taught-algorithms")
    rows = [dict(row) for row in whole["rows"]]
    del rows[0]["best"]
    result = Result(whole.name, whole.study, whole.shows, found={"rows": rows, "realism": whole["realism"]})
    assert tables(result)[0].rows[1][1:3] == ["–", "–"]
    assert draw(result, tmp_path / "it.svg").stat().st_size


def test_the_picture_shows_what_the_result_holds(tmp_path):
    drawn = draw(stored("ours-taught-algorithms"), tmp_path / "it.svg")
    assert words(drawn) == words(PICTURES / "ours-taught-algorithms.svg")


def test_a_trial_of_the_study_has_no_plans_and_the_papers_finding():
    for size in ("quick", "full"):
        assert trial_of("ours-taught-algorithms", size).plans == ()
    assert make("quick", iterations=7).paper == {
        "finding": "all 86 networks of InterpBench have an interchange accuracy of 100% on held-out pairs"
    }
