"""Means near where an answer changes are refused, with the numbers that come so near; all others are told alike."""

import itertools
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import kleene
from kleene.compiling.alta.attacks import attack
from kleene.compiling.alta.conditions.means import Means, StepEdge, means_of
from kleene.programs import alta
from tests.compiling.averaging import mean_program


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_a_mean_on_the_edge_of_the_strip_between_two_values_is_refused_with_its_numbers(dtype):
    network = kleene.compile(mean_program([0, 0.1]), dtype=dtype)
    refused = kleene.certify(network, length=130).first_failure
    assert refused.name == "averages"
    assert "at most 63 positions, not 130: 33 × 0 and 31 × 0.1 have the mean 0.0484375" in refused.detail
    assert kleene.certify(network).length == 63
    assert attack(network, length=63, inputs=80)


def test_what_is_refused_does_differ():
    found = attack(kleene.compile(mean_program([0, 0.1])), length=130, inputs=400, seconds=600)
    assert not found.certified
    assert found.first_difference is not None


def test_means_of_whole_numbers_exactly_on_an_edge_are_told_alike():
    program = mean_program([0, 1])
    network = kleene.compile(program)
    assert kleene.certify(network, length=10_000)
    for ones, of in ((31, 64), (33, 64), (62, 128), (93, 192)):
        sequence = [1] * ones + [0] * (of - ones)
        expected = program.run(sequence)
        for attention in ("select", "softmax"):
            assert expected.difference(network.run(sequence, attention=attention)) is None


def test_a_narrow_type_is_certified_for_short_inputs_only():
    lengths = [kleene.certify(kleene.compile(mean_program([0, 1]), dtype=d)).length for d in ("bfloat16", "float32")]
    assert 1 < lengths[0] < 60 < 1000 < lengths[1]


def test_a_head_that_reads_few_positions_is_certified_for_any_length():
    program = mean_program([0, 0.1])
    near = alta.qkv("same", "same", "x", range(-3, 1))
    program = alta.program_spec(program.variables, {"mean": near}, program.mlp, "high", 2, name="near")
    assert kleene.certify(kleene.compile(program)).length == 1 << 24


def test_numbers_without_a_common_unit_are_listed_as_far_as_that_goes():
    network = kleene.compile(mean_program([0.1234567891, 0.3141592653, 0.7182818284, 0.5772156649, 0.6931471805]))
    certificate = kleene.certify(network)
    assert certificate
    assert 3 < certificate.length < 1000


def test_a_start_that_rounding_could_push_into_the_strip_is_refused():
    start = 0.0484375 - 1e-12  # just below the strip between 0 and 0.1
    program = alta.program_spec(
        {"x": alta.numeric_var([0, 0.1], default=start), "y": alta.var(2)},
        {}, lambda z: z.update({"y": 1 if z["x"] > 0 else 0}), "y", 1,
    )  # fmt: skip
    refused = kleene.certify(kleene.compile(program)).first_failure
    assert (refused.name, "'x'" in refused.detail) == ("steps", True)
    assert kleene.certify(kleene.compile(program, dtype="float64"))


numbers = st.sampled_from([0.0, 0.1, 1 / 3, -1 / 3, 0.3, 1.0, -1.0, 0.7, 1 / 7, 2.5, 0.01, 0.123456789])


@settings(max_examples=60)
@given(
    values=st.lists(numbers, min_size=1, max_size=4, unique=True),
    places=st.lists(st.fractions(-1, 3, max_denominator=200), min_size=1, max_size=4),
    off=st.sampled_from([1e-9, 1e-4, 1e-2]),
)
def test_no_mean_is_overlooked(values, places, off):
    """Against all means of up to 7 numbers, in exact arithmetic."""
    edges = tuple(StepEdge(p, p, off, 1.0, 2.0**-24, exact=False) for p in places)
    near = Means("h", tuple(sorted(values)), 7, edges, 0).first_near(7)
    first = 8
    for n in range(7, 0, -1):
        means = {sum(map(Fraction, c)) / n for c in itertools.combinations_with_replacement(values, n)}
        if any(abs(m - e.low) <= off for m in means for e in edges):
            first = n
    assert (8 if near is None else near.n) <= first
    if near is not None and near.counts is not None and near.n <= 7:
        assert sum(near.counts.values()) == near.n


@pytest.mark.parametrize("mask", [(), range(-120, 1)])
def test_the_bounds_cover_what_the_executions_compute(mask):
    plain = mean_program([0, 0.1])
    heads = {"mean": alta.qkv("same", "same", "x", mask)}
    program = alta.program_spec(plain.variables, heads, plain.mlp, "high", 2, name="mean")
    for dtype in ("float32", "float64", "bfloat16"):
        network = kleene.compile(program, dtype=dtype)
        means = means_of(network, program, "mean")
        for n, ones in ((5, 3), (37, 22), (63, 35), (100, 97)):
            mean = float(Fraction(0.1) * ones / n)
            edge = max(means.edges, key=lambda e: e.size)
            bound = float(edge.width(np.array(n), means.exactly_summed)) * max(1.0, mean / edge.size)
            for attention in ("select", "softmax"):
                sequence = [1] * ones + [0] * (n - ones)
                read = network.run_batch([sequence], attention=attention, backend="numpy")[0]["mean"][1, -1]
                assert abs(read - mean) <= bound, (dtype, n, attention)
