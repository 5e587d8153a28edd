"""The pairs of a data set, seen layer by layer, are those of its traces."""

import random

import numpy as np
import pytest

from kleene.explaining.programs.pairs import distinct_pairs, mlp_pairs
from kleene.programs.alta.library import get


def from_traces(program, inputs):
    """The pairs by the plain way: all of all traces, then the different ones."""
    before, after = [], []
    for trace in program.run_batch(inputs):
        read = {name: trace[name][1:] for name in program.outputs}
        before.append(_rows({name: trace[name][:-1] for name in program.variables} | read))
        after.append(_rows({name: trace[name][1:] for name in program.variables} | read))
    return distinct_pairs(tuple(program.domains), np.concatenate(before), np.concatenate(after))


def _rows(values):
    return np.stack([array.reshape(-1).astype(np.int64) for array in values.values()], axis=1)


@pytest.mark.parametrize("name", ["parity_relative", "addition", "scan", "scan_shift_reduce"])
@pytest.mark.parametrize("merged", [1 << 20, 10])  # at the end, or again and again
def test_pairs_are_those_of_the_traces(name, merged):
    entry, rng = get(name), random.Random(5)
    program = entry.build()
    inputs = [list(entry.build().inputs.sample(rng, 1 + n % 4)) for n in range(12)]
    found, wanted = mlp_pairs(program, inputs, merged=merged), from_traces(program, inputs)
    assert found.variables == wanted.variables
    assert (found.inputs == wanted.inputs).all()
    assert (found.outputs == wanted.outputs).all()
    assert (found.counts == wanted.counts).all()


def test_no_inputs_have_no_pairs():
    assert len(mlp_pairs(get("parity_relative").build(), [])) == 0
