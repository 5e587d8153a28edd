"""Language models with 8 bits for each weight: what is unpacked is near what was packed, and the same everywhere."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from kleene.errors import InputError, ModelFileError
from kleene.machines.lstm.lstm import LSTM
from kleene.machines.lstm.packing import LARGEST, pack, unpack
from kleene.machines.weights import arrays_of
from kleene.tensors import read_tensors, write_tensors

WORDS = ("<unk>", "<eos>", "the", "né", "dog")


def made(layers=2, tied=False):
    network = LSTM.random(WORDS, 6, layers, key=jax.random.key(0))
    weights = arrays_of(network)
    return with_decoder(network, weights["embedding"]) if tied else network


def with_decoder(network, decoder):
    return LSTM(
        network.embedding, network.layers, network.start, jnp.asarray(decoder), network.decoder_bias, network.vocabulary
    )


@pytest.mark.parametrize("tied", [False, True])
def test_each_weight_comes_back_within_half_a_step_and_biases_come_back_whole(tmp_path, tied):
    network = made(tied=tied)
    found = unpack(pack(network, tmp_path / "packed.safetensors"))
    assert found.vocabulary == network.vocabulary
    before, after = arrays_of(network), arrays_of(found)
    assert before.keys() == after.keys()
    for name, array in before.items():
        steps = np.abs(array).max(axis=-1, keepdims=True) / LARGEST if array.ndim == 2 else 0
        assert after[name].dtype == np.float32
        assert (np.abs(after[name] - array) <= 0.501 * steps).all(), name
    assert found.run(["the", "dog"]).steps == 2


def test_packing_again_changes_nothing(tmp_path):
    once = unpack(pack(made(), tmp_path / "once.safetensors"))
    twice = unpack(pack(once, tmp_path / "twice.safetensors"))
    assert all(np.array_equal(a, b) for a, b in zip(arrays_of(once).values(), arrays_of(twice).values()))


def test_a_row_of_zeros_stays_one(tmp_path):
    network = made()
    found = unpack(pack(with_decoder(network, network.decoder * 0), tmp_path / "zeros.safetensors"))
    assert not np.asarray(found.decoder).any()


def test_a_decoder_that_is_the_embedding_is_stored_once(tmp_path):
    file = pack(made(tied=True), tmp_path / "tied.safetensors")
    assert "decoder" not in read_tensors(file, "packed lstm")[1]
    found = unpack(file)
    assert np.array_equal(found.embedding, found.decoder)


def test_networks_that_begin_elsewhere_and_weights_that_are_not_finite_are_refused(tmp_path):
    network = made()
    begun = LSTM(
        network.embedding,
        network.layers,
        jax.tree.map(lambda leaf: leaf + 1, network.start),
        network.decoder,
        network.decoder_bias,
        network.vocabulary,
    )
    with pytest.raises(InputError, match="begins with a state of zeros"):
        pack(begun, tmp_path / "begun.safetensors")
    with pytest.raises(InputError, match="decoder has entries that are not finite"):
        pack(with_decoder(network, network.decoder * np.nan), tmp_path / "nan.safetensors")


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (lambda header, arrays: arrays.pop("embedding"), "embedding"),
        (lambda header, arrays: arrays.pop("layers.0.bias"), "layers.0.bias is missing"),
        (lambda header, arrays: arrays.update({"decoder.scale": np.ones(2, np.float32)}), "scales of shape"),
        (lambda header, arrays: header.update(version=2), "its version is 2"),
        (lambda header, arrays: header["vocabulary"].pop(), "its vocabulary has 4 tokens"),
    ],
)
def test_a_file_that_does_not_fit_is_refused(tmp_path, change, told):
    header, arrays = read_tensors(pack(made(), tmp_path / "whole.safetensors"), "packed lstm")
    change(header, arrays)
    path = write_tensors(tmp_path / "broken.safetensors", header.pop("kind"), header, arrays)
    with pytest.raises(ModelFileError, match=told):
        unpack(path)
