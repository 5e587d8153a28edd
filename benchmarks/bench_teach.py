"""Teaching: seed·iterations a second. Run with `kleene bench teach`.

An NTM learns Copy (batch 32, memory 32×8, controller 2×50, lengths 1 to 5, room for hints on both heads) with 1, 10 and
40 seeds at once on a CPU, with 100, 1,000 and 4,000 on a GPU; an NRAM learns Increment. Where torch is installed, a
plain eager NTM is run beside.
"""

import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from kleene.benchmarking import measured, missing
from kleene.teaching.lessons import lesson
from kleene.teaching.loop import teaching_program, use_all_cores
from kleene.teaching.plan import Plan

AIM = {"cpu": 500.0, "gpu": 500_000.0}
NO_PEER = "compiling, or an NRAM: there is nothing plain to run beside"
PROTOTYPE = {"cpu": 253.0, "gpu": 158_000.0}


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
        yield from _rows(taught, seeds, iterations, place, peer, AIM[place])
    for seeds in {"cpu": (1, 6), "gpu": (100, 1_000)}[place][: 1 if quick else 2]:
        yield from _rows(lesson("increment"), seeds, 5 if place == "cpu" else 20, place, None, None)


def _rows(taught: Any, seeds: int, iterations: int, place: str, peer: float | None, aim: float | None) -> Iterator:
    import jax

    plan = Plan.grid(taught, seeds=seeds, iterations=iterations, test_every=iterations)
    started, given = time.perf_counter(), {"iterations": np.int32(iterations), "anew": np.bool_(False)}
    setting, learners, advance = teaching_program(plan)
    yield {"name": f"{taught.name}, {seeds:,} seeds: compile", "value": time.perf_counter() - started, "unit": "s"}
    learners = jax.block_until_ready(advance(setting, learners, **given))
    started = time.perf_counter()
    jax.block_until_ready(advance(setting, learners, **given))
    rate = seeds * iterations / (time.perf_counter() - started)
    told: dict[str, Any] = {"peer": peer, "peer_name": "eager PyTorch NTM, 1 seed"}
    if aim is not None:
        told |= {"aim": aim, "reached": rate >= aim, "prototype": PROTOTYPE[place]}
        told["remark"] = f"aim {aim:,.0f}: {'reached' if rate >= aim else 'not reached'}"
        told["no_peer"] = missing("torch", "torch") or "the peer runs on a CPU"
    yield measured(f"{taught.name}, {seeds:,} seeds, {place}", rate, "seed·iterations/s", **told)


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
