"""Traces as tables: for the terminal, for plain text, for a notebook."""

from collections.abc import Sequence

import numpy as np
from rich import box
from rich.table import Table
from rich.text import Text

from kleene.traces.channels import Channel, RecordedRun
from kleene.traces.markup import html_table, plain_text

WIDEST = 24  # positions shown; a longer trace is cut in the middle


def as_table(trace: RecordedRun, *others: RecordedRun, title: str = "") -> Table:
    """A table with a row for each step and channel and a column for each position.

    A trace without positions has a row for each step and a column for each channel. What changed since the step before
    is bold. Other traces of the same run stand beside the first, so that program and network can be compared; an entry
    that differs from the first is marked ≠.
    """
    traces = (trace, *others)
    if trace.axes == ("step",):
        return _row_a_step(traces, title)
    positions = _columns(trace)
    table = Table(title=title or None, title_justify="left", box=box.SIMPLE_HEAD, pad_edge=False, header_style="dim")
    table.add_column("step", justify="right")
    table.add_column("channel")
    for shown in traces:
        for n, position in enumerate(positions):
            name = shown.source if n == 0 and shown.source and others else ""
            label = "…" if position is None else str(position)
            table.add_column(Text(f"{name}\n{label}" if others else label), justify="right")
    for step in range(max(t.steps for t in traces) + 1):
        for row, channel in enumerate(_channels_at(trace, step)):
            cells = [_cell(t, trace, channel.name, step, p) for t in traces for p in positions]
            table.add_row(str(step) if row == 0 else "", Text(channel.name), *cells)
        if step < trace.steps:
            table.add_row()
    return table


def _row_a_step(traces: Sequence[RecordedRun], title: str) -> Table:
    table = Table(title=title or None, title_justify="left", box=box.SIMPLE_HEAD, pad_edge=False, header_style="dim")
    table.add_column("step", justify="right")
    columns = [(trace, channel) for trace in traces for channel in traces[0].channels]
    for trace, channel in columns:
        table.add_column(Text(f"{trace.source}\n{channel.name}" if len(traces) > 1 else channel.name), justify="right")
    for step in range(max(trace.steps for trace in traces) + 1):
        cells = [
            _cell(trace, traces[0], c.name, step, 0) if step or not c.per_step else Text("") for trace, c in columns
        ]
        table.add_row(str(step), *cells)
    return table


def as_text(trace: RecordedRun) -> str:
    """The table without colours, for a log."""
    return plain_text(as_table(trace), width=200).strip("\n")


def as_html(trace: RecordedRun) -> str:
    """The table for a notebook."""
    positions = _columns(trace)
    rows: list[list[str]] = [["step", "channel", *("…" if p is None else str(p) for p in positions)]]
    for step in range(trace.steps + 1):
        for channel in _channels_at(trace, step):
            cells = (_cell(trace, trace, channel.name, step, p).plain for p in positions)
            rows.append([str(step), channel.name, *cells])
    return html_table(rows, most=None)


def _channels_at(trace: RecordedRun, step: int) -> list[Channel]:
    return [c for c in trace.channels if step or not c.per_step]


def _columns(trace: RecordedRun) -> Sequence[int | None]:
    length = max(trace.data[c.name].shape[1] if _has_positions(trace, c) else 1 for c in trace.channels)
    if length <= WIDEST:
        return range(length)
    half = WIDEST // 2
    return [*range(half), None, *range(length - half, length)]


def _has_positions(trace: RecordedRun, channel: Channel) -> bool:
    return trace.data[channel.name].ndim - len(channel.entry_shape) > 1


def _entry(trace: RecordedRun, name: str, step: int, position: int) -> np.ndarray | np.generic:
    at_step = trace.data[name][step]
    return at_step[position] if _has_positions(trace, trace.channel(name)) else at_step


def _cell(trace: RecordedRun, first: RecordedRun, name: str, step: int, position: int | None) -> Text:
    if position is None:
        return Text("…")
    channel = trace.channel(name)
    if position and not _has_positions(trace, channel):  # one entry a step, shown in the first column
        return Text("")
    if step > trace.steps:  # this run ended before the others did
        return Text("")
    entry = _entry(trace, name, step, position)
    text = Text(channel.show(entry))
    if trace is not first and (step > first.steps or _differ(channel, entry, _entry(first, name, step, position))):
        return Text(f"≠{text.plain}", style="bold red")
    if step and not channel.per_step and _differ(channel, entry, _entry(trace, name, step - 1, position)):
        text.stylize("bold cyan")
    return text


def _differ(channel: Channel, a: np.ndarray | np.generic, b: np.ndarray | np.generic) -> bool:
    return bool(channel.differs(np.asarray(a)[None], np.asarray(b)[None])[0])
