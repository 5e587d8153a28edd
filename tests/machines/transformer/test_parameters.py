"""Compiled Transformers without jax, and what jax sees of them where it is there."""

import subprocess
import sys

import equinox as eqx
import jax
import numpy as np
import pytest

import kleene
from kleene.machines.transformer.parameters import mapped
from kleene.programs.alta.library import parity
from tests.machines.samples import MACHINES

NETWORK = MACHINES["universal transformer"]
# A network is made before jax is imported; then it runs in jax, and further ones are trees.
LATE = """
import sys
import kleene
from kleene.programs.alta.library import parity
network = kleene.compile(parity.relative())
assert network.run([2, 1, 0, 1]).output == [0, 1, 1, 0]
network.decode([2, 1], tokens=0)
assert not {"jax", "equinox"} & set(sys.modules), "jax was imported"
network.save("network.safetensors")
network = kleene.load("network.safetensors")
assert "jax" not in sys.modules, "jax was imported to load"
import jax
assert network.run([2, 1, 0, 1]) == network.run_batch([[2, 1, 0, 1]], backend="jax")[0]
assert len(jax.tree.leaves(network)) == len(network.arrays())
"""


def test_a_transformer_program_is_compiled_run_saved_and_loaded_without_jax(tmp_path):
    done = subprocess.run([sys.executable, "-c", LATE], capture_output=True, text=True, cwd=tmp_path, timeout=120)
    assert (done.returncode, done.stderr) == (0, "")


def test_leaves_are_the_arrays_and_the_rest_is_structure():
    leaves, structure = jax.tree.flatten(NETWORK)
    assert {id(leaf) for leaf in leaves} == {id(array) for array in NETWORK.arrays().values()}
    again = jax.tree.unflatten(structure, leaves)
    assert again.layout is NETWORK.layout
    assert again.run([1, 0, 1]) == NETWORK.run([1, 0, 1])


def test_one_weight_can_be_exchanged():
    changed = eqx.tree_at(lambda network: network.mlp_bias, NETWORK, NETWORK.mlp_bias + 1)
    assert np.array_equal(changed.mlp_bias, NETWORK.mlp_bias + 1)
    assert changed.mlp_in is NETWORK.mlp_in
    assert changed.is_edited
    assert not NETWORK.is_edited


def test_a_function_is_applied_to_every_weight_as_jax_does_it():
    double = mapped(lambda array: 2 * array, NETWORK)
    expected = jax.tree.map(lambda array: 2 * array, NETWORK)
    for name, array in double.arrays().items():
        assert np.array_equal(array, expected.arrays()[name])


def test_fields_cannot_be_set():
    with pytest.raises(AttributeError):
        kleene.compile(parity.relative()).mlp_bias = np.zeros(3)
