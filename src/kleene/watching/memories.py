"""What the pages of machines with a memory show beside their traces: circuits, Neural Turing Machines, Neural GPUs."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from kleene.errors import InputError
from kleene.notation.wiring import ARITIES, OPERATIONS, Wiring
from kleene.running import Outcome
from kleene.traces import Trace
from kleene.watching.columns import packed
from kleene.watching.cutting import Cut
from kleene.watching.document import ViewParts


def circuit_parts(outcomes: Sequence[Outcome], cut: Cut, program: Any | None) -> ViewParts:
    """The view of a circuit: its modules and wires in each step, registers and memory."""
    if cut.channels is not None:
        raise InputError("a page of a circuit shows all of its wires; cut it by --steps or --positions")
    trace, wiring = outcomes[0].trace, outcomes[0].subject.wiring
    if any(channel.kind != "category" for channel in trace.channels):
        raise InputError("a page of a circuit shows wires that are chosen, and this run has distributions over them")
    steps = cut.step_range(trace.steps)
    more = {
        "wiring": {
            "registers": wiring.registers,
            "modules": [[name, kind, ARITIES[kind]] for name, kind in zip(wiring.names, wiring.modules)],
        },
        "values": packed(module_values(wiring, trace)[steps.start : steps.stop]),
    }
    cells = tuple(map(str, range(trace["memory"].shape[1])))
    return ViewParts(view="circuit", positions=cells, more=more | _blocks(program, trace, steps))


def module_values(wiring: Wiring, trace: Trace) -> np.ndarray:
    """What every module returned in each step, (step, module); -1 at the start."""
    registers = np.stack([trace[f"r{number}"] for number in range(wiring.registers)], axis=1)
    found = np.full((trace.steps + 1, len(wiring.modules)), -1, dtype=np.int64)
    size = trace["memory"].shape[1]
    for step in range(1, trace.steps + 1):
        cells = trace["memory"][step - 1].copy()
        known = registers[step - 1].tolist()
        for place, (kind, name) in enumerate(zip(wiring.modules, wiring.names)):
            a, b = (*(known[int(trace[f"{name}.{slot}"][step])] for slot in "ab"[: ARITIES[kind]]), 0, 0)[:2]
            value = 0
            if kind == "READ":
                value = int(cells[a])
            elif kind == "WRITE":
                cells[a] = b
            else:
                value = int(OPERATIONS[kind](a, b)) % size
            known.append(value)
            found[step, place] = value
    return found


def _blocks(program: Any | None, trace: Trace, steps: range) -> dict[str, Any]:
    """The circuit's text, the lines of its blocks, and which block ran in each step (-1: none)."""
    if program is None:
        return {"source": None}
    lines = program.text.splitlines()
    starts = [number for number, line in enumerate(lines) if line.startswith("when ")]
    ends = [next((n for n in range(s, len(lines)) if not lines[n].strip()), len(lines)) - 1 for s in starts]
    registers = np.stack([trace[f"r{number}"] for number in range(program.wiring.registers)], axis=1)
    pattern = ((registers == 0) << np.arange(program.wiring.registers)).sum(axis=1)
    ran = np.concatenate([[-1], program.block_of[pattern[:-1]]])
    return {
        "source": lines,
        "spans": [list(span) for span in zip(starts, ends)],
        "blocks": packed(ran[steps.start : steps.stop]),
    }


def tape_memory_parts(outcomes: Sequence[Outcome], cut: Cut, program: Any | None) -> ViewParts:
    """The view of a memory with heads."""
    if cut.positions is not None or cut.channels is not None:
        raise InputError("a page of a Neural Turing Machine shows its whole tape; cut it by --steps alone")
    return ViewParts(view="memory")


def image_parts(outcomes: Sequence[Outcome], cut: Cut, program: Any | None) -> ViewParts:
    """The view of positions, each with its answer so far and its vector."""
    return ViewParts(view="layers", positions=tuple(map(str, outcomes[0].input)))
