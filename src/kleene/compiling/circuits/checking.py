"""The check of circuits: circuit, NRAM and plain references do the same on every memory."""

import random
import time
from collections.abc import Callable, Sequence
from typing import Any

from kleene.compiling.circuits.compiler import compile_circuit
from kleene.compiling.reports import REFERENCE, Report
from kleene.errors import RunError
from kleene.programs.circuits import Circuit
from kleene.programs.circuits.reference import reference_run
from kleene.traces import Trace

SMALLEST = 2  # the least M that a memory may have


def check_circuit(
    circuit: Circuit,
    *,
    name: str = "circuit",
    expected: Callable[[Sequence[int]], list[int]] | None = None,
    samples: int = 100,
    max_length: int = 8,
    seed: int = 0,
    on_input: Callable[[], None] | None = None,
) -> Report:
    """Compare the traces of circuit and NRAM, their end with a plain interpreter's, and the memory with `expected`.

    A circuit that solves a task of `kleene.tasks.memory` and brings `expected` is tried on random instances of it, any
    other on random memories; `max_length` is the largest M, or the smallest that the task has. A memory on which the
    circuit itself has no block for its registers is counted as refused.

    >>> from kleene.programs.circuits.library import get
    >>> bool(check_circuit(get("swap").build(), expected=get("swap").expected, samples=3))
    True
    """
    started = time.perf_counter()
    draw = random_memories if expected is None else instances
    drawn = draw(circuit.name, 2 * samples, max_length, seed)
    runs = [(memory, run) for memory in drawn if (run := _run(circuit, memory)) is not None]
    memories = [memory for memory, _ in runs]
    networks = compile_circuit(circuit).run_batch(memories)
    problems = []
    for (memory, mine), theirs in zip(runs, networks):
        problem = mine.difference(theirs) or _disagreement(circuit, memory, mine, expected)
        problems.append(problem and f"{name} on {memory}: {problem}")
        if on_input is not None:
            on_input()
    agree, first = problems.count(None), next((problem for problem in problems if problem), None)
    refused = len(drawn) - len(runs)
    compared = ("circuit", "network", "independent interpreter", *([REFERENCE] if expected else []))
    return Report(name, agree, len(runs), first, round(time.perf_counter() - started, 3), refused, compared)


def _run(circuit: Circuit, memory: list[int]) -> Trace | None:
    try:
        return circuit.run(memory)
    except RunError:
        return None


def _disagreement(circuit: Circuit, memory: list[int], mine: Trace, expected: Any) -> str | None:
    registers = [int(mine[f"r{number}"][-1]) for number in range(circuit.wiring.registers)]
    plain = reference_run(circuit, memory, mine.steps)
    if (mine.output, registers) != plain:
        return f"memory and registers end as {mine.output}, {registers}; the plain interpreter's are {plain}"
    if expected is not None and list(expected(memory)) != mine.output:
        return f"the memory ends as {mine.output}, but the plain reference says {expected(memory)}"
    return None


def random_memories(name: str, count: int, largest: int, seed: int) -> list[list[int]]:
    """Memories of any values, of two cells and more."""
    chance = random.Random(seed)
    sizes = [chance.randint(SMALLEST, max(SMALLEST, largest)) for _ in range(count)]
    return [[chance.randrange(size) for _ in range(size)] for size in sizes]


def instances(name: str, count: int, largest: int, seed: int) -> list[list[int]]:
    """Memories of the task that has that name, sizes spread over all from its smallest on."""
    import jax
    import jax.numpy as jnp

    from kleene.tasks.memory import memory_task

    task = memory_task(name)
    largest = max(task.smallest, largest)
    sizes = [task.smallest + n % (largest - task.smallest + 1) for n in range(count)]
    sample = jax.jit(jax.vmap(lambda key, size: task.sample(key, size, largest).memory))
    drawn = sample(jax.random.split(jax.random.key(seed), count), jnp.array(sizes))
    return [memory[:size] for memory, size in zip(drawn.tolist(), sizes)]
