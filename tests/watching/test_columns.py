"""Arrays as text: what is packed comes back, and runs of equal entries cost next to nothing."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kleene.watching.columns import coded_numbers, coded_sets, packed, unpacked

SHAPES = [(1,), (7,), (3, 4), (2, 3, 5), (4, 0)]


@pytest.mark.parametrize("shape", SHAPES)
@given(largest=st.sampled_from([1, 127, 128, 40_000, 2**31 - 1]), seed=st.integers(0, 99))
def test_whole_numbers_come_back_from_the_narrowest_type(shape, largest, seed):
    array = np.random.default_rng(seed).integers(-largest, largest, size=shape)
    stored = packed(array)
    assert (unpacked(stored) == array).all()
    widths = {"int8": 2**7, "int16": 2**15, "int32": 2**31}
    assert np.abs(array).max(initial=0) <= widths[stored["type"]]


def test_floats_come_back_in_single_precision_and_nan_stays():
    array = np.array([[0.1, np.nan], [1e-3, -7.5]])
    assert np.array_equal(unpacked(packed(array)), array.astype(np.float32), equal_nan=True)


def test_the_step_is_stored_last():
    assert packed(np.zeros((5, 2, 3)))["shape"] == [2, 3, 5]


def test_what_never_changes_is_stored_in_a_few_bytes():
    assert len(packed(np.tile(np.arange(80), (400, 1)))["data"]) < 600


@given(st.lists(st.sampled_from([0.0, -0.5, 1 / 3, float("nan"), 1e30]), min_size=1, max_size=20))
def test_numbers_come_back_exactly_from_their_codes(numbers):
    values, codes = coded_numbers(np.array(numbers))
    assert np.array_equal(np.array([*values, np.nan])[codes], np.array(numbers), equal_nan=True)


@given(st.integers(0, 9), st.integers(0, 10**6))
def test_sets_come_back_from_their_codes(width, seed):
    members = np.random.default_rng(seed).random((3, 4, width)) < 0.5
    sets, codes = coded_sets(members)
    for place in np.ndindex(3, 4):
        assert sets[codes[place]] == np.flatnonzero(members[place]).tolist()
