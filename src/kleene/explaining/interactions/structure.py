"""The structural truth about an automaton: which symbols of a word its state still depends on."""

import numpy as np

from kleene.notation.words import Word, word_codes
from kleene.programs.automata import DFA


def dependence(dfa: DFA, word: Word) -> np.ndarray:
    """Whether the state after each symbol depends on each position: booleans [step, position], step 0 the start.

    It does if another symbol at that position alone leads to another state of the minimal automaton, which is another
    Myhill–Nerode class: some continuation is accepted after one and not after the other.

    >>> dependence(DFA.from_regex("(a|b)*ab"), "bab").astype(int).tolist()  # the last two symbols are all it knows
    [[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 1, 1]]
    """
    smallest = dfa.minimise()
    codes = np.asarray(word_codes(word, smallest.alphabet), dtype=np.int64)
    length, symbols = len(codes), len(smallest.alphabet)
    changed = np.tile(codes, (length, symbols, 1))
    changed[np.arange(length), :, np.arange(length)] = np.arange(symbols)
    own, others = np.full(1, smallest.start_code), np.full((length, symbols), smallest.start_code)
    found = np.zeros((length + 1, length), dtype=bool)
    for step in range(length):
        own, others = smallest.table[own, codes[step]], smallest.table[others, changed[:, :, step]]
        found[step + 1] = (others != own).any(axis=1)
    return found


def dependent_pairs(dfa: DFA, word: Word) -> np.ndarray:
    """Whether the state at the end of the word depends on both of two positions: booleans [position, position]."""
    last = dependence(dfa, word)[-1]
    return last[:, None] & last[None, :]
