"""The Shapley interactions of membership in a regular language, exact for words of any length.

A coalition drawn by a chance p, which is uniform, with each position present with that chance, has each size equally
often, as the Shapley interaction index asks for (Owen's multilinear extension). With resampling, a position of chance p
moves the distribution over an automaton's states by the matrix p · (that of its symbol) + (1 − p) · (the mean of all).
So the index of two positions is the integral over p of a product of matrices, which is a polynomial of degree n − 2,
and Gauss–Legendre quadrature with n / 2 nodes is exact. `shapley_interactions` needs all words instead.
"""

import numpy as np

from kleene.notation.words import Word, word_codes
from kleene.programs.automata import DFA

FLOOR = 1e-13  # rounding alone makes numbers of about 1e-16


def language_interactions(dfa: DFA, word: Word) -> np.ndarray:
    """The Shapley interaction index of every two positions: symmetric, NaN on the diagonal.

    Absent symbols are drawn again uniformly. The function is membership, 0 or 1. It takes about n³ products of a vector
    with a matrix of states for a word of n symbols.

    >>> found = language_interactions(DFA.from_regex("(0|1)*011"), "01" * 50 + "011").round(9)
    >>> found.shape, found[-1, -2].item(), found[-1, -4].item()
    ((103, 103), 0.1875, 0.0)
    """
    moves = np.eye(len(dfa.states))[dfa.table]  # [state, symbol, next state]
    absent = moves.mean(axis=1)
    changes = moves.swapaxes(0, 1)[word_codes(word, dfa.alphabet)] - absent  # what a present symbol changes
    length = len(changes)
    found = np.full((length, length), np.nan)
    nodes, weights = np.polynomial.legendre.leggauss(length // 2 + 1)
    steps = absent + ((nodes[:, None] + 1) / 2)[..., None] * changes[:, None]  # [position, node, state, next state]
    accepted = [np.tile(dfa.accepting.astype(np.float64), (len(nodes), 1))]  # from each state, at the end of the word
    for step in steps[::-1]:
        accepted.append(np.einsum("nst,nt->ns", step, accepted[-1]))
    after = accepted[::-1]
    before = np.tile(np.eye(len(dfa.states))[dfa.start_code], (len(nodes), 1))
    for i in range(length):
        between = before @ changes[i]
        for j in range(i + 1, length):
            both = ((between @ changes[j]) * after[j + 1]).sum(axis=1)
            found[i, j] = found[j, i] = weights @ both / 2
            between = np.einsum("ns,nst->nt", between, steps[j])
        before = np.einsum("ns,nst->nt", before, steps[i])
    found[np.abs(found) < FLOOR] = 0
    return found
