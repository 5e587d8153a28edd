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
from jaxtyping import Array, Bool, Float, Int, PyTree

from kleene import stopping
from kleene.errors import InputError
from kleene.machines.ncm import compiler_options
from kleene.teaching.lessons import Lesson, Setting
from kleene.teaching.room import check_room


class Learner(NamedTuple):
    """Everything that a run carries from iteration to iteration, and so all that a checkpoint has to hold."""

    model: PyTree
    optimiser: PyTree
    progress: PyTree
    key: Array
    alive: Bool[Array, "*runs"]
    loss: Float[Array, "*runs"]  # the sum since the last test
    accuracy: Float[Array, "*runs"]  # the same


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

    @property
    def tested(self) -> int:
        """The iteration of the last test, 0 before the first."""
        return int(self.tests[-1]["iteration"]) if self.tests else 0


@dataclass
class Stretch:
    """How many iterations are one call of the jitted program: about as many as take `aim` seconds.

    Between calls the user can stop. What is learned is the same however the iterations are grouped.
    """

    iterations: int = 1
    aim: float = 0.5

    def taught(self, advance: Any, setting: Setting, learners: Learner, progress: Progress, goal: int) -> Learner:
        """The learners after the next stretch, which ends at the `goal` at the latest."""
        count, started = min(self.iterations, goal - progress.iteration), time.perf_counter()
        anew = progress.iteration == progress.tested
        learners = jax.block_until_ready(advance(setting, learners, iterations=np.int32(count), anew=np.bool_(anew)))
        seconds = time.perf_counter() - started
        progress.iteration += count
        progress.seconds += seconds
        if seconds < self.aim / 2 and count == self.iterations:
            self.iterations *= 2
        elif seconds > self.aim * 2:
            self.iterations = max(1, count // 2)
        return learners


def teach(
    plan: Plan,
    *,
    checkpoint: Any = None,
    stop_after: int | None = None,
    on_test: Callable[[Progress], None] | None = None,
    stretch: Stretch | None = None,
) -> tuple[Progress, Learner]:
    """Run the plan; what was measured at each test, and the learners as they are in the end.

    With `checkpoint`, a file is written after each test, and a plan that was killed goes on from it to the very same
    result. A plan of more iterations goes on from it as well: no lesson knows how many there will be, so the result is
    that of a plan which had them from the start. With `stop_after`, the plan ends early once every run has generalised
    in so many tests one after the other, or diverged.
    """
    from kleene.teaching.checkpoints import restored, stored

    setting, learners, advance = teaching_program(plan)
    test = _test_program(plan, setting)
    progress, stretch = Progress(), stretch or Stretch()
    if checkpoint is not None:
        progress, learners = restored(checkpoint, plan, learners)
        learners = _spread(learners)
    kept = progress.iteration
    while progress.tested < plan.iterations and not _is_settled(progress, stop_after):
        goal = _next_test(plan, progress)
        while progress.iteration < goal:
            _tell(plan, progress, checkpoint, kept)
            learners = stretch.taught(advance, setting, learners, progress, goal)
            if stopping.is_asked() and progress.iteration < goal:
                break
        else:
            _test(plan, test, learners, progress)
        if checkpoint is not None:
            stored(checkpoint, plan, progress, learners)
            kept = progress.iteration
        _tell(plan, progress, checkpoint, kept)
        if stopping.is_asked() and progress.tested < plan.iterations:
            raise stopping.Stopped
        if on_test is not None:
            on_test(progress)
    return progress, learners


def _next_test(plan: Plan, progress: Progress) -> int:
    """The iteration of the next test: a multiple of `test_every`, or the last."""
    return max(progress.iteration, min(plan.iterations, (progress.tested // plan.test_every + 1) * plan.test_every))


def _tell(plan: Plan, progress: Progress, checkpoint: Any, kept: int) -> None:
    """Say what is told when the user stops: how far the plan has come, and how to go on."""
    if checkpoint is None:
        told = "nothing was kept. With --checkpoint FILE, the same command goes on from where it was stopped"
    elif kept:
        told = f"{str(checkpoint)!r} has {kept:,}, and the same command goes on from there"
    else:
        told = f"{str(checkpoint)!r} has none yet, and the same command begins again"
    line = f"stopped after {progress.iteration:,} of {plan.iterations:,} iterations: {told}"
    stopping.tell(line, at_stake=checkpoint is not None and progress.iteration > kept)


def teaching_program(plan: Plan) -> tuple[Setting, Learner, Any]:
    """The settings and fresh learners of all runs, and the jitted function that teaches them some iterations more."""
    check_room(plan)
    one_step = functools.partial(_advance, plan.lesson)
    advance = jax.jit(one_step, donate_argnums=1, compiler_options=compiler_options())
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
        nothing = jnp.array(0, jnp.float32)
        state = plan.lesson.optimiser.init(trainable)
        return Learner(
            model, state, plan.lesson.beginning(), jax.random.key_data(rest), jnp.array(True), nothing, nothing
        )

    seeds = jnp.array(plan.seeds * len(plan.settings), jnp.uint32)
    return jax.jit(jax.vmap(begin), compiler_options=compiler_options())(seeds)


def _advance(
    lesson: Lesson, setting: Setting, learners: Learner, *, iterations: Int[Array, ""], anew: Bool[Array, ""]
) -> Learner:
    """All runs after so many iterations more; with `anew`, the sums of `loss` and `accuracy` begin again.

    The number of iterations is no constant, so that one program is compiled for all, and gives the same bits for all.
    """

    def run(one: Setting, learner: Learner) -> Learner:
        summed = (jnp.where(anew, 0, total) for total in (learner.loss, learner.accuracy))
        learner = learner._replace(**dict(zip(("loss", "accuracy"), summed)))
        return jax.lax.fori_loop(0, iterations, lambda _, now: _update(lesson, one, now), learner)

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
        learner.loss + loss,
        learner.accuracy + measured["accuracy"],
    )
    return jax.tree.map(lambda new, old: jnp.where(alive, new, old), after, learner)._replace(alive=alive)


def _test(plan: Plan, test: Callable, learners: Learner, progress: Progress) -> None:
    """Measure all runs. Every test of a run is on the same examples, so that its curve is comparable."""
    started = time.perf_counter()
    keys = jax.vmap(lambda seed: jax.random.fold_in(jax.random.key(seed), 1 << 30))(
        jnp.array(plan.seeds * len(plan.settings), jnp.uint32)
    )
    found = {name: np.asarray(array) for name, array in test(learners.model, keys).items()}
    alive, since = np.asarray(learners.alive), max(1, progress.iteration - progress.tested)
    found["generalises"] = np.asarray(plan.lesson.generalises(found)) & alive
    for name, total in (("loss", learners.loss), ("accuracy", learners.accuracy)):
        found[name] = np.where(alive, np.asarray(total) / np.float32(since), np.float32(np.nan))
    progress.tests.append(found | {"alive": alive, "iteration": np.array(progress.iteration)})
    progress.seconds += time.perf_counter() - started


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
