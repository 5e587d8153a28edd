"""Which values are the same: those of one type that are written the same, however they are nested."""

from decimal import Decimal
from http import HTTPStatus
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kleene.errors import InputError
from kleene.traces.values import exact, is_answer, is_same, renewed, unboxed, value_key

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


def lying(base: type) -> Any:
    """A class of objects that say that they are equal to anything, and that they hold something else."""
    lies: dict[str, Any] = {"__eq__": lambda self, other: True, "__hash__": base.__hash__}
    lies |= dict.fromkeys(("__int__", "__index__"), lambda self: 7)
    lies |= {"__float__": lambda self: 7.0, "__str__": lambda self: "b", "__bytes__": lambda self: b"b"}
    lies |= {"__iter__": lambda self: iter("b"), "__len__": lambda self: 1, "item": lambda self: 7}
    return type(f"Lying{base.__name__}", (base,), lies)


Int, Float, Text, Bytes, Row = map(lying, (int, float, str, bytes, list))
Pair, Members, Scalar, Thing = map(lying, (tuple, frozenset, np.float64, object))


@pytest.mark.parametrize(
    ("value", "plain"),
    [
        (Int(1), 1),
        (HTTPStatus.OK, 200),
        (Text("a"), "a"),
        (Float(0.5), 0.5),
        (Bytes(b"a"), b"a"),
        (Pair((Int(1), Text("a"))), (1, "a")),
        (Row([Int(1), True]), [1, True]),
        (Members([Int(1)]), frozenset([1])),
        ((np.bool_(True), np.str_("a"), np.int8(3), Scalar(0.5)), (True, "a", 3, 0.5)),
        ((Decimal("0.10"), 1j), (Decimal("0.10"), 1j)),
    ],
    ids=lambda value: type(value).__name__,
)
def test_an_answer_is_made_of_pythons_own_types_whatever_its_class_says(value: Any, plain: Any):
    found = exact(value)
    assert repr(found) == repr(plain)
    assert type(found) is type(plain)
    assert not is_answer(found, exact("b"))
    assert not is_same(found, exact("b"))


class Pretender:
    __class__ = int  # type: ignore[assignment]


def nested(levels: int) -> list:
    return [] if not levels else [nested(levels - 1)]


REFUSED = [Thing(), Pretender(), {1}, {"a": 1}, (1, [Pretender()]), nested(200)]


@pytest.mark.parametrize("value", REFUSED, ids=lambda value: type(value).__name__)
def test_an_answer_of_another_class_is_refused_with_its_type(value: Any):
    with pytest.raises(
        InputError, match=r"an answer has a part of type .*, which cannot be compared; make it a number"
    ):
        exact(value)
