"""The training loop: many seeds and many settings at once, one jitted program, resumable at any moment.

The runs are the first axis of every array. They share nothing: a run that diverges is stopped by itself, and a run
among a thousand is the same run that it would be alone. The axis is spread over all local devices.
"""

import functools
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import optax
from jaxtyping import Array, Bool, Float, PyTree

from kleene.errors import InputError
from kleene.machines.quick_compiling import compiler_options
from kleene.teaching.lessons import Lesson, Setting
from kleene.teaching.room import check_room


class Learner(NamedTuple):
    """Everything that a run carries from iteration to iteration, and so all that a checkpoint has to hold."""

    model: PyTree
    optimiser: PyTree
    progress: PyTree
    key: Array
    alive: Bool[Array, "*runs"]
    loss: Float[Array, "*runs"]
    accuracy: Float[Array, "*runs"]


@dataclass(frozen=True)
class Plan:
    """What is to be taught: a row of `settings` for every run, the `seeds` of the runs, and for how long."""

    lesson: Lesson
    settings: tuple[dict[str, Any], ...]  # kind, density, strength
    seeds: tuple[int, ...]
    iterations: int
    test_every: int

    @staticmethod
    def grid(
        lesson: Lesson,
        *,
        kinds: tuple[str, ...] | None = None,
        densities: tuple[float, ...] = (1.0,),
        strengths: tuple[float, ...] = (1.0,),
        seeds: int = 10,
        first_seed: int = 0,
        iterations: int | None = None,
        test_every: int | None = None,
    ) -> "Plan":
        """Every kind with every density and strength, and every one of these with every seed; "none" stands once.

        Without `kinds`, there is the lesson's first: "none", or the first text of a language lesson.
        """
        kinds = lesson.kinds[:1] if kinds is None else kinds
        _check_grid(lesson, kinds, densities, strengths)
        _check_seeds(first_seed, seeds)
        settings: list[dict[str, Any]] = []
        for kind in dict.fromkeys(kinds):
            pairs = [(0.0, 0.0)] if kind == "none" else [(d, s) for d in densities for s in strengths]
            settings += [{"kind": kind, "density": d, "strength": s} for d, s in pairs]
        total = lesson.default_iterations if iterations is None else iterations
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


def _check_grid(lesson: Lesson, kinds: Any, densities: Any, strengths: Any) -> None:
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


@dataclass
class Progress:
    """How far a plan has come: what was measured at each test so far, runs first, and the time it took."""

    iteration: int = 0
    seconds: float = 0.0
    tests: list[dict[str, np.ndarray]] = field(default_factory=list)  # each with "iteration", and arrays of all runs


def teach(
    plan: Plan,
    *,
    checkpoint: Any = None,
    stop_after: int | None = None,
    on_test: Callable[[Progress], None] | None = None,
) -> tuple[Progress, Learner]:
    """Run the plan; what was measured at each test, and the learners as they are in the end.

    With `checkpoint`, a file is written after each test, and a plan that was killed goes on from it to the very same
    result. With `stop_after`, the plan ends early once every run has generalised in so many tests one after the other,
    or diverged.
    """
    from kleene.teaching.checkpoints import restored, stored

    setting, learners, advance = teaching_program(plan)
    test = _test_program(plan, setting)
    progress = Progress()
    if checkpoint is not None:
        progress, learners = restored(checkpoint, plan, learners)
        learners = _spread(learners)
    while progress.iteration < plan.iterations and not _is_settled(progress, stop_after):
        started = time.perf_counter()
        iterations = min(plan.test_every, plan.iterations - progress.iteration)
        learners = advance(setting, learners, iterations=iterations)
        progress.iteration += iterations
        progress.tests.append(_tested(plan, test, learners, progress.iteration))
        progress.seconds += time.perf_counter() - started
        if checkpoint is not None:
            stored(checkpoint, plan, progress, learners)
        if on_test is not None:
            on_test(progress)
    return progress, learners


def teaching_program(plan: Plan) -> tuple[Setting, Learner, Any]:
    """The settings and fresh learners of all runs, and the jitted function that teaches them some iterations more."""
    check_room(plan)
    one_step = functools.partial(_advance, plan.lesson)
    advance = jax.jit(one_step, static_argnames="iterations", donate_argnums=1, compiler_options=compiler_options())
    return _spread(plan.setting()), _spread(_fresh(plan)), advance


def _test_program(plan: Plan, setting: Setting) -> Callable[[PyTree, Array], dict[str, Array]]:
    """The jitted tests of all runs, given their models and keys."""
    tests = getattr(plan.lesson, "test_with", None)
    if tests is None:
        return jax.jit(jax.vmap(plan.lesson.test), compiler_options=compiler_options())
    jitted = jax.jit(jax.vmap(tests), compiler_options=compiler_options())
    return lambda models, keys: jitted(models, keys, setting)


def _fresh(plan: Plan) -> Learner:
    """The learners before the first iteration. Runs of a seed begin with the same weights, whatever their hints."""

    def begin(seed: Array) -> Learner:
        first, rest = jax.random.split(jax.random.key(seed))
        model = plan.lesson.fresh(first)
        trainable = eqx.filter(model, eqx.is_inexact_array)
        nothing = jnp.array(jnp.nan, jnp.float32)
        state = plan.lesson.optimiser.init(trainable)
        return Learner(
            model, state, plan.lesson.beginning(), jax.random.key_data(rest), jnp.array(True), nothing, nothing
        )

    seeds = jnp.array(plan.seeds * len(plan.settings), jnp.uint32)
    return jax.jit(jax.vmap(begin), compiler_options=compiler_options())(seeds)


def _advance(lesson: Lesson, setting: Setting, learners: Learner, *, iterations: int) -> Learner:
    """All runs after so many iterations more; `loss` and `accuracy` are the means over these."""

    def run(one: Setting, learner: Learner) -> Learner:
        def step(learner: Learner, _: None) -> tuple[Learner, tuple[Array, Array]]:
            learner = _update(lesson, one, learner)
            return learner, (learner.loss, learner.accuracy)

        learner, (losses, accuracies) = jax.lax.scan(step, learner, None, length=iterations)
        return learner._replace(loss=losses.mean(), accuracy=accuracies.mean())

    return jax.vmap(run)(setting, learners)


def _update(lesson: Lesson, setting: Setting, learner: Learner) -> Learner:
    """One run after one iteration. A run whose loss or gradient is not finite stays as it is from then on."""
    rest, for_examples, for_progress = jax.random.split(jax.random.wrap_key_data(learner.key), 3)
    batch = lesson.examples(for_examples, learner.progress, setting)
    trainable, fixed = eqx.partition(learner.model, eqx.is_inexact_array)

    def loss_of(weights: PyTree) -> tuple[Array, dict[str, Array]]:
        return lesson.loss(eqx.combine(weights, fixed), batch, setting)

    (loss, measured), gradient = jax.value_and_grad(loss_of, has_aux=True)(trainable)
    updates, state = lesson.optimiser.update(gradient, learner.optimiser, trainable)
    model = eqx.combine(optax.apply_updates(trainable, updates), fixed)
    progress = measured.get("carried", learner.progress)
    alive = learner.alive & jnp.isfinite(loss) & jnp.isfinite(optax.tree.norm(gradient))
    after = Learner(
        model,
        state,
        lesson.advance(model, progress, for_progress, setting),
        jax.random.key_data(rest),
        alive,
        loss,
        measured["accuracy"],
    )
    return jax.tree.map(lambda new, old: jnp.where(alive, new, old), after, learner)._replace(alive=alive)


def _tested(plan: Plan, test: Callable, learners: Learner, iteration: int) -> dict[str, np.ndarray]:
    """What the tests measured. Every test of a run is on the same examples, so that its curve is comparable."""
    keys = jax.vmap(lambda seed: jax.random.fold_in(jax.random.key(seed), 1 << 30))(
        jnp.array(plan.seeds * len(plan.settings), jnp.uint32)
    )
    found = {name: np.asarray(array) for name, array in test(learners.model, keys).items()}
    found["generalises"] = np.asarray(plan.lesson.generalises(found)) & np.asarray(learners.alive)
    found |= {"loss": np.asarray(learners.loss), "accuracy": np.asarray(learners.accuracy)}
    return found | {"alive": np.asarray(learners.alive), "iteration": np.array(iteration)}


def _is_settled(progress: Progress, stop_after: int | None) -> bool:
    if stop_after is None or len(progress.tests) < stop_after:
        return False
    last = progress.tests[-stop_after:]
    return bool(all((test["generalises"] | ~test["alive"]).all() for test in last))


def _spread(tree: PyTree) -> PyTree:
    """The arrays with their first axis, the runs, spread over as many local devices as divide it."""
    runs, devices = jax.tree.leaves(tree)[0].shape[0], jax.local_devices()
    count = max(n for n in range(1, len(devices) + 1) if runs % n == 0)
    mesh = jax.sharding.Mesh(np.array(devices[:count]), ("runs",))
    return jax.device_put(tree, jax.sharding.NamedSharding(mesh, jax.sharding.PartitionSpec("runs")))
