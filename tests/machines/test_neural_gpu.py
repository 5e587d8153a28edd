"""The Neural GPU against a plain numpy one, at its borders, and among padding."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kleene.errors import InputError
from kleene.machines.neural_gpu import LIMIT, NeuralGPU, diagonal

SYMBOLS, OUTPUTS, HIDDEN, LONGEST = 4, 3, 7, 6
WORDS = st.lists(st.integers(0, SYMBOLS - 1), max_size=LONGEST)


@pytest.fixture(scope="module")
def machine() -> NeuralGPU:
    """Weights larger than fresh ones, so that many units are saturated."""
    fresh = NeuralGPU.random(SYMBOLS, outputs=OUTPUTS, hidden=HIDDEN, key=jax.random.key(0))
    drawn = jax.random.normal(jax.random.key(1), (1000,))
    return jax.tree.map(lambda w: 1.5 * w + 0.3 * drawn[: w.size].reshape(w.shape), fresh)


@eqx.filter_jit
def padded(machine, symbols, length, steps, kept=None):
    return machine.rewrite(symbols, length, steps, most=LONGEST, kept=kept)


def rewritten(machine, word, filling=0, kept=None):
    symbols = np.full(LONGEST, filling, np.int32)
    symbols[: len(word)] = word
    return padded(machine, jnp.array(symbols), jnp.array(len(word)), jnp.array(len(word)), kept)


def plain_run(machine, word, kept=None):
    """The image at the start and after each step and the saturation, one position at a time and in float64."""
    w = jax.tree.map(lambda a: np.asarray(a, np.float64), machine)
    kept = np.ones((LONGEST + 1, LONGEST, HIDDEN)) if kept is None else np.asarray(kept, np.float64)
    saturated, n = 0.0, len(word)

    def line(x, low, high, slope, middle):
        return np.minimum(high, np.maximum(low, slope * x + middle))

    def excess(x):
        return np.maximum(0, np.abs(x) - LIMIT).sum()

    def summed(kernel, bias, rows, p):
        near = [rows[p + k - 1] if 0 <= p + k - 1 < n else np.zeros(HIDDEN) for k in range(3)]
        return bias + sum(kernel[k] @ near[k] for k in range(3))

    state = [line(w.embedding[s], -1, 1, 1, 0) * kept[0, p] for p, s in enumerate(word)]
    saturated += n * sum(excess(w.embedding[s]) for s in word)
    images = [state]
    for t in range(n):
        resets = [summed(w.reset_weights, w.reset_bias, state, p) for p in range(n)]
        shown = [line(resets[p], 0, 1, 0.5, 0.5) * state[p] for p in range(n)]
        after = []
        for p in range(n):
            candidate = summed(w.candidate_weights, w.candidate_bias, shown, p)
            gate = summed(w.gate_weights, w.gate_bias, state, p)
            third, carried = HIDDEN // 3, state[p].copy()
            carried[-2 * third : -third] = state[p - 1][-2 * third : -third] if p > 0 else 0
            carried[-third:] = state[p + 1][-third:] if p + 1 < n else 0
            opened = line(gate, 0, 1, 0.5, 0.5)
            after.append(opened * carried + (1 - opened) * line(candidate, -1, 1, 1, 0) * kept[t + 1, p])
            saturated += excess(resets[p]) + excess(candidate) + excess(gate)
        state = after
        images.append(state)
    return np.array(images).reshape(n + 1, n, HIDDEN), saturated / max(n, 1) ** 2


@settings(max_examples=40)
@given(word=WORDS, seed=st.integers(0, 9), dropped=st.booleans())
def test_every_step_is_that_of_a_plain_machine(machine, word, seed, dropped):
    shape = (LONGEST + 1, LONGEST, HIDDEN)
    kept = jax.random.bernoulli(jax.random.key(seed), 0.5, shape) / 0.5 if dropped else None
    images, saturation = plain_run(machine, word, kept)
    found = rewritten(machine, word, kept=kept)
    np.testing.assert_allclose(found.images[: len(word) + 1, : len(word)], images, atol=2e-5)
    np.testing.assert_allclose(found.saturation, saturation, rtol=1e-4, atol=1e-5)


@settings(max_examples=40)
@given(word=WORDS, filling=st.integers(0, SYMBOLS - 1))
def test_what_stands_past_a_word_changes_nothing(machine, word, filling):
    plain, filled = rewritten(machine, word), rewritten(machine, word, filling)
    assert jnp.array_equal(plain.images, filled.images)
    assert plain.saturation == filled.saturation
    assert not np.any(plain.images[:, len(word) :])
    assert jnp.array_equal(plain.images[len(word)], plain.images[-1])  # it stays once the run has ended


def test_words_in_a_batch_run_as_each_alone(machine):
    words = [[0, 3, 1], [], [2], [1, 2, 3, 0, 1, 2], [3, 3]]
    for at_once in (1 << 20, 1):  # in one call, and in one for each
        found = machine.run_batch(words, at_once=at_once)
        assert found == [machine.run(word) for word in words]
    assert [trace.steps for trace in found] == [3, 0, 1, 6, 2]
    assert machine.run_batch([]) == []


def test_thirds_of_the_state_come_from_both_neighbours_and_zeros_from_beyond_the_ends():
    state = jnp.arange(1.0, 15.0).reshape(2, 7)  # three units stay, two come from the left, two from the right
    assert diagonal(state).tolist() == [[1, 2, 3, 0, 0, 13, 14], [8, 9, 10, 4, 5, 0, 0]]
    assert diagonal(state[:1]).tolist() == [[1, 2, 3, 0, 0, 0, 0]]
    assert jnp.array_equal(diagonal(state[:, :2]), state[:, :2])  # too few units for thirds


def test_a_gate_that_is_open_carries_symbols_along_the_word():
    hidden, still = 3, jnp.zeros((3, 3, 3))
    bias, closed = jnp.zeros(3), jnp.full(3, 9.0)
    embedding = jnp.array([[0.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]])  # 1 walks right, 2 walks left
    machine = NeuralGPU(embedding, still, bias, still, bias, still, closed, jnp.eye(3, hidden), bias)
    trace = machine.run([1, 0, 0, 2], steps=3)
    assert trace["output"].tolist() == [[1, 0, 0, 2], [0, 1, 2, 0], [0, 2, 1, 0], [2, 0, 0, 1]]
    assert not np.any(machine.run([1, 0, 0, 2], steps=4)["state"][-1])  # past the ends they are gone


def test_the_answer_at_each_step_is_read_off_the_image(machine):
    trace = machine.run([0, 3, 1])
    scores = trace["state"] @ np.asarray(machine.output_weights).T + np.asarray(machine.output_bias)
    assert trace["output"].tolist() == np.argmax(scores, axis=-1).tolist()
    assert trace.output == trace["output"][-1].tolist()
    assert machine.run([0, 3, 1], steps=1) != trace
    assert machine.run([0, 3, 1], steps=0)["output"].tolist() == trace["output"][:1].tolist()


def test_a_fresh_machine_has_the_biases_of_the_authors():
    fresh = NeuralGPU.random(2, hidden=3, key=jax.random.key(0))
    assert fresh.reset_bias.tolist() == [0.5] * 3
    np.testing.assert_allclose(fresh.gate_bias, 0.7)
    assert len(fresh.output_bias) == 2


def test_what_the_machine_cannot_read_or_have_is_refused(machine):
    with pytest.raises(InputError, match="position 1 has symbol 4, and the machine reads 0 to 3"):
        machine.run([0, 4])
    with pytest.raises(InputError, match="steps is -1; give 0 or more"):
        machine.run([0], steps=-1)
    with pytest.raises(InputError, match="a hidden unit at least; it was given symbols=2, outputs=2, hidden=0"):
        NeuralGPU.random(2, hidden=0, key=jax.random.key(0))
