"""Circuits as NRAMs: a controller that sees which registers are zero, and wires what the circuit says, exactly.

A hidden unit for each block is 1 when the registers match its pattern and 0 when they do not: with z zeros asked for
it is relu(Σ zeros asked for - Σ zeros forbidden - (z - 1)), and the second layer repeats it. Its weights add a score so
large to its sources that softmax in float32 leaves nothing to the others: the circuit is certain, and every sum and
product in the machine is one of zeros and ones.
"""

import jax.numpy as jnp
import numpy as np

from kleene.machines.nram.nram import NRAM
from kleene.programs.circuits import Circuit
from kleene.programs.circuits.blocks import SYMBOLS

CERTAIN = 256.0  # exp(-CERTAIN) is 0 in float32, whose smallest number is about exp(-103)


def compile_circuit(circuit: Circuit) -> NRAM:
    """An NRAM whose run is the circuit's own, step by step; holes are filled with their defaults, as `run` does.

    It never stops by itself: its run takes as many steps as it is told. On registers that match no block, where the
    circuit refuses to run, it wires everything with everything.

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
