import pytest

from kleene.errors import InputError
from kleene.programs.alta.library import entries
from kleene.teaching.results import results
from kleene_papers.alta.simplicity import SimplicityBias, end_to_end, families, simplicity_bias
from kleene_papers.experiment import keep
from kleene_papers.reproduce import experiment


def row(within: float, many_ones: float) -> dict:
    return {"row": f"{many_ones}", "accuracy_within": {"ours": within}, "accuracy_many_ones": {"ours": many_ones}}


def keep_end_to_end(folder, *rows) -> None:
    content = {"name": "parity-end-to-end", "paper": {}, "plans": [], "settings": [], "rows": list(rows)}
    keep(content, folder)


def test_a_few_programs_are_measured_kept_and_drawn(tmp_path):
    keep_end_to_end(tmp_path, row(100, 51), row(99.5, 97), row(60, 95))
    cells = [{"cell": "2 layers", "training_match": 100.0, "ours": 9.5}]
    keep({"name": "scan-end-to-end", "paper": {}, "plans": [], "settings": [], "cells": cells}, tmp_path)
    told = []
    programs = ("parity_relative", "parity_sum_modulo", "reverse")
    found = SimplicityBias(30, programs).run(tmp_path, watch=lambda *now: told.append(now))
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
    assert any("2 of 3 networks learned" in line and "1 of these solve" in line for line in found["summary"])
    assert [line for _, line in told] == list(programs)
    assert (tmp_path / "simplicity-bias.svg").read_text().startswith("<?xml")
    kept = next(one for one in results(tmp_path).rows if one["name"] == "simplicity-bias")
    assert kept["programs"] == found["programs"]


def test_without_results_of_networks_only_programs_are_compared(tmp_path):
    assert end_to_end(tmp_path) == {}


def test_a_function_with_one_program_is_not_compared():
    assert families([{"program": "scan", "minimal_rules": 3, "at": 4}]) == []


def test_the_whole_library_is_measured():
    assert set(simplicity_bias().programs) == {*entries(), "addition_decoded"}
    with pytest.raises(InputError, match="'simplicity-bias' teaches nothing"):
        experiment("simplicity-bias", iterations=5)
