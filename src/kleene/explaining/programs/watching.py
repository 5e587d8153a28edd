"""Runs of a program over a whole data set, seen layer by layer: what the MLP is given at every position.

Nothing is recorded; each layer is shown once and forgotten, so that a data set of any size fits into memory. An input
on which the program fails leaves the batch with its reason, and the others go on.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from kleene.errors import HaltError, InputError, RunError, UndefinedAttentionError, WriteError
from kleene.notation.words import Tokens, padded
from kleene.programs.alta.interpreter import Engine, State, blocks_of
from kleene.programs.alta.program import Program
from kleene.programs.alta.variables import Numeric

Codes = dict[str, np.ndarray]  # (batch, position), -1 where a head read nothing
See = Callable[[np.ndarray, Codes, np.ndarray], None]  # rows of the data set, codes, and which positions are inside


@dataclass
class Runs:
    """The output of every input, None where the run failed, and the error of every failed one by its row."""

    outputs: list[list[Any] | None]
    errors: dict[int, RunError] = field(default_factory=dict)


def program_inputs(program: Program, inputs: Sequence[Tokens], what: str) -> tuple[np.ndarray, np.ndarray]:
    """The inputs as one array and their lengths; refuses what the program cannot take, and an empty set."""
    if not isinstance(program, Program):
        raise InputError(f"{program!r} is no transformer program; minimal programs are those of transition rules")
    if not len(inputs):
        raise InputError(f"{program.name}: the {what} set is empty; give it at least one input")
    checked = []
    for number, sequence in enumerate(inputs):
        try:
            checked.append(program.check_input(sequence))
        except InputError as error:
            raise InputError(f"input {number} of the {what} set: {error}") from None
    return padded(checked)


def watch(
    program: Program, inputs: Sequence[Tokens], see: See | None = None, *, what: str = "training", lenient: bool = False
) -> Runs:
    """The outputs of the program on all inputs. `see` is called before every MLP. Unless `lenient`, a failed run is an
    error."""
    tokens, lengths = program_inputs(program, inputs, what)
    runs = Runs([None] * len(lengths))
    engine = Engine(program)
    for rows in blocks_of(lengths):
        _Block(engine, runs, rows, lengths[rows], lenient).run(tokens, see)
    return runs


class _Block:
    """Some rows of the data set, run side by side."""

    def __init__(self, engine: Engine, runs: Runs, rows: np.ndarray, lengths: np.ndarray, lenient: bool):
        self.engine, self.program, self.runs, self.lenient = engine, engine.program, runs, lenient
        self.rows, self.lengths = rows, lengths
        self.state: State = {}

    def run(self, tokens: np.ndarray, see: See | None) -> None:
        self.state = self.engine.start(tokens[self.rows][:, : int(self.lengths.max(initial=0))])
        limit, halts = self.program.max_layers, self.program.halt is not None
        for layer in range(1, limit + 1):
            self._leave(self.engine.halted(self.state, self.lengths))
            if not len(self.rows):
                return
            after, read = self._layer(layer)
            if see is not None and len(self.rows):
                inside = np.arange(next(iter(self.state.values())).shape[1]) < self.lengths[:, None]
                see(self.rows, codes_of(self.program, self.state | read), inside)
            before, self.state = self.state, after
            if halts and self.lenient:  # a state that stays as it is never halts
                self._fail(~self.engine.halted(after, self.lengths) & self._same(before, after), limit)
        if halts:
            self._leave(self.engine.halted(self.state, self.lengths))
            self._fail(np.ones(len(self.rows), dtype=bool), limit)
        else:
            self._leave(np.ones(len(self.rows), dtype=bool))

    def _layer(self, layer: int) -> tuple[State, State]:
        while True:
            try:
                return self.engine.layer(self.state, self.lengths, layer, self.rows)
            except (UndefinedAttentionError, WriteError) as error:
                if not self.lenient:
                    raise
                self.runs.errors[error.sequence] = error
                self._keep(self.rows != error.sequence)
                if not len(self.rows):
                    return self.state, {}

    def _same(self, before: State, after: State) -> np.ndarray:
        inside = np.arange(next(iter(after.values())).shape[1]) < self.lengths[:, None]
        differ = np.zeros(inside.shape, dtype=bool)
        for name, entries in after.items():
            differ |= entries != before[name]
        return ~(differ & inside).any(axis=1)

    def _fail(self, failed: np.ndarray, limit: int) -> None:
        for row in self.rows[failed].tolist():
            error = HaltError(self.program.name, row, limit)
            if not self.lenient:
                raise error
            self.runs.errors[row] = error
        self._keep(~failed)

    def _leave(self, done: np.ndarray) -> None:
        output = self.state[self.program.output_name]
        for at in np.flatnonzero(done).tolist():
            self.runs.outputs[int(self.rows[at])] = output[at, : int(self.lengths[at])].tolist()
        self._keep(~done)

    def _keep(self, kept: np.ndarray) -> None:
        if not kept.all():
            self.rows, self.lengths = self.rows[kept], self.lengths[kept]
            width = int(self.lengths.max(initial=0))
            self.state = {n: np.ascontiguousarray(a[kept][:, :width]) for n, a in self.state.items()}


def codes_of(program: Program, entries: State) -> Codes:
    """What the MLP sees: a code for every variable, -1 where a head read nothing."""
    found = {}
    for name, array in entries.items():
        variable = program.domains[name]
        if isinstance(variable, Numeric):
            plain = np.nan_to_num(array)
            undefined = np.isnan(array) | (variable.blurred(plain) if name in program.outputs else False)
            array = np.where(undefined, -1, variable.bucket(plain))
        found[name] = array
    return found
