"""Differentiable neural computational machines (∂NCMs): a controller and a processor that take turns, and their trace.

At each step the controller turns (feedback, state, input) into (command, state, output), and the processor
(command, memory) into (feedback, memory). An object with these two functions runs, records its trace, and can be taught
with hints on any part of it; nothing else has to know about it.

`Recurrent` and `RepeatedLayer` turn networks into ∂NCMs without a processor: a step of a recurrent network reads one
symbol, a step of the Universal Transformer is one pass through its layer, and its state is the residual stream.
"""

import os
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, NamedTuple, Protocol, runtime_checkable

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, PyTree

from kleene.caching import keep_compiled_programs_unless_jax_came_first
from kleene.errors import InputError
from kleene.machines.lstm.lstm import LSTM
from kleene.machines.rnn.simple_rnn import SimpleRNN
from kleene.machines.transformer.layer import Runnable, advance, prepare
from kleene.machines.transformer.parameters import register_all
from kleene.machines.transformer.universal_transformer import UniversalTransformer

keep_compiled_programs_unless_jax_came_first()

register_all()

Records = dict[str, PyTree]  # what a run records, by name; every array has the step as its first axis


class Start(NamedTuple):
    """The feedback, state and memory before the first step."""

    feedback: PyTree
    state: PyTree
    memory: PyTree


@runtime_checkable
class DifferentiableMachine(Protocol):
    """A ∂NCM. Both functions take one run, unbatched; batch with `jax.vmap`."""

    def control(self, feedback: PyTree, state: PyTree, entry: PyTree) -> tuple[PyTree, PyTree, PyTree]:
        """The controller κ: (command, state, output)."""
        ...

    def process(self, command: PyTree, memory: PyTree) -> tuple[PyTree, PyTree]:
        """The processor π: (feedback, memory)."""
        ...


def run(machine: DifferentiableMachine, start: Start, entries: PyTree, *, unroll: int = 1) -> Records:
    """The trace of one run: `command`, `feedback`, `state`, `output` and `memory` after each step.

    `entries` has the step as the first axis of each of its arrays.
    """

    def step(before: Start, entry: PyTree) -> tuple[Start, Records]:
        command, state, output = machine.control(before.feedback, before.state, entry)
        feedback, memory = machine.process(command, before.memory)
        recorded: dict[str, Any] = {"command": command, "feedback": feedback, "state": state}
        return Start(feedback, state, memory), recorded | {"output": output, "memory": memory}

    try:
        return jax.lax.scan(step, start, entries, unroll=unroll)[1]
    except TypeError as error:
        if "carry" not in str(error):
            raise
        raise InputError(
            "the feedback, state and memory after a step must have the structure, shapes and number types of those "
            f"before it, which start() gives first: {error}"
        ) from error


def compiler_options() -> dict[str, Any]:
    """Options that compile faster, for programs that run for seconds and not hours.

    On a CPU they choose LLVM's first level: the code runs as fast and compiles in a fifth of the time, because at the
    third level each call of `jax.random` takes three seconds. A level set in XLA_FLAGS is kept.
    """
    if jax.default_backend() != "cpu" or "xla_backend_optimization_level" in os.environ.get("XLA_FLAGS", ""):
        return {}
    return {"xla_backend_optimization_level": 1}


class Recurrent(eqx.Module):
    """A `SimpleRNN` or an `LSTM` as a `DifferentiableMachine`: its entries are indices of symbols in its alphabet.

    >>> machine = Recurrent(SimpleRNN.random("ab", 3, key=jax.random.key(0)))
    >>> run(machine, machine.start(), jnp.array([0, 1, 1]))["output"].shape
    (3, 1)
    """

    network: SimpleRNN | LSTM

    def __check_init__(self) -> None:
        if isinstance(self.network, SimpleRNN) and self.network.unrounded and self.network.longest_exact() is not None:
            raise InputError(
                "this network refuses words for which it would round, and the steps of a ∂NCM have no such bound; "
                "accept rounding with to_float(..., round=True)"
            )

    def start(self) -> Start:
        return Start((), self.network.start, ())

    def control(self, feedback: PyTree, state: PyTree, entry: Any) -> tuple[PyTree, PyTree, Any]:
        """No command, the next state, and the outputs in it."""
        state = self.network.advance(state, entry)
        return (), state, self.network.read_out(state)

    def process(self, command: PyTree, memory: PyTree) -> tuple[PyTree, PyTree]:
        return (), memory

    def hidden(self, state: PyTree) -> Any:
        """The vector from which the outputs are computed."""
        return self.network.top(state)


class RepeatedLayer(eqx.Module):
    """A `UniversalTransformer` as a `DifferentiableMachine` without a processor. Its entries only count the layers.

    Attention is softmax, so that gradients reach all weights. Each position has one output: the dimensions that hold
    the network's output. The machine neither halts nor reports undefined attention: `UniversalTransformer.run` does.

    >>> import kleene
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
        """The network as a machine."""
        if jnp.asarray(network.tokens).dtype != network.tokens.dtype:
            raise InputError(
                f"{network.layout.name} has {network.dtype} weights, which jax would round; compile it to float32"
            )
        layer = prepare(replace(network, probe=None), "softmax")  # a probe only finds errors, and none are raised here
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
