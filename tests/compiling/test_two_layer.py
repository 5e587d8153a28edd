"""Lemma 4.5: the simple RNN gives the outputs of the two-layer step on every word, the empty one included."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kleene.compiling.automata import TwoLayerStep, as_simple_rnn
from kleene.errors import CompileError
from kleene.notation.exact import ExactMatrix
from tests.machines.rnn.networks import all_words, matrices, rationals, small_integers


@st.composite
def steps(draw, numbers):
    inner, width = draw(st.integers(1, 3)), draw(st.integers(1, 3))
    shapes = {
        "recurrent": (inner, width), "inputs": (inner, 2), "bias": (inner, 1), "outer": (width, inner),
        "outer_bias": (width, 1), "start": (width, 1), "readout": (2, width), "readout_bias": (2, 1),
    }  # fmt: skip
    return TwoLayerStep(**{name: draw(matrices(*shape, numbers)) for name, shape in shapes.items()})


def outputs_of_two_layers(step, word, activation):
    """out(s), then out(h) after each symbol, by the definition."""
    m = {name: getattr(step, name).dense() for name in TwoLayerStep.__dataclass_fields__}
    h, found = m["start"], []
    for symbol in [None, *word]:
        if symbol is not None:
            z = m["recurrent"] @ h + m["inputs"][:, ["ab".index(symbol)]] + m["bias"]
            g = np.maximum(z, 0) if activation == "relu" else np.minimum(np.maximum(z, 0), 1)
            h = m["outer"] @ g + m["outer_bias"]
        found.append((m["readout"] @ h + m["readout_bias"])[:, 0].tolist())
    return found


@pytest.mark.parametrize("activation", ["relu", "slu"])
@pytest.mark.parametrize("numbers", [small_integers, rationals], ids=["integers", "rationals"])
def test_a_two_layer_step_and_its_simple_rnn_give_the_same_outputs_on_all_words(numbers, activation):
    @given(steps(numbers))
    @settings(max_examples=20)
    def check(step):
        network = as_simple_rnn(step, activation=activation, alphabet=("a", "b"))
        for word in all_words("ab", 3):
            assert network.outputs(word).tolist() == outputs_of_two_layers(step, word, activation)

    check()


def test_the_hidden_vector_is_a_start_flag_and_the_inner_layer():
    step = TwoLayerStep(
        recurrent=ExactMatrix.from_rows([[1], [-1]]),
        inputs=ExactMatrix.from_rows([[1], [0]]),
        bias=ExactMatrix.column([0, 2]),
        outer=ExactMatrix.from_rows([[1, Fraction(1, 2)]]),
        outer_bias=ExactMatrix.column([-1]),
        start=ExactMatrix.column([3]),
        readout=ExactMatrix.from_rows([[1]]),
        readout_bias=ExactMatrix.column([10]),
    )
    network = as_simple_rnn(step, activation="relu", alphabet=("a",))
    assert network.hidden("aa").tolist() == [[1, 0, 0], [0, 4, 0], [0, 4, 0]]
    assert network.outputs("aa").tolist() == [[13], [13], [13]]
    assert network.size.hidden_units == 3


def test_layers_that_do_not_fit_are_refused_by_name():
    one = ExactMatrix.zeros(1)
    with pytest.raises(CompileError, match=r"outer of a two-layer step has shape \(1, 2\), and \(1, 1\) was expected"):
        TwoLayerStep(one, one, one, ExactMatrix.zeros(1, 2), one, one, one, one)
