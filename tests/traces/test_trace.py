from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given

from kleene.traces import Channel, Trace, TraceBatch
from tests.traces.strategies import small_trace, traces

CODES = [[1, 2, 3], [4, 5, 6], [7, 8, 9]]


def changed(trace: Trace, name: str, place: tuple[int, ...], value) -> Trace:
    array = trace[name].copy()
    array[place] = value
    return replace(trace, data=dict(trace.data) | {name: array})


def test_a_trace_knows_its_steps_its_output_and_its_channels():
    trace = small_trace(CODES)
    assert (trace.steps, trace.layers, trace.output) == (2, 2, [7, 8, 9])
    assert "code" in trace
    assert "other" not in trace
    assert trace.channel("tenth").kind == "number"
    assert repr(trace) == "<Trace of 2 steps: code, tenth>"


@pytest.mark.parametrize("look_up", [Trace.__getitem__, Trace.channel])
def test_a_channel_that_is_not_there_is_named_with_those_that_are(look_up):
    with pytest.raises(KeyError, match="no channel 'parity' in this trace; it has code, tenth"):
        look_up(small_trace(CODES), "parity")


def test_a_trace_without_an_output_channel_has_no_output():
    assert replace(small_trace(CODES), output_name=None).output is None


@given(traces())
def test_a_trace_equals_its_copy_whatever_its_source(trace):
    copy = replace(trace, data={n: a.copy() for n, a in trace.data.items()}, source=trace.source + "x")
    assert trace.difference(copy) is None
    assert trace == copy


@given(traces())
def test_a_trace_with_an_entry_changed_is_not_equal(trace):
    channel = trace.channels[-1]
    array = trace[channel.name].copy()
    last = (-1,) * array.ndim
    array[last] = {"category": -2, "set": not array[last]}.get(channel.kind, 1e9 if np.isnan(array[last]) else np.nan)
    other = replace(trace, data=dict(trace.data) | {channel.name: array})
    assert trace != other
    assert repr(channel.name) in trace.difference(other)


def test_a_trace_equals_nothing_that_is_not_a_trace():
    assert small_trace(CODES) != CODES


def test_traces_cannot_be_put_in_a_set():
    with pytest.raises(TypeError):
        {small_trace(CODES)}


def test_a_difference_names_channel_step_position_and_both_values():
    first = small_trace(CODES, source="program")
    second = replace(changed(first, "code", (1, 2), 0), source="network")
    assert first.difference(second) == "step 1, position 2: 'code' is 6 in program but 0 in network"


def test_a_difference_without_sources_speaks_of_the_first_and_the_second():
    first = small_trace(CODES)
    difference = first.difference(changed(first, "tenth", (0, 0), np.nan))
    assert difference == "step 0, position 0: 'tenth' is 0.1 in the first but · in the second"


def test_the_earliest_difference_is_told_and_the_others_in_its_channel_are_counted():
    first = small_trace(CODES)
    second = changed(changed(changed(first, "code", (2, 0), 0), "code", (2, 1), 0), "tenth", (1, 1), 0.9)
    assert first.difference(second).startswith("step 1, position 1: 'tenth' is 0.5 in the first but 0.9")
    third = changed(changed(first, "code", (2, 0), 0), "code", (2, 1), 0)
    assert first.difference(third).endswith(
        "'code' is 7 in the first but 0 in the second (and 1 more places in this channel)"
    )


def test_a_difference_in_a_set_is_told_once_for_the_whole_set():
    members = np.array([[[True, False], [False, True]]])
    first = Trace((Channel("s", "set", 2),), {"s": members})
    second = Trace((Channel("s", "set", 2),), {"s": ~members})
    assert first.difference(second) == (
        "step 0, position 0: 's' is {0} in the first but {1} in the second (and 1 more places in this channel)"
    )


def test_traces_of_an_automaton_are_compared_step_by_step():
    first = Trace((Channel("state", "category", 3),), {"state": np.array([0, 1, 2])}, "state", axes=("step",))
    second = changed(first, "state", (2,), 1)
    assert first.output == 2
    assert first.difference(second) == "step 2: 'state' is 2 in the first but 1 in the second"


def test_traces_of_unequal_steps_are_told_apart_by_them():
    difference = small_trace(CODES).difference(small_trace(CODES[:2]))
    assert difference == "the first ran 2 steps, the second ran 1"


def test_traces_of_which_one_halted_are_told_apart_by_it():
    difference = small_trace(CODES).difference(small_trace(CODES, halted=False))
    assert difference == "the first halted, the second the other way round"


def test_traces_with_other_channels_are_told_apart_by_their_names():
    first = small_trace(CODES)
    second = replace(first, channels=first.channels[:1])
    assert first.difference(second) == "the channels are ['code', 'tenth'] in the first but ['code'] in the second"


def test_traces_with_another_output_are_told_apart_by_it():
    first = small_trace(CODES)
    difference = first.difference(replace(first, output_name="tenth"))
    assert difference == "the output is 'code' in the first but 'tenth' in the second"


def test_traces_of_unequal_lengths_are_told_apart_by_their_shapes():
    difference = small_trace(CODES).difference(small_trace([row[:2] for row in CODES]))
    assert difference == "channel 'code' has another kind or shape: (3, 3) in the first, (3, 2) in the second"


def test_a_channel_of_another_kind_is_not_compared_entry_by_entry():
    first = Trace((Channel("x", "category", 2),), {"x": np.zeros((1, 2), np.int32)})
    second = Trace((Channel("x", "category", 3),), {"x": np.zeros((1, 2), np.int32)})
    assert "channel 'x' has another kind or shape" in first.difference(second)


def test_numbers_are_compared_by_the_value_that_was_declared():
    declared = (Channel("x", "number", values=(0.0, 0.5, 1.0)),)
    first, second, third = (Trace(declared, {"x": np.array([[x]])}) for x in (0.5, 0.51, 0.9))
    assert first == second
    assert first.difference(third) == "step 0, position 0: 'x' is 0.5 in the first but 0.9 in the second"


def test_sublayers_are_the_start_and_every_attention_and_mlp():
    trace = small_trace(CODES)
    layers = list(trace.sublayers())
    assert len(layers) == 2 * trace.steps + 1
    assert [s["code"].tolist() for s in layers] == [CODES[0], CODES[0], CODES[1], CODES[1], CODES[2]]
    undefined = [np.isnan(s["tenth"]).all() for s in layers]
    assert undefined == [True, False, True, False, True]
    assert layers[1]["tenth"].tolist() == [0.4, 0.5, 0.6]


@given(traces())
def test_the_sublayers_end_with_what_the_trace_ends_with(trace):
    *_, last = trace.sublayers()
    for channel in trace.channels:
        expected = trace[channel.name][-1]
        if channel.per_step:
            expected = np.full_like(expected, channel.empty)
        assert np.array_equal(last[channel.name], expected, equal_nan=channel.kind not in ("category", "set"))


def unequal_batch() -> TraceBatch:
    data = np.full((2, 3, 4), -1, dtype=np.int32)
    data[0, :3, :2] = [[1, 2], [3, 4], [5, 6]]
    data[1, :1, :4] = [[7, 8, 9, 0]]
    steps, lengths, halted = np.array([2, 0]), np.array([2, 4]), np.array([True, False])
    return TraceBatch((Channel("code", "category", 10),), {"code": data}, steps, lengths, halted, "code", "program")


def test_a_batch_gives_each_run_its_own_steps_and_length():
    first, second = unequal_batch()
    assert first["code"].tolist() == [[1, 2], [3, 4], [5, 6]]
    assert second["code"].tolist() == [[7, 8, 9, 0]]
    assert (first.halted, second.halted) == (True, False)
    assert (first.steps, second.steps) == (2, 0)
    assert first.source == "program"


def test_the_outputs_of_a_batch_are_those_of_its_runs():
    batch = unequal_batch()
    assert len(batch) == 2
    assert batch.outputs == [trace.output for trace in batch] == [[5, 6], [7, 8, 9, 0]]


def test_a_batch_that_was_not_recorded_has_outputs_and_no_traces():
    last = np.array([[[5, 6, -1, -1]], [[7, 8, 9, 0]]], dtype=np.int32)
    batch = replace(unequal_batch(), data={"code": last}, recorded=False)
    assert batch.outputs == [[5, 6], [7, 8, 9, 0]]
    with pytest.raises(ValueError, match="run it with record=True"):
        batch[0]


def test_a_batch_of_runs_without_positions_gives_traces_without_positions():
    states = np.array([[0, 1, 2], [0, 3, -1]], dtype=np.int32)
    steps, halted = np.array([2, 1]), np.array([True, True])
    batch = TraceBatch((Channel("state", "category", 4),), {"state": states}, steps, steps, halted, axes=("step",))
    assert [trace["state"].tolist() for trace in batch] == [[0, 1, 2], [0, 3]]
    assert {trace.axes for trace in batch} == {("step",)}
    assert batch.outputs == [2, 3]
    assert batch == batch
