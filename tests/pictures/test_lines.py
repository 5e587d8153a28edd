"""Lines that lie on each other stay visible."""

import numpy as np
import pytest

from kleene.pictures.figures import new_figure
from kleene.pictures.lines import FEW, Line, Panel, draw_panel
from kleene.pictures.style import LINE


def drawn(lines: dict[str, Line], **options):
    ax = new_figure(3.4, 2.4).subplots()
    handles = draw_panel(ax, "", Panel(lines, "size", "right, %", **options))
    return ax, handles


def test_lines_over_few_sizes_are_moved_apart_on_paper_and_keep_their_data():
    ax, _ = drawn({f"line {n}": Line([1, 10, 100], [0, 0, 0], colour=n) for n in range(3)}, marks="o", log_across=True)
    ax.figure.draw_without_rendering()
    on_paper = [line.get_transform().transform((10, 0))[0] for line in ax.lines]
    assert np.diff(on_paper) == pytest.approx([3.2 / 72 * ax.figure.dpi] * 2)
    assert all(np.array_equal(line.get_xdata(), [1, 10, 100]) for line in ax.lines)


def test_curves_over_many_sizes_are_not_moved_and_the_lower_of_two_equal_ones_is_wider():
    sizes = list(range(FEW + 1))
    ax, handles = drawn({"below": Line(sizes, sizes), "above": Line(sizes, sizes, colour=1)})
    assert [line.get_transform() == ax.transData for line in ax.lines] == [True, True]
    below, above = (line.get_linewidth() for line in ax.lines)
    assert below > above == LINE
    assert [handle.get_linewidth() for handle in handles.values()] == [LINE, LINE]


def test_a_single_point_has_its_interval_as_a_bar_and_several_have_a_band():
    ax, _ = drawn({"one": Line([10], [50], [40], [60]), "more": Line([1, 10], [5, 6], [4, 5], [6, 7], colour=1)})
    bar, band = ax.collections
    assert bar.get_paths()[0].vertices.tolist() == [[10, 40], [10, 60]]
    assert band.get_paths()[0].vertices[:, 1].min() == 4


def test_more_than_three_colours_have_marks_of_their_own():
    sizes = list(range(20))
    three, four = ({f"line {n}": Line(sizes, [n] * 20, colour=n) for n in range(many)} for many in (3, 4))
    assert {line.get_marker() for line in drawn(three)[0].lines} == {""}
    assert len({line.get_marker() for line in drawn(four)[0].lines} - {"", "None"}) == 4


def test_limits_follow_the_data_of_moved_lines():
    ax, _ = drawn({"a": Line([1, 2], [3, 5]), "b": Line([1, 2], [7, 900], colour=1)}, log=True)
    low, high = ax.get_ylim()
    assert low <= 3
    assert high >= 900
