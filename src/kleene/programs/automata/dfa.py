"""A deterministic finite automaton: checked when it is built, run on one word or on many at once."""

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from functools import cached_property, partial
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np

from kleene.notation.words import Word, padded_codes, whole_word, word_codes
from kleene.programs.automata.validation import (
    check_hashable,
    checked_accept,
    checked_alphabet,
    checked_start,
    checked_states,
    checked_transitions,
    rows_as_transitions,
)
from kleene.traces import Channel, Trace, TraceBatch

State = Hashable


@dataclass(frozen=True, kw_only=True)
class DFA:
    """A complete automaton: every state has one transition for every symbol of the alphabet.

    States are texts, numbers or anything hashable; symbols are texts, usually of one character. A word is a text,
    one symbol a character, or a sequence of symbols. `==` asks whether two automata are the same, state for state;
    `equivalent` whether they accept the same words.

    >>> odd = DFA(states=("even", "odd"), alphabet="01", start="even", accept=["odd"],
    ...           transitions={("even", "0"): "even", ("even", "1"): "odd", ("odd", "0"): "odd", ("odd", "1"): "even"})
    >>> odd.accepts("0111"), odd.accepts_batch(["", "1", "11"]).tolist()
    (True, [False, True, False])
    """

    states: tuple[State, ...]
    alphabet: tuple[str, ...]
    transitions: Mapping[tuple[State, str], State]
    start: State
    accept: frozenset[State]

    def __post_init__(self) -> None:
        states, alphabet = checked_states(self.states), checked_alphabet(self.alphabet)
        found = {
            "states": states,
            "alphabet": alphabet,
            "transitions": MappingProxyType(checked_transitions(self.transitions, states, alphabet)),
            "start": checked_start(self.start, states),
            "accept": checked_accept(self.accept, states),
        }
        for name, value in found.items():
            object.__setattr__(self, name, value)

    def __hash__(self) -> int:
        return hash((self.states, self.alphabet, self.start, self.accept, self.table.tobytes()))

    def __reduce__(self) -> tuple[Any, ...]:
        """For copies and pickles, which cannot be made of the read-only view of the transitions."""
        given = {f.name: getattr(self, f.name) for f in fields(self)}
        return partial(DFA, **given | {"transitions": dict(self.transitions)}), ()

    def __repr__(self) -> str:
        return f"<DFA of {len(self.states)} states over {' '.join(self.alphabet)}>"

    def __str__(self) -> str:
        """The transition table: → marks the start, * the accepting states."""
        rows = [["", "", *self.alphabet]]
        for state in self.states:
            mark = ("→" if state == self.start else "") + ("*" if state in self.accept else "")
            rows.append([mark, str(state), *(str(self.transitions[state, a]) for a in self.alphabet)])
        wide = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
        return "\n".join("  ".join(cell.ljust(w) for cell, w in zip(row, wide)).rstrip() for row in rows)

    # Codes: states and symbols by their places.

    @cached_property
    def table(self) -> np.ndarray:
        """The code of the next state for each [state, symbol]; codes count along `states` and `alphabet`."""
        codes = {state: code for code, state in enumerate(self.states)}
        rows = [[codes[self.transitions[state, symbol]] for symbol in self.alphabet] for state in self.states]
        return _read_only(np.array(rows, dtype=np.int32))

    @cached_property
    def accepting(self) -> np.ndarray:
        """Whether each state accepts, in the order of `states`."""
        return _read_only(np.array([state in self.accept for state in self.states]))

    @cached_property
    def start_code(self) -> int:
        return self.states.index(self.start)

    @cached_property
    def dead(self) -> frozenset[State]:
        """The states from which no word is accepted any more."""
        alive = self.accepting
        while True:
            grown = alive | alive[self.table].any(axis=1)
            if (grown == alive).all():
                return frozenset(state for state, lives in zip(self.states, alive) if not lives)
            alive = grown

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

    def accepts_batch(self, words: Sequence[Word]) -> np.ndarray:
        """Whether each of the words is in the language, all of them stepped together."""
        symbols, lengths = padded_codes(words, self.alphabet)
        state = np.full(len(symbols), self.start_code, dtype=np.int32)
        for position, column in enumerate(symbols.T):
            state = np.where(position < lengths, self.table[state, column], state)
        return self.accepting[state]

    def run(self, word: Word) -> Trace:
        """The trace of the word: `symbol`, `state` and `accepting` at every step, the start being step 0."""
        word = whole_word(word)
        word_codes(word, self.alphabet)  # the errors of a batch would speak of "word 0"
        return self.run_batch([word])[0]

    def run_batch(self, words: Sequence[Word]) -> TraceBatch:
        """The traces of many words, stepped together."""
        symbols, lengths = padded_codes(words, self.alphabet)
        real = np.arange(symbols.shape[1] + 1) <= lengths[:, None]
        read = np.where(real, np.pad(symbols, ((0, 0), (1, 0)), constant_values=-1), -1)
        path = np.empty(real.shape, dtype=np.int32)
        path[:, 0] = self.start_code
        for step, column in enumerate(symbols.T, start=1):
            path[:, step] = self.table[path[:, step - 1], column]
        data = {
            "symbol": read.astype(np.int32),
            "state": np.where(real, path, -1).astype(np.int32),
            "accepting": np.where(real, self.accepting[path], -1).astype(np.int32),
        }
        halted = np.ones(len(lengths), dtype=bool)
        return TraceBatch(self.channels, data, lengths, lengths, halted, "accepting", source="program", axes=("step",))

    # Other automata from this one.

    def minimise(self) -> "DFA":
        """The smallest automaton of the same language, its states named q0, q1, … as a search finds them."""
        from kleene.programs.automata.conversion import named_in_order, to_automata

        return named_in_order(to_automata(self).minify(), self.alphabet)

    def complement(self) -> "DFA":
        """The automaton that accepts what this one does not; its states keep their names."""
        rejecting = [state for state in self.states if state not in self.accept]
        return DFA(
            states=self.states,
            alphabet=self.alphabet,
            transitions=self.transitions,
            start=self.start,
            accept=frozenset(rejecting),
        )

    def union(self, other: "DFA") -> "DFA":
        """The smallest automaton that accepts what at least one of the two does."""
        from kleene.programs.automata.conversion import combined

        return combined(self, other, "union")

    def intersection(self, other: "DFA") -> "DFA":
        """The smallest automaton that accepts what both do."""
        from kleene.programs.automata.conversion import combined

        return combined(self, other, "intersection")

    def equivalent(self, other: "DFA") -> bool:
        """Whether both accept the same words."""
        return self.distinguishing_word(other) is None

    def distinguishing_word(self, other: "DFA") -> str | tuple[str, ...] | None:
        """A shortest word that only one of the two accepts; None where they are equivalent."""
        from kleene.programs.automata.validation import distinguishing_word

        return distinguishing_word(self, other)

    # Where automata come from, and where they go.

    @classmethod
    def from_regex(cls, regex: str, alphabet: Iterable[str] | None = None) -> "DFA":
        """The smallest automaton of a regular expression, its dead state last; see `automata.regex_syntax`.

        The alphabet is what occurs in the expression, in order of characters, where it is not given.

        >>> DFA.from_regex("(0|10*1)*").accepts("110")
        True
        """
        from kleene.programs.automata.regex import from_regex

        return from_regex(regex, alphabet)

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
        """The automaton that an automata-lib `DFA` or `NFA` describes; what it leaves out goes to a dead state."""
        from kleene.programs.automata.conversion import from_automata

        return from_automata(automaton)

    def to_automata(self) -> Any:
        """This automaton as an automata-lib `DFA`, with everything that library can do."""
        from kleene.programs.automata.conversion import to_automata

        return to_automata(self)

    @classmethod
    def from_json(cls, content: str | Mapping[str, Any]) -> "DFA":
        """The automaton that `to_json` wrote, as a text or as what it holds."""
        from kleene.programs.automata.storage import from_json

        return from_json(content)

    def to_json(self) -> str:
        """The automaton as a JSON text."""
        from kleene.programs.automata.storage import to_json

        return to_json(self)

    @classmethod
    def from_dot(cls, text: str) -> "DFA":
        """The automaton that a Graphviz text draws; see `automata.dot` for what is understood."""
        from kleene.programs.automata.dot import from_dot

        return from_dot(text)

    def to_dot(self) -> str:
        """The automaton as a Graphviz text."""
        from kleene.programs.automata.dot import to_dot

        return to_dot(self)

    @classmethod
    def load(cls, path: Any) -> "DFA":
        """The automaton in a `.json`, `.dot` or `.gv` file."""
        from kleene.programs.automata.storage import load

        return load(Path(path))

    def save(self, path: Any) -> Path:
        """The path of the `.json`, `.dot` or `.gv` file now holding the automaton."""
        from kleene.programs.automata.storage import save

        return save(self, Path(path))


def _read_only(array: np.ndarray) -> np.ndarray:
    array.flags.writeable = False
    return array
