"""A plan is what to teach: every setting with every seed, for a number of iterations. `Progress` is how far it came."""

from dataclasses import dataclass, field
from typing import Any, NamedTuple

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, PyTree

from kleene.errors import InputError
from kleene.teaching.lesson import Teachable
from kleene.teaching.task import Setting


@dataclass(frozen=True)
class Plan:
    """What to teach: every one of `settings` with every one of `seeds` is a run, taught for `iterations` updates."""

    lesson: Teachable
    settings: tuple[dict[str, Any], ...]  # kind, density, strength
    seeds: tuple[int, ...]
    iterations: int
    test_every: int

    @staticmethod
    def grid(
        lesson: Teachable,
        *,
        kinds: tuple[str, ...] | None = None,
        densities: tuple[float, ...] = (1.0,),
        strengths: tuple[float, ...] = (1.0,),
        seeds: int = 10,
        first_seed: int = 0,
        iterations: int | None = None,
        test_every: int | None = None,
    ) -> "Plan":
        """The plan of every kind with every density and strength, each with every seed; "none" is one setting.

        Without `kinds`, the lesson's first is taken: "none", or the first text of a language lesson.
        """
        kinds = lesson.kinds[:1] if kinds is None else kinds
        _check_grid(lesson, kinds, densities, strengths)
        _check_seeds(first_seed, seeds)
        settings: list[dict[str, Any]] = []
        for kind in dict.fromkeys(kinds):
            pairs = [(0.0, 0.0)] if kind == "none" else [(d, s) for d in densities for s in strengths]
            settings += [{"kind": kind, "density": d, "strength": s} for d, s in pairs]
        total = lesson.iterations if iterations is None else iterations
        every = max(1, total // 10) if test_every is None else test_every
        if total < 1 or every < 1:
            raise InputError(f"iterations is {total} and test_every {every}; both are 1 or more")
        return Plan(lesson, tuple(settings), tuple(range(first_seed, first_seed + seeds)), total, every)

    @property
    def runs(self) -> int:
        return len(self.settings) * len(self.seeds)

    def setting(self) -> Setting:
        """The settings of all runs as arrays: the first setting with all seeds, then the next."""
        repeated = [s for s in self.settings for _ in self.seeds]
        return Setting(
            kind=jnp.array([self.lesson.kinds.index(s["kind"]) for s in repeated], jnp.int32),
            density=jnp.array([s["density"] for s in repeated], jnp.float32),
            strength=jnp.array([s["strength"] for s in repeated], jnp.float32),
        )

    def facts(self) -> dict[str, Any]:
        """The plan as plain values: what a checkpoint must match."""
        return {
            "lesson": self.lesson.facts(),
            "settings": [dict(s) for s in self.settings],
            "seeds": list(self.seeds),
            "iterations": self.iterations,
            "test_every": self.test_every,
        }


def _check_grid(lesson: Teachable, kinds: Any, densities: Any, strengths: Any) -> None:
    for kind in kinds:
        if kind not in lesson.kinds:
            raise InputError(f"no hints of kind {kind!r} for {lesson.name}; there are {', '.join(lesson.kinds)}")
    for density in densities:
        if not 0 <= density <= 1:
            raise InputError(f"the density is {density}; it is the share of examples with hints, from 0 to 1")
    for strength in strengths:
        if not (np.isfinite(strength) and strength >= 0):
            raise InputError(f"the strength is {strength}; it is a number, 0 or more")


def _check_seeds(first: int, count: int) -> None:
    if count < 1:
        raise InputError(f"seeds is {count}; give 1 or more")
    if not 0 <= first <= 2**32 - count:
        raise InputError(f"the seeds are {first} to {first + count - 1}; a seed is from 0 to {2**32 - 1}")


class Learner(NamedTuple):
    """Everything that a run carries from one iteration to the next; a checkpoint holds all of it."""

    model: PyTree
    optimiser: PyTree
    progress: PyTree
    key: Array
    alive: Bool[Array, "*runs"]
    loss: Float[Array, "*runs"]  # summed since the last test
    accuracy: Float[Array, "*runs"]  # summed since the last test


@dataclass
class Progress:
    """How far a plan has come: its iteration, the time it took, and the measurements of each test, runs first."""

    iteration: int = 0
    seconds: float = 0.0
    tests: list[dict[str, np.ndarray]] = field(default_factory=list)  # "iteration", and arrays over all runs

    @property
    def tested(self) -> int:
        """The iteration of the last test, 0 before the first."""
        return int(self.tests[-1]["iteration"]) if self.tests else 0
