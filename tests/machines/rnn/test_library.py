"""The library's networks recognise their languages: all short words, and long random ones."""

import random
import re

import pytest

from kleene.machines.rnn import library
from tests.machines.rnn.networks import all_words


def balanced(word):
    while "()" in word:
        word = word.replace("()", "")
    return word == ""


def a_then_b(word):
    return re.fullmatch("a*b*", word) is not None and word.count("a") == word.count("b")


def majority(word):
    return word.count("1") > word.count("0")


LANGUAGES = {
    "majority_relu": majority,
    "majority_slu": majority,
    "a_n_b_n": a_then_b,
    "dyck1": balanced,
    "two_units": lambda word: True,
}


def long_words(name, alphabet):
    """Random words, and words of the language with at most one symbol changed."""
    rng = random.Random(name)
    for length in (30, 61, 100):
        yield "".join(rng.choice(alphabet) for _ in range(length))
        half = length // 2
        for word in (alphabet[0] * half + alphabet[1] * half, (alphabet[0] + alphabet[1]) * half):
            place = rng.randrange(len(word))
            yield word
            yield word[:place] + rng.choice(alphabet) + word[place + 1 :]


@pytest.mark.parametrize("name", library.NETWORKS)
def test_a_library_network_accepts_exactly_its_language(name):
    network = library.NETWORKS[name]()
    words = [*all_words(network.alphabet, 9), *long_words(name, network.alphabet)]
    assert network.accepts_batch(words).tolist() == [LANGUAGES[name](word) for word in words]
    assert network.summary


@pytest.mark.parametrize("name", ["majority_relu", "majority_slu"])
def test_majority_gives_the_outputs_of_the_acceptance_table(name):
    network = library.NETWORKS[name]()
    assert [network.outputs(word)[-1].tolist() for word in ("", "01", "011", "110", "0")] == [[0], [0], [1], [1], [0]]


def test_majority_has_the_sizes_of_the_exercises():
    relu, slu = library.majority_relu(), library.majority_slu()
    assert (relu.hidden_units, relu.is_integer) == (3, True)
    assert (slu.hidden_units, slu.is_integer, slu.is_exact) == (6, False, True)


def test_the_output_of_a_majority_network_is_always_0_or_1():
    words = all_words(("0", "1"), 7)
    for network in (library.majority_relu(), library.majority_slu()):
        assert {int(network.outputs(word)[-1, 0]) for word in words} == {0, 1}
