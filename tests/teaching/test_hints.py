"""Equation 8."""

import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from kleene.errors import InputError
from kleene.teaching.hints import Hints, hint_loss, with_hints

STEPS, CLASSES = 4, 3
weights = arrays(np.float32, STEPS, elements=st.sampled_from([0.0, 0.25, 1.0, 2.0]))
scores = arrays(np.float32, (STEPS, CLASSES), elements=st.floats(-3, 3, width=32))
targets = arrays(np.int32, STEPS, elements=st.integers(0, CLASSES - 1))


def log_probabilities(values):
    return jnp.log(jnp.exp(values) / jnp.exp(values).sum(axis=-1, keepdims=True))


def plain(channels):
    """The weighted mean, one hint at a time."""
    total = weight = 0.0
    for values, wanted, weighs in channels:
        for step in range(STEPS):
            chances = np.exp(values[step]) / np.exp(values[step]).sum()
            total -= weighs[step] * np.log(chances[wanted[step]])
            weight += weighs[step]
    return total / weight if weight else 0.0


@given(scores, targets, weights, scores, targets, weights)
def test_the_loss_is_the_weighted_mean_over_the_hints_of_all_channels(a, at, aw, b, bt, bw):
    subtrace = {"a": Hints(jnp.array(at), jnp.array(aw)), "b": Hints(jnp.array(bt), jnp.array(bw))}
    found = hint_loss({"a": log_probabilities(a), "b": log_probabilities(b)}, subtrace)
    assert float(found) == pytest.approx(plain([(a, at, aw), (b, bt, bw)]), abs=1e-4)


@given(scores, targets, weights, st.sampled_from([0.5, 3.0, 100.0]))
def test_scaling_all_weights_changes_nothing(values, wanted, weighs, factor):
    one, other = (
        hint_loss({"a": log_probabilities(values)}, {"a": Hints(jnp.array(wanted), jnp.array(weighs * f))})
        for f in (1, factor)
    )
    assert float(one) == pytest.approx(float(other), abs=1e-5)


def test_without_hints_the_task_is_all_there_is_even_where_the_trace_is_impossible():
    impossible = {"a": jnp.log(jnp.array([[1.0, 0.0]]))}
    nothing = {"a": Hints(jnp.array([1]), jnp.zeros(1))}
    assert float(with_hints(jnp.array(0.7), 5.0, impossible, nothing)) == pytest.approx(0.7)


def test_without_hints_the_gradient_is_that_of_the_task():
    import jax

    def loss(scores):
        read = {"a": jax.nn.log_softmax(scores)[None]}
        return with_hints(scores.sum(), 5.0, read, {"a": Hints(jnp.array([0]), jnp.zeros(1))})

    assert jax.grad(loss)(jnp.ones(3)).tolist() == [1.0, 1.0, 1.0]


def test_hints_written_down_are_the_arrays_they_stand_for():
    found = Hints.at({(0, 1): 2, (3, 0): (1, 0.25)}, shape=(4, 2), classes=3)
    assert found.targets.tolist() == [[0, 2], [0, 0], [0, 0], [1, 0]]
    assert found.weights.tolist() == [[0, 1], [0, 0], [0, 0], [0.25, 0]]


@pytest.mark.parametrize(
    ("entries", "complaint"),
    [
        ({4: 0}, "a hint is for 4, which is outside the run: the step is within 0..3"),
        ({-1: 0}, "a hint is for -1, which is outside"),
        ({(0, 1): 0}, "a hint is for 0, 1, which is outside"),
        ({2: 5}, "the hint for step 2 says 5, and the channel has 0..4"),
        ({2: (1, -1.0)}, "the hint for step 2 has weight -1.0"),
    ],
)
def test_hints_outside_the_run_or_the_channel_are_refused(entries, complaint):
    with pytest.raises(InputError, match=complaint):
        Hints.at(entries, shape=[4], classes=5)
