"""The layers of a network in jax: jitted segments of many layers.

A run that records its trace takes the whole batch through the layers. A run that keeps only outputs has a fixed number
of *slots*: a sequence that has halted gives its slot to the next, so that nothing waits for the slowest and only few
shapes are compiled. Everything on the device happens in four jitted functions, because outside of them each single
operation would be compiled by itself, which on a GPU takes longer than a batch.
"""

from collections.abc import Callable, Iterator
from contextlib import nullcontext
from functools import cache, partial
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from kleene.caching import keep_compiled_programs_unless_jax_came_first
from kleene.machines.transformer.layer import (
    LayerStep,
    Runnable,
    advance,
    all_clean,
    entries,
    has_halted,
    outputs_of,
    refuse_unclean,
    undefined_error,
)
from kleene.machines.transformer.parameters import register_all
from kleene.traces.trace import Recorder

keep_compiled_programs_unless_jax_came_first()

register_all()

RECORDED = 16  # layers of a jitted call when every layer is recorded
UNRECORDED = 8  # layers between two checks which sequences have halted
SLOT_POSITIONS = {"cpu": 1 << 14}  # positions run at once; on a GPU, many more
GPU_POSITIONS = 1 << 20


def run_layers(
    runnable: Runnable, state: Any, lengths: np.ndarray, limit: int, recorder: Recorder, record: bool
) -> None:
    """Run all layers of all sequences."""
    with jax.enable_x64(True) if state.dtype == np.float64 else nullcontext():
        weights = jax.device_put(runnable)
        with jax.default_matmul_precision("highest"):
            if record:
                _run_recorded(weights, state, lengths, limit, recorder)
            else:
                for rows, width in _widths(lengths):
                    _run_in_slots(weights, state, lengths, rows, width, limit, recorder)


def one_layer(runnable: Runnable, state: Any, lengths: np.ndarray, heads: Any) -> LayerStep:
    """The batch after one layer, as numpy arrays; few shapes are compiled, as in a recorded run."""
    rows, width = state.shape[:2]
    size, positions = _bucket(lengths)
    positions = max(positions, width)

    def block(array: Any) -> np.ndarray:
        return np.pad(array, ((0, size - rows), (0, positions - width), (0, 0)))

    precision = jax.enable_x64(True) if state.dtype == np.float64 else nullcontext()
    with precision, jax.default_matmul_precision("highest"):
        given = None if heads is None else tuple(map(block, heads))
        step = _one_layer(runnable, block(state), _filled_up(lengths, size), given)
    return LayerStep(*(None if part is None else np.asarray(part)[:rows, :width] for part in step))


@eqx.filter_jit
def _one_layer(runnable: Runnable, state: Any, lengths: Any, heads: Any) -> LayerStep:
    return advance(jnp, runnable, state, lengths, heads)


def _widths(lengths: np.ndarray) -> Iterator[tuple[np.ndarray, int]]:
    """Groups of rows, and the number of positions that each is run with: at most a third more than its rows have.

    There are few groups, because every width is compiled by itself.
    """
    rest = np.argsort(lengths, kind="stable")
    while len(rest):
        longest = int(lengths[rest[-1]])
        taken = lengths[rest] * 4 > longest * 3
        yield rest[taken], -(-longest // 8) * 8
        rest = rest[~taken]


def _run_in_slots(
    runnable: Runnable,
    state: np.ndarray,
    lengths: np.ndarray,
    rows: np.ndarray,
    width: int,
    limit: int,
    recorder: Recorder,
) -> None:
    positions = SLOT_POSITIONS.get(jax.default_backend(), GPU_POSITIONS)
    slots = min(1 << (len(rows) - 1).bit_length(), max(8, 1 << (positions // width).bit_length() - 1))
    waiting = iter(rows.tolist())
    holds = np.full(slots, -1)  # which row is in each slot
    ran = np.zeros(slots, dtype=np.int64)  # how many layers it has run
    extents = np.zeros(slots, dtype=np.int32)
    running: Any = None
    free = np.arange(slots)
    while True:
        incoming = list(zip(free.tolist(), waiting))
        if incoming:
            into, taken = np.array([s for s, _ in incoming]), np.array([r for _, r in incoming])
            holds[into], ran[into], extents[into] = taken, 0, lengths[taken]
            fresh = np.zeros((slots, width, state.shape[2]), dtype=state.dtype)
            fresh[into, : min(width, state.shape[1])] = state[taken, :width]
            running = (
                jax.device_put(fresh) if running is None else _placed(running, fresh, np.isin(np.arange(slots), into))
            )
        busy = holds >= 0
        if not busy.any():
            return
        size = min(UNRECORDED, int(limit - ran[busy].max())) if limit - ran[busy].max() > 0 else 0
        result = _compiled(_unrecorded)(runnable, running, np.where(busy, extents, 0).astype(np.int32), np.int32(size))
        error = np.asarray(result.error)
        if error[0] >= 0:
            slot = int(error[1])
            raise undefined_error(
                runnable.layout, int(ran[slot] + 1 + error[0]), int(holds[slot]), *map(int, error[2:])
            )
        running, ended = result.state, np.asarray(result.ended)
        layers = np.where(ended >= 0, ran + ended, ran + int(result.layers))
        spent = busy & (ended < 0) & (layers >= limit)
        free = np.flatnonzero((busy & (ended >= 0)) | spent | ~busy)
        leaving = free[busy[free]]
        if len(leaving):
            refuse_unclean(runnable, np.asarray(result.clean)[leaving], int(layers[leaving[0]]), holds[leaving])
            recorder.add(1, holds[leaving], {n: np.asarray(e)[leaving] for n, e in result.entries.items()})
            for layer, halted in {*zip(layers[leaving].tolist(), (ended[leaving] >= 0).tolist())}:
                alike = leaving[(layers[leaving] == layer) & ((ended[leaving] >= 0) == halted)]
                recorder.finish(holds[alike], layer, halted=halted)
        holds[leaving] = -1
        ran = layers


def _run_recorded(runnable: Runnable, state: np.ndarray, lengths: np.ndarray, limit: int, recorder: Recorder) -> None:
    rows, layer = np.arange(len(lengths)), 0
    size, width = _bucket(lengths)
    block = np.zeros((size, width, state.shape[2]), dtype=state.dtype)
    block[: len(rows), : state.shape[1]] = state[:, :width]
    running: Any = jax.device_put(block)
    while len(rows):
        size = min(RECORDED, limit - layer)
        result = _compiled(_recorded)(runnable, running, _filled_up(lengths[rows], len(running)), size)
        error = np.asarray(result.error)
        if error[0] >= 0:
            raise undefined_error(runnable.layout, layer + 1 + int(error[0]), int(rows[error[1]]), *map(int, error[2:]))
        refuse_unclean(runnable, np.asarray(result.clean)[: len(rows)], layer + size, rows)
        ended = np.asarray(result.ended)[: len(rows)]  # after how many of these layers each sequence halted, or -1
        kept = {n: np.asarray(e) for n, e in result.entries.items()}
        for index in range(size):
            active = np.flatnonzero((ended < 0) | (ended > index))
            if len(active):
                recorder.add(layer + index + 1, rows[active], {n: e[index][active] for n, e in kept.items()})
        for index in np.unique(ended[ended >= 0]):
            recorder.finish(rows[ended == index], layer + int(index), halted=True)
        layer += size
        going = np.flatnonzero(ended < 0)
        rows, running = rows[going], result.state
        if layer >= limit:
            break
        if len(going) and (len(going) < len(ended)):
            size, width = _bucket(lengths[rows])
            running = _shrunk(running, _filled_up(going, size), width)
    recorder.finish(rows, layer, halted=False)


def _bucket(lengths: np.ndarray) -> tuple[int, int]:
    """A batch size that is a power of two and a width that is a multiple of 8, so that few shapes are compiled."""
    return 1 << (max(len(lengths), 1) - 1).bit_length(), -(-int(lengths.max(initial=1)) // 8) * 8


def _filled_up(values: np.ndarray, size: int) -> np.ndarray:
    """The values padded with zeros: padding rows have length 0."""
    return np.pad(values, (0, size - len(values))).astype(np.int32)


class LayersEnd(eqx.Module):
    """The end of a jitted run of layers: `ended` says after how many of them each sequence halted, or -1."""

    state: Any
    ended: Any
    error: Any
    clean: Any
    layers: Any
    entries: Any


def _start(runnable: Runnable, state: Any, lengths: Any) -> tuple[Any, ...]:
    ended = jnp.where(has_halted(jnp, runnable, state, lengths) & (lengths > 0), 0, -1)
    return state, ended, jnp.full(5, -1), jnp.int32(0)


def _layer(runnable: Runnable, lengths: Any, carry: tuple[Any, ...]) -> tuple[tuple[Any, ...], Any]:
    state, ended, error, index = carry
    step = advance(jnp, runnable, state, lengths)
    running = (ended < 0) & (lengths > 0)
    if step.used is not None:
        error = _first_error(error, step.used & running[:, None, None], step.reasons, index)
    state = jnp.where(running[:, None, None], step.state, state)
    halted = has_halted(jnp, runnable, state, lengths) & running
    return (state, jnp.where(halted, index + 1, ended), error, index + 1), step


def _first_error(error: Any, used: Any, reasons: Any, layer: Any) -> Any:
    """The first use of an undefined head as (layer, row, position, head, reason); an earlier one is kept."""
    place = jnp.unravel_index(jnp.argmax(used), used.shape)
    found = jnp.stack([layer, *place, reasons[place]])
    return jnp.where((error[0] < 0) & used.any(), found.astype(error.dtype), error)


def _finished(runnable: Runnable, lengths: Any, carry: tuple[Any, ...], kept: Any) -> LayersEnd:
    state, ended, error, index = carry
    inside = jnp.arange(state.shape[1]) < lengths[:, None]
    return LayersEnd(state, ended, error, all_clean(jnp, runnable, state, inside), index, kept)


@partial(jax.jit, donate_argnums=0)
def _placed(running: Any, fresh: Any, is_new: Any) -> Any:
    """The running block with new sequences in some of its slots."""
    return jnp.where(is_new[:, None, None], fresh, running)


@partial(jax.jit, static_argnums=2)
def _shrunk(running: Any, going: Any, width: int) -> Any:
    """The rows of the block that continue, at a width that suffices for them."""
    return running[going, :width]


@cache
def _compiled(function: Callable[..., LayersEnd]) -> Callable[..., LayersEnd]:
    """The function, jitted. On a GPU without Triton and autotuning, which would time dozens of kernels per product."""
    gpu = {"xla_gpu_enable_triton_gemm": False, "xla_gpu_autotune_level": 0}
    options: dict[str, Any] = {"compiler_options": gpu if jax.default_backend() == "gpu" else None}
    return eqx.filter_jit(function, **options)


def _recorded(runnable: Runnable, state: Any, lengths: Any, size: int) -> LayersEnd:
    def step(carry, _):
        carry, outcome = _layer(runnable, lengths, carry)
        return carry, entries(jnp, runnable, outcome)

    carry, kept = jax.lax.scan(step, _start(runnable, state, lengths), length=size)
    return _finished(runnable, lengths, carry, kept)


def _unrecorded(runnable: Runnable, state: Any, lengths: Any, size: Any) -> LayersEnd:
    def going(carry):
        _, ended, error, index = carry
        return (index < size) & ((ended < 0) & (lengths > 0)).any() & (error[0] < 0)

    def step(carry):
        return _layer(runnable, lengths, carry)[0]

    carry = jax.lax.while_loop(going, step, _start(runnable, state, lengths))
    return _finished(runnable, lengths, carry, outputs_of(jnp, runnable, carry[0]))
