"""A deterministic finite automaton: checked when it is built, run on one word or on many at once."""

from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from kleene.notation.edit_plans import EditPlan
from kleene.notation.edits import Edit, Edits
from kleene.notation.graphs import DRAWN, StateGraph, aligned
from kleene.notation.words import Word, padded_codes, whole_word, word_codes
from kleene.programs.automata import operations, storage
from kleene.programs.automata.regex import from_regex
from kleene.programs.automata.table import State, TransitionTable, check_hashable, rows_as_transitions
from kleene.traces import Channel, Trace, TraceBatch
from kleene.traces.markup import html_table


class DFA(TransitionTable):
    """A complete automaton: every state has one transition for every symbol of the alphabet.

    States are strings, numbers or anything hashable; symbols are strings, usually of one character. A word is a string,
    one symbol a character, or a sequence of symbols. `==` asks whether two automata are the same, state for state;
    `equivalent` whether they accept the same words.

    >>> odd = DFA(states=("even", "odd"), alphabet="01", start="even", accept=["odd"],
    ...           transitions={("even", "0"): "even", ("even", "1"): "odd", ("odd", "0"): "odd", ("odd", "1"): "even"})
    >>> odd.accepts("0111"), odd.accepts_batch(["", "1", "11"]).tolist()
    (True, [False, True, False])
    """

    def __str__(self) -> str:
        """The transition table: → marks the start, * the accepting states."""
        return aligned(self._table_rows())

    def _repr_html_(self) -> str:
        """The diagram for a notebook, or the transition table where a diagram is slow to draw and hard to read."""
        if max(len(self.states), len(self.alphabet)) > DRAWN:
            return html_table(self._table_rows())
        from kleene.pictures.diagrams import diagram  # only a notebook draws

        return diagram(self.graph()).image

    def _table_rows(self) -> list[list[str]]:
        rows = [["", "", *self.alphabet]]
        for state in self.states:
            mark = ("→" if state == self.start else "") + ("*" if state in self.accept else "")
            rows.append([mark, str(state), *(str(self.transitions[state, a]) for a in self.alphabet)])
        return rows

    def graph(self, word: Word | None = None, *, dead: bool = True) -> StateGraph:
        """States and arrows for a diagram, with the walk of a word if one is given.

        With `dead=False` states from which nothing is accepted are left out, and a note says so.
        """
        graph = operations.graph_of(self, dead=dead)
        if word is None:
            return graph
        whole = whole_word(word)
        codes = self.run(whole)["state"].tolist()
        names = [str(self.states[code]) for code in codes]
        return graph.walked(whole, names, "accepted" if self.accepting[codes[-1]] else "rejected")

    # Running.

    @property
    def channels(self) -> tuple[Channel, ...]:
        """What a run records: the symbol that each step read, the state it led to, whether that accepts."""
        return (
            Channel("symbol", "category", len(self.alphabet), labels=self.alphabet, per_step=True),
            Channel("state", "category", len(self.states), labels=tuple(str(state) for state in self.states)),
            Channel("accepting", "category", 2),
        )

    def accepts(self, word: Word) -> bool:
        """Whether the word is in the language."""
        state, rows = self.start_code, self._rows
        for symbol in word_codes(word, self.alphabet):
            state = rows[state][symbol]
        return bool(self.accepting[state])

    @cached_property
    def _rows(self) -> list[list[int]]:
        return self.table.tolist()

    def accepts_batch(self, words: Iterable[Word]) -> np.ndarray:
        """Whether each of the words is in the language, all of them stepped together."""
        symbols, lengths = padded_codes(words, self.alphabet)
        state = np.full(len(symbols), self.start_code, dtype=np.int32)
        for position, column in enumerate(symbols.T):
            state = np.where(position < lengths, self.table[state, column], state)
        return self.accepting[state]

    def run(self, word: Word, *, edits: Sequence[Edit] = ()) -> Trace:
        """The trace of the word: `symbol`, `state` and `accepting` at every step; step 0 is the start.

        `edits` put the automaton into another `state` after a step, and it reads on from there: see `kleene.Edit`.
        """
        word = whole_word(word)
        word_codes(word, self.alphabet)  # checked here, because the errors of a batch would speak of "word 0"
        return self.run_batch([word], edits=edits)[0]

    def run_batch(self, words: Iterable[Word], *, edits: Edits = ()) -> TraceBatch:
        """The traces of many words, stepped together. `edits` are for every word, or a list for each of them."""
        symbols, lengths = padded_codes(words, self.alphabet)
        real = np.arange(symbols.shape[1] + 1) <= lengths[:, None]
        read = np.where(real, np.pad(symbols, ((0, 0), (1, 0)), constant_values=-1), -1)
        path = np.empty(real.shape, dtype=np.int32)
        path[:, 0] = self.start_code
        plan = None
        if edits:
            plan = EditPlan("the automaton", edits, self.channels[1:2], lengths, flat=("state",), unit="step")
            plan.refuse_unreached(lengths)
            _set(plan, path, 0)
        for step, column in enumerate(symbols.T, start=1):
            path[:, step] = self.table[path[:, step - 1], column]
            if plan is not None:
                _set(plan, path, step)
        data = {
            "symbol": read.astype(np.int32),
            "state": np.where(real, path, -1).astype(np.int32),
            "accepting": np.where(real, self.accepting[path], -1).astype(np.int32),
        }
        halted = np.ones(len(lengths), dtype=bool)
        return TraceBatch(self.channels, data, lengths, lengths, halted, "accepting", source="program", axes=("step",))

    # Other automata from this one.

    def minimise(self) -> "DFA":
        """The smallest automaton of the same language, its states named q0, q1, … in breadth-first order."""
        return DFA.of(operations.minimised(self))

    def complement(self) -> "DFA":
        """The automaton that accepts what this one does not; its states keep their names."""
        rejecting = [state for state in self.states if state not in self.accept]
        return DFA(
            states=self.states,
            alphabet=self.alphabet,
            transitions=self.transitions,
            start=self.start,
            accept=frozenset(rejecting),
            positions=self.positions,
        )

    def union(self, other: "DFA") -> "DFA":
        """The smallest automaton that accepts what at least one of the two does."""
        return DFA.of(operations.combined(self, other, "union"))

    def intersection(self, other: "DFA") -> "DFA":
        """The smallest automaton that accepts what both do."""
        return DFA.of(operations.combined(self, other, "intersection"))

    def equivalent(self, other: "DFA") -> bool:
        """Whether both accept the same words."""
        return self.distinguishing_word(other) is None

    def distinguishing_word(self, other: "DFA") -> str | tuple[str, ...] | None:
        """A shortest word that only one of the two accepts; None where they are equivalent."""
        return operations.distinguishing_word(self, other)

    # Conversions and files.

    @classmethod
    def from_regex(cls, regex: str, alphabet: Iterable[str] | None = None) -> "DFA":
        """The smallest automaton of a regular expression, its dead state last; see `automata.regex_syntax`.

        Without `alphabet`, it is the symbols of the expression in order of characters.

        >>> DFA.from_regex("(0|10*1)*").accepts("110")
        True
        """
        return cls.of(from_regex(regex, alphabet))

    @classmethod
    def from_table(
        cls,
        rows: Iterable[tuple[State, str, State]],
        *,
        start: State,
        accept: Iterable[State],
        alphabet: Iterable[str] | None = None,
    ) -> "DFA":
        """The automaton whose transitions are the rows (state, symbol, next state), in any order."""
        check_hashable(start)
        transitions = rows_as_transitions(rows)
        states = dict.fromkeys([start, *(q for q, _ in transitions), *transitions.values()])
        symbols = alphabet if alphabet is not None else dict.fromkeys(a for _, a in transitions)
        return cls(
            states=tuple(states),
            alphabet=tuple(symbols),
            transitions=transitions,
            start=start,
            accept=tuple(accept) if isinstance(accept, str) else accept,  # type: ignore[arg-type]  checked first
        )

    @classmethod
    def from_automata(cls, automaton: Any) -> "DFA":
        """The automaton of an automata-lib `DFA` or `NFA`; missing transitions go to a dead state."""
        return cls.of(operations.from_automata(automaton))

    def to_automata(self) -> Any:
        """This automaton as an automata-lib `DFA`, with everything that library can do."""
        return operations.to_automata(self)

    @classmethod
    def from_json(cls, content: str | Mapping[str, Any]) -> "DFA":
        """The automaton in JSON, as `to_json` writes it or as the dict that it holds."""
        return cls.of(storage.from_json(content))

    def to_json(self) -> str:
        """The automaton as a JSON string."""
        return storage.to_json(self)

    @classmethod
    def from_dot(cls, text: str) -> "DFA":
        """The automaton that a Graphviz drawing (DOT) shows; see `automata.storage` for what is understood."""
        return cls.of(storage.from_dot(text))

    def to_dot(self) -> str:
        """The automaton as a Graphviz drawing (DOT)."""
        return storage.to_dot(self)

    @classmethod
    def load(cls, path: Any) -> "DFA":
        """The automaton in a `.json`, `.dot`, `.gv` or JFLAP (`.jff`) file; a nondeterministic one is determinised."""
        return cls.of(storage.load(Path(path)))

    def save(self, path: Any) -> Path:
        """Save the automaton as `.json`, `.dot`, `.gv` or, for JFLAP, `.jff` and return the path."""
        return storage.save(self, Path(path))


def _set(plan: EditPlan, path: np.ndarray, step: int) -> None:
    """Put the states of the step's edits into the path."""
    for placed in plan.at(step):
        path[placed.rows, step] = placed.entries
