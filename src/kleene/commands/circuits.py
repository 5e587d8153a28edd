"""Circuits, and the NRAMs that run them, on the command line."""

import time
from collections.abc import Sequence
from typing import Any

from kleene.commands.outcomes import Outcome
from kleene.errors import InputError
from kleene.traces import Trace
from kleene.traces.storage import as_json
from kleene.traces.tables import as_table

OPTIONS = ("steps",)
DEFAULTS: dict[str, Any] = {}


def run(name: str, subject: Any, words: Sequence[str], *, compiled: bool, steps: int | None = None) -> Outcome:
    """Run a circuit on a memory, the NRAM compiled from it, or an NRAM from a file."""
    from kleene.programs.circuits import Circuit

    memory = read_memory(words)
    if compiled and isinstance(subject, Circuit):
        from kleene.compiling import compile

        subject = compile(subject)
    if steps is None and subject.steps is None:
        raise InputError(f"{name!r} does not say how many steps it runs; give --steps")
    started = time.perf_counter()
    trace = subject.run(memory, steps)
    seconds = time.perf_counter() - started
    facts = {
        "program": name,
        "input": memory,
        "output": trace.output,
        "steps": trace.steps,
        "registers": [int(trace[register][-1]) for register in _registers(trace)],
        "compiled": compiled,
        "seconds": round(seconds, 6),
    }
    what = "network" if compiled else "circuit"
    closing = f"{what} took {trace.steps} steps in {seconds * 1000:.1f} ms"
    shown = " ".join(map(str, trace.output))
    return Outcome(facts, shown, closing, lambda: as_table(_without_wires(trace)), lambda: {"trace": as_json(trace)})


def read_memory(words: Sequence[str]) -> list[int]:
    """The memory that a person typed: whole numbers, with spaces or commas between them."""
    memory = []
    for word in " ".join(words).replace(",", " ").split():
        try:
            memory.append(int(word))
        except ValueError:
            raise InputError(f"the cell {word!r} is not a whole number; give a memory, such as 3 1 2 0") from None
    if not memory:
        raise InputError("there is no input; give a memory, such as 3 1 2 0")
    return memory


def _registers(trace: Trace) -> list[str]:
    return [c.name for c in trace.channels if not c.per_step and c.name != "memory"]


def _without_wires(trace: Trace) -> Trace:
    """Memory and registers alone: the connections of a step would fill a screen. JSON has them."""
    kept = tuple(channel for channel in trace.channels if not channel.per_step)
    return Trace(kept, {c.name: trace[c.name] for c in kept}, trace.output_name, source=trace.source)


def size_facts(network: Any) -> dict[str, Any]:
    """How large a compiled NRAM is."""
    import jax
    import numpy as np

    weights = [np.asarray(leaf) for leaf in jax.tree.leaves(network)]
    return {
        "hidden_units": 2 * len(network.stop),
        "registers": network.wiring.registers,
        "modules": len(network.wiring.modules),
        "parameters": sum(weight.size for weight in weights),
        "nonzero": int(sum(np.count_nonzero(weight) for weight in weights)),
    }
