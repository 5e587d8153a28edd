"""The interpreter: a program run symbolically on a whole batch at once.

Attention is a lookup (count the keys, then look up the queries), rules are tables, and a sequence that has halted
leaves the batch. An undefined reading carries its reason, and is an error only where the MLP looks at it.
"""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from kleene.errors import Reason, UndefinedAttentionError, WriteError
from kleene.limits import LayerLimit
from kleene.notation.edits import Edits
from kleene.notation.words import Tokens, padded
from kleene.programs.alta.cases import Chosen, Constant, View, act
from kleene.programs.alta.definition import Definition
from kleene.programs.alta.editing import ProgramEdits, State
from kleene.programs.alta.selecting import patterns_of_program
from kleene.programs.alta.variables import Head, Numeric, SetValued
from kleene.traces import TraceBatch
from kleene.traces.trace import Recorder


def attend(
    program: Definition,
    name: str,
    head: Head,
    state: State,
    lengths: np.ndarray,
    inside: np.ndarray,
    matches: "Matches",
) -> tuple[np.ndarray, np.ndarray]:
    """What a head reads at every position, and the reason where that is undefined (0 where it is not).

    `matches` has the results of this layer's queries.
    """
    value, numeric = state[head.value], isinstance(program.outputs[name], Numeric)
    if head.query is None and len(head.offsets) == 1 and not numeric:
        return _shifted(value, next(iter(head.offsets)), lengths)
    if not head.offsets and not numeric:
        at, reason = matches.of(head.query or "", head.key or "")
        return np.where(reason == 0, value.reshape(-1)[at], value.dtype.type(-1)), reason
    if head.offsets:
        count, total, reachable = _select_near(program, head, state, lengths)
    else:
        count, total = _average_anywhere(program, head, state, inside)
        reachable = np.ones_like(inside)
    reason = np.where(count > 0, 0, np.where(reachable, Reason.NO_MATCH, Reason.EDGE))
    variable = program.outputs[name]
    if isinstance(variable, Numeric):
        average = np.divide(total, count, out=np.full(value.shape, np.nan), where=count > 0)
        blurred = (count > 0) & variable.blurred(np.nan_to_num(average))
        return average, np.where(blurred, Reason.BETWEEN, reason)
    reason = np.where(count > 1, Reason.SEVERAL, reason)
    return np.where(reason == 0, total, -1).astype(value.dtype), reason


class Matches:
    """Where queries find their keys in one layer: each key is counted once, each query answered once."""

    def __init__(self, program: Definition, state: State, inside: np.ndarray):
        self._program, self._state, self._inside = program, state, inside
        self._counted: dict[str, tuple[np.ndarray, np.ndarray]] = {}
        self._answered: dict[tuple[str, str], tuple[np.ndarray, np.ndarray]] = {}

    def of(self, query: str, key: str) -> tuple[np.ndarray, np.ndarray]:
        """The one matching place, as an index into the flat (batch, position), or the reason for none (else 0)."""
        if (query, key) not in self._answered:
            count, place = asked(self._program.variables[query], self._state[query], *self._places(key))
            several = np.where(count == 0, np.int8(Reason.NO_MATCH), np.int8(Reason.SEVERAL))
            single = count == 1
            self._answered[query, key] = np.where(single, place, 0), np.where(single, np.int8(0), several)
        return self._answered[query, key]

    def _places(self, key: str) -> tuple[np.ndarray, np.ndarray]:
        """For every value of the key, how many positions have it, and the last of them; 0 where none has."""
        if key not in self._counted:
            batch, width = self._inside.shape
            keys = self._program.sizes[key]
            # Padding counts as one extra key, which is dropped afterwards.
            cell = np.where(self._inside, self._state[key], keys) + np.arange(batch)[:, None] * (keys + 1)
            place = np.zeros(batch * (keys + 1), dtype=np.intp)
            place[cell.reshape(-1)] = np.arange(batch * width)
            count = np.bincount(cell.reshape(-1), minlength=len(place))
            shape = (batch, keys + 1)
            self._counted[key] = count.reshape(shape)[:, :keys], place.reshape(shape)[:, :keys]
        return self._counted[key]


def asked(variable: Any, query: np.ndarray, *by_key: np.ndarray) -> list[np.ndarray]:
    """Sums of arrays (batch, key) over the keys that a query names: one key, or every member of a set."""
    keys = by_key[0].shape[1]
    if isinstance(variable, SetValued):
        by_key = tuple(a @ members_of(variable, keys).T for a in by_key)
    width = by_key[0].shape[1]
    fits = query < width
    row, query = np.arange(len(query))[:, None], np.minimum(query, width - 1)
    return [np.where(fits, a[row, query], 0) for a in by_key]


def _shifted(value: np.ndarray, offset: int, lengths: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The value `offset` to the right of every position, and the reason where there is none (else 0)."""
    width = value.shape[1]
    read = np.full_like(value, -1)
    if 0 <= offset < width:
        read[:, : width - offset] = value[:, offset:]
    elif -width < offset < 0:
        read[:, -offset:] = value[:, :offset]
    at = np.arange(width) + offset
    fits = (at >= 0) & (at < lengths[:, None])
    read[~fits] = -1
    return read, np.where(fits, 0, np.int8(Reason.EDGE))


def _average_anywhere(program: Definition, head: Head, state: State, inside: np.ndarray) -> list[np.ndarray]:
    """The number of positions that each query selects, and the total of their values, counted once for each key."""
    keys = program.sizes[head.key or ""]
    batch = len(inside)
    cell = (np.arange(batch)[:, None] * keys + state[head.key or ""])[inside]
    count = np.bincount(cell, minlength=batch * keys).reshape(batch, keys)
    weights = state[head.value][inside].astype(np.float64)
    total = np.bincount(cell, weights=weights, minlength=batch * keys).reshape(batch, keys)
    return asked(program.variables[head.query or ""], state[head.query or ""], count, total)


def _select_near(program: Definition, head: Head, state: State, lengths: np.ndarray) -> tuple[np.ndarray, ...]:
    """The same for a head that reads only at given distances: one shifted comparison for each distance."""
    value = state[head.value]
    batch, width = value.shape
    count, total = np.zeros((batch, width), dtype=np.int64), np.zeros((batch, width))
    reachable = np.zeros((batch, width), dtype=bool)
    at = np.arange(width)
    for offset in sorted(o for o in head.offsets if -width < o < width):
        source = np.clip(at + offset, 0, width - 1)
        match = (at + offset >= 0) & (at + offset < lengths[:, None])
        reachable |= match
        if head.query is not None and head.key is not None:
            query, key = state[head.query], state[head.key][:, source]
            variable = program.variables[head.query]
            if isinstance(variable, SetValued):
                match = match & members_of(variable, program.sizes[head.key])[query, key].astype(bool)
            else:
                match = match & (query == key)
        count += match
        total += np.where(match, value[:, source], 0)
    return count, total, reachable


def members_of(variable: SetValued, keys: int) -> np.ndarray:
    """Which keys are members of each set that the variable can hold: 1 or 0, of shape (set, key)."""
    members = np.zeros((len(variable.values), keys), dtype=np.int64)
    for code, elements in enumerate(variable.values):
        members[code, [e for e in elements if e < keys]] = 1
    return members


BLOCK = 1 << 14  # positions that are run together


def interpret(
    program: Definition,
    sequences: Sequence[Tokens],
    *,
    max_layers: int | None = None,
    record: bool = True,
    edits: Edits = (),
) -> TraceBatch:
    """The traces of the program on a batch of inputs, under the edits."""
    tokens, lengths = padded([program.check_input(s) for s in sequences])
    engine = Engine(program)
    limit = LayerLimit.of(program.name, program.max_layers, max_layers, halts=program.halt is not None)
    recorder = Recorder(
        program.channels, lengths, program.output_name, record=record, source="program", prefix=program.prefix
    )
    editing = ProgramEdits(program, edits, lengths) if edits else None
    for rows in [np.arange(len(lengths))] if record else blocks_of(lengths):
        _run(engine, tokens, lengths, rows, limit.layers, recorder, record, editing)
    batch = recorder.batch()
    limit.check(batch.halted)
    if editing is not None:
        editing.plan.refuse_unreached(batch.steps)
    return replace(batch, patterns=partial(patterns_of_program, program))


def blocks_of(lengths: np.ndarray) -> list[np.ndarray]:
    """The rows in blocks that fit into the processor's cache, rows of similar length together."""
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
    editing: ProgramEdits | None,
) -> None:
    """Run some rows of the batch until they have halted."""
    state = engine.start(tokens[rows][:, : int(lengths[rows].max(initial=0))])
    if editing is not None:
        state = editing.after(0, rows, state)
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
        state, heads = engine.layer(state, lengths[rows], layer, rows, editing=editing)
        if editing is not None:
            state = editing.after(layer, rows, state)
        recorder.add(layer, rows, engine.entries(state | heads) if record else state)
    recorder.finish(rows, layer, halted=False)


class Engine:
    """A program ready to run: its conditions as lookup tables."""

    def __init__(self, program: Definition):
        self.program = program
        self._tables: dict = {}  # every condition as a lookup table, made on first use
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
        editing: ProgramEdits | None = None,
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
        if editing is not None:
            editing.attended(layer, rows, read, reasons)
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
                else:  # usually few positions: look up only there
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
                target = faults[index - len(reasons)][0]
                raise WriteError(
                    f"{target!r} is set to a value outside its range, or to two at once"
                    if self.program.vocabulary is None
                    else f"RASP has no value for {target!r}: its function raises; evaluate the expression to see why",
                    program=self.program.name, layer=layer, position=position, sequence=int(rows[row]),
                )  # fmt: skip
            head = list(reasons)[index]
            raise UndefinedAttentionError(
                self.program.name, head, Reason(int(reasons[head][row, position])),
                layer=layer, position=position, sequence=int(rows[row]), rasp=self.program.vocabulary is not None,
            )  # fmt: skip


def _narrow(size: int) -> type:
    """The smallest integer type for codes 0..size-1 and -1, because small arrays are faster to search."""
    return np.int8 if size < 127 else (np.int16 if size < 32767 else np.int32)
