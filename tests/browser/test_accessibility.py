"""Pages and the rules of axe: contrast, names, roles, structure."""

import importlib.util
from pathlib import Path

import jax
import pytest

import kleene
from kleene.machines.ntm.ntm import NTM
from kleene.machines.pretrained import grammar_model

pytestmark = pytest.mark.browser

PAGES = {
    "addition": (["789", "456"], {"both": True}),
    "dfa:(a|b)*abb": ("abab", {"both": True}),
    "tm:copy": ("ab", {}),
    "increment": (["3", "1", "4", "1", "5", "0"], {}),
    "ntm": ([0, 1, 2], {"cells": 5}),
    "sentence": ("the dog near the houses laughs", {}),
}


@pytest.fixture(scope="module")
def axe():
    found = importlib.util.find_spec("axe_core_python")
    if found is None or found.origin is None:
        pytest.skip("axe is not installed: pip install 'kleene[browser]'")
    return (Path(found.origin).parent / "axe.min.js").read_text()


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
@pytest.mark.parametrize("size", [(390, 844), (1366, 850)], ids=["phone", "laptop"])
@pytest.mark.parametrize("name", PAGES)
def test_axe_finds_nothing(tab, axe, tmp_path, name, size, dark):
    words, options = PAGES[name]
    made = {"ntm": lambda: NTM.random(3, width=4, hidden=(6, 5), key=jax.random.key(0)), "sentence": grammar_model}
    subject = made.get(name, lambda: name)()
    tab.open(kleene.watch(subject, words, **options).save(tmp_path / "page.html"), "#step=2", size=size, dark=dark)
    tab.js("document.querySelector('[aria-controls=filters]').click()")
    tab.js("for (const box of document.querySelectorAll('details')) box.open = true")
    assert violations(tab, axe) == []
    tab.press("ESCAPE")
    tab.js("document.querySelector('.tools button:last-child').click()")
    assert violations(tab, axe) == []


def violations(tab, axe) -> list[str]:
    tab.js(axe)
    found = tab.driver.execute_async_script("const done = arguments[0]; axe.run().then((r) => done(r.violations))")
    return [f"{v['id']}: {node['html'][:120]} {node.get('failureSummary', '')}" for v in found for node in v["nodes"]]
