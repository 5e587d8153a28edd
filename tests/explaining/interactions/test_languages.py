"""The exact interactions of a regular language against those of any function of words."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kleene.errors import InputError
from kleene.explaining.interactions.languages import language_interactions
from kleene.explaining.interactions.shapley import sampled_interactions, shapley_interactions
from kleene.programs.automata import DFA
from kleene.programs.automata.library import get

STATES = 4
AUTOMATA = st.tuples(
    st.lists(st.integers(0, STATES - 1), min_size=3 * STATES, max_size=3 * STATES), st.sets(st.integers(0, STATES - 1))
)


@given(AUTOMATA, st.text("abc", max_size=5))
@settings(max_examples=25)
def test_it_is_the_shapley_interaction_of_membership(automaton, word):
    targets, accept = automaton
    moves = [(str(i // 3), "abc"[i % 3], str(target)) for i, target in enumerate(targets)]
    dfa = DFA.from_table(moves, start="0", accept=[str(state) for state in accept], alphabet="abc")
    exact = shapley_interactions(dfa.accepts_batch, word, dfa.alphabet)
    assert np.allclose(language_interactions(dfa, word), exact, atol=1e-12, equal_nan=True)


def test_an_estimate_for_a_long_word_is_near_it_within_its_errors():
    dfa, word = get("tomita_4").build(), "10011" * 4
    exact, found = language_interactions(dfa, word), sampled_interactions(dfa.accepts_batch, word, "01", samples=400)
    pairs = np.triu_indices(len(word), 1)
    assert (np.abs(found.values - exact)[pairs] <= 4 * found.errors[pairs] + 1e-9).mean() > 0.95
    assert np.corrcoef(found.values[pairs], exact[pairs])[0, 1] > 0.9


def test_positions_that_do_not_interact_have_exactly_0():
    found = language_interactions(DFA.from_regex("(0|1)*011"), "0110" * 10)
    assert set(found[0, 1:]) == {0.0}


def test_a_symbol_outside_the_alphabet_is_named():
    with pytest.raises(InputError, match="symbol 1 of the word is '2'"):
        language_interactions(get("tomita_4").build(), "02")
