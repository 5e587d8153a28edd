"""Figures 7 and 12 to 17, and what differs from the paper's training: plans, errors, pictures and tables."""

from dataclasses import replace
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from kleene.tasks.memory import memory_task
from kleene.teaching.lessons import lesson
from kleene.teaching.plan import Progress
from kleene.teaching.reports import TeachingReport
from kleene_papers.registry import studies
from kleene_papers.stored import stored
from kleene_papers.study import Trained, Trial, run
from kleene_papers.traces import nram, nram_deviations, states
from kleene_papers.traces.nram import ALL, FIGURES, NRAM, draw_errors, name_of, tables_of_task


def shown(name):
    """The tables of a study by title."""
    study = studies()[name]
    return {table.title: table for table in study.tables(*map(stored, study.results))}


def report_of(plan, right):
    """A report in which each run is right on this share of all tests."""
    tested = {"generalises": right > 0.9, "alive": right >= 0, "loss": right, "accuracy": right}
    tested["accuracy_by_length"] = np.repeat(right[:, None], len(plan.lesson.lengths), axis=1)
    tested["updates"] = np.full(plan.runs, 100.0)
    return TeachingReport(plan, Progress(100, 1.0, [tested | {"iteration": np.array(100)}]))


def test_errors_of_the_nram_stand_beside_the_papers():
    trial = nram.taught("swap", "paper", "quick")
    (plan,) = trial.plans
    report = report_of(plan, np.repeat([0.0, 0.5, 1.0], len(plan.seeds)))  # none, corners, full
    assert trial.measure is not None
    found = trial.measure(Trained([report], (), Path()))
    assert found["errors"] == {"none": 100, "corners": 50, "full": 0}
    assert found["summary"][1] == "corners: 50.0% wrong, in the paper 99.1%"


def test_the_spread_over_seeds_is_kept_and_drawn(tmp_path):
    trial = nram.taught("merge", "paper", "quick")
    (plan,) = trial.plans
    report = report_of(plan, np.tile([0.0, 0.0, 0.2, 0.4, 1.0, 1.0], 3))
    assert trial.measure is not None
    found = trial.measure(Trained([report], (), Path()))
    assert found["spread"]["full"]["13"] == [0, 100]
    assert found["spread"]["none"].keys() == {str(size) for size in plan.lesson.lengths}
    result = replace(stored("traces-figure-17"), rows=report.settings(), found=found)
    picture = draw_errors(result, tmp_path / "figure.svg").read_text()
    assert all(word in picture for word in ("none", "corners", "full", "difficulty"))


@pytest.mark.parametrize("name", ALL)
def test_the_stored_spread_is_that_of_twenty_seeds_with_fifty_tests(name):
    result = stored(name)
    for row in result.rows:
        spread = result["spread"][row["hints"]]
        assert spread.keys() == row["accuracy_by_length"].keys()
        for low, high in spread.values():
            assert 0 <= low <= high <= 100
            assert all(5 * end == pytest.approx(round(5 * end)) for end in (low, high))  # steps of 2 points, a tenth


@pytest.mark.parametrize("task", FIGURES)
def test_each_task_has_the_papers_numbers_beside_ours(task):
    for variant in ("", "-stated"):
        result = stored(name_of(task, variant))
        tables = tables_of_task(result)
        errors = {row[0]: row for row in tables[0].rows}
        assert errors.keys() == {row["hints"] for row in result.rows}
        for kind, paper in NRAM[task].items():
            assert errors[kind][2] == f"{paper:.1f}"
            assert errors[kind][1].startswith(f"{result['errors'][kind]:.1f} (")
        assert len(tables[1].rows) == len(errors)


def test_figure_12_has_every_task_and_the_distances_from_the_paper():
    tables = shown("traces-figure-12")
    assert len(tables["both ways of training"].rows) == 40
    assert ["Swap", "single_hint", "76.4 (0)", "0.0 (20)", "2.4", "100"] in tables["both ways of training"].rows
    assert tables["distances"].rows[-2] == ["mean of the 6", "62.3", "57.6", "16.5", "13.9", "`stated`"]
    short = {row[0]: row for row in tables["ours and, in brackets, the paper's"].rows}
    assert short["corners"][1] == "21.2 (2.1)"
    assert tables["costs"].rows[2][-1] == "none 4, corners 4, registers 1, modules 2"


def test_full_sizes_have_twenty_seeds_and_the_noisy_traces_of_two_tasks():
    for task in FIGURES:
        (plan,) = nram.taught(task, "paper", "full").plans
        kinds = {setting["kind"] for setting in plan.settings}
        assert kinds - {"noisy_full"} == set(NRAM[task])
        assert ("noisy_full" in kinds) == (task in ("increment", "list_k"))
        assert (len(plan.seeds), plan.iterations) == (20, 100)
    plan = nram.taught("swap", "stated", "full", iterations=7, first_seed=1000).plans[0]
    assert (plan.lesson.facts()["variant"], plan.iterations, plan.seeds[0]) == ("stated", 7, 1000)


def test_fresh_seeds_are_those_of_every_plan():
    for study in (*nram.STUDIES, *nram_deviations.STUDIES, *states.STUDIES):
        if study.make:
            plans = study.make("full", iterations=10, first_seed=1000).plans
            assert {(plan.seeds[0], len(plan.seeds)) for plan in plans} == {(1000, 20)}, study.name


def test_a_swap_machine_that_leaves_the_memory_has_the_errors_of_no_hints():
    """The row without hints of both variants, seed by seed: what the pages say of a machine that does nothing."""
    task = lesson("swap").task

    @jax.jit
    @jax.vmap
    def shares_right(seed):
        keys = jax.random.split(jax.random.fold_in(jax.random.key(seed), 1 << 30), len(task.lengths))
        drawn = [task.examples(key, jnp.full((50,), size), 20).inputs for key, size in zip(keys, task.lengths)]
        return jnp.stack([jnp.mean(jnp.all((e.memory == e.expected) | ~e.counts, axis=1)) for e in drawn])

    right = np.asarray(shares_right(jnp.arange(20)))
    unchanged = dict(zip(map(str, task.lengths), np.mean(right, axis=0).round(4).tolist()))
    for name in ("traces-figure-13", "traces-figure-13-stated"):
        none, registers = (row for row in stored(name).rows if row["hints"] in ("none", "registers"))
        assert none["accuracy_by_length"] == registers["accuracy_by_length"] == pytest.approx(unchanged, abs=1e-4)
    # Of each size M: the places differ with chance 1 - 1/(M-3), and so do the values of two places, 1 - 1/(M-1).
    sizes = memory_task("swap").tests
    assert np.mean([1 - 1 / (m - 1) for m in sizes]) == pytest.approx(0.896, abs=5e-4)
    assert np.mean([(1 - 1 / (m - 3)) * (1 - 1 / (m - 1)) for m in sizes]) == pytest.approx(0.773, abs=5e-4)


@pytest.mark.parametrize(
    ("task", "name"), [("increment", "ours-nram-deviations"), ("permute", "ours-nram-deviations-permute")]
)
def test_each_deviation_has_its_errors_and_its_runs(task, name):
    (table,) = shown(name).values()
    assert [row[0] for row in table.rows] == ["paper", "on", "holes", "each", "stated", "paper's numbers"]
    assert table.rows[-1][1:] == [f"{NRAM[task][kind]:.1f}" for kind in nram_deviations.COMPARED]
    assert stored(name).plans == [plan.facts() for plan in nram_deviations.taught(task, "full").plans]
    if task == "increment":
        assert table.rows[2][1:] == ["67.6 (3)", "0.8 (19)", "0.1 (20)", "1.6 (19)"]


def test_a_tiny_study_leaves_its_errors_and_its_picture(tmp_path):
    study = studies()["ours-nram-deviations"]
    whole = nram_deviations.taught("increment", "quick", iterations=1)
    plan = replace(whole.plans[0], seeds=(0,))
    result = run(study, Trial((plan,), whole.paper, whole.measure, swept=True), tmp_path)
    assert result["errors"]["increment"]["paper"].keys() == set(nram_deviations.COMPARED)
    assert "ours, paper" in (tmp_path / "ours-nram-deviations.svg").read_text()
    assert result.summary[0].startswith("increment, paper: modules ")
