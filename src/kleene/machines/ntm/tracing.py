"""Everything that an NTM does on one input, for looking at: heads, tape and answers at every step."""

from collections.abc import Sequence

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from kleene.errors import InputError
from kleene.machines.ncm import run
from kleene.machines.ntm.ntm import NTM
from kleene.traces import Channel, Trace


def whole_trace(machine: NTM, symbols: Sequence[int], cells: int) -> Trace:
    """The run on these symbols, with channels `input`, `read`, `write`, `output` and `tape`, which has the cells as its
    positions. `read` and `write` are distributions over cells, `output` one over symbols.

    >>> machine = NTM.random(3, width=4, hidden=(6, 5), key=jax.random.key(0))
    >>> whole_trace(machine, [0, 1, 2, 2], cells=7)["tape"].shape
    (5, 7, 4)
    """
    known = machine.heard.shape[1]
    for step, symbol in enumerate(symbols):
        if symbol not in range(known):
            raise InputError(f"step {step} brings symbol {symbol!r}, and the machine hears 0 to {known - 1}")
    if cells < 1:
        raise InputError(f"an NTM on {cells} cells has no cell for its heads; give 1 or more")
    found = jax.tree.map(np.asarray, _run(machine, jnp.array(symbols, jnp.int32), cells))
    start = jax.tree.map(np.asarray, machine.start(cells).memory)
    outputs = len(machine.said_bias)
    channels = (
        Channel("input", "category", known, per_step=True),
        Channel("read", "distribution", cells),
        Channel("write", "distribution", cells),
        Channel("output", "distribution", outputs, per_step=True),
        Channel("tape", "vector", machine.width),
    )
    heads = np.concatenate([start.heads[None], found["memory"].heads]).astype(np.float64)
    tape = np.concatenate([start.tape[None], found["memory"].tape]).astype(np.float64)
    said = np.asarray(jax.nn.softmax(found["output"], axis=1), dtype=np.float64)
    data = {
        "input": np.array([-1, *symbols], dtype=np.int32),
        "read": heads[:, 0],
        "write": heads[:, 1],
        "output": np.concatenate([np.full((1, outputs), np.nan), said]),
        "tape": tape.transpose(0, 2, 1),
    }
    return Trace(channels, data, "output", source="network")


@eqx.filter_jit
def _run(machine: NTM, symbols, cells: int):
    heard = machine.hear(jax.nn.one_hot(symbols, machine.heard.shape[1]))
    return run(machine, machine.start(cells), heard)
