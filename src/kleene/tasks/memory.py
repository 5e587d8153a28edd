"""Tasks on a memory of M integers modulo M for NRAMs: the partial-traces paper's five, and what any circuit computes.

The difficulty of an instance is M. Instances are drawn on the device: M may be a traced number, and the arrays are
padded with zeros to a fixed number of cells. Circuits run there too, on integers: the right wiring depends on which
registers are zero, so a lesson runs the circuit beside the machine.
"""

import difflib
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Int, PRNGKeyArray

from kleene.errors import InputError, RunError
from kleene.notation.wiring import OPERATIONS, Steps, Wiring
from kleene.programs.circuits import Circuit
from kleene.programs.circuits.library import stored

Number = Int[Array, ""]
Size = Int[Array, ""] | int
Cells = Int[Array, " cells"]
Chances = Float[Array, "3 cells"]  # uniform in [0, 1): one draw for all, because it compiles fast


class CircuitRun(NamedTuple):
    """A run of a circuit: the choices of each step, which of them the circuit states, and the memory after each step.

    Holes are not stated, and nothing is stated from the first step whose registers match no block.
    """

    choices: Int[Array, "step connections"]
    stated: Bool[Array, "step connections"]
    memory: Int[Array, "step cells"]


def _ring(value: Number | int, size: Number) -> Number:
    """The value modulo M, for values from -M to 2M - 1."""
    return jnp.where(value >= size, value - size, jnp.where(value < 0, value + size, value))


def circuit_run(circuit: Circuit, memory: Int[Array, " cells"], size: Number, steps: int) -> CircuitRun:
    """A run of `steps` steps on a memory whose first `size` cells count."""
    wiring = circuit.wiring
    block_of, stated = jnp.asarray(circuit.block_of), jnp.asarray(circuit.choices)
    filled, used = jnp.asarray(circuit.filled().choices), used_modules(circuit)
    bits = jnp.asarray(1 << np.arange(wiring.registers))

    def step(before, _):
        registers, cells, known = before
        block = block_of[jnp.sum(jnp.where(registers == 0, bits, 0))]
        known = known & (block >= 0)
        registers, cells = _stepped(wiring, used, filled[block], registers, cells, size)
        return (registers, cells, known), CircuitRun(filled[block], known & (stated[block] >= 0), cells)

    start = (jnp.arange(wiring.registers) % size, memory, jnp.asarray(True))
    return jax.lax.scan(step, start, length=steps)[1]


def used_modules(circuit: Circuit) -> frozenset[int]:
    """The places of the modules that write or whose output some block uses; the others need not run."""
    wiring, filled = circuit.wiring, circuit.filled().choices
    needed = set(filled[:, -wiring.registers :].ravel().tolist())
    for place in reversed(range(len(wiring.modules))):
        if wiring.modules[place] == "WRITE" or wiring.registers + place in needed:
            needed |= {wiring.registers + place, *filled[:, wiring.places[place]].ravel().tolist()}
    return frozenset(source - wiring.registers for source in needed)


def _stepped(
    wiring: Wiring, used: frozenset[int], choices: Array, registers: Array, cells: Array, size: Number
) -> tuple[Array, Array]:
    """Registers and memory after one step of the circuit."""
    values, nothing = list(registers), jnp.zeros_like(size)
    for place, kind in enumerate(wiring.modules):
        arguments = [_picked(jnp.stack(values), choices[c]) for c in wiring.places[place]] if place in used else []
        first, second = (*arguments, nothing, nothing)[:2]
        output = nothing
        if kind == "READ":
            output = _picked(cells, first)
        elif kind == "WRITE":
            cells = jnp.where(jnp.arange(len(cells)) == first, second, cells)
        elif place in used:
            output = _ring(OPERATIONS[kind](first, second), size)
        values.append(output)
    return jax.vmap(_picked, (None, 0))(jnp.stack(values), choices[-wiring.registers :]), cells


def _picked(values: Int[Array, " values"], place: Number) -> Number:
    """values[place], as a masked sum, because XLA fuses that and not an index."""
    return jnp.sum(jnp.where(jnp.arange(len(values)) == place, values, 0))


class Instance(eqx.Module):
    """The memory at the start, the expected memory at the end, which cells count, M, and the number of steps."""

    memory: Int[Array, "*batch cells"]
    expected: Int[Array, "*batch cells"]
    counts: Bool[Array, "*batch cells"]
    size: Int[Array, "*batch"]
    steps: Int[Array, "*batch"]


@dataclass(frozen=True)
class MemoryTask:
    """A task, its settings in the partial-traces paper (Appendix G), and the circuit that solves it.

    `noise` is the share of examples with one wrong output, drawn where a lesson asks for noise.
    """

    name: str
    circuit_name: str
    draw: Callable[[Chances, Size], tuple[Cells, Cells]]  # from chances and M to the memory and the expected one
    learning_rate: float
    start: int  # the difficulty that a curriculum begins with
    end: int
    smallest: int  # the least M that has an instance
    tests: tuple[int, ...]  # difficulties to test at, up to twice the end
    noise: float = 0.0

    @property
    def circuit(self) -> Circuit:
        return stored(self.circuit_name)

    @property
    def rule(self) -> Steps:
        """How many steps the circuit takes."""
        assert self.circuit.steps is not None
        return self.circuit.steps

    def most_steps(self, cells: int) -> int:
        """The largest number of steps of an instance of at most `cells` cells."""
        hops = len(self.rule.cells) * (_nodes(cells) - 1)  # only ListK's steps depend on a cell: its k
        return self.rule.constant + self.rule.sizes * cells + int(hops)

    def steps_on(self, memory: Cells, size: Size) -> Array:
        """How many steps the circuit takes on a memory."""
        starting = sum((memory[cell] for cell in self.rule.cells), start=0)
        return jnp.asarray(self.rule.constant + self.rule.sizes * size + starting)

    def sample(self, key: PRNGKeyArray, size: Size, cells: int, *, noisy: bool = False) -> Instance:
        """A random instance of difficulty `size`, padded to `cells`; with `noisy`, some have a wrong output."""
        return self._instance(jax.random.uniform(key, (4 * cells,)).reshape(4, cells), size, noisy)

    def batch(self, key: PRNGKeyArray, size: Size, cells: int, count: int, *, noisy: bool = False) -> Instance:
        """`count` random instances of one difficulty."""
        # Drawn flat and then reshaped, because XLA takes seconds to compile a draw with several axes.
        chances = jax.random.uniform(key, (count * 4 * cells,)).reshape(count, 4, cells)
        return jax.vmap(lambda row: self._instance(row, size, noisy))(chances)

    def _instance(self, chances: Float[Array, "4 cells"], size: Size, noisy: bool) -> Instance:
        memory, expected = self.draw(chances[:3], size)
        if noisy and self.noise:
            expected = spoiled(chances[3], expected, size, self.noise)
        steps = self.steps_on(memory, size)
        return Instance(memory, expected, jnp.arange(len(memory)) < size, jnp.asarray(size), steps)


@dataclass(frozen=True)
class CircuitTask(MemoryTask):
    """The task that a user's circuit computes: from a random memory to the memory that the circuit leaves.

    >>> text = "registers 1\\nmodules READ+INC+W\\nsteps 1\\nwhen -: READ(r0) INC(READ) WRITE(r0, INC) r0 = r0"
    >>> task = CircuitTask.of(Circuit.from_text(text, "one_more"))
    >>> drawn = task.sample(jax.random.key(0), 4, cells=4)
    >>> drawn.memory.tolist(), drawn.expected.tolist()
    ([3, 3, 1, 1], [0, 3, 1, 1])
    """

    own: Circuit | None = None

    @classmethod
    def of(cls, circuit: Circuit, *, rate: float = 0.01, seed: int = 0) -> "CircuitTask":
        """The task of a circuit, at sizes from 4 or the smallest that it can run on, whichever is larger."""
        if circuit.steps is None or str(circuit.steps) == "0":
            raise InputError(
                f"{circuit.name} does not say how many steps it runs, so there is no memory to learn from it; add a "
                f"line such as `steps M + 2`"
            )
        start = max(4, *(cell + 1 for cell in circuit.steps.cells), 0)
        end, tests = 2 * start, tuple(int(start * factor) for factor in (1, 1.5, 2, 2.5, 3, 4))
        _check_runs(circuit, start, end, seed)
        return cls(circuit.name, "", _random_memory, rate, start, end, start, tests, own=circuit)

    @property
    def circuit(self) -> Circuit:
        assert self.own is not None
        return self.own

    def most_steps(self, cells: int) -> int:
        return self.rule.constant + self.rule.sizes * cells + len(self.rule.cells) * (cells - 1)

    def _instance(self, chances: Float[Array, "4 cells"], size: Size, noisy: bool) -> Instance:
        memory, _ = self.draw(chances[:3], size)
        steps = self.steps_on(memory, size)
        after = circuit_run(self.circuit, memory, jnp.asarray(size), self.most_steps(len(memory))).memory
        expected = jnp.where(steps > 0, after[jnp.maximum(steps - 1, 0)], memory)
        return Instance(memory, expected, jnp.arange(len(memory)) < size, jnp.asarray(size), steps)


def _check_runs(circuit: Circuit, smallest: int, largest: int, seed: int, samples: int = 64) -> None:
    """Refuse a circuit that gets stuck on some of the random memories."""
    generator = np.random.default_rng(seed)
    for _ in range(samples):
        size = int(generator.integers(smallest, largest + 1))
        try:
            circuit.run(generator.integers(0, size, size).tolist())
        except RunError as error:
            raise InputError(f"{circuit.name} cannot be taught on random memories: {error}") from None


def _random_memory(chances: Chances, size: Size) -> tuple[Cells, Cells]:
    memory = jnp.where(jnp.arange(chances.shape[1]) < size, whole(chances[0], 0, size), 0)
    return memory, memory


def whole(chance: Array, low: Size, high: Size) -> Array:
    """Integers from `low` to `high` - 1, uniform if the chances are."""
    return low + jnp.floor(chance * (high - low)).astype(jnp.int32)


def spoiled(chances: Float[Array, " cells"], expected: Cells, size: Size, share: float) -> Cells:
    """The expected memory; in this share of examples one of its cells has another value."""
    at = jnp.arange(len(expected)) == whole(chances[0], 0, size)
    other = (expected + whole(chances[1], 1, size)) % size
    return jnp.where(at & (chances[2] < share), other, expected)


def _swap(chances: Chances, size: Size) -> tuple[Cells, Cells]:
    values = whole(chances[0], 1, size)
    first, second = whole(chances[1, 0], 0, size - 3), whole(chances[1, 1], 0, size - 3)
    memory = jnp.where(jnp.arange(len(values)) < size - 1, values, 0)
    memory = memory.at[0].set(first).at[1].set(second)
    expected = memory.at[first + 2].set(memory[second + 2]).at[second + 2].set(memory[first + 2])
    return memory, expected


def _increment(chances: Chances, size: Size) -> tuple[Cells, Cells]:
    inside = jnp.arange(chances.shape[1]) < size - 1
    memory = jnp.where(inside, whole(chances[0], 1, size), 0)
    return memory, jnp.where(inside, (memory + 1) % size, 0)


def _permutation(chances: Float[Array, " cells"], length: Size) -> Cells:
    """A random permutation of 0 to length - 1, then the other places in any order."""
    return jnp.argsort(chances + jnp.where(jnp.arange(len(chances)) < length, 0.0, 1.0))


def _permute(chances: Chances, size: Size) -> tuple[Cells, Cells]:
    at, length = jnp.arange(chances.shape[1]), (size - 1) // 2
    order = _permutation(chances[1], length)
    places = (at >= 1) & (at <= length)
    memory = jnp.where((at > length) & (at <= 2 * length), whole(chances[0], 0, size), 0)
    memory = jnp.where(places, order[at - 1], memory).at[0].set(length + 1)
    found = memory[jnp.where(places, length + 1 + memory, 0)]
    return memory, jnp.where(places, found, memory)


def _nodes(size: Size) -> Size:
    return (size - 3) // 2


def _list_k(chances: Chances, size: Size) -> tuple[Cells, Cells]:
    at, length = jnp.arange(chances.shape[1]), _nodes(size)
    order = _permutation(chances[1], length)
    following = jnp.where(at + 1 < length, 3 + 2 * jnp.roll(order, -1), 0)  # the last node points to 0
    next_of = jnp.zeros_like(order).at[order].set(following)
    is_node = (at >= 3) & (at < 3 + 2 * length)
    memory = jnp.where(is_node, jnp.where(at % 2 == 1, next_of[(at - 3) // 2], whole(chances[0], 0, size)), 0)
    hops = whole(chances[2, 0], 0, length)
    memory = memory.at[0].set(3 + 2 * order[0]).at[1].set(hops).at[2].set(2)
    return memory, memory.at[2].set(memory[4 + 2 * order[hops]])


def _merge(chances: Chances, size: Size) -> tuple[Cells, Cells]:
    at, both = jnp.arange(chances.shape[1]), (size - 5) // 2
    drawn = whole(chances[0], 1, size)
    first = whole(chances[1, 0], 1, both)  # how many are in A; A and B have one at least
    heads = jnp.stack([jnp.asarray(3), 4 + first, 5 + both])

    def placed(begin: Array, chosen: Array) -> Cells:
        """The chosen values, sorted, from cell `begin` on."""
        ordered = jnp.sort(jnp.where(chosen, drawn, len(at) + 1))  # the others come last, because no value is as large
        return jnp.where((at >= begin) & (at < begin + jnp.sum(chosen)), ordered[at - begin], 0)

    memory = placed(heads[0], at < first) + placed(heads[1], (at >= first) & (at < both))
    memory = memory.at[:3].set(heads)
    return memory, memory + placed(heads[2], at < both)


_PERMUTE = MemoryTask("permute", "permute", _permute, 0.05, 7, 12, 3, (7, 9, 12, 15, 18, 21, 24))
_TASKS = [
    MemoryTask("swap", "swap", _swap, 0.01, 6, 10, 5, (6, 8, 10, 12, 15, 18, 20)),
    MemoryTask("increment", "increment", _increment, 0.01, 4, 10, 3, (4, 6, 8, 10, 13, 16, 20)),
    _PERMUTE,
    MemoryTask("list_k", "list_k", _list_k, 0.05, 9, 16, 7, (9, 12, 16, 20, 24, 28, 32)),
    MemoryTask("merge", "merge", _merge, 0.05, 13, 16, 9, (13, 16, 20, 24, 28, 32)),
    replace(_PERMUTE, name="permute_noise", noise=0.1),
]


def memory_tasks() -> dict[str, MemoryTask]:
    """Every task by its name."""
    return {task.name: task for task in _TASKS}


def memory_task(name: str) -> MemoryTask:
    """The task of that name; an InputError suggests another where there is none.

    >>> memory_task("increment").sample(jax.random.key(0), 4, cells=6).memory.shape
    (6,)
    """
    found = memory_tasks().get(name)
    if found is None:
        close = difflib.get_close_matches(name, memory_tasks(), n=1)
        hint = f"did you mean {close[0]!r}?" if close else f"there are {', '.join(memory_tasks())}"
        raise InputError(f"there is no memory task {name!r}; {hint}")
    return found
