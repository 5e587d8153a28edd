import xml.etree.ElementTree as ElementTree

from kleene.pictures import plots as experiments
from kleene.pictures.figures import save_figure
from kleene.pictures.plots import Line, Panel, line_panels


def test_the_legend_is_below_all_panels_and_over_none_of_their_lines(tmp_path, monkeypatch):
    kept = []
    monkeypatch.setattr(
        experiments, "save_figure", lambda figure, path: (kept.append(figure), save_figure(figure, path))
    )
    long = "a title of a panel that is much longer than the panel is wide"
    line_panels({long: Panel({"first": Line([1, 2, 3], [3, 2, 1])}, "words", "DI")}, tmp_path / "drawn.png", title=long)
    (figure,) = kept
    figure.draw_without_rendering()  # saving was at another number of dots
    (ax,), (legend,) = figure.axes, figure.legends
    assert ax.get_legend() is None
    assert legend.get_window_extent().y1 <= ax.get_tightbbox().y0
    for title in (ax.title, figure._suptitle):
        assert figure.bbox.x0 <= title.get_window_extent().x0
        assert title.get_window_extent().x1 <= figure.bbox.x1


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
