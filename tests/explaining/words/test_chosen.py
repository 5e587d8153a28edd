"""Words, phrases, spans and sets as people name them."""

import itertools
import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kleene.errors import InputError
from kleene.explaining.words.chosen import chosen_sets, chosen_words, label

WORDS = ["the", "old", "man", "near", "the", "well-known", "station", "sees", "the", "old", "sweep"]


@pytest.mark.parametrize(
    ("asked", "places"),
    [
        ("man", [2]),
        ("well-known", [5]),
        ("the well-known", [4, 5]),
        ("near the", [3, 4]),
        ("0-2", [0, 1, 2]),
        ("1,4", [1, 4]),
        ("4 1", [1, 4]),
        ("sweep man", [2, 10]),  # no phrase of the sentence, so each word by itself
        ("0-2, station, 9", [0, 1, 2, 6, 9]),
        ("3-3,,", [3]),
        (["old man", "7", 9], [1, 2, 7, 9]),
        (range(2), [0, 1]),
        (np.int64(4), [4]),
        ({10}, [10]),
    ],
)
def test_words_are_named_by_themselves_by_position_as_a_span_or_as_a_phrase(asked, places):
    assert chosen_words("focus", asked, WORDS) == places


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ("woman", "focus has 'woman' in it, and the sentence has 11 words: give some of them, or positions 0..10"),
        ("8-11", "focus has '8-11' in it"),
        ("0-" + "9" * 18, "'0-999999999999999999' in it"),
        ("11", "focus has '11' in it"),
        (-1, "focus has '-1' in it"),
        ("5-3", "focus has the span '5-3', which ends before it begins; give 3-5"),
        ("the", "focus has the word 'the', which is at [0, 4, 8]; give the position that you mean"),
        ("the old", "focus has the phrase 'the old', which is at 0-1 and 8-9; give the span that you mean"),
        (" , ", "focus is empty"),
        ((), "focus is empty"),
        (None, "focus has 'None' in it"),
    ],
)
def test_what_names_no_words_is_refused(asked, said):
    with pytest.raises(InputError, match=re.escape(said)):
        chosen_words("focus", asked, WORDS)


def test_numbers_are_positions_even_where_they_are_words():
    assert chosen_words("focus", "2 0", ["0", "2", "0"]) == [0, 2]


def test_sets_are_divided_by_semicolons_or_are_a_list():
    expected = [[0, 1, 2], [5], [9, 10]]
    assert chosen_sets("sets", "0-2; well-known; old sweep", WORDS) == expected
    assert chosen_sets("sets", [range(3), "well-known", (10, 9)], WORDS) == expected


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ("man near; 2-3", "sets has 'man', position 2, in 'man near' and in 'man near'"),
        ("0-2; 2,5", "sets has 'man', position 2, in 'the old man' and in 'man … well-known'; sets must not share"),
        ("0-2; 7-11", "set 1 of sets has '7-11' in it"),
        ("0;;1", "set 1 of sets is empty"),
        ("0-2", "sets has one set, and interdependence is between two"),
        ([], "sets has no sets"),
        (4, "sets is 4; give sets of words"),
    ],
)
def test_sets_that_overlap_or_are_none_are_refused(asked, said):
    with pytest.raises(InputError, match=re.escape(said)):
        chosen_sets("sets", asked, WORDS)


@given(st.sets(st.integers(0, 10), min_size=1))
def test_a_label_has_all_words_and_dots_where_some_are_left_out(places):
    positions = sorted(places)
    shown = label(WORDS, positions)
    assert shown.replace("… ", "").split() == [WORDS[place] for place in positions]
    assert shown.count("…") == sum(later - earlier > 1 for earlier, later in itertools.pairwise(positions))
