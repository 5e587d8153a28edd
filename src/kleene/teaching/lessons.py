"""What the loop asks of a machine and a task that it is to teach."""

from collections.abc import Sequence
from typing import Any, Protocol

import equinox as eqx
import numpy as np
import optax
from jaxtyping import Array, Float, Int, PRNGKeyArray, PyTree


class Setting(eqx.Module):
    """How one run is taught; a grid of runs has each of these as an array."""

    kind: Int[Array, "*runs"]  # which kind of hint, counting along the lesson's `kinds`
    density: Float[Array, "*runs"]  # the share of examples that get hints
    strength: Float[Array, "*runs"]  # λ of equation 8


class Lesson(Protocol):
    """A machine and a task, ready to be taught. Everything but `name`, `kinds` and `optimiser` is of one run.

    The loop does the rest: it vmaps over runs, scans over iterations, takes gradients, keeps the runs apart, tests,
    stores and resumes.
    """

    @property
    def name(self) -> str: ...

    @property
    def kinds(self) -> tuple[str, ...]:
        """The kinds of hints; the first is "none". A lesson of several texts has these for its kinds."""
        ...

    @property
    def optimiser(self) -> optax.GradientTransformation: ...

    @property
    def default_iterations(self) -> int: ...

    @property
    def lengths(self) -> Sequence[int]:
        """The lengths, or difficulties, of the tests."""
        ...

    def fresh(self, key: PRNGKeyArray) -> PyTree:
        """A model with fresh weights: a pytree of arrays, decoders that are trained along included."""
        ...

    def beginning(self) -> PyTree:
        """Where the curriculum begins: a pytree of arrays. An empty one where there is none."""
        ...

    def examples(self, key: PRNGKeyArray, progress: PyTree, setting: Setting) -> PyTree:
        """A batch of examples with their subtraces."""
        ...

    def loss(self, model: PyTree, batch: PyTree, setting: Setting) -> tuple[Float[Array, ""], dict[str, Array]]:
        """The mean of equation 8 over the batch, and scalars measured on the way, `accuracy` among them.

        Where "carried" is among them, it is the progress that `advance` goes on from: what a network remembers goes
        from batch to batch so, without being computed twice.
        """
        ...

    def advance(self, model: PyTree, progress: PyTree, key: PRNGKeyArray, setting: Setting) -> PyTree:
        """The curriculum after an update."""
        ...

    def test(self, model: PyTree, key: PRNGKeyArray) -> dict[str, Array]:
        """`accuracy_by_length`, the share of right answers for each of `lengths`, and further measurements.

        A lesson whose tests are not the same for every setting has `test_with(model, key, setting)` as well.
        """
        ...

    def generalises(self, tested: dict[str, np.ndarray]) -> np.ndarray:
        """Whether each run generalises, from what the tests of all runs measured (runs first)."""
        ...

    def facts(self) -> dict[str, Any]:
        """What decides what is learned besides settings and seeds, as plain values: a checkpoint must match it."""
        ...
