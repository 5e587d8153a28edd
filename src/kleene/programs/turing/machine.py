"""A Turing machine: its run, its graph of states, and its files."""

from collections.abc import Iterable
from functools import cached_property
from pathlib import Path
from typing import Any

from kleene.errors import InputError
from kleene.files import SEAL, sealed, write_atomically
from kleene.limits import checked_count
from kleene.notation.computations import Computation, accepted
from kleene.notation.graphs import Arrow, Node, StateGraph, aligned, html_table, marks
from kleene.notation.words import Word, whole_word, word_codes
from kleene.programs.turing import simulator
from kleene.programs.turing.table import TuringTable
from kleene.programs.turing.text import as_text, load, parse


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
        """The table for a notebook; one that is too long to be read is cut."""
        return html_table(self._table_rows())

    def _table_rows(self) -> list[list[str]]:
        rows = [["", "", *self.tape_alphabet]]
        for state in self.states[:-2]:  # accept and reject stand last
            actions = [" ".join(self.transitions[state, symbol]) for symbol in self.tape_alphabet]
            rows.append(["→" if state == self.start else "", state, *actions])
        return rows

    # Running.

    def run(self, word: Word, max_steps: int = 10_000, record: bool = True) -> Computation:
        """What the machine does on the word, up to `max_steps` steps; then the verdict is "running".

        With `record=False` only the last configuration is kept: faster, and no memory but the tape.
        """
        budget = checked_count(max_steps, "max_steps", "it is a number of steps, 0 or more")
        whose = f"the input alphabet of {self.name}"
        codes = word_codes(word, self.input_alphabet, whose)
        return simulator.run(self, self._linked, codes, budget, record)

    def resume(self, computation: Computation, max_steps: int = 10_000) -> Computation:
        """The computation taken up to `max_steps` steps further; one that has halted comes back as it is.

        What was recorded before stays recorded, and what comes after is recorded only then.
        """
        budget = checked_count(max_steps, "max_steps", "it is a number of steps, 0 or more")
        if (computation.states, computation.symbols) != (self.states, self.tape_alphabet):
            raise InputError(
                f"the computation is one of another machine: its states are {' '.join(computation.states)}, those of "
                f"{self.name} are {' '.join(self.states)}"
            )
        if computation.verdict != "running":
            return computation
        return simulator.resume(self, self._linked, computation, budget)

    def run_batch(self, words: Iterable[Word], max_steps: int = 10_000, record: bool = True) -> list[Computation]:
        """The run on each word, one after the other."""
        return [self.run(word, max_steps, record) for word in words]

    def accepts(self, word: Word, max_steps: int = 10_000) -> bool:
        """Whether the machine accepts the word; a RunError where it has not halted within `max_steps`."""
        return accepted(self.run(word, max_steps, record=False), self.name, word, max_steps)

    @cached_property
    def _linked(self) -> simulator.Linked:
        return simulator.linked(self)

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
        """The machine that a text describes; see `kleene.programs.turing.text` for the format."""
        return cls.of(parse(text, name))

    def to_text(self) -> str:
        """The machine as a text that `from_text` reads."""
        return as_text(self)

    @classmethod
    def load(cls, path: Any) -> "TuringMachine":
        """The machine in a text file, usually one that ends in `.tm`; it has the file's name."""
        return cls.of(load(Path(path)))

    def save(self, path: Any) -> Path:
        """Save the machine as a text with its checksum and return the path."""
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
