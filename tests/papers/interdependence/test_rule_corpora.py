import numpy as np
import pytest

from kleene.errors import InputError
from kleene.tasks.rules import RuleSettings
from kleene.teaching.loop import teach
from kleene.teaching.plan import Progress
from kleene.teaching.reports import TeachingReport
from kleene_papers.interdependence.rule_corpora import PAPER, STUDIES, familiarity, rule_plan
from kleene_papers.interdependence.rule_curves import curves
from kleene_papers.stored import Result, stored
from kleene_papers.study import Trained, Trial, run

SMALL = {"rules": 12, "tokens": 500, "types": 9, "scaffolds": 3, "copies": 5, "test_tokens": 150, "test_rules": 6}
TRAINING = {"hidden": 4, "batch": 2, "steps": 10, "epochs": 1}


FAMILIARITY, FREQUENCY = STUDIES


def small(settings, seeds=2, corpora=1) -> Trial:
    plan = rule_plan("small", settings, seeds=seeds, corpora=corpora, measured=2, iterations=4, **TRAINING)
    return Trial((plan,), PAPER, curves)


@pytest.fixture(scope="module")
def conditions() -> Trial:
    kinds = {"k=2 unfamiliar": RuleSettings(2, False, **SMALL), "k=2 familiar": RuleSettings(2, True, **SMALL)}
    return small(kinds, corpora=3)


@pytest.fixture(scope="module")
def result(conditions, tmp_path_factory) -> Result:
    return run(FAMILIARITY, conditions, tmp_path_factory.mktemp("whole"))


def test_a_study_that_was_stopped_goes_on_where_it_was(conditions, result, tmp_path):
    def stop(share, line):
        if share == 3 / 4:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run(FAMILIARITY, conditions, tmp_path, watch=stop)
    assert not (tmp_path / "compose-figure-7a.json").exists()
    seen = []
    content = run(FAMILIARITY, conditions, tmp_path, watch=lambda share, line: seen.append((share, line)))
    assert seen == [(1.0, "0 of 12 generalise")]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["compose-figure-7a.json", "compose-figure-7a.svg"]
    kept = Result.load(tmp_path / "compose-figure-7a.json")["curves"]
    assert kept == content["curves"] == result["curves"]
    assert len(kept["epochs"]) == 4
    assert np.shape(kept["k=2 familiar"]["omega_in"]) == (4, 6)  # tests, runs: three corpora with two seeds
    assert np.shape(kept["k=2 familiar"]["omega_by_prefix_in"]) == (4, 6, 3)  # and α with 0, 1 or 2 scaffold tokens
    assert np.shape(kept["k=2 familiar"]["gradient_in"]) == (4, 6, 4)  # and α, the scaffold, ω


def test_the_last_test_has_the_mean_of_each_corpus_and_their_interval(result):
    assert result["corpora"] == 3
    for kind, last in result["last"].items():
        for name in ("omega_in", "interdependence_in", "interdependence_logits_in"):
            runs = np.array(result["curves"][kind][name][-1])
            assert last[name]["corpora"] == pytest.approx(
                [runs[:2].mean(), runs[2:4].mean(), runs[4:].mean()], abs=1e-4
            )
            low, high = last[name]["over_corpora"]
            assert low <= last[name]["mean"] <= high
        assert len(set(last["interdependence_in"]["corpora"])) == 3
        by_alpha = np.array(result["curves"][kind]["omega_by_prefix_out"][-1])[:, 0]
        assert last["omega_by_alpha_out"]["mean"] == pytest.approx(by_alpha.mean(), abs=1e-4)
    assert [line.partition(":")[0] for line in result.summary] == ["k=2 unfamiliar", "k=2 familiar"]


def test_a_short_run_has_tables_in_which_no_rule_is_mastered(result):
    beside, *others = FAMILIARITY.tables(result)
    assert beside.head[3:] == ["familiar, k = 2", "unfamiliar, k = 2"]
    assert beside.rows[0][3:] == ["never"] * 2
    assert beside.rows[4][3:] == ["–"] * 2  # P(ω) by α as the rule is mastered
    assert [len(table.rows) for table in others] == [2, 8, 2]


def test_every_corpus_has_texts_of_its_own_and_conditions_of_a_corpus_share_their_tests():
    kinds = {"k=2 unfamiliar": RuleSettings(2, False, **SMALL), "k=2 familiar": RuleSettings(2, True, **SMALL)}
    texts = small(kinds, corpora=2).plans[0].facts()["lesson"]["texts"]
    assert list(texts) == [f"k=2 {name}, corpus {n}" for name in ("unfamiliar", "familiar") for n in (0, 1)]
    assert len({train for train, _ in texts.values()}) == 4
    tests = [test for _, test in texts.values()]
    assert tests[:2] == tests[2:]
    assert tests[0] != tests[1]
    with pytest.raises(InputError, match="corpora is 0"):
        small(kinds, corpora=0)


def test_the_frequency_figure_has_a_line_for_every_number_of_rules(tmp_path):
    sizes = {name: value for name, value in SMALL.items() if name != "rules"}
    kinds = {f"k={k} n={n}": RuleSettings(k, False, rules=n, **sizes) for k in (2, 4, 8) for n in (6, 12)}
    (plan,) = small(kinds, seeds=1).plans
    measured = {name: np.full(6, 0.5) for name in ("omega_in", "omega_out", "interdependence_in", "perplexity")}
    measured["interdependence_logits_in"] = np.full(6, 0.4)
    measured |= {f"omega_by_scaffold_{domain}": np.full(6, 0.1) for domain in ("in", "out")}
    measured |= {f"omega_by_prefix_{domain}": np.full((6, 9), 0.2) for domain in ("in", "out")}
    measured |= {"gradient_in": np.full((6, 10), 0.3), "iteration": np.array(4)}
    report = TeachingReport(plan, Progress(4, 1.0, [measured]))
    result = Result("small", "compose-figure-11", "a small one", found=curves(Trained([report], (), tmp_path)))
    picture = FREQUENCY.draw(result, tmp_path / "drawn.svg").read_text()
    assert picture.count(">n=6<") == picture.count(">n=12<") == 1  # told once, in the first legend
    (table,) = FREQUENCY.tables(result)
    assert table.head == ["P(ω)", "the papers", "6 rules", "12 rules"]
    assert table.rows[0] == ["by α, k=2", "", "0.20 (0.20–0.20)", "0.20 (0.20–0.20)"]
    assert table.rows[5] == ["by the scaffold, k=8", "", "0.1000", "0.1000"]


@pytest.mark.parametrize("study", STUDIES, ids=lambda study: study.name)
def test_the_plans_of_the_quick_size_are_those_of_the_stored_result(study):
    assert study.make("quick", corpora=5).plans[0].facts() == stored(f"{study.name}-quick").plans[0]


@pytest.mark.slow
@pytest.mark.parametrize("study", STUDIES, ids=lambda study: study.name)
def test_the_plans_of_the_full_size_are_those_of_the_stored_result(study):
    assert study.make("full").plans[0].facts() == stored(study.name).plans[0]


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
