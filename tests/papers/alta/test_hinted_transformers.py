"""Transformers taught with part of their program's trace: the settings of the experiment, its verdicts and picture."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from kleene.teaching.plan import Progress
from kleene.teaching.reports import TeachingReport
from kleene_papers.alta import hinted_transformers
from kleene_papers.alta.hinted_transformers import (
    TEACHERS,
    draw,
    is_determined,
    judged,
    settings_of,
    table,
)
from kleene_papers.registry import studies
from kleene_papers.reproduce import trial_of
from kleene_papers.stored import Result
from kleene_papers.study import Trained, run

SMALL = {"width": 8, "attention": 2, "hidden": 8, "pool": 8, "batch": 4}
SETTINGS = [
    {"kind": "none", "density": 0.0, "strength": 0.0},
    {"kind": "scattered", "density": 1.0, "strength": 1.0},
    {"kind": "scattered", "density": 0.1, "strength": 1.0},
]


@pytest.fixture
def small(monkeypatch):
    """The quick experiment with tiny networks, whose verdicts are looked up in a table."""
    tiny = {name: replace(TEACHERS[name], longest=3, options=SMALL) for name in hinted_transformers.QUICK}
    monkeypatch.setattr(hinted_transformers, "TEACHERS", tiny)
    monkeypatch.setattr(hinted_transformers, "is_determined", lambda name, longest: name == "parity_relative")
    return trial_of("ours-hints-for-transformers", iterations=2)


def taught(chosen, right):
    """What was taught; accuracy beyond the training lengths is `right` [plan, setting], the same for all seeds."""
    reports = []
    for plan, rows in zip(chosen.plans, right):
        beyond = np.array(plan.lesson.lengths) > 3
        accuracy = np.where(beyond, np.repeat(rows, len(plan.seeds))[:, None], 1.0)
        whole = accuracy.min(axis=1)
        tested = {"generalises": whole == 1, "alive": whole >= 0, "trace": whole, "accuracy_by_length": accuracy}
        reports.append(TeachingReport(plan, Progress(2, 1.0, [tested | {"iteration": np.array(2)}])))
    return Trained(reports, (), Path())


def test_every_setting_of_the_full_size_is_different_and_most_have_the_usual_strength():
    settings = settings_of("full")
    assert len({tuple(setting.values()) for setting in settings}) == len(settings) == 11
    assert sum(setting["strength"] == 1 for setting in settings) == 8


def test_theory_tells_sequential_parity_from_counting():
    assert is_determined("parity_relative", 4)
    assert not is_determined("parity_sum_modulo_steps", 4)


def test_lines_say_what_theory_and_what_seeds_say(small):
    found = judged(taught(small, [[0.5, 1.0, 0.75], [0.5, 0.6, 0.5]]))
    assert found["summary"] == [
        "parity_relative is determined by its training words: 0 of 4 seeds generalise without hints, "
        "4 with the best hints (scattered at density 1, λ 1)",
        "parity_sum_modulo_steps is not determined by its training words: 0 of 4 seeds generalise without hints, "
        "0 with the best hints (scattered at density 1, λ 1)",
    ]
    rows = found["generalisation"]["parity_relative"]
    assert [(row["generalise"], row["beyond"], row["within"]) for row in rows] == [
        (0, [0.5] * 4, [1.0] * 4),
        (4, [1.0] * 4, [1.0] * 4),
        (0, [0.75] * 4, [1.0] * 4),
    ]


def test_the_picture_has_a_panel_for_each_program(small, tmp_path):
    found = judged(taught(small, [[0.5, 1.0, 0.75], [0.5, 0.6, 0.5]]))
    result = Result("hints", "hints", "hints", found=found)
    drawn = draw(result, tmp_path / "figure.svg").read_text()
    assert all(words in drawn for words in ("parity_relative", "parity_sum_modulo_steps", "scattered", "no hints"))
    (shown,) = table(result)
    assert shown.rows[1] == ["scattered", "1", "1", "4, 100%, 1.00", "0, 60%, 0.60"]


def test_the_experiment_runs_and_is_kept(small, tmp_path):
    assert list(small.plans[0].settings) == SETTINGS
    assert small.plans[0].seeds[0] == 100  # the defaults were chosen with other seeds
    content = run(studies()["ours-hints-for-transformers"], small, tmp_path)
    assert set(content["minimal_generalises"].values()) == {True, False}
    assert (tmp_path / "ours-hints-for-transformers.json").exists()
    assert len(content.rows) == 6


def test_the_full_size_has_ten_seeds_of_every_setting_that_a_program_has():
    plans = trial_of("ours-hints-for-transformers", "full").plans
    assert {plan.lesson.name: plan.runs for plan in plans} == {
        "parity_relative": 110,
        "addition": 50,
        "parity_absolute": 110,
        "parity_sum_modulo_steps": 100,  # its head reads a number, so that there are no hints on heads
        "reverse": 110,
    }
