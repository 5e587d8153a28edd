"""AdaMax for Neural GPUs against its equations in plain numpy."""

import jax
import jax.numpy as jnp
import numpy as np

from kleene.teaching.optimisers import clipped_adamax


def test_clipped_adamax_is_its_equations():
    optimiser, generator = clipped_adamax(0.01), np.random.default_rng(0)
    update = jax.jit(optimiser.update)
    weights = {"a": jnp.zeros(5), "b": jnp.zeros((2, 2))}
    state = optimiser.init(weights)
    mean = {name: np.zeros(w.shape) for name, w in weights.items()}
    largest = {name: np.zeros(w.shape) for name, w in weights.items()}
    for step in range(30):
        gradient = {
            name: generator.normal(size=w.shape) * 10.0 ** generator.integers(-5, 2) for name, w in mean.items()
        }
        changes, state = update(jax.tree.map(jnp.float32, gradient), state)
        for name, found in gradient.items():
            bound = 1.2 * largest[name] + 1e-4
            found = np.minimum(bound, np.maximum(-bound, found))
            mean[name] = 0.9 * mean[name] + 0.1 * found
            fading = max(0.0005, 0.01 * 0.5 ** (step / 2000))
            largest[name] = np.maximum((1 - fading) * largest[name], np.abs(found))
            np.testing.assert_allclose(changes[name], -0.01 * mean[name] / (largest[name] + 1e-8), rtol=1e-4, atol=1e-9)


def test_a_gradient_that_explodes_is_followed_only_as_far_as_those_before_it():
    optimiser = clipped_adamax(0.01)
    state = optimiser.init(jnp.zeros(()))
    for gradient in (1e-4, 1e-4, 1e6):
        change, state = optimiser.update(jnp.asarray(gradient), state)
    assert float(state.largest) < 2.3e-4
    assert -0.01 < float(change) < 0
