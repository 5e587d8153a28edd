"""The plans of the partial-trace experiments, and that one runs, is drawn and says what the paper says."""

import json

import numpy as np
import pytest

from kleene.errors import InputError
from kleene.sweeping.cells import cells_of_plan
from kleene.teaching.plan import Progress
from kleene.teaching.reports import TeachingReport
from kleene_papers.traces.partial_traces import (
    FIGURE_4,
    NRAM,
    NTM,
    draw_improvements,
    experiments,
    improvements,
    nram_errors,
    ntm_table,
    state_hints,
)


@pytest.mark.parametrize("task", NTM)
def test_the_full_table_has_the_papers_runs(task):
    baseline, grid = ntm_table(task, "full").plans
    kinds, strengths = len(NTM[task].rows), len(NTM[task].strengths)
    assert (baseline.runs, grid.runs) == (40, kinds * 4 * strengths * 10)
    assert baseline.iterations == grid.iterations == 100_000
    assert max(grid.lesson.lengths) == 2 * grid.lesson.facts()["longest"]


def test_tables_can_be_cut_short_and_say_so():
    plan = ntm_table("copy", "full", 800).plans[1]
    assert (plan.iterations, plan.test_every) == (800, 40)
    assert plan.facts()["iterations"] == 800


def test_fresh_seeds_are_those_of_every_plan_and_begin_with_the_first_seed():
    for name, made in experiments("full", 10, 1000).items():
        assert all(min(plan.seeds) == 1000 for plan in made().plans), name
    baseline, grid = ntm_table("repeat_flip_3d", "full", first_seed=1000).plans
    assert (baseline.seeds, grid.seeds) == (tuple(range(1000, 1040)), tuple(range(1000, 1010)))


@pytest.mark.parametrize("size", ["quick", "full"])
def test_some_rows_of_a_table_are_the_runs_that_they_are_in_the_whole_table(size):
    kinds = ("corner", "read")
    whole, rows = (ntm_table("copy", size, 20, 1000, kinds=chosen) for chosen in ((), kinds))
    cells = {cell.name for plan in whole.plans for cell in cells_of_plan(plan) if cell.settings["hints"] in kinds}
    (plan,) = rows.plans
    assert {cell.name for cell in cells_of_plan(plan)} == cells
    assert set(rows.paper["rows"]) == set(kinds)
    assert rows.name == "figure-9a-copy-corner-read"
    with pytest.raises(InputError, match="figure 9a has no row 'corners'"):
        ntm_table("copy", size, kinds=("corners",))


def test_an_experiment_in_pieces_has_its_result_with_the_last_of_them(tmp_path, run):
    command = ["reproduce", "states-tomita_4-rnn", "--iterations", "2", "--first-seed", "5", "--folder", str(tmp_path)]
    first = run(*command, "--piece", "1/2")
    assert first.status == 3
    assert "9 of 18 cells are done" in first.err
    assert not (tmp_path / "state-hints-tomita_4-rnn.json").exists()
    assert run(*command, "--piece", "2/2").status == 0
    kept = json.loads((tmp_path / "state-hints-tomita_4-rnn.json").read_text())
    assert kept["plans"][0]["seeds"] == [5, 6, 7, 8, 9, 10]


@pytest.mark.parametrize(
    ("given", "words"),
    [
        (["rules", "--piece", "1/2"], "'rules' is not a sweep"),
        (["rules", "--first-seed", "3"], "'rules' has its own seeds"),
        (["states-tomita_4-rnn", "--minutes", "0"], "minutes is 0.0; give a number above 0"),
        (["states-tomita_4-rnn", "--piece", "2"], "the piece is '2'; give i/n"),
    ],
)
def test_pieces_and_seeds_that_an_experiment_does_not_have_are_refused(run, tmp_path, given, words):
    found = run("reproduce", *given, "--folder", str(tmp_path))
    assert found.status == 2
    assert words in found.err


def test_every_table_of_the_paper_has_an_experiment():
    names = set(experiments())
    assert {f"ntm-{task}" for task in NTM} | {f"nram-{task}" for task in NRAM} | {"ntm-improvements"} <= names


def test_improvements_are_against_the_same_tasks_baseline(tmp_path):
    experiment = improvements()
    reports = []
    for plan in experiment.plans:
        share = np.array([0, 1, 2, 3, 4, 1, 2])[:, None] > np.arange(4)  # none, then the kinds of figure 4
        tested = {"generalises": share.ravel(), "alive": np.ones(28, bool), "loss": np.zeros(28)}
        tested |= {"accuracy": np.zeros(28), "accuracy_by_length": np.zeros((28, len(plan.lesson.lengths)))}
        reports.append(TeachingReport(plan, Progress(1000, 1.0, [tested | {"iteration": np.array(1000)}])))
    assert [row["generalised"] for row in reports[0].settings()] == [0, 1, 2, 3, 4, 1, 2]
    file = draw_improvements(experiment, reports, tmp_path / "figure.svg")
    assert all(word in file.read_text() for word in (*FIGURE_4, "repeat_flip_3d", "reverse"))


def test_errors_of_the_nram_stand_beside_the_papers():
    experiment = nram_errors("swap")
    (plan,) = experiment.plans
    right = np.repeat([0.0, 0.5, 1.0], len(plan.seeds))  # none, corners, full
    tested = {"generalises": right > 0.9, "alive": right >= 0, "loss": right, "accuracy": right}
    tested["accuracy_by_length"] = np.repeat(right[:, None], len(plan.lesson.lengths), axis=1)
    report = TeachingReport(plan, Progress(100, 1.0, [tested | {"iteration": np.array(100)}]))
    assert experiment.further is not None
    found = experiment.further([report])
    assert found["errors"] == {"none": 100, "corners": 50, "full": 0}
    assert found["summary"][1] == "corners: 50.0% wrong, in the paper 99.1%"


def test_an_experiment_leaves_its_numbers_and_its_picture(tmp_path):
    content = state_hints("tomita_4", iterations=2).run(tmp_path)
    kept = json.loads((tmp_path / "state-hints-tomita_4-rnn.json").read_text())
    assert kept == json.loads(json.dumps(content)) | {"checksum": kept["checksum"]}
    assert [(row["hints"], row["density"]) for row in kept["settings"]] == [
        ("none", 0),
        ("scattered", 0.1),
        ("scattered", 1),
    ]
    assert kept["examples"] == {"0": [None] * 6, "10": [None] * 6, "100": [None] * 6}  # after two updates
    assert kept["summary"][0] == "0% of the states: 0 of 6 seeds got all tests right, none"
    picture = (tmp_path / "state-hints-tomita_4-rnn.svg").read_text()
    assert picture.startswith("<?xml")
    assert ">median not reached within 64<" in picture  # and no point at 64
    assert not list(tmp_path.glob(".*.safetensors"))
