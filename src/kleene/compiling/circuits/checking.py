"""What circuits are checked on, and by whom: a plain interpreter, and a reference if there is one."""

import random
from collections.abc import Callable
from typing import Any

from kleene.compiling.checking import REFERENCE
from kleene.notation.console import Entry
from kleene.programs.circuits import Circuit
from kleene.programs.circuits.reference import reference_run
from kleene.traces import Trace

SMALLEST = 2  # the least M that a memory may have


def inputs(circuit: Circuit, entry: Entry | None, samples: int, max_length: int, seed: int) -> list[list[int]]:
    """Twice as many memories as samples, of up to `max_length` cells: the entry's own, or of any values."""
    chance = random.Random(seed)
    sizes = [chance.randint(SMALLEST, max(SMALLEST, max_length)) for _ in range(2 * samples)]
    if entry is not None and entry.sample is not None:
        return [entry.sample(chance, size) for size in sizes]
    return [[chance.randrange(size) for _ in range(size)] for size in sizes]


def judges(circuit: Circuit, entry: Entry | None, reference: Callable[[Any], Any] | None) -> dict[str, Callable]:
    """The plain interpreter, and the reference that was given or is the entry's own."""
    reference = reference or (None if entry is None else entry.reference)

    def interpreter(memory: list[int], mine: Trace) -> str | None:
        registers = [int(mine[f"r{number}"][-1]) for number in range(circuit.wiring.registers)]
        plain = reference_run(circuit, memory, mine.steps)
        if (mine.output, registers) == plain:
            return None
        return f"memory and registers end as {mine.output}, {registers}; the plain interpreter's are {plain}"

    def expected(memory: list[int], mine: Trace) -> str | None:
        assert reference is not None
        answer = list(reference(memory))
        same = answer == mine.output
        return None if same else f"the memory ends as {mine.output}, but the plain reference says {answer}"

    return {"independent interpreter": interpreter} | ({} if reference is None else {REFERENCE: expected})
