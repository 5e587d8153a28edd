"""Transformer language models on disk: every weight comes back, and files that do not fit together are refused."""

import jax
import numpy as np
import pytest

import kleene
from kleene.errors import InputError, ModelFileError
from kleene.machines.transformer_lm.storage import KIND
from kleene.machines.transformer_lm.transformer_lm import TransformerLM
from kleene.tensors import read_tensors, write_tensors

MADE = TransformerLM.random(["<unk>", "a", 3], 4, 2, 2, positions=5, key=jax.random.key(0))


def test_a_saved_model_comes_back_with_every_weight(tmp_path):
    back = kleene.load(MADE.save(tmp_path / "lm.safetensors"))
    assert jax.tree.structure(back) == jax.tree.structure(MADE)
    assert all(np.array_equal(a, b) for a, b in zip(jax.tree.leaves(back), jax.tree.leaves(MADE)))
    assert np.array_equal(back.outputs(["a", 3]), MADE.outputs(["a", 3]))


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        (lambda header, arrays: arrays.pop("gain"), "it has 24 arrays, which is not what 2 layers have"),
        (lambda header, arrays: header.update(layers=10**9), "not what 1000000000 layers have"),
        (lambda header, arrays: header.update(layers=1.0), "its layers is 1.0"),
        (lambda header, arrays: header.update(vocabulary=["a", "b"]), "embedding missing, not expected, or of the"),
        (lambda header, arrays: header.update(vocabulary=["a", "a", "b"]), "a token twice"),
        (lambda header, arrays: header.update(vocabulary="abc"), "not a list of tokens"),
        (lambda header, arrays: header.update(version=9), "its version is 9"),
        (lambda header, arrays: header.pop("version"), "version"),
        (
            lambda header, arrays: arrays.update({"layers.1.key": np.zeros((2, 4, 3), "f4")}),
            "layers.1.key missing, not",
        ),
        (lambda header, arrays: arrays.update({"layers.0.query": np.zeros(3, "f4")}), "does not hold a whole"),
        (lambda header, arrays: arrays.update(positions=np.zeros((5, 3), "f4")), "embedding, gain"),
        (lambda header, arrays: arrays.update(gain=np.zeros(4, "i4")), "gain holds int32"),
    ],
)
def test_a_file_that_does_not_fit_together_is_refused(tmp_path, change, complaint):
    header, arrays = read_tensors(MADE.save(tmp_path / "whole"), KIND)
    del header["kind"]
    change(header, arrays)
    with pytest.raises(ModelFileError, match=complaint):
        TransformerLM.load(write_tensors(tmp_path / "broken", KIND, header, arrays))


def test_tokens_that_json_does_not_have_and_several_models_in_one_are_not_saved(tmp_path):
    with pytest.raises(InputError, match="strings and whole numbers"):
        TransformerLM.random([("a",), ("b",)], 2, 1, 1, key=jax.random.key(0)).save(tmp_path / "n")
    with pytest.raises(InputError, match="several networks in one"):
        jax.tree.map(lambda leaf: np.stack([leaf, leaf]), MADE).save(tmp_path / "n")
    assert not (tmp_path / "n").exists()
