"""A circuit becomes an NRAM: its controller sees which registers are zero and makes the circuit's connections, exactly.

Each block has a hidden unit that is 1 when the registers match its pattern and 0 when they do not. For a pattern that
asks for z zeros it is relu(Σ zeros asked for - Σ zeros forbidden - (z - 1)), and the second layer repeats it. The unit
adds a score to its sources that is so large that softmax in float32 gives every other source 0. All sums and products
in the machine are then of zeros and ones.

`inputs` and `judges` tell `kleene.check` what to run a circuit on and what to compare it with: a plain interpreter, and
a reference if there is one.
"""

import random
from collections.abc import Callable
from typing import Any

import jax.numpy as jnp
import numpy as np

from kleene.compiling.checking import REFERENCE, output_difference
from kleene.machines.nram import NRAM
from kleene.notation.console import Entry
from kleene.programs.circuits import Circuit
from kleene.programs.circuits.blocks import SYMBOLS
from kleene.programs.circuits.circuit import reference_run
from kleene.traces import Trace
from kleene.traces.values import is_answer

CERTAIN = 256.0  # exp(-CERTAIN) is 0 in float32, whose smallest number is about exp(-103)


def compile_circuit(circuit: Circuit) -> NRAM:
    """An NRAM whose run is the circuit's own, step by step; holes are filled with their defaults, as `run` does.

    The NRAM never stops by itself: the caller gives the number of steps. Where the registers match no block the circuit
    refuses to run, and the NRAM connects everything with everything.

    >>> from kleene.programs.circuits.library import get
    >>> circuit = get("increment").build()
    >>> compile_circuit(circuit).run([3, 1, 2, 0]) == circuit.run([3, 1, 2, 0])
    True
    """
    wiring, blocks = circuit.wiring, len(circuit.blocks)
    asked = np.array([[SYMBOLS[symbol] for symbol in block.pattern] for block in circuit.blocks], dtype=object)
    zeros, others = (asked == True).astype(np.float32), (asked == False).astype(np.float32)  # noqa: E712
    scores = np.zeros((blocks, len(wiring.connections), len(wiring.sources)), dtype=np.float32)
    np.put_along_axis(scores, circuit.filled().choices[..., None], CERTAIN, axis=-1)
    return NRAM(
        first=jnp.asarray(zeros - others),
        first_bias=jnp.asarray(1.0 - zeros.sum(axis=1)),
        second=jnp.eye(blocks),
        second_bias=jnp.zeros(blocks),
        circuit=jnp.asarray(scores.transpose(1, 2, 0)),
        circuit_bias=jnp.zeros((len(wiring.connections), len(wiring.sources))),
        stop=jnp.zeros(blocks),
        stop_bias=jnp.array(-CERTAIN, jnp.float32),
        wiring=wiring,
        steps=circuit.steps,
    )


SMALLEST = 2  # the least M that a memory may have


def inputs(circuit: Circuit, entry: Entry | None, samples: int, max_length: int, seed: int) -> list[list[int]]:
    """`2 * samples` memories of up to `max_length` cells: drawn by the entry, or of any values."""
    chance = random.Random(seed)
    sizes = [chance.randint(SMALLEST, max(SMALLEST, max_length)) for _ in range(2 * samples)]
    if entry is not None and entry.sample is not None:
        return [entry.sample(chance, size) for size in sizes]
    return [[chance.randrange(size) for _ in range(size)] for size in sizes]


def judges(circuit: Circuit, entry: Entry | None, reference: Callable[[Any], Any] | None) -> dict[str, Callable]:
    """The plain interpreter, and the reference: the given one, or the entry's own."""
    reference = reference or (None if entry is None else entry.reference)

    def interpreter(memory: list[int], mine: Trace) -> str | None:
        registers = [int(mine[f"r{number}"][-1]) for number in range(circuit.wiring.registers)]
        plain = reference_run(circuit, memory, mine.steps)
        if (mine.output, registers) == plain:
            return None
        return f"memory and registers end as {mine.output}, {registers}; the plain interpreter's are {plain}"

    def expected(memory: list[int], mine: Trace) -> str | None:
        assert reference is not None
        return output_difference(mine.output, list(reference(memory)), "the plain reference", is_answer)

    return {"independent interpreter": interpreter} | ({} if reference is None else {REFERENCE: expected})
