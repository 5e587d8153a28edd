import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from kleene.traces import Channel
from kleene.traces.channels import nearest

CATEGORY = Channel("c", "category", 4)
NUMBER = Channel("x", "number")
DECLARED = Channel("x", "number", values=(0.0, 1 / 3, 1.0))
SET = Channel("s", "set", 3)
VECTOR = Channel("v", "vector", 6)

numbers = st.floats(-1e6, 1e6)
arrays_of_numbers = hnp.arrays(np.float64, (3, 4), elements=numbers | st.just(float("nan")))


@pytest.mark.parametrize(
    ("channel", "entry", "shown"),
    [
        (CATEGORY, 3, "3"),
        (CATEGORY, -1, "·"),
        (Channel("t", "category", 2, labels=("a", "end")), 1, "end"),
        (Channel("t", "category", 2, labels=("a", "end")), -1, "·"),
        (NUMBER, 1 / 3, "0.3333"),
        (NUMBER, float("nan"), "·"),
        (SET, np.array([True, False, True]), "{0,2}"),
        (SET, np.array([False, False, False]), "{}"),
        (Channel("d", "distribution", 2), np.array([0.25, 0.75]), "[0.25 0.75]"),
        (VECTOR, np.arange(6.0), "[0.00 1.00 2.00 3.00…]"),
    ],
)
def test_an_entry_is_shown_as_a_short_text(channel, entry, shown):
    assert channel.show(entry) == shown


@pytest.mark.parametrize(
    ("channel", "shape", "dtype"),
    [(CATEGORY, (), np.int32), (NUMBER, (), np.float64), (SET, (3,), np.bool_), (VECTOR, (6,), np.float64)],
)
def test_a_channel_says_the_shape_and_type_of_its_entries(channel, shape, dtype):
    assert (channel.entry_shape, channel.dtype) == (shape, dtype)


@pytest.mark.parametrize(("channel", "shown"), [(CATEGORY, "·"), (NUMBER, "·"), (SET, "{}")])
def test_what_stands_where_nothing_was_recorded_is_shown_as_undefined(channel, shown):
    assert channel.show(np.full(channel.entry_shape, channel.empty, dtype=channel.dtype)) == shown


def test_a_channel_of_an_unknown_kind_is_refused():
    with pytest.raises(ValueError, match="channel 'x' is of kind 'colour'; the kinds are category, number, set"):
        Channel("x", "colour")


def test_categories_differ_where_their_codes_do():
    assert CATEGORY.differs(np.array([0, 1, -1, -1]), np.array([0, 2, -1, 0])).tolist() == [False, True, False, True]


def test_sets_differ_by_entry_and_not_by_member():
    a = np.array([[True, False, True], [True, True, True]])
    b = np.array([[True, False, True], [False, False, True]])
    assert SET.differs(a, b).tolist() == [False, True]


@given(arrays_of_numbers)
def test_numbers_equal_themselves_and_undefined_equals_undefined(array):
    assert not NUMBER.differs(array, array.copy()).any()
    assert not DECLARED.differs(array, array.copy()).any()


@given(numbers)
def test_a_number_differs_from_undefined(x):
    for channel in (NUMBER, DECLARED):
        assert channel.differs(np.array([x]), np.array([np.nan])).all()
        assert channel.differs(np.array([np.nan]), np.array([x])).all()


def test_undefined_differs_from_zero_in_a_vector():
    a, b = np.zeros((2, 6)), np.zeros((2, 6))
    b[1, 3] = np.nan
    assert VECTOR.differs(a, b).tolist() == [False, True]


def test_numbers_without_declared_values_differ_beyond_a_relative_hundred_thousandth():
    a = np.array([1.0, 1.0, 1000.0, 0.0])
    b = np.array([1.000001, 1.001, 1000.001, 1e-3])
    assert NUMBER.differs(a, b).tolist() == [False, True, False, True]


def test_numbers_with_declared_values_are_the_same_where_the_nearest_value_is():
    a, b = np.array([0.30, 0.60, 0.66]), np.array([0.40, 0.70, 0.67])
    # 2/3 is the middle between 1/3 and 1, and 0.66 and 0.67 lie on either side of it
    assert DECLARED.differs(a, b).tolist() == [False, True, True]


def test_numbers_as_near_as_bfloat16_can_tell_are_the_same_on_both_sides_of_a_middle():
    middle = 2 / 3
    a, b = np.array([middle * (1 - 2**-9)]), np.array([middle * (1 + 2**-9)])
    assert nearest(DECLARED.values, a) != nearest(DECLARED.values, b)
    assert not DECLARED.differs(a, b).any()


@given(st.lists(numbers, min_size=1, max_size=6, unique=True), numbers)
def test_the_nearest_value_is_as_near_as_any(values, x):
    values = tuple(sorted(values))
    found = values[int(nearest(values, x))]
    assert abs(found - x) <= min(abs(v - x) for v in values) + 1e-9


def test_a_tie_goes_to_the_smaller_value():
    assert nearest((0.0, 1.0, 2.0), np.array([0.5, 1.5])).tolist() == [0, 1]
