"""What the paper leaves open for the NTM: the plans, and what is said and drawn of them."""

import numpy as np
import pytest

from kleene.errors import InputError
from kleene.teaching.plan import Progress
from kleene.teaching.reports import TeachingReport
from kleene_papers.traces.ntm_choices import DECODERS, QUICK, READINGS, dyck_readings, tape_decoders


def reports_of(experiment, generalised):
    """Reports in which so many of the 10 seeds generalise, by plan and kind."""
    found = []
    for plan, counts in zip(experiment.plans, generalised, strict=True):
        passed = (np.array(counts)[:, None] > np.arange(10)).ravel()
        tested = {"generalises": passed, "alive": np.ones(len(passed), bool), "loss": np.zeros(len(passed))}
        tested |= {"accuracy": passed * 1.0, "accuracy_by_length": np.zeros((len(passed), len(plan.lesson.lengths)))}
        found.append(TeachingReport(plan, Progress(1000, 1.0, [tested | {"iteration": np.array(1000)}])))
    return found


def test_every_reading_is_another_lesson_and_tests_go_to_twice_its_longest_word():
    plans = dyck_readings("full").plans
    facts = [plan.lesson.facts() for plan in plans]
    assert [(fact["variant"], fact["longest"]) for fact in facts] == [*READINGS.values()]
    assert all(max(fact["lengths"]) == 2 * fact["longest"] for fact in facts)
    assert all(plan.iterations == 100_000 and plan.runs == 40 for plan in plans)


def test_a_reading_can_be_run_by_itself_on_more_seeds():
    name = "online, never negative"
    experiment = dyck_readings("full", first_seed=2000, readings=(name,), seeds=20)
    (plan,) = experiment.plans
    assert (experiment.name, plan.runs, plan.seeds[0]) == ("dyck-readings-online_walks", 80, 2000)
    assert experiment.further is not None
    assert list(experiment.further(reports_of(dyck_readings("full", readings=(name,)), [(1, 2, 3, 4)]))["choices"]) == [
        name
    ]
    with pytest.raises(InputError, match="no reading 'offline'"):
        dyck_readings(readings=("offline",))


def test_readings_stand_beside_each_other_and_the_paper(tmp_path):
    experiment = dyck_readings()
    reports = reports_of(experiment, [(0, 0), (1, 2), (3, 10)])
    assert experiment.further is not None
    found = experiment.further(reports)
    assert list(found["choices"]) == list(QUICK)
    assert found["choices"]["online"]["corner"] == {"generalised": 10, "at_some_test": 10, "seeds": 10}
    assert found["summary"][1] == "never negative: none 1 of 10, corner 2 of 10"
    assert experiment.paper["corner"] == 100
    picture = experiment.draw(experiment, reports, tmp_path / "readings.svg").read_text()
    assert all(word in picture for word in ("paper", "online", "corner"))


@pytest.mark.parametrize("size", ["quick", "full"])
def test_the_decoders_differ_in_nothing_but_their_hidden_units(size):
    experiment = tape_decoders(size, first_seed=7)
    affine, tanh = (plan.facts() for plan in experiment.plans)
    assert (affine["lesson"].pop("decoder"), tanh["lesson"].pop("decoder")) == (*DECODERS.values(),) == (None, 20)
    assert affine == tanh
    assert affine["seeds"] == list(range(7, 17))
