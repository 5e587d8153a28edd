"""The training loop: many seeds and settings at once in one jitted program, resumable at any moment.

The runs are the first axis of every array, sharded over all local devices; each CPU core can be one. They share
nothing: only the run that diverges is stopped, and a run among a thousand computes what it would compute alone. A plan
that does not fit into memory is refused before anything is allocated.
"""

import functools
import math
import os
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import optax
from jaxtyping import Array, Bool, Int, PyTree

from kleene import stopping
from kleene.limits import check_memory, usable_memory
from kleene.machines.ncm import compiler_options
from kleene.teaching.lesson import Measured, Setting, Teachable
from kleene.teaching.plan import Learner, Plan, Progress, restored, stored

SMALLER = "use fewer seeds, or a smaller size"
COPIES = 3  # of a learner's weights and optimiser state: the old, the new and the gradient


@dataclass
class Stretch:
    """The number of iterations in one call of the jitted program, adapted so that a call takes about `aim` seconds.

    The user can stop between calls. The result does not depend on how iterations are grouped.
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
    keep_every: float = 60.0,
    stop_after: int | None = None,
    enough: Callable[[Progress], bool] | None = None,
    on_test: Callable[[Progress], None] | None = None,
    on_learners: Callable[[Progress, Learner], None] | None = None,
    should_stop: Callable[[Progress], bool] | None = None,
    stretch: Stretch | None = None,
) -> tuple[Progress, Learner]:
    """Run the plan; returns its progress with all measurements, and the learners at the end.

    With `checkpoint`, a file is written after each test and `keep_every` seconds, and a killed plan continues from it
    to the very same result. A plan of more iterations continues from it as well. Its result is that of a plan which had
    them from the start, because no lesson knows the number of iterations. With `stop_after`, the plan ends early once
    every run has generalised in that many tests in a row, or diverged; so it does after a test at which `enough` says
    yes. After each test `on_test` gets the progress, and `on_learners` the learners too, whose arrays are gone once the
    next iteration begins. `should_stop` is asked between calls of the jitted program, about twice a second; once it
    says yes, the checkpoint is written and `stopping.Stopped` raised.
    """
    setting, learners, advance = teaching_program(plan)
    test = _test_program(plan, setting)
    progress, stretch = Progress(), stretch or Stretch()
    if checkpoint is not None:
        progress, learners = restored(checkpoint, plan, learners)
        learners = spread(learners)
    kept, kept_at = progress.iteration, time.monotonic()

    def is_stopped() -> bool:
        return stopping.is_asked() or (should_stop is not None and should_stop(progress))

    def is_settled() -> bool:
        return _is_settled(progress, stop_after) or bool(enough and progress.tests and enough(progress))

    while progress.tested < plan.iterations and not is_settled():
        goal = _next_test(plan, progress)
        while progress.iteration < goal:
            _report_stop(plan, progress, checkpoint, kept)
            learners = stretch.taught(advance, setting, learners, progress, goal)
            if progress.iteration < goal and (is_stopped() or _is_due(checkpoint, kept_at, keep_every)):
                break
        else:
            _test(plan, test, learners, progress)
        if checkpoint is not None:
            stored(checkpoint, plan, progress, learners)
            kept, kept_at = progress.iteration, time.monotonic()
        _report_stop(plan, progress, checkpoint, kept)
        if progress.tested < plan.iterations and is_stopped():
            raise stopping.Stopped
        if on_test is not None and progress.tested == progress.iteration:
            on_test(progress)
        if on_learners is not None and progress.tested == progress.iteration:
            on_learners(progress, learners)
    _close(plan, learners, progress)
    return progress, learners


def _close(plan: Plan, learners: Learner, progress: Progress) -> None:
    """Add the lesson's closing measurements to those of the last test, which the checkpoint keeps without them."""
    closing = getattr(plan.lesson, "closing", None)
    if closing is not None:
        started = time.perf_counter()
        found = jax.jit(jax.vmap(closing), compiler_options=compiler_options())(learners.model)
        progress.tests[-1] = progress.tests[-1] | {name: np.asarray(array) for name, array in found.items()}
        progress.seconds += time.perf_counter() - started


def _is_due(checkpoint: Any, kept_at: float, keep_every: float) -> bool:
    return checkpoint is not None and time.monotonic() - kept_at > keep_every


def _next_test(plan: Plan, progress: Progress) -> int:
    """The iteration of the next test: a multiple of `test_every`, or the last."""
    return max(progress.iteration, min(plan.iterations, (progress.tested // plan.test_every + 1) * plan.test_every))


def _report_stop(plan: Plan, progress: Progress, checkpoint: Any, kept: int) -> None:
    """Announce the line for a user who stops now: how far the plan has come, and how to continue."""
    if checkpoint is None:
        advice = "nothing was kept. With --checkpoint FILE, the same command goes on from where it was stopped"
    elif kept:
        advice = f"{str(checkpoint)!r} has {kept:,}, and the same command goes on from there"
    else:
        advice = f"{str(checkpoint)!r} has none yet, and the same command begins again"
    line = f"stopped after {progress.iteration:,} of {plan.iterations:,} iterations: {advice}"
    stopping.announce(line, at_stake=checkpoint is not None and progress.iteration > kept)


def teaching_program(plan: Plan) -> tuple[Setting, Learner, Any]:
    """The settings and fresh learners of all runs, and the compiled function that advances them by some iterations.

    Raises `MemoryLimitError` if the compiled program needs more memory than the devices have.
    """
    check_room(plan)
    setting, learners = spread(plan.setting()), spread(fresh_learners(plan))
    one_step = functools.partial(_advance, plan.lesson)
    advance = jax.jit(one_step, donate_argnums=1, compiler_options=compiler_options())
    program = advance.lower(setting, learners, iterations=np.int32(1), anew=np.bool_(True)).compile()
    _refuse_large(plan, memory_of(program, learners))
    return setting, learners, program


def memory_of(program: Any, learners: Learner) -> int:
    """The bytes that a compiled program needs on all devices: its arguments, its results, and what comes between."""
    stats = program.memory_analysis()
    if stats is None:  # some backends do not say
        return 0
    used = stats.argument_size_in_bytes + stats.output_size_in_bytes - stats.alias_size_in_bytes
    return int(used + stats.temp_size_in_bytes) * len(jax.tree.leaves(learners)[0].sharding.device_set)


def _refuse_large(plan: Plan, needed: int) -> None:
    check_memory(needed, f"teaching {_runs(plan)} of {plan.lesson.name}", SMALLER, device_memory())


def _runs(plan: Plan) -> str:
    return "1 run" if plan.runs == 1 else f"{plan.runs:,} runs"


def _test_program(plan: Plan, setting: Setting) -> Callable[[PyTree, Array], dict[str, Array]]:
    """The jitted tests of all runs, given their models and keys."""
    jitted = jax.jit(jax.vmap(plan.lesson.test), compiler_options=compiler_options())
    return lambda models, keys: jitted(models, keys, setting)


def fresh_learners(plan: Plan) -> Learner:
    """The learners before the first iteration. Runs of one seed begin with the same weights, whatever their hints."""

    def begin(seed: Array) -> Learner:
        first, rest = jax.random.split(jax.random.key(seed))
        model = plan.lesson.fresh(first)
        trainable = eqx.filter(model, eqx.is_inexact_array)
        nothing = jnp.array(0, jnp.float32)
        state = plan.lesson.optimiser.init(trainable)
        return Learner(
            model, state, plan.lesson.beginning(), jax.random.key_data(rest), jnp.array(True), nothing, nothing
        )

    return jax.jit(jax.vmap(begin), compiler_options=compiler_options())(plan.run_seeds)


def _advance(
    lesson: Teachable, setting: Setting, learners: Learner, *, iterations: Int[Array, ""], anew: Bool[Array, ""]
) -> Learner:
    """All runs after `iterations` more updates; with `anew`, the sums of `loss` and `accuracy` restart at 0.

    The number of iterations is traced, so that one compiled program serves all numbers and gives the same bits.
    """

    def run(one: Setting, learner: Learner) -> Learner:
        summed = (jnp.where(anew, 0, total) for total in (learner.loss, learner.accuracy))
        learner = learner._replace(**dict(zip(("loss", "accuracy"), summed)))
        return jax.lax.fori_loop(0, iterations, lambda _, now: _update(lesson, one, now), learner)

    return jax.vmap(run)(setting, learners)


def _update(lesson: Teachable, setting: Setting, learner: Learner) -> Learner:
    """One run after one iteration. A run whose loss or gradient is not finite does not change from then on, and one
    whose curriculum has ended keeps its weights.
    """
    rest, for_examples, for_progress = jax.random.split(jax.random.wrap_key_data(learner.key), 3)
    batch = lesson.examples(for_examples, learner.progress, setting)
    trainable, fixed = eqx.partition(learner.model, eqx.is_inexact_array)

    def loss_of(weights: PyTree) -> tuple[Array, Measured]:
        return lesson.loss(eqx.combine(weights, fixed), batch, setting)

    (loss, measured), gradient = jax.value_and_grad(loss_of, has_aux=True)(trainable)
    updates, state = lesson.optimiser.update(gradient, learner.optimiser, trainable)
    model = eqx.combine(optax.apply_updates(trainable, updates), fixed)
    progress = learner.progress if measured.progress is None else measured.progress
    ended = lesson.finished(learner.progress)
    alive = learner.alive & jnp.isfinite(loss) & jnp.isfinite(optax.tree.norm(gradient))
    after = Learner(
        model,
        state,
        lesson.advance(model, progress, for_progress),
        jax.random.key_data(rest),
        alive,
        learner.loss + loss,
        learner.accuracy + measured.accuracy,
    )
    if ended is not False:
        kept = ("model", "optimiser", "progress")
        after = after._replace(**{name: _unless(ended, getattr(after, name), getattr(learner, name)) for name in kept})
    return _unless(~alive, after, learner)._replace(alive=alive)


def _unless(condition: Any, new: PyTree, old: PyTree) -> PyTree:
    return jax.tree.map(lambda new, old: jnp.where(condition, old, new), new, old)


def _test(plan: Plan, test: Callable, learners: Learner, progress: Progress) -> None:
    """Measure all runs. All tests of a run have the same examples, so that they can be compared."""
    started = time.perf_counter()
    keys = jax.vmap(lambda seed: jax.random.fold_in(jax.random.key(seed), 1 << 30))(plan.run_seeds)
    found = {name: np.asarray(array) for name, array in test(learners.model, keys).items()}
    alive, since = np.asarray(learners.alive), max(1, progress.iteration - progress.tested)
    found["generalises"] = np.asarray(plan.lesson.generalises(found)) & alive
    for name, total in (("loss", learners.loss), ("accuracy", learners.accuracy)):
        found[name] = np.where(alive, np.asarray(total) / np.float32(since), np.float32(np.nan))
    found |= {name: np.asarray(array) for name, array in plan.lesson.reached(learners.progress).items()}
    progress.tests.append(found | {"alive": alive, "iteration": np.array(progress.iteration)})
    progress.seconds += time.perf_counter() - started


def _is_settled(progress: Progress, stop_after: int | None) -> bool:
    if stop_after is None or len(progress.tests) < stop_after:
        return False
    last = progress.tests[-stop_after:]
    return bool(all((test["generalises"] | ~test["alive"]).all() for test in last))


def use_all_cores(cores: int | None = None) -> None:
    """Let jax see as many CPU devices as there are cores, or `cores`, so that the loop spreads its runs over them.

    XLA uses little more than one core for arrays of this size. Call this before jax computes anything; afterwards, or
    where XLA_FLAGS sets the number of devices, it changes nothing.
    """
    if "xla_force_host_platform_device_count" in os.environ.get("XLA_FLAGS", ""):
        return
    try:
        jax.config.update("jax_num_cpu_devices", cores or usable_cores())
    except RuntimeError:  # jax has begun to compute
        return


def usable_cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def spread(tree: PyTree) -> PyTree:
    """The arrays with their first axis, the runs, sharded over the largest number of local devices that divides it."""
    runs, devices = jax.tree.leaves(tree)[0].shape[0], jax.local_devices()
    count = max(n for n in range(1, len(devices) + 1) if runs % n == 0)
    mesh = jax.sharding.Mesh(np.array(devices[:count]), ("runs",))
    return jax.device_put(tree, jax.sharding.NamedSharding(mesh, jax.sharding.PartitionSpec("runs")))


def check_room(plan: Plan, most: int | None = None) -> None:
    """Refuse a plan that takes more memory than the device has left, or than `most` bytes; nothing is allocated.

    The memory that an update keeps for its gradient is counted from the traced loss. Tracing takes a second, so it is
    done only where a rough estimate, ten numbers for every entry of an example and every row of a weight, does not fit.
    """
    lesson = plan.lesson
    key = jax.eval_shape(lambda: jax.random.key(0))
    learner = jax.eval_shape(lambda key: _learner(lesson, key), key)
    setting = jax.tree.map(lambda leaf: jax.ShapeDtypeStruct(leaf.shape[1:], leaf.dtype), plan.setting())
    examples = jax.eval_shape(lesson.examples, key, learner[2], setting)
    widest = max((axis for leaf in jax.tree.leaves(learner) for axis in leaf.shape), default=1)
    left = most or device_memory()
    fixed = COPIES * _bytes(learner) + _bytes(examples)
    if plan.runs * (fixed + 10 * widest * _bytes(examples)) <= left:
        return
    if plan.runs * fixed <= left:
        fixed += _bytes(jax.eval_shape(lambda *given: _kept(lesson, *given), key, setting))
    check_memory(plan.runs * fixed, f"teaching {_runs(plan)} of {lesson.name}", SMALLER, left)


def _learner(lesson: Any, key: Any) -> tuple[Any, Any, Any]:
    model = lesson.fresh(key)
    arrays = eqx.filter(model, eqx.is_array)
    return arrays, lesson.optimiser.init(eqx.filter(model, eqx.is_inexact_array)), lesson.beginning()


def _kept(lesson: Any, key: Any, setting: Any) -> list[Any]:
    """The arrays that an update keeps for its gradient."""
    trainable, fixed = eqx.partition(lesson.fresh(key), eqx.is_inexact_array)
    batch = lesson.examples(key, lesson.beginning(), setting)
    _, back, _ = jax.vjp(
        lambda weights: lesson.loss(eqx.combine(weights, fixed), batch, setting), trainable, has_aux=True
    )
    return jax.tree.leaves(back)


def _bytes(tree: Any) -> int:
    return sum(math.prod(leaf.shape) * leaf.dtype.itemsize for leaf in jax.tree.leaves(tree))


def device_memory() -> int:
    """The memory of all local devices in bytes, or the free memory of the machine where they have none of their own."""
    stated = [device.memory_stats() for device in jax.local_devices()]
    return sum(one["bytes_limit"] if one else 0 for one in stated) or usable_memory()
