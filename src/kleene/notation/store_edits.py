"""Interventions on registers and memory, for circuits and for the NRAMs that they become."""

from collections.abc import Sequence

import numpy as np

from kleene.notation.edit_plans import EditPlan, Placed, edits_of_rows
from kleene.notation.edits import Edits
from kleene.notation.wiring import Wiring


class StoreEdits:
    """The edits of a batch of memories; each has channels of its own size, and so a plan of its own.

    `taken` is how many steps each of them runs.
    """

    def __init__(self, subject: str, edits: Edits, wiring: Wiring, sizes: Sequence[int], taken: Sequence[int]):
        registers = [f"r{number}" for number in range(wiring.registers)]
        self._registers, self._plans = registers, []
        for size, steps, own in zip(sizes, taken, edits_of_rows(edits, len(sizes))):
            channels = [channel for channel in wiring.channels(size) if channel.name in ("memory", *registers)]
            plan = EditPlan(subject, own, channels, np.array([size]), flat=registers, unit="step")
            plan.refuse_unreached(np.array([steps]))
            self._plans.append(plan)

    def after(self, step: int, cells: np.ndarray, registers: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The cells (batch, cell) and registers (batch, register) with what is set after the step."""
        cells, registers = cells.copy(), registers.copy()
        for row, plan in enumerate(self._plans):
            for placed in plan.at(step):
                self._put(placed, cells[row], registers[row])
        return cells, registers

    def dense(self, steps: int, cells: int) -> tuple[np.ndarray, np.ndarray]:
        """Everything that is set, (batch, step, cell) and (batch, step, register), -1 where nothing is."""
        shape = (len(self._plans), steps + 1)
        memory = np.full((*shape, cells), -1, dtype=np.int32)
        registers = np.full((*shape, len(self._registers)), -1, dtype=np.int32)
        for row, plan in enumerate(self._plans):
            for step in range(steps + 1):
                for placed in plan.at(step):
                    self._put(placed, memory[row, step], registers[row, step])
        return memory, registers

    def _put(self, placed: Placed, cells: np.ndarray, registers: np.ndarray) -> None:
        if placed.name == "memory":
            cells[placed.positions] = placed.entries
        else:
            registers[self._registers.index(placed.name)] = placed.entries[0]
