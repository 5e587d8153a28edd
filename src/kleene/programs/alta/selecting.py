"""Which positions the heads of a program select in a run, read off its trace."""

import numpy as np

from kleene.limits import check_memory
from kleene.programs.alta.definition import Definition
from kleene.programs.alta.variables import Head, SetValued
from kleene.traces import Trace
from kleene.traces.attention import AttentionPatterns


def selected_positions(program: Definition, trace: Trace) -> dict[str, np.ndarray]:
    """For every head the positions that it selects: booleans of shape (step, position, position), none at the start."""
    return {name: _selected(program, head, trace) for name, head in program.heads.items()}


def _selected(program: Definition, head: Head, trace: Trace) -> np.ndarray:
    length = trace.data[program.output_name].shape[1]
    at = np.arange(length)
    near = np.ones((length, length), dtype=bool)
    if head.offsets:
        near = np.isin(at[None, :] - at[:, None], sorted(head.offsets))
    found = np.zeros((trace.steps + 1, length, length), dtype=bool)
    if head.query is None or head.key is None:
        found[1:] = near
        return found
    query, key = trace.data[head.query], trace.data[head.key]
    for step in range(1, trace.steps + 1):
        if isinstance(program.variables[head.query], SetValued):
            names = np.minimum(key[step - 1], query.shape[-1] - 1)
            match = query[step - 1][:, names] & (key[step - 1] < query.shape[-1])
        else:
            match = query[step - 1][:, None] == key[step - 1][None, :]
        found[step] = match & near
    return found


def patterns_of_program(program: Definition, _: int, trace: Trace) -> AttentionPatterns:
    """The patterns of every head: equal shares of the positions that it selects, and 0 where it selects none."""
    positions, heads = trace.data[program.output_name].shape[1], tuple(program.heads)
    what = f"the attention patterns of {trace.steps:,} layers and {positions:,} positions"
    check_memory(16.0 * trace.steps * len(heads) * positions**2, what, "run a shorter input")
    found = np.zeros((trace.steps, len(heads), positions, positions))
    for number, selected in enumerate(selected_positions(program, trace).values()):
        counts = selected[1:].sum(axis=-1, keepdims=True)
        found[:, number] = selected[1:] / np.maximum(counts, 1)
    return AttentionPatterns(heads, found)
