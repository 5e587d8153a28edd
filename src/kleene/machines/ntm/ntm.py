"""The Neural Turing Machine: a feed-forward controller, a tape of vectors, a head that reads and one that writes.

Graves's addressing with the controller of the partial-traces paper (Appendices A and C): tanh in the controller, in the
erase and the add vectors, softmax at the output. The order within a step: q_t = f(x_t, m_{t-1}), y_t = softmax(W q_t);
the heads move; m_t = r_t M_{t-1}; the write. So a read affects the output one step later.

Every array may have a batch as its last axis: `control` and `process` do the same for one run and for many.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int, PRNGKeyArray

from kleene.errors import InputError
from kleene.machines.ncm import Start, run
from kleene.machines.ntm import fused
from kleene.machines.ntm.addressing import EMPTY, PER_HEAD, Command, Tape, TapeMemory, lengths, stepped
from kleene.machines.ntm.building import usable_kernel
from kleene.machines.protocol import Shown, Size
from kleene.machines.weights import Format, arrays_of
from kleene.notation.console import Telling
from kleene.traces import Channel, Trace

AT_ONCE = 1 << 26  # numbers that the runs of one call may record


class Recorded(NamedTuple):
    """The part of a trace that losses need; every array begins with the step."""

    output: Float[Array, "step outputs ..."]  # logits
    log_heads: Float[Array, "step 2 cells ..."]
    written: Float[Array, "step width ..."] | None  # the cell asked for, after the write


class NTM(Shown, eqx.Module):
    """A ∂NCM whose entries are symbols projected by `project`. Its weights do not depend on the number of cells.

    >>> machine = NTM.random(3, width=4, hidden=(6, 5), key=jax.random.key(0))
    >>> machine.record(jnp.array([0, 1, 2]), cells=8).log_heads.shape
    (3, 2, 8)
    """

    input_weights: Float[Array, "first symbols"]
    read_weights: Float[Array, "first width"]
    first_bias: Float[Array, " first"]
    second: Float[Array, "hidden first"]
    second_bias: Float[Array, " hidden"]
    command_weights: Float[Array, "commands hidden"]
    command_bias: Float[Array, " commands"]
    output_weights: Float[Array, "outputs hidden"]
    output_bias: Float[Array, " outputs"]
    first_read: Float[Array, " width"]  # the feedback of the first step, before anything is read

    @classmethod
    def random(
        cls, symbols: int, *, outputs: int | None = None, width: int, hidden: tuple[int, int], key: PRNGKeyArray
    ) -> "NTM":
        """A machine to be trained: Glorot's uniform weights, biases 0, and a first read from U(-1/2, 1/2)."""
        first, second = hidden
        outputs = symbols if outputs is None else outputs
        if min(symbols, outputs, width, first, second) < 1:
            raise InputError(
                f"an NTM needs a symbol, an output, a number in each cell and a unit in both layers at least; it was "
                f"given symbols={symbols}, outputs={outputs}, width={width}, hidden={hidden}"
            )
        shapes = [(first, symbols + width), (second, first), (commands_of(width), second), (outputs, second)]
        keys = jax.random.split(key, 5)
        entry, middle, commands, output = (_glorot(k, s) for k, s in zip(keys, shapes))
        biases = [jnp.zeros(size) for size in (first, second, commands_of(width), outputs)]
        return cls(
            entry[:, :symbols], entry[:, symbols:], biases[0],
            middle, biases[1], commands, biases[2], output, biases[3],
            jax.random.uniform(keys[4], (width,), minval=-0.5, maxval=0.5),
        )  # fmt: skip

    @property
    def symbols(self) -> int:
        """The number of symbols that it reads."""
        return self.input_weights.shape[-1]

    @property
    def width(self) -> int:
        return self.read_weights.shape[1]

    def start(self, cells: int, *batch: int) -> Start:
        """Both heads on cell 0 of an empty tape, nothing read."""
        heads = jnp.zeros((2, cells, *batch)).at[:, 0].set(1.0)
        memory = TapeMemory(heads, jnp.log(heads), jnp.full((self.width, cells, *batch), EMPTY))
        return Start(jnp.broadcast_to(_column(self.first_read, len(batch)), (self.width, *batch)), (), memory)

    def project(self, symbols: Float[Array, "step symbols ..."]) -> Float[Array, "step first ..."]:
        """The symbols' part of the first layer, for all steps at once because it does not depend on the run."""
        return jnp.einsum("fs,ts...->tf...", self.input_weights, symbols) + _column(self.first_bias, symbols.ndim - 2)

    def control(
        self, feedback: Float[Array, "width ..."], state: tuple, entry: Float[Array, "first ..."]
    ) -> tuple[Command, tuple, Float[Array, "outputs ..."]]:
        """The command, no state, and the logits of the output."""
        hidden = self.controller(feedback, entry)
        return self.command(hidden), (), self.output_weights @ hidden + _column(self.output_bias, entry.ndim - 1)

    def controller(
        self, feedback: Float[Array, "width ..."], entry: Float[Array, "first ..."]
    ) -> Float[Array, "hidden ..."]:
        """The controller's last layer q."""
        hidden = jnp.tanh(entry + self.read_weights @ feedback)
        return jnp.tanh(self.second @ hidden + _column(self.second_bias, entry.ndim - 1))

    def command(self, hidden: Float[Array, "hidden ..."]) -> Command:
        """The command to the processor, from the controller's last layer."""
        width = self.width
        command = self.command_weights @ hidden + _column(self.command_bias, hidden.ndim - 1)
        keys = command[: 2 * width].reshape(2, width, *command.shape[1:])
        per_head = command[2 * width : -2 * width].reshape(2, PER_HEAD, *command.shape[1:])
        strength = jax.nn.softplus(per_head[:, :1]) / lengths(jnp.sum(keys * keys, axis=1, keepdims=True))
        return Command(
            keys=keys * strength,
            gates=jax.nn.sigmoid(per_head[:, 1:2]),
            shifts=jax.nn.softmax(per_head[:, 3:], axis=1)[:, :, None],
            sharpening=1 + jax.nn.softplus(per_head[:, 2:3]),
            erase=jnp.tanh(command[-2 * width : -width]),
            add=jnp.tanh(command[-width:]),
        )

    def process(self, command: Command, memory: TapeMemory) -> tuple[Float[Array, "width ..."], TapeMemory]:
        """The vector read, and the memory after the step."""
        return stepped(command, memory)

    def record(
        self,
        symbols: Int[Array, "step ..."],
        *,
        cells: int,
        asked: Int[Array, "step ..."] | None = None,
        unroll: int = 1,
    ) -> Recorded:
        """The part of a run that losses need. The tape of every step is left out, because it would dominate training.

        `asked` is a cell for every step; its content after that step's write is recorded too. A symbol that does not
        exist gives the first layer its bias alone.

        On an NVIDIA GPU single-precision runs with one batch axis go through one kernel (`fused`), where there is a
        compiler for it, and `unroll` has no effect. The kernel has first derivatives only; `KLEENE_KERNEL=off`, which
        is read when jax traces, gives the others.
        """
        kernel = usable_kernel(self, cells, len(symbols)) if symbols.ndim == 2 and _are_single(self) else None
        if kernel is not None:
            found = fused.record(kernel, self, symbols, asked)
            return Recorded(found.output, found.log_heads, None if asked is None else found.written)

        def step(before: Start, now) -> tuple[Start, tuple[Array, Array, Array | None]]:
            entry, cell = now
            hidden = self.controller(before.feedback, entry)
            read, memory = self.process(self.command(hidden), before.memory)
            written = None if cell is None else _cell(memory.tape, cell)
            return Start(read, (), memory), (hidden, memory.log_heads, written)

        start = self.start(cells, *symbols.shape[1:])
        entries = self.project(jax.nn.one_hot(symbols, self.symbols, axis=1))
        hidden, log_heads, written = jax.lax.scan(step, start, (entries, asked), unroll=unroll)[1]
        # The logits of all steps at once.
        output = jnp.einsum("oh,th...->to...", self.output_weights, hidden) + _column(
            self.output_bias, symbols.ndim - 1
        )
        return Recorded(output, log_heads, written)

    def run(self, symbols: Sequence[int], cells: int | None = None) -> Trace:
        """The run on these symbols, with channels `input`, `read`, `write`, `output` and `tape`.

        `read` and `write` are distributions over cells, `output` is one over symbols, and the positions of `tape` are
        its cells. By default there are enough cells that no head wraps around.

        >>> machine = NTM.random(3, width=4, hidden=(6, 5), key=jax.random.key(0))
        >>> machine.run([0, 1, 2, 2], cells=7)["tape"].shape
        (5, 7, 4)
        """
        return self.run_batch([symbols], cells)[0]

    def run_batch(
        self, inputs: Sequence[Sequence[int]], cells: int | None = None, *, at_once: int = AT_ONCE
    ) -> list[Trace]:
        """The runs on many inputs of unequal length, as a list because by default each has its own number of cells.

        One jitted program runs as many at once as record `at_once` numbers.
        """
        for symbols in inputs:
            self._check_symbols(symbols)
        if cells is not None and cells < 1:
            raise InputError(f"an NTM on {cells} cells has no cell for its heads; give 1 or more")
        sizes = [2 * len(symbols) + 1 if cells is None else cells for symbols in inputs]
        if not sizes:
            return []
        steps, most = max(map(len, inputs)), max(sizes)
        rows = min(len(inputs), max(1, at_once // ((steps + 1) * most * (self.width + 2))))
        found = []
        for first in range(0, len(inputs), rows):
            part, own = inputs[first : first + rows], sizes[first : first + rows]
            found += _recorded(self, part, own, (rows, steps, most))
        return found

    def _check_symbols(self, symbols: Sequence[int]) -> None:
        known = self.input_weights.shape[1]
        for step, symbol in enumerate(symbols):
            if symbol not in range(known):
                raise InputError(f"step {step} brings symbol {symbol!r}, and the machine reads 0 to {known - 1}")

    @property
    def size(self) -> Size:
        """The size; `hidden_units` are those of the controller's two layers."""
        nonzero = sum(int(np.count_nonzero(array)) for array in arrays_of(self).values())
        return Size(len(self.first_bias) + len(self.second_bias), self.parameter_count(), nonzero)

    def facts(self) -> dict[str, str]:
        symbols, outputs = self.input_weights.shape[-1], self.output_bias.shape[-1]
        return {"reads": f"{symbols} symbols", "answers": f"one of {outputs} at each step",
                "has": f"a tape of vectors of {self.read_weights.shape[-1]}"}  # fmt: skip

    def save(self, path: Any) -> Path:
        """Save the machine and return the path. Decoders for hints are part of teaching, and are not kept."""
        return FORMAT.save(self, path)

    @classmethod
    def load(cls, path: Any) -> "NTM":
        """The machine in a file that `save` wrote. Opening a file never runs code."""
        return FORMAT.load(cls, path)


# The names of arrays in older files.
RENAMED = {
    "heard": "input_weights",
    "read": "read_weights",
    "commands": "command_weights",
    "commands_bias": "command_bias",
    "said": "output_weights",
    "said_bias": "output_bias",
    "unread": "first_read",
}
FORMAT = Format(
    "ntm",
    "NTM",
    relations={"commands": f"4*width + {2 * PER_HEAD}"},
    sizes=("symbols", "outputs", "width", "first", "hidden"),
    renamed=RENAMED,
)


def _recorded(
    machine: NTM, inputs: Sequence[Sequence[int]], sizes: Sequence[int], shape: tuple[int, int, int]
) -> list[Trace]:
    """The traces of runs that are padded to this number of runs, steps and cells."""
    rows, steps, most = shape
    symbols, cells = np.zeros((rows, steps), dtype=np.int32), np.ones(rows, dtype=np.int32)
    cells[: len(sizes)] = sizes
    for row, word in enumerate(inputs):
        symbols[row, : len(word)] = word
    heads, tapes, logits = map(np.asarray, _padded_runs(machine, jnp.array(symbols), jnp.array(cells), most))
    return [
        _trace(machine, word, heads[row, ..., :size], tapes[row, ..., :size], logits[row])
        for row, (word, size) in enumerate(zip(inputs, sizes))
    ]


@eqx.filter_jit
def _padded_runs(
    machine: NTM, symbols: Int[Array, "batch step"], cells: Int[Array, " batch"], most: int
) -> tuple[
    Float[Array, "batch moment 2 most"], Float[Array, "batch moment width most"], Float[Array, "batch step outputs"]
]:
    """The heads and the tape at the start and after each step, and the logits of the outputs."""

    def one(symbols: Int[Array, " step"], size: Int[Array, ""]) -> tuple[Array, Array, Array]:
        start = machine.start(most)
        begun = start._replace(memory=start.memory._replace(size=size))
        found = run(machine, begun, machine.project(jax.nn.one_hot(symbols, machine.input_weights.shape[1])))
        memory = jax.tree.map(lambda old, new: jnp.concatenate([old[None], new]), begun.memory, found["memory"])
        return memory.heads, memory.tape, found["output"]

    return jax.vmap(one)(symbols, cells)


def _trace(machine: NTM, symbols: Sequence[int], heads: np.ndarray, tape: np.ndarray, logits: np.ndarray) -> Trace:
    moments, cells, outputs = len(symbols) + 1, heads.shape[-1], len(machine.output_bias)
    channels = (
        Channel("input", "category", machine.input_weights.shape[1], per_step=True),
        Channel("read", "distribution", cells),
        Channel("write", "distribution", cells),
        Channel("output", "distribution", outputs, per_step=True),
        Channel("tape", "vector", machine.width),
    )
    heads, tape = heads[:moments].astype(np.float64), tape[:moments].astype(np.float64)
    answers = np.asarray(jax.nn.softmax(logits[: len(symbols)], axis=1), dtype=np.float64)
    data = {
        "input": np.array([-1, *symbols], dtype=np.int32),
        "read": heads[:, 0],
        "write": heads[:, 1],
        "output": np.concatenate([np.full((1, outputs), np.nan), answers]),
        "tape": tape.transpose(0, 2, 1),
    }
    return Trace(channels, data, "output", source="network")


class TapeDecoder(eqx.Module):
    """The logits of the symbol in a cell: φ of equation 10 of the partial-traces paper, used in training only.

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


def read_symbols(words: Sequence[str], machine: Any) -> list[int]:
    """The symbols that a person typed for a machine that reads numbers of symbols."""
    typed = " ".join(words).replace(",", " ").split()
    if not typed or not all(word.isdecimal() for word in typed):
        known = machine.symbols - 1
        raise InputError(f"the input is {' '.join(words)!r}; give numbers of symbols from 0 to {known}, such as 0 1 1")
    return [int(word) for word in typed]


def tell_symbols(outcome: Any) -> Telling:
    """The likeliest output symbol of each step."""
    trace = outcome.trace
    output = np.argmax(trace["output"][1:], axis=-1).tolist()
    facts = {"output": output, "steps": trace.steps}
    return Telling(facts, " ".join(map(str, output)), f"took {trace.steps} steps")


def commands_of(width: int) -> int:
    """The number of entries of a command for a tape of that width.

    >>> commands_of(8)
    44
    """
    return 2 * (width + PER_HEAD) + 2 * width


def _column(bias: Array, batch: int) -> Array:
    return bias.reshape(-1, *[1] * batch)


def _are_single(machine: NTM) -> bool:
    return all(array.dtype == jnp.float32 for array in jax.tree.leaves(machine))


def _cell(tape: Tape, cell: Int[Array, "..."]) -> Float[Array, "width ..."]:
    """One cell of the tape, as a sum because gradients of indexing are slow."""
    return jnp.sum(jax.nn.one_hot(cell, tape.shape[1], axis=0) * tape, axis=1)


def _glorot(key: PRNGKeyArray, shape: tuple[int, int]) -> Array:
    bound = (6 / sum(shape)) ** 0.5
    return jax.random.uniform(key, shape, minval=-bound, maxval=bound)
