"""The style of figures: colours that colour-blind readers tell apart, sizes to read, and one place for both."""

import re
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest

import kleene.pictures
from kleene.pictures.figures import new_figure, save_figure
from kleene.pictures.style import COLOURS, DARK, MARKS, PAPER, SHADES, SMALL, letters, on_shade

# Machado, Oliveira and Fernandes 2009, severity 1: what linear RGB becomes for these readers.
SIGHT = {
    "all cones": np.eye(3),
    "deuteranopia": [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.011820, 0.042940, 0.968881]],
    "protanopia": [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]],
}
TO_XYZ = np.array(
    [[0.4124564, 0.3575761, 0.1804375], [0.2126729, 0.7151522, 0.0721750], [0.0193339, 0.119192, 0.9503041]]
)


def linear(colour: str) -> np.ndarray:
    """The light of a colour #rrggbb."""
    parts = np.array([int(colour[n : n + 2], 16) for n in (1, 3, 5)]) / 255
    return np.where(parts <= 0.04045, parts / 12.92, ((parts + 0.055) / 1.055) ** 2.4)


def lab(light: np.ndarray) -> np.ndarray:
    xyz = TO_XYZ @ np.clip(light, 0, 1) / (0.95047, 1, 1.08883)
    x, y, z = np.where(xyz > 216 / 24389, np.cbrt(xyz), (24389 / 27 * xyz + 16) / 116)
    return np.array([116 * y - 16, 500 * (x - y), 200 * (y - z)])


def contrast(one: str, other: str) -> float:
    """The ratio of the Web Content Accessibility Guidelines, from 1 to 21."""
    dark, light = sorted(float(TO_XYZ[1] @ linear(colour)) for colour in (one, other))
    return (light + 0.05) / (dark + 0.05)


@pytest.mark.parametrize("sight", SIGHT)
def test_any_two_colours_are_told_apart_by_every_reader(sight):
    seen = {colour: lab(np.array(SIGHT[sight]) @ linear(colour)) for colour in COLOURS}
    near = {pair: np.linalg.norm(seen[pair[0]] - seen[pair[1]]) for pair in combinations(COLOURS, 2)}
    assert min(near.values()) > 13  # 2.3 is a difference that can just be seen


def test_lines_and_numbers_stand_out_from_what_lies_below_them():
    import matplotlib
    from matplotlib.colors import to_hex

    assert min(contrast(colour, PAPER) for colour in COLOURS) >= 3
    for share in np.linspace(0, 1, 21):
        assert contrast(on_shade(share), to_hex(matplotlib.colormaps[SHADES](float(share)))) >= 3
    assert on_shade(DARK) != on_shade(1.0)


def test_every_colour_has_its_own_mark():
    assert len(set(MARKS)) == len(MARKS) == len(COLOURS)


def test_sizes_and_colours_of_figures_are_named_in_one_file():
    rooms = Path(kleene.pictures.__file__).parent
    for file in rooms.glob("*.py"):
        if file.name != "style.py":
            assert not re.findall(r'fontsize"?[=:]\s*\d|"#[0-9a-fA-F]{6}"|labelsize=\d', file.read_text()), file.name


def test_text_that_is_too_small_is_a_fault_of_ours(tmp_path):
    figure = new_figure(2, 2)
    figure.text(0.5, 0.5, "hardly", fontsize=SMALL - 0.5)
    with pytest.raises(AssertionError, match=r"too small to read at half a page: \{'hardly'\}"):
        save_figure(figure, tmp_path / "a.svg")


def test_letters_count_the_columns_that_a_text_takes():
    assert [letters(text) for text in ("", "слово", "中文", "🙂", "e\N{COMBINING ACUTE ACCENT}")] == [0, 5, 4, 2, 1]
