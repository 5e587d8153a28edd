"""Hints for NRAMs: they say what the circuit does, each kind reveals what it should, and weights fall with time."""

import functools
from random import Random

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from kleene.programs.circuits import Circuit
from kleene.programs.circuits.library import entries, get
from kleene.teaching.nram_hints import KINDS, NOISE, circuit_choices, hints, used_modules
from tests.programs.circuits import instances

QUICK = {"xla_backend_optimization_level": 0}  # these programs run once
EXAMPLES, STEPS, MOST = 300, 6, 9
CIRCUIT, MEMORY = get("increment").build(), [2, 1, 3, 0]


@functools.cache
def told(kind: str, density: float = 1.0):
    """The targets and weights of many examples of one memory, whose run takes 6 of the 9 steps there is room for."""
    targets, weights = _told(jnp.asarray(KINDS.index(kind)), jnp.asarray(density))
    return np.asarray(targets), np.asarray(weights)


@functools.partial(jax.jit, compiler_options=QUICK)
def _told(kind, density):
    memory, size, steps = jnp.array([*MEMORY, 0, 0]), jnp.asarray(4), jnp.asarray(STEPS)

    def one(chances):
        found = hints(chances, CIRCUIT, kind, density, memory, size, steps, MOST)
        return found.targets, found.weights

    return jax.vmap(one)(jax.random.uniform(jax.random.key(7), (EXAMPLES * 6,)).reshape(EXAMPLES, 6))


def stated() -> np.ndarray:
    """What the circuit's text says at each step, [step, connection]: -1 for a hole; nothing after the run."""
    trace = CIRCUIT.run(MEMORY, STEPS)
    patterns = [(trace["r0"][t] == 0) + 2 * (trace["r1"][t] == 0) for t in range(STEPS)]
    rows = CIRCUIT.choices[CIRCUIT.block_of[np.array(patterns)]]
    return np.concatenate([rows, np.full((MOST - STEPS, rows.shape[1]), -1)])


def every_weight() -> np.ndarray:
    return np.where(stated() >= 0, (1.0 + np.arange(MOST)[:, None]) ** -2.0, 0.0)


@pytest.mark.parametrize("name", list(entries()))
def test_the_circuit_runs_in_the_jitted_program_as_in_the_interpreter(name):
    circuit, random = entries()[name].build(), Random(name)
    memories = [getattr(instances, name)(random) for _ in range(30)]
    cells, steps = max(map(len, memories)), max(map(len, memories)) + 3
    padded = np.array([memory + [0] * (cells - len(memory)) for memory in memories], dtype=np.int32)
    sizes = np.array([len(memory) for memory in memories], dtype=np.int32)
    batched = jax.jit(jax.vmap(lambda m, size: circuit_choices(circuit, m, size, steps)), compiler_options=QUICK)
    choices, said = (np.asarray(part) for part in batched(padded, sizes))
    traces = circuit.run_batch(memories, [steps] * len(memories))
    expected = [[trace[c.name][1:] for c in circuit.wiring.connections] for trace in traces]
    np.testing.assert_array_equal(choices, np.array(expected).transpose(0, 2, 1))
    other = circuit.run_batch(memories, [steps] * len(memories), np.random.default_rng(0))
    varied = np.array([[t[c.name][1:] for c in circuit.wiring.connections] for t in other]).transpose(0, 2, 1)
    assert said.any()
    assert (choices == varied)[said].all()  # what is stated does not depend on what fills the holes
    assert (choices != varied)[~said].any()


def test_modules_that_nothing_uses_are_not_run():
    names = {CIRCUIT.wiring.names[place] for place in used_modules(CIRCUIT) if place >= 0}
    assert names == {"READ1", "ZERO", "ONE", "INC", "ADD", "WRITE", "READ2"}


def test_where_no_block_matches_nothing_is_stated():
    circuit = Circuit.from_text("registers 1\nmodules INC+W\nwhen 0: INC(r0) WRITE(r0, r0) r0 = INC")
    choices, said = circuit_choices(circuit, jnp.array([0, 1, 1]), jnp.asarray(3), 3)
    assert choices.shape == said.shape
    assert said.any(axis=1).tolist() == [True, False, False]


def test_full_hints_tell_all_that_the_text_says_and_nothing_else():
    targets, weights = told("full")
    np.testing.assert_allclose(weights, np.broadcast_to(every_weight(), weights.shape), rtol=1e-6)
    assert (targets == stated())[weights > 0].all()


def test_none_tells_nothing():
    assert not told("none")[1].any()


@pytest.mark.parametrize(("kind", "registers"), [("registers", True), ("modules", False)])
def test_registers_and_modules_are_told_apart(kind, registers):
    is_register = np.array([c.name.endswith(".c") for c in CIRCUIT.wiring.connections])
    expected = every_weight() * (is_register == registers)
    np.testing.assert_allclose(told(kind)[1], np.broadcast_to(expected, told(kind)[1].shape), rtol=1e-6)


def test_corners_are_the_first_and_the_last_step_of_the_run():
    expected = every_weight() * np.isin(np.arange(MOST), (0, STEPS - 1))[:, None]
    np.testing.assert_allclose(told("corners")[1], np.broadcast_to(expected, told("corners")[1].shape), rtol=1e-6)


def test_a_single_timestep_is_any_step_of_the_run_whole():
    weights = told("single_timestep")[1]
    steps = weights.any(axis=2)
    assert (steps.sum(axis=1) == 1).all()
    assert set(np.argmax(steps, axis=1)) == set(range(STEPS))
    for row, step in zip(weights, np.argmax(steps, axis=1)):
        np.testing.assert_allclose(row[step], every_weight()[step], rtol=1e-6)


def test_a_single_hint_is_any_one_module_or_register_at_any_step():
    weights = told("single_hint")[1]
    units = np.array([c.unit for c in CIRCUIT.wiring.connections])
    found = set()
    for row in weights:
        steps, connections = np.nonzero(row)
        assert len(set(steps)) == 1
        assert len(set(units[connections])) == 1
        unit_stated = (stated()[steps[0]] >= 0) & (units == units[connections[0]])
        np.testing.assert_array_equal(row[steps[0]] > 0, unit_stated)
        found.add((steps[0], units[connections[0]]))
    possible = {(step, units[c]) for step, c in zip(*np.nonzero(stated() >= 0))}
    assert found <= possible
    assert len(found) > 0.8 * len(possible)


def test_noise_makes_one_hint_wrong_in_a_fifth_of_the_traces():
    targets, weights = told("noisy_full")
    clean, plain = told("full")
    np.testing.assert_array_equal(weights, plain)
    wrong = (targets != clean) & (weights > 0)
    counts = wrong.sum(axis=(1, 2))
    assert set(counts.tolist()) == {0, 1}
    assert abs(counts.mean() - NOISE) < 0.08
    limits = np.array([c.choices for c in CIRCUIT.wiring.connections])
    assert (targets < limits).all()
    assert (targets >= 0).all()


def test_density_is_the_share_of_examples_with_hints():
    some = told("full", 0.25)[1].any(axis=(1, 2))
    assert 0.15 < some.mean() < 0.35
    assert not told("full", 0.0)[1].any()
