"""Which values are the same: those of one type that are written the same, however they are nested."""

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from kleene.traces.values import is_same, renewed, unboxed, value_key

SIMPLE = st.sampled_from([None, True, False, 0, 1, 2, 10**17, 0.0, -0.0, 1.0, 2.5, float("nan"), float("inf"), "", "1"])
VALUES = st.recursive(SIMPLE, lambda inner: st.lists(inner, max_size=3).map(tuple), max_leaves=4)


@given(one=VALUES, other=VALUES)
def test_two_values_are_the_same_exactly_if_they_are_written_the_same(one: Any, other: Any):
    assert (value_key(one) == value_key(other)) == (repr(one) == repr(other))
    assert {value_key(one): 1}[value_key(renewed(one))] == 1
    assert is_same(one, renewed(unboxed(one)))


@given(one=VALUES, other=VALUES)
def test_a_network_may_give_an_int_for_a_float_and_nothing_else_for_another_value(one: Any, other: Any):
    def written(value: Any) -> str:
        if isinstance(value, tuple):
            return f"({','.join(map(written, value))})"
        return repr(float(value) + 0.0) if type(value) in (int, float) else repr(value)

    assert is_same(one, other) == (written(one) == written(other))


def test_sets_are_the_same_if_their_members_are():
    assert value_key(frozenset([1, 2])) == value_key(frozenset([2, 1])) != value_key(frozenset([True, 2]))
