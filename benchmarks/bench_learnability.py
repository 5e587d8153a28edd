"""Learnability: pairs of the MLP a second, and seeds × updates a second. Run with `kleene bench learnability`.

Pairs are those of the shorter SCAN program on all commands of the length split's training set (every twentieth with
`--quick`). Teaching is `kleene teach parity_relative --hints full` at its default size, with 1, 4 and 20 seeds at once.
Where torch is installed, a plain eager loop of the same network and batch is run beside.
"""

import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from kleene.benchmarking import measured, missing, seconds
from kleene.explaining.programs.pairs import mlp_pairs
from kleene.programs.alta.library import get, parity
from kleene.tasks import scan
from kleene.teaching.loop import teaching_program, use_all_cores
from kleene.teaching.plan import Plan
from kleene.teaching.transformers import transformer_lesson

NO_PEER = "compiling, or pairs that only Kleene has"
MOST_ACTIONS = 22  # of a training command of the length split


def measure(quick: bool = False) -> Iterator[dict[str, Any]]:
    """Every measurement as a row."""
    import jax

    use_all_cores()
    yield from _pairs(quick)
    place = "cpu" if jax.default_backend() == "cpu" else "gpu"
    taught = transformer_lesson(parity.relative()).only(["none", "full"])
    peer = _peer(taught) if place == "cpu" else None
    if peer is not None:
        yield {"name": "parity_relative, eager PyTorch, 1 seed", "value": peer, "unit": "seed·updates/s"}
    for seeds in {"cpu": (1, 4, 20), "gpu": (20, 200, 2_000)}[place][: 2 if quick else 3]:
        yield from _taught(taught, seeds, {"cpu": 40, "gpu": 200}[place] // (4 if quick else 1), place, peer)


def _pairs(quick: bool) -> Iterator[dict[str, Any]]:
    entry = get("scan")
    commands = [c for c in scan.commands() if len(scan.interpret(c).split()) <= MOST_ACTIONS][:: 20 if quick else 1]
    program, inputs = entry.build(), [entry.read([c]) for c in commands]
    found = mlp_pairs(program, inputs)
    taken = seconds(lambda: mlp_pairs(program, inputs), repeats=2, warm_up=False)
    total = int(found.counts.sum())
    remark = f"{total:,} pairs of {len(inputs):,} commands, {len(found):,} different ones, in {taken:.1f} s"
    yield {"name": "scan: pairs of the MLP", "value": total / taken, "unit": "pairs/s", "remark": remark}


def _taught(
    taught: Any, seeds: int, updates: int, place: str, peer: float | None, repeats: int = 3
) -> Iterator[dict[str, Any]]:
    import jax

    plan = Plan.grid(taught, kinds=("full",), seeds=seeds, iterations=updates, test_every=updates)
    started = time.perf_counter()
    setting, learners, advance = teaching_program(plan)
    name = f"parity_relative, {seeds:,} seed{'s' * (seeds > 1)}"
    yield {"name": f"{name}: compile", "value": time.perf_counter() - started, "unit": "s"}
    given = {"iterations": np.int32(updates), "anew": np.bool_(False)}
    learners = jax.block_until_ready(advance(setting, learners, **given))
    taken = []
    for _ in range(repeats):
        started = time.perf_counter()
        learners = jax.block_until_ready(advance(setting, learners, **given))
        taken.append(time.perf_counter() - started)
    rate = seeds * updates / min(taken)
    unmeasured = missing("torch", "torch") or "the peer runs on a CPU"
    yield measured(
        f"{name}, {place}", rate, "seed·updates/s", peer=peer, peer_name="eager PyTorch, 1 seed", no_peer=unmeasured
    )


def _peer(taught: Any) -> float | None:
    """Updates a second of the eager Transformer; None where torch is not installed.

    The best of three runs, with one thread or with as many as torch takes, whichever is faster in a short run.
    """
    if missing("torch"):
        return None
    sys.path.insert(0, str(Path(__file__).parent))
    try:
        from peer_transformer import updates_a_second
    finally:
        sys.path.pop(0)
    given, machine = taught.machine.arguments, taught.machine
    sizes = {name: given[name] for name in ("width", "heads", "units", "reach")}
    asked = {"batch": taught.batch, "longest": taught.task.longest, "noise": machine.noise} | sizes
    import torch  # pyright: ignore[reportMissingImports]

    first = {}
    for threads in (1, torch.get_num_threads()):
        torch.set_num_threads(threads)
        updates_a_second(2, **asked)
        first[threads] = updates_a_second(5, **asked)
    torch.set_num_threads(max(first, key=lambda threads: first[threads]))
    return max(updates_a_second(**asked) for _ in range(3))
