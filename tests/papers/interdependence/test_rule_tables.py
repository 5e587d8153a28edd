"""What tables and sentences tell of the stored results of rules."""

import numpy as np
import pytest

from kleene_papers.interdependence import rule_numbers as numbers
from kleene_papers.interdependence import rule_tables as tables
from kleene_papers.interdependence.rule_corpora import STUDIES
from kleene_papers.stored import Result, stored

FAMILIARITY, FREQUENCY = STUDIES


@pytest.mark.parametrize("study", STUDIES, ids=lambda study: study.name)
@pytest.mark.parametrize("ending", ["", "-quick"])
def test_the_tables_have_what_the_papers_say_beside_our_numbers(study, ending):
    result = stored(study.name + ending)
    beside, *_ = found = study.tables(result)
    assert all(table.rows for table in found)
    cells = [cell for row in beside.rows for cell in row]
    assert all(cells.count(said) == 1 for said in result.paper.values())
    assert len({table.title for table in found}) == len(found)


def test_a_table_has_the_estimates_that_the_result_keeps():
    beside = FAMILIARITY.tables(result := stored("compose-figure-7a"))[0]
    (told,) = (row[3] for row in beside.rows if row[2] == "P(ω), random scaffolds")
    kept = [result["last"][f"k={length} familiar"]["omega_out"] for length in (2, 4, 8)]
    ends = [(one["mean"], (one["over_corpora"][1] - one["over_corpora"][0]) / 2) for one in kept]
    assert told == ", ".join(f"{mean:.2f} ±{half:.2f}" for mean, half in ends)
    assert told == "0.99 ±0.01, 0.50 ±0.11, 0.02 ±0.01"


def test_a_rule_is_mastered_at_the_first_test_above_one_half_in_each_corpus():
    curves = {"omega_in": np.array([[0.1, 0.2], [0.6, 0.4], [0.4, 0.8]])}
    assert tables.mastered(curves) == [1, 2]
    assert tables.mastered({"omega_in": np.array([[0.1], [0.5]])}) == [None]


def test_a_measure_since_mastery_is_taken_at_each_corpus_own_time():
    result = Result("small", "", "", found={"curves": {"epochs": [1.0, 2.0, 3.0]}})
    curves = {"omega_in": np.array([[0.6, 0.1], [0.7, 0.9], [0.8, 0.9]]), "di": np.array([[1, 2], [3, 4], [5, 6]])}
    assert tables.since_mastery(result, curves, "di").tolist() == [1, 4]
    assert tables.since_mastery(result, curves, "di", 1).tolist() == [3, 6]
    assert tables.since_mastery(result, curves, "di", 2) is None
    assert tables.epochs_of_mastery(result, curves) == "2 (1–2)"


def test_one_corpus_has_means_without_intervals():
    result = stored("compose-figure-7a-quick")
    each = {
        kind: {name: [np.array(test)[:1].tolist() for test in values] for name, values in curves.items()}
        for kind, curves in result["curves"].items()
        if kind != "epochs"
    }
    one = Result("one", "", "", found={"corpora": 1, "curves": {"epochs": result["curves"]["epochs"], **each}})
    cells = [str(cell) for table in FAMILIARITY.tables(one) for row in table.rows for cell in row]
    assert not any("nan" in cell or "±" in cell for cell in cells)


def test_sentences_have_the_numbers_of_the_stored_results():
    assert (min(numbers.rule_epochs_earlier()), max(numbers.rule_epochs_earlier())) == (6, 16)
    assert [numbers.rule_epoch_by_alpha(f"k=8 {side}") for side in tables.SIDES] == [10, 21]
    assert [numbers.rule_higher_until(8, place) for place in tables.PLACES] == [33, 37]
    assert numbers.rule_smaller_gradients(4) == (7, 17, 11, 14)
    assert [round(float(one), 2) for one in numbers.rule_gradients("k=2 familiar", 6)] == [0.55, 0.47]
    assert round(numbers.rule_since_mastery("k=8 familiar", "interdependence_in", 10), 2) == 0.55
    assert len(numbers.rule_losses("k=8 familiar")) == 5
