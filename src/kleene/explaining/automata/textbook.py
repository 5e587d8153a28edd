"""Theorem 4.6 of Chiang's notes as it is written there: the automaton of all 2^d + 1 states, reachable or not.

`reachable` finds the part that words reach, which is all that the language needs. Here is the whole of it, equation by
equation: the states are q0 and every vector of zeros and ones, and a state is final if the output is exactly 1.
"""

from typing import Any

import numpy as np

from kleene.errors import InputError
from kleene.explaining.automata.reachable import integer_network
from kleene.limits import checked_count
from kleene.programs.automata import DFA

MAX_STATES = 100_000
START = "q0"


def textbook_automaton(network: Any, *, max_states: int = MAX_STATES) -> DFA:
    """The automaton of equations 4.24 to 4.26: its states are q0 and every vector of d zeros and ones.

    The notes leave q0 out of the final states; here it is final if the output at the start is 1, so that the automaton
    accepts the empty word where the network does.

    >>> from kleene.compiling.automata import compile_dfa
    >>> odd = DFA.from_regex("0*10*(10*10*)*")
    >>> whole = textbook_automaton(compile_dfa(odd, activation="slu"))
    >>> len(whole.states), whole.equivalent(odd)
    (17, True)
    """
    max_states = checked_count(max_states, "max_states", "it is a number of states, 1 or more", least=1)
    exact = integer_network(network)
    if exact.activation != "slu":
        raise InputError(
            f"Theorem 4.6 needs units that saturate (SLU), and these are {exact.activation}: its hidden vectors need "
            f"not be zeros and ones. Compile the automaton with the activation 'slu', or use the method 'reachable'"
        )
    units = exact.hidden_units
    if units >= 64 or 2**units + 1 > max_states:
        raise InputError(
            f"the network has {units} units, so this automaton has 2^{units} + 1 states, and max_states is "
            f"{max_states:,}; use the method 'reachable', which takes only the states that words reach"
        )
    vectors = (np.arange(2**units)[:, None] >> np.arange(units)[::-1]) & 1
    names = tuple("".join(map(str, row)) for row in vectors.tolist())
    w: dict[str, np.ndarray] = {name: matrix.dense() for name, matrix in exact.weights().items()}
    rows = np.concatenate([w["start"].T, vectors.astype(object)])  # q0 steps as the start does (4.24)
    before, places = rows @ w["recurrent"].T + w["bias"][:, 0], 1 << np.arange(units)[::-1]
    transitions = {}
    for column, symbol in enumerate(exact.alphabet):
        after = np.clip(before + w["inputs"][:, column], 0, 1).astype(np.int64) @ places
        transitions |= {(state, symbol): names[target] for state, target in zip((START, *names), after.tolist())}
    final = rows @ w["readout"][0] + w["readout_bias"][0, 0] == 1
    accept = frozenset(state for state, is_final in zip((START, *names), final) if is_final)
    return DFA(states=(START, *names), alphabet=exact.alphabet, transitions=transitions, start=START, accept=accept)
