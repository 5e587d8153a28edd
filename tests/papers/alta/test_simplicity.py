"""Rules against layers of the library, and what networks did whose results lie in the same folder."""

from functools import partial

import pytest

from kleene.errors import InputError
from kleene.programs.alta.library import entries
from kleene_papers.alta.simplicity import end_to_end, families, follow_fewest_rules, measured, simplicity_bias
from kleene_papers.registry import studies
from kleene_papers.reproduce import trial_of
from kleene_papers.stored import Result
from kleene_papers.study import Trial, run


def row(within: float, many_ones: float) -> dict:
    return {"row": f"{many_ones}", "accuracy_within": {"ours": within}, "accuracy_many_ones": {"ours": many_ones}}


def keep(folder, name, **found) -> None:
    folder.mkdir(exist_ok=True)
    Result(name, name, name, found=found).save(folder)


def test_a_few_programs_are_measured_kept_and_drawn(tmp_path):
    keep(tmp_path, "alta-table-3", rows=[row(100, 51), row(99.5, 97), row(60, 95)])
    keep(tmp_path, "alta-table-6", cells=[{"cell": "2 layers", "training_match": 100.0, "ours": 9.5}])
    told = []
    programs = ("parity_relative", "parity_sum_modulo", "reverse")
    trial = Trial(measure=partial(measured, 30, programs))
    found = run(studies()["ours-simplicity-bias"], trial, tmp_path, watch=lambda *now: told.append(now))
    relative, modulo, reverse = found["programs"]
    assert (relative["rules"], relative["minimal_rules"], relative["layers"]["20"]) == (7, 7, 20)
    assert (modulo["rules"], modulo["minimal_rules"], modulo["layers"]["40"], modulo["at"]) == (202, 31, 1, 1)
    assert (reverse["longest"], set(reverse["layers"].values())) == (10, {2})
    (parity,) = found["families"]
    assert (parity["fewest_rules"], parity["fewest_layers"]) == (["parity_relative"], ["parity_sum_modulo"])
    assert not parity["same"]
    assert found["end_to_end"] == {
        "parity": {"networks": 3, "learned": 2, "as_fewest_rules": ["97"]},
        "SCAN": {"networks": 1, "learned": 1, "as_fewest_rules": []},
    }
    assert any("2 of 3 networks learned" in line and "1 of these solve" in line for line in found.summary)
    assert [line for _, line in told] == list(programs)
    assert (tmp_path / "ours-simplicity-bias.svg").read_text().startswith("<?xml")
    assert Result.load(tmp_path / "ours-simplicity-bias.json")["programs"] == found["programs"]


def test_without_results_of_networks_only_programs_are_compared(tmp_path):
    assert end_to_end(tmp_path) == {}


def test_no_network_of_the_stored_tables_follows_the_program_with_the_fewest_rules():
    found = follow_fewest_rules()
    assert {function: (one["networks"], one["learned"]) for function, one in found.items()} == {
        "parity": (5, 2),
        "SCAN": (2, 2),
    }
    assert all(one["as_fewest_rules"] == [] for one in found.values())


def test_a_function_with_one_program_is_not_compared():
    assert families([{"program": "scan", "minimal_rules": 3, "at": 4}]) == []


def test_the_whole_library_is_measured():
    trial = simplicity_bias()
    assert isinstance(trial.measure, partial)
    assert set(trial.measure.args[1]) == {*entries(), "addition_decoded"}
    with pytest.raises(InputError, match="ours-simplicity-bias takes no --iterations"):
        trial_of("ours-simplicity-bias", iterations=5)
