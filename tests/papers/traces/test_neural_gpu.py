"""Figure 18: the plans are the paper's runs, and its errors are counted and drawn."""

from dataclasses import replace
from pathlib import Path

import numpy as np

from kleene.teaching.plan import Progress
from kleene.teaching.reports import TeachingReport
from kleene_papers.stored import stored
from kleene_papers.study import Trained
from kleene_papers.traces.neural_gpu import (
    PAPER,
    draw_curves,
    right_on_merge,
    tables_of_curves,
    taught_again,
    taught_once,
)


def report_of(plan, share):
    """A report in which the first run is right on this share of the tests, and the others on none."""
    right = np.zeros((plan.runs, len(plan.lesson.lengths)))
    right[0] = share
    tested = {"accuracy_by_length": right, "iteration": np.array(plan.iterations)}
    alive = np.ones(plan.runs, bool)
    tested |= {"generalises": ~alive, "alive": alive, "loss": right[:, 0], "accuracy": right[:, 0]}
    return TeachingReport(plan, Progress(plan.iterations, 1.0, [tested]))


def test_the_full_sizes_have_the_papers_runs_and_both_readings_of_its_samples():
    (once, nram), (again,) = taught_once("full").plans, taught_again("full").plans
    assert [plan.runs for plan in (once, again, nram)] == [20, 20, 38]
    assert again.iterations == 20_000
    assert [plan.iterations * plan.lesson.facts()["batch"] for plan in (once, nram)] == [10_000, 5_000]
    assert again.lesson.facts()["samples"] == 10_000
    assert {plan.lesson.facts()["hidden"] for plan in (once, again)} == {96}
    assert [setting["kind"] for setting in nram.settings] == ["full"]
    assert once.lesson.lengths == nram.lesson.lengths
    seven = (*taught_once("full", 7).plans, *taught_again("full", 7).plans)
    assert {plan.iterations for plan in seven} == {7}


def test_errors_are_means_over_runs_with_their_spread(tmp_path):
    trial = taught_once("quick")
    reports = [report_of(plan, share) for plan, share in zip(trial.plans, (0.0, 1.0))]
    assert trial.measure is not None
    found = trial.measure(Trained(reports, (), Path()))
    first, second = found["errors"].values()
    assert (first["mean"], set(first["wrong"])) == (100, {100})
    assert (second["mean"], second["runs"], set(second["wrong"])) == (75, 4, {75})
    assert second["low"][0] < 75 < second["high"][0] == 100
    assert [run[0] for run in second["each"]] == [0, 100, 100, 100]
    assert found["summary"][0].startswith("Neural GPU, 10,000 examples: 100.0% wrong")
    assert found["summary"][1].startswith("NRAM, full traces, 5,000 examples: 75.0% wrong")
    picture = draw_curves(replace(stored("traces-figure-18"), found=found), tmp_path / "figure.svg")
    assert all(word in picture.read_text() for word in ("Neural GPU", "NRAM, full traces", "difficulty"))
    assert PAPER == {"nram": 78.44}


def test_the_stored_errors_have_the_runs_that_are_right_beyond_the_training():
    (table,) = tables_of_curves(stored("traces-figure-18"))
    assert [row[1] for row in table.rows] == [20, "", 38, ""]
    assert table.rows[1][2:] == [20, 20, 0, 0, 0, 0]
    assert table.rows[2][2] == "80.7"
    assert [right_on_merge("NRAM"), right_on_merge("NRAM", 16), right_on_merge("Neural GPU", 16)] == [10, 7, 0]
