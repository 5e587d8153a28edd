"""Figures 10 and 11: counts and updates of the files of figure 12, and the paper's tables."""

from kleene_papers.traces.nram_runs import COMPLETED, SECONDS, completed, completed_of_begun, draw_completed, updates
from kleene_papers.traces.partial_traces import NRAM

CONTENT = {
    "settings": [
        {"hints": "none", "seeds": 20, "diverged": [1, 10, 15, 17], "updates": 100.0},
        {"hints": "full", "seeds": 20, "diverged": [], "updates": 37.35},
    ]
}


def test_a_run_that_diverged_did_not_complete():
    assert completed(CONTENT) == {"none": 16, "full": 20}
    assert completed_of_begun(CONTENT) == (36, 40)
    assert updates(CONTENT) == {"none": 100.0, "full": 37.35}


def test_the_papers_tables_have_the_kinds_of_figure_12():
    for task, kinds in NRAM.items():
        assert set(COMPLETED[task]) - {"noisy_full"} == set(kinds)
        assert task not in SECONDS or set(SECONDS[task]) == set(kinds)


def test_a_kind_that_a_task_does_not_have_has_no_bar(tmp_path):
    only_full = {"settings": CONTENT["settings"][1:]}
    file = draw_completed({"Permute": CONTENT, "Merge": only_full}, tmp_path / "runs.svg", title="of 20")
    assert all(word in file.read_text() for word in ("Permute", "Merge", "none", "full"))
