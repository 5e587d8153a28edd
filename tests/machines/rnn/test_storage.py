"""Networks come back from a file as they were, and a file that is amiss is refused."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings

from kleene.errors import ModelFileError
from kleene.machines.rnn import library
from kleene.machines.rnn.simple_rnn import SimpleRNN
from kleene.machines.rnn.storage import unpack_matrix
from kleene.notation.exact import ExactMatrix
from kleene.tensors import read_tensors, write_tensors
from tests.machines.rnn.networks import networks, numbers_of_all_kinds
from tests.machines.samples import exact_rnn


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
