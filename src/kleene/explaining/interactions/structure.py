"""The structural truth about an automaton: which symbols of a word its state still depends on."""

import numpy as np

from kleene.notation.words import Word, word_codes
from kleene.programs.automata import DFA


def dependence(dfa: DFA, word: Word) -> np.ndarray:
    """Whether the state after each symbol depends on each position: booleans [step, position], step 0 the start.

    It does if another symbol at that position alone leads to a state of another Myhill–Nerode class: some
    continuation is accepted after one and not after the other.

    >>> dependence(DFA.from_regex("(a|b)*ab"), "bab").astype(int).tolist()  # the last two symbols are all it knows
    [[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 1, 1]]
    """
    codes = np.asarray(word_codes(word, dfa.alphabet), dtype=np.int64)
    length, symbols, classes = len(codes), len(dfa.alphabet), state_classes(dfa)
    changed = np.tile(codes, (length, symbols, 1))
    changed[np.arange(length), :, np.arange(length)] = np.arange(symbols)
    own, others = np.full(1, dfa.start_code), np.full((length, symbols), dfa.start_code)
    found = np.zeros((length + 1, length), dtype=bool)
    for step in range(length):
        own, others = dfa.table[own, codes[step]], dfa.table[others, changed[:, :, step]]
        found[step + 1] = (classes[others] != classes[own]).any(axis=1)
    return found


def state_classes(dfa: DFA) -> np.ndarray:
    """The Myhill–Nerode class of each state, by its number, as Moore's algorithm refines them from accepting or not.

    >>> state_classes(DFA.from_table([("p", "a", "q"), ("q", "a", "r"), ("r", "a", "q")], start="p", accept=["q"]))
    array([0, 1, 0])
    """
    classes = dfa.accepting.astype(np.int64)
    while True:
        rows = np.column_stack([classes, classes[dfa.table]])
        finer = np.unique(rows, axis=0, return_inverse=True)[1].reshape(-1)
        if finer.max() == classes.max():
            return finer
        classes = finer


def dependent_pairs(dfa: DFA, word: Word) -> np.ndarray:
    """Whether the state at the end of the word depends on both of two positions: booleans [position, position]."""
    last = dependence(dfa, word)[-1]
    return last[:, None] & last[None, :]
