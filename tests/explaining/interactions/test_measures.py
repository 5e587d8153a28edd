"""Each measure against a plain computation of its definition, on small networks."""

from itertools import combinations

import jax
import numpy as np
import pytest

import kleene
from kleene.errors import InputError
from kleene.explaining import decompose, interdependence
from kleene.explaining.interactions.measures import MEASURES, OTHERS
from kleene.explaining.interactions.network_outputs import output_network
from kleene.machines.lstm.lstm import LSTM
from kleene.machines.rnn.simple_rnn import SimpleRNN
from kleene.machines.transformer_lm import TransformerLM
from kleene.programs.automata.library import get

LENGTH = 4
PAIRS = list(combinations(range(LENGTH), 2))
WORDS = [tuple("0110"), tuple("1000"), tuple("1111")]


@pytest.fixture(scope="module")
def lstm():
    """A trained network would do as well; weights are large, so that nothing is nearly linear."""
    network = LSTM.random("01", 3, outputs=1, key=jax.random.key(0))
    return jax.tree.map(lambda leaf: 2 * leaf, network)


@pytest.fixture(scope="module")
def rnn():
    return jax.tree.map(lambda leaf: 2 * leaf, SimpleRNN.random("01", 3, key=jax.random.key(1)))


@pytest.mark.parametrize("name", MEASURES)
@pytest.mark.parametrize("machine", ["lstm", "rnn"])
def test_a_measure_gives_a_number_for_each_pair_of_each_word(name, machine, request):
    found = np.asarray(MEASURES[name](request.getfixturevalue(machine), WORDS))
    assert found.shape == (3, LENGTH, LENGTH)
    for i, j in PAIRS:
        assert np.isfinite(found[:, i, j]).all()
        assert np.allclose(found[:, i, j], found[:, j, i], atol=1e-5)


@pytest.mark.parametrize("machine", ["lstm", "rnn"])
@pytest.mark.parametrize(("name", "options"), [
    ("di_hidden", {"step": "last"}), ("di_logits", {"step": "last", "at": "logits"}), ("di_when_read", {}),
    ("di_shared", {"step": "last", "sharing": OTHERS}),
])  # fmt: skip
def test_interdependence_is_the_one_of_explain(name, options, machine, request):
    network = request.getfixturevalue(machine)
    found = MEASURES[name](network, WORDS)
    for word, matrix in zip(WORDS, found):
        assert np.allclose(matrix, interdependence(network, word, **options), atol=1e-5, equal_nan=True)
    assert np.nanmax(found) > 0.01


def plain_output(network, entries):
    """The LSTM's output on given embeddings, in numpy."""
    layer = jax.tree.map(lambda leaf: np.asarray(leaf, np.float64), network.layers[0])
    hidden = cell = np.zeros(3)
    for entry in entries:
        write, keep, candidate, read = np.split(layer.inputs @ entry + layer.recurrent @ hidden + layer.bias, 4)
        write, keep, read = (1 / (1 + np.exp(-gate)) for gate in (write, keep, read))
        cell = keep * cell + write * np.tanh(candidate)
        hidden = read * np.tanh(cell)
    return float(np.asarray(network.decoder, np.float64)[0] @ hidden)


def plain_scaled(network, word, scales, absent):
    embedding = np.asarray(network.embedding, np.float64)
    nothing = np.zeros(3) if absent == "zero" else embedding.mean(axis=0)
    return plain_output(network, [nothing + s * (embedding[int(a)] - nothing) for a, s in zip(word, scales)])


@pytest.mark.parametrize(("name", "absent"), [("erasure", "zero"), ("erasure_mean", "mean")])
def test_erasure_is_the_second_difference_of_the_output(name, absent, lstm):
    found = MEASURES[name](lstm, WORDS)
    for word, matrix in zip(WORDS, found):
        for i, j in PAIRS:
            expected = 0.0
            for gone, sign in (((), 1), ((i,), -1), ((j,), -1), ((i, j), 1)):
                expected += sign * plain_scaled(lstm, word, [p not in gone for p in range(LENGTH)], absent)
            assert matrix[i, j] == pytest.approx(abs(expected), abs=1e-5)


def plain_mixed(network, word, at, i, j, absent, step=1e-3):
    """A mixed second derivative by differences."""
    total = 0.0
    for a in (1, -1):
        for b in (1, -1):
            scales = np.full(LENGTH, at)
            scales[i] += a * step
            scales[j] += b * step
            total += a * b * plain_scaled(network, word, scales, absent)
    return total / (4 * step * step)


def test_gradient_times_input_is_the_mixed_derivative(lstm):
    found = MEASURES["gradient_input"](lstm, WORDS)
    for word, matrix in zip(WORDS, found):
        for i, j in PAIRS:
            assert matrix[i, j] == pytest.approx(abs(plain_mixed(lstm, word, 1.0, i, j, "zero")), abs=1e-3)


@pytest.mark.parametrize(("name", "absent"), [("integrated_hessians", "zero"), ("integrated_hessians_mean", "mean")])
def test_integrated_hessians_are_the_double_integral(name, absent, lstm):
    """The definition has two integrals, over α and β; the midpoint rule of both."""
    found, steps = MEASURES[name](lstm, WORDS[:1]), (np.arange(10) + 0.5) / 10
    for i, j in ((1, 3),):
        terms = [a * b * plain_mixed(lstm, WORDS[0], a * b, i, j, absent) for a in steps for b in steps]
        assert found[0, i, j] == pytest.approx(abs(np.mean(terms)), rel=0.03)


def test_resampling_is_the_term_of_shapley_with_everything_present(lstm):
    (word, *_), found = WORDS, MEASURES["resampling"](lstm, WORDS)

    for i, j in PAIRS:
        total = 0.0
        for resampled, sign in (((), 1), ((i,), -1), ((j,), -1), ((i, j), 1)):
            changed = [word]
            for place in resampled:
                changed = [(*w[:place], a, *w[place + 1 :]) for w in changed for a in "01"]
            total += sign * float(np.mean(lstm.outputs_batch(changed)[:, 0]))
        assert found[0, i, j] == pytest.approx(abs(total), abs=1e-5)


def test_mutual_information_finds_what_the_language_forbids():
    network = kleene.compile(get("tomita_2").build(), dtype="float32")  # 10 again and again
    found = MEASURES["mutual_information"](network, [tuple("1100")])[0]
    assert found[0, 1] > 3 > found[1, 2]  # 11 never occurs


def test_the_interactions_of_a_compiled_network_are_those_of_its_language():
    dfa = get("tomita_4").build()
    networks = kleene.compile(dfa, dtype="float32"), kleene.compile(dfa, machine="lstm")
    one, other = (MEASURES["shapley"](network, WORDS) for network in networks)
    assert np.allclose(one, other, atol=1e-6, equal_nan=True)
    assert np.nanmax(one) > 0.05


def test_a_network_without_a_word_s_output_is_refused():
    model = TransformerLM.random(("a", "b"), 4, 1, 1, key=jax.random.key(0))
    with pytest.raises(InputError, match="not for a TransformerLM"):
        output_network(model, "zero")


def test_a_compiled_rnn_shares_its_state_out_in_halves_so_that_nothing_is_interdependent():
    """As the page of results says."""
    network = kleene.compile(get("tomita_4").build(), dtype="float32")
    halves = [decompose(network, "0110", place).relevant[-1].sum() for place in range(LENGTH)]
    assert halves == [1 / 16, 1 / 8, 1 / 4, 1 / 2]
    assert not np.nansum(MEASURES["di_hidden"](network, WORDS))
