"""Pictures of heads on the command line."""

import xml.etree.ElementTree as ET

import numpy as np
import pytest

from kleene.teaching import catalog, loop
from kleene.teaching.ntm_lesson import NTMLesson
from tests.command_line import assert_refused

SMALL = {"controller": (4, 4), "width": 2, "longest": 2, "lengths": (1, 3), "tests": 2, "batch": 2}


@pytest.fixture
def untaught(tmp_path, monkeypatch):
    """Makes the lesson of copying a small one, and leaves out the teaching, which takes long to compile: of the two
    seeds of each setting the second is said to be the better."""
    import matplotlib

    monkeypatch.chdir(tmp_path)
    monkeypatch.setitem(matplotlib.rcParams, "svg.fonttype", "none")
    monkeypatch.setattr(catalog, "lesson", lambda task, machine, hints: NTMLesson(task, kinds=hints, **SMALL))

    def teach(plan, **options):
        better = np.arange(plan.runs) % 2 == 1
        test = {"alive": better | True, "generalises": better, "loss": 1.0 - better, "accuracy": 1.0 * better}
        test |= {"accuracy_by_length": np.stack([better, better], axis=1) * 1.0, "iteration": np.array(1)}
        return loop.Progress(1, 1.0, [test]), loop.teaching_program(plan)[1]

    monkeypatch.setattr(loop, "teach", teach)


def test_the_heads_of_the_program_and_of_the_best_run_of_each_setting_are_drawn(run, untaught):
    asked = ("--hints", "none,address", "--density", "1,0.5", "--seeds", "2", "--first-seed", "5")
    assert run("teach", "copy", *asked, "--heads", "heads.svg", "--json").status == 0
    titles = {text.strip() for text in ET.parse("heads.svg").getroot().itertext()}
    taught = {"no hints (seed 6)", "address, 1, λ=1 (seed 6)", "address, 0.5, λ=1 (seed 6)"}
    assert {"program", "step", "cell"} | taught <= titles


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("increment", "--heads", "heads.svg"), "a machine without heads"),
        (("dfa:tomita_1", "--heads", "heads.svg"), "a machine without heads"),
        (("copy", "--heads", "heads.gif"), "pictures are written as .svg, .png, .pdf"),
    ],
)
def test_heads_that_cannot_be_drawn_are_refused_before_anything_is_taught(run, words, told):
    assert_refused(run("teach", *words), told)
