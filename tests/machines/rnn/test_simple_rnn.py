"""The network itself: its size, what it refuses, its floats, its traces without a reading."""

from fractions import Fraction

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings

from kleene.errors import CompileError, ModelFileError, RunError
from kleene.machines.rnn import library
from kleene.machines.rnn.execution import StateReading, run_floating
from kleene.machines.rnn.simple_rnn import SimpleRNN, unpack_matrix
from kleene.notation.exact import ExactMatrix
from kleene.tensors import read_tensors, write_tensors
from tests.machines.rnn.networks import all_words, networks, numbers_of_all_kinds, small_integers
from tests.machines.samples import exact_rnn


def changed(network, **fields):
    return SimpleRNN(**(network.weights() | network.description() | fields))


def test_weights_that_do_not_fit_are_refused_by_name():
    network = library.majority_relu()
    with pytest.raises(CompileError, match=r"inputs has shape \(3, 4\), and 3 hidden × 2 symbols was expected"):
        changed(network, inputs=ExactMatrix.zeros(3, 4))
    with pytest.raises(CompileError, match=r"bias has shape \(3, 2\), and 3 hidden was expected"):
        changed(network, bias=ExactMatrix.zeros(3, 2))
    with pytest.raises(CompileError, match=r"readout_bias has shape \(2, 1\), and 1 outputs was expected"):
        changed(network, readout_bias=ExactMatrix.zeros(2))
    with pytest.raises(CompileError, match=r"recurrent has shape \(3, 2\)"):
        changed(network, recurrent=ExactMatrix.zeros(3, 2))
    with pytest.raises(CompileError, match="the reading speaks of 1 units, and the network has 3"):
        changed(network, reading=StateReading(("q",), (0,)))
    with pytest.raises(CompileError, match="a symbol stands twice"):
        changed(network, alphabet=("0", "0"))


def test_exact_weights_refuse_tanh_and_do_not_mix_with_floats():
    network = library.majority_relu()
    with pytest.raises(CompileError, match="exact weights need the activation 'relu' or 'slu'"):
        changed(network, activation="tanh")
    with pytest.raises(CompileError, match="recurrent is exact and bias is not"):
        changed(network, bias=np.zeros(3, dtype=np.float32))


def test_a_reading_of_a_state_that_is_not_there_is_refused():
    with pytest.raises(CompileError, match="state number 2, but it has 2 states"):
        StateReading(("p", "q"), (0, 2))


def test_vectors_that_are_no_legal_code_read_as_nothing():
    reading = StateReading(("p", "q"), (0, 1, 1), dead=0)
    rows = np.array([0, 1, 1, 2, 4])
    units, values = np.array([2, 0, 1, 1, 0]), np.array([1, 1, 1, 2, 1])
    assert reading.states_of(rows, units, values, 5).tolist() == [1, -1, -1, 0, 0]
    assert [reading.state(v) for v in ({2: 1}, {0: 1, 1: 1}, {1: 2}, {1: Fraction(1, 2)}, {}, {0: 1})] == [
        1,
        -1,
        -1,
        -1,
        0,
        0,
    ]
    assert StateReading(("p",), (0,)).state({}) == -1


def test_the_size_counts_units_parameters_and_weights_that_are_not_zero():
    size = library.majority_relu().size
    assert (size.hidden_units, size.parameters, size.nonzero) == (3, 9 + 6 + 3 + 3 + 3 + 1, 6 + 6 + 1 + 0 + 2 + 0)


@given(networks(small_integers, small_integers, sizes=(4, 2, 1)))
@settings(max_examples=30)
def test_small_integers_give_the_same_numbers_in_floats(network):
    floating = network.to_float(np.float32)
    words = all_words(network.alphabet, 2)
    assert floating.accepts_batch(words).tolist() == network.accepts_batch(words).tolist()
    assert (floating.hidden(words[-1]) == network.hidden(words[-1]).astype(float)).all()


def test_double_precision_is_kept():
    network = changed(
        library.a_n_b_n(), start=ExactMatrix.column([2**24 + 1, 1, 0, 0])
    )  # one more than float32 can count to
    assert network.to_float(np.float64).hidden("a")[-1, 0] == 2**24 + 2
    with pytest.raises(CompileError, match=r"start\[0, 0\] = 16777217 would be rounded"):
        network.to_float(np.float32)


def test_a_rational_weight_is_not_rounded_unless_asked():
    third, zero = ExactMatrix.from_rows([[Fraction(1, 3)]]), ExactMatrix.zeros(1)
    network = SimpleRNN(third, zero, zero, zero, third, zero, activation="relu", alphabet=("a",))
    with pytest.raises(CompileError, match=r"recurrent\[0, 0\] = 1/3"):
        network.to_float()
    assert network.to_float(round=True).recurrent[0, 0] == np.float32(1 / 3)
    halves = library.majority_slu().to_float(np.float32)
    assert halves.accepts("01101") is True


def test_a_floating_network_is_not_made_floating_again():
    with pytest.raises(CompileError, match="floats already"):
        library.dyck1().to_float().to_float()


def test_the_traces_of_a_network_without_reading_hold_its_hidden_vectors():
    network = library.dyck1()
    trace = network.run("(()")
    assert [c.name for c in trace.channels] == ["symbol", "hidden", "accepting"]
    assert trace["hidden"].tolist() == network.hidden("(()").astype(float).tolist()
    assert trace["symbol"].tolist() == [-1, 0, 0, 1]
    assert trace["accepting"].tolist() == [1, 0, 0, 0]
    assert trace == network.to_float().run("(()")


def test_a_random_network_is_repeatable_and_takes_words_of_all_lengths():
    network = SimpleRNN.random(("a", "b"), 4, key=jax.random.key(1))
    again = SimpleRNN.random(("a", "b"), 4, key=jax.random.key(1))
    words = all_words("ab", 2)
    assert network.accepts_batch(words).tolist() == again.accepts_batch(words).tolist()
    assert network.outputs("abba").shape == (5, 1)
    one_by_one = [network.outputs(word)[-1, 0] > 0 for word in words]
    assert network.accepts_batch(words).tolist() == one_by_one


def test_a_floating_run_is_the_definition_in_numpy():
    network = SimpleRNN.random("ab", 4, key=jax.random.key(2))
    h, expected = np.asarray(network.start), [np.asarray(network.start)]
    for symbol in "abbab":
        x = np.array([symbol == "a", symbol == "b"], dtype=np.float32)
        h = np.tanh(network.recurrent @ h + network.inputs @ x + network.bias)
        expected.append(h)
    assert np.allclose(network.hidden("abbab"), expected, atol=1e-6)
    assert np.allclose(network.outputs("abbab")[-1], network.readout @ h + network.readout_bias, atol=1e-6)


def test_gradients_flow_through_a_run_of_a_batch():
    network = SimpleRNN.random("ab", 4, key=jax.random.key(3))
    tokens = jnp.array([[0, 1, 1], [1, 0, 0]])

    @eqx.filter_grad
    def slope(network):
        return (run_floating(network, tokens)[:, -1] @ network.readout.T).sum()

    assert jnp.abs(slope(network).recurrent).sum() > 0


def test_a_step_of_an_exact_network_says_what_to_use_instead():
    with pytest.raises(RunError, match="to_float"):
        library.dyck1()(np.zeros(3, dtype=np.float32), np.zeros(2, dtype=np.float32))


@pytest.mark.parametrize("threshold", [float("nan"), float("-inf")])
def test_a_threshold_is_finite(threshold):
    network = library.a_n_b_n()
    with pytest.raises(CompileError, match="the threshold is"):
        SimpleRNN(**network.weights(), **(network.description() | {"threshold": threshold}))


def test_a_trace_of_numbers_past_floats_says_where_the_exact_ones_are():
    network = library.a_n_b_n()
    start = ExactMatrix.column([10**400, 0, 0, 1])
    network = SimpleRNN(**(network.weights() | {"start": start}), **network.description())
    with pytest.raises(RunError, match=r"at step 0 .*`hidden\(word\)`"):
        network.run("ab")
    assert network.hidden("")[0, 0] == 10**400


def same(a, b):
    return a.weights() == b.weights() and a.description() == b.description()


@given(networks(numbers_of_all_kinds))
@settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_exact_weights_come_back_as_they_were_however_large(tmp_path, network):
    network.save(tmp_path / "net.safetensors")
    assert same(SimpleRNN.load(tmp_path / "net.safetensors"), network)


def test_a_number_of_many_thousand_digits_comes_back(tmp_path):
    network = library.a_n_b_n()
    start = ExactMatrix.column([Fraction(7**20_000, 3**20_000), 0, 0, 1])
    network = SimpleRNN(**(network.weights() | {"start": start}), **network.description())
    network.save(tmp_path / "net.safetensors")
    assert SimpleRNN.load(tmp_path / "net.safetensors").start == start


def test_a_reading_and_a_floating_threshold_come_back(tmp_path):
    network = exact_rnn()
    network = SimpleRNN(**network.weights(), **(network.description() | {"threshold": 0.1}))
    network.save(tmp_path / "net.safetensors")
    assert same(SimpleRNN.load(tmp_path / "net.safetensors"), network)


def test_floating_weights_come_back_with_their_number_type(tmp_path):
    for dtype in (np.float32, np.float64):
        network = library.majority_slu().to_float(dtype)
        network.save(tmp_path / "net.safetensors")
        again = SimpleRNN.load(tmp_path / "net.safetensors")
        assert again.recurrent.dtype == dtype
        assert (again.recurrent == network.recurrent).all()
        assert again.accepts("0110") == network.accepts("0110")


def test_a_file_cut_short_or_of_another_kind_is_refused(tmp_path):
    path = exact_rnn().save(tmp_path / "net.safetensors")
    header, arrays = read_tensors(path, "simple rnn")
    write_tensors(path, "universal transformer", {k: v for k, v in header.items() if k != "kind"}, arrays)
    with pytest.raises(ModelFileError, match="holds a universal transformer, and a simple rnn was expected"):
        SimpleRNN.load(path)
    path.write_bytes(path.read_bytes()[:-20])
    with pytest.raises(ModelFileError):
        SimpleRNN.load(path)


def test_a_matrix_that_says_to_have_more_units_than_the_bound_is_refused():
    nothing = {"rows": np.zeros(0, np.int64), "columns": np.zeros(0, np.int64), "numerators": np.zeros(0, np.int64)}
    assert unpack_matrix((10, 1), "1", nothing).shape == (10, 1)
    with pytest.raises(ValueError, match="has the shape 1000000000 × 1, and at most 10,000,000 units are read"):
        unpack_matrix((10**9, 1), "1", nothing)
