"""The NRAM: its modules against brute force, its distributions, its padding, its stopping."""

import functools
import itertools

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from kleene.errors import InputError
from kleene.machines import nram
from kleene.machines.ncm import run
from kleene.machines.nram import NRAM, stopping

CELLS = 7
MEANINGS = {
    "INC": lambda a, b, size: (a + 1) % size,
    "DEC": lambda a, b, size: (a - 1) % size,
    "ADD": lambda a, b, size: (a + b) % size,
    "SUB": lambda a, b, size: (a - b) % size,
    "LT": lambda a, b, size: int(a < b),
    "LEQ": lambda a, b, size: int(a <= b),
    "EQ": lambda a, b, size: int(a == b),
    "MIN": lambda a, b, size: min(a, b),
    "MAX": lambda a, b, size: max(a, b),
}


def distributions(size: int, count: int, seed: int = 0) -> np.ndarray:
    """Random distributions over the values below `size`, padded."""
    drawn = np.random.default_rng(seed).dirichlet(np.ones(size), count)
    return np.pad(drawn, ((0, 0), (0, CELLS - size))).astype(np.float32)


def lifted(meaning, a: np.ndarray, b: np.ndarray, size: int) -> np.ndarray:
    """What a module says of two distributions: every pair of values with its probability."""
    found = np.zeros(CELLS)
    for i, j in itertools.product(range(size), repeat=2):
        found[meaning(i, j, size)] += a[i] * b[j]
    return found


@pytest.mark.parametrize("kind", list(MEANINGS))
def test_a_module_on_distributions_is_its_meaning_on_every_pair_of_values(kind):
    module = {**nram.UNARY, **nram.BINARY}[kind]
    binary = kind in nram.BINARY
    batched = jax.jit(jax.vmap(lambda a, b, size: module(a, b, size) if binary else module(a, size), (0, 0, None)))
    for size in (2, 3, 6, 7):
        firsts = np.concatenate([np.eye(size, CELLS, dtype=np.float32), distributions(size, 4)])
        pairs = list(itertools.product(firsts, np.concatenate([firsts[:size], distributions(size, 2, seed=1)])))
        a, b = (np.stack(side) for side in zip(*pairs))
        expected = np.stack([lifted(MEANINGS[kind], *pair, size) for pair in pairs])
        np.testing.assert_allclose(batched(a, b, jnp.asarray(size)), expected, atol=1e-6)


@pytest.mark.parametrize("size", [2, 3, 7])
def test_constants_are_modulo_the_size(size):
    for value in nram.CONSTANTS.values():
        assert jnp.argmax(nram.constant(value, CELLS, jnp.asarray(size))) == value % size


MACHINE = NRAM.random(3, "R+def+R+W", hidden=16, key=jax.random.key(3))


@functools.partial(jax.jit, compiler_options={"xla_backend_optimization_level": 0})
def recorded(memory, size):
    return run(MACHINE, MACHINE.start(memory, size), jnp.arange(6))


def test_registers_start_with_their_numbers_and_everything_stays_a_distribution():
    memory = jnp.array([4, 2, 1, 3, 0, 0, 0])
    start = MACHINE.start(memory, 5)
    assert jnp.argmax(start.memory.registers, axis=-1).tolist() == [0, 1, 2]
    assert jnp.argmax(start.memory.cells, axis=-1).tolist() == [4, 2, 1, 3, 0, 0, 0]
    trace = recorded(memory, 5)
    for part in (trace["memory"].registers, trace["memory"].cells[:, :5], jnp.exp(trace["command"])):
        assert float(part.min()) >= -1e-6
        np.testing.assert_allclose(part.sum(axis=-1), 1.0, atol=1e-5)
    assert float(jnp.abs(trace["memory"].registers[..., 5:]).max()) == 0  # no weight on what is padding
    np.testing.assert_array_equal(trace["feedback"], trace["memory"].registers[..., 0])
    assert ((trace["output"] > 0) & (trace["output"] < 1)).all()


def test_a_padded_memory_runs_as_it_would_without_padding():
    memory = jnp.array([4, 2, 1, 3, 0])
    plain, padded = recorded(memory, 5), recorded(jnp.pad(memory, (0, 2), constant_values=6), 5)
    np.testing.assert_allclose(padded["memory"].cells[:, :5, :5], plain["memory"].cells, atol=1e-6)
    np.testing.assert_allclose(padded["memory"].registers[..., :5], plain["memory"].registers, atol=1e-6)
    np.testing.assert_allclose(padded["command"], plain["command"], atol=1e-5)


def test_a_connection_never_has_a_source_that_comes_later():
    chances = jnp.exp(MACHINE.control(jnp.zeros(3), (), jnp.zeros(()))[0])
    assert float(jnp.where(MACHINE.wiring.allowed, 0.0, chances).max()) == 0
    assert float(jnp.where(MACHINE.wiring.allowed, chances, 1.0).min()) > 0


@pytest.mark.parametrize("steps", [1, 2, 5])
def test_the_run_ends_with_some_step_for_certain(steps):
    chances = jnp.array([0.3, 0.0, 0.9, 0.2, 0.5])
    ends = stopping(chances, jnp.arange(5) < steps)
    expected, going = [], 1.0
    for step in range(steps):
        expected.append(going * (1.0 if step == steps - 1 else float(chances[step])))
        going -= expected[-1]
    np.testing.assert_allclose(ends, expected + [0.0] * (5 - steps), atol=1e-6)
    assert float(ends.sum()) == pytest.approx(1.0)


def test_gradients_are_finite_also_where_probabilities_are_zero():
    def total(machine):
        trace = run(machine, machine.start(jnp.array([1, 2, 0]), 3), jnp.arange(2))
        return jnp.sum(trace["memory"].cells[-1, 0] * jnp.arange(3)) + jnp.sum(trace["output"])

    quick = jax.jit(jax.grad(total), compiler_options={"xla_backend_optimization_level": 0})
    gradient = quick(NRAM.random(2, "READ+SUB+WRITE", hidden=2, key=jax.random.key(0)))
    assert all(bool(jnp.isfinite(leaf).all()) for leaf in jax.tree.leaves(gradient))
    assert float(jnp.abs(gradient.circuit).max()) > 0


@pytest.mark.parametrize(("memory", "steps", "said"), [([3, 0], 2, "two or more"), ([1, 0], None, "give steps=")])
def test_a_run_that_cannot_be_is_refused(memory, steps, said):
    with pytest.raises(InputError, match=said):
        MACHINE.run(memory, steps)


def test_numbers_of_steps_that_are_not_one_for_each_memory_are_refused():
    with pytest.raises(InputError, match="steps has 1 numbers for 2 memories"):
        MACHINE.run_batch([[1, 0], [0, 1]], [2])
