"""Exact sparse matrices do what matrices do, and never round."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kleene.errors import CompileError
from kleene.notation.exact import ExactMatrix
from tests.machines.rnn.networks import matrices
from tests.machines.rnn.networks import numbers_of_all_kinds as numbers


@given(st.data())
@settings(max_examples=40)
def test_products_sums_and_stacks_are_those_of_whole_matrices_of_fractions(data):
    a, b = data.draw(matrices(2, 3, numbers)), data.draw(matrices(2, 3, numbers))
    c = data.draw(matrices(3, 2, numbers))
    assert ((a @ c).dense() == a.dense() @ c.dense()).all()
    assert ((a + b).dense() == a.dense() + b.dense()).all()
    assert ((a - b).dense() == a.dense() - b.dense()).all()
    assert (a.transpose().dense() == a.dense().T).all()
    assert a.transpose() == ExactMatrix.from_parts(a.shape[::-1], a.columns, a.rows, a.numerators, a.denominator)
    assert (ExactMatrix.hstack([a, b]).dense() == np.hstack([a.dense(), b.dense()])).all()
    assert (ExactMatrix.vstack([a, b]).dense() == np.vstack([a.dense(), b.dense()])).all()
    assert (a.without_first(1, 2).dense() == a.dense()[1:, 2:]).all()


@given(matrices(3, 2, numbers))
def test_equal_matrices_have_equal_parts_however_they_were_made(matrix):
    again = ExactMatrix.from_entries(matrix.shape, dict(reversed(matrix.entries().items())))
    assert again == matrix
    assert hash(again) == hash(matrix)
    assert (matrix + matrix) - matrix == matrix
    assert 0 not in matrix.numerators
    assert list(zip(matrix.rows, matrix.columns)) == sorted(zip(matrix.rows, matrix.columns))


def test_the_denominator_is_the_least_common_one():
    matrix = ExactMatrix.from_rows([[Fraction(1, 6), Fraction(1, 4)], [0, 2]])
    assert (matrix.denominator, matrix.numerators) == (12, (2, 3, 24))
    assert (matrix + matrix).denominator == 6
    assert not matrix.is_integer
    assert (matrix @ ExactMatrix.from_rows([[12, 0], [0, 12]])).is_integer


def test_a_float_is_refused_by_its_place():
    with pytest.raises(CompileError, match=r"entry \(0, 1\) is 0\.5, a float"):
        ExactMatrix.from_entries.__wrapped__(ExactMatrix, (1, 2), {(0, 1): 0.5})  # past the annotation's check


def test_an_entry_outside_the_shape_is_refused():
    with pytest.raises(CompileError, match=r"entry \(2, 0\) lies outside a matrix of shape 2 × 2"):
        ExactMatrix.from_entries((2, 2), {(2, 0): 1})


def test_matrices_that_do_not_fit_are_refused():
    with pytest.raises(CompileError, match="cannot multiply"):
        ExactMatrix.zeros(2, 3) @ ExactMatrix.zeros(2, 3)
    with pytest.raises(CompileError, match="cannot be added"):
        ExactMatrix.zeros(2, 3) + ExactMatrix.zeros(3, 2)
    with pytest.raises(CompileError, match="side by side"):
        ExactMatrix.hstack([ExactMatrix.zeros(2), ExactMatrix.zeros(3)])


def test_a_value_that_a_float_cannot_hold_is_refused_by_name_and_place():
    with pytest.raises(CompileError, match=r"bias\[1, 0\] = 1/3 would be rounded to 0\.333"):
        ExactMatrix.column([1, Fraction(1, 3)]).to_float(np.float64, name="bias")
    with pytest.raises(CompileError, match="would be rounded"):
        ExactMatrix.column([2**24 + 1]).to_float(np.float32)
    with pytest.raises(CompileError, match="rounded to inf"):
        ExactMatrix.column([10**400]).to_float(np.float64)
    assert ExactMatrix.column([2**24 + 1]).to_float(np.float64).tolist() == [[2.0**24 + 1]]
    assert ExactMatrix.column([Fraction(1, 3)]).to_float(np.float32, round=True)[0, 0] == np.float32(1 / 3)


def test_numbers_past_int64_stay_whole():
    matrix = ExactMatrix.from_rows([[2**100, 1]])
    assert matrix.small_numerators is None
    assert (matrix @ ExactMatrix.column([2**100, -1])).entries() == {(0, 0): 2**200 - 1}
