import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kleene.errors import InputError
from kleene.notation.words import checked_input, padded, padded_codes, word_codes

texts = st.lists(st.text(alphabet="abé🙂", max_size=6), max_size=6)


@given(texts)
def test_words_come_back_from_their_codes(words):
    alphabet = ("🙂", "a", "é", "b")
    rows, lengths = padded_codes(words, alphabet)
    assert ["".join(alphabet[c] for c in row[:n]) for row, n in zip(rows, lengths)] == words
    spelled, same_lengths = padded_codes([list(word) for word in words], alphabet)
    np.testing.assert_array_equal(rows, spelled)
    np.testing.assert_array_equal(lengths, same_lengths)


def test_symbols_may_have_several_characters():
    assert word_codes(("stop", "go"), ("go", "stop")) == [1, 0]
    assert padded_codes([("stop", "go"), ()], ("go", "stop"))[0].tolist() == [[1, 0], [0, 0]]


@pytest.mark.parametrize(
    ("word", "message"),
    [
        ("aXb", "symbol 1 of the word is 'X', which is not in the alphabet: a b"),
        (["a", 1], "symbol 1 of the word is 1"),
        (["a", ["b"]], r"symbol 1 of the word is \['b'\]"),
        (7, "the word is 7; give a text"),
        (b"ab", "the word is b'ab'; give a text"),
        (None, "the word is None; give a text"),
    ],
)
def test_what_is_no_word_is_named(word, message):
    with pytest.raises(InputError, match=message):
        word_codes(word, ("a", "b"))


def test_a_number_where_its_text_was_meant_gets_a_hint():
    with pytest.raises(InputError, match="write '1', symbols are texts"):
        word_codes([0, 1][1:], ("0", "1"))


def test_the_word_of_a_batch_is_named():
    with pytest.raises(InputError, match="word 1: symbol 0 of the word is 'c'"):
        padded_codes(["ab", "cb"], ("a", "b"))
    with pytest.raises(InputError, match="word 0: the word is 3"):
        padded_codes([3, "a"], ("a", "b"))  # type: ignore[list-item]


sequences = st.lists(st.lists(st.integers(0, 9), max_size=6), max_size=5)


@given(st.lists(st.integers(0, 9), min_size=1, max_size=8), st.sampled_from([list, tuple, np.array]))
def test_a_good_sequence_comes_back_as_plain_integers(tokens, kind):
    found = checked_input(kind(tokens), "parity", 10, 8)
    assert found == tokens
    assert {type(t) for t in found} == {int}


def test_truth_values_are_tokens_too():
    assert checked_input([True, False], "parity", 2, None) == [1, 0]


@pytest.mark.parametrize(
    ("sequence", "message"),
    [
        ([], r"parity: the input is empty; give at least one token in 0\.\.9"),
        ([1, 10], r"parity: token 1 is 10, and tokens are in 0\.\.9"),
        ([-1], r"parity: token 0 is -1, and tokens are in 0\.\.9"),
        ([1, 0.5], r"parity: token 1 is 0\.5, and tokens are integers in 0\.\.9"),
        ([float("nan")], "parity: token 0 is nan, and tokens are integers"),
        (["1"], "parity: token 0 is '1', and tokens are integers"),
        ("101", "parity: token 0 is '1', and tokens are integers"),
        ([None], "parity: token 0 is None"),
        (np.zeros((2, 2), int), "parity: token 0 is array"),
        (7, "parity: the input is 7, and a sequence of integers was expected"),
        ([1] * 5, "parity: the input has 5 tokens, but the program was built for at most 4 positions"),
    ],
)
def test_a_bad_sequence_is_refused_and_the_message_says_what_is_wrong(sequence, message):
    with pytest.raises(InputError, match=message):
        checked_input(sequence, "parity", 10, 4)


def test_without_a_position_range_any_length_will_do():
    assert len(checked_input([1] * 1000, "parity", 2, None)) == 1000


@given(sequences)
def test_padded_sequences_can_be_read_back(rows):
    tokens, lengths = padded(rows)
    assert tokens.shape == (len(rows), max((len(r) for r in rows), default=0))
    assert [row[:n].tolist() for row, n in zip(tokens, lengths)] == rows
    assert all((row[n:] == 0).all() for row, n in zip(tokens, lengths))
