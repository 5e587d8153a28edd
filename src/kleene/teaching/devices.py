"""The devices that runs are spread over: CPU cores as devices, and whether a plan fits into memory."""

import math
import os
from typing import Any

import equinox as eqx
import jax
import numpy as np
from jaxtyping import PyTree

from kleene.limits import check_memory, usable_memory
from kleene.teaching.plan import Plan

COPIES = 3  # of a learner's weights and optimiser state: the old, the new and the gradient


def use_all_cores() -> None:
    """Let jax see as many CPU devices as there are cores, so that the loop spreads its runs over them.

    XLA uses little more than one core for arrays of this size. Call this before jax computes anything; afterwards, or
    where XLA_FLAGS sets the number of devices, it changes nothing.
    """
    if "xla_force_host_platform_device_count" in os.environ.get("XLA_FLAGS", ""):
        return
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    try:
        jax.config.update("jax_num_cpu_devices", cores)
    except RuntimeError:  # jax has begun to compute
        return


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
    left = most or _device_memory()
    fixed = COPIES * _bytes(learner) + _bytes(examples)
    if plan.runs * (fixed + 10 * widest * _bytes(examples)) <= left:
        return
    if plan.runs * fixed <= left:
        fixed += _bytes(jax.eval_shape(lambda *given: _kept(lesson, *given), key, setting))
    runs = "1 run" if plan.runs == 1 else f"{plan.runs:,} runs"
    check_memory(plan.runs * fixed, f"teaching {runs} of {lesson.name}", "use fewer seeds, or a smaller size", left)


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


def _device_memory() -> int:
    """The memory of all local devices in bytes, or the free memory of the machine where they have none of their own."""
    stated = [device.memory_stats() for device in jax.local_devices()]
    return sum(one["bytes_limit"] if one else 0 for one in stated) or usable_memory()
