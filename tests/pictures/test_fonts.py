"""Words in any script: SVG keeps them as text, and PNG and PDF look for a font or say which script has none."""

import warnings
from xml.etree import ElementTree

import numpy as np
import pytest

import kleene
from kleene.pictures import fonts
from kleene.pictures.figures import new_figure, save_figure
from kleene.pictures.fonts import MissingGlyphsWarning, families_for
from kleene.pictures.interdependence import heat_map

WORDS = ["λόγος", "слово", "词语", "كلمة", "शब्द", "🙂"]
SVG = "{http://www.w3.org/2000/svg}"


@pytest.fixture
def untold(monkeypatch):
    """No script was warned about yet."""
    monkeypatch.setattr(fonts, "_told", set())


@pytest.fixture
def few_fonts(monkeypatch):
    """A computer that has matplotlib's own font alone."""
    fonts._family_with.cache_clear()
    monkeypatch.setattr(fonts, "_installed", lambda: iter([]))
    yield
    fonts._family_with.cache_clear()


def texts(svg: str) -> list[str]:
    return [text.text or "" for text in ElementTree.fromstring(svg).iter(f"{SVG}text")]


def test_the_words_of_a_sentence_are_text_in_an_svg_with_fonts_to_try(tmp_path):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        file = heat_map(WORDS, np.full((6, 6), 0.5), tmp_path / "words.svg")
    shown = texts(file.read_text())
    assert [shown.count(word) for word in WORDS] == [2] * 6
    assert "DejaVu Sans" in file.read_text()
    assert "sans-serif" in file.read_text()


def test_an_automaton_over_such_symbols_is_drawn_with_them():
    symbols = ("α", "ж", "中", "ش", "न", "🙂")
    moves = {("q", symbol): "r" for symbol in symbols} | {("r", symbol): "q" for symbol in symbols}
    dfa = kleene.DFA(states=("q", "r"), alphabet=symbols, transitions=moves, start="q", accept={"r"})
    label = " ".join(texts(kleene.view(dfa).svg))
    assert all(symbol in label for symbol in symbols)


@pytest.mark.parametrize("ending", ["png", "pdf"])
def test_a_script_without_a_font_is_named_once(untold, few_fonts, tmp_path, ending):
    figure = new_figure(2, 2)
    figure.text(0.1, 0.5, "शब्द नाम λόγος", fontsize=9)
    with pytest.warns(MissingGlyphsWarning, match=r"no installed font has glyphs for Devanagari") as told:
        save_figure(figure, tmp_path / f"a.{ending}")
    assert len(told) == 1
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        save_figure(figure, tmp_path / f"b.{ending}")


def test_letters_that_the_usual_font_lacks_come_from_another(untold):
    """DejaVu Sans Mono, which comes with matplotlib too, has monospaced digits that DejaVu Sans lacks."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        first, second = families_for(["plain", "\N{MATHEMATICAL MONOSPACE DIGIT NINE}"])
    assert first == "DejaVu Sans"
    assert second != first


def test_usual_words_need_no_other_font(untold, few_fonts):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert families_for(["word", "λόγος", "слово", "كلمة", "a\u200db"]) == ["DejaVu Sans"]
