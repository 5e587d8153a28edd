"""Numbers from files and from people are read within bounds."""

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kleene.limits import read_count, read_fraction


@given(st.fractions())
def test_a_fraction_comes_back_as_it_was(number):
    assert read_fraction(str(number)) == number


@pytest.mark.parametrize(
    "text", ["1e999999999", "1E-999999999", "-2.5e+4001", "1e4_0_0_1", "1" * 4001, "1e" + "9" * 5000, " 1e999999999 "]
)
def test_a_number_with_too_many_digits_is_refused_and_not_made(text):
    with pytest.raises(ValueError, match="has more than 4,000 digits"):
        read_fraction(text)


def test_a_number_up_to_the_bound_is_read():
    assert read_fraction("1e4000") == 10**4000
    assert read_fraction("-1.5E-3") == Fraction(-3, 2000)


@pytest.mark.parametrize("text", ["", "-1", "1.5", "x", "٣", "²", "9" * 19, "9" * 5000, " 1"])
def test_what_is_no_count_is_none(text):
    assert read_count(text) is None
