"""A Turing machine: its runs, its graph of states, and its files.

A run is a tight loop over a `LinkedTable`, whose entries point at each other.
"""

from array import array
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path
from typing import Any

import numpy as np

from kleene.errors import InputError
from kleene.files import SEAL, sealed, write_atomically
from kleene.limits import checked_count
from kleene.notation.computations import Computation, Configurations, Verdict, accepted, continued
from kleene.notation.edited_runs import edited_computation
from kleene.notation.edits import Edit
from kleene.notation.graphs import DRAWN, Arrow, Node, StateGraph, aligned, marks
from kleene.notation.words import Word, whole_word, word_codes
from kleene.programs.jflap import ENDING
from kleene.programs.turing import jflap
from kleene.programs.turing.table import TuringTable, as_text, load, parse
from kleene.traces.markup import html_table


class TuringMachine(TuringTable):
    """A machine as Sipser defines it: the tape has a left end, and a move left from there stays there.

    Every state but `accept` and `reject` needs a transition for every tape symbol. The tape symbols are those of the
    transitions; words are written in the `input_alphabet`, which is all of them but the blank where it is not given.
    A run begins in `start` on cell 0.

    >>> odd = TuringMachine(
    ...     transitions={("even", "1"): ("odd", "1", "R"), ("even", "_"): ("no", "_", "R"),
    ...                  ("odd", "1"): ("even", "1", "R"), ("odd", "_"): ("yes", "_", "R")},
    ...     start="even", accept="yes", reject="no")
    >>> odd.run("111")
    <Computation: accept after 4 steps, yes, head 4, tape '111'>
    """

    def __str__(self) -> str:
        """The table: a row for each state that does not halt, a column for each tape symbol."""
        return aligned(self._table_rows())

    def _repr_html_(self) -> str:
        """The diagram for a notebook, or the table where a diagram is slow to draw and hard to read."""
        if max(len(self.states), len(self.tape_alphabet)) > DRAWN:
            return html_table(self._table_rows())
        from kleene.pictures.diagrams import diagram  # only a notebook draws

        return diagram(self.graph()).image

    def _table_rows(self) -> list[list[str]]:
        rows = [["", "", *self.tape_alphabet]]
        for state in self.states[:-2]:  # accept and reject stand last
            actions = [" ".join(self.transitions[state, symbol]) for symbol in self.tape_alphabet]
            rows.append(["→" if state == self.start else "", state, *actions])
        return rows

    # Running.

    def run(
        self, word: Word, max_steps: int = 10_000, record: bool = True, *, edits: Sequence[Edit] = ()
    ) -> Computation:
        """What the machine does on the word, up to `max_steps` steps; then the verdict is "running".

        With `record=False` only the last configuration is kept, which is faster and needs memory only for the tape.
        `edits` set the `state`, the `head` or cells of the `tape` after a step, and the machine goes on: see
        `kleene.Edit`. All configurations are kept then.
        """
        budget = checked_count(max_steps, "max_steps", "it is a number of steps, 0 or more")
        whose = f"the input alphabet of {self.name}"
        codes = word_codes(word, self.input_alphabet, whose)
        if edits:
            halting: dict[str, Any] = {self.accept: "accept", self.reject: "reject"}
            begin = partial(_run, self, self._linked, codes, record=True)
            return edited_computation(self.name, edits, begin, self.resume, budget, halting)
        return _run(self, self._linked, codes, budget, record)

    def resume(self, computation: Computation, max_steps: int = 10_000) -> Computation:
        """The computation continued by up to `max_steps` steps; one that has halted is returned unchanged.

        The new steps are recorded if the earlier ones were.
        """
        budget = checked_count(max_steps, "max_steps", "it is a number of steps, 0 or more")
        if (computation.states, computation.symbols) != (self.states, self.tape_alphabet):
            raise InputError(
                f"the computation is one of another machine: its states are {' '.join(computation.states)}, those of "
                f"{self.name} are {' '.join(self.states)}"
            )
        if computation.verdict != "running":
            return computation
        return _resume(self, self._linked, computation, budget)

    def run_batch(self, words: Iterable[Word], max_steps: int = 10_000, record: bool = True) -> list[Computation]:
        """The run on each word, one after the other."""
        return [self.run(word, max_steps, record) for word in words]

    def accepts(self, word: Word, max_steps: int = 10_000) -> bool:
        """Whether the machine accepts the word; a RunError where it has not halted within `max_steps`."""
        return accepted(self.run(word, max_steps, record=False), self.name, word, max_steps)

    @cached_property
    def _linked(self) -> "LinkedTable":
        return _linked_table(self)

    # Graph and files.

    def graph(self, word: Word | None = None, *, dead: bool = True) -> StateGraph:
        """States and arrows for a diagram, with the walk of a word if one is given.

        With `dead=False` the reject state is left out, and a note says so.
        """
        graph = _graph_of(self, dead=dead)
        if word is None:
            return graph
        whole = whole_word(word)
        done = self.run(whole)
        ends = {"accept": "accepted", "reject": "rejected"}
        verdict = ends.get(done.verdict, f"still running after {done.steps} steps")
        return graph.walked(whole, [str(configuration.state) for configuration in done.configurations], verdict)

    @classmethod
    def from_text(cls, text: str, name: str = "the machine") -> "TuringMachine":
        """The machine in a string; see `kleene.programs.turing.table` for the format."""
        return cls.of(parse(text, name))

    def to_text(self) -> str:
        """The machine as a string that `from_text` reads."""
        return as_text(self)

    @classmethod
    def load(cls, path: Any) -> "TuringMachine":
        """The machine in a text file, usually one that ends in `.tm`, or in a JFLAP file (`.jff`), named after it."""
        return cls.of(jflap.load(Path(path)) if Path(path).suffix == ENDING else load(Path(path)))

    def save(self, path: Any) -> Path:
        """Save the machine as a text file with its checksum, or for JFLAP (`.jff`), and return the path."""
        if Path(path).suffix == ENDING:
            return jflap.save(self, Path(path))
        return write_atomically(Path(path), sealed(f"// {SEAL}\n{self.to_text()}"))


def _graph_of(machine: TuringTable, *, dead: bool) -> StateGraph:
    hidden = set() if dead else {machine.reject} - {machine.start}
    place = {state: number for number, state in enumerate(q for q in machine.states if q not in hidden)}
    nodes = tuple(
        Node(
            q,
            q == machine.accept,
            q == machine.reject,
            marks(start=q == machine.start, accept=q == machine.accept, reject=q == machine.reject),
        )
        for q in place
    )
    reads: dict[tuple[int, int], dict[str, list[str]]] = {}
    for (state, read), (target, written, move) in machine.transitions.items():
        if target not in hidden:
            action = move if read == written else f"{written}, {move}"
            reads.setdefault((place[state], place[target]), {}).setdefault(action, []).append(read)
    arrows = []
    for ends, found in reads.items():
        lines = tuple(f"{', '.join(symbols)} → {action}" for action, symbols in found.items())
        arrows.append(Arrow(*ends, lines, lines))
    note = f"Not shown: {machine.reject}, which rejects. A missing transition leads there." if hidden else ""
    title, total = f"Turing machine with {len(machine.states)} states", len(machine.states)
    return StateGraph(title, nodes, tuple(arrows), place[machine.start], total, note)


# Running.

# The row of a state has an entry for each symbol: (row of the next state, symbol written, move, next state).
# A halting state has no row; this is how the loop knows that it is done.
Row = list[Any]


@dataclass(frozen=True)
class LinkedTable:
    """The table with every name replaced by the row that it leads to, and the codes of the names."""

    rows: dict[int, Row | None]
    states: dict[str, int]
    symbols: dict[str, int]
    blank: int


def _linked_table(machine: TuringTable) -> LinkedTable:
    """The machine's table, ready to run."""
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
    return LinkedTable(rows, states, symbols, symbols[machine.blank])


@dataclass
class _Progress:
    """Where a run stands: the codes of its state and cells, and what was recorded so far."""

    state: int
    head: int
    cells: list[int]
    states: array
    heads: array
    writes: array


def _advance(table: LinkedTable, at: _Progress, max_steps: int) -> int:
    """Take up to that many steps and return how many were taken. Nothing is recorded."""
    row, head, cells, blank, state = table.rows[at.state], at.head, at.cells, table.blank, at.state
    taken = 0
    if row is not None:
        for taken in range(1, max_steps + 1):  # noqa: B007 - the last value is the result
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


def _advance_recorded(table: LinkedTable, at: _Progress, max_steps: int) -> int:
    """The same steps, each one recorded: a separate loop, because recording takes twice the time."""
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


def _run(machine: TuringTable, table: LinkedTable, word: list[int], max_steps: int, record: bool) -> Computation:
    """The run on a word of codes; a symbol has the same code in the input alphabet and in the tape alphabet."""
    at = _progress(table.states[machine.start], 0, list(word), table.blank)
    taken = (_advance_recorded if record else _advance)(table, at, max_steps)
    kept = _recorded(machine, word, at) if record else _last(machine, at)
    return _computation(machine, at, taken, kept)


def _resume(machine: TuringTable, table: LinkedTable, before: Computation, max_steps: int) -> Computation:
    """The run continued from the last configuration of a computation."""
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
