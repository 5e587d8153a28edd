"""Hints for an NRAM: which connections a circuit has at each step, and which of them are revealed.

A circuit's wiring depends on which registers are zero, so the circuit is run on integers here, inside the jitted
program, beside the machine that it teaches.
"""

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Int

from kleene.notation.wiring import OPERATIONS, Wiring
from kleene.programs.circuits import Circuit
from kleene.teaching.hints import Hints

KINDS = (
    "none",
    "full",
    "single_hint",
    "single_timestep",
    "corners",
    "registers",
    "modules",
    "noisy_full",
)
NOISE = 0.2  # the share of noisy_full's traces that have a wrong hint

Choices = Int[Array, "step connections"]
Told = Bool[Array, "step connections"]
Number = Int[Array, ""]


def _ring(value: Number | int, size: Number) -> Number:
    """The value modulo M, where it is not far off."""
    return jnp.where(value >= size, value - size, jnp.where(value < 0, value + size, value))


def circuit_choices(circuit: Circuit, memory: Int[Array, " cells"], size: Number, steps: int) -> tuple[Choices, Told]:
    """What the circuit wires at each of so many steps, and which of it the circuit states: holes it does not.

    From a step on whose registers match no block nothing is stated.
    """
    wiring = circuit.wiring
    block_of, stated = jnp.asarray(circuit.block_of), jnp.asarray(circuit.choices)
    filled, used = jnp.asarray(circuit.filled().choices), used_modules(circuit)
    bits = jnp.asarray(1 << np.arange(wiring.registers))

    def step(before, _):
        registers, cells, known = before
        block = block_of[jnp.sum(jnp.where(registers == 0, bits, 0))]
        known = known & (block >= 0)
        registers, cells = _stepped(wiring, used, filled[block], registers, cells, size)
        return (registers, cells, known), (filled[block], known & (stated[block] >= 0))

    start = (jnp.arange(wiring.registers) % size, memory, jnp.asarray(True))
    return jax.lax.scan(step, start, length=steps)[1]


def used_modules(circuit: Circuit) -> frozenset[int]:
    """The modules whose output some block uses, and those that write; the others need not be run."""
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
    """values[place]; a sum under a mask, which is fused, where an index would not be."""
    return jnp.sum(jnp.where(jnp.arange(len(values)) == place, values, 0))


def revealed(chances: Float[Array, "2"], wiring: Wiring, kind: Number, told: Told, steps: Number) -> Told:
    """Which connections a kind of hint reveals, of those that a run of so many steps states."""
    at = jnp.arange(told.shape[0])[:, None]
    told = told & (at < steps)
    is_register = jnp.arange(told.shape[1]) >= told.shape[1] - wiring.registers
    this_step = at == jnp.floor(chances[0] * steps)
    one_unit = this_step & _one_unit(chances[1], wiring, jnp.any(told & this_step, axis=0))
    masks = {
        "none": jnp.zeros_like(at, dtype=bool),
        "full": at >= 0,
        "single_hint": one_unit,
        "single_timestep": this_step,
        "corners": (at == 0) | (at == steps - 1),
        "registers": is_register,
        "modules": ~is_register,
        "noisy_full": at >= 0,
    }
    chosen = [told & masks[name] & (kind == number) for number, name in enumerate(KINDS)]
    return jax.tree.reduce(jnp.logical_or, chosen)


def _drawn(chance: Float[Array, ""], odds: Float[Array, " places"]) -> Number:
    """A place, drawn in proportion to its odds; beyond all where there are none."""
    upper = jnp.cumsum(odds)
    return jnp.sum(upper <= chance * upper[-1])


def _one_unit(
    chance: Float[Array, ""], wiring: Wiring, stated: Bool[Array, " connections"]
) -> Bool[Array, " connections"]:
    """The connections of one module or one register, all that have something stated being equally likely."""
    units = np.array([connection.unit for connection in wiring.connections])
    same = jnp.asarray(units[:, None] == units)
    crowd = jnp.sum(same & stated, axis=1)  # how many connections of the same unit are stated: one or two
    place = _drawn(chance, jnp.where(stated, 1.0 / jnp.maximum(crowd, 1), 0.0))
    return jnp.any(same & (jnp.arange(len(units)) == place), axis=1)


def spoiled(chances: Float[Array, "2"], wiring: Wiring, choices: Choices, told: Told) -> Choices:
    """The choices, one that is told being wrong."""
    place = _drawn(chances[0], told.reshape(-1).astype(jnp.float32))
    here = jnp.arange(told.size).reshape(told.shape) == place
    limits = jnp.asarray([connection.choices for connection in wiring.connections])
    others = 1 + jnp.floor(chances[1] * (limits - 1)).astype(choices.dtype)
    return jnp.where(here, (choices + others) % limits, choices)


def hints(
    chances: Float[Array, "6"],
    circuit: Circuit,
    kind: Number,
    density: Float[Array, ""],
    memory: Int[Array, " cells"],
    size: Number,
    steps: Number,
    most_steps: int,
) -> Hints:
    """The hints on a machine's commands for one example, with weight (t + 1)^-2 at step t (§4.3).

    All that is drawn at random comes from six chances, uniform in [0, 1).
    """
    choices, told = circuit_choices(circuit, memory, size, most_steps)
    shown = revealed(chances[:2], circuit.wiring, kind, told, steps) & (chances[2] < density)
    is_noisy = (kind == KINDS.index("noisy_full")) & (chances[3] < NOISE)
    choices = jnp.where(is_noisy, spoiled(chances[4:], circuit.wiring, choices, shown), choices)
    weights = (1.0 + jnp.arange(most_steps)) ** -2.0
    return Hints(choices, jnp.where(shown, weights[:, None], 0.0))
