"""Circuits inside a jitted program do what the interpreter does, and are tasks to learn."""

from random import Random

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from kleene.errors import InputError
from kleene.programs.circuits import Circuit
from kleene.programs.circuits.library import entries, get
from kleene.tasks.circuits import circuit_run, used_modules
from kleene.tasks.memory import CircuitTask
from tests.programs.circuits import instances

QUICK = {"xla_backend_optimization_level": 0}  # these programs run once
CIRCUIT = get("increment").build()


@pytest.mark.parametrize("name", list(entries()))
def test_the_circuit_runs_in_the_jitted_program_as_in_the_interpreter(name):
    circuit, random = entries()[name].build(), Random(name)
    memories = [getattr(instances, name)(random) for _ in range(30)]
    cells, steps = max(map(len, memories)), max(map(len, memories)) + 3
    padded = np.array([memory + [0] * (cells - len(memory)) for memory in memories], dtype=np.int32)
    sizes = np.array([len(memory) for memory in memories], dtype=np.int32)
    batched = jax.jit(jax.vmap(lambda m, size: circuit_run(circuit, m, size, steps)[:2]), compiler_options=QUICK)
    choices, stated = (np.asarray(part) for part in batched(padded, sizes))
    traces = circuit.run_batch(memories, [steps] * len(memories))
    expected = [[trace[c.name][1:] for c in circuit.wiring.connections] for trace in traces]
    np.testing.assert_array_equal(choices, np.array(expected).transpose(0, 2, 1))
    other = circuit.run_batch(memories, [steps] * len(memories), np.random.default_rng(0))
    varied = np.array([[t[c.name][1:] for c in circuit.wiring.connections] for t in other]).transpose(0, 2, 1)
    assert stated.any()
    assert (choices == varied)[stated].all()  # what is stated does not depend on what fills the holes
    assert (choices != varied)[~stated].any()


def test_modules_that_nothing_uses_are_not_run():
    names = {CIRCUIT.wiring.names[place] for place in used_modules(CIRCUIT) if place >= 0}
    assert names == {"READ1", "ZERO", "ONE", "INC", "ADD", "WRITE", "READ2"}


def test_where_no_block_matches_nothing_is_stated():
    circuit = Circuit.from_text("registers 1\nmodules INC+W\nwhen 0: INC(r0) WRITE(r0, r0) r0 = INC")
    choices, stated, _ = circuit_run(circuit, jnp.array([0, 1, 1]), jnp.asarray(3), 3)
    assert choices.shape == stated.shape
    assert stated.any(axis=1).tolist() == [True, False, False]


OWN = """registers 2
modules READ+INC+W
steps memory[0] + 1
when 0 -: READ(r0) INC(READ) WRITE(r0, INC) r0 = INC
when !0 -: READ(r0) INC(READ) WRITE(r1, INC) r0 = r0
"""


def test_a_circuit_of_ones_own_is_the_task_of_what_it_leaves_in_a_random_memory():
    task = CircuitTask.of(Circuit.from_text(OWN, "own"))
    drawn = jax.tree.map(np.asarray, jax.jit(lambda key: task.batch(key, 5, 7, 50))(jax.random.key(0)))
    memories = drawn.memory[:, :5].tolist()
    assert len({tuple(memory) for memory in memories}) > 40
    runs = [task.circuit.run(memory) for memory in memories]
    assert [run.output for run in runs] == drawn.expected[:, :5].tolist()
    assert [run.steps for run in runs] == drawn.steps.tolist()
    assert drawn.steps.max() <= task.most_steps(5)


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        (OWN.replace("steps memory[0] + 1\n", ""), "does not say how many steps it runs"),
        (OWN.replace("when !0 -", "when !0 0"), "cannot be taught on random memories: own: at step"),
    ],
)
def test_a_circuit_without_an_end_or_that_gets_stuck_is_no_task(text, problem):
    with pytest.raises(InputError, match=problem):
        CircuitTask.of(Circuit.from_text(text, "own"))
