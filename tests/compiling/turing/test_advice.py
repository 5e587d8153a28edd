"""Any language by lookup: the list grows where it ends too early, and its end is never taken for an answer."""

from fractions import Fraction
from itertools import product

import pytest

from kleene.compiling.turing.advice import compile_language
from kleene.errors import InputError, RunError

THREE = {"", "b", "ab"}


def words(alphabet, longest):
    return ["".join(w) for length in range(longest + 1) for w in product(alphabet, repeat=length)]


def is_prime(word):
    return len(word) > 1 and all(len(word) % d for d in range(2, len(word)))


def test_a_finite_language_is_looked_up_in_a_list_with_an_end():
    network = compile_language(lambda word: word in THREE, "ab", longest=2)
    assert [w for w in ("", "b", "ab", "a", "ba", "aaa", "abab") if network.accepts(w)] == ["", "b", "ab"]
    assert network.words == ["", "b", "ab"]


def test_the_lists_end_is_not_taken_for_an_answer():
    network = compile_language(lambda word: word in THREE, "ab", patience=500)
    assert network.accepts("ab")
    with pytest.raises(RunError, match=r"none of the next 500 words.*longest"):
        network.accepts("aaa")


@pytest.mark.parametrize(
    "predicate",
    [lambda w: w[: len(w) // 2] * 2 == w, lambda w: w == w[::-1], lambda w: True, lambda w: w.count("a") > len(w) // 2],
)
def test_infinite_languages_are_decided_right_on_all_short_words(predicate):
    network = compile_language(predicate, "ab")
    for word in words("ab", 3):
        assert network.accepts(word) == bool(predicate(word)), word


def test_the_empty_language_has_an_empty_list():
    network = compile_language(lambda word: False, "ab", longest=3)
    assert not any(network.accepts(word) for word in words("ab", 3))


def test_the_list_grows_only_as_far_as_needed():
    network = compile_language(lambda word: True, "ab")
    network.accepts("")
    few = len(network.words)
    network.accepts("bbbbb")
    assert few < len(network.words) < 200


def test_only_the_start_is_long():
    network = compile_language(lambda word: True, "ab")
    network.accepts("bbb")
    rnn = network.rnn
    assert rnn.start.denominator > 3**50
    assert all(w.denominator <= 9 for name, w in rnn.weights().items() if name != "start")
    assert rnn.hidden_units == network.size.hidden_units == 178


def test_the_networks_own_outputs_are_the_verdict():
    network = compile_language(lambda word: word in THREE, "ab", longest=2)
    for word in ("", "ab", "ba"):
        accepted = network.accepts(word)
        outputs = network.rnn.outputs([*word, *[network.rnn.alphabet[-1]] * 60]).tolist()
        assert outputs[0] == [0, 0, 1]
        assert outputs[-1] == ([1, 0, 0] if accepted else [0, 1, 0])


def test_three_symbols_of_any_name_are_looked_up_too():
    network = compile_language(lambda word: word[:1] == ("up",), ["up", "down", "on"])
    assert network.accepts(["up", "on"])
    assert not network.accepts(["down"])
    assert not network.accepts([])


def test_seven_units_know_all_primes():
    oracle = compile_language(is_prime, "1")
    assert oracle.size.hidden_units == 7
    assert [n for n in range(150) if oracle.accepts("1" * n)] == [n for n in range(150) if is_prime("1" * n)]
    assert len(oracle.bits) == 150
    assert oracle.rnn.start.denominator > 3**140
    assert oracle.rnn.recurrent.denominator == 1


def test_the_oracle_says_nul_before_the_end_of_the_input():
    oracle = compile_language(is_prime, "1")
    oracle.accepts("111")
    assert oracle.rnn.outputs("111").tolist() == [[0, 0, 1]] * 4
    assert oracle.rnn.hidden("")[0].tolist().count(0) == 5
    assert isinstance(oracle.rnn.hidden("")[0][1], Fraction)


@pytest.mark.parametrize("alphabet", ["", "aa", [1, 2]])
def test_a_bad_alphabet_is_refused(alphabet):
    with pytest.raises(InputError, match="alphabet"):
        compile_language(is_prime, alphabet)


def test_a_symbol_outside_the_alphabet_is_named():
    with pytest.raises(InputError, match="'c'"):
        compile_language(lambda word: True, "ab").accepts("abc")
