"""What the paper leaves open for the NTM: what is run, and what is said and drawn of it."""

import numpy as np
import pytest

from kleene.errors import InputError
from kleene.teaching.plan import Progress
from kleene.teaching.reports import TeachingReport
from kleene_papers.registry import studies
from kleene_papers.report import tables_of
from kleene_papers.stored import Provenance, Result
from kleene_papers.study import Trained
from kleene_papers.traces.readings import DECODERS, QUICK, READINGS, dyck_readings, tape_decoders


def found_in(trial, generalised, folder):
    """What is measured where so many of the seeds generalise, by plan and kind."""
    reports = []
    for plan, counts in zip(trial.plans, generalised, strict=True):
        passed = (np.array(counts)[:, None] > np.arange(len(plan.seeds))).ravel()
        tested = {"generalises": passed, "alive": np.ones(len(passed), bool), "loss": np.zeros(len(passed))}
        tested |= {"accuracy": passed * 1.0, "accuracy_by_length": np.zeros((len(passed), len(plan.lesson.lengths)))}
        reports.append(TeachingReport(plan, Progress(1000, 1.0, [tested | {"iteration": np.array(1000)}])))
    return trial.measure(Trained(reports, (), folder))


def test_every_reading_is_another_lesson_and_tests_go_to_twice_its_longest_word():
    plans = dyck_readings("full").plans
    facts = [plan.lesson.facts() for plan in plans]
    assert [(fact["variant"], fact["longest"]) for fact in facts] == [*READINGS.values()]
    assert all(max(fact["lengths"]) == 2 * fact["longest"] for fact in facts)
    assert all(plan.iterations == 100_000 and plan.runs == 40 for plan in plans)


def test_a_reading_can_be_run_by_itself_on_more_seeds(tmp_path):
    name = "online, never negative"
    trial = dyck_readings("full", first_seed=2000, readings=(name,), seeds=20)
    (plan,) = trial.plans
    assert (plan.runs, plan.seeds[0]) == (80, 2000)
    assert list(found_in(trial, [(1, 2, 3, 4)], tmp_path)["choices"]) == [name]
    with pytest.raises(InputError, match="no reading 'offline'"):
        dyck_readings(readings=("offline",))


def test_readings_stand_beside_each_other_and_the_paper(tmp_path):
    trial, study = dyck_readings(), studies()["ours-dyck-readings"]
    found = found_in(trial, [(0, 0), (1, 2), (3, 10)], tmp_path)
    assert list(found["choices"]) == list(QUICK)
    assert found["choices"]["online"]["corner"] == {"generalised": 10, "at_some_test": 10, "seeds": 10}
    assert found["summary"][1] == "never negative: none 1 of 10, corner 2 of 10"
    assert trial.paper["corner"] == 100
    result = Result(study.name, study.name, study.shows, Provenance(seeds=[0, 9]), trial.paper, found=found)
    (shown,) = study.tables(result)
    assert shown.rows[0] == ["paper", "not printed", "100%"]
    assert shown.rows[-1] == ["online", "3 (3)", "10 (10)"]
    picture = study.draw(result, tmp_path / "readings.svg").read_text()
    assert all(word in picture for word in ("paper", "online", "corner"))


@pytest.mark.parametrize("size", ["quick", "full"])
def test_the_decoders_differ_in_nothing_but_their_hidden_units(size):
    affine, tanh = (plan.facts() for plan in tape_decoders(size, first_seed=7).plans)
    assert (affine["lesson"].pop("decoder"), tanh["lesson"].pop("decoder")) == (*DECODERS.values(),) == (None, 20)
    assert affine == tanh
    assert affine["seeds"] == list(range(7, 17))


def test_stored_readings_and_decoders_have_the_papers_numbers():
    first, other = tables_of("ours-dyck-readings")
    assert (first.title, other.title) == ("seeds 1000 to 1009", "seeds 2000 to 2019")
    assert first.rows[0] == other.rows[0] == ["paper", "not printed", "100%", "90%", "90%"]
    assert [row[0] for row in first.rows[1:]] == [*READINGS]
    assert other.rows[1] == ["online, never negative", "8 (9)", "20 (20)", "20 (20)", "14 (14)"]
    (decoders,) = tables_of("ours-tape-decoders")
    assert decoders.rows == [["paper", "100%"], ["affine", "6 (9)"], ["tanh", "8 (8)"]]
