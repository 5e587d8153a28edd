"""The fast exact engine against a plain matrix recurrence in Fractions."""

from array import array
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kleene.errors import CompileError
from kleene.machines.rnn.library import majority_relu, majority_slu
from kleene.machines.rnn.simple_rnn import SimpleRNN
from kleene.machines.turing_rnn.exact_execution import ExactExecution
from kleene.notation.exact import ExactMatrix

integers = st.integers(-3, 3)
rationals = st.sampled_from([Fraction(n, d) for d in (1, 2, 3, 7) for n in range(-4, 5)])


def naive(network, word):
    """Every hidden vector, straight from the definition."""
    dense = {name: weight.dense().tolist() for name, weight in network.weights().items()}
    state = [row[0] for row in dense["start"]]
    yield state
    for symbol in word:
        sums = [
            sum(v * h for v, h in zip(row, state)) + dense["inputs"][i][symbol] + dense["bias"][i][0]
            for i, row in enumerate(dense["recurrent"])
        ]
        state = [min(max(z, 0), 1) if network.activation == "slu" else max(z, 0) for z in sums]
        yield state


@st.composite
def networks(draw):
    hidden, symbols = draw(st.integers(1, 5)), draw(st.integers(1, 2))
    numbers = draw(st.sampled_from([integers, rationals]))

    def matrix(height, width):
        return ExactMatrix.from_rows([[draw(numbers) for _ in range(width)] for _ in range(height)])

    return SimpleRNN(
        recurrent=matrix(hidden, hidden), inputs=matrix(hidden, symbols), bias=matrix(hidden, 1),
        start=matrix(hidden, 1), readout=matrix(1, hidden), readout_bias=matrix(1, 1),
        activation=draw(st.sampled_from(["relu", "slu"])), alphabet=("a", "b")[:symbols],
    )  # fmt: skip


def vector(execution, size):
    return [execution.coordinates.get(k, 0) for k in range(size)]


@settings(max_examples=150)
@given(networks(), st.lists(st.integers(0, 1), max_size=14), st.sampled_from([0, 5, 4000]))
def test_every_hidden_vector_is_that_of_the_definition(network, word, most):
    word = [symbol % len(network.alphabet) for symbol in word]
    execution = ExactExecution(network, most=most)
    for _ in range(2):  # the second time runs what the first one worked out
        execution.begin()
        for step, expected in enumerate(naive(network, word)):
            assert vector(execution, network.hidden_units) == expected
            if step < len(word):
                execution.read([word[step]])


@settings(max_examples=40)
@given(networks(), st.integers(6, 20))
def test_a_long_run_in_one_go_ends_where_single_ticks_do(network, ticks):
    execution = ExactExecution(network)
    assert execution.run(0, ticks) == ticks
    *_, last = naive(network, [0] * ticks)
    assert vector(execution, network.hidden_units) == last


@pytest.mark.parametrize("network", [majority_relu(), majority_slu()])
def test_counters_that_never_come_back_are_counted_right(network):
    execution = ExactExecution(network)
    word = [1] * 60 + [0] * 70 + [1, 0] * 30
    execution.read(word)
    *_, last = naive(network, word)
    assert vector(execution, network.hidden_units) == last


def test_code_is_made_once_for_a_pattern_that_comes_back():
    execution = ExactExecution(majority_relu())
    execution.read([1, 0] * 20)
    known = len(execution.labels)
    execution.read([1, 0] * 500)
    assert len(execution.labels) == known


def test_the_scale_grows_with_the_numbers_and_shrinks_at_a_new_start():
    execution = ExactExecution(majority_slu())
    execution.read([1] * 300)
    assert execution.coordinates[0] == 1 - Fraction(1, 2**300)
    execution.begin()
    execution.read([1])
    assert execution.coordinates[0].denominator <= 2


def flip_flop():
    """A unit that is 1 and 0 in turn, and one that becomes 1 at the third tick."""
    rows = [[-1, 0, 0, 0], [0, 0, 0, 0], [0, 1, 0, 0], [0, 0, 1, 1]]
    return SimpleRNN(
        recurrent=ExactMatrix.from_rows(rows), inputs=ExactMatrix.zeros(4, 1),
        bias=ExactMatrix.column([1, 0, 0, 0]), start=ExactMatrix.column([0, 1, 0, 0]),
        readout=ExactMatrix.zeros(1, 4), readout_bias=ExactMatrix.zeros(1), activation="relu", alphabet=("a",),
    )  # fmt: skip


@pytest.mark.parametrize("most", [0, 4000])
def test_a_run_stops_at_the_tick_that_sets_a_unit_to_stop_at(most):
    execution = ExactExecution(flip_flop(), stop=[3], most=most)
    assert execution.run(0, 100) == 2
    assert execution.stopped
    assert execution.coordinates[3] == 1
    assert execution.run(0, 100) == 0


@pytest.mark.parametrize("most", [0, 4000])
def test_a_trail_tells_what_each_tick_did(most):
    def first_unit(before, after):
        return (bool(before.get(0)), bool(after.get(0)))

    execution = ExactExecution(flip_flop(), describe=first_unit, most=most)
    trail = array("q")
    execution.run(0, 4, trail)
    assert [execution.labels[number] for number in trail] == [(False, True), (True, False)] * 2


def test_it_goes_on_from_any_coordinates():
    execution = ExactExecution(majority_relu())
    execution.begin({0: 5, 2: 4})
    execution.read([0])
    assert vector(execution, 3) == [4, 0, 3]


def test_layers_that_are_not_those_of_the_network_are_refused():
    with pytest.raises(CompileError, match="do not multiply"):
        ExactExecution(majority_relu(), inner=ExactMatrix.identity(3), outer=ExactMatrix.identity(3))
