"""Running a network on a batch: start, layers until every sequence has halted, and the trace read back.

Small batches run in numpy, layer by layer; large ones in jax, many layers to a jitted call. Either way a sequence that
has halted leaves the batch.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from kleene.errors import InputError
from kleene.machines.transformer.parameters import Parameters
from kleene.machines.transformer.steps import (
    Runnable,
    advance,
    all_clean,
    entries,
    finish_rest,
    has_halted,
    kept_entries,
    outputs_of,
    prepare,
    refuse_unclean,
    refuse_undefined,
)
from kleene.notation.tokens import padded
from kleene.traces import TraceBatch
from kleene.traces.trace import Recorder

LARGE = 1 << 27  # multiplications a layer above which jax's compilation pays for itself


def execute(
    network: Parameters,
    sequences: Sequence[Sequence[Any]],
    *,
    max_layers: int | None,
    record: bool,
    attention: str,
    backend: str,
) -> TraceBatch:
    """The traces of the network on a batch of inputs."""
    layout = network.layout
    if attention not in ("select", "softmax") or backend not in ("auto", "numpy", "jax"):
        raise InputError(
            f"attention is 'select' or 'softmax' and backend 'auto', 'numpy' or 'jax'; got {attention!r}, {backend!r}"
        )
    checked = [layout.check_input(sequence) for sequence in sequences]
    tokens, lengths = padded(checked)
    limit = layout.max_layers if max_layers is None else max_layers
    recorder = Recorder(layout.channels, lengths, layout.output_name, record=record, source="network")
    runnable = prepare(network, attention)
    state = network.tokens[tokens]
    if network.positions is not None:
        state = state + network.positions[: tokens.shape[1]]
    if runnable.plan is not None:
        state = np.ascontiguousarray(state[..., list(runnable.plan.kept)])
    recorder.add(0, np.arange(len(lengths)), kept_entries(np, runnable, state))
    if _runs_in_jax(network, backend, tokens.size):
        from kleene.machines.transformer.jax_execution import run_layers
    else:
        run_layers = run_in_numpy
    with np.errstate(over="ignore"):
        run_layers(runnable, state, lengths, limit, recorder, record)
    return recorder.batch()


def _runs_in_jax(network: Parameters, backend: str, positions: int) -> bool:
    if backend != "auto":
        return backend == "jax"
    work = positions * network.mlp_in.size
    if network.dtype == "bfloat16" or network.dtype == "float64" or work <= LARGE // 64:
        return network.dtype == "bfloat16"
    import jax  # which takes longer to import than a small network to run

    return work > LARGE or jax.default_backend() != "cpu"


def run_in_numpy(
    runnable: Runnable, state: Any, lengths: np.ndarray, limit: int, recorder: Recorder, record: bool
) -> None:
    """All layers, one after the other."""
    rows = np.arange(len(lengths))
    layer = 0
    while True:
        done = has_halted(np, runnable, state, lengths[rows])
        ending = done if layer < limit else np.ones(len(rows), dtype=bool)
        if ending.any():
            inside = np.arange(state.shape[1]) < lengths[rows[ending]][:, None]
            refuse_unclean(runnable, all_clean(np, runnable, state[ending], inside), layer, rows[ending])
        if done.any():
            recorder.finish(rows[done], layer, halted=True)
            rows, state = rows[~done], state[~done]
        if not len(rows) or layer >= limit:
            break
        layer += 1
        state = state[:, : int(lengths[rows].max())]
        step = advance(np, runnable, state, lengths[rows])
        refuse_undefined(runnable, step, layer, rows)
        state = step.state
        recorder.add(layer, rows, entries(np, runnable, step) if record else outputs_of(np, runnable, step.state))
    finish_rest(runnable, rows, layer, limit, recorder)
