"""Plots of what was taught."""

import xml.etree.ElementTree as ET

import numpy as np
import pytest

from kleene.pictures import figures, plots
from kleene.pictures.plots import against_size, generalisation_grids, grouped_bars, head_positions, until_reached
from kleene.pictures.style import PAPER


def words(path) -> list[str]:
    return [text.strip() for text in ET.parse(path).getroot().itertext() if text.strip()]


def test_heads_are_drawn_for_each_machine(tmp_path):
    heads = np.eye(5)[[0, 1, 2, 3]]
    file = head_positions([("program", heads, heads[::-1]), ("network", heads, heads)], tmp_path / "heads.svg")
    assert {"program", "network", "step", "cell"} <= set(words(file))
    assert {"0", "1", "4"} <= set(words(file))  # whole cells and steps


def test_the_cells_of_heads_are_counted_from_where_they_begin(tmp_path):
    heads = np.eye(5)[[0, 1, 2, 3]]
    file = head_positions([("program", heads, heads)], tmp_path / "heads.svg", first_cell=-20)
    assert {"\N{MINUS SIGN}20", "\N{MINUS SIGN}18"} <= set(words(file))


def test_grids_show_every_number_and_leave_gaps(tmp_path):
    tables = {"paper": [[100, None], [30, 45]], "ours": [[90, 80], [10, 0]]}
    file = generalisation_grids(["read", "write"], ["a", "b"], tables, tmp_path / "grid.svg", title="Copy")
    assert {"100", "30", "45", "90", "80", "10", "0", "paper", "ours", "Copy", "read", "b"} <= set(words(file))
    assert "nan" not in words(file)


def test_bars_stand_in_named_groups(tmp_path):
    file = grouped_bars(["read", "write"], {"copy": [10, -5], "reverse": [30, 0]}, tmp_path / "bars.svg", up="points")
    assert {"read", "write", "copy", "reverse", "points"} <= set(words(file))


def test_lines_are_named_and_the_same_picture_is_the_same_file(tmp_path):
    series = {"none": ([1, 2, 3], [90, 95, 99], [80, 90, 95], [95, 99, 100])}
    files = [against_size(series, tmp_path / name, across="difficulty", up="% wrong") for name in ("a.svg", "b.svg")]
    assert {"none", "difficulty", "% wrong"} <= set(words(files[0]))
    assert files[0].read_bytes() == files[1].read_bytes()
    assert against_size(series, tmp_path / "c.png", across="", up="").read_bytes()[1:4] == b"PNG"


@pytest.fixture
def figure_of(monkeypatch, tmp_path):
    """Draws a picture and gives back its figure, laid out."""
    kept = []

    def keep(figure, path):
        kept.append(figure)
        return figures.save_figure(figure, path)

    def draw(picture, *given, **options):
        monkeypatch.setattr(plots, "save_figure", keep)
        picture(*given, tmp_path / "drawn.png", **options)
        kept[-1].draw_without_rendering()  # saving was at another number of dots
        return kept[-1]

    return draw


SERIES = {"some": {"0": [10, 20, None, 30], "1": [None, None, None, 5], "2": [1, 2, 3, 4]}, "all": {"0": [7] * 4}}
TITLE = "a title of many words that goes on for much longer than the picture is wide, and so has to be broken in two"


def test_runs_that_did_not_get_there_are_open_at_the_cap_and_never_data(figure_of):
    (ax,) = figure_of(until_reached, SERIES, cap=100, across="share", up="examples").axes
    lines = [line for line in ax.lines if len(line.get_xdata())]
    medians = next(line for line in lines if line.get_linestyle() == "-")
    assert np.array_equal(medians.get_ydata(), [20, np.nan, 2], equal_nan=True)
    at_cap = [line for line in lines if 100 in line.get_ydata()]
    assert [line.get_marker() for line in at_cap] == ["^", "^"]
    hollow = [line.get_markerfacecolor() == PAPER for line in at_cap]
    assert hollow == [False, True]  # of "0" the interval is open, of "1" the median too
    spans = [path.vertices[:, 1].tolist() for bars in ax.collections for path in bars.get_paths()]
    assert spans == [[10, 100], [5, 100], [1, 4], [7, 7]]


def test_the_legend_says_what_was_not_reached_where_there_is_such(tmp_path):
    shown = words(until_reached(SERIES, tmp_path / "a.svg", cap=320_000, across="", up=""))
    assert {"median not reached within 320,000", "90% not reached within 320,000", "some", "all"} <= set(shown)
    reached = {"all": SERIES["all"]}
    assert not [w for w in words(until_reached(reached, tmp_path / "b.svg", cap=9, across="", up="")) if "not re" in w]


LINES = {f"a name of some length {n}": ([1, 2], [n, n], [n, n], [n, n]) for n in range(7)}


@pytest.mark.parametrize(
    ("picture", "given"),
    [
        (until_reached, {"series": SERIES, "cap": 100, "across": "share", "up": "examples"}),
        (against_size, {"series": LINES, "across": "difficulty", "up": "% wrong"}),
        (
            grouped_bars,
            {"groups": ["a"], "bars": {f"a name of some length {n}": [n] for n in range(7)}, "up": "points"},
        ),
    ],
)
def test_legends_are_beside_the_lines_and_long_titles_within_the_picture(figure_of, picture, given):
    figure = figure_of(lambda path: picture(path=path, title=TITLE, **given))
    (legend,), (ax,) = figure.legends, figure.axes
    assert legend.get_window_extent().y1 <= ax.get_tightbbox().y0
    whole = figure.bbox
    for part in (legend, figure._suptitle):
        box = part.get_window_extent()
        assert whole.x0 <= box.x0
        assert box.x1 <= whole.x1
