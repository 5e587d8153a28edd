"""The means that a head declares: those that RASP can give, rounded as RASP rounds them, near ones together."""

from fractions import Fraction
from itertools import combinations_with_replacement, pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kleene.errors import ProgramError
from kleene.programs import rasp
from kleene.programs.rasp.averages import TooNear, _means, grouped, means
from kleene.programs.rasp.domains import DomainError

MEAN = rasp.Aggregate(rasp.Select(rasp.tokens, rasp.tokens, rasp.Comparison.TRUE), rasp.tokens).named("average")


def test_numbers_that_differ_by_rounding_are_one_and_the_shortest_stands_for_them():
    assert grouped([0.1 + 0.2, 0.5, 0.3, 0.5]) == [(0.3, 0.30000000000000004), (0.5,)]
    assert grouped([3e-7, 1e-7]) == [(1e-7,), (3e-7,)]
    assert grouped([]) == []


@given(
    st.lists(
        st.one_of(st.integers(-9, 9), st.sampled_from([0.1, 0.2, 0.7, 1.1, 1 / 3, 2**0.5])), min_size=1, max_size=4
    )
)
def test_every_mean_of_rasp_is_declared_as_it_is(numbers):
    groups = means(MEAN, [float(x) for x in numbers], 4)
    declared = {x for group in groups for x in group}
    for count in range(1, 5):
        for chosen in combinations_with_replacement(numbers, count):
            assert MEAN.mean(chosen) in declared
    first = [group[0] for group in groups]
    assert first == sorted(first)
    assert min((b - a for a, b in pairwise(first)), default=1) > 1e-13


def test_too_many_means_are_refused_with_the_expression():
    with pytest.raises(ProgramError, match=r"the Aggregate 'average' .* takes means of up to 9 of 40 numbers"):
        means(MEAN, [x**0.5 for x in range(40)], 9)


def test_sums_that_are_many_only_by_rounding_are_counted_as_fractions():
    tenths = [x * 0.1 for x in range(60)]
    groups = means(MEAN, tenths, 10)
    assert len(groups) < 4_000
    held = {x for group in groups for x in group}
    assert {0.1, 0.25, 3.1} <= held
    assert all(len(group) == 3 for group in groups)  # each may be off by the rounding of a float


def test_huge_and_tiny_numbers_have_means():
    assert means(MEAN, [1e300, 3e300], 2) == [(1e300,), (2e300,), (3e300,)]
    assert len(means(MEAN, [5e-324, 1.0], 2)) == 3  # a number that is nothing beside the other is 0 for a head


@pytest.mark.parametrize("numbers", [(0.1, 2**0.5, 3**0.5), (0, 1, 4_001)])
def test_means_are_no_longer_collected_when_they_are_far_too_many(numbers):
    assert _means([Fraction(x) for x in numbers], 160) is None


def test_numbers_are_merged_only_where_rounding_is_all_that_they_differ_by():
    assert grouped([0, 1, 10**12]) == [(0.0,), (1.0,), (1e12,)]
    assert grouped([1e-13, 2e-13, 1.0], most=3) == [(1e-13,), (2e-13,), (1.0,)]
    assert grouped([0.0, 9.25e-18, 0.1, -0.3], most=3, own=[0.1, 0.0, -0.3])[1] == (0.0, 9.25e-18)
    for numbers, own, most in [
        ([10**13, 10**13 + 1], [10**13, 10**13 + 1], 1),
        ([-1e12, 1e12, 0.3, 0.1], [-1e12, 1e12, 0.3], 3),
        ([-1e12, 1e12, 1e-9, 0.0], [-1e12, 1e12, 1e-9], 3),
        ([1e12, 1e12 + 0.1], [1e12, 1e12 + 0.1], 1),
    ]:
        with pytest.raises(TooNear):
            grouped(numbers, most=most, own=own)


@given(st.lists(st.integers(-(10**13), 10**13), min_size=1, max_size=4, unique=True), st.integers(1, 4))
def test_means_of_whole_numbers_are_never_merged(numbers, most):
    try:
        groups = means(MEAN, numbers, most)
    except DomainError:
        return
    mixes = [c for n in range(1, most + 1) for c in combinations_with_replacement(numbers, n)]
    assert len(groups) == len({Fraction(sum(c), len(c)) for c in mixes})
