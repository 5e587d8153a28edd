"""Memory tasks: every instance is what its layout says, and its answer is the plain Python one."""

import functools

import jax
import numpy as np
import pytest

from kleene.errors import InputError
from kleene.programs.circuits.library import get
from kleene.tasks.memory import Instance, MemoryTask, memory_task, memory_tasks

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
