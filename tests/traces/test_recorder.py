import numpy as np
import pytest

from kleene.traces import Channel
from kleene.traces.trace import Recorder

CHANNELS = (Channel("code", "category", 10), Channel("read", "number", per_step=True), Channel("members", "set", 2))
LENGTHS = np.array([2, 3, 1])


def entries(rows: np.ndarray, code: int, width: int = 3) -> dict[str, np.ndarray]:
    shape = (len(rows), width)
    return {
        "code": np.full(shape, code, dtype=np.int32),
        "read": np.full(shape, code / 10),
        "members": np.full((*shape, 2), True),
    }


def recorded(*, record: bool):
    """Row 2 halts after step 0, row 0 after step 1; row 1 is stopped after step 2. Positions drop out as rows do."""
    recorder = Recorder(CHANNELS, LENGTHS, "code", record=record, source="program")
    everyone = np.array([0, 1, 2])
    start = entries(everyone, 1)
    recorder.add(0, everyone, {n: e for n, e in start.items() if n != "read"})
    recorder.finish(np.array([2]), 0, halted=True)
    recorder.add(1, np.array([0, 1]), entries(np.array([0, 1]), 2))
    recorder.finish(np.array([0]), 1, halted=True)
    recorder.add(2, np.array([1]), entries(np.array([1]), 3))
    recorder.finish(np.array([1]), 2, halted=False)
    return recorder.batch()


def test_every_row_has_the_steps_that_it_ran():
    batch = recorded(record=True)
    assert batch.steps.tolist() == [1, 2, 0]
    assert batch.halted.tolist() == [True, False, True]
    assert [trace["code"].tolist() for trace in batch] == [[[1, 1], [2, 2]], [[1, 1, 1], [2, 2, 2], [3, 3, 3]], [[1]]]
    assert {trace.source for trace in batch} == {"program"}


def test_what_was_not_recorded_at_a_step_is_undefined():
    batch = recorded(record=True)
    assert np.isnan(batch[1]["read"][0]).all()
    assert batch[1]["read"][1:].tolist() == [[0.2] * 3, [0.3] * 3]
    assert (batch.data["code"][2, 1:] == -1).all()
    assert np.isnan(batch.data["read"][2]).all()
    assert not batch.data["members"][2, 1:].any()


def test_entries_of_every_kind_keep_their_type():
    batch = recorded(record=True)
    assert [batch.data[c.name].dtype for c in CHANNELS] == [np.int32, np.float64, np.bool_]
    assert batch.data["members"].shape == (3, 3, 3, 2)


def test_without_recording_only_the_newest_output_of_each_row_is_kept():
    batch = recorded(record=False)
    assert batch.outputs == recorded(record=True).outputs == [[2, 2], [3, 3, 3], [1]]
    assert list(batch.data) == ["code"]
    assert batch.data["code"].shape == (3, 1, 3)
    assert [c.name for c in batch.channels] == ["code"]
    with pytest.raises(ValueError, match="record=True"):
        batch[0]


@pytest.mark.parametrize("width", [2, 3, 8])
def test_a_step_may_have_been_run_with_more_or_fewer_positions_than_the_batch_has(width):
    recorder = Recorder(CHANNELS, np.array([2, 3]), "code", record=True, source="")
    both, first = np.array([0, 1]), np.array([0])
    recorder.add(0, both, entries(both, 1, width=max(width, 3)))
    recorder.finish(np.array([1]), 0, halted=True)
    recorder.add(1, first, entries(first, 2, width=width))
    recorder.finish(first, 1, halted=True)
    assert recorder.batch()[0]["code"].tolist() == [[1, 1], [2, 2]]


def test_a_batch_of_no_rows_is_an_empty_batch():
    none = np.array([], dtype=np.int64)
    recorder = Recorder(CHANNELS, none, "code", record=True, source="")
    recorder.add(0, none, entries(none, 1, width=0))
    batch = recorder.batch()
    assert (len(batch), list(batch), batch.outputs) == (0, [], [])
