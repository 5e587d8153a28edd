"""Pictures of heads: the program's, and those of the best run of each setting."""

import xml.etree.ElementTree as ET

import matplotlib
import numpy as np
import pytest

from kleene.teaching.loop import fresh_learners
from kleene.teaching.plan import Plan, Progress
from kleene.teaching.reports import TeachingReport
from kleene.teaching.sequences import ntm_lesson
from kleene.teaching.teach import Taught
from tests.command_line import assert_refused

SMALL = {"controller": (4, 4), "width": 2, "longest": 2, "lengths": (1, 3), "tests": 2, "batch": 2}


def untaught() -> Taught:
    """Fresh machines of a small lesson of copying: of the two seeds of each setting the second counts as the better."""
    lesson = ntm_lesson("copy", kinds=("none", "address"), **SMALL)
    plan = Plan.grid(lesson, kinds=lesson.kinds, densities=(1.0, 0.5), seeds=2, first_seed=5)
    better = np.arange(plan.runs) % 2 == 1
    test = {"alive": better | True, "generalises": better, "loss": 1.0 - better, "accuracy": 1.0 * better}
    test |= {"accuracy_by_length": np.stack([better, better], axis=1) * 1.0, "iteration": np.array(1)}
    return Taught(plan, lesson, TeachingReport(plan, Progress(1, 1.0, [test])), fresh_learners(plan))


def test_the_heads_of_the_program_and_of_the_best_run_of_each_setting_are_drawn(tmp_path, monkeypatch):
    monkeypatch.setitem(matplotlib.rcParams, "svg.fonttype", "none")
    path = untaught().draw_heads(tmp_path / "heads.svg")
    titles = {text.strip() for text in ET.parse(path).getroot().itertext()}
    taught = {"no hints (seed 6)", "address, 1, λ=1 (seed 6)", "address, 0.5, λ=1 (seed 6)"}
    assert {"program", "step", "cell"} | taught <= titles


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("increment", "--heads", "heads.svg"), "a machine without heads"),
        (("dfa:tomita_1", "--heads", "heads.svg"), "a machine without heads"),
        (("copy", "--heads", "heads.gif"), "pictures are written as .svg, .png, .pdf"),
    ],
)
def test_heads_that_cannot_be_drawn_are_refused_before_anything_is_taught(run, words, message):
    assert_refused(run("teach", *words), message)
