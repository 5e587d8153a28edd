"""Networks as ∂NCMs that have a controller and no processor, so that they can be taught like any other.

A step of a recurrent network reads one symbol. A step of the Universal Transformer is one pass through its layer, and
its state is the residual stream.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, PyTree

from kleene.errors import InputError
from kleene.machines.lstm.lstm import LSTM
from kleene.machines.ncm import Start
from kleene.machines.pytree import register_all
from kleene.machines.rnn.simple_rnn import SimpleRNN
from kleene.machines.transformer.execution import Runnable, advance, prepare
from kleene.machines.transformer.universal_transformer import UniversalTransformer

register_all()


class Recurrent(eqx.Module):
    """A `SimpleRNN` or an `LSTM` as an `NCM`: its entries are the places of symbols in its alphabet.

    >>> from kleene.machines.ncm import run
    >>> machine = Recurrent(SimpleRNN.random("ab", 3, key=jax.random.key(0)))
    >>> run(machine, machine.start(), jnp.array([0, 1, 1]))["output"].shape
    (3, 1)
    """

    network: SimpleRNN | LSTM

    def start(self) -> Start:
        return Start((), self.network.start, ())

    def control(self, feedback: PyTree, state: PyTree, entry: Any) -> tuple[PyTree, PyTree, Any]:
        """No command, the next state, and the outputs in it."""
        state = self.network.advance(state, entry)
        return (), state, self.network.read_out(state)

    def process(self, command: PyTree, memory: PyTree) -> tuple[PyTree, PyTree]:
        return (), memory

    def say(self, state: PyTree) -> Any:
        """The outputs in a state."""
        return self.network.read_out(state)

    def hidden(self, state: PyTree) -> Any:
        """The vector that the outputs are read from."""
        return self.network.top(state)


class RepeatedLayer(eqx.Module):
    """A `UniversalTransformer` as an `NCM` without a processor; its entries say nothing but how many layers to run.

    Attention is softmax, so that gradients reach all of its weights. It has one output a position: the dimensions that
    hold the network's output. It neither halts nor says where attention is undefined: `UniversalTransformer.run` does.

    >>> import kleene
    >>> from kleene.machines.ncm import run
    >>> from kleene.programs.alta.library import parity
    >>> machine = RepeatedLayer.of(kleene.compile(parity.absolute(positions=8)))
    >>> trace = run(machine, machine.start([1, 0, 1]), jnp.arange(3))
    >>> jnp.argmax(trace["output"][-1], axis=-1).tolist()  # the parity so far, at each of the three positions
    [1, 1, 0]
    """

    tokens: Float[Array, "symbols width"]
    positions: Float[Array, "positions width"] | None
    layer: Runnable

    @classmethod
    def of(cls, network: UniversalTransformer) -> "RepeatedLayer":
        """The machine that does what the network does."""
        if jnp.asarray(network.tokens).dtype != network.tokens.dtype:
            raise InputError(
                f"{network.layout.name} has {network.dtype} weights, which jax would round; compile it to float32"
            )
        layer = prepare(replace(network, probe=None), "softmax")  # a probe is for errors, and none are raised here
        positions = None if network.positions is None else jnp.asarray(network.positions)
        return cls(jnp.asarray(network.tokens), positions, jax.tree.map(jnp.asarray, layer))

    def start(self, sequence: Sequence[Any]) -> Start:
        """The residual stream before the first layer: [position, width]."""
        layout = self.layer.layout
        tokens = layout.check_input(sequence)
        state = self.tokens[jnp.asarray(tokens)]
        return Start((), state if self.positions is None else state + self.positions[: len(tokens)], ())

    def control(
        self, feedback: PyTree, state: Float[Array, "position width"], entry: Any
    ) -> tuple[PyTree, Float[Array, "position width"], Float[Array, "position values"]]:
        """No command, the residual stream after the layer, and the part of it that is the output."""
        after = advance(jnp, self.layer, state[None], jnp.array([len(state)])).state[0]
        output = self.layer.layout.segment(self.layer.layout.output_name)
        return (), after, after[:, output.start : output.stop]

    def process(self, command: PyTree, memory: PyTree) -> tuple[PyTree, PyTree]:
        return (), memory
