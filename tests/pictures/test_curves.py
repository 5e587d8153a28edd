"""Pictures of how cost grows."""

import xml.etree.ElementTree as ET

import pytest

from kleene.errors import InputError
from kleene.pictures.plots import cost_curves

ROWS = [
    {"name": "compile", "value": 1.0, "unit": "s"},
    *({"name": "cost", "value": 0.01 * n, "unit": "s", "against": "batch", "size": n} for n in (1, 2, 4)),
    *({"name": "cost", "value": 0.01 * n**2, "unit": "s", "against": "positions", "size": n} for n in (3, 6)),
]


def test_a_picture_has_a_panel_for_each_thing_that_grows_and_names_its_slope(tmp_path, monkeypatch):
    import matplotlib

    monkeypatch.setitem(matplotlib.rcParams, "svg.fonttype", "none")  # letters as text, not as outlines
    file = cost_curves(ROWS, tmp_path / "growth.svg", title="growth")
    words = " ".join(t.strip() for t in ET.parse(file).getroot().itertext() if t.strip())
    assert "slope at the end 1.00" in words
    assert "slope at the end 2.00" in words
    for word in ("batch", "positions", "seconds", "growth"):
        assert word in words


def test_an_unknown_kind_of_picture_or_rows_without_sizes_are_refused(tmp_path):
    with pytest.raises(InputError, match=r"growth\.xyz', and pictures are written as .svg, .png, .pdf"):
        cost_curves(ROWS, tmp_path / "growth.xyz")
    with pytest.raises(InputError, match="nothing to plot"):
        cost_curves(ROWS[:1], tmp_path / "growth.svg")
    assert list(tmp_path.iterdir()) == []
