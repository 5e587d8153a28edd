"""Running circuits on integers, many memories at once."""

from collections.abc import Iterator, Sequence

import numpy as np

from kleene.errors import RunError
from kleene.notation.wiring import OPERATIONS
from kleene.programs.circuits.blocks import BlockTable

Run = tuple[np.ndarray, np.ndarray, np.ndarray]  # memory [step, cell], registers [step, register], choices of each step


def execute(
    circuit: BlockTable,
    memories: Sequence[np.ndarray],
    steps: Sequence[int],
    generator: np.random.Generator | None,
) -> Iterator[Run]:
    """What was recorded of each run. Rows of the batch that are done go on unseen until all are."""
    sizes, limits = np.array([len(memory) for memory in memories]), np.array(steps)
    cells = np.zeros((len(memories), sizes.max()), dtype=np.int64)
    for row, memory in enumerate(memories):
        cells[row, : len(memory)] = memory
    registers = np.arange(circuit.wiring.registers) % sizes[:, None]
    recorded_cells, recorded_registers, recorded_choices = [cells], [registers], []
    for step in range(limits.max()):
        choices = _wired(circuit, registers, generator, step, step < limits)
        cells = cells.copy()
        registers = _step(circuit, choices, registers, cells, sizes)
        recorded_cells.append(cells)
        recorded_registers.append(registers)
        recorded_choices.append(choices)
    shape = (len(recorded_choices), len(memories), len(circuit.wiring.connections))
    wired = np.array(recorded_choices).reshape(shape)  # also where there is no step at all
    after, held = np.array(recorded_cells), np.array(recorded_registers)
    for row, (size, taken) in enumerate(zip(sizes, limits)):
        yield after[: taken + 1, row, :size], held[: taken + 1, row], wired[:taken, row]


def _wired(
    circuit: BlockTable, registers: np.ndarray, generator: np.random.Generator | None, step: int, going: np.ndarray
) -> np.ndarray:
    """The connections of this step for each row, holes filled."""
    pattern = (registers == 0) @ (1 << np.arange(circuit.wiring.registers))
    block = circuit.block_of[pattern]
    stuck = np.flatnonzero(going & (block < 0))
    if len(stuck):
        shown = " ".join("0" if value == 0 else "!0" for value in registers[stuck[0]])
        raise RunError(
            f"{circuit.name}: at step {step} of input {stuck[0]} the registers are "
            f"{registers[stuck[0]].tolist()}, and no block is for `when {shown}`. Add one, or widen a pattern with -."
        )
    choices = circuit.choices[block]
    if generator is None:
        return np.where(choices < 0, circuit.default, choices)
    limits = [connection.choices for connection in circuit.wiring.connections]
    return np.where(choices < 0, generator.integers(0, limits, size=choices.shape), choices)


def _step(
    circuit: BlockTable, choices: np.ndarray, registers: np.ndarray, cells: np.ndarray, sizes: np.ndarray
) -> np.ndarray:
    """The registers after the step; `cells` are changed in place."""
    wiring, rows = circuit.wiring, np.arange(len(sizes))
    values = np.zeros((len(sizes), len(wiring.sources)), dtype=np.int64)
    values[:, : wiring.registers] = registers
    for place, kind in enumerate(wiring.modules):
        arguments = [values[rows, choices[:, connection]] for connection in wiring.places[place]]
        first, second = (*arguments, sizes, sizes)[:2]  # what a module does not use may be anything
        output = np.zeros_like(sizes)
        if kind == "READ":
            output = cells[rows, first]
        elif kind == "WRITE":
            cells[rows, first] = second
        else:
            output = OPERATIONS[kind](first, second) % sizes
        values[:, wiring.registers + place] = output
    return np.take_along_axis(values, choices[:, -wiring.registers :], axis=1)
