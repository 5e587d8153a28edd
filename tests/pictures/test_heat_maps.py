"""Heat maps of two settings."""

import math
import xml.etree.ElementTree as ET

import pytest

from kleene.pictures.heat_maps import heat_map


def words(path) -> list[str]:
    return [text.strip() for text in ET.parse(path).getroot().itertext() if text.strip()]


def test_every_number_is_in_its_cell_and_a_missing_one_leaves_it_empty(tmp_path):
    file = heat_map(["a", "b"], ["1", "2"], [[0.125, None], [20, 3]], tmp_path / "m.svg", across="x", up="y", title="T")
    drawn = words(file)
    assert {"a", "b", "1", "2", "x", "y", "T"} <= set(drawn)
    assert [word for word in drawn if word in ("0.125", "20", "3", "nan", "None")] == ["0.125", "20", "3"]


@pytest.mark.parametrize("numbers", [[[None]], [[5.0]], [[math.inf]], [[-math.inf, 1.0]]])
def test_numbers_without_a_range_are_drawn_too(tmp_path, numbers):
    columns = [f"column {n}" for n in range(len(numbers[0]))]
    drawn = words(heat_map(["row"], columns, numbers, tmp_path / "m.svg", across="x", up="y"))
    shown = [f"{value:.3g}" for value in numbers[0] if value is not None]
    assert [word for word in drawn if word in ("5", "inf", "-inf", "1")] == shown
