"""A folded trace loses nothing: played back, it is the trace; and what is printed is what was folded."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kleene.traces import Channel, Trace
from kleene.traces.folding import folded
from kleene.traces.windows import window_lines
from tests.traces.strategies import traces


def entry(trace: Trace, channel: Channel, step: int, position: int):
    at = trace.data[channel.name][step]
    return at[position] if trace.data[channel.name].ndim - len(channel.entry_shape) > 1 else at


def played_back(shown, first: int, steps: int):
    """Each entry's text by channel, step and position (None: the channel has one a step), and those marked changed."""
    texts, marked = {}, set()
    for block in shown.blocks:
        for row in block.rows:
            if not row.name:
                continue
            for place, cell in enumerate(row.cells):
                column = block.columns[place] if place < len(block.columns) else (0, 0)
                name = column if isinstance(column, str) else row.name
                span = range(1) if isinstance(column, str) else range(column[0], column[1] + 1)
                for position in span:
                    for step in range(row.steps[0], first + steps):  # until a later row says otherwise
                        texts[name, step, position] = cell.text
                    if cell.changed:
                        marked.add((name, row.steps[0], position))
    return texts, marked


@given(traces(), st.sampled_from([8, 20, 60, 200]), st.data())
def test_a_folded_trace_played_back_has_every_entry_and_marks_every_change(trace, width, data):
    first = data.draw(st.integers(0, trace.steps))
    steps = range(first, data.draw(st.integers(first, trace.steps)) + 1)
    shown = folded(trace, width, steps=steps)
    texts, marked = played_back(shown, first, len(steps))
    constant = dict(shown.constant)
    for channel in trace.channels:
        if channel.name in shown.unborn:
            assert channel.per_step
            assert steps == range(1)
            continue
        positions = trace.data[channel.name].shape[1] if len(trace.axes) > 1 else 1
        for position in range(positions):
            for step in steps:
                if channel.per_step and not step:
                    continue
                now = entry(trace, channel, step, position)
                told = constant.get(channel.name) or texts[channel.name, step, position]
                assert told == channel.show(now)
                if step > max(first, int(channel.per_step)):
                    before = entry(trace, channel, step - 1, position)
                    differs = channel.show(now) != channel.show(before) or channel.differs(now[None], before[None])[0]
                    assert ((channel.name, step, position) in marked) == differs


@given(traces(), st.booleans())
def test_every_folded_trace_is_printed_with_all_its_cells(trace, colours):
    shown = folded(trace, 60)
    text = "\n".join(line.plain for line in window_lines(shown, colours=colours))
    for block in shown.blocks:
        for row in block.rows:
            for cell in row.cells:
                assert ("*" if cell.changed and not colours else "") + cell.text in text


def walking(steps: int, positions: int) -> Trace:
    """A mark that goes right, a channel that stays, and one that says which position it is."""
    where = np.arange(positions)[None] == np.arange(steps + 1)[:, None]
    data = {"mark": where.astype(np.int32), "still": np.zeros(where.shape, np.int32)}
    return Trace((Channel("mark", "category", 2), Channel("still", "category", 2)), data, "mark")


def test_columns_that_do_not_fit_are_wrapped_and_equal_neighbours_are_one_column():
    lines = [line.plain for line in window_lines(folded(walking(2, 40), 60), colours=False)]
    assert lines == [
        "step  channel   0   1   2",
        "   0  mark      1   0   0",
        "   1  mark     *0  *1   0",
        "   2  mark      0  *0  *1",
        "",
        "positions 3–39 never change:",
        "step  channel  3–39",
        "   0  mark        0",
        "",
        "* changed since the step before",
        "1 channel never changes: still 0",
    ]


@pytest.mark.parametrize("width", [60, 80, 120, 200])
def test_no_line_is_wider_than_the_window(width):
    steps, positions = 30, 30
    lines = window_lines(folded(walking(steps, positions), width), colours=False)
    assert max(line.cell_len for line in lines) <= width
    assert sum("step" in line.plain.split()[:1] for line in lines) == (1 if width > 135 else 2 if width > 70 else 3)


def test_steps_in_which_nothing_changes_are_one_row():
    data = {"x": np.array([0, 0, 0, 1, 1, 1, 1, 0])}
    trace = Trace((Channel("x", "category", 2),), data, axes=("step",))
    rows = [line.plain.split() for line in window_lines(folded(trace, 60), colours=False)]
    assert rows[:6] == [
        ["step", "x"],
        ["0", "0"],
        ["1–2", "as", "before"],
        ["3", "*1"],
        ["4–6", "as", "before"],
        ["7", "*0"],
    ]


def test_numbers_that_look_different_count_as_changed_even_within_the_tolerance_of_their_channel():
    trace = Trace((Channel("x", "number", values=(0.0, 1.0)),), {"x": np.array([0.9, 0.95])}, axes=("step",))
    assert not trace.channels[0].differs(trace["x"][:1], trace["x"][1:])[0]
    assert "*0.95" in "\n".join(line.plain for line in window_lines(folded(trace, 60), colours=False))


def test_changes_are_coloured_where_there_are_colours():
    lines = window_lines(folded(walking(1, 2), 60), colours=True)
    coloured = [line.plain[span.start : span.end] for line in lines for span in line.spans if span.style == "bold cyan"]
    assert coloured == ["0", "1"]
    assert not any("*" in line.plain for line in lines)


@pytest.mark.parametrize("part", [{"steps": range(1)}, {"positions": range(9, 12)}])
def test_of_a_part_it_is_not_said_that_something_never_changes(part):
    trace = walking(10, 40)
    lines = "\n".join(line.plain for line in window_lines(folded(trace, 20, **part), colours=False))
    assert "never" not in lines
    assert "1 channel does not change in this part: still 0" in lines
    assert "never" in "\n".join(line.plain for line in window_lines(folded(trace, 20), colours=False))
