"""Line plots: how cost grows, and the panels of experiments."""

import xml.etree.ElementTree as ElementTree

import pytest

from kleene.errors import InputError
from kleene.pictures import plots
from kleene.pictures.figures import save_figure
from kleene.pictures.plots import Line, Panel, cost_curves, line_panels

ROWS = [
    {"what": "compile", "ours": 1.0, "unit": "s"},
    *({"what": "cost", "ours": 0.01 * n, "unit": "s", "against": "batch", "size": n} for n in (1, 2, 4)),
    *({"what": "cost", "ours": 0.01 * n**2, "unit": "s", "against": "positions", "size": n} for n in (3, 6)),
]


def test_a_picture_has_a_panel_for_each_thing_that_grows_and_names_its_slope(tmp_path):
    file = cost_curves(ROWS, tmp_path / "growth.svg", title="growth")
    words = " ".join(t.strip() for t in ElementTree.parse(file).getroot().itertext() if t.strip())
    assert "slope at the end 1.00" in words
    assert "slope at the end 2.00" in words
    for word in ("batch", "positions", "seconds", "growth"):
        assert word in words


def test_costs_of_different_units_have_no_axis_in_common(tmp_path, monkeypatch):
    kept = []
    monkeypatch.setattr(plots, "save_figure", lambda figure, path: kept.append(figure) or save_figure(figure, path))
    rates = [
        {"what": "rate", "ours": 1e6 / n, "unit": "steps/s", "against": against, "size": n}
        for against in ("tape", "batch")
        for n in (10, 100)
    ]
    cost_curves([*rates, *ROWS], tmp_path / "growth.svg")
    axes = [ax for ax in kept[0].axes if ax.get_lines()]
    first, _, third, _ = axes
    assert [(ax.get_xlabel(), ax.get_ylabel()) for ax in axes] == [
        ("tape", "steps/s"),
        ("batch", ""),
        ("batch", "seconds"),
        ("positions", ""),
    ]
    alike = [[ax.get_shared_y_axes().joined(ax, other) for other in axes] for ax in (first, third)]
    assert alike == [[True, True, False, False], [False, False, True, True]]
    assert third.get_ylim()[1] < first.get_ylim()[0]


def test_an_unknown_kind_of_picture_or_rows_without_sizes_are_refused(tmp_path):
    with pytest.raises(InputError, match=r"growth\.xyz', and pictures are written as .svg, .png, .pdf"):
        cost_curves(ROWS, tmp_path / "growth.xyz")
    with pytest.raises(InputError, match="nothing to plot"):
        cost_curves(ROWS[:1], tmp_path / "growth.svg")
    assert list(tmp_path.iterdir()) == []


def test_the_legend_is_below_all_panels_and_over_none_of_their_lines(tmp_path, monkeypatch):
    kept = []
    monkeypatch.setattr(plots, "save_figure", lambda figure, path: kept.append(figure) or save_figure(figure, path))
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


def test_every_panel_is_drawn_and_a_legend_names_each_line_once(tmp_path):
    line = Line([1, 2, 3], [0.1, 0.2, 0.4], low=[0, 0.1, 0.3], high=[0.2, 0.3, 0.5], dashed=True)
    panels = {f"panel {n}": Panel({"first": line}, "words", "DI", marks="o") for n in range(4)}
    panels["panel 4"] = Panel({"second": Line([1, 2], [1, 10])}, "words", "DI", log=True, limits=(1, 20))
    path = line_panels(panels, tmp_path / "drawn.svg", title="all")
    text = path.read_text()
    shown = [part.strip() for part in ElementTree.fromstring(text).itertext()]
    assert [shown.count(f"panel {n}") for n in range(5)] == [1] * 5
    assert shown.count("first") == shown.count("second") == 1


def test_the_same_panels_give_the_same_file(tmp_path):
    panels = {"one": Panel({"first": Line([1, 2], [3, 4])}, "words", "DI")}
    paths = [line_panels(panels, tmp_path / name) for name in ("a.svg", "b.svg")]
    assert paths[0].read_bytes() == paths[1].read_bytes()
