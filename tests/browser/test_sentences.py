"""The page of a sentence in a real browser."""

import numpy as np
import pytest

import kleene
from kleene.machines.pretrained import grammar_model

pytestmark = pytest.mark.browser


def test_a_sentence_shows_its_pairs_and_what_comes_next(tab, tmp_path):
    model, sentence = grammar_model(), "the dog near the houses laughs"
    matrix = kleene.explain(model, sentence).matrix
    tab.open(kleene.watch(model, sentence).save(tmp_path / "sentence.html"), "#step=2")
    assert tab.texts(".sentence [aria-pressed=true]") == ["dog"]
    shown = tab.js("""return [...document.querySelectorAll(".pairs tbody tr")].map((row) =>
        [...row.querySelectorAll("td")].map((cell) => cell.textContent))""")
    assert shown == [["·" if np.isnan(x) else f"{x:.2f}" for x in row] for row in matrix]
    strong = tab.js("return [...document.querySelectorAll('.tie.own title')].map((title) => title.textContent)")
    assert strong[-1] == f"dog – near: {matrix[1, 2]:.2f}"  # the strongest is drawn last
    tab.press("ARROW_RIGHT")
    assert tab.texts(".sentence [aria-pressed=true]") == ["near"]
    assert tab.texts(".next .said-word")[0] == "the"
    tab.js("document.querySelectorAll('.sentence button')[5].click()")
    assert tab.text(".where") == "word 6 / 6"
