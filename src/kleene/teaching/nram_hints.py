"""Hints for an NRAM: which connections a circuit has at each step, and which of them are revealed.

A circuit's wiring depends on which registers are zero, so the circuit is run on integers here, inside the jitted program,
beside the machine that it teaches.
"""

from collections.abc import Callable

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Int, PRNGKeyArray

from kleene.programs.circuits import Circuit
from kleene.teaching.hints import Hints
from kleene.traces.wiring import Wiring

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
Operation = Callable[[Number, Number, Number], Number]

# What a module says of its arguments and of the size M. READ and WRITE, which need the memory, stand below.
OPERATIONS: dict[str, Operation] = {
    "ZERO": lambda a, b, size: 0 * size,
    "ONE": lambda a, b, size: 1 % size,
    "TWO": lambda a, b, size: 2 % size,
    "INC": lambda a, b, size: (a + 1) % size,
    "ADD": lambda a, b, size: (a + b) % size,
    "SUB": lambda a, b, size: (a - b) % size,
    "DEC": lambda a, b, size: (a - 1) % size,
    "LT": lambda a, b, size: (a < b).astype(jnp.int32),
    "LEQ": lambda a, b, size: (a <= b).astype(jnp.int32),
    "EQ": lambda a, b, size: (a == b).astype(jnp.int32),
    "MIN": lambda a, b, size: jnp.minimum(a, b),
    "MAX": lambda a, b, size: jnp.maximum(a, b),
}


def circuit_choices(circuit: Circuit, memory: Int[Array, " cells"], size: Number, steps: int) -> tuple[Choices, Told]:
    """What the circuit wires at each of so many steps, and which of it the circuit states: holes it does not.

    From a step on whose registers match no block nothing is stated.
    """
    wiring = circuit.wiring
    block_of, stated = jnp.asarray(circuit.block_of), jnp.asarray(circuit.choices)
    filled = jnp.asarray(circuit.filled().choices)
    bits = jnp.asarray(1 << np.arange(wiring.registers))

    def step(before, _):
        registers, cells, known = before
        block = block_of[jnp.sum(jnp.where(registers == 0, bits, 0))]
        known = known & (block >= 0)
        registers, cells = _stepped(wiring, filled[block], registers, cells, size)
        return (registers, cells, known), (filled[block], known & (stated[block] >= 0))

    start = (jnp.arange(wiring.registers) % size, memory, jnp.asarray(True))
    return jax.lax.scan(step, start, length=steps)[1]


def _stepped(wiring: Wiring, choices: Array, registers: Array, cells: Array, size: Number) -> tuple[Array, Array]:
    """Registers and memory after one step of the circuit."""
    values = list(registers)
    for place, kind in enumerate(wiring.modules):
        arguments = [jnp.stack(values)[choices[connection]] for connection in wiring.places[place]]
        first, second = (*arguments, size, size)[:2]
        output = jnp.zeros_like(size)
        if kind == "READ":
            output = cells[first]
        elif kind == "WRITE":
            cells = jnp.where(jnp.arange(len(cells)) == first, second, cells)
        else:
            output = OPERATIONS[kind](first, second, size)
        values.append(output)
    return jnp.stack(values)[choices[-wiring.registers :]], cells


def revealed(key: PRNGKeyArray, wiring: Wiring, kind: Number, told: Told, steps: Number) -> Told:
    """Which connections a kind of hint reveals, of those that a run of so many steps states."""
    when, which = jax.random.split(key)
    at = jnp.arange(told.shape[0])[:, None]
    told = told & (at < steps)
    is_register = jnp.arange(told.shape[1]) >= told.shape[1] - wiring.registers
    this_step = at == jax.random.randint(when, (), 0, steps)
    one_unit = this_step & _one_unit(which, wiring, jnp.any(told & this_step, axis=0))
    everything = jnp.ones_like(told)
    masks = {
        "none": ~everything,
        "full": everything,
        "single_hint": one_unit,
        "single_timestep": this_step & everything,
        "corners": (at == 0) | (at == steps - 1),
        "registers": everything & is_register,
        "modules": everything & ~is_register,
        "noisy_full": everything,
    }
    chosen = [told & masks[name] & (kind == number) for number, name in enumerate(KINDS)]
    return jax.tree.reduce(jnp.logical_or, chosen)


def _one_unit(key: PRNGKeyArray, wiring: Wiring, stated: Bool[Array, " connections"]) -> Bool[Array, " connections"]:
    """The connections of one module or one register, all that have something stated being equally likely."""
    units = np.array([connection.unit for connection in wiring.connections])
    same = jnp.asarray(units[:, None] == units)
    crowd = jnp.sum(same & stated, axis=1)  # how many connections of the same unit are stated: one or two
    odds = jnp.where(stated, -jnp.log(jnp.maximum(crowd, 1).astype(jnp.float32)), -jnp.inf)
    return same[jax.random.categorical(key, odds)]


def spoiled(key: PRNGKeyArray, wiring: Wiring, choices: Choices, told: Told) -> Choices:
    """The choices, one that is told being wrong."""
    where, what = jax.random.split(key)
    odds = jnp.where(told, 0.0, -jnp.inf).reshape(-1)
    place = jnp.arange(odds.size).reshape(told.shape) == jax.random.categorical(where, odds)
    limits = jnp.asarray([connection.choices for connection in wiring.connections])
    others = jax.random.randint(what, limits.shape, 1, jnp.maximum(limits, 2))
    return jnp.where(place, (choices + others) % limits, choices)


def hints(
    key: PRNGKeyArray,
    circuit: Circuit,
    kind: Number,
    density: Float[Array, ""],
    memory: Int[Array, " cells"],
    size: Number,
    steps: Number,
    most_steps: int,
) -> Hints:
    """The hints on a machine's commands for one example, with weight (t + 1)^-2 at step t (§4.3)."""
    showing, giving, spoiling, noise = jax.random.split(key, 4)
    choices, told = circuit_choices(circuit, memory, size, most_steps)
    shown = revealed(showing, circuit.wiring, kind, told, steps) & jax.random.bernoulli(giving, density)
    is_noisy = (kind == KINDS.index("noisy_full")) & jax.random.bernoulli(noise, NOISE)
    choices = jnp.where(is_noisy, spoiled(spoiling, circuit.wiring, choices, shown), choices)
    weights = (1.0 + jnp.arange(most_steps)) ** -2.0
    return Hints(choices, jnp.where(shown, weights[:, None], 0.0))
