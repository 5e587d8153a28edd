"""Traces of all programs of the library on their examples, and of the networks that are compiled from them."""

import pytest

import kleene
from tests.snapshots.library import examples, file_name
from tests.snapshots.storing import compare, left_over
from tests.snapshots.traces import attention, described

EXAMPLES = examples()


@pytest.mark.parametrize("name", EXAMPLES)
def test_traces(name: str):
    outcome = kleene.run(name, EXAMPLES[name])
    answer = {"run": name, "input": EXAMPLES[name], "answer": outcome.answer, "trace": described(outcome.trace)}
    answer |= attention(outcome.trace)
    if not outcome.compiled:  # the networks of the library have no program
        network = kleene.run(name, EXAMPLES[name], compiled=True)
        answer |= {"network": outcome.trace.difference(network.trace) or "the same trace"}
    compare(f"traces/{file_name(name)}", answer)


def test_traces_have_no_snapshot_left_over():
    assert left_over("traces", [file_name(name) for name in EXAMPLES]) == []
