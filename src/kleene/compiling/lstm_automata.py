"""A finite automaton as an LSTM, exactly: the simple RNN of Theorem 4.4 with its units behind saturated gates.

In single precision σ(±200) is 1 and 0, and tanh(20) is 1, without any rounding; σ(−50) would not be 0. So a unit of
the RNN, which is 1 or 0, becomes a unit of the LSTM, which is tanh(1) or 0. Its input gate asks whether the RNN's unit
is 1, its candidate is 1, its forget gate is closed and its output gate is open.
"""

import jax.numpy as jnp
import numpy as np

from kleene.machines.lstm.lstm import LSTM, Layer, Memory
from kleene.machines.lstm.reading import LIVE
from kleene.machines.rnn.simple_rnn import SimpleRNN

GATE, CANDIDATE = 200, 20  # the inputs of a gate that is open, and of a candidate that is 1


def as_lstm(network: SimpleRNN) -> LSTM:
    """The LSTM whose unit is tanh(1) when the RNN's is 1, and 0 when it is 0: c' = σ(400 (V h + W x + b − ½)).

    The RNN has ReLU units and is compiled from an automaton: V h + W x + b is an integer, at most 1.

    >>> from kleene.compiling.automata import compile_dfa
    >>> from kleene.programs.automata import DFA
    >>> parity = DFA.from_regex("0*1(0|10*1)*")
    >>> network = as_lstm(compile_dfa(parity))
    >>> network.run("110") == parity.run("110"), network.outputs("10").round(4).tolist()
    (True, [[0.0], [1.0], [1.0]])
    """
    weights = network.to_float(np.float64).weights()
    units, symbols = weights["inputs"].shape
    closed, ones = np.zeros((3 * units, units)), np.ones(units)
    steep = 2 * GATE
    layer = Layer(
        inputs=_floats(np.concatenate([steep * weights["inputs"], np.zeros((3 * units, symbols))])),
        recurrent=_floats(np.concatenate([steep / LIVE * weights["recurrent"], closed])),
        bias=_floats(np.concatenate([steep * (weights["bias"] - 0.5), -GATE * ones, CANDIDATE * ones, GATE * ones])),
    )
    start = weights["start"][None]
    return LSTM(
        embedding=_floats(np.eye(symbols)),
        layers=(layer,),
        start=Memory(_floats(LIVE * start), _floats(start)),
        decoder=_floats(weights["readout"] / LIVE),
        decoder_bias=_floats(weights["readout_bias"]),
        vocabulary=network.alphabet,
        threshold=float(network.threshold),
        reading=network.reading,
    )


def _floats(array: np.ndarray) -> jnp.ndarray:
    return jnp.asarray(array, jnp.float32)
