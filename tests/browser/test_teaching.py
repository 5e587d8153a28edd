"""The page of `kleene teach --watch` in a real browser."""

from importlib.util import find_spec

import pytest

from kleene.teaching.teach import teach
from kleene.watching.live.lessons import TeachingWatch
from tests.browser.test_accessibility import axe as axe
from tests.browser.test_accessibility import violations
from tests.browser.test_live import Address

pytestmark = [
    pytest.mark.browser,
    pytest.mark.skipif(not find_spec("starlette"), reason="starlette is not installed: pip install 'kleene[live]'"),
]
SMALL = {"seeds": 2, "iterations": 6, "test_every": 2, "longest": 2, "width": 3, "batch": 2, "hints": "none,address"}


@pytest.mark.parametrize(("size", "dark"), [((390, 844), True), ((1366, 850), False)], ids=["phone", "laptop"])
def test_curves_grow_with_each_test_and_stay_after_the_end(tab, axe, size, dark):
    told = []
    page = TeachingWatch(told.append)
    points = []

    def begin(plan):
        page.begin(plan)
        tab.open(Address(told[0].removeprefix("watch it at ")), size=size, dark=dark)

    def tested(progress, learners):
        page.tested(progress, learners)
        tab.wait(f"return document.documentElement.dataset.tests === '{len(progress.tests)}'")
        curves = tab.js("return [...document.querySelectorAll('.curve')].map((one) => one.getAttribute('d'))")
        assert len(curves) == 6  # three charts of two settings
        points.append(curves[0].count("L") + 1)
        assert tab.text("#iteration") == str(progress.iteration)

    taught = teach("copy", on_plan=begin, on_learners=tested, **SMALL)
    assert points == [1, 2, 3]
    page.end(taught.report.progress, "done")
    tab.wait("return document.documentElement.dataset.live === 'over'")
    assert tab.text(".facts") == "the run has ended: done"
    tab.js("document.querySelector('.chart').focus()")
    tab.press("HOME")
    assert tab.text(".pointed-at").startswith("Loss at iteration 2: no hints ")
    tab.press("ARROW_RIGHT")
    assert "Share that generalises at iteration 4: no hints 0%" in tab.text(".pointed-at")
    tab.js("document.querySelector('details').open = true")
    tab.wait("return document.querySelectorAll('.values tbody tr').length === 3")
    loss = taught.report.progress.tests[1]["loss"][:2].mean()
    assert float(tab.texts(".values tbody tr:nth-child(2) td")[0]) == pytest.approx(loss, rel=0.01)
    tab.type("#heads-slider", "0")
    assert "iteration 2, on " in tab.text("#heads-title + p")
    assert violations(tab, axe) == []
    tab.js("document.querySelector('.tools button').click()")
    assert tab.js("return document.documentElement.scrollWidth <= innerWidth")
