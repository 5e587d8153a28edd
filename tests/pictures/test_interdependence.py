"""Pictures of which words belong together."""

import xml.etree.ElementTree as ET

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kleene.errors import InputError
from kleene.pictures.interdependence import FEW, LETTER, LONGEST, WIDEST, arc_levels, heat_map

SENTENCE = ["Socrates", "asked", "the", "student", "trick", "questions"]
HEADS = [2, 0, 4, 2, 6, 2]
SVG = "{http://www.w3.org/2000/svg}"


def texts(path) -> list[str]:
    return [text.strip() for text in ET.parse(path).getroot().itertext() if text.strip()]


def matrix(size: int) -> np.ndarray:
    """Different numbers below 1, and nothing on the diagonal."""
    found = np.add.outer(np.arange(size), np.arange(size) ** 2) / size**2 / 2 + 0.005
    np.fill_diagonal(found, np.nan)
    return found


def patches(path) -> int:
    return sum(group.get("id", "").startswith("patch_") for group in ET.parse(path).getroot().iter(f"{SVG}g"))


def test_words_are_on_both_axes_and_values_in_the_cells_but_not_on_the_diagonal(tmp_path):
    file = heat_map(SENTENCE, matrix(6), tmp_path / "map.svg", title="Title", note="* read as <unk>: trick")
    shown = texts(file)
    assert all(shown.count(word) == 2 for word in SENTENCE)
    assert {"Title", "* read as <unk>: trick"} <= set(shown)
    expected = [f"{value:.2f}" for value in matrix(6).ravel() if not np.isnan(value)]
    assert [text for text in shown if text in expected][: len(expected)] == expected
    assert "nan" not in shown


def test_a_long_sentence_has_no_numbers_in_its_cells(tmp_path):
    words = [f"word{place}" for place in range(FEW + 1)]
    file = heat_map(words, matrix(len(words)) + 1.11, tmp_path / "map.svg")
    assert all(texts(file).count(word) == 2 for word in words)
    assert "1.14" not in texts(file)


def test_a_picture_grows_no_further_for_a_very_long_sentence_or_word(tmp_path):
    words = ["word" * 100, *(f"word{place}" for place in range(94))]
    file = heat_map(words, matrix(len(words)), tmp_path / "map.svg")
    sizes = [float(ET.parse(file).getroot().get(side).removesuffix("pt")) / 72 for side in ("width", "height")]
    assert max(sizes) < WIDEST + LONGEST * LETTER + 2
    assert all(texts(file).count(word) == 2 for word in words[1:])
    assert "word" * 100 not in texts(file)


def test_a_tree_is_an_arc_and_an_arrow_for_each_edge_and_an_arrow_for_the_root(tmp_path):
    without = heat_map(SENTENCE, matrix(6), tmp_path / "without.svg")
    with_tree = heat_map(SENTENCE, matrix(6), tmp_path / "with.svg", heads=HEADS)
    assert patches(with_tree) - patches(without) == 2 * 5 + 1


def test_infinity_and_a_single_word_are_drawn_too(tmp_path):
    some = matrix(3)
    some[0, 1] = some[1, 0] = np.inf
    assert not {"inf", "nan"} & set(texts(heat_map(["a", "b", "c"], some, tmp_path / "three.svg")))
    assert texts(heat_map(["a"], matrix(1), tmp_path / "one.svg", heads=[0])).count("a") == 2


def test_dollars_are_no_formulas(tmp_path):
    words, note = ["$5", "$a_b$", r"$\frac$"], r"* read as <unk>: $5, \frac_{, $10"
    shown = texts(heat_map(words, matrix(3), tmp_path / "di.svg", note=note))
    assert [shown.count(word) for word in words] == [2, 2, 2]
    assert note in shown


def test_the_same_heat_map_is_the_same_file(tmp_path):
    files = [heat_map(SENTENCE, matrix(6), tmp_path / name, heads=HEADS) for name in ("a.svg", "b.svg")]
    assert files[0].read_bytes() == files[1].read_bytes()
    assert heat_map(SENTENCE, matrix(6), tmp_path / "c.png").read_bytes()[1:4] == b"PNG"


def test_a_matrix_or_a_tree_of_another_size_is_refused(tmp_path):
    with pytest.raises(InputError, match=r"6 words was given a matrix of shape \(5, 5\)"):
        heat_map(SENTENCE, matrix(5), tmp_path / "map.svg")
    with pytest.raises(InputError, match="and 2 heads"):
        heat_map(SENTENCE, matrix(6), tmp_path / "map.svg", heads=[2, 0])


@st.composite
def trees(draw):
    """Any tree: every word but the first in some order hangs on one that came before."""
    order = draw(st.permutations(range(1, draw(st.integers(1, 12)) + 1)))
    heads = [0] * len(order)
    for place in range(1, len(order)):
        heads[order[place] - 1] = order[draw(st.integers(0, place - 1))]
    return heads


@given(trees())
def test_an_arc_rises_above_those_that_it_spans(heads):
    levels = arc_levels(heads)
    spans = {word: range(min(word, head), max(word, head) + 1) for word, head in enumerate(heads, 1) if head}
    assert [level > 0 for level in levels] == [head > 0 for head in heads]
    for word, span in spans.items():
        for other, inner in spans.items():
            if other != word and set(inner) < set(span):
                assert levels[other - 1] < levels[word - 1]


def test_words_titles_and_notes_of_any_length_are_cut(tmp_path):
    words = ["a" * 100_000, "b", "c" * 100_000]
    file = heat_map(words, matrix(3), tmp_path / "map.svg", title=" ".join(words), note=f"* read as <unk>: {words[0]}")
    assert max(map(len, texts(file))) < 1000
    assert file.stat().st_size < 20_000
    assert f"{words[0][: LONGEST - 1]}…" in texts(file)
