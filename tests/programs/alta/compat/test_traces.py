"""The MLP's inputs and outputs as data."""

import pytest

from kleene.errors import ModelFileError
from kleene.programs.alta import compat as pb
from tests.programs.alta.compat.files import parity, sort


def test_there_is_a_trace_for_every_layer_and_position_of_every_input():
    traces = pb.extract_traces([[2, 1, 1], [2]], parity.relative(), max_layers=2)
    assert [(t.layer_idx, t.element_idx) for t in traces[:9]] == [(i, j) for i in range(3) for j in range(3)]
    assert len(traces) == 12
    first = traces[1]
    assert first.variables_in == {"bit": 1, "done": 0, "relative_qk": 0, "bit_before": 0, "done_before": 1}
    assert first.variables_out == {"bit": 1, "done": 1, "relative_qk": 0, "bit_before": None, "done_before": None}
    assert first.model_input == [2, 1, 1]


def test_traces_come_back_from_a_file_as_they_were(tmp_path):
    traces = pb.extract_traces([[0, 3, 1]], sort.build(), max_layers=1)
    pb.write_traces_jsonl(tmp_path / "traces.jsonl", traces)
    assert pb.read_traces_jsonl(tmp_path / "traces.jsonl") == traces
    assert traces[0].variables_in["smaller"] == frozenset({0})


@pytest.mark.parametrize("line", ["[1]", "{}", '{"variables_in": 3}', "no json"])
def test_a_line_that_is_no_trace_is_named(tmp_path, line):
    (tmp_path / "traces.jsonl").write_text(line + "\n")
    with pytest.raises(ModelFileError, match=r"line 1 of .*traces.jsonl"):
        pb.read_traces_jsonl(tmp_path / "traces.jsonl")
