"""The neural random-access machine (Kurach et al. 2016; Appendix B of the partial-traces paper) as a ∂NCM.

At each step the controller reads the probability that each register is 0, and wires up a circuit of modules. The
processor runs the circuit on the registers and the memory, whose entries are distributions over the integers modulo M.

Arrays are padded to a fixed number of cells; the size M, at most that many, is a traced scalar. A distribution is 0
from M on, and so is every result, so one compilation serves memories of all sizes. No table of M³ entries is made, and
nothing is indexed by M: shifts are static, and masks find what wraps around. Products and sums are written out instead
of matrix products: for batches of arrays this small they are fused and twice as fast.
"""

import functools
import math
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Int, PRNGKeyArray

from kleene.errors import InputError
from kleene.machines.ncm import Start, compiler_options, run
from kleene.machines.protocol import Shown, Size, shown_names
from kleene.machines.weights import Axes, Format, arrays_of
from kleene.notation.edits import Edit, Edits
from kleene.notation.store_edits import StoreEdits
from kleene.notation.wiring import Steps, Wiring, check_run, check_steps, module_sequence
from kleene.traces import Trace

Distribution = Float[Array, " cells"]
Modulus = Int[Array, ""]
CONSTANTS = {"ZERO": 0, "ONE": 1, "TWO": 2}
NEVER = -1e9  # the log-probability of a source that a connection cannot have; finite, so that 0 times it is 0


def one_hot(value: Int[Array, ""] | int, cells: int) -> Distribution:
    """The distribution with all weight on one value."""
    return (jnp.arange(cells) == value).astype(jnp.float32)


def constant(value: int, cells: int, size: Modulus) -> Distribution:
    return one_hot(value % size, cells)


def increased(a: Distribution, size: Modulus) -> Distribution:
    """(a + 1) mod M."""
    at = jnp.arange(len(a))
    wrapped = jnp.sum(jnp.where(at == size - 1, a, 0.0))
    shifted = jnp.concatenate([jnp.zeros_like(a[:1]), a[:-1]])
    return jnp.where(at < size, shifted, 0.0) + jnp.where(at == 0, wrapped, 0.0)


def decreased(a: Distribution, size: Modulus) -> Distribution:
    """(a - 1) mod M."""
    shifted = jnp.concatenate([a[1:], jnp.zeros_like(a[:1])])
    return shifted + jnp.where(jnp.arange(len(a)) == size - 1, a[0], 0.0)


def sums(a: Distribution, b: Distribution) -> Float[Array, " sums"]:
    """P(a + b = k) for every k from 0 on, nothing wrapped: the plain convolution, of length 2 · cells - 1."""
    cells = len(a)
    # Padded rows, reshaped to rows one shorter: each is shifted right by one more, so that columns are sums.
    rows = jnp.pad(a[:, None] * b, ((0, 0), (0, cells))).reshape(-1)
    return jnp.sum(rows[: cells * (2 * cells - 1)].reshape(cells, 2 * cells - 1), axis=0)


def wrapped(weights: Float[Array, " sums"], zero: int, cells: int, size: Modulus) -> Distribution:
    """The weights added up modulo M, where index `zero` stands for 0."""
    value, at = jnp.arange(len(weights)) - zero, jnp.arange(cells)[:, None]
    lands = ((value == at) | (value == at + size) | (value == at - size)) & (at < size)
    return jnp.sum(jnp.where(lands, weights, 0.0), axis=-1)


def added(a: Distribution, b: Distribution, size: Modulus) -> Distribution:
    """(a + b) mod M."""
    return wrapped(sums(a, b), 0, len(a), size)


def subtracted(a: Distribution, b: Distribution, size: Modulus) -> Distribution:
    """(a - b) mod M: b is flipped, so that a difference of 0 has the index cells - 1."""
    return wrapped(sums(a, jnp.flip(b)), len(a) - 1, len(a), size)


def up_to(a: Distribution) -> Distribution:
    """P(a ≤ k) for every k."""
    at = jnp.arange(len(a))
    return jnp.sum(jnp.where(at <= at[:, None], a, 0.0), axis=-1)


def answer(probability: Float[Array, ""], cells: int) -> Distribution:
    """1 with this probability, else 0."""
    at = jnp.arange(cells)
    return jnp.where(at == 1, probability, 0.0) + jnp.where(at == 0, 1.0 - probability, 0.0)


def is_less(a: Distribution, b: Distribution, size: Modulus) -> Distribution:
    """Whether a < b."""
    return answer(jnp.sum(b * (up_to(a) - a)), len(a))


def is_at_most(a: Distribution, b: Distribution, size: Modulus) -> Distribution:
    """Whether a ≤ b."""
    return answer(jnp.sum(b * up_to(a)), len(a))


def is_equal(a: Distribution, b: Distribution, size: Modulus) -> Distribution:
    """Whether a = b."""
    return answer(jnp.sum(a * b), len(a))


def smaller(a: Distribution, b: Distribution, size: Modulus) -> Distribution:
    """min(a, b): one of them is k, and the other is k or more."""
    more_than_a, at_least_b = 1.0 - up_to(a), 1.0 - up_to(b) + b
    return a * at_least_b + b * more_than_a


def larger(a: Distribution, b: Distribution, size: Modulus) -> Distribution:
    """max(a, b): one of them is k, and the other is k or less."""
    return a * up_to(b) + b * (up_to(a) - a)


UNARY: dict[str, Callable[[Distribution, Modulus], Distribution]] = {"INC": increased, "DEC": decreased}
BINARY: dict[str, Callable[[Distribution, Distribution, Modulus], Distribution]] = {
    "ADD": added,
    "SUB": subtracted,
    "LT": is_less,
    "LEQ": is_at_most,
    "EQ": is_equal,
    "MIN": smaller,
    "MAX": larger,
}


class Store(eqx.Module):
    """The registers and the memory. `size` is M; cells and values from M on are padding."""

    registers: Float[Array, "registers cells"]
    cells: Float[Array, "cells cells"]
    size: Int[Array, ""]


class NRAM(Shown, eqx.Module):
    """A controller of two ReLU layers over P(register = 0), which wires a circuit. Batch with `jax.vmap`.

    Its command is the log-probability of every source for every connection of the wiring: the modules' arguments that
    are used, then the registers. Its output is the probability of stopping now.

    >>> machine = NRAM.random(2, "def+R", hidden=8, key=jax.random.key(0))
    >>> trace = run(machine, machine.start(jnp.array([2, 1, 0]), 3), jnp.arange(5))
    >>> trace["memory"].cells.shape, trace["output"].shape  # five steps of three cells
    ((5, 3, 3), (5,))
    """

    first: Float[Array, "hidden registers"]
    first_bias: Float[Array, " hidden"]
    second: Float[Array, "hidden hidden"]
    second_bias: Float[Array, " hidden"]
    circuit: Float[Array, "connections sources hidden"]
    circuit_bias: Float[Array, "connections sources"]
    stop: Float[Array, " hidden"]
    stop_bias: Float[Array, ""]
    wiring: Wiring = eqx.field(static=True)
    steps: Steps | None = eqx.field(static=True, default=None)  # for `run` without steps

    @classmethod
    def random(
        cls, registers: int, modules: str | Sequence[str] = "def", *, hidden: int = 32, key: PRNGKeyArray
    ) -> "NRAM":
        """A machine to be trained: weights U(-1/√n, 1/√n) for a layer of n inputs, as PyTorch's linear layers."""
        wiring = Wiring(registers, module_sequence(modules) if isinstance(modules, str) else tuple(modules))
        outputs = (len(wiring.connections), len(wiring.sources))
        keys = iter(jax.random.split(key, 8))

        def drawn(inputs: int, *shape: int) -> Array:
            # Drawn flat and then reshaped: XLA takes seconds to compile a draw of several axes.
            flat = jax.random.uniform(next(keys), (math.prod(shape),), minval=-(inputs**-0.5), maxval=inputs**-0.5)
            return flat.reshape(shape)

        return cls(
            first=drawn(registers, hidden, registers),
            first_bias=drawn(registers, hidden),
            second=drawn(hidden, hidden, hidden),
            second_bias=drawn(hidden, hidden),
            circuit=drawn(hidden, *outputs, hidden),
            circuit_bias=drawn(hidden, *outputs),
            stop=drawn(hidden, hidden),
            stop_bias=drawn(hidden),
            wiring=wiring,
        )

    def start(self, memory: Int[Array, " cells"], size: Int[Array, ""] | int) -> Start:
        """A memory of known values, the first `size` of them in use, and i in register i."""
        cells, size = memory.shape[0], jnp.asarray(size)
        registers = jax.vmap(lambda i: one_hot(i % size, cells))(jnp.arange(self.wiring.registers))
        values = jnp.where(jnp.arange(cells) < size, memory, 0)
        store = Store(registers, jax.vmap(lambda value: one_hot(value, cells))(values), size)
        return Start(feedback=registers[:, 0], state=(), memory=store)

    def control(
        self, feedback: Float[Array, " registers"], state: tuple, entry: Array
    ) -> tuple[Float[Array, "connections sources"], tuple, Float[Array, ""]]:
        """The wiring of this step, and the probability of stopping after it. The entry is ignored."""
        hidden = jax.nn.relu(self.first @ feedback + self.first_bias)
        hidden = jax.nn.relu(self.second @ hidden + self.second_bias)
        scores = self.circuit @ hidden + self.circuit_bias
        allowed = jnp.asarray(self.wiring.allowed)
        chances = jax.nn.log_softmax(jnp.where(allowed, scores, NEVER), axis=-1)
        return chances, state, jax.nn.sigmoid(self.stop @ hidden + self.stop_bias)

    def process(
        self, command: Float[Array, "connections sources"], memory: Store
    ) -> tuple[Float[Array, " registers"], Store]:
        """The feedback and the memory after one run of the circuit; registers change together at its end.

        The value of a connection is a mixture of sources. It is summed up as the sources become known, so that the
        gradient needs nothing but their values.
        """
        wiring, cells, size = self.wiring, memory.cells, memory.size
        columns = dict(zip(wiring.sources, jnp.split(jnp.exp(command), len(wiring.sources), axis=1)))
        known = _known(memory, wiring)
        mixed = jnp.sum(
            jnp.stack([columns.pop(name) for name in known]) * jnp.stack([*known.values()])[:, None], axis=0
        )
        for kind, name, places in zip(wiring.modules, wiring.names, wiring.places):
            arguments, mixed = mixed[: len(places)], mixed[len(places) :]  # the connections come in this order
            output = None
            if kind in UNARY:
                output = UNARY[kind](*arguments, size)
            elif kind in BINARY:
                output = BINARY[kind](*arguments, size)
            elif kind == "READ":
                output = jnp.sum(arguments[0][:, None] * cells, axis=0)
            elif kind == "WRITE":
                where, what = arguments
                cells = (1.0 - where)[:, None] * cells + where[:, None] * what
            if output is not None:
                mixed = mixed + columns[name][-len(mixed) :] * output
        return mixed[:, 0], Store(mixed, cells, size)

    def run(self, memory: Sequence[int], steps: int | None = None, *, edits: Sequence[Edit] = ()) -> Trace:
        """The most probable run of `steps` steps, with the channels of a circuit's run (`Circuit.run`).

        `edits` set registers and cells of the `memory` after a step, and the run goes on from there: see `kleene.Edit`.
        """
        return self.run_batch([memory], None if steps is None else [steps], edits=edits)[0]

    def run_batch(
        self, memories: Iterable[Sequence[int]], steps: Sequence[int] | None = None, *, edits: Edits = ()
    ) -> list[Trace]:
        """The runs on many memories at once, which may differ in size; compiled for the largest.

        The result is a list because the channels of a run have the size of its memory. `edits` are for every memory,
        or a list for each of them.
        """
        checked = [_checked(memory) for memory in memories]
        check_steps(steps, len(checked))
        taken = [self._steps_on(memory, steps, row) for row, memory in enumerate(checked)]
        if not checked:
            return []
        most = max(map(len, checked))
        check_run(taken, len(checked) * most * (most + self.wiring.registers))  # distributions over as many values
        padded = jnp.array([memory + [0] * (most - len(memory)) for memory in checked], jnp.int32)
        sizes, changes = [len(memory) for memory in checked], None
        if edits:
            changes = StoreEdits("the machine", edits, self.wiring, sizes, taken).dense(max(taken), most)
        found = _compiled_runs()(self, padded, jnp.array(sizes), changes, steps=max(taken))
        cells, registers, chosen = (np.asarray(part) for part in found)
        return [
            Trace(
                self.wiring.channels(len(memory)),
                self.wiring.entries(
                    cells[row, : last + 1, : len(memory)], registers[row, : last + 1], chosen[row, :last]
                ),
                "memory",
                source="network",
            )
            for row, (memory, last) in enumerate(zip(checked, taken))
        ]

    def _steps_on(self, memory: list[int], steps: Sequence[int] | None, row: int) -> int:
        if steps is None and self.steps is None:
            raise InputError("this machine does not say how many steps it runs; give steps=")
        return int(self.steps(memory) if steps is None and self.steps is not None else (steps or [])[row])

    @property
    def size(self) -> Size:
        """The size; `hidden_units` are those of the controller's two layers."""
        nonzero = sum(int(np.count_nonzero(array)) for array in arrays_of(self).values())
        return Size(len(self.first_bias) + len(self.second_bias), self.parameter_count(), nonzero)

    def facts(self) -> dict[str, str]:
        wiring = self.wiring
        registers = f"{wiring.registers} register{'s' * (wiring.registers != 1)}"
        return {"reads": "a memory of M numbers from 0 to M - 1", "answers": "the memory",
                "has": f"{registers}, {shown_names(wiring.modules, 'modules')}"}  # fmt: skip

    def save(self, path: Any) -> Path:
        """Save the machine and return the path. The number of steps, if known, is kept as a string."""
        steps = None if self.steps is None else str(self.steps)
        return FORMAT.save(self, path, {"modules": list(self.wiring.modules), "steps": steps})

    @classmethod
    def load(cls, path: Any) -> "NRAM":
        """The machine in a file that `save` wrote. Opening a file never runs code."""
        return FORMAT.load(cls, path)


def _statics(header: dict[str, Any], axes: Axes) -> dict[str, Any]:
    if not isinstance(header["modules"], list):
        raise ValueError("its modules are not a list of names")
    wiring = Wiring(axes["registers"], tuple(header["modules"]))
    found, expected = (axes["connections"], axes["sources"]), (len(wiring.connections), len(wiring.sources))
    if found != expected:
        raise ValueError(f"circuit has {found} connections and sources, and its modules have {expected}")
    return {"wiring": wiring, "steps": None if header["steps"] is None else Steps.parse(header["steps"])}


FORMAT = Format("nram", "NRAM", sizes=("registers", "hidden"), statics=_statics)


def _checked(memory: Sequence[int]) -> list[int]:
    values = np.asarray(memory)
    whole = values.ndim == 1 and len(values) >= 2 and np.issubdtype(values.dtype, np.integer)
    if not whole or values.min() < 0 or values.max() >= len(values):
        raise InputError(
            f"a memory of M cells, two or more, holds whole numbers from 0 to M - 1; it was given {list(memory)!r}"
        )
    return values.tolist()


def _known(memory: Store, wiring: Wiring) -> dict[str, Float[Array, " cells"]]:
    """The sources whose values are known before anything runs: registers, constants, and WRITE, which gives 0.

    Connections that cannot read them yet have no weight on them.
    """
    constants = CONSTANTS | {"WRITE": 0}
    fixed = {value: constant(value, memory.cells.shape[0], memory.size) for value in (0, 1, 2)}
    known = dict(zip(wiring.sources, memory.registers))
    return known | {
        name: fixed[constants[kind]] for kind, name in zip(wiring.modules, wiring.names) if kind in constants
    }


def _likeliest_runs(
    machine: NRAM, memories: Int[Array, "batch cells"], sizes: Int[Array, " batch"], changes: Any, *, steps: int
) -> tuple[Int[Array, "batch _ cells"], Int[Array, "batch _ registers"], Int[Array, "batch step connections"]]:
    """The likeliest memory and registers at the start and after each step, and each step's likeliest connections.

    `changes` are those of `StoreEdits.dense`, or None.
    """

    def one(memory: Array, size: Array, changes: Any) -> tuple[Array, Array, Array]:
        start = machine.start(memory, size)
        if changes is None:
            recorded = run(machine, start, jnp.arange(steps))
        else:
            store = _changed(start.memory, *(part[0] for part in changes))
            start = Start(store.registers[:, 0], start.state, store)
            recorded = run(_Edited(machine), start, tuple(part[1:] for part in changes))
        first, rest = start.memory, recorded["memory"]
        cells = jnp.concatenate([first.cells[None], rest.cells])
        registers = jnp.concatenate([first.registers[None], rest.registers])
        command = recorded["command"] if changes is None else recorded["command"][0]
        return jnp.argmax(cells, axis=-1), jnp.argmax(registers, axis=-1), jnp.argmax(command, axis=-1)

    return jax.vmap(one)(memories, sizes, changes)


class _Edited(eqx.Module):
    """The machine under edits: its entries are the values to set after each step, -1 where nothing is set."""

    machine: NRAM

    def control(self, feedback: Any, state: Any, entry: Any) -> tuple[Any, Any, Any]:
        command, state, output = self.machine.control(feedback, state, jnp.zeros(()))
        return (command, entry), state, output

    def process(self, command: Any, memory: Store) -> tuple[Any, Store]:
        wired, entry = command
        store = _changed(self.machine.process(wired, memory)[1], *entry)
        return store.registers[:, 0], store


def _changed(store: Store, cells: Int[Array, " cells"], registers: Int[Array, " registers"]) -> Store:
    """The store with the values that are not -1 in place of its own."""

    def placed(values: Array, held: Array) -> Array:
        wanted = jax.vmap(lambda value: one_hot(value, held.shape[-1]))(values)
        return jnp.where((values >= 0)[:, None], wanted, held)

    return Store(placed(registers, store.registers), placed(cells, store.cells), store.size)


@functools.cache
def _compiled_runs() -> Any:
    # The modules make a long program that is run only once or twice, so it is compiled quickly.
    return jax.jit(_likeliest_runs, static_argnames="steps", compiler_options=compiler_options())


def stopping(chances: Float[Array, " step"], live: Bool[Array, " step"]) -> Float[Array, " step"]:
    """The probability that a run ends with each step: p_t = f_t · Π(1 - f_i), and the last live step takes the rest.

    >>> stopping(jnp.array([0.5, 0.5, 0.5, 0.9]), jnp.array([True, True, True, False])).tolist()
    [0.5, 0.25, 0.25, 0.0]
    """
    last = live & ~jnp.append(live[1:], False)
    ending = jnp.where(last, 1.0, jnp.where(live, chances, 0.0))
    going = jnp.concatenate([jnp.ones(1), jnp.cumprod(1.0 - ending)[:-1]])
    return ending * going
