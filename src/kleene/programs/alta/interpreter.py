"""The interpreter: a program run symbolically on a whole batch at once.

Selection is a lookup (count the keys, then look the queries up), rules are tables, and a sequence that has
halted leaves the batch. Undefined readings carry a reason and are an error only where the MLP looks at them.
"""

from collections.abc import Sequence

import numpy as np

from kleene.errors import HaltError, Reason, UndefinedAttentionError, WriteError
from kleene.notation.tokens import padded
from kleene.programs.alta.attention import Matches, State, attend, members_of
from kleene.programs.alta.cases import Constant
from kleene.programs.alta.definition import Definition
from kleene.programs.alta.rules import act
from kleene.programs.alta.variables import Numeric, SetValued
from kleene.programs.alta.views import Chosen, View
from kleene.traces import TraceBatch
from kleene.traces.recorder import Recorder

BLOCK = 1 << 14  # positions that are run together


def interpret(
    program: Definition, sequences: Sequence[Sequence[int]], *, max_layers: int | None = None, record: bool = True
) -> TraceBatch:
    """The traces of the program on a batch of inputs."""
    tokens, lengths = padded([program.check_input(s) for s in sequences])
    engine = Engine(program)
    limit = program.max_layers if max_layers is None else max_layers
    recorder = Recorder(program.channels, lengths, program.output_name, record=record, source="program")
    for rows in [np.arange(len(lengths))] if record else blocks_of(lengths):
        _run(engine, tokens, lengths, rows, limit, recorder, record)
    return recorder.batch()


def blocks_of(lengths: np.ndarray) -> list[np.ndarray]:
    """The rows in blocks small enough for the processor's cache, those of like length together."""
    ordered = np.argsort(lengths, kind="stable")
    ends = np.flatnonzero(np.diff(np.cumsum(lengths[ordered]) // BLOCK)) + 1
    return [rows for rows in np.split(ordered, ends) if len(rows)]


def _run(
    engine: "Engine",
    tokens: np.ndarray,
    lengths: np.ndarray,
    rows: np.ndarray,
    limit: int,
    recorder: Recorder,
    record: bool,
) -> None:
    """Run some rows of the batch until they have halted."""
    program = engine.program
    state = engine.start(tokens[rows][:, : int(lengths[rows].max(initial=0))])
    recorder.add(0, rows, engine.entries(state) if record else state)
    layer = 0
    while True:
        done = engine.halted(state, lengths[rows])
        if done.any():
            recorder.finish(rows[done], layer, halted=True)
            rows, state = rows[~done], {n: a[~done] for n, a in state.items()}
        if not len(rows) or layer >= limit:
            break
        width = int(lengths[rows].max())
        if width < next(iter(state.values())).shape[1]:
            state = {n: np.ascontiguousarray(a[:, :width]) for n, a in state.items()}
        layer += 1
        state, heads = engine.layer(state, lengths[rows], layer, rows)
        recorder.add(layer, rows, engine.entries(state | heads) if record else state)
    if len(rows) and program.halt is not None:
        raise HaltError(program.name, int(rows[0]), limit)
    recorder.finish(rows, layer, halted=False)


class Engine:
    """A program made ready to run: its conditions as lookup tables."""

    def __init__(self, program: Definition):
        self.program = program
        self._tables: dict = {}  # every condition as a lookup table, made when it is first asked for
        self._starts = {
            n: (by, table if isinstance(program.variables[n], Numeric) else table.astype(_narrow(program.sizes[n])))
            for n, (by, table) in program.starts.items()
        }

    def start(self, tokens: np.ndarray) -> State:
        """Every variable before the first layer."""
        state = {}
        for name, (by, table) in self._starts.items():
            if by == "input":
                state[name] = table[tokens]
            elif by == "position":
                state[name] = np.broadcast_to(table[: tokens.shape[1]], tokens.shape)
            else:
                state[name] = np.broadcast_to(table[0], tokens.shape)
        return state

    def halted(self, state: State, lengths: np.ndarray) -> np.ndarray:
        """Which sequences are done."""
        halt = self.program.halt
        if halt is None:
            return np.zeros(len(lengths), dtype=bool)
        array = state[halt.variable]
        beyond = np.arange(array.shape[1]) >= lengths[:, None]
        return ((array == halt.value) | beyond).all(axis=1)

    def layer(
        self,
        state: State,
        lengths: np.ndarray,
        layer: int,
        rows: np.ndarray,
        *,
        causal: bool = False,
        active: np.ndarray | None = None,
    ) -> tuple[State, State]:
        """The state after one layer, and what the heads read in it.

        In a `causal` layer no head looks to the right. Only `active` positions (batch, position) use what they read.
        """
        width = next(iter(state.values())).shape[1]
        inside = np.arange(width) < lengths[:, None]
        read, reasons, matches = {}, {}, Matches(self.program, state, inside)
        for name, head in self.program.heads.items():
            seen = head.looking_back(width) if causal else head
            read[name], reasons[name] = attend(self.program, name, seen, state, lengths, inside, matches)
        codes = {n: self._codes(n, a) for n, a in (state | read).items()}
        for name, reason in reasons.items():
            codes[name] = np.where(reason == 0, codes[name], -1)
        view = View(codes, tables=self._tables)
        self._refuse_undefined(view, reasons, inside if active is None else inside & active, layer, rows)
        return self._mlp(state, view), read

    def entries(self, state: State) -> State:
        """The state as a trace holds it: sets as booleans, one for each member."""
        sets = {n: v for n, v in self.program.variables.items() if isinstance(v, SetValued)}
        return state | {n: members_of(v, v.range).astype(bool)[state[n]] for n, v in sets.items()}

    def _codes(self, name: str, array: np.ndarray) -> np.ndarray:
        variable = self.program.domains[name]
        return variable.bucket(np.nan_to_num(array)) if isinstance(variable, Numeric) else array

    def _mlp(self, state: State, view: View) -> State:
        codes, after = view.codes, dict(state)
        for target, cases in self.program.updates.items():
            variable = self.program.variables[target]
            new = np.array(codes[target], order="C")
            for c in cases:
                where = view.holds(c)
                if isinstance(c.action, Constant):
                    np.copyto(new, c.action.code, where=where)
                else:  # few positions, as a rule: look up there alone
                    at = np.flatnonzero(where)
                    new.reshape(-1)[at] = act(c, Chosen(codes, at))
            if isinstance(variable, Numeric):
                changed = new != codes[target]
                after[target] = np.where(changed, np.array(variable.values)[new], state[target])
            else:
                after[target] = new
        return after

    def _refuse_undefined(self, view: View, reasons: State, inside: np.ndarray, layer: int, rows: np.ndarray) -> None:
        undefined = {h: (r > 0) & inside for h, r in reasons.items()}
        unsure = View(view.codes, undefined, self._tables, view)
        faults = [(name, c) for name, cases in self.program.faults.items() for c in cases]
        used = np.zeros((*inside.shape, len(reasons) + len(faults)), dtype=bool)
        for index, head in enumerate(reasons):
            for c in self.program.reads.get(head, ()) if undefined[head].any() else ():
                used[..., index] |= unsure.holds(c) & undefined[head]
        for index, (_, c) in enumerate(faults, len(reasons)):
            used[..., index] = view.holds(c) & inside
        if used.any():
            row, position, index = (int(i) for i in np.argwhere(used)[0])
            if index >= len(reasons):
                raise WriteError(
                    f"{faults[index - len(reasons)][0]!r} is set to a value outside its range, or to two at once",
                    program=self.program.name, layer=layer, position=position, sequence=int(rows[row]),
                )  # fmt: skip
            head = list(reasons)[index]
            raise UndefinedAttentionError(
                self.program.name, head, Reason(int(reasons[head][row, position])),
                layer=layer, position=position, sequence=int(rows[row]),
            )  # fmt: skip


def _narrow(size: int) -> type:
    """The smallest type for codes 0..size-1 and -1: small arrays are quick to look through."""
    return np.int8 if size < 127 else (np.int16 if size < 32767 else np.int32)
