"""Circuits, and the NRAMs that run them, at the console."""

from collections.abc import Sequence
from typing import Any

from kleene.errors import InputError
from kleene.notation.console import Telling
from kleene.traces import Trace


def read(words: Sequence[str], subject: Any = None) -> list[int]:
    """The memory that a person typed: whole numbers, with spaces or commas between them.

    >>> read(["3 1", "2,0"])
    [3, 1, 2, 0]
    """
    memory = []
    for word in " ".join(words).replace(",", " ").split():
        try:
            memory.append(int(word))
        except ValueError:
            raise InputError(f"the cell {word!r} is not a whole number; give a memory, such as 3 1 2 0") from None
    if not memory:
        raise InputError("there is no input; give a memory, such as 3 1 2 0")
    return memory


def run(subject: Any, memory: Any, *, name: str, steps: int | None = None) -> Trace:
    """The trace of as many steps as are asked for, or as the circuit says."""
    if steps is None and subject.steps is None:
        raise InputError(f"{name!r} does not say how many steps it runs; give --steps")
    return subject.run(memory, steps)


def telling(outcome: Any) -> Telling:
    """The memory that was left, and the registers."""
    trace = outcome.trace
    registers = [c.name for c in trace.channels if not c.per_step and c.name != "memory"]
    facts = {"output": trace.output, "steps": trace.steps}
    facts["registers"] = [int(trace[register][-1]) for register in registers]
    answer = " ".join(map(str, trace.output))
    return Telling(facts, answer, f"took {trace.steps} steps", table=lambda: table(trace))


def table(trace: Trace) -> Any:
    """Memory and registers alone, because the connections of a step would fill a screen. JSON has them."""
    from kleene.traces.tables import as_table  # rich takes time to import

    kept = tuple(channel for channel in trace.channels if not channel.per_step)
    return as_table(Trace(kept, {c.name: trace[c.name] for c in kept}, trace.output_name, source=trace.source))


def sizes(network: Any) -> dict[str, Any]:
    """How large a compiled NRAM is."""
    size, wiring = network.size, network.wiring
    found = {"hidden_units": size.hidden_units, "registers": wiring.registers, "modules": len(wiring.modules)}
    return found | {"parameters": size.parameters, "nonzero": size.nonzero}
