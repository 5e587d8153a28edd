"""Which symbols an automaton's state depends on, against the definition by continuations."""

from itertools import product

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from kleene.explaining.interactions.structure import dependence, dependent_pairs, state_classes
from kleene.programs.automata import DFA
from kleene.programs.automata.library import get
from tests.compiling.dfas import dfas


def plain_dependence(dfa, word, step, position):
    """Whether a change at the position alone changes which continuations are accepted, up to 4 symbols."""
    after = [list(more) for length in range(5) for more in product(dfa.alphabet, repeat=length)]
    own = dfa.accepts_batch([[*word[:step], *more] for more in after])
    for symbol in dfa.alphabet:
        changed = [*word[:position], symbol, *word[position + 1 :]][:step]
        if (dfa.accepts_batch([[*changed, *more] for more in after]) != own).any():
            return True
    return False


@given(dfas(most_states=4, most_symbols=2), st.data())
@settings(max_examples=15)
def test_a_state_depends_on_a_symbol_if_some_continuation_does(dfa, data):
    word = data.draw(st.lists(st.sampled_from(dfa.alphabet), min_size=1, max_size=4))
    found = dependence(dfa, word)
    expected = [[plain_dependence(dfa, word, t, i) for i in range(len(word))] for t in range(len(word) + 1)]
    assert found.tolist() == expected


def test_parity_depends_on_everything_that_was_read():
    assert (dependence(get("parity").build(), "0110") == np.tri(5, 4, -1, dtype=bool)).all()


def test_pairs_are_those_of_which_both_still_matter():
    found = dependent_pairs(DFA.from_regex("(0|1)*011"), "101011")
    assert found[3:, 3:].all()
    assert not found[:3].any()


@given(dfas())
@settings(max_examples=30)
def test_there_are_as_many_classes_of_reachable_states_as_the_smallest_automaton_has_states(dfa):
    reached = {dfa.start_code}
    while more := set(dfa.table[sorted(reached)].ravel().tolist()) - reached:
        reached |= more
    assert len(set(state_classes(dfa)[sorted(reached)].tolist())) == len(dfa.minimise().states)
