"""Dots with bars: what is drawn is what was given."""

from xml.etree import ElementTree

import pytest

from kleene.errors import InputError
from kleene.pictures.figures import new_figure
from kleene.pictures.interval_dots import _draw, interval_dots

PANEL = {"erasure": {"RNN": (0.4, 0.3, 0.5), "LSTM": (0.2, 0.1, 0.4)}, "nearness": {"LSTM": (0.5, 0.4, 0.6)}}


def test_each_group_has_its_means_and_bars_in_the_rows_that_have_it():
    ax = new_figure(3, 3).subplots()
    handles = _draw(ax, PANEL, ["erasure", "nearness"], ["RNN", "LSTM"])
    assert list(handles) == ["RNN", "LSTM"]
    assert [line.get_xdata().tolist() for line in ax.lines] == [[0.4], [0.2, 0.5]]
    bars = [path.vertices[:, 0].tolist() for bar in ax.collections for path in bar.get_paths()]
    assert bars == [[0.3, 0.5], [0.1, 0.4], [0.4, 0.6]]
    assert [round(y) for y in ax.lines[1].get_ydata()] == [0, 1]


def test_a_figure_names_panels_rows_and_groups(tmp_path):
    path = interval_dots({"all": PANEL, "given": PANEL}, tmp_path / "x.svg", across="rank correlation", title="which")
    words = {text.strip() for text in ElementTree.parse(path).getroot().itertext()}
    assert {"all", "given", "erasure", "nearness", "RNN", "LSTM", "rank correlation", "which"} <= words


def test_nothing_to_draw_is_refused(tmp_path):
    with pytest.raises(InputError, match="no interval to draw"):
        interval_dots({"all": {}}, tmp_path / "x.svg", across="")
