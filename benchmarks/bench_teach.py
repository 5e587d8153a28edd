"""Teaching: seed·iterations a second. Run with `kleene bench teach`.

An NRAM learns Increment and a recurrent network a regular language, with several seeds at once.
"""

import time
from collections.abc import Iterator
from typing import Any

from kleene.teaching.catalog import lesson
from kleene.teaching.loop import Plan, teaching_program


def measure(quick: bool = False) -> Iterator[dict[str, Any]]:
    """Every measurement as a row."""
    import jax

    place = "cpu" if jax.default_backend() == "cpu" else "gpu"
    for seeds in {"cpu": (1, 10, 40), "gpu": (100, 1_000, 4_000)}[place][: 2 if quick else 3]:
        yield from _rows(lesson("dfa:tomita_4"), seeds, 50, place)
    for seeds in {"cpu": (1, 6), "gpu": (100, 1_000)}[place][: 1 if quick else 2]:
        yield from _rows(lesson("increment"), seeds, 5 if place == "cpu" else 20, place)


def _rows(taught: Any, seeds: int, iterations: int, place: str) -> Iterator[dict[str, Any]]:
    import jax

    plan = Plan.grid(taught, seeds=seeds, iterations=iterations, test_every=iterations)
    setting, learners, advance = teaching_program(plan)
    started = time.perf_counter()
    compiled = advance.lower(setting, learners, iterations=iterations).compile()
    yield {"name": f"{taught.name}, {seeds:,} seeds: compile", "value": time.perf_counter() - started, "unit": "s"}
    learners = jax.block_until_ready(compiled(setting, learners))
    started = time.perf_counter()
    jax.block_until_ready(compiled(setting, learners))
    rate = seeds * iterations / (time.perf_counter() - started)
    yield {"name": f"{taught.name}, {seeds:,} seeds, {place}", "value": rate, "unit": "seed·iterations/s"}
