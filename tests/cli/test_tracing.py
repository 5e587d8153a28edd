"""`kleene run --trace`: the part that was asked for fits the window, and every number in it is the trace's."""

from pathlib import Path

import pytest

import kleene
from kleene.cli.tracing import split_steps, trace_lines
from kleene.watching.cutting import Cut
from tests.command_line import assert_refused

NTM = Path(__file__).parents[1] / "machines" / "files" / "ntm.safetensors"
RUNS = {
    "scan": "jump twice",
    "parity_relative": "1011",
    "dfa:(a|b)*abb": "aabbaaaa",
    "increment": "3 1 2 0",
}


@pytest.fixture(scope="module")
def outcomes():
    return {name: kleene.run(name, [typed]) for name, typed in RUNS.items()}


def parsed(lines):
    """The entries in printed lines: {(channel, step, position): text}, each as the last row that showed it."""
    found, heads, step, constant = {}, [], 0, {}
    for line in (str(line) for line in lines):
        words = line.split()
        if words[:1] == ["step"]:
            heads = words[1:]
        elif "never change: " in line or "never changes: " in line:
            constant = dict(pair.split(" ") for pair in line.partition(": ")[2].split(", "))
        elif not words or line.startswith(("*", "positions")) or "not shown" in line or "as before" in line:
            continue
        elif heads[0] == "channel":
            if words[0][0].isdigit():
                step, words = int(words[0]), words[1:]
            for head, cell in zip(heads[1:], words[1:]):
                low, _, high = head.partition("–")
                for position in range(int(low), int(high or low) + 1):
                    found[words[0], step, position] = cell.removeprefix("*")
        else:
            step = int(words[0])
            for head, cell in zip(heads[-len(words) + 1 :], words[1:]):
                found[head, step, 0] = cell.removeprefix("*")
    return found, constant


@pytest.mark.parametrize("width", [60, 80, 120, 200])
@pytest.mark.parametrize("name", RUNS)
def test_every_printed_number_is_the_traces_and_every_change_is_printed(outcomes, name, width):
    outcome = outcomes[name]
    lines = trace_lines(outcome, Cut(), width)
    assert all(
        len(str(line)) <= width for line in lines if "never change" not in str(line) and "shown" not in str(line)
    )
    found, constant = parsed(lines)
    trace = outcome.trace
    assert found
    for (channel, step, position), text in found.items():
        at = trace[channel][step]
        assert text == trace.channel(channel).show(at[position] if at.ndim else at)
    for channel in trace.channels:
        if channel.name in outcome.telling.hidden:
            continue
        entries = trace[channel.name].reshape(trace.steps + 1, -1)
        for step in range(1 + channel.per_step, trace.steps + 1):
            for position in range(entries.shape[1]):
                if entries[step, position] != entries[step - 1, position]:
                    assert (channel.name, step, position) in found
        if channel.name in constant:
            assert set(map(channel.show, entries[channel.per_step :].flat)) == {constant[channel.name]}


def test_channels_positions_and_steps_are_chosen_as_in_watch(run):
    out = run(
        "run", "parity_relative", "1011", "--trace", "--channels", "par*", "--positions", "1-2", "--steps", "1-2"
    ).out
    rows = [line.split() for line in out.splitlines()]
    assert rows[0] == ["step", "channel", "1", "2"]
    assert {row[-3] for row in rows[1:5] if len(row) > 2} <= {"parity", "parity_left"}
    assert "done" not in out
    assert_refused(
        run("run", "parity_relative", "101", "--trace", "--channels", "partiy"), "no channel 'partiy'", "parity"
    )
    assert_refused(run("run", "parity_relative", "101", "--trace", "--steps", "9-"), "the last step of the run is 3")
    assert_refused(run("run", "dfa:1*", "11", "--trace", "--positions", "0-1"), "the run has no positions")


@pytest.mark.parametrize("more", [(), ("--json",), ("--trace", "--json")])
def test_a_part_is_refused_where_no_table_is_shown(run, more):
    assert_refused(
        run("run", "parity_relative", "1", "--channels", "parity", *more), "--channels shows a part of the trace"
    )


def test_what_is_left_out_is_told_and_can_be_shown(run):
    shown = run("run", "increment", "3 1 2 0", "--trace").out
    assert "22 channels are not shown: --channels '*' shows all" in shown
    asked = run("run", "increment", "3 1 2 0", "--trace", "--channels", "*").out
    assert "not shown" not in asked
    assert "READ" in asked


@pytest.mark.parametrize("width", [60, 80, 120, 200])
def test_a_long_computation_says_which_steps_and_cells_are_left_out(width):
    outcome = kleene.run("tm:copy", "ab" * 120, max_steps=450)
    *lines, steps, cells = trace_lines(outcome, Cut(), width)
    assert max(map(len, lines)) <= width
    left = outcome.trace.steps + 1 - 200
    assert steps == f"{left:,} steps are left out: --steps 100-{99 + left} shows them"
    assert cells.startswith("… stands for cells")
    asked = trace_lines(outcome, Cut.read(steps=f"100-{99 + left}"), width)
    assert [int(line.split()[0]) for line in asked[:-1]] == list(range(100, 100 + left))


def test_a_short_computation_is_shown_whole():
    lines = trace_lines(kleene.run("tm:copy", "abb"), Cut(), 80)
    assert len(lines) == 29
    assert not any("…" in line for line in lines)


def test_a_vector_says_that_it_has_more_numbers():
    outcome = kleene.run(str(NTM), "0 1 1")
    lines = [str(line) for line in trace_lines(outcome, Cut(), 80)]
    assert lines[-1] == "… in brackets: of longer vectors the first 4 numbers are shown; --json has all"
    assert max(map(len, lines[:-1])) <= 80


def test_a_plain_number_of_steps_is_what_a_circuit_takes(run):
    assert run("run", "increment", "3 1 2 0", "--steps", "1").out.splitlines()[0] == "0 1 2 0"
    assert split_steps("7") == (7, None)
    assert run("run", "increment", "3 1 2 0", "--steps", "99999999999999").status == 2


def test_of_a_long_computation_only_the_tapes_that_are_shown_are_made():
    outcome = kleene.run("tm:copy", "abb")
    lines = [str(line) for line in trace_lines(outcome, Cut.read("state,tape", steps="26-28"), 80)]
    assert "data" not in vars(outcome.trace)
    found, _ = parsed(lines)
    tape = outcome.trace["tape"]
    for (channel, step, position), text in found.items():
        if channel == "tape":
            assert text == outcome.trace.channel("tape").show(tape[step, position])
    assert {step for _, step, _ in found} == {26, 27, 28}
