"""A plan that does not fit into memory is refused before anything is made, and every core is a device."""

import os
import subprocess
import sys

import pytest

from kleene.errors import InputError
from kleene.teaching.devices import check_room
from kleene.teaching.lessons import lesson
from kleene.teaching.loop import teach
from kleene.teaching.plan import Plan


def plan(seeds: int = 10, **options) -> Plan:
    return Plan.grid(lesson("dfa:tomita_3", **options), seeds=seeds, iterations=5)


def test_a_network_of_too_many_units_is_refused_by_its_weights():
    with pytest.raises(InputError, match=r"teaching 1 run of tomita_3 rnn takes about 33,528 GiB of memory"):
        teach(plan(1, hidden=1_000_000))


def test_a_batch_too_large_for_its_gradient_is_refused_by_what_an_update_keeps():
    check_room(plan(1), most=1 << 30)
    check_room(plan(1, batch=20_000), most=1 << 30)  # the rough guess is larger than that
    with pytest.raises(
        InputError, match=r"teaching 1 run of tomita_3 rnn takes about .* GiB of memory, and 1.0 are left"
    ):
        check_room(plan(1, batch=1_000_000), most=1 << 30)


def test_many_runs_take_as_much_more():
    check_room(plan(10), most=10_000_000)
    with pytest.raises(InputError, match="teaching 1,000 runs of tomita_3 rnn takes about"):
        check_room(plan(1000), most=10_000_000)


LOOK = "import jax; from kleene.teaching.devices import use_all_cores; {0}use_all_cores(); print(len(jax.devices()))"


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
