"""The one runner of studies: what it keeps, when it measures, and that a stopped run goes on."""

import pytest

from kleene.errors import KleeneError, UnfinishedError
from kleene.teaching.lessons import lesson
from kleene.teaching.plan import Plan
from kleene_papers import study
from kleene_papers.stored import Provenance, Result
from kleene_papers.study import Study, Trial, run
from kleene_papers.tables import Table


def seen(result: Result) -> list[Table]:
    return [Table(["seeds"], [[row["seeds"]] for row in result.rows])]


def drawn(result, path):
    path.write_text(result.name)
    return path


STUDY = Study("ours-test", "a test", seen, drawn)


def plan(seeds: int = 2, iterations: int = 4) -> Plan:
    return Plan.grid(lesson("dfa:tomita_1", hidden=4, batch=4), seeds=seeds, iterations=iterations, test_every=2)


def test_a_run_keeps_its_result_its_picture_and_where_it_comes_from(tmp_path):
    trial = Trial((plan(),), {"share": 1}, lambda taught: {"runs": len(taught.reports), "summary": ["one plan"]})
    found = run(STUDY, trial, tmp_path, provenance=Provenance("kleene reproduce ours-test", "quick"))
    assert found == Result.load(tmp_path / "ours-test.json")
    assert (tmp_path / "ours-test.svg").read_text() == "ours-test"
    assert (found.paper, found.found, found.summary) == ({"share": 1}, {"runs": 1}, ["one plan"])
    assert found.provenance.seeds == [0, 1]
    assert (found.provenance.size, found.provenance.command) == ("quick", "kleene reproduce ours-test")
    assert all((found.provenance.date, found.provenance.machine, found.provenance.versions))
    assert [row["seeds"] for row in found.rows] == [2]
    assert list(tmp_path.glob(".*.safetensors")) == []


def test_a_study_that_teaches_nothing_is_measured_once_and_timed(tmp_path):
    found = run(STUDY, Trial(measure=lambda taught: {"at": str(taught.folder)}), tmp_path)
    assert found.found == {"at": str(tmp_path)}
    assert found.seconds is not None
    assert found.provenance.seeds is None


def test_learners_are_looked_at_plan_by_plan(tmp_path):
    trial = Trial(
        (plan(1), plan(2)),
        measure=lambda taught: {"each": list(taught.each)},
        each=lambda number, report, learners: [number, report.plan.runs],
    )
    assert run(STUDY, trial, tmp_path).found == {"each": [[0, 1], [1, 2]]}


def test_a_growing_trial_is_kept_after_each_plan_and_ends_plans_that_are_learned(tmp_path):
    kept = []

    def measure(taught):
        kept.append((tmp_path / "ours-test.json").exists())
        return {"updates": [report.progress.iteration for report in taught.reports]}

    trial = Trial((plan(), plan()), measure=measure, grows=True, learned=lambda progress: progress.iteration >= 2)
    assert run(STUDY, trial, tmp_path).found == {"updates": [2, 2]}
    assert kept == [False, True]


def without_speed(result):
    return [{key: value for key, value in row.items() if key != "iterations_per_second"} for row in result.rows]


def test_a_trial_that_was_stopped_goes_on_from_its_checkpoint(tmp_path, monkeypatch):
    teach, begun = study.teach, []

    def stops(plan, **options):
        begun.append(options["checkpoint"])
        if len(begun) == 2:
            raise KeyboardInterrupt
        return teach(plan, **options)

    monkeypatch.setattr(study, "teach", stops)
    trial = Trial((plan(1), plan(2)))
    with pytest.raises(KeyboardInterrupt):
        run(STUDY, trial, tmp_path)
    assert begun[0].is_file()
    found = run(STUDY, trial, tmp_path)
    assert begun[2:] == begun[:2]
    assert without_speed(found) == without_speed(run(STUDY, trial, tmp_path / "in one go"))
    assert not begun[0].exists()


def test_a_sweep_that_has_no_time_left_has_no_result_and_the_next_call_finishes_it(tmp_path):
    with pytest.raises(UnfinishedError):
        run(STUDY, Trial((plan(),), swept=True, minutes=0), tmp_path)
    assert not (tmp_path / "ours-test.json").exists()
    assert len(run(STUDY, Trial((plan(),), swept=True), tmp_path).rows) == 1


def test_what_is_done_is_told_with_its_share(tmp_path):
    told = []
    run(STUDY, Trial((plan(1), plan(1))), tmp_path, watch=lambda share, line: told.append((share, line)))
    assert [share for share, _ in told] == [0.25, 0.5, 0.75, 1.0]
    assert told[0][1].endswith("of 1 generalise")


def test_a_table_of_uneven_rows_is_our_mistake():
    with pytest.raises(AssertionError, match="2 columns"):
        Table(["a", "b"], [["1"]])


def test_a_refused_folder_is_named_before_anything_is_taught(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(KleeneError, match="file"):
        run(STUDY, Trial((plan(),)), tmp_path / "file")
