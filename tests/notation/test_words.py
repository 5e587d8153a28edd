import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kleene.errors import InputError
from kleene.notation.words import padded_codes, word_codes

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
