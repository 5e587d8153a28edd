"""Runs of a program over a whole data set, seen layer by layer: what the MLP is given at every position.

Nothing is recorded; each layer is shown once and forgotten, so that a data set of any size fits into memory. In a
lenient run, an input on which the program fails leaves the batch, and the others go on.
"""

import itertools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from kleene import kinds
from kleene.errors import HaltError, InputError
from kleene.notation.words import Tokens, padded
from kleene.programs.alta.cases import View
from kleene.programs.alta.compat.program import AltaProgram
from kleene.programs.alta.definition import Definition
from kleene.programs.alta.interpreter import Engine, State, blocks_of
from kleene.programs.alta.program import Program
from kleene.programs.alta.variables import Numeric
from kleene.programs.rasp.program import RaspProgram
from kleene.traces.trace import meant

Codes = dict[str, np.ndarray]  # (batch, position), -1 where a head read nothing
See = Callable[[np.ndarray, Codes, np.ndarray], None]  # rows of the data set, codes, and which positions are inside
OnInputs = Callable[[int], None]  # how many inputs more are done

RuleProgram = Program | AltaProgram | RaspProgram  # what can be explained by transition rules
Outputs = list[list[Any] | None]  # of every input, None where the run failed


def rule_program(program: RuleProgram, *data_sets: Sequence[Tokens]) -> Program:
    """The program of transition rules that is explained; that of a RASP or ALTA program is the one it is lowered to.

    An input on which RASP has no value is refused with its reason, because the lowered program may have one.
    """
    if isinstance(program, RaspProgram):
        for tokens in itertools.chain(*data_sets):
            program.evaluate(program.check_tokens(tokens))
        return program.lowered
    program = kinds.adopted(program)
    if not isinstance(program, Program):
        raise InputError(f"{program!r} is no transformer program; minimal programs are made of transition rules")
    return program


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
    program: Program,
    inputs: Sequence[Tokens],
    see: See | None = None,
    *,
    after: See | None = None,
    what: str = "training",
    lenient: bool = False,
    on_inputs: OnInputs | None = None,
) -> Outputs:
    """The outputs of the program on all inputs. `see` is called before every MLP, with rows from the last to the first.
    `after` is called next, with what the MLP made of it. Unless `lenient`, a failed run is an error. `on_inputs` is
    called with the number of inputs whose runs have ended."""
    tokens, lengths = program_inputs(program, inputs, what)
    outputs: Outputs = [None] * len(lengths)
    engine = Engine(program)
    for block in blocks_of(lengths):
        rows = np.sort(block)[::-1]
        _Block(engine, outputs, rows, lengths[rows], lenient, on_inputs).run(tokens, see, after)
    return outputs


class _Block:
    """Some rows of the data set, run side by side."""

    def __init__(
        self, engine: Engine, outputs: Outputs, rows: np.ndarray, lengths: np.ndarray, lenient: bool,
        on_inputs: OnInputs | None,
    ):  # fmt: skip
        self.engine, self.program, self.outputs, self.lenient = engine, engine.program, outputs, lenient
        self.rows, self.lengths, self.on_inputs = rows, lengths, on_inputs
        self.output = next(c for c in self.program.channels if c.name == self.program.output_name)
        self.state: State = {}

    def run(self, tokens: np.ndarray, see: See | None, see_after: See | None) -> None:
        self.state = self.engine.start(tokens[self.rows][:, : int(self.lengths.max(initial=0))])
        limit, halts = self.program.max_layers, self.program.halt is not None
        for layer in range(1, limit + 1):
            self._leave(self.engine.halted(self.state, self.lengths))
            if not len(self.rows):
                return
            active = np.zeros(self._inside.shape, dtype=bool) if self.lenient else None  # refuse nothing
            after, read = self.engine.layer(self.state, self.lengths, layer, self.rows, active=active)
            codes = codes_of(self.program, self.state | read) if see is not None or self.lenient else {}
            if see is not None:
                see(self.rows, codes, self._inside)
            if see_after is not None:
                see_after(self.rows, codes_of(self.program, after), self._inside)
            stuck = np.zeros(len(self.rows), dtype=bool)
            if self.lenient:
                stuck = misused(self.program, codes, self._inside).any(axis=1)
                if halts:  # a state that stays as it is never halts
                    stuck |= self._same(after) & ~self.engine.halted(after, self.lengths)
            self.state = after
            self._keep(np.asarray(~stuck))
        self._leave(self.engine.halted(self.state, self.lengths) if halts else np.ones(len(self.rows), dtype=bool))
        if len(self.rows) and not self.lenient:
            raise HaltError(self.program.name, int(self.rows[0]), limit)

    @property
    def _inside(self) -> np.ndarray:
        return np.arange(next(iter(self.state.values())).shape[1]) < self.lengths[:, None]

    def _same(self, after: State) -> np.ndarray:
        """Which rows the layer has left as they were."""
        differ = np.zeros(self._inside.shape, dtype=bool)
        for name, entries in after.items():
            differ |= entries != self.state[name]
        return np.asarray(~(differ & self._inside).any(axis=1))

    def _leave(self, done: np.ndarray) -> None:
        output = self.state[self.program.output_name]
        for at in np.flatnonzero(done).tolist():
            codes = output[at, self.program.prefix : int(self.lengths[at])].tolist()
            self.outputs[int(self.rows[at])] = meant(self.output, codes)
        self._keep(~done)

    def _keep(self, kept: np.ndarray) -> None:
        if not kept.all():
            if self.on_inputs is not None:
                self.on_inputs(int((~kept).sum()))
            self.rows, self.lengths = self.rows[kept], self.lengths[kept]
            width = int(self.lengths.max(initial=0))
            self.state = {n: np.ascontiguousarray(a[kept][:, :width]) for n, a in self.state.items()}


def codes_of(program: Definition, entries: State) -> Codes:
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


def misused(program: Definition, codes: Codes, inside: np.ndarray) -> np.ndarray:
    """Where the MLP looks at a head that read nothing, or makes a write that it may not make."""
    undefined = {head: (codes[head] < 0) & inside for head in program.outputs}
    plain = View(codes)
    unsure = View(codes, undefined, defined=plain)
    found = np.zeros(inside.shape, dtype=bool)
    for head, where in undefined.items():
        for c in program.reads.get(head, ()) if where.any() else ():
            found |= unsure.holds(c) & where
    for cases in program.faults.values():
        for c in cases:
            found |= plain.holds(c) & inside
    return found
