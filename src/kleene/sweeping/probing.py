"""A probe: a few iterations of a pack, to measure its memory and its speed before a sweep begins.

It runs in a process of its own, so that the driver of a sweep never holds a GPU that its workers need.
"""

import os
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import jax
import numpy as np

from kleene.spawning import spawned_pool
from kleene.sweeping.packs import Pack
from kleene.teaching.loop import device_memory, memory_of, teaching_program, use_all_cores

RUNS = 32  # cells of a probe for memory
SHARE = 0.6  # of the memory that packs may fill; tests and the allocator's gaps take some
SECONDS = 0.5  # that a probe measures speed for


@dataclass(frozen=True)
class PackProbe:
    """What was measured of a program: with `runs` cells, for an iteration of all of them."""

    runs: int
    compile_seconds: float
    seconds_per_iteration: float
    bytes_per_run: int
    memory: int
    device: str

    @property
    def most(self) -> int:
        """How many cells memory holds."""
        return max(1, int(SHARE * self.memory) // max(1, self.bytes_per_run))

    def seconds(self, pack: Pack) -> float:
        """An estimate for a pack. A program of fewer cells than measured is taken to be no faster for each."""
        iterations = pack.iterations / len(pack.cells)
        each = self.seconds_per_iteration * max(1.0, len(pack.cells) / self.runs)
        return self.compile_seconds + iterations * each


def probe(pack: Pack) -> PackProbe:
    """Compile the program of a pack, and run it for half a second in this process."""
    started = time.perf_counter()
    setting, learners, program = teaching_program(pack.plan())
    size = memory_of(program, learners) // len(pack.cells)
    given: dict[str, Any] = {"iterations": np.int32(1), "anew": np.bool_(True)}
    learners = jax.block_until_ready(program(setting, learners, **given))
    compiled = time.perf_counter() - started
    count, ran, taken = 1, 1, 0.0
    while taken < SECONDS:
        started = time.perf_counter()
        learners = jax.block_until_ready(program(setting, learners, **given | {"iterations": np.int32(count)}))
        taken, ran, count = time.perf_counter() - started, count, count * 2
    return PackProbe(len(pack.cells), compiled, taken / ran, size, device_memory(), jax.local_devices()[0].device_kind)


def probe_elsewhere(packs: Sequence[Pack]) -> list[PackProbe]:
    """The probe of each pack, in one new process."""
    with spawned_pool(1, "measures a sweep's memory and speed", begin=_begin) as pool:
        return list(pool.map(probe, packs))


def _begin() -> None:
    os.environ["XLA_PYTHON_CLIENT_PREALLOCATE"] = "false"  # another process may hold most of a GPU
    use_all_cores()
