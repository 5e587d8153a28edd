"""Language models of PyTorch become LSTMs and go back, and what does not fit is named."""

from pathlib import Path

import jax
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from safetensors.numpy import load_file, save_file

import kleene
from kleene.errors import InputError, ModelFileError
from kleene.machines.lstm.lstm import LSTM
from kleene.machines.lstm.pytorch import save_state_dict, state_dict

# A word_language_model of PyTorch 2.13, trained for 20 steps, and what it says about a text: 2 layers, 7 hidden units.
TRAINED = dict(np.load(Path(__file__).parents[1] / "torch_lstm.npz"))
WEIGHTS = {name.removeprefix("state."): array for name, array in TRAINED.items() if name.startswith("state.")}


def renamed(**names):
    """The weights with parts of their names replaced."""
    found = {}
    for name, array in WEIGHTS.items():
        for old, new in names.items():
            name = name.replace(old, new)
        found[name] = array
    return found


def without(*names, **others):
    return {name: array for name, array in WEIGHTS.items() if name not in names} | others


def same(one, other):
    return all(np.array_equal(a, b) for a, b in zip(jax.tree.leaves(one), jax.tree.leaves(other), strict=True))


def test_a_trained_model_of_pytorch_has_the_same_hidden_states_and_logits_here():
    network = kleene.LSTM.from_torch(WEIGHTS)
    for stream in range(2):
        word = TRAINED["text"][:, stream].tolist()
        assert network.hidden(word)[1:, -1] == pytest.approx(TRAINED["hidden"][:, stream], abs=1e-6)
        assert network.outputs(word)[1:] == pytest.approx(TRAINED["logits"][:, stream], abs=2e-6)


def test_the_equations_are_pytorchs():
    """The documented equations of torch.nn.LSTM in numpy, with both biases."""

    def sigmoid(x):
        return 1 / (1 + np.exp(-x))

    hidden, cell, word = np.zeros((2, 7)), np.zeros((2, 7)), [3, 1, 4, 1, 5]
    found = LSTM.from_torch(WEIGHTS).hidden(word)
    for step, token in enumerate(word):
        entry = WEIGHTS["encoder.weight"][token]
        for k in range(2):
            said = WEIGHTS[f"rnn.weight_ih_l{k}"] @ entry + WEIGHTS[f"rnn.bias_ih_l{k}"]
            said = said + WEIGHTS[f"rnn.weight_hh_l{k}"] @ hidden[k] + WEIGHTS[f"rnn.bias_hh_l{k}"]
            i, f, g, o = said[:7], said[7:14], said[14:21], said[21:]
            cell[k] = sigmoid(f) * cell[k] + sigmoid(i) * np.tanh(g)
            hidden[k] = sigmoid(o) * np.tanh(cell[k])
            entry = hidden[k]
        assert found[step + 1] == pytest.approx(hidden, abs=1e-5)


@given(
    st.sampled_from(["", "module.", "model.lm_"]),
    st.sampled_from(["rnn", "lstm", "core.recurrence"]),
    st.sampled_from(["encoder", "embedding", "word_embeddings", "lookup"]),
    st.sampled_from(["decoder", "output", "lm_head", "readout_layer"]),
    st.randoms(),
)
def test_weights_are_found_whatever_they_are_called_and_in_any_order(prefix, rnn, encoder, decoder, random):
    given_ = [(prefix + name, w) for name, w in renamed(rnn=rnn, encoder=encoder, decoder=decoder).items()]
    random.shuffle(given_)
    assert same(LSTM.from_torch(dict(given_)), LSTM.from_torch(WEIGHTS))


def test_a_module_and_tensors_are_taken_without_importing_torch():
    class Tensor:
        dtype = "torch.bfloat16"

        def __init__(self, array):
            self.array = array

        def detach(self):
            return self

        cpu = float = detach

        def numpy(self):
            return self.array

    class Module:
        def state_dict(self):
            return {name: Tensor(array) for name, array in WEIGHTS.items()}

    assert same(LSTM.from_torch(Module()), LSTM.from_torch(WEIGHTS))


def test_files_go_there_and_back(tmp_path):
    network = LSTM.random("abc", 4, 2, embedding=5, key=jax.random.key(0))
    file = save_state_dict(network, tmp_path / "lm.safetensors")
    assert set(load_file(file)) == set(WEIGHTS)
    again = LSTM.from_torch(file, vocabulary="abc")
    assert again.vocabulary == network.vocabulary
    assert same(again, network)
    save_file({name: array.astype(np.float16) for name, array in WEIGHTS.items()}, tmp_path / "half.safetensors")
    half = LSTM.from_torch(str(tmp_path / "half.safetensors"))
    assert half.decoder.dtype == np.float32
    assert np.asarray(half.decoder) == pytest.approx(WEIGHTS["decoder.weight"], rel=1e-3, abs=1e-6)


def test_tied_weights_and_missing_biases_are_understood():
    tied = LSTM.random("abcde", 4, key=jax.random.key(1))
    weights = state_dict(tied)
    del weights["decoder.weight"]
    found = LSTM.from_torch(weights)
    assert (found.decoder == tied.embedding).all()
    assert (found.decoder_bias == tied.decoder_bias).all()
    bare = LSTM.from_torch({name: array for name, array in state_dict(tied).items() if "bias" not in name})
    assert not np.asarray(bare.layers[0].bias).any()
    assert not np.asarray(bare.decoder_bias).any()


@pytest.mark.parametrize(
    ("weights", "told"),
    [
        (without("rnn.weight_hh_l1"), "no 'rnn.weight_hh_l1' among the weights"),
        (without("rnn.weight_ih_l0"), "no 'rnn.weight_ih_l0' among the weights"),
        (without("rnn.weight_ih_l0", "rnn.weight_ih_l1"), "no array whose name ends in weight_ih_l0"),
        (without("rnn.bias_hh_l0"), "no 'rnn.bias_hh_l0'"),
        (without("encoder.weight"), "the embedding is a matrix of 5 columns.* none fits"),
        (without("decoder.weight"), "the decoder is a matrix of 7 columns.* none fits"),
        (without(**{"rnn.weight_ih_l1": np.zeros((28, 6))}), "'rnn.weight_ih_l1' has shape 28 × 6, and 28 × 7"),
        (without(**{"rnn.bias_ih_l0": np.zeros(7)}), "'rnn.bias_ih_l0' has shape 7, and 28"),
        (without(**{"decoder.bias": np.zeros(3)}), "'decoder.bias' has shape 3, and 11"),
        (without(**{"rnn.weight_ih_l0_reverse": np.zeros((28, 5))}), "bidirectional"),
        (without(**{"other.weight_ih_l0": np.zeros((28, 5))}), "LSTMs at 'other.', 'rnn.'"),
        (without(**{"out.weight": np.zeros((11, 7))}), "several fit: 'decoder.weight', 'out.weight'"),
        (without(**{"rnn.weight_hh_l1": np.zeros((12, 3))}), "'rnn.weight_hh_l1' has shape 12 × 3, and 28 × 7"),
        (without(**{"decoder.bias": np.full(11, np.nan)}), "11 of the 11 numbers of the decoder's bias are not finite"),
        (without(**{"rnn.bias_hh_l1": np.full(28, np.inf)}), "28 of the 28 numbers of rnn.bias_hh_l1 are not finite"),
        (without(note="of today"), "'note' is a str, and a state dict has tensors"),
        ({"epoch": 3, "model": dict(WEIGHTS)}, "'model' is a dict.*give the state dict in it"),
        (7, "a int is not a PyTorch model"),
    ],
)
def test_what_is_missing_or_has_another_shape_is_named(weights, told):
    with pytest.raises(InputError, match=told):
        LSTM.from_torch(weights)


def test_a_matrix_can_be_asked_for_by_name():
    other = np.ones((11, 7), np.float32)
    found = LSTM.from_torch(without(**{"out.weight": other}), decoder="out.weight")
    assert (found.decoder == other).all()
    with pytest.raises(InputError, match=r"no 'exit\.weight'"):
        LSTM.from_torch(WEIGHTS, decoder="exit.weight")


def test_what_belongs_to_no_part_of_the_network_may_be_infinite():
    found = LSTM.from_torch(without(mask=np.full(3, -np.inf)))
    assert (found.decoder == LSTM.from_torch(WEIGHTS).decoder).all()


def test_a_vocabulary_of_another_size_is_refused():
    with pytest.raises(InputError, match="11 rows, and the vocabulary 3 words"):
        LSTM.from_torch(WEIGHTS, vocabulary="abc")


def test_a_pickled_file_is_never_opened(tmp_path):
    file = tmp_path / "model.pt"
    file.write_bytes(b"PK\x03\x04" + b"\0" * 60)
    with pytest.raises(ModelFileError, match=r"not a whole safetensors file.*may run code.*save_file"):
        LSTM.from_torch(file)
    with pytest.raises(ModelFileError, match="there is no file"):
        LSTM.from_torch(tmp_path / "missing.pt")


def test_a_start_of_its_own_cannot_go_to_pytorch():
    network = LSTM.from_torch(WEIGHTS)
    moved = jax.tree.map(lambda leaf: leaf + 1, network)
    with pytest.raises(InputError, match="a start of its own"):
        state_dict(moved)


def test_a_module_of_pytorch_takes_the_weights_and_says_the_same():
    torch = pytest.importorskip("torch")
    network = LSTM.from_torch(WEIGHTS)
    tensors = network.to_torch()
    rnn = torch.nn.LSTM(5, 7, 2)
    rnn.load_state_dict({name.removeprefix("rnn."): t for name, t in tensors.items() if name.startswith("rnn.")})
    with torch.no_grad():
        found = rnn(tensors["encoder.weight"][torch.tensor(TRAINED["text"], dtype=torch.long)])[0]
    assert found.numpy() == pytest.approx(TRAINED["hidden"], abs=1e-6)


def test_without_pytorch_making_tensors_says_what_to_install(monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "torch", None)
    with pytest.raises(InputError, match=r"pip install kleene\[torch\]"):
        LSTM.from_torch(WEIGHTS).to_torch()
