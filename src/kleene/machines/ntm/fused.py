"""The runs of an NTM by one CUDA kernel (`cuda`), with its gradient: a `custom_vjp` around two foreign calls.

The kernel takes its weights as one vector, in the order in which it reads them, and examples in groups of 32. It
returns the gradients before each layer's activation; products over steps and examples turn these into the gradients of
the weights.
"""

import functools
from typing import Any, NamedTuple

import jax
import jax.ffi
import jax.numpy as jnp
from jaxtyping import Array, Float, Int

from kleene.machines.ntm.building import LANES, TAPE_EVERY, TILE_INPUTS, TILE_UNITS, Kernel


class FusedRuns(NamedTuple):
    """What a run records: logits, logarithms of the heads, and the cell asked for after each write."""

    output: Float[Array, "step outputs batch"]
    log_heads: Float[Array, "step 2 cells batch"]
    written: Float[Array, "step width batch"]


class _Kept(NamedTuple):
    """What the backward kernel needs; the rows of layers come before the step."""

    first: Array
    hidden: Array
    commands: Array
    reads: Array
    tape: Array
    content: Array


def record(
    kernel: Kernel, machine: Any, symbols: Int[Array, "step batch"], asked: Int[Array, "step batch"] | None
) -> FusedRuns:
    """The runs on these symbols. `asked` is a cell for every step; without it `written` is 0."""
    batch = symbols.shape[1]
    symbols = jnp.where((symbols >= 0) & (symbols < machine.symbols), symbols, machine.symbols)
    cells = jnp.full(symbols.shape, -1, jnp.int32) if asked is None else jnp.asarray(asked, jnp.int32)
    found: Any = _run(kernel, machine, _grouped(jnp.asarray(symbols, jnp.int32), 0), _grouped(cells, -1))
    return FusedRuns(*(_joined(array, batch) for array in found))


def _grouped(rows: Int[Array, "step batch"], filler: int) -> Int[Array, "groups step lane"]:
    steps, batch = rows.shape
    padded = jnp.pad(rows, ((0, 0), (0, -batch % LANES)), constant_values=filler)
    return padded.reshape(steps, -1, LANES).transpose(1, 0, 2)


def _joined(array: Float[Array, "groups ... lane"], batch: int) -> Float[Array, "... batch"]:
    joined = jnp.moveaxis(array, 0, -2)
    return joined.reshape(*joined.shape[:-2], -1)[..., :batch]


@functools.partial(jax.custom_vjp, nondiff_argnums=(0,))
def _run(kernel: Kernel, machine: Any, symbols: Array, asked: Array) -> tuple[Array, ...]:
    shapes = _output_shapes(kernel, symbols)
    return tuple(_call(kernel.forward, shapes)(_forward_weights(machine), symbols, asked))


def _forward(kernel: Kernel, machine: Any, symbols: Array, asked: Array) -> tuple[tuple[Array, ...], Any]:
    shapes = [*_output_shapes(kernel, symbols), *_kept_shapes(kernel, symbols, len(machine.command_bias))]
    found = _call(kernel.forward_kept, shapes)(_forward_weights(machine), symbols, asked)
    return tuple(found[:3]), (machine, symbols, asked, found[1], _Kept(*found[3:]))


def _backward(kernel: Kernel, given: Any, cotangents: tuple[Array, ...]) -> tuple[Any, None, None]:
    machine, symbols, asked, log_heads, kept = given
    groups, steps, sizes = symbols.shape[0], symbols.shape[1], kernel.sizes
    rows = (sizes.first, sizes.hidden, len(machine.command_bias) + sizes.outputs)
    shapes = [_shape(groups, count, steps) for count in rows] + [_shape(groups, sizes.width)]
    needed = (log_heads, kept.first, kept.hidden, kept.commands, kept.tape, kept.content)
    before = _call(kernel.backward, shapes)(_backward_weights(machine), asked, *needed, *cotangents)
    return _gradient(machine, symbols, kept, *before), None, None


_run.defvjp(_forward, _backward)


def _gradient(
    machine: Any, symbols: Array, kept: _Kept, d_first: Array, d_hidden: Array, d_rows: Array, d_read: Array
) -> Any:
    """The gradient of a machine's weights, from those before the activations."""
    entries = jax.nn.one_hot(symbols, machine.symbols, axis=1, dtype=d_first.dtype)
    commands = machine.command_bias.shape[0]
    last, last_bias = _products(d_rows, kept.hidden), _over_examples(d_rows)
    return type(machine)(
        input_weights=_products(d_first, entries),
        read_weights=_products(d_first, kept.reads),
        first_bias=_over_examples(d_first),
        second=_products(d_hidden, kept.first),
        second_bias=_over_examples(d_hidden),
        command_weights=last[:commands],
        command_bias=last_bias[:commands],
        output_weights=last[commands:],
        output_bias=last_bias[commands:],
        first_read=jnp.sum(d_read, axis=(0, 2)),
    )


def _products(left: Array, right: Array) -> Array:
    return jnp.einsum("gatb,gctb->ac", left, right)


def _over_examples(array: Array) -> Array:
    return jnp.sum(array, axis=(0, 2, 3))


def _forward_weights(machine: Any) -> Float[Array, " weights"]:
    """The weights in the order of the constants READ to FIRST_READ of the kernel."""
    last = jnp.concatenate([machine.command_weights, machine.output_weights])
    last_bias = jnp.concatenate([machine.command_bias, machine.output_bias])
    layers = [_tiled(matrix) for matrix in (machine.read_weights, machine.second, last)]
    vectors = (_entries(machine).ravel(), machine.second_bias, last_bias, machine.first_read)
    return jnp.concatenate([*layers, *map(_filled, vectors)])


def _entries(machine: Any) -> Float[Array, "first symbols+1"]:
    """The first layer's sums for each symbol, and for one that does not exist."""
    return jnp.pad(machine.input_weights, ((0, 0), (0, 1))) + machine.first_bias[:, None]


def _backward_weights(machine: Any) -> Float[Array, " weights"]:
    """The weights in the order of the constants LAST_BACK to READ_BACK of the kernel."""
    last = jnp.concatenate([machine.command_weights, machine.output_weights])
    return jnp.concatenate([_tiled(matrix.T) for matrix in (last, machine.second, machine.read_weights)])


def _tiled(matrix: Float[Array, "units inputs"]) -> Float[Array, " numbers"]:
    """A layer's weights as tensor cores take them: tiles of 16 units and 8 inputs, four numbers for each lane of 32.

    Lane 4·r + c has units r and r + 8 of a tile, first of input c and then of input c + 4.
    """
    units, inputs = matrix.shape
    padded = jnp.pad(matrix, ((0, -units % TILE_UNITS), (0, -inputs % TILE_INPUTS)))
    split = padded.reshape(-1, 2, TILE_UNITS // 2, padded.shape[1] // TILE_INPUTS, 2, TILE_INPUTS // 2)
    return split.transpose(0, 3, 2, 5, 4, 1).ravel()


def _filled(vector: Float[Array, " numbers"]) -> Float[Array, " more"]:
    return jnp.pad(vector, (0, -len(vector) % 4))


def _output_shapes(kernel: Kernel, symbols: Array) -> list[jax.ShapeDtypeStruct]:
    groups, steps, _ = symbols.shape
    sizes = kernel.sizes
    return [_shape(groups, steps, *rows) for rows in ((sizes.outputs,), (2, sizes.cells), (sizes.width,))]


def _kept_shapes(kernel: Kernel, symbols: Array, commands: int) -> list[jax.ShapeDtypeStruct]:
    groups, steps, _ = symbols.shape
    sizes = kernel.sizes
    rows = (sizes.first, sizes.hidden, commands, sizes.width)
    layers = [_shape(groups, count, steps) for count in rows]
    tapes = -(-steps // TAPE_EVERY)
    return [*layers, _shape(groups, tapes, sizes.width, sizes.cells), _shape(groups, steps, 2)]


def _shape(*axes: int) -> jax.ShapeDtypeStruct:
    return jax.ShapeDtypeStruct((*axes, LANES), jnp.float32)


def _call(target: str, shapes: list[jax.ShapeDtypeStruct]) -> Any:
    """The foreign call; `vmap` puts the seeds in front of every array."""
    return jax.ffi.ffi_call(target, shapes, vmap_method="broadcast_all")
