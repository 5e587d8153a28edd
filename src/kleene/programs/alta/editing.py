"""Interventions on the run of a program: values put into the interpreter's state, and into what its heads read."""

import numpy as np

from kleene.notation.edit_plans import EditPlan, Placed
from kleene.notation.edits import Edits
from kleene.programs.alta.definition import Definition
from kleene.programs.alta.variables import SetValued

State = dict[str, np.ndarray]  # (batch, position): codes, or numbers for numeric variables


def plan_for(program: Definition, edits: Edits, lengths: np.ndarray) -> EditPlan:
    """The edits of a batch, checked against the program's variables and heads."""
    grids = {name for name, cases in program.updates.items() if cases}  # the MLP writes declared numbers alone
    sets = {n: v.values for n, v in program.variables.items() if isinstance(v, SetValued)}
    return EditPlan(program.name, edits, program.channels, lengths, grids=grids, sets=sets)


class ProgramEdits:
    """The edits of a batch of runs of a program. `rows` are those of the batch that are still running."""

    def __init__(self, program: Definition, edits: Edits, lengths: np.ndarray):
        self.plan = plan_for(program, edits, lengths)
        self._program = program

    def after(self, layer: int, rows: np.ndarray, state: State) -> State:
        """The state with the variables that are set after the layer."""
        state = dict(state)
        for placed in self.plan.at(layer):
            at, positions, entries = self._running(placed, rows)
            array = np.array(state[placed.name])
            array[at, positions] = entries
            state[placed.name] = array
        return state

    def attended(self, layer: int, rows: np.ndarray, read: State, reasons: State) -> None:
        """Set what heads read in the layer; from then on it is defined."""
        for placed in self.plan.at(layer, heads=True):
            at, positions, entries = self._running(placed, rows)
            kind = np.promote_types(read[placed.name].dtype, entries.dtype)  # the output may have a larger range
            array, reason = read[placed.name].astype(kind), np.array(reasons[placed.name])
            array[at, positions], reason[at, positions] = entries, 0
            read[placed.name], reasons[placed.name] = array, reason

    def _running(self, placed: Placed, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        assert placed.positions is not None
        going, at = placed.among(rows)
        entries, variable = placed.entries[going], self._program.domains[placed.name]
        if isinstance(variable, SetValued):
            sets = (frozenset(np.flatnonzero(members).tolist()) for members in entries)
            entries = np.array([variable.values.index(one) for one in sets], dtype=np.int64)
        return at, placed.positions[going], entries
