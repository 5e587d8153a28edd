"""Networks come back from a file as they were, and a file that is amiss is refused."""

import json
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from safetensors import safe_open
from safetensors.numpy import save

from kleene.errors import ModelFileError
from kleene.machines.rnn import library
from kleene.machines.rnn.reading import StateReading
from kleene.machines.rnn.simple_rnn import SimpleRNN
from kleene.machines.rnn.storage import unpack_matrix
from kleene.notation.exact import ExactMatrix
from tests.machines.rnn.networks import networks, numbers_of_all_kinds
from tests.sealing import resealed


def same(a, b):
    return a.weights() == b.weights() and a.description() == b.description()


@given(networks(numbers_of_all_kinds))
@settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_exact_weights_come_back_as_they_were_however_large(tmp_path, network):
    network.save(tmp_path / "net.safetensors")
    assert same(SimpleRNN.load(tmp_path / "net.safetensors"), network)


def with_reading():
    network = library.a_n_b_n()
    reading = StateReading(("p", "q ∅"), (0, 1, 1, 0), dead=1)
    return SimpleRNN(**network.weights(), **(network.description() | {"reading": reading}))


def test_a_number_of_many_thousand_digits_comes_back(tmp_path):
    network = library.a_n_b_n()
    start = ExactMatrix.column([Fraction(7**20_000, 3**20_000), 0, 0, 1])
    network = SimpleRNN(**(network.weights() | {"start": start}), **network.description())
    network.save(tmp_path / "net.safetensors")
    assert SimpleRNN.load(tmp_path / "net.safetensors").start == start


def test_a_reading_and_a_floating_threshold_come_back(tmp_path):
    network = with_reading()
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


def rewritten(path, change):
    """The file again after `change(header, arrays)`."""
    with safe_open(path, "np") as file:
        header = json.loads(file.metadata()["kleene"])
        arrays = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
    change(header, arrays)
    path.write_bytes(resealed(save(arrays, {"kleene": json.dumps(header)})))


BREAKS = {
    "a weight is missing": lambda h, a: a.pop("recurrent.rows"),
    "a numerator is missing": lambda h, a: a.update({"recurrent.numerators": a["recurrent.numerators"][1:].copy()}),
    "numerators are floats": lambda h, a: a.update({"bias.numerators": a["bias.numerators"].astype(np.float32)}),
    "an entry lies outside": lambda h, a: a.update({"recurrent.rows": a["recurrent.rows"] + 100}),
    "a shape is wrong": lambda h, a: h["shapes"].update(bias=[5, 1]),
    "a shape is absurd": lambda h, a: h["shapes"].update(recurrent=[2**40, 2**40]),
    "a shape is negative": lambda h, a: h["shapes"].update(recurrent=[-1, 4]),
    "a denominator is zero": lambda h, a: h["denominators"].update(bias="0"),
    "a denominator is no number": lambda h, a: h["denominators"].update(bias="__import__"),
    "the activation is unknown": lambda h, a: h.update(activation="exp"),
    "tanh with exact weights": lambda h, a: h.update(activation="tanh"),
    "the alphabet is short": lambda h, a: h.update(alphabet=["a"]),
    "the alphabet is no list of text": lambda h, a: h.update(alphabet=["a", 1]),
    "the threshold is divided by zero": lambda h, a: h.update(threshold="1/0"),
    "the threshold is not a number": lambda h, a: h.update(threshold=float("nan")),
    "the threshold is infinite": lambda h, a: h.update(threshold=float("inf")),
    "the threshold has a gigabyte of digits": lambda h, a: h.update(threshold="1e999999999"),
    "the threshold has a gigabyte of digits after the point": lambda h, a: h.update(threshold="1e-999999999"),
    "the threshold is long": lambda h, a: h.update(threshold="1" * 5000),
    "the threshold is no number": lambda h, a: h.update(threshold="half"),
    "the version is of the future": lambda h, a: h.update(version=99),
    "the reading has other units": lambda h, a: a.update({"reading.units": np.array([0], dtype=np.int64)}),
    "the reading has unknown states": lambda h, a: a.update({"reading.units": np.array([0, 1, 9, 0])}),
    "the dead state is no number": lambda h, a: h["reading"].update(dead="q"),
}


@pytest.mark.parametrize("broken", BREAKS)
def test_a_file_that_is_amiss_is_refused(tmp_path, broken):
    path = tmp_path / "net.safetensors"
    with_reading().save(path)
    rewritten(path, BREAKS[broken])
    with pytest.raises(ModelFileError, match=r"net\.safetensors' does not hold a whole network"):
        SimpleRNN.load(path)


def test_a_file_cut_short_or_of_another_kind_is_refused(tmp_path):
    path = tmp_path / "net.safetensors"
    with_reading().save(path)
    rewritten(path, lambda header, arrays: header.update(kind="universal transformer"))
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
