"""The traces of simple recurrent networks: what was read, the state that the hidden vector means, the verdict."""

from collections.abc import Iterable
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from kleene.errors import RunError
from kleene.machines.rnn import float_execution
from kleene.machines.rnn.execution import codes, in_one_go
from kleene.machines.rnn.plain_execution import PlainReadout, PlainStepper
from kleene.machines.rnn.reading import StateReading
from kleene.machines.rnn.sparse_execution import SparseReadout, SparseStepper, TooLargeError
from kleene.notation.words import Word
from kleene.traces import Channel, TraceBatch

if TYPE_CHECKING:
    from kleene.machines.rnn.simple_rnn import SimpleRNN


def run_batch(network: "SimpleRNN", words: Iterable[Word]) -> TraceBatch:
    """The traces of many words: `state` where the network has a reading, else the `hidden` vectors as floats."""
    tokens, lengths = codes(network, words)
    channels = _channels(network)
    shape = (len(lengths), tokens.shape[1] + 1)
    data = {c.name: np.full((*shape, *c.entry_shape), c.empty, dtype=c.dtype) for c in channels}
    read = np.arange(tokens.shape[1]) < lengths[:, None]
    data["symbol"][:, 1:] = np.where(read, tokens, -1)
    _fill(network, tokens, lengths, data)
    halted = np.ones(len(lengths), dtype=bool)
    return TraceBatch(channels, data, lengths, lengths, halted, "accepting", "network", axes=("step",))


def _channels(network: "SimpleRNN") -> tuple[Channel, ...]:
    symbol = Channel("symbol", "category", len(network.alphabet), labels=network.alphabet, per_step=True)
    if network.reading is None:
        state = Channel("hidden", "vector", network.hidden_units)
    else:
        state = Channel("state", "category", len(network.reading.states), labels=network.reading.states)
    return symbol, state, Channel("accepting", "category", 2)


def _fill(network: "SimpleRNN", tokens: np.ndarray, lengths: np.ndarray, data: dict[str, np.ndarray]) -> None:
    if not network.is_exact:
        _fill_floating(network, tokens, lengths, data)
        return
    if network.reading is not None and in_one_go(network, len(lengths)):
        try:
            _fill_sparsely(network, network.reading, tokens, lengths, data)
            return
        except TooLargeError:
            pass  # numbers past int64: all words again, in Python's integers
    _fill_plainly(network, tokens, lengths, data)


def _fill_sparsely(
    network: "SimpleRNN", reading: StateReading, tokens: np.ndarray, lengths: np.ndarray, data: dict[str, np.ndarray]
) -> None:
    readout, count = SparseReadout(network), len(lengths)
    for step, (words, live) in enumerate(SparseStepper(network).run(tokens, lengths)):
        data["state"][words, step] = reading.states_of(live.words, live.units, live.values, count)[words]
        data["accepting"][words, step] = readout.accepts(live, count)[words]


def _fill_plainly(network: "SimpleRNN", tokens: np.ndarray, lengths: np.ndarray, data: dict[str, np.ndarray]) -> None:
    stepper, readout = PlainStepper(network), PlainReadout(network)
    for row, length in enumerate(lengths.tolist()):
        for step, state in enumerate(stepper.states(tokens[row, :length].tolist())):
            data["accepting"][row, step] = readout.accepts(state)
            values = {unit: state.value(unit) for unit in state.live}
            if network.reading is not None:
                data["state"][row, step] = network.reading.state(values)
            else:
                data["hidden"][row, step] = 0
                data["hidden"][row, step, list(values)] = _floats(values.values(), step)


def _floats(values: Iterable[int | Fraction], step: int) -> list[float]:
    try:
        return [float(value) for value in values]
    except OverflowError:
        raise RunError(
            f"at step {step} a hidden unit is too large for a float, which is what traces hold; `hidden(word)` and "
            f"`outputs(word)` have the exact numbers"
        ) from None


def _fill_floating(network: "SimpleRNN", tokens: np.ndarray, lengths: np.ndarray, data: dict[str, np.ndarray]) -> None:
    hidden = float_execution.hidden(network, tokens)
    outputs = hidden @ np.asarray(network.readout).T + np.asarray(network.readout_bias)
    reached = np.arange(hidden.shape[1]) <= lengths[:, None]
    data["accepting"][reached] = outputs[reached][:, 0] > float(network.threshold)
    if network.reading is None:
        data["hidden"][reached] = hidden[reached]
    else:
        rows, units = np.nonzero(hidden[reached])
        values = hidden[reached][rows, units]
        data["state"][reached] = network.reading.states_of(rows, units, values, int(reached.sum()))
