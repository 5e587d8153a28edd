import xml.etree.ElementTree as ElementTree

from kleene.pictures.experiments import Line, Panel, line_panels


def test_every_panel_is_drawn_and_a_legend_is_told_once(tmp_path):
    line = Line([1, 2, 3], [0.1, 0.2, 0.4], low=[0, 0.1, 0.3], high=[0.2, 0.3, 0.5], dashed=True)
    panels = {f"panel {n}": Panel({"first": line}, "words", "DI", marks="o") for n in range(4)}
    panels["panel 4"] = Panel({"second": Line([1, 2], [1, 10])}, "words", "DI", log=True, limits=(1, 20))
    path = line_panels(panels, tmp_path / "drawn.svg", title="all")
    text = path.read_text()
    ElementTree.fromstring(text)
    assert [text.count(f"<!-- panel {n} -->") for n in range(5)] == [1] * 5
    assert text.count("<!-- first -->") == text.count("<!-- second -->") == 1


def test_the_same_panels_give_the_same_file(tmp_path):
    panels = {"one": Panel({"first": Line([1, 2], [3, 4])}, "words", "DI")}
    paths = [line_panels(panels, tmp_path / name) for name in ("a.svg", "b.svg")]
    assert paths[0].read_bytes() == paths[1].read_bytes()
