"""Running a Turing machine step by step: a tight loop over a table whose entries point at each other."""

from array import array
from dataclasses import dataclass
from typing import Any

import numpy as np

from kleene.notation.computations import Computation, Configurations, Verdict, continued
from kleene.programs.turing.table import TuringTable

# The row of a state has an entry for each symbol: (row of the next state, symbol written, move, next state).
# A halting state has no row, which is what the loop looks at to know that it is done.
Row = list[Any]


@dataclass(frozen=True)
class Linked:
    """The table with every name replaced by what it leads to, and the codes of the names."""

    rows: dict[int, Row | None]
    states: dict[str, int]
    symbols: dict[str, int]
    blank: int


def linked(machine: TuringTable) -> Linked:
    """The machine's table, made ready to run."""
    states = {name: code for code, name in enumerate(machine.states)}
    symbols = {name: code for code, name in enumerate(machine.tape_alphabet)}
    halting = (machine.accept, machine.reject)
    rows: dict[int, Row | None] = {code: None if name in halting else [] for name, code in states.items()}
    for name, code in states.items():
        row = rows[code]
        if row is None:
            continue
        for symbol in machine.tape_alphabet:
            target, written, move = machine.transitions[name, symbol]
            row.append((rows[states[target]], symbols[written], 1 if move == "R" else -1, states[target]))
    return Linked(rows, states, symbols, symbols[machine.blank])


@dataclass
class _Progress:
    """Where a run stands: the codes of its state and cells, and what was recorded on the way."""

    state: int
    head: int
    cells: list[int]
    states: array
    heads: array
    writes: array


def _advance(table: Linked, at: _Progress, max_steps: int) -> int:
    """Take up to that many steps and return how many were taken. Nothing is recorded."""
    row, head, cells, blank, state = table.rows[at.state], at.head, at.cells, table.blank, at.state
    taken = 0
    if row is not None:
        for taken in range(1, max_steps + 1):  # noqa: B007 - how far the loop came is the answer
            row, cells[head], move, state = row[cells[head]]
            head += move
            if head < 0:
                head = 0
            elif head == len(cells):
                cells.append(blank)
            if row is None:
                break
    at.state, at.head = state, head
    return taken


def _advance_recorded(table: Linked, at: _Progress, max_steps: int) -> int:
    """The same steps, each one recorded: a loop of its own, because recording takes twice the time."""
    row, head, cells, blank, state = table.rows[at.state], at.head, at.cells, table.blank, at.state
    states, heads, writes = at.states.append, at.heads.append, at.writes.append
    taken = 0
    if row is not None:
        for taken in range(1, max_steps + 1):  # noqa: B007
            row, symbol, move, state = row[cells[head]]
            cells[head] = symbol
            head += move
            if head < 0:
                head = 0
            elif head == len(cells):
                cells.append(blank)
            writes(symbol)
            states(state)
            heads(head)
            if row is None:
                break
    at.state, at.head = state, head
    return taken


def run(machine: TuringTable, table: Linked, word: list[int], max_steps: int, record: bool) -> Computation:
    """The run on a word of codes, which count the same in the input alphabet and in the tape's."""
    at = _progress(table.states[machine.start], 0, list(word), table.blank)
    taken = (_advance_recorded if record else _advance)(table, at, max_steps)
    kept = _recorded(machine, word, at) if record else _last(machine, at)
    return _computation(machine, at, taken, kept)


def resume(machine: TuringTable, table: Linked, before: Computation, max_steps: int) -> Computation:
    """The run taken further from the last configuration of a computation."""
    last = before.last
    at = _progress(table.states[last.state], last.head, [table.symbols[s] for s in last.tape], table.blank)
    word = list(at.cells)
    taken = (_advance_recorded if before.recorded else _advance)(table, at, max_steps)
    kept = _recorded(machine, word, at) if before.recorded else _last(machine, at)
    return continued(before, _computation(machine, at, taken, kept))


def _progress(state: int, head: int, cells: list[int], blank: int) -> _Progress:
    cells.extend([blank] * (head + 1 - len(cells)))
    return _Progress(state, head, cells, array("I", [state]), array("I", [head]), array("I"))


def _recorded(machine: TuringTable, word: list[int], at: _Progress) -> Configurations:
    arrays = (np.frombuffer(kept, dtype=np.dtype("I")) for kept in (at.states, at.heads, at.writes))
    return Configurations(machine.states, machine.tape_alphabet, machine.blank, word, *arrays)


def _last(machine: TuringTable, at: _Progress) -> Configurations:
    return Configurations(machine.states, machine.tape_alphabet, machine.blank, at.cells, [at.state], [at.head], [])


def _computation(machine: TuringTable, at: _Progress, steps: int, kept: Any) -> Computation:
    verdicts: dict[str, Verdict] = {machine.accept: "accept", machine.reject: "reject"}
    verdict = verdicts.get(machine.states[at.state], "running")
    return Computation(verdict, steps, kept, machine.states, machine.tape_alphabet, machine.blank, source="program")
