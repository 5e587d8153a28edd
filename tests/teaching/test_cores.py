"""Cores as devices: before jax has begun to compute, and not where the user has said how many there are."""

import os
import subprocess
import sys

import pytest

LOOK = "import jax; from kleene.teaching.cores import use_all_cores; {0}use_all_cores(); print(len(jax.devices()))"


@pytest.mark.parametrize(
    ("before", "flags", "devices"),
    [
        ("", "", len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()),
        ("", "--xla_force_host_platform_device_count=3", 3),
        ("jax.devices(); ", "", 1),
    ],
)
def test_every_core_is_a_device_unless_it_is_too_late_or_was_said_otherwise(before, flags, devices):
    environment = os.environ | {"XLA_FLAGS": flags, "JAX_PLATFORMS": "cpu"}
    command = [sys.executable, "-c", LOOK.format(before)]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    assert int(done.stdout) == devices
