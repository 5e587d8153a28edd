"""Figures 4, 6 and 9 of the paper on partial traces: what is run, and what tables and pictures show of it."""

import numpy as np
import pytest

from kleene.errors import InputError
from kleene.sweeping.cells import cells_of_plan
from kleene_papers.registry import studies
from kleene_papers.report import tables_of, words
from kleene_papers.reproduce import reproduce, trial_of
from kleene_papers.stored import Provenance, Result, stored, where
from kleene_papers.study import run
from kleene_papers.traces.grids import Grid, grid
from kleene_papers.traces.ntm import FIGURE_4, NTM, STUDIES, TABLES, ntm_table
from kleene_papers.traces.readings import STUDIES as OF_READINGS


def table(name, title):
    return {one.title: one for one in tables_of(name)}[title]


def row_of(table, first):
    (found,) = [row for row in table.rows if row[0] == first]
    return dict(zip(table.head[1:], found[1:]))


@pytest.mark.parametrize("task", NTM)
def test_the_full_table_has_the_papers_runs(task):
    baseline, grid = ntm_table(task, "full").plans
    kinds, strengths = len(NTM[task].rows), len(NTM[task].strengths)
    assert (baseline.runs, grid.runs) == (40, kinds * 4 * strengths * 10)
    assert baseline.iterations == grid.iterations == 100_000
    assert max(grid.lesson.lengths) == 2 * grid.lesson.facts()["longest"]


@pytest.mark.parametrize("name", [study.name for study in (*STUDIES, *OF_READINGS) if study.make])
def test_what_is_run_is_what_was_run_for_the_stored_result(name):
    if name == "ours-tape-decoders":
        trial = trial_of(name, "quick")
    elif name == "traces-figure-9c-after":
        trial = trial_of(name, "full", iterations=6_000)
    else:
        trial = trial_of(name, "full", first_seed=1000)
    found = stored(name)
    for now, then in zip([plan.facts() for plan in trial.plans], found.plans, strict=True):
        assert (now["seeds"], now["iterations"], now["test_every"]) == (
            then["seeds"], then["iterations"], then["test_every"],
        )  # fmt: skip
        assert [setting["kind"] for setting in now["settings"]] == [setting["kind"] for setting in then["settings"]]
        assert {key: now["lesson"][key] for key in then["lesson"]} == then["lesson"]
    assert Result("", "", "", paper=trial.paper).as_json()["paper"].keys() == found.paper.keys()


def test_tables_can_be_cut_short_and_say_so():
    plan = trial_of("traces-figure-9a", "full", iterations=800).plans[1]
    assert (plan.iterations, plan.test_every) == (800, 40)
    assert plan.facts()["iterations"] == 800


def test_fresh_seeds_are_those_of_every_plan_and_begin_with_the_first_seed():
    for study in (*STUDIES, *OF_READINGS):
        if study.make:
            plans = trial_of(study.name, "full", iterations=10, first_seed=1000).plans
            assert all(min(plan.seeds) == 1000 for plan in plans), study.name
    baseline, grid = trial_of("traces-figure-9e", "full", first_seed=1000).plans
    assert (baseline.seeds, grid.seeds) == (tuple(range(1000, 1040)), tuple(range(1000, 1010)))


@pytest.mark.parametrize("size", ["quick", "full"])
def test_some_rows_of_a_table_are_the_runs_that_they_are_in_the_whole_table(size):
    kinds = ("corner", "read")
    whole, rows = (ntm_table("copy", size, 20, 1000, kinds=chosen) for chosen in ((), kinds))
    cells = {cell.name for plan in whole.plans for cell in cells_of_plan(plan) if cell.settings["hints"] in kinds}
    (plan,) = rows.plans
    assert {cell.name for cell in cells_of_plan(plan)} == cells
    assert set(rows.paper["rows"]) == set(kinds)
    with pytest.raises(InputError, match="figure 9a has no row 'corners'"):
        ntm_table("copy", size, kinds=("corners",))


@pytest.mark.parametrize("study", TABLES, ids=lambda study: study.name)
def test_tables_hold_the_papers_numbers(study):
    found, paper = Grid(stored(study.name)), stored(study.name).paper
    (task,) = [task for task, table in NTM.items() if f"traces-figure-{table.figure}" == study.name[:16]]
    assert {kind: tuple(row) for kind, row in paper["rows"].items()} == NTM[task].rows
    assert paper["baseline"] == NTM[task].baseline
    strongest = row_of(table(study.name, "all hints, λ = 1"), "paper")
    for kind, row in NTM[task].rows.items():
        assert strongest[kind] == ("unreadable" if row[0] is None else f"{row[0]}")
        readable = [share for share in row if share is not None]
        assert found.mean("paper", kind) == pytest.approx(np.mean(readable))
    cells = tables_of(study.name)[-1].rows
    assert len(cells) == len(NTM[task].rows) * 4
    shown = [cell.split(",")[0].replace("?", "None") for row in cells for cell in row[2:]]
    assert shown == [str(share) for row in NTM[task].rows.values() for share in row]


@pytest.mark.parametrize(("name", "agree"), [("9c", 0.13), ("9d", 0.18), ("9e", -0.05), ("9a", 0.43), ("9b", 0.43)])
def test_correlations_are_over_the_cells_that_can_be_read(name, agree):
    found = grid(f"traces-figure-{name}")
    assert round(found.correlation, 2) == agree
    shown = {row[0]: row for row in table("traces-figure-9", "findings").rows}
    assert shown[found.title][-1] == f"{agree:.2f}".replace("-", "−")
    assert len(found.both.T) == len(found.cells()) - sum(cell["paper"] is None for cell in found.cells())


def test_numbers_of_a_grid_are_those_of_its_rows():
    found = grid("traces-figure-9e")
    corners = where(found.result.rows, hints="corner")
    assert found.mean("ours", "corner") == pytest.approx(10 * np.mean([row["generalised"] for row in corners]))
    assert found.cell("corner", 0.5, 1.0)["generalised"] == 4
    assert (found.none["generalised"], found.none["passed"], found.none["paper"]) == (2, 11, 5)


def test_all_of_figure_9_have_their_runs_without_hints_in_one_table():
    rows = table("traces-figure-9", "without hints").rows
    assert rows[1] == ["RepeatCopyTwice (9b)", "100,000", 1000, "760", "413 s", "15.5%", "55% (40–69)", "82%"]
    assert [row[1] for row in rows].count("100,000") == 5
    assert len(rows) == 9


@pytest.mark.parametrize("name", ["traces-figure-9a-8000", "traces-figure-9d-7000", "traces-figure-9e-corners"])
def test_other_runs_of_a_table_are_shown_as_the_table_is(name, tmp_path):
    found = reproduce(name)
    assert all(one.rows for one in found.tables())
    drawn = words(found.draw(tmp_path / "drawn.svg"))
    assert "corner" in drawn
    assert ("read" in drawn) == (name != "traces-figure-9e-corners")


def test_one_row_of_a_table_is_run_and_shown_beside_the_same_cells_of_the_paper(tmp_path):
    result = run(studies()["traces-figure-9a"], ntm_table("copy", iterations=1, kinds=("corner",)), tmp_path)
    assert Result.load(tmp_path / "traces-figure-9a.json").rows == result.rows
    assert [(row["hints"], row["density"]) for row in result.rows] == [("corner", 1.0), ("corner", 0.1)]
    means = {one.title: one for one in studies()["traces-figure-9a"].tables(result)}["means of rows"]
    assert means.rows[0] == ["paper", "85"]  # of 100 and 70, at the densities of the quick size
    assert (tmp_path / "traces-figure-9a.svg").read_text().startswith("<?xml")


def improved(counts):
    """A result of figure 4 with so many of 4 seeds, without hints and with each kind, in each of two tasks."""
    rows = [
        {"task": task, "hints": kind, "seeds": 4, "generalised": count, "first_hit": [1] * count + [None] * (4 - count)}
        for task in ("copy", "reverse")
        for kind, count in zip(("none", *FIGURE_4), counts)
    ]
    return Result("traces-figure-4", "traces-figure-4", "points above none", Provenance(), rows=rows)


def test_improvements_are_against_the_same_tasks_baseline(tmp_path):
    study, result = studies()["traces-figure-4"], improved([1, 1, 2, 3, 4, 0, 2])
    (shown,) = study.tables(result)
    assert shown.rows[0][-3:] == [4, 1, 1]
    assert shown.rows[-1][-3:] == [8, 2, 2]
    drawn = study.draw(result, tmp_path / "figure.svg").read_text()
    assert all(word in drawn for word in (*FIGURE_4, "copy", "reverse"))


def test_figure_6_has_a_bar_for_each_task(tmp_path):
    (shown,) = tables_of("traces-figure-6")
    assert [row[0] for row in shown.rows][:2] == ["Copy (9a)", "RepeatCopyTwice (9b)"]
    assert row_of(shown, "Flip3rd (9d)")["write"] == "0.65"
    drawn = reproduce("traces-figure-6").draw(tmp_path / "heads.svg").read_text()
    assert all(word in drawn for word in ("Flip3rd", "corner", "largest weight"))
