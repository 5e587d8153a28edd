"""The state in which a recurrent network begins a sentence: that of the model, or another, such as one after a text."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from kleene.errors import InputError
from kleene.explaining.words.parts import Decomposable, precision
from kleene.machines.lstm.lstm import Memory

Start = Memory | Sequence[Any] | np.ndarray | jax.Array | None


def started(about: Decomposable, start: Start) -> Decomposable:
    """What a decomposition needs of a model that begins in `start`; without one, of the model as it is.

    `start` is an LSTM's `Memory` or its pair (hidden, cell), [layers, hidden] each, or a simple RNN's hidden vector.
    """
    if start is None:
        return about
    own = about.recurrence
    if own is None or about.network is not own:
        raise InputError(
            "this network has no state to begin in: a start is for an LSTM or a SimpleRNN. Put the words that were "
            "read before at the beginning of the sentence"
        )
    hidden, cell = _given(start, own.kind)
    shape = own.start.hidden.shape
    for name, values in (("hidden", hidden), ("cell", cell)):
        if values.shape != shape or not np.isfinite(values).all():
            what = f"has the shape {values.shape}" if values.shape != shape else "has values that are not finite"
            raise InputError(
                f"`start` {what} in its {name} state; this network's has the shape {tuple(shape)}: layers, units. "
                f"kleene.explaining.state_after(model, text) gives one"
            )
    with precision(about.dtype):
        memory = Memory(jnp.asarray(hidden, about.dtype), jnp.asarray(cell, about.dtype))
        network = replace(own, start=memory)
    return replace(about, network=network, recurrence=network)


def _given(start: Any, kind: str) -> tuple[np.ndarray, np.ndarray]:
    """The hidden states and cells, [layers, hidden] each; a network of one layer may leave the axis of layers out."""
    try:
        if isinstance(start, Memory):
            parts = [start.hidden, start.cell]
        elif kind == "lstm":
            hidden, cell = start
            parts = [hidden, cell]
        else:
            parts = [start, np.zeros_like(np.asarray(start, float))]
        hidden, cell = (np.atleast_2d(np.asarray(part, float)) for part in parts)
    except (TypeError, ValueError):
        raise InputError(
            f"`start` is {str(start)[:80]!r}; give a Memory, such as kleene.explaining.state_after(model, text) "
            f"returns, an LSTM's pair (hidden, cell), or a simple RNN's hidden vector"
        ) from None
    return hidden, cell
