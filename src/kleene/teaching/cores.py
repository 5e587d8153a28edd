"""Every core of a CPU as a device of its own."""

import os

import jax


def use_all_cores() -> None:
    """Let jax see as many CPU devices as there are cores, so that the loop spreads its runs over them.

    XLA uses little more than one core for arrays of this size. Call it before anything is computed: afterwards, or
    where XLA_FLAGS says how many devices there are, everything stays as it is.
    """
    if "xla_force_host_platform_device_count" in os.environ.get("XLA_FLAGS", ""):
        return
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    try:
        jax.config.update("jax_num_cpu_devices", cores)
    except RuntimeError:  # jax has begun to compute
        return
