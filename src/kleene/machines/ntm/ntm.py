"""The Neural Turing Machine: a feed-forward controller, a tape of vectors, a head that reads and one that writes.

Graves's addressing with the controller of the partial-traces paper (Appendices A and C): tanh in the controller, in the
erase and the add vectors, softmax at the output. The order within a step: q_t = f(x_t, m_{t-1}), y_t = softmax(W q_t);
the heads move; m_t = r_t M_{t-1}; the write. So what is read in one step is answered in the next.

Every array may have a batch as its last axis: `control` and `process` do the same for one run and for many.
"""

from pathlib import Path
from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Int, PRNGKeyArray

from kleene.errors import InputError
from kleene.machines.ncm import Start
from kleene.machines.ntm.addressing import Heads, Numbers, Tape, lengths, move_read_write

EMPTY = 1e-3  # what every number on a fresh tape is: a cell of zeros would have no direction to be found by
PER_HEAD = 6  # strength, gate, sharpening and three shifts; the key comes on top


class Command(NamedTuple):
    """What the controller tells the processor. The keys are as long as they are strong: β·k/|k|."""

    keys: Float[Array, "2 width ..."]
    gates: Numbers
    shifts: Float[Array, "2 3 1 ..."]
    sharpening: Numbers
    erase: Float[Array, "width ..."]
    add: Float[Array, "width ..."]


class Memory(NamedTuple):
    """Where the reading and the writing head are, the logarithms of that, and the tape."""

    heads: Heads
    log_heads: Heads
    tape: Tape


class Recorded(NamedTuple):
    """The part of a trace that losses need; every array begins with the step."""

    thoughts: Float[Array, "step hidden ..."]  # the controller's last layer
    log_heads: Float[Array, "step 2 cells ..."]
    written: Float[Array, "step width ..."] | None  # the cell asked for, after the write


class NTM(eqx.Module):
    """A ∂NCM whose entries are what `hear` makes of symbols. The number of cells is no property of its weights.

    >>> machine = NTM.random(3, width=4, hidden=(6, 5), key=jax.random.key(0))
    >>> heard = machine.hear(jax.nn.one_hot(jnp.array([0, 1, 2]), 3))
    >>> machine.record(heard, cells=8).log_heads.shape
    (3, 2, 8)
    """

    heard: Float[Array, "first symbols"]
    read: Float[Array, "first width"]
    first_bias: Float[Array, " first"]
    second: Float[Array, "hidden first"]
    second_bias: Float[Array, " hidden"]
    commands: Float[Array, "commands hidden"]
    commands_bias: Float[Array, " commands"]
    said: Float[Array, "outputs hidden"]
    said_bias: Float[Array, " outputs"]
    unread: Float[Array, " width"]  # what the controller hears of the tape before anything was read: it tells the start

    @classmethod
    def random(
        cls, symbols: int, *, outputs: int | None = None, width: int, hidden: tuple[int, int], key: PRNGKeyArray
    ) -> "NTM":
        """A machine to be trained: Glorot's uniform weights, biases 0, and a first reading from U(-1/2, 1/2)."""
        first, second = hidden
        outputs = symbols if outputs is None else outputs
        if min(symbols, outputs, width, first, second) < 1:
            raise InputError(
                f"an NTM needs a symbol, an output, a number in each cell and a unit in both layers at least; it was "
                f"given symbols={symbols}, outputs={outputs}, width={width}, hidden={hidden}"
            )
        shapes = [(first, symbols + width), (second, first), (commands_of(width), second), (outputs, second)]
        keys = jax.random.split(key, 5)
        entry, middle, commands, said = (_glorot(k, s) for k, s in zip(keys, shapes))
        biases = [jnp.zeros(size) for size in (first, second, commands_of(width), outputs)]
        return cls(
            entry[:, :symbols], entry[:, symbols:], biases[0],
            middle, biases[1], commands, biases[2], said, biases[3],
            jax.random.uniform(keys[4], (width,), minval=-0.5, maxval=0.5),
        )  # fmt: skip

    @property
    def width(self) -> int:
        return self.read.shape[1]

    def start(self, cells: int, *batch: int) -> Start:
        """Both heads on cell 0 of an empty tape, nothing read."""
        heads = jnp.zeros((2, cells, *batch)).at[:, 0].set(1.0)
        memory = Memory(heads, jnp.log(heads), jnp.full((self.width, cells, *batch), EMPTY))
        return Start(jnp.broadcast_to(_column(self.unread, len(batch)), (self.width, *batch)), (), memory)

    def hear(self, symbols: Float[Array, "step symbols ..."]) -> Float[Array, "step first ..."]:
        """What the first layer gets from the symbols of all steps: no part of the run, so it is done at once."""
        return jnp.einsum("fs,ts...->tf...", self.heard, symbols) + _column(self.first_bias, symbols.ndim - 2)

    def control(
        self, feedback: Float[Array, "width ..."], state: tuple, entry: Float[Array, "first ..."]
    ) -> tuple[Command, tuple, Float[Array, "outputs ..."]]:
        """The command, no state, and the logits of the answer."""
        thought = self.think(feedback, entry)
        return self.command(thought), (), self.said @ thought + _column(self.said_bias, entry.ndim - 1)

    def think(
        self, feedback: Float[Array, "width ..."], entry: Float[Array, "first ..."]
    ) -> Float[Array, "hidden ..."]:
        """The controller's last layer q."""
        hidden = jnp.tanh(entry + self.read @ feedback)
        return jnp.tanh(self.second @ hidden + _column(self.second_bias, entry.ndim - 1))

    def command(self, thought: Float[Array, "hidden ..."]) -> Command:
        """What the controller's last layer tells the processor."""
        width = self.width
        told = self.commands @ thought + _column(self.commands_bias, thought.ndim - 1)
        keys = told[: 2 * width].reshape(2, width, *told.shape[1:])
        ways = told[2 * width : -2 * width].reshape(2, PER_HEAD, *told.shape[1:])
        strength = jax.nn.softplus(ways[:, :1]) / lengths(jnp.sum(keys * keys, axis=1, keepdims=True))
        return Command(
            keys=keys * strength,
            gates=jax.nn.sigmoid(ways[:, 1:2]),
            shifts=jax.nn.softmax(ways[:, 3:], axis=1)[:, :, None],
            sharpening=1 + jax.nn.softplus(ways[:, 2:3]),
            erase=jnp.tanh(told[-2 * width : -width]),
            add=jnp.tanh(told[-width:]),
        )

    def process(self, command: Command, memory: Memory) -> tuple[Float[Array, "width ..."], Memory]:
        """What was read, and the memory after the step."""
        read, heads, log_heads, tape = move_read_write(*command, memory.heads, memory.tape)
        return read, Memory(heads, log_heads, tape)

    def answers(self, recorded: Recorded) -> Float[Array, "step outputs ..."]:
        """The logits of all steps at once."""
        said = jnp.einsum("oh,th...->to...", self.said, recorded.thoughts)
        return said + _column(self.said_bias, recorded.thoughts.ndim - 2)

    def record(
        self,
        heard: Float[Array, "step first ..."],
        *,
        cells: int,
        asked: Int[Array, "step ..."] | None = None,
        unroll: int = 1,
    ) -> Recorded:
        """What losses need of a run, and no more: a tape for every step would be most of what training moves.

        `asked` is a cell for every step; its content after that step's write is recorded too.
        """

        def step(before: Start, now) -> tuple[Start, Recorded]:
            entry, cell = now
            thought = self.think(before.feedback, entry)
            read, memory = self.process(self.command(thought), before.memory)
            written = None if cell is None else _cell(memory.tape, cell)
            return Start(read, (), memory), Recorded(thought, memory.log_heads, written)

        start = self.start(cells, *heard.shape[2:])
        return jax.lax.scan(step, start, (heard, asked), unroll=unroll)[1]

    def save(self, path: Any) -> Path:
        """The path of the safetensors file now holding the machine."""
        from kleene.machines.ntm.storage import save

        return save(self, path)

    @staticmethod
    def load(path: Any) -> "NTM":
        """The machine in a file that `save` wrote. Opening a file never runs code."""
        from kleene.machines.ntm.storage import load

        return load(path)


class TapeDecoder(eqx.Module):
    """φ of equation 10: which symbol a cell holds, learned along and used in training alone. Logits.

    Without a hidden layer it is the paper's affine decoder, with one its tanh-softmax network.
    """

    weights: Float[Array, "symbols hidden"]
    bias: Float[Array, " symbols"]
    hidden: Float[Array, "hidden width"] | None = None
    hidden_bias: Float[Array, " hidden"] | None = None

    @classmethod
    def random(cls, symbols: int, *, width: int, hidden: int | None = None, key: PRNGKeyArray) -> "TapeDecoder":
        first, second = jax.random.split(key)
        if hidden is None:
            return cls(_glorot(first, (symbols, width)), jnp.zeros(symbols))
        inner = _glorot(second, (hidden, width))
        return cls(_glorot(first, (symbols, hidden)), jnp.zeros(symbols), inner, jnp.zeros(hidden))

    def __call__(self, cells: Float[Array, "step width ..."]) -> Float[Array, "step symbols ..."]:
        batch = cells.ndim - 2
        if self.hidden is not None and self.hidden_bias is not None:
            cells = jnp.tanh(jnp.einsum("hw,tw...->th...", self.hidden, cells) + _column(self.hidden_bias, batch))
        return jnp.einsum("sw,tw...->ts...", self.weights, cells) + _column(self.bias, batch)


def commands_of(width: int) -> int:
    """How many numbers a controller must give for a tape of that width.

    >>> commands_of(8)
    44
    """
    return 2 * (width + PER_HEAD) + 2 * width


def _column(bias: Array, batch: int) -> Array:
    return bias.reshape(-1, *[1] * batch)


def _cell(tape: Tape, cell: Int[Array, "..."]) -> Float[Array, "width ..."]:
    """One cell of the tape, as a sum: gradients of indexing are slow."""
    return jnp.sum(jax.nn.one_hot(cell, tape.shape[1], axis=0) * tape, axis=1)


def _glorot(key: PRNGKeyArray, shape: tuple[int, int]) -> Array:
    bound = (6 / sum(shape)) ** 0.5
    return jax.random.uniform(key, shape, minval=-bound, maxval=bound)
