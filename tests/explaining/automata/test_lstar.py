"""Automata learned from networks that were really trained, from functions, and from what has none."""

import random
import re

import jax
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kleene.errors import InputError
from kleene.explaining.automata.extraction import extract
from kleene.explaining.automata.lstar import all_words, learn, random_words
from kleene.machines.lstm.lstm import LSTM
from kleene.machines.rnn.simple_rnn import SimpleRNN
from kleene.programs.automata import DFA
from tests.explaining.automata.training import trained

LANGUAGES = {
    "parity": (lambda word: word.count("1") % 2 == 1, "0*10*(10*10*)*"),
    "tomita 4": (lambda word: "000" not in word, "(1|01|001)*(0|00)?"),
    "tomita 7": (lambda word: re.fullmatch("0*1*0*1*", word) is not None, "0*1*0*1*"),
}


def simple_rnn() -> SimpleRNN:
    return SimpleRNN.random("01", 16, activation="tanh", key=jax.random.key(0))


def lstm() -> LSTM:
    return LSTM.random("01", 8, outputs=1, key=jax.random.key(0))


@pytest.mark.parametrize(("untrained", "steps", "rate"), [(simple_rnn, 1000, 0.03), (lstm, 400, 0.02)])
@pytest.mark.parametrize("name", LANGUAGES)
def test_the_language_that_a_network_was_taught_is_recovered(name, untrained, steps, rate):
    language, regex = LANGUAGES[name]
    network = trained(untrained(), language, steps=steps, rate=rate)
    found = extract(network, method="lstar")
    taught = DFA.from_regex(regex, alphabet="01")
    assert found.equivalent(taught)
    assert not found.incomplete
    assert found.states == len(found.dfa.states) == len(taught.minimise().states)
    assert found.agreement > 0.95
    assert found.by_length[10] == 1.0


def test_an_untrained_network_does_not_speak_the_language():
    assert not learn(simple_rnn(), max_states=10).equivalent(DFA.from_regex("0*1*0*1*", alphabet="01"))


class Automaton:
    """An automaton that can only be asked, and notes how."""

    def __init__(self, dfa: DFA):
        self.dfa, self.alphabet, self.asked = dfa, dfa.alphabet, []

    def accepts_batch(self, words):
        self.asked.append(list(words))
        return self.dfa.accepts_batch(words)


def random_automaton(seed: int, states: int, symbols: int) -> DFA:
    rng, names, alphabet = random.Random(seed), [f"s{i}" for i in range(states)], "abc"[:symbols]
    return DFA(
        states=tuple(names),
        alphabet=tuple(alphabet),
        transitions={(q, a): rng.choice(names) for q in names for a in alphabet},
        start="s0",
        accept=frozenset(q for q in names if rng.random() < 0.5),
    )


@settings(max_examples=40)
@given(st.integers(0, 10**6), st.integers(1, 12), st.integers(1, 3))
def test_a_small_automaton_that_answers_is_learned_whole_and_minimal(seed, states, symbols):
    dfa = random_automaton(seed, states, symbols)
    found = learn(Automaton(dfa))
    assert found.dfa.distinguishing_word(dfa) is None
    assert found.states == len(dfa.minimise().states)
    assert found.agreement == 1.0
    assert found.disagreements == ()


def test_questions_are_asked_in_few_batches_and_each_word_once():
    asked = Automaton(DFA.from_regex("(a|b)*a(a|b){4}"))
    found = learn(asked)
    words = [word for batch in asked.asked for word in batch]
    assert len(words) == len(set(words))
    assert found.states == 32
    assert len(asked.asked) < 80 < found.membership_queries + found.equivalence_queries
    assert found.membership_queries + found.equivalence_queries + found.words >= len(words)


def test_words_by_which_the_result_is_judged_are_new_and_longer_ones_are_among_them():
    asked = Automaton(DFA.from_regex("(ab)*", alphabet="ab"))
    found = learn(asked)
    judged = asked.asked[-1]
    assert len(judged) == found.words
    assert not set(judged) & {word for batch in asked.asked[:-1] for word in batch}
    assert max(map(len, judged)) > 70 > 40 > max(len(word) for batch in asked.asked[:-1] for word in batch)


def test_a_network_that_goes_wrong_on_long_words_is_reported_with_the_words():
    found = learn(lambda word: word.count("a") % 2 == 0 and len(word) < 70, alphabet="ab")
    assert found.states == 2
    assert found.by_length[20] == 1.0
    assert found.by_length[80] < 1.0
    assert 0.5 < found.agreement < 1.0
    assert len(found.disagreements) == round((1 - found.agreement) * found.words)
    assert all(len(word) >= 70 and word.count("a") % 2 == 0 for word in found.disagreements)
    assert "they differ on" in str(found)


def test_learning_stops_at_the_limit_of_states_and_says_so():
    found = learn(lambda word: len(word) > 7 and word[-7] == "a", alphabet="ab", max_states=20)
    assert found.incomplete
    assert found.states <= 20
    assert found.agreement < 1
    assert "incomplete" in str(found)
    assert not learn(lambda word: len(word) > 2 and word[-2] == "a", alphabet="ab", max_states=20).incomplete


def test_a_language_that_is_not_regular_does_not_run_for_ever():
    found = learn(lambda word: word.count("a") == word.count("b"), alphabet="ab", max_states=8)
    assert found.incomplete
    assert found.states <= 8
    assert not found.dfa.accepts("a" * 30 + "b" * 30) or found.agreement < 1


@pytest.mark.parametrize(("accepts", "states"), [(lambda word: True, 1), (lambda word: False, 1), (len, 2)])
def test_simple_languages_have_simple_automata(accepts, states):
    assert learn(accepts, alphabet="ab").states == states


def test_symbols_may_be_longer_than_a_character():
    found = learn(lambda word: word[-1:] == ("stop",), alphabet=("go", "stop"))
    assert found.dfa.accepts(["go", "stop"])
    assert not found.dfa.accepts(["stop", "go"])


def test_one_symbol_is_enough():
    found = learn(lambda word: len(word) % 7 == 3, alphabet="a")
    assert (found.states, found.agreement) == (7, 1.0)
    assert found.words > 30


def test_the_same_seed_gives_the_same_report_and_progress_is_told():
    seen = []
    language = LANGUAGES["tomita 7"][0]
    first, second = learn(language, alphabet="01", progress=seen.append), learn(language, alphabet="01")
    assert first.dfa == second.dfa
    assert {**first.as_json(), "seconds": 0} == {**second.as_json(), "seconds": 0}
    assert [p.rounds for p in seen] == list(range(1, first.rounds + 1))
    assert seen[-1].states == first.states
    assert seen[-1].membership_queries == first.membership_queries


@pytest.mark.parametrize(
    ("network", "options", "complaint"),
    [
        (lambda word: True, {}, "L\\* needs an alphabet of texts"),
        (3, {"alphabet": "ab"}, "a int cannot be asked about words"),
        (lambda word: True, {"alphabet": "ab", "max_states": 1}, "max_states is 1; give 2 at least"),
        (lambda word: True, {"alphabet": (0, 1)}, "alphabet of texts"),
    ],
)
def test_what_cannot_be_learned_from_is_refused(network, options, complaint):
    with pytest.raises(InputError, match=complaint):
        learn(network, **options)


def test_all_words_come_shortest_first():
    words = all_words(2)
    assert [next(words) for _ in range(7)] == [(), (0,), (1,), (0, 0), (0, 1), (1, 0), (1, 1)]


def test_random_words_have_the_lengths_and_symbols_asked_for():
    words = random_words(3, (4, 10), 500, np.random.default_rng(0))
    assert {len(word) for word in words[:500]} == {1, 2, 3, 4}
    assert {len(word) for word in words[500:]} == {5, 6, 7, 8, 9, 10}
    assert {symbol for word in words for symbol in word} == {0, 1, 2}
    assert any(len(set(word)) == 1 for word in words[500:])
