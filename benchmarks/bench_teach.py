"""Teaching: seed·iterations a second. Run with `kleene bench teach`.

An NTM learns Copy (batch 32, memory 32×8, controller 2×50, lengths 1 to 5, room for hints on both heads) with 1, 10 and
40 seeds at once on a CPU, with 100, 1,000 and 4,000 on a GPU; there it also learns the grids of figure 9 of the paper
on partial traces. An NRAM learns Increment. Where torch is installed, a plain eager NTM is run beside; on a GPU the NTM
is run without its kernel beside.
"""

import os
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np

from kleene.benchmarking import measured, missing
from kleene.machines.ntm.building import usable_kernel
from kleene.teaching.lessons import lesson
from kleene.teaching.loop import teaching_program, use_all_cores
from kleene.teaching.plan import Plan
from kleene_papers.traces.ntm import NTM, ntm_table

AIM = {"cpu": 500.0, "gpu": 400_000.0}
NO_PEER = "compiling, or an NRAM: there is nothing plain to run beside"
PROTOTYPE = {"cpu": 253.0, "gpu": 158_000.0}
PLAIN = "without the kernel"
GRIDS = ("copy", "repeat_copy_twice", "dyck_words", "flip_3rd")  # repeat_flip_3d has the sizes of flip_3rd
SIDE_BY_SIDE = range(500, 2_000)  # runs; others take long to compile and say the same
Rated = tuple[float, float]  # seed·iterations a second, and seconds to compile


def measure(quick: bool = False) -> Iterator[dict[str, Any]]:
    """Every measurement as a row."""
    import jax

    use_all_cores()
    place = "cpu" if jax.default_backend() == "cpu" else "gpu"
    peer = _peer() if place == "cpu" else None
    if peer is not None:
        yield {"name": "copy, eager PyTorch NTM, 1 seed", "value": peer, "unit": "seed·iterations/s"}
    for seeds in {"cpu": (1, 10, 40), "gpu": (100, 1_000, 4_000)}[place][: 2 if quick else 3]:
        iterations = 40 if place == "cpu" else 200
        taught = lesson("copy", hints=("none", "address"), cells=32, width=8, batch=32)
        plan = Plan.grid(taught, seeds=seeds, iterations=iterations, test_every=iterations)
        aim = AIM[place] if place == "cpu" or seeds == 1_000 else None
        yield from _ntm_rows(plan, f"copy, {seeds:,} seed{'' if seeds == 1 else 's'}", iterations, place, peer, aim)
    for task in () if place == "cpu" or quick else GRIDS:
        plan = ntm_table(task, "full").plans[1]
        name = f"{task}, the grid of figure {NTM[task].figure}, {plan.runs:,} runs"
        yield from _ntm_rows(plan, name, 50, place, None, None)
    for seeds in {"cpu": (1, 6), "gpu": (1_000,)}[place][: 1 if quick else 2]:
        iterations = 5 if place == "cpu" else 20
        plan = Plan.grid(lesson("increment"), seeds=seeds, iterations=iterations, test_every=iterations)
        rate, seconds = _rate(plan, iterations)
        name = f"increment, {seeds:,} seed{'' if seeds == 1 else 's'}"
        yield {"name": f"{name}: compile", "value": seconds, "unit": "s"}
        yield measured(f"{name}, {place}", rate, "seed·iterations/s")


def _ntm_rows(
    plan: Plan, name: str, iterations: int, place: str, peer: float | None, aim: float | None
) -> Iterator[dict[str, Any]]:
    """The rows of an NTM; with its kernel there is one more, without it, which is then the peer."""
    rate, seconds = _rate(plan, iterations)
    fields: dict[str, Any] = {"peer": peer, "peer_name": "eager PyTorch NTM, 1 seed"}
    if place == "gpu" and plan.runs in SIDE_BY_SIDE and _has_kernel(plan):
        with mock.patch.dict(os.environ, {"KLEENE_KERNEL": "off"}):
            plain, plain_seconds = _rate(plan, max(10, iterations // 5))
        yield {"name": f"{name}, {PLAIN}: compile", "value": plain_seconds, "unit": "s"}
        yield measured(f"{name}, {PLAIN}, {place}", plain, "seed·iterations/s")
        fields = {"peer": plain, "peer_name": PLAIN}
    if aim is not None:
        fields |= {"aim": aim, "reached": rate >= aim, "prototype": PROTOTYPE[place]}
        fields["remark"] = f"aim {aim:,.0f}: {'reached' if rate >= aim else 'not reached'}"
    if fields["peer"] is None:
        fields["no_peer"] = missing("torch", "torch") or "the peer runs on a CPU"
    yield {"name": f"{name}: compile", "value": seconds, "unit": "s"}
    yield measured(f"{name}, {place}", rate, "seed·iterations/s", **fields)


def _rate(plan: Plan, iterations: int) -> Rated:
    import jax

    started, given = time.perf_counter(), {"iterations": np.int32(iterations), "anew": np.bool_(False)}
    setting, learners, advance = teaching_program(plan)
    seconds = time.perf_counter() - started
    learners = jax.block_until_ready(advance(setting, learners, **given))
    started = time.perf_counter()
    jax.block_until_ready(advance(setting, learners, **given))
    return plan.runs * iterations / (time.perf_counter() - started), seconds


def _has_kernel(plan: Plan) -> bool:
    import jax

    taught: Any = plan.lesson
    shapes = jax.eval_shape(taught.fresh, jax.random.key(0)).machine
    return usable_kernel(shapes, taught.machine.cells, taught.machine.task.steps(taught.task.longest)) is not None


def _peer() -> float | None:
    """Updates a second of the eager NTM; None where torch is not installed."""
    if missing("torch"):
        return None
    sys.path.insert(0, str(Path(__file__).parent))
    try:
        from peer_ntm import iterations_a_second
    finally:
        sys.path.pop(0)
    iterations_a_second(5)
    return iterations_a_second()
