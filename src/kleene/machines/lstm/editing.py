"""Interventions on the run of an LSTM: a layer's hidden or cell vector is replaced after a token."""

from collections.abc import Sequence
from typing import Any

import equinox as eqx
import jax.numpy as jnp
import numpy as np

from kleene.machines.lstm.reading import LIVE
from kleene.machines.rnn.editing import state_vector
from kleene.machines.rnn.execution import channels_of
from kleene.notation.edit_plans import EditPlan
from kleene.notation.edits import Edit
from kleene.traces import Channel


def edited_hidden(network: Any, word: Sequence[Any], edits: Sequence[Edit]) -> np.ndarray:
    """The hidden vectors at the start and after each token under the edits: [step, layer, unit].

    The channels are those of the trace, `hidden.0` …, and `cell.0` … beside them. A network that was compiled from an
    automaton has its `state` as well.
    """
    layers, units = network.start.hidden.shape
    names = [f"{part}.{layer}" for part in ("hidden", "cell") for layer in range(layers)]
    channels = [Channel(name, "vector", units) for name in names]
    if network.reading is not None:
        channels += [channel for channel in channels_of(network) if channel.name == "state"]
        names.append("state")
    plan = EditPlan("the LSTM", edits, channels, np.zeros(1, dtype=np.int64), flat=names, unit="step")
    plan.refuse_unreached(np.array([len(word)]))
    memory, first, found = _last(network.memories(word[:0])), 0, []
    for step in range(len(word) + 1):
        placed = list(plan.at(step))
        if not placed:
            continue
        if step > first:
            later = _run_on(network, memory, word[first:step])
            found.append(later.hidden[:-1])
            memory = _last(later)
        for one in placed:
            if one.name == "state":
                assert network.reading is not None
                vector = state_vector(network.reading, int(one.entries[0]))
                memory["hidden"][0], memory["cell"][0] = LIVE * vector, vector
                continue
            part, _, layer = one.name.partition(".")
            memory[part][int(layer)] = one.entries[0]
        first = step
    return np.concatenate([*found, _run_on(network, memory, word[first:]).hidden])


def _run_on(network: Any, memory: dict[str, np.ndarray], word: Sequence[Any]) -> Any:
    held = [jnp.asarray(memory[part], dtype=network.start.hidden.dtype) for part in ("hidden", "cell")]
    begun = eqx.tree_at(lambda one: (one.start.hidden, one.start.cell), network, held)
    return begun.memories(word)


def _last(memories: Any) -> dict[str, np.ndarray]:
    return {part: np.array(getattr(memories, part)[-1]) for part in ("hidden", "cell")}
