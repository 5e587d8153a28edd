"""Models that PyTorch trained are taken apart as what they are there."""

from pathlib import Path

import numpy as np
import pytest

import kleene
from kleene.explaining.words.decomposition import decompose
from kleene.explaining.words.pairwise import interdependence
from tests.explaining.words import slow_decomposition as slow

# A word_language_model of PyTorch 2.13, trained for 20 steps, and its hidden states: 2 layers, 7 hidden units.
TRAINED = dict(np.load(Path(__file__).parents[2] / "machines" / "torch_lstm.npz"))
WEIGHTS = {name.removeprefix("state."): array for name, array in TRAINED.items() if name.startswith("state.")}


def torch_decomposition(codes, focus):
    """The papers' relevant hidden states of the top layer, from PyTorch's own arrays and with both of its biases."""
    relevant, irrelevant = np.zeros((2, 2, 7)), np.zeros((2, 2, 7))  # [layer, hidden or cell]
    found = []
    for t, code in enumerate(codes):
        x = WEIGHTS["encoder.weight"][code].astype(np.float64)
        mine, others = (x, 0 * x) if t in focus else (0 * x, x)
        for k in range(2):
            from_entry, from_state = WEIGHTS[f"rnn.weight_ih_l{k}"], WEIGHTS[f"rnn.weight_hh_l{k}"]
            a = np.split(from_entry @ mine + from_state @ relevant[k, 0], 4)
            b = np.split(from_entry @ others + from_state @ irrelevant[k, 0], 4)
            c = np.split(WEIGHTS[f"rnn.bias_ih_l{k}"].astype(np.float64) + WEIGHTS[f"rnn.bias_hh_l{k}"], 4)
            write, keep = (slow.three_way(slow.sigmoid, a[n], b[n], c[n]) for n in (0, 1))
            candidate = slow.three_way(np.tanh, a[2], b[2], c[2])
            cell = sum(write) * sum(candidate) + sum(keep) * (relevant[k, 1] + irrelevant[k, 1])
            ours = write[0] * (candidate[0] + candidate[2]) + write[2] * candidate[0]
            ours += (write[2] * candidate[2] if t in focus else 0) + (keep[0] + keep[2]) * relevant[k, 1]
            opened = slow.sigmoid(a[3] + b[3] + c[3])
            shown = 0.5 * (np.tanh(ours) + np.tanh(cell) - np.tanh(cell - ours))
            relevant[k] = opened * shown, ours
            irrelevant[k] = opened * (np.tanh(cell) - shown), cell - ours
            mine, others = relevant[k, 0], irrelevant[k, 0]
        found.append(mine.copy())
    return np.array(found)


@pytest.mark.parametrize("stream", [0, 1])
def test_the_parts_of_a_trained_model_of_pytorch_sum_to_its_hidden_states(stream):
    model, word = kleene.LSTM.from_torch(WEIGHTS), TRAINED["text"][:, stream].tolist()
    found = decompose(model, word, {1, 4, 5})
    np.testing.assert_allclose(found.relevant + found.irrelevant, TRAINED["hidden"][:, stream], atol=1e-6)
    assert np.abs(found.relevant[5]).max() > 0.01


@pytest.mark.parametrize("focus", [{0}, {2, 7, 8}])
def test_the_decomposition_of_a_trained_model_of_pytorch_is_that_of_its_own_arrays(focus):
    word = TRAINED["text"][:, 0].tolist()
    found = decompose(kleene.LSTM.from_torch(WEIGHTS), word, focus)
    np.testing.assert_allclose(found.relevant, torch_decomposition(word, focus), atol=1e-6)


def test_the_interdependence_of_a_trained_model_of_pytorch_is_that_of_its_own_arrays():
    word = TRAINED["text"][:6, 0].tolist()
    found = interdependence(kleene.LSTM.from_torch(WEIGHTS), word)
    for r in range(1, 6):
        for left in range(r):
            both, one, other = (torch_decomposition(word, focus)[r] for focus in ({left, r}, {left}, {r}))
            expected = np.linalg.norm(both - one - other) / np.linalg.norm(both)
            assert found[left, r] == pytest.approx(expected, abs=2e-5)
