"""Recurrent networks as machines that have a controller and nothing to command: ∂NCMs without a processor."""

from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import PyTree

from kleene.machines.lstm.lstm import LSTM
from kleene.machines.ncm import Start
from kleene.machines.rnn.simple_rnn import SimpleRNN


class Recurrent(eqx.Module):
    """A `SimpleRNN` or an `LSTM` as a `Machine`: its entries are the places of symbols in its alphabet.

    >>> from kleene.machines.ncm import run
    >>> machine = Recurrent(SimpleRNN.random("ab", 3, key=jax.random.key(0)))
    >>> run(machine, machine.start(), jnp.array([0, 1, 1]))["output"].shape
    (3, 1)
    """

    network: SimpleRNN | LSTM

    def start(self) -> Start:
        return Start((), self.network.start, ())

    def control(self, feedback: PyTree, state: PyTree, entry: Any) -> tuple[PyTree, PyTree, Any]:
        if isinstance(self.network, LSTM):
            state = self.network(state, entry)
        else:
            symbols = self.network.inputs.shape[1]
            state = self.network(state, jax.nn.one_hot(entry, symbols, dtype=state.dtype))
        return (), state, self.say(state)

    def process(self, command: PyTree, memory: PyTree) -> tuple[PyTree, PyTree]:
        return (), memory

    def say(self, state: PyTree) -> Any:
        """The outputs in a state."""
        if isinstance(self.network, LSTM):
            return self.network.read_out(state)
        return self.network.readout @ state + jnp.asarray(self.network.readout_bias)

    def hidden(self, state: PyTree) -> Any:
        """The vector that the outputs are read from."""
        return state.hidden[..., -1, :] if isinstance(self.network, LSTM) else state
