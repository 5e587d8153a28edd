"""Pictures of what was taught."""

import xml.etree.ElementTree as ET

import numpy as np
import pytest

from kleene.pictures.teaching import against_size, generalisation_grids, grouped_bars, head_positions


@pytest.fixture(autouse=True)
def letters_as_text(monkeypatch):
    import matplotlib

    monkeypatch.setitem(matplotlib.rcParams, "svg.fonttype", "none")


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
