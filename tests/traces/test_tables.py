from dataclasses import replace
from html.parser import HTMLParser

import numpy as np
from hypothesis import given
from rich.console import Console

from kleene.traces import Channel, Trace
from kleene.traces.tables import WIDEST, as_html, as_table, as_text
from tests.traces.strategies import small_trace, traces

TRACE = small_trace([[1, 2], [1, 3]])


def one_channel(name: str, positions: int = 2) -> Trace:
    return Trace((Channel(name, "category", 100),), {name: np.arange(positions)[None]}, name)


def printed(table, *, colours: bool = False) -> str:
    console = Console(width=400, force_terminal=colours, color_system="truecolor" if colours else None)
    with console.capture() as capture:
        console.print(table)
    return capture.get()


def cells(html: str) -> list[list[str]]:
    """The text of every cell, row by row."""
    rows: list[list[str]] = []

    class Reader(HTMLParser):
        def handle_starttag(self, tag, attributes):
            assert tag in ("table", "tr", "td", "th"), f"the table has a <{tag}>"
            if tag == "tr":
                rows.append([])
            elif tag in ("td", "th"):
                rows[-1].append("")

        def handle_data(self, data):
            rows[-1][-1] += data

    reader = Reader()
    reader.feed(html)
    reader.close()
    return rows


def test_the_text_has_a_row_for_each_step_and_channel():
    lines = as_text(TRACE).splitlines()
    rows = [line.split() for line in lines]
    assert rows[0] == ["step", "channel", "0", "1"]
    assert rows[2:] == [["0", "code", "1", "2"], [], ["1", "code", "1", "3"], ["tenth", "0.1", "0.3"]]


def test_the_text_of_a_trace_is_what_printing_it_shows():
    assert str(TRACE) == as_text(TRACE)


def test_what_a_head_read_is_not_shown_at_the_start_where_nothing_was_read():
    assert as_text(TRACE).count("tenth") == TRACE.steps


def test_the_step_is_shown_even_where_the_first_channel_is_not():
    heads_first = replace(TRACE, channels=TRACE.channels[::-1])
    assert as_text(heads_first).splitlines()[2].split() == ["0", "code", "1", "2"]


def test_the_text_has_no_escape_codes_even_where_colours_are_forced(monkeypatch):
    monkeypatch.setenv("FORCE_COLOR", "1")
    assert "\x1b" not in as_text(TRACE)


def test_what_changed_since_the_step_before_is_bold():
    text = printed(as_table(TRACE), colours=True)
    assert "\x1b[1;36m3\x1b[0m" in text
    assert "\x1b[1;36m1\x1b[0m" not in text


def test_a_long_trace_is_cut_in_the_middle():
    header = as_text(one_channel("x", positions=100)).splitlines()[0].split()
    assert len(header) == 2 + WIDEST + 1
    assert header[2:4] == ["0", "1"]
    assert header[2 + WIDEST // 2] == "…"
    assert header[-1] == "99"


def test_channel_names_are_shown_as_they_are_and_not_read_as_markup():
    for name in ("[red]x", "a[/b]", ":smile:", "[0]"):
        assert name in as_text(one_channel(name))


def test_two_traces_stand_side_by_side_and_differences_are_marked():
    program = replace(TRACE, source="program")
    network = replace(small_trace([[1, 2], [1, 9]]), source="network")
    rows = [line.split() for line in printed(as_table(program, network, title="parity")).splitlines()]
    assert rows[0] == ["parity"]
    assert ["program", "network"] in rows
    assert ["1", "code", "1", "3", "1", "≠9"] in rows
    assert ["0", "code", "1", "2", "1", "2"] in rows


def test_a_run_that_ended_earlier_leaves_its_cells_empty_beside_the_longer_one():
    shorter, longer = small_trace([[1]]), small_trace([[1], [2]])
    assert ["1", "code", "2"] in [line.split() for line in printed(as_table(longer, shorter)).splitlines()]
    assert ["1", "code", "≠2"] in [line.split() for line in printed(as_table(shorter, longer)).splitlines()]


def test_a_trace_without_positions_has_a_row_for_each_step():
    channels = (Channel("read", "category", 2, per_step=True), Channel("state", "category", 3))
    trace = Trace(channels, {"read": np.array([-1, 1]), "state": np.array([0, 2])}, axes=("step",))
    lines = [line.split() for line in as_text(trace).splitlines()]
    assert [lines[0], *lines[2:]] == [["step", "read", "state"], ["0", "0"], ["1", "1", "2"]]


def test_the_html_table_has_every_entry():
    assert cells(as_html(TRACE)) == [
        ["step", "channel", "0", "1"],
        ["0", "code", "1", "2"],
        ["1", "code", "1", "3"],
        ["1", "tenth", "0.1", "0.3"],
    ]
    assert TRACE._repr_html_() == as_html(TRACE)


def test_html_escapes_channel_names_and_labels():
    evil = "<script>alert(1)</script>"
    channel = Channel(evil, "category", 2, labels=("<b>", "&amp;"))
    html = as_html(Trace((channel,), {evil: np.array([[0, 1]])}))
    assert "<script" not in html
    assert cells(html)[1] == ["0", evil, "<b>", "&amp;"]


@given(traces())
def test_every_trace_can_be_shown(trace):
    head = as_text(trace).split()
    assert head[:2] == ["step", "channel"] if len(trace.axes) > 1 else "step" in head
    shown = sum(trace.steps if c.per_step else trace.steps + 1 for c in trace.channels)
    assert len(cells(as_html(trace))) == 1 + shown


def test_the_table_is_text_in_a_notebook_too(monkeypatch):
    class Shell:  # what a notebook's get_ipython() returns, as far as rich looks at it
        pass

    Shell.__name__ = "ZMQInteractiveShell"
    monkeypatch.setattr("rich.console.get_ipython", Shell, raising=False)
    assert "code" in as_text(TRACE)
