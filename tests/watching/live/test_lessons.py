"""The page of a plan that is being taught: what it is told, and that it disturbs nothing."""

import base64
import json
import re

import numpy as np
import pytest

from kleene.cli import app
from kleene.errors import InputError
from kleene.teaching.sequences import ntm_lesson
from kleene.teaching.teach import teach
from kleene.watching.live.board import LiveBoard
from kleene.watching.live.lessons import TeachingWatch, facts_of_test, packed_heads
from tests.watching.live.conftest import Visitor

TINY = {"seeds": 2, "iterations": 4, "test_every": 2, "hidden": 4, "batch": 4}


def taught_with_a_page(subject, visit, **options):
    """What is taught while a page is served, and the address of the page; `visit` is called after each test."""
    told: list[str] = []
    page = TeachingWatch(told.append)

    def tested(progress, learners):
        page.tested(progress, learners)
        visit(Visitor(told[0].removeprefix("watch it at ")), progress)

    taught = teach(subject, on_plan=page.begin, on_learners=tested, **options)
    page.end(taught.report.progress, "done")
    assert len(told) == 1
    return taught, page


def test_the_page_gets_every_test_while_it_is_taught(live_server):
    seen = []

    def visit(visitor, progress):
        wanted = progress.iteration
        seen.append(visitor.until(lambda entry: entry["test"]["iteration"] == wanted))
        assert visitor.ask().status == 200
        assert visitor.ask("/", own=False).status == 403
        assert visitor.ask("events", Origin="http://evil.example").status == 403
        assert visitor.ask("input", method="POST", body="{}").status == 404  # it takes nothing

    taught, page = taught_with_a_page("dfa:tomita_1", visit, hints="none,states", **TINY)
    assert [entry["test"] for entry in seen] == [
        facts_of_test(taught.plan, test) for test in taught.report.progress.tests
    ]
    assert page.board.since(2) == [(2, {"over": True, "line": "done"})]
    assert page.board.closed


def test_a_page_of_a_continued_run_has_the_tests_before(live_server, tmp_path):
    kept = tmp_path / "kept"
    teach("dfa:tomita_1", checkpoint=kept, **TINY | {"iterations": 2})
    _, page = taught_with_a_page("dfa:tomita_1", lambda *_: None, checkpoint=kept, **TINY)
    assert [entry["test"]["iteration"] for _, entry in page.board.since(0) if "test" in entry] == [2, 4]


def test_the_figures_of_a_test_are_those_of_the_runs():
    taught = teach("dfa:tomita_1", hints="none,states", **TINY)
    test = taught.report.progress.tests[-1] | {
        "loss": np.array([1.0, 3.0, np.nan, 0.5], np.float32),
        "accuracy": np.array([0.5, 0.25, np.nan, 1.0], np.float32),
        "alive": np.array([True, True, False, True]),
        "generalises": np.array([False, False, False, True]),
    }
    first, second = facts_of_test(taught.plan, test)["settings"]
    assert (first["loss"], first["accuracy"], first["diverged"]) == ([2.0, 1.0, 3.0], [0.375, 0.25, 0.5], 0)
    assert (second["loss"], second["diverged"]) == ([0.5, 0.5, 0.5], 1)
    assert first["generalises"][0] == 0.0
    assert second["generalises"][0] == 0.5
    assert second["generalises"][1] < 0.5 < second["generalises"][2]
    nobody = facts_of_test(taught.plan, test | {"alive": np.zeros(4, bool)})["settings"][0]
    assert nobody["loss"] == [None, None, None]


def test_the_heads_of_the_best_run_are_shown_after_each_test(live_server):
    sizes = {"longest": 1, "lengths": (1, 2), "batch": 2, "tests": 2, "controller": (4, 4), "width": 3}
    lesson = ntm_lesson("copy", kinds=("none",), **sizes)
    taught, page = taught_with_a_page(lesson, lambda *_: None, seeds=1, iterations=2, test_every=1)
    entries = [entry for _, entry in page.board.since(0) if "test" in entry]
    assert [entry["test"]["iteration"] for entry in entries] == [1, 2]
    assert page._word is not None
    trace = taught.trace(page._word)
    heads = entries[-1]["heads"]
    for name in ("read", "write"):
        found = np.frombuffer(base64.b64decode(heads[name]), np.uint8).reshape(heads["shape"])
        np.testing.assert_allclose(found / 255, trace[name][1:], atol=0.5 / 255 + 1e-6)
    assert heads["title"] == "no hints (seed 0)"


def test_a_fault_of_the_page_does_not_end_the_teaching(live_server, monkeypatch):
    told: list[str] = []
    page = TeachingWatch(told.append)

    def fault(*_):
        raise RuntimeError("no heads today")

    monkeypatch.setattr(page, "_heads", fault)
    taught = teach("dfa:tomita_1", on_plan=page.begin, on_learners=page.tested, **TINY)
    page.end(taught.report.progress)
    assert "no heads today" in told[1]
    assert len([entry for _, entry in page.board.since(0) if "test" in entry]) == 2


def test_a_port_in_use_is_refused_before_anything_is_taught(live_server):
    visitor = live_server("parity_relative", "1")
    page = TeachingWatch(lambda line: None, port=int(visitor.host.partition(":")[2]))
    with pytest.raises(InputError, match="cannot be used"):
        teach("dfa:tomita_1", on_plan=page.begin, on_learners=lambda *_: pytest.fail("it was taught"), **TINY)


def test_a_board_with_only_the_latest_counts_on():
    board = LiveBoard(latest=True)
    for number in range(3):
        board.publish({"number": number})
    assert board.since(0) == board.since(2) == [(2, {"number": 2})]
    assert board.since(3) == []


def test_heads_are_packed_in_255ths():
    packed = packed_heads({"read": np.array([[0.5, 2.0]]), "write": np.array([[0.0, -1.0]])})
    assert [*base64.b64decode(packed["read"])] == [128, 255]
    assert [*base64.b64decode(packed["write"])] == [0, 0]


def test_watch_leaves_the_json_alone(live_server, capfd):
    words = ["teach", "dfa:tomita_1", "--seeds", "1", "--iterations", "2", "--hidden", "4", "--batch", "4"]
    app([*words, "--watch", "--json"], standalone_mode=False)
    found = capfd.readouterr()
    assert json.loads(found.out)["iterations"] == 2
    assert re.fullmatch(r"kleene: watch it at http://127\.0\.0\.1:\d+/[\w-]{32}/\n", found.err)
