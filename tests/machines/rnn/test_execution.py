"""Exact networks, run sparsely in int64 or plainly in Python's integers, do what whole matrices of Fractions do."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings

import kleene.machines.rnn.execution as execution
from kleene.compiling.automata import compile_dfa
from kleene.errors import InputError
from kleene.machines.rnn.exact_execution import PlainStepper, SparseStepper, TooLargeError
from kleene.machines.rnn.simple_rnn import SimpleRNN
from kleene.notation.exact import ExactMatrix
from kleene.programs.automata import DFA
from tests.machines.rnn.networks import (
    all_words,
    large_integers,
    networks,
    reference_accepts,
    reference_hidden,
    reference_outputs,
    small_integers,
)
from tests.work import calls


@given(networks())
@settings(max_examples=25)
def test_hidden_vectors_and_outputs_are_those_of_the_definition(network):
    for word in [*all_words(network.alphabet, 2), network.alphabet[-1] * 4]:
        assert (network.hidden(word) == reference_hidden(network, word)).all()
        assert (network.outputs(word) == reference_outputs(network, word)).all()


@pytest.mark.parametrize("numbers", [small_integers, large_integers])
def test_a_batch_of_words_of_integer_weights_is_decided_as_by_the_definition(numbers):
    @given(networks(numbers))
    @settings(max_examples=40)
    def check(network):
        words = [*all_words(network.alphabet, 3), network.alphabet[0] * 7]
        expected = [reference_accepts(network, word) for word in words]
        assert network.accepts_batch(words).tolist() == expected

    check()


@given(networks(small_integers))
@settings(max_examples=25)
def test_the_live_units_of_a_batch_are_the_reference_vectors_at_every_step(network):
    words = ["", "a", network.alphabet[-1] * 3, "a" * 5]
    tokens, lengths = np.zeros((4, 5), dtype=np.int64), np.array([len(w) for w in words])
    for row, word in enumerate(words):
        tokens[row, : len(word)] = [network.alphabet.index(symbol) for symbol in word]
    for step, (reading, live) in enumerate(SparseStepper(network).run(tokens, lengths)):
        assert reading.tolist() == [row for row, word in enumerate(words) if len(word) >= step]
        found = np.zeros((4, network.hidden_units), dtype=object)
        found[live.words, live.units] = live.values
        for row in reading:
            assert (found[row] == reference_hidden(network, words[row])[step]).all()


@given(networks(small_integers))
@settings(max_examples=20)
def test_a_step_done_in_halves_is_the_same(network):
    tokens, lengths = execution.codes(network, all_words(network.alphabet, 3))
    whole, halves = (SparseStepper(network, expanded=most).run(tokens, lengths) for most in (1 << 22, 2))
    for (words, live), (words_again, live_again) in zip(whole, halves, strict=True):
        assert words.tolist() == words_again.tolist()
        assert [part.tolist() for part in live] == [part.tolist() for part in live_again]


def doubling():
    """One ReLU unit that doubles with every a, starting from 1, and loses 1 with every b."""
    return SimpleRNN(
        recurrent=ExactMatrix.from_rows([[2]]),
        inputs=ExactMatrix.from_rows([[0, -1]]),
        bias=ExactMatrix.zeros(1),
        start=ExactMatrix.column([1]),
        readout=ExactMatrix.identity(1),
        readout_bias=ExactMatrix.column([-(2**200) + 1]),
        activation="relu",
        alphabet=("a", "b"),
        threshold=0,
    )


def test_numbers_that_outgrow_int64_are_never_wrapped():
    network = doubling()
    tokens = np.zeros((1, 100), dtype=np.int64)
    with pytest.raises(TooLargeError):
        list(SparseStepper(network).run(tokens, np.array([100])))
    assert network.hidden("a" * 100)[-1, 0] == 2**100
    assert network.accepts_batch(["a" * 199, "a" * 200, "a" * 201, "a" * 199 + "b"]).tolist() == [
        False,
        True,
        True,
        False,
    ]


def test_words_that_ended_before_numbers_outgrew_int64_keep_their_verdict():
    network = doubling()
    network = SimpleRNN(
        **(network.weights() | {"readout_bias": ExactMatrix.zeros(1)}), **(network.description() | {"threshold": 2})
    )
    assert network.accepts_batch(["", "aa", "a" * 90, "b"]).tolist() == [False, True, True, False]


def test_a_start_may_be_negative_and_fractional():
    network = SimpleRNN(
        recurrent=ExactMatrix.from_rows([[-2]]),
        inputs=ExactMatrix.from_rows([[0]]),
        bias=ExactMatrix.zeros(1),
        start=ExactMatrix.column([Fraction(-1, 4)]),
        readout=ExactMatrix.identity(1),
        readout_bias=ExactMatrix.zeros(1),
        activation="slu",
        alphabet=("a",),
    )
    assert network.hidden("aa").tolist() == [[Fraction(-1, 4)], [Fraction(1, 2)], [0]]


def test_denominators_are_reduced_so_that_numbers_do_not_grow_with_time():
    network = SimpleRNN(
        recurrent=ExactMatrix.from_rows([[0, Fraction(4, 3)], [Fraction(3, 4), 0]]),
        inputs=ExactMatrix.zeros(2, 1),
        bias=ExactMatrix.zeros(2),
        start=ExactMatrix.column([1, 0]),
        readout=ExactMatrix.zeros(1, 2),
        readout_bias=ExactMatrix.zeros(1),
        activation="relu",
        alphabet=("a",),
    )
    *_, last = PlainStepper(network).states([0] * 1000)
    assert (last.live, last.denominator) == ({0: 1}, 1)


@pytest.mark.parametrize("words", [["ab", "axb"], [["a", "b"], ["a", "x", "b"]]])
def test_a_symbol_outside_the_alphabet_is_named_with_its_place(words):
    with pytest.raises(InputError, match="word 1: symbol 1 of the word is 'x', which is not in the alphabet: a b"):
        doubling().accepts_batch(words)
    with pytest.raises(InputError, match=r"^symbol 1 of the word is 'x'"):
        doubling().hidden(words[1])


def test_symbols_may_be_longer_than_a_character():
    network = SimpleRNN(**doubling().weights(), **(doubling().description() | {"alphabet": ("up", "down")}))
    assert network.hidden(["up", "up", "down"])[-1, 0] == 7
    with pytest.raises(InputError, match="symbol 0 of the word is 'u'"):
        network.accepts("up")


def test_no_words_at_all_are_a_batch_too():
    assert doubling().accepts_batch([]).shape == (0,)
    assert len(doubling().run_batch([])) == 0


def test_one_long_word_does_not_cost_what_a_batch_of_them_costs():
    network, word = compile_dfa(DFA.from_regex("(0|10*1)*")), "0110" * 100
    batches = [word], [word] * (execution.FEW + 1)
    assert all(network.accepts_batch(words).all() for words in batches)
    one, many = (calls(lambda words=words: network.accepts_batch(words)) for words in batches)
    assert one < many / 2


def test_few_words_are_stepped_one_after_the_other_and_many_at_once():
    network = compile_dfa(DFA.from_regex("(0|10*1)*"))
    assert not execution.in_one_go(network, execution.FEW)
    assert execution.in_one_go(network, execution.FEW + 1)


@given(networks(small_integers))
@settings(max_examples=20)
def test_few_words_and_many_are_accepted_alike(network):
    words = [*all_words(network.alphabet, 3)]
    many = network.accepts_batch([*words, *[network.alphabet[0]] * execution.FEW])
    assert [network.accepts(word) for word in words] == many[: len(words)].tolist()


def test_the_outputs_of_many_words_are_those_of_each_at_its_end():
    exact = compile_dfa(DFA.from_regex("(a|b)*abb"))
    words = ["", "abb", "babb", "ab"]
    for network in (exact, exact.to_float()):
        found = network.outputs_batch(words)
        assert found.tolist() == [network.outputs(word)[-1].tolist() for word in words] == [[0], [1], [1], [0]]
        assert network.outputs_batch([]).shape == (0, 1)
