"""Pictures as pages: one file without scripts, every value on hover, and no text that becomes markup."""

import re
from html.parser import HTMLParser

import numpy as np
import pytest

import kleene
from kleene.pictures import hovering, plots
from kleene.pictures.heat_maps import heat_map
from kleene.pictures.interdependence import heat_map as word_map

EVIL = "<script>alert(1)</script>&\"'"


def panels(path):
    lines = {EVIL: plots.Line([1, 2, 3], [10, 20, np.nan], [5, 15, 0], [15, 25, 0]), "b": plots.Line([1], [7])}
    return plots.line_panels({"one": plots.Panel(lines, "length", "right, %", marks="o")}, path, title=EVIL)


def cells(path):
    return heat_map(["r", EVIL], ["c", "d"], [[1, None], [3, 4.5]], path, across="density", up="hints", title="shares")


def bars(path):
    return plots.grouped_bars(["one", EVIL], {"ours": [1, 2], "theirs": [3, -4]}, path, up="nats", title="bars")


def heads(path):
    read, write = np.eye(3), np.eye(3)[::-1]
    return plots.head_positions([(EVIL, read, write)], path, first_cell=2)


def words(path):
    return word_map([EVIL, "b"], np.array([[0, 0.5], [0.5, np.nan]]), path, title="words")


DRAWN = {
    panels: {f"{EVIL}: length 1: 10 (right, %)", f"{EVIL}: length 2: 20 (right, %)", "b: length 1: 7 (right, %)"},
    cells: {"hints r, density c: 1", f"hints {EVIL}, density c: 3", f"hints {EVIL}, density d: 4.5"},
    bars: {"ours: one: 1 (nats)", f"ours: {EVIL}: 2 (nats)", "theirs: one: 3 (nats)", f"theirs: {EVIL}: -4 (nats)"},
    words: {f"{EVIL}, {EVIL}: 0", f"{EVIL}, b: 0.5", f"b, {EVIL}: 0.5"},
    heads: {f"step {s}, cell {c + 2}: read {s == c:d}, write {s == 2 - c:d}" for s in range(3) for c in range(3)},
}


class Reader(HTMLParser):
    """The tags of a page, and the texts of the tooltips in its pictures."""

    def __init__(self, text: str):
        super().__init__()
        self.tags, self.titles, self.attributes, self._inside = [], [], [], False
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes += attrs
        if tag == "title" and "svg" in self.tags:
            self._inside = True
            self.titles.append("")

    def handle_endtag(self, tag):
        self._inside = self._inside and tag != "title"

    def handle_data(self, data):
        if self._inside:
            self.titles[-1] += data


@pytest.mark.parametrize("draw", DRAWN)
def test_a_picture_is_a_page_with_every_value_on_hover_and_no_script(draw, tmp_path):
    path = draw(tmp_path / "picture.html")
    page = Reader(path.read_text())
    assert set(page.titles) - {""} == DRAWN[draw]
    assert len(page.titles) == len(DRAWN[draw])
    assert "script" not in page.tags
    assert not any(name.startswith("on") for name, _ in page.attributes)
    assert path.read_bytes() == draw(tmp_path / "again.html").read_bytes()


def test_a_page_loads_nothing_and_is_light_and_dark(tmp_path):
    text = panels(tmp_path / "picture.html").read_text()
    assert "default-src 'none'" in text
    assert "prefers-color-scheme: dark" in text
    without_names = re.sub(r'xmlns(:\w+)?="[^"]*"|rdf:resource="[^"]*"|"http://purl[^"]*"', "", text)
    assert not re.search(r'(src|href)="(https?:)?//', without_names)


def test_the_place_of_a_tooltip_is_that_of_its_point(tmp_path):
    svg = plots.line_panels(
        {"": plots.Panel({"a": plots.Line([0, 1], [0, 1])}, "x", "y", marks="o")}, tmp_path / "a.html"
    )
    text = svg.read_text()
    drawn = {
        tuple(round(float(n), 1) for n in place) for place in re.findall(r'<use [^>]*x="([\d.]+)" y="([\d.]+)"', text)
    }
    hovered = [tuple(map(float, place)) for place in re.findall(r'<circle cx="([\d.]+)" cy="([\d.]+)"', text)]
    assert len(hovered) == 2
    for x, y in hovered:
        assert any(abs(x - a) < 0.2 and abs(y - b) < 0.2 for a, b in drawn)


def test_a_figure_with_very_many_values_has_tooltips_for_some(tmp_path, monkeypatch):
    monkeypatch.setattr(hovering, "MOST", 10)
    line = plots.Line(np.arange(95), np.arange(95))
    path = plots.line_panels({"": plots.Panel({"a": line}, "x", "y")}, tmp_path / "a.html")
    assert len(Reader(path.read_text()).titles) == 10


@pytest.mark.parametrize("subject", ["dfa:(a|b)*abb", "tm:sipser"])
def test_a_diagram_is_a_page_too(subject, tmp_path):
    picture = kleene.view(subject, path=tmp_path / "diagram.html")
    assert picture.svg[picture.svg.index(">") :] in picture.path.read_text()
