import json

import numpy as np
import pytest

from kleene.errors import InputError
from kleene.tasks.rules import RuleSettings
from kleene.teaching.loop import teach
from kleene.teaching.plan import Progress
from kleene.teaching.reports import TeachingReport
from kleene_papers.experiment import Experiment
from kleene_papers.interdependence.rule_corpora import familiarity, rule_plan
from kleene_papers.interdependence.rule_curves import curves, draw_familiarity, draw_frequency

SMALL = {"rules": 12, "tokens": 500, "types": 9, "scaffolds": 3, "copies": 5, "test_tokens": 150, "test_rules": 6}
TRAINING = {"hidden": 4, "batch": 2, "steps": 10, "epochs": 1}


def small(draw, settings, seeds=2, corpora=1) -> Experiment:
    plan = rule_plan("small", settings, seeds=seeds, corpora=corpora, measured=2, iterations=4, **TRAINING)
    return Experiment("small", "a small one", (plan,), {}, draw, curves)


@pytest.fixture(scope="module")
def conditions() -> Experiment:
    kinds = {"k=2 unfamiliar": RuleSettings(2, False, **SMALL), "k=2 familiar": RuleSettings(2, True, **SMALL)}
    return small(draw_familiarity, kinds, corpora=3)


def test_an_experiment_that_was_stopped_goes_on_where_it_was(conditions, tmp_path):
    def stop(share, line):
        if share == 3 / 4:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        conditions.run(tmp_path, watch=stop)
    assert not (tmp_path / "small.json").exists()
    seen = []
    content = conditions.run(tmp_path, watch=lambda share, line: seen.append((share, line)))
    assert seen == [(1.0, "0 of 12 generalise")]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["small.json", "small.svg"]
    kept = json.loads((tmp_path / "small.json").read_text())["curves"]
    assert kept == content["curves"]
    assert len(kept["epochs"]) == 4
    assert np.shape(kept["k=2 familiar"]["omega_in"]) == (4, 6)  # tests, runs: three corpora with two seeds
    assert np.shape(kept["k=2 familiar"]["omega_by_prefix_in"]) == (4, 6, 3)  # and α with 0, 1 or 2 scaffold tokens
    assert np.shape(kept["k=2 familiar"]["gradient_in"]) == (4, 6, 4)  # and α, the scaffold, ω


def test_the_last_test_has_the_mean_of_each_corpus_and_their_interval(conditions, tmp_path):
    content = conditions.run(tmp_path)
    assert content["corpora"] == 3
    for kind, last in content["last"].items():
        for name in ("omega_in", "interdependence_in", "interdependence_logits_in"):
            runs = np.array(content["curves"][kind][name][-1])
            assert last[name]["corpora"] == pytest.approx(
                [runs[:2].mean(), runs[2:4].mean(), runs[4:].mean()], abs=1e-4
            )
            low, high = last[name]["over_corpora"]
            assert low <= last[name]["mean"] <= high
        assert len(set(last["interdependence_in"]["corpora"])) == 3
        by_alpha = np.array(content["curves"][kind]["omega_by_prefix_out"][-1])[:, 0]
        assert last["omega_by_alpha_out"]["mean"] == pytest.approx(by_alpha.mean(), abs=1e-4)


def test_every_corpus_has_texts_of_its_own_and_conditions_of_a_corpus_share_their_tests():
    kinds = {"k=2 unfamiliar": RuleSettings(2, False, **SMALL), "k=2 familiar": RuleSettings(2, True, **SMALL)}
    texts = small(draw_familiarity, kinds, corpora=2).plans[0].facts()["lesson"]["texts"]
    assert list(texts) == [f"k=2 {name}, corpus {n}" for name in ("unfamiliar", "familiar") for n in (0, 1)]
    assert len({train for train, _ in texts.values()}) == 4
    tests = [test for _, test in texts.values()]
    assert tests[:2] == tests[2:]
    assert tests[0] != tests[1]
    with pytest.raises(InputError, match="corpora is 0"):
        small(draw_familiarity, kinds, corpora=0)


def test_the_frequency_figure_has_a_line_for_every_number_of_rules(tmp_path):
    sizes = {name: value for name, value in SMALL.items() if name != "rules"}
    kinds = {f"k={k} n={n}": RuleSettings(k, False, rules=n, **sizes) for k in (2, 4, 8) for n in (6, 12)}
    experiment = small(draw_frequency, kinds, seeds=1)
    measured = {name: np.full(6, 0.5) for name in ("omega_in", "omega_out", "interdependence_in", "perplexity")}
    measured["interdependence_logits_in"] = np.full(6, 0.4)
    measured |= {f"omega_by_scaffold_{domain}": np.full(6, 0.1) for domain in ("in", "out")}
    measured |= {f"omega_by_prefix_{domain}": np.full((6, 9), 0.2) for domain in ("in", "out")}
    measured |= {"gradient_in": np.full((6, 10), 0.3), "iteration": np.array(4)}
    report = TeachingReport(experiment.plans[0], Progress(4, 1.0, [measured]))
    picture = draw_frequency(experiment, [report], tmp_path / "drawn.svg").read_text()
    assert picture.count(">n=6<") == picture.count(">n=12<") == 1  # told once, in the first legend


def test_iterations_can_be_chosen_and_are_told():
    plan = familiarity("quick", iterations=32).plans[0]
    assert plan.facts()["iterations"] == 32
    assert (plan.runs, len(plan.lesson.kinds)) == (18, 18)  # three corpora of six conditions
    more = familiarity("quick", iterations=32, corpora=2, networks=2).plans[0]
    assert (more.runs, len(more.lesson.kinds)) == (24, 12)


@pytest.mark.slow
def test_familiar_scaffolds_are_learned_and_the_rule_is_not():
    kinds = {f"k=4 {name}": RuleSettings.quick(4, name == "familiar") for name in ("unfamiliar", "familiar")}
    training = {"hidden": 64, "batch": 10, "rate": 5.0, "clip": 1.0, "epochs": 5}
    progress, _ = teach(rule_plan("rules", kinds, seeds=1, measured=50, **training))
    last = progress.tests[-1]
    assert (last["omega_in"] > 0.8).all()
    unfamiliar, familiar = last["omega_out"]
    assert unfamiliar > 0.6 > 0.3 > familiar
    assert last["interdependence_in"][1] > 1.2 * last["interdependence_in"][0]
