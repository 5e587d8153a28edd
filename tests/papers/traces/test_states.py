"""States as hints: that a study is run, also in pieces, is kept and drawn, and shows its stored results."""

import pytest

from kleene_papers.registry import studies
from kleene_papers.stored import Result, stored
from kleene_papers.study import run as run_study


def test_a_study_leaves_its_numbers_and_its_picture(tmp_path):
    study = studies()["ours-states-tomita_4-rnn"]
    assert study.make is not None
    result = run_study(study, study.make("quick", iterations=2), tmp_path)
    assert Result.load(tmp_path / "ours-states-tomita_4-rnn.json").rows == result.rows
    assert [(row["hints"], row["density"]) for row in result.rows] == [
        ("none", 0),
        ("scattered", 0.1),
        ("scattered", 1),
    ]
    assert result["examples"] == {"0": [None] * 6, "10": [None] * 6, "100": [None] * 6}  # after two updates
    assert result.summary[0] == "0% of the states: 0 of 6 seeds got all tests right, none"
    assert study.tables(result)[0].rows[0][:2] == ["tomita_4, RNN", "0 of 6"]
    picture = (tmp_path / "ours-states-tomita_4-rnn.svg").read_text()
    assert picture.startswith("<?xml")
    assert ">median not reached within 64<" in picture  # and no point at 64
    assert not list(tmp_path.glob(".*.safetensors"))


def test_a_study_in_pieces_has_its_result_with_the_last_of_them(tmp_path, run):
    name = "ours-states-tomita_4-rnn"
    command = ["reproduce", name, "--run", "quick", "--iterations", "2", "--first-seed", "5", "--folder", str(tmp_path)]
    first = run(*command, "--piece", "1/2")
    assert first.status == 3
    assert "9 of 18 cells are done" in first.err
    assert not (tmp_path / f"{name}.json").exists()
    assert run(*command, "--piece", "2/2").status == 0
    assert Result.load(tmp_path / f"{name}.json").plans[0]["seeds"] == [5, 6, 7, 8, 9, 10]


@pytest.mark.parametrize(
    ("given", "words"),
    [
        (["alta-section-4", "--piece", "1/2"], "alta-section-4 takes no --piece"),
        (["alta-section-4", "--first-seed", "3"], "alta-section-4 takes no --first-seed"),
        (["ours-states-tomita_4-rnn", "--minutes", "0"], "minutes is 0.0; give a number above 0"),
        (["ours-states-tomita_4-rnn", "--piece", "2"], "the piece is '2'; give i/n"),
    ],
)
def test_pieces_and_seeds_that_a_study_does_not_have_are_refused(run, tmp_path, given, words):
    found = run("reproduce", *given, "--run", "quick", "--folder", str(tmp_path))
    assert found.status == 2
    assert words in " ".join(found.err.split())


def test_the_stored_results_stand_in_one_table_and_one_picture(tmp_path):
    study = studies()["ours-states"]
    results = [*map(stored, study.results)]
    (table,) = study.tables(*results)
    assert table.rows[2] == [
        "tomita_5, RNN",
        "20 of 20, 89,600 examples",
        "20 of 20, 38,400 examples",
        "20 of 20, 27,200 examples",
        "81 s",
    ]
    assert study.draw is not None
    picture = study.draw(*results, tmp_path / "states.svg").read_text()
    assert all(f"{row[0]}<" in picture for row in table.rows)


def test_every_language_has_a_study_of_both_networks():
    names = {name for name in studies() if name.startswith("ours-states-")}
    assert len(names) == 10
    assert {f"ours-states-tomita_{n}-{machine}" for n in (2, 3, 4, 5, 7) for machine in ("rnn", "lstm")} == names
