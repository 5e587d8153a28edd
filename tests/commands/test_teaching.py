"""Teaching on the command line."""

import json
from pathlib import Path

import pytest

from tests.command_line import assert_refused

SMALL = ("dfa:tomita_1", "--seeds", "2", "--iterations", "6", "--test-every", "3", "--batch", "4")


@pytest.fixture(autouse=True)
def in_a_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def test_a_grid_is_taught_kept_and_listed(run):
    found = run("teach", *SMALL, "--hints", "none,states", "--density", "1,0.5", "--results", "kept", "--json").json
    assert [(row["hints"], row["density"]) for row in found["settings"]] == [
        ("none", 0),
        ("states", 1),
        ("states", 0.5),
    ]
    for row in found["settings"]:
        assert {
            "seeds",
            "generalised",
            "interval",
            "first_hit",
            "accuracy_by_length",
            "loss",
            "iterations_per_second",
        } <= row.keys()
        assert row["diverged"] == []
    rows = json.loads(Path(found["file"]).read_text())["rows"]
    assert len(rows) == 2 * 3 * 2
    listed = run("results", "kept", "--json").json
    assert [one["lesson"] for one in listed] == ["tomita_1 rnn"]
    assert "tomita_1 rnn" in run("results", "kept").out


def test_a_checkpoint_is_gone_on_from_and_one_of_another_plan_refused(run):
    first = run("teach", *SMALL, "--checkpoint", "c.safetensors", "--json").json
    again = run("teach", *SMALL, "--checkpoint", "c.safetensors", "--json").json
    assert again["settings"][0]["accuracy_by_length"] == first["settings"][0]["accuracy_by_length"]
    assert_refused(
        run("teach", *SMALL, "--checkpoint", "c.safetensors", "--first-seed", "7"), "another plan: seeds differ"
    )


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("cpoy",), "no task 'cpoy'"),
        (("dfa:tomita_1", "--hints", "shout"), "no hints of kind 'shout'"),
        (("dfa:tomita_1", "--machine", "ntm"), "not for the machine 'ntm'"),
        (("dfa:tomita_1", "--hints", "states", "--density", "2"), "the density is 2"),
        (("dfa:tomita_1", "--hints", "states", "--strength", "much"), "--strength is 'much'"),
        (("dfa:tomita_1", "--seeds", "0"), "seeds is 0"),
        (("dfa:(0",), "(0"),
    ],
)
def test_bad_input_is_refused(run, words, told):
    assert_refused(run("teach", *words), told)


def test_a_folder_without_results_is_refused(run):
    assert_refused(run("results", "nowhere"), "no folder 'nowhere'")
    Path("empty").mkdir()
    assert_refused(run("results", "empty"), "no results in 'empty'")
