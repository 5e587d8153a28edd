"""The layers of a network in jax: jitted segments of many layers, and a batch that shrinks as sequences halt."""

from functools import partial
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from kleene.machines.execution import (
    Runnable,
    advance,
    all_clean,
    entries,
    finish_rest,
    has_halted,
    outputs_of,
    refuse_unclean,
    undefined_error,
)
from kleene.traces.recorder import Recorder

RECORDED = 16  # layers to a jitted call when every layer is kept
UNRECORDED = 64


def run_layers(
    runnable: Runnable, state: Any, lengths: np.ndarray, limit: int, recorder: Recorder, record: bool
) -> None:
    """All layers; between two jitted calls the sequences that have halted leave the batch."""
    double = state.dtype == np.float64
    with jax.enable_x64(True) if double else jax.enable_x64(jax.config.jax_enable_x64):  # pyright: ignore
        weights = jax.tree.map(jnp.asarray, runnable)
        with jax.default_matmul_precision("highest"):
            _run(weights, jnp.asarray(state), lengths, limit, recorder, record)


def _run(runnable: Runnable, state: Any, lengths: np.ndarray, limit: int, recorder: Recorder, record: bool) -> None:
    rows = np.arange(len(lengths))
    state, padded_lengths = _resized(state, lengths, np.arange(len(rows)))
    ended = np.asarray(has_halted(jnp, runnable, state, padded_lengths))[: len(rows)]
    recorder.finish(rows[ended], 0, halted=True)
    state, padded_lengths = _resized(state, lengths[rows[~ended]], np.flatnonzero(~ended))
    rows, layer = rows[~ended], 0
    while len(rows) and layer < limit:
        size = min(RECORDED if record else UNRECORDED, limit - layer)
        segment = _recorded if record else _unrecorded
        result = segment(runnable, state, padded_lengths, size if record else jnp.int32(size))
        error = np.asarray(result.error)
        if error[0] >= 0:
            raise undefined_error(runnable, layer + 1 + int(error[0]), int(rows[error[1]]), *map(int, error[2:]))
        refuse_unclean(runnable, np.asarray(result.clean)[: len(rows)], layer + size, rows)
        ended = np.asarray(result.ended)[: len(rows)]  # in which of these layers each sequence halted, or -1
        ran = int(result.layers)
        for index in range(ran if record else 0):
            running = np.flatnonzero((ended < 0) | (ended >= index))
            if len(running):
                kept = {n: np.asarray(e[index])[running] for n, e in result.entries.items()}
                recorder.add(layer + index + 1, rows[running], kept)
        if not record:
            output = outputs_of(jnp, runnable, result.state)
            recorder.add(layer + ran, rows, {n: np.asarray(e)[: len(rows)] for n, e in output.items()})
        for index in np.unique(ended[ended >= 0]):
            recorder.finish(rows[ended == index], layer + int(index) + 1, halted=True)
        layer += ran
        going = np.flatnonzero(ended < 0)
        rows = rows[going]
        state, padded_lengths = _resized(result.state, lengths[rows], going)
    finish_rest(runnable, rows, layer, limit, recorder)


def _resized(state: Any, lengths: np.ndarray, going: np.ndarray) -> tuple[Any, Any]:
    """The rows that go on, in a batch whose size is a power of two and a width that is a multiple of 8, so that few
    shapes are ever compiled. Rows are dropped only where that halves the batch; what fills it up has length 0."""
    size = max(1, 1 << (max(len(going), 1) - 1).bit_length())
    width = -(-int(lengths.max(initial=1)) // 8) * 8
    state = state[jnp.asarray(np.pad(going, (0, size - len(going)), mode="constant"))] if len(going) else state[:1]
    state = (
        state[:, :width] if state.shape[1] >= width else jnp.pad(state, ((0, 0), (0, width - state.shape[1]), (0, 0)))
    )
    return state, jnp.asarray(np.pad(lengths, (0, size - len(lengths))), dtype=jnp.int32)


class Segment(eqx.Module):
    """The end of a jitted run of layers."""

    state: Any
    ended: Any
    error: Any
    clean: Any
    layers: Any
    entries: Any


def _start(runnable: Runnable, state: Any, lengths: Any) -> tuple[Any, ...]:
    return state, jnp.full(lengths.shape, -1), jnp.full(5, -1), jnp.int32(0)


def _layer(runnable: Runnable, lengths: Any, carry: tuple[Any, ...]) -> tuple[tuple[Any, ...], Any]:
    state, ended, error, index = carry
    step = advance(jnp, runnable, state, lengths)
    running = (ended < 0) & (lengths > 0)
    if step.used is not None:
        error = _first_error(error, step.used & running[:, None, None], step.reasons, index)
    state = jnp.where(running[:, None, None], step.state, state)
    halted = has_halted(jnp, runnable, state, lengths) & running
    ended = jnp.where(halted, index, ended)
    return (state, ended, error, index + 1), step


def _first_error(error: Any, used: Any, reasons: Any, layer: Any) -> Any:
    """The first use of an undefined head as (layer, row, position, head, reason); what was found before stays."""
    place = jnp.unravel_index(jnp.argmax(used), used.shape)
    found = jnp.stack([layer, *place, reasons[place]])
    return jnp.where((error[0] < 0) & used.any(), found.astype(error.dtype), error)


def _finished(runnable: Runnable, lengths: Any, carry: tuple[Any, ...], kept: Any) -> Segment:
    state, ended, error, index = carry
    inside = jnp.arange(state.shape[1]) < lengths[:, None]
    return Segment(state, ended, error, all_clean(jnp, runnable, state, inside), index, kept)


@partial(eqx.filter_jit)
def _recorded(runnable: Runnable, state: Any, lengths: Any, size: int) -> Segment:
    def step(carry, _):
        carry, outcome = _layer(runnable, lengths, carry)
        return carry, entries(jnp, runnable, outcome)

    carry, kept = jax.lax.scan(step, _start(runnable, state, lengths), length=size)
    return _finished(runnable, lengths, carry, kept)


@partial(eqx.filter_jit)
def _unrecorded(runnable: Runnable, state: Any, lengths: Any, size: Any) -> Segment:
    def going(carry):
        _, ended, error, index = carry
        return (index < size) & ((ended < 0) & (lengths > 0)).any() & (error[0] < 0)

    def step(carry):
        return _layer(runnable, lengths, carry)[0]

    carry = jax.lax.while_loop(going, step, _start(runnable, state, lengths))
    return _finished(runnable, lengths, carry, {})
