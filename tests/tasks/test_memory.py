"""Memory tasks: every instance is what its layout says, and its answer is the plain Python one."""

import functools
from random import Random

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from kleene.errors import InputError
from kleene.programs.circuits import Circuit
from kleene.programs.circuits.library import entries, get
from kleene.tasks.memory import CircuitTask, Instance, MemoryTask, circuit_run, memory_task, memory_tasks, used_modules
from tests.programs.circuits import instances

COUNT, CELLS = 200, 20


@functools.cache
def batches(task: MemoryTask, *, noisy: bool = False) -> list[Instance]:
    """Instances of a few sizes; the size is traced, so that one program draws them all."""
    draw = jax.jit(lambda key, size: task.batch(key, size, CELLS, COUNT, noisy=noisy))
    sizes = range(task.smallest, CELLS + 1, 4)
    return [jax.tree.map(np.asarray, draw(jax.random.key(size), size)) for size in sizes]


@pytest.mark.parametrize("name", [name for name in memory_tasks() if name != "permute_noise"])
def test_the_answer_is_that_of_plain_python_and_of_the_circuit(name):
    task, entry = memory_task(name), get(name)
    for batch in batches(task):
        size = int(batch.size[0])
        memories = batch.memory[:, :size].tolist()
        assert batch.expected[:, :size].tolist() == [entry.reference(memory) for memory in memories]
        runs = task.circuit.run_batch(memories[:40])
        assert [run.output for run in runs] == batch.expected[:40, :size].tolist()
        assert [run.steps for run in runs] == batch.steps[:40].tolist()
        assert batch.steps.max() <= task.most_steps(size)
        assert (batch.counts == (np.arange(CELLS) < size)).all()
        assert not batch.memory[:, size:].any()
        assert (batch.memory >= 0).all()
        assert (batch.memory < size).all()


def test_the_most_steps_are_taken_by_some_list():
    task = memory_task("list_k")
    batch = batches(task)[2]
    assert batch.steps.max() == task.most_steps(int(batch.size[0]))


def test_layouts_are_those_of_the_paper():
    for batch in batches(memory_task("increment")):
        assert (batch.memory[:, : batch.size[0] - 1] > 0).all()
    for batch in batches(memory_task("permute")):
        length = (batch.size[0] - 1) // 2
        assert (batch.memory[:, 0] == length + 1).all()
        assert (np.sort(batch.memory[:, 1 : length + 1]) == np.arange(length)).all()
    for batch in batches(memory_task("merge")):
        for memory in batch.memory:
            first, second, out = memory[:3]
            lists = memory[first : second - 1], memory[second : out - 1]
            assert all(len(part) and (part > 0).all() and (np.diff(part) >= 0).all() for part in lists)
            assert memory[second - 1] == memory[out - 1] == 0
    for batch in batches(memory_task("list_k")):
        assert (batch.memory[:, 2] == 2).all()


def test_noise_makes_one_output_wrong_in_a_tenth_of_the_examples_where_it_is_asked_for():
    task = memory_task("permute_noise")
    clean, noisy = batches(memory_task("permute")), batches(task, noisy=True)
    assert all((a.expected == b.expected).all() for a, b in zip(clean, batches(task)))
    wrong = np.concatenate([(a.expected != b.expected).sum(axis=1) for a, b in zip(noisy, clean)])
    assert set(wrong.tolist()) == {0, 1}
    assert 0.06 < wrong.mean() < 0.14
    for batch in noisy:
        assert (batch.expected < batch.size[0]).all()


def test_one_instance_is_drawn_like_many_and_an_unknown_task_is_refused():
    drawn = memory_task("swap").sample(jax.random.key(0), 8, 10)
    assert drawn.memory.shape == drawn.expected.shape == (10,)
    with pytest.raises(InputError, match="did you mean 'list_k'"):
        memory_task("listk")


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
