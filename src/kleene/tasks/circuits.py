"""Circuits run on integers inside a jitted program.

A circuit's wiring depends on which registers are zero. So a lesson that teaches a machine this wiring runs the circuit
beside the machine.
"""

from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Int

from kleene.notation.wiring import OPERATIONS, Wiring
from kleene.programs.circuits import Circuit

Number = Int[Array, ""]


class CircuitRun(NamedTuple):
    """A run of a circuit: the choices of each step, which of them the circuit states, and the memory after each step.

    Holes are not stated, and nothing is stated from the first step whose registers match no block.
    """

    choices: Int[Array, "step connections"]
    stated: Bool[Array, "step connections"]
    memory: Int[Array, "step cells"]


def _ring(value: Number | int, size: Number) -> Number:
    """The value modulo M, for values from -M to 2M - 1."""
    return jnp.where(value >= size, value - size, jnp.where(value < 0, value + size, value))


def circuit_run(circuit: Circuit, memory: Int[Array, " cells"], size: Number, steps: int) -> CircuitRun:
    """A run of `steps` steps on a memory whose first `size` cells count."""
    wiring = circuit.wiring
    block_of, stated = jnp.asarray(circuit.block_of), jnp.asarray(circuit.choices)
    filled, used = jnp.asarray(circuit.filled().choices), used_modules(circuit)
    bits = jnp.asarray(1 << np.arange(wiring.registers))

    def step(before, _):
        registers, cells, known = before
        block = block_of[jnp.sum(jnp.where(registers == 0, bits, 0))]
        known = known & (block >= 0)
        registers, cells = _stepped(wiring, used, filled[block], registers, cells, size)
        return (registers, cells, known), CircuitRun(filled[block], known & (stated[block] >= 0), cells)

    start = (jnp.arange(wiring.registers) % size, memory, jnp.asarray(True))
    return jax.lax.scan(step, start, length=steps)[1]


def used_modules(circuit: Circuit) -> frozenset[int]:
    """The places of the modules that write or whose output some block uses; the others need not run."""
    wiring, filled = circuit.wiring, circuit.filled().choices
    needed = set(filled[:, -wiring.registers :].ravel().tolist())
    for place in reversed(range(len(wiring.modules))):
        if wiring.modules[place] == "WRITE" or wiring.registers + place in needed:
            needed |= {wiring.registers + place, *filled[:, wiring.places[place]].ravel().tolist()}
    return frozenset(source - wiring.registers for source in needed)


def _stepped(
    wiring: Wiring, used: frozenset[int], choices: Array, registers: Array, cells: Array, size: Number
) -> tuple[Array, Array]:
    """Registers and memory after one step of the circuit."""
    values, nothing = list(registers), jnp.zeros_like(size)
    for place, kind in enumerate(wiring.modules):
        arguments = [_picked(jnp.stack(values), choices[c]) for c in wiring.places[place]] if place in used else []
        first, second = (*arguments, nothing, nothing)[:2]
        output = nothing
        if kind == "READ":
            output = _picked(cells, first)
        elif kind == "WRITE":
            cells = jnp.where(jnp.arange(len(cells)) == first, second, cells)
        elif place in used:
            output = _ring(OPERATIONS[kind](first, second), size)
        values.append(output)
    return jax.vmap(_picked, (None, 0))(jnp.stack(values), choices[-wiring.registers :]), cells


def _picked(values: Int[Array, " values"], place: Number) -> Number:
    """values[place], as a masked sum, because XLA fuses that and not an index."""
    return jnp.sum(jnp.where(jnp.arange(len(values)) == place, values, 0))
