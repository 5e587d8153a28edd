"""One step of an NTM on its tape: both heads move, one reads, the other writes; its gradient is written by hand.

Every array may have further axes at its end, the batch. All sums then run over leading axes, which the compiler turns
into plain loops over neighbouring numbers. Sums over the width are written out, so that no product as large as the tape
is stored, and the gradient goes through the tape once.
"""

import functools
import operator
from collections.abc import Sequence
from typing import NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Int

SMALL = 1e-6  # added to squared lengths, because an empty cell has no direction
TINY = 1e-16  # added to weights before their logarithm is taken
EMPTY = 1e-3  # every number on a fresh tape; a cell of zeros would have no direction for a key to match
PER_HEAD = 6  # strength, gate, sharpening and three shifts; the key is not counted
BESIDE = (-1, 0, 1)  # the cells that a head can move by in one step

Heads = Float[Array, "2 cells ..."]  # the reading head, then the writing head
Tape = Float[Array, "width cells ..."]
Numbers = Float[Array, "2 1 ..."]  # one number for each head


class Command(NamedTuple):
    """The controller's command to the processor. The length of a key is its strength: β·k/|k|."""

    keys: Float[Array, "2 width ..."]
    gates: Numbers
    shifts: Float[Array, "2 3 1 ..."]
    sharpening: Numbers
    erase: Float[Array, "width ..."]
    add: Float[Array, "width ..."]


class TapeMemory(NamedTuple):
    """The positions of the reading and the writing head as distributions, their logarithms, and the tape.

    If the tape is padded, only its first `size` cells count; no head reaches the others.
    """

    heads: Heads
    log_heads: Heads
    tape: Tape
    size: Int[Array, ""] | None = None


def lengths(squares: Array) -> Array:
    """The lengths of vectors, given their squares; never 0."""
    return jnp.sqrt(squares + SMALL)


def _added(terms: Sequence[Array]) -> Array:
    return functools.reduce(operator.add, terms)


def _over_cells(weights: Float[Array, "cells ..."], tape: Tape) -> Float[Array, "width ..."]:
    return _added([weight * tape[:, i] for i, weight in enumerate(weights)])


def _total(heads: Heads) -> Numbers:
    return jnp.sum(heads, axis=1, keepdims=True)


def shifted(heads: Heads, shifts: Float[Array, "2 3 1 ..."], size: Int[Array, ""] | None = None) -> Heads:
    """The heads after a circular convolution: they move by -1, 0 and +1 with these three weights.

    Where only `size` cells count, the others get numbers without meaning.
    """

    def moved(by: int) -> Heads:
        if size is None:
            return jnp.roll(heads, by, axis=1)
        return jnp.take(heads, (jnp.arange(heads.shape[1]) - by) % size, axis=1)

    return sum((shifts[:, i] * moved(by) for i, by in enumerate(BESIDE)), jnp.zeros(()))


def _forward(keys, gates, shifts, sharpening, erase, add, before, tape, size=None):
    norms = lengths(_added([row * row for row in tape]))
    similar = _counted(_added([keys[:, i, None] * row for i, row in enumerate(tape)]) / norms, size)
    raised = jnp.exp(similar - jnp.max(similar, axis=1, keepdims=True))
    content = raised / _total(raised)
    gated = before + gates * (content - before)
    logs = jnp.log(shifted(gated, shifts, size) + TINY)
    powers = _counted(sharpening * logs, size)
    powers = powers - jnp.max(powers, axis=1, keepdims=True)
    raised = jnp.exp(powers)
    sums = _total(raised)
    heads, log_heads = raised / sums, powers - jnp.log(sums)
    read = _over_cells(heads[0], tape)
    written = tape + heads[1] * (add[:, None] - erase[:, None] * tape)
    kept = (keys, gates, shifts, sharpening, erase, add, before, tape, norms, similar, content, logs, heads)
    return (read, heads, log_heads, written), kept


def _counted(powers: Heads, size: Int[Array, ""] | None) -> Heads:
    """The exponents of a softmax over cells, -∞ from cell `size` on."""
    return powers if size is None else jnp.where(jnp.arange(powers.shape[1]) < size, powers, -jnp.inf)


@jax.custom_vjp
def move_read_write(
    keys: Float[Array, "2 width ..."],
    gates: Numbers,
    shifts: Float[Array, "2 3 1 ..."],
    sharpening: Numbers,
    erase: Float[Array, "width ..."],
    add: Float[Array, "width ..."],
    before: Heads,
    tape: Tape,
) -> tuple[Float[Array, "width ..."], Heads, Heads, Tape]:
    """The vector read, the heads, their logarithms, and the tape after the write.

    A head finds its key by content (w_c = softmax(β·cos(k, M_i)); `keys` are β·k/|k|), is interpolated with its last
    position, shifted, and sharpened (w ∝ w̃^γ). The read is from the tape before the write.
    """
    return _forward(keys, gates, shifts, sharpening, erase, add, before, tape)[0]


def _backward(kept, cotangents):
    keys, gates, shifts, sharpening, erase, add, before, tape, norms, similar, content, logs, heads = kept
    d_read, d_heads, d_logs, d_written = cotangents
    reading, writing = heads
    changed = tape * d_written
    d_writing = _added([a * d - e * c for a, e, d, c in zip(add, erase, d_written, changed)])
    d_reading = _added([d * row for d, row in zip(d_read, tape)])
    d_powers = d_logs + (d_heads + jnp.stack([d_reading, d_writing])) * heads
    d_powers = d_powers - heads * _total(d_powers)
    d_shifted = d_powers * sharpening / jnp.exp(logs)
    gated = before + gates * (content - before)
    d_shifts = jnp.stack([_total(d_shifted * jnp.roll(gated, by, axis=1)) for by in BESIDE], axis=1)
    d_gated = shifted(d_shifted, shifts[:, ::-1])
    d_similar = content * gates * d_gated
    d_similar = (d_similar - content * _total(d_similar)) / norms
    d_norms = jnp.sum(d_similar * similar, axis=0) / norms
    d_tape = (
        d_written * (1 - writing * erase[:, None])
        + reading * d_read[:, None]
        + keys[0][:, None] * d_similar[0]
        + keys[1][:, None] * d_similar[1]
        - tape * d_norms
    )
    return (
        jnp.stack([_over_cells(d_similar[0], tape), _over_cells(d_similar[1], tape)]),
        _total(d_gated * (content - before)),
        d_shifts,
        _total(d_powers * logs),
        -_over_cells(writing, changed),
        _over_cells(writing, d_written),
        (1 - gates) * d_gated,
        d_tape,
    )


move_read_write.defvjp(_forward, _backward)


def stepped(command: Command, memory: TapeMemory) -> tuple[Float[Array, "width ..."], TapeMemory]:
    """The vector read, and the memory after the step. Only an unpadded tape has the gradient by hand."""
    if memory.size is None:
        read, heads, log_heads, tape = move_read_write(*command, memory.heads, memory.tape)
    else:
        (read, heads, log_heads, tape), _ = _forward(*command, memory.heads, memory.tape, memory.size)
    return read, TapeMemory(heads, log_heads, tape, memory.size)
