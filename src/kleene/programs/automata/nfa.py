"""A nondeterministic finite automaton: its runs, its DFA, its graph with all ways of a word, and its JFLAP file."""

from collections.abc import Iterable
from functools import cached_property
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from kleene.notation.graphs import DRAWN, Arrow, Node, StateGraph, Walk, aligned, marks
from kleene.notation.words import Word, whole_word, word_codes
from kleene.programs.automata import jflap
from kleene.programs.automata.dfa import DFA
from kleene.programs.automata.nondeterministic import EPSILON, NondeterministicTable, determinised
from kleene.programs.automata.operations import symbol_lines
from kleene.programs.automata.subsets import MOST_STATES
from kleene.traces import Trace
from kleene.traces.markup import html_table

SHOWN = 14  # sets of states in the caption of a walk


class NFA(NondeterministicTable):
    """An automaton that may have several ways to read a word; it accepts if one of them ends in an accepting state.

    `transitions` map (state, symbol) to a set of states; the symbol `""` is ε, which reads nothing. Whatever takes a
    `DFA` takes an `NFA` as well, and works on its `determinise()`.

    >>> ends = NFA(states=("p", "q", "r"), alphabet="ab", start="p", accept=["r"],
    ...            transitions={("p", "a"): {"p", "q"}, ("p", "b"): {"p"}, ("q", "b"): {"r"}})
    >>> ends.accepts("aab"), ends.determinise().states
    (True, ('{p}', '{p,q}', '{p,r}'))
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
        symbols = [*self.alphabet, *([EPSILON] if any(a == EPSILON for _, a in self.transitions) else [])]
        rows = [["", "", *(a or "ε" for a in symbols)]]
        for state in self.states:
            mark = ("→" if state == self.start else "") + ("*" if state in self.accept else "")
            rows.append([mark, str(state), *(self.set_name(self.transitions.get((state, a), ())) for a in symbols)])
        return rows

    # Running.

    def accepts(self, word: Word) -> bool:
        """Whether the word is in the language; the sets of states are followed, and no DFA is built."""
        return not self._path(word)[-1].isdisjoint(self.accept)

    def accepts_batch(self, words: Iterable[Word]) -> np.ndarray:
        """Whether each of the words is in the language."""
        return np.array([self.accepts(word) for word in words], dtype=bool)

    def run(self, word: Word) -> Trace:
        """The trace of the word: `state` is the set of states in which the automaton may be."""
        return self._determinised.run(word)

    def _path(self, word: Word) -> list[frozenset[Any]]:
        """The set of states before the first symbol, and after each."""
        path = [self.closure([self.start])]
        for code in word_codes(word, self.alphabet):
            path.append(self.following(path[-1], self.alphabet[code]))
        return path

    # The DFA.

    def determinise(self, *, most_states: int = MOST_STATES) -> DFA:
        """The DFA of the same language, whose states are the sets of states that words lead to, named `{p,q}`.

        There can be 2ⁿ of them; it is given up after `most_states`.
        """
        if most_states == MOST_STATES:
            return self._determinised
        return DFA.of(determinised(self, most_states=most_states))

    @cached_property
    def _determinised(self) -> DFA:
        return DFA.of(determinised(self))

    def minimise(self) -> DFA:
        """The smallest DFA of the same language, its states named q0, q1, … in breadth-first order."""
        return self._determinised.minimise()

    # Graph and files.

    def graph(self, word: Word | None = None, *, dead: bool = True) -> StateGraph:
        """States and arrows for a diagram; of a word, all ways through it. `dead` has no meaning here."""
        place = self.places
        nodes = tuple(
            Node(str(q), q in self.accept, marks=marks(start=q == self.start, accepting=q in self.accept))
            for q in self.states
        )
        symbols: dict[tuple[int, int], list[str]] = {}
        for (state, symbol), targets in self.transitions.items():
            for target in sorted(targets, key=place.__getitem__):
                symbols.setdefault((place[state], place[target]), []).append(symbol or "ε")
        arrows = tuple(Arrow(*ends, symbol_lines(found), tuple(found)) for ends, found in symbols.items())
        title = f"NFA with {len(self.states)} states"
        walk = Walk() if word is None else self._walk(whole_word(word))
        return StateGraph(title, nodes, arrows, place[self.start], len(self.states), walk=walk)

    def _walk(self, word: Any) -> Walk:
        """All ways of the word: the states in which it may be after each symbol, and the arrows between them."""
        place, path = self.places, self._path(word)
        visits: dict[int, list[int]] = {}
        arrows: set[tuple[int, int]] = set()
        for step, held in enumerate(path):
            for state in held:
                visits.setdefault(place[state], []).append(step)
                arrows |= {(place[state], place[r]) for r in self.transitions.get((state, EPSILON), ())}
        for symbol, (held, _) in zip(word, pairwise(path)):
            arrows |= {(place[q], place[r]) for q in held for r in self.transitions.get((q, symbol), ())}
        ends = sorted(path[-1], key=lambda q: (q not in self.accept, place[q]))
        names = [self.set_name(held) for held in path]
        shown = names if len(names) <= SHOWN else [*names[: SHOWN - 2], "…", names[-1]]
        called = repr(word if isinstance(word, str) else " ".join(word)) if len(word) else "the empty word"
        verdict = "accepted" if ends and ends[0] in self.accept else "rejected"
        caption = f"{called} is {verdict}: {' → '.join(shown)}"
        return Walk(visits, frozenset(arrows), place[ends[0]] if ends else None, caption)

    @classmethod
    def load(cls, path: Any) -> "NFA":
        """The automaton in a JFLAP file, `.jff`."""
        return cls.of(jflap.load(Path(path)))

    def save(self, path: Any) -> Path:
        """Save the automaton as a JFLAP file, `.jff`, and return the path."""
        return jflap.save(self, Path(path))


def as_dfa(nfa: NFA) -> DFA:
    """The DFA of an NFA: how it is taken by whatever takes a DFA."""
    return nfa.determinise()


def drawn(path: Any) -> DFA | NFA:
    """The automaton in a JFLAP file: a DFA if it is deterministic, completed where transitions are missing."""
    table = jflap.load(Path(path))
    return DFA.of(jflap.completed(table)) if table.is_deterministic else NFA.of(table)
