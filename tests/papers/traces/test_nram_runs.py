"""Figures 10 and 11: counts and updates of the results of figure 12, and the paper's tables."""

from kleene_papers.registry import studies
from kleene_papers.stored import Result, stored
from kleene_papers.traces.nram import FIGURES, NRAM
from kleene_papers.traces.nram_runs import (
    COMPLETED,
    SECONDS,
    completed,
    completed_of_begun,
    draw_completed,
    nrams_completed,
    updates,
)

ROWS = [
    {"hints": "none", "seeds": 20, "diverged": [1, 10, 15, 17], "updates": 100.0},
    {"hints": "full", "seeds": 20, "diverged": [], "updates": 37.35},
]
FOUND = Result("some", "some", "", rows=ROWS)


def test_a_run_that_diverged_did_not_complete():
    assert completed(FOUND) == {"none": 16, "full": 20}
    assert completed_of_begun(FOUND) == (36, 40)
    assert updates(FOUND) == {"none": 100.0, "full": 37.35}


def test_the_papers_tables_have_the_kinds_of_figure_12():
    for task, kinds in NRAM.items():
        assert set(COMPLETED[task]) - {"noisy_full"} == set(kinds)
        assert task not in SECONDS or set(SECONDS[task]) == set(kinds)


def test_a_kind_that_a_task_does_not_have_has_no_bar(tmp_path):
    only_full = Result("other", "other", "", rows=ROWS[1:])
    given = [one for task in FIGURES for one in (FOUND, FOUND if task == "permute" else only_full)]
    file = draw_completed(*given, tmp_path / "runs.svg")
    assert all(word in file.read_text() for word in ("Permute", "Merge", "none", "full"))


def test_counts_and_times_stand_beside_the_papers():
    runs, times = (studies()[f"traces-figure-{figure}"] for figure in (10, 11))
    (table,) = runs.tables(*map(stored, runs.results))
    assert table.rows[0] == ["none", "20", "58", "20", "44", "16", "36", "20", "41", "19", "13", "12", "12"]
    assert table.rows[-2][1:5] == ["140 of 140", "363", "140 of 140", "306"]
    assert nrams_completed("-stated") == (720, 760)
    assert nrams_completed("", "permute", "permute_noise") == (237, 240)
    (table,) = times.tables(*map(stored, times.results))
    assert table.rows[-1][:3] == ["full", "37 (37%)", "3,759 (107%)"]
