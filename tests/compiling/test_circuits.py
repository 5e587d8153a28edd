"""A compiled circuit is the circuit: the same connections, registers and memory at every step."""

import functools
from random import Random

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kleene.compiling.circuits import compile_circuit
from kleene.errors import InputError
from kleene.machines.ncm import run
from kleene.machines.nram import NRAM, stopping
from kleene.programs.circuits.library import entries, get
from tests.programs.circuits import instances
from tests.programs.circuits.test_circuit import WIRING, random_circuit


@functools.partial(jax.jit, static_argnames="steps", compiler_options={"xla_backend_optimization_level": 0})
def recorded(machine, memories, sizes, steps: int):
    def one(memory, size):
        return run(machine, machine.start(memory, size), jnp.arange(steps))

    return jax.vmap(one)(memories, sizes)


def assert_same_runs(machine: NRAM, circuit, memories: list[list[int]], steps: int, cells: int) -> None:
    """The fuzzy machine on padded memories is certain of what the interpreter does, at every step."""
    padded = np.array([memory + [0] * (cells - len(memory)) for memory in memories], dtype=np.int32)
    found = recorded(machine, padded, np.array([len(memory) for memory in memories]), steps)
    found = jax.tree.map(np.asarray, found)
    one_hot, wired = np.eye(cells), np.eye(len(circuit.wiring.sources))
    for row, (memory, trace) in enumerate(zip(memories, circuit.run_batch(memories, [steps] * len(memories)))):
        np.testing.assert_array_equal(found["memory"].cells[row, :, : len(memory)], one_hot[trace["memory"][1:]])
        registers = np.stack([trace[f"r{number}"][1:] for number in range(circuit.wiring.registers)], axis=1)
        np.testing.assert_array_equal(found["memory"].registers[row], one_hot[registers])
        chosen = np.stack([trace[c.name][1:] for c in circuit.wiring.connections], axis=1)
        np.testing.assert_array_equal(np.exp(found["command"][row]), wired[chosen])


@pytest.mark.parametrize("name", list(entries()))
def test_the_circuits_of_the_shelf_run_exactly(name):
    random, circuit = Random(name), entries()[name].build()
    memories = [getattr(instances, name)(random) for _ in range(24)]
    cells = max(map(len, memories))
    assert_same_runs(compile_circuit(circuit), circuit, memories, cells + 3, cells)


@settings(max_examples=25)
@given(st.integers(0, 10**6), st.randoms(use_true_random=False))
def test_every_circuit_without_holes_runs_exactly(seed, random):
    circuit = random_circuit(seed)
    memories = [[random.randrange(size) for _ in range(size)] for size in (3, 6)]
    assert_same_runs(compile_circuit(circuit), circuit, memories, 5, 6)


def test_the_traces_of_circuit_and_machine_are_equal_and_can_be_told_apart():
    circuit, memory = get("increment").build(), [2, 3, 1, 0]
    machine = compile_circuit(circuit)
    assert machine.run(memory) == circuit.run(memory)
    assert machine.run(memory).source == "network"
    other = machine.run([2, 2, 1, 0]).difference(circuit.run(memory))
    assert other == "step 0, position 1: 'memory' is 2 in network but 3 in program (and 6 more places in this channel)"


def test_memories_of_different_sizes_run_together_as_each_alone_in_the_circuit():
    circuit, memories = get("increment").build(), [[2, 3, 1, 0], [1, 0], [1, 2, 4, 3, 0]]
    machine = compile_circuit(circuit)
    assert machine.run_batch(memories) == circuit.run_batch(memories)
    assert machine.run_batch(memories, [0, 3, 2]) == circuit.run_batch(memories, [0, 3, 2])
    assert machine.run_batch([]) == []
    for memory in ([3], [0, 2], [-1, 0], []):
        with pytest.raises(InputError, match="holds whole numbers from 0 to M - 1"):
            machine.run(memory)
    with pytest.raises(InputError, match="steps is -2"):
        machine.run([1, 0], steps=-2)


def test_the_machine_never_stops_by_itself():
    machine = compile_circuit(random_circuit(1))
    assert machine.wiring == WIRING
    _, _, stop = machine.control(jnp.zeros(2), (), jnp.zeros(()))
    assert stopping(jnp.full(4, stop), jnp.arange(4) < 3).tolist() == [0, 0, 1, 0]
