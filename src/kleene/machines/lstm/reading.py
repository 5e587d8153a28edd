"""The hidden vectors of an LSTM that was compiled from an automaton, read as the automaton's states."""

from typing import Any

import numpy as np

from kleene.machines.rnn.execution import StateReading, channels_of
from kleene.traces import Trace

LIVE = float(np.tanh(1.0))  # the value of the one unit that is not 0
SLACK = 1e-6  # jax's tanh(1) in single precision may differ from this in the last digit


def state_trace(network: Any, tokens: np.ndarray, hidden: np.ndarray, accepting: np.ndarray) -> Trace:
    """The trace on one word, with the channels of the automaton's own: symbol, state and accepting.

    `hidden` [step, unit] and `accepting` begin with the start.
    """
    data = {
        "symbol": np.append(-1, tokens).astype(np.int32),
        "state": states_read(network.reading, hidden),
        "accepting": np.asarray(accepting).astype(np.int32),
    }
    return Trace(channels_of(network), data, "accepting", axes=("step",), source="network")


def states_read(reading: StateReading, hidden: np.ndarray) -> np.ndarray:
    """The state that each hidden vector [step, unit] means, or -1: one unit has the value tanh(1), all others 0."""
    rows, units = np.nonzero(hidden)
    values = np.where(np.abs(hidden[rows, units] - LIVE) <= SLACK, 1, 0)
    return reading.states_of(rows, units, values, len(hidden))
