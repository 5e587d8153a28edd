"""Realism: distances of weights and effects are 0 from the network itself, and large for a compiled one."""

import itertools

import equinox as eqx
import jax
import numpy as np
import pytest

import kleene
from kleene.errors import InputError
from kleene.groundtruth.realism import apart, node_effects, realism, standardised
from kleene.machines.transformer.plain import PlainTransformer
from kleene.programs.rasp import RaspProgram, lib

WORDS = [list(word) for size in (1, 2, 3) for word in itertools.product("ab", repeat=size)]


@pytest.fixture(scope="module")
def compiled():
    return PlainTransformer.from_unrolled(kleene.compile(RaspProgram(lib.make_hist(), "ab", 3), layers="unrolled"))


@pytest.fixture(scope="module")
def drawn(compiled):
    layers, heads, width, key = compiled.query.shape
    sizes = {"width": width, "layers": layers, "heads": heads, "key_size": key, "units": compiled.mlp_bias.shape[1]}
    return PlainTransformer.random(compiled.layout, **sizes, key=jax.random.key(0))


def test_a_network_is_like_itself_and_a_compiled_one_is_not_like_a_random_one(compiled, drawn, tmp_path):
    found = realism({"compiled": compiled, "same": drawn}, drawn, WORDS, pairs=16)
    assert (found.of("same").weights, found.of("same").effects) == (0, 0)
    assert found.of("compiled").weights > 0.3
    assert found.of("compiled").zeros > 0.8
    assert found.of("same").zeros == 0
    assert found.draw(tmp_path / "realism.svg").exists()
    assert str(found).splitlines()[0].startswith("network")
    assert {row["name"] for row in found.as_json()["networks"]} == {"compiled", "same"}


def test_a_component_without_an_effect_has_none(compiled):
    silent = eqx.tree_at(lambda one: one.out, compiled, 0 * compiled.out)
    effects = node_effects(silent, WORDS, pairs=16)
    heads = [n for n, name in enumerate(compiled.graph.sources[2:]) if not name.endswith("mlp")]
    assert (effects[:, heads] == 0).all()
    assert node_effects(compiled, WORDS, pairs=16)[:, heads].max() > 0.5


def test_weights_are_standardised_matrix_by_matrix(drawn):
    larger = eqx.tree_at(lambda one: one.tokens, drawn, 100 * drawn.tokens)
    assert np.allclose(standardised(larger), standardised(drawn), atol=1e-4)


def test_distances_of_samples_are_those_of_their_distributions():
    rng = np.random.default_rng(0)
    a, b = rng.normal(size=2000), rng.normal(size=3000) + 2
    distance, statistic = apart(a, b)
    assert abs(distance - 2) < 0.1
    assert abs(statistic - 0.6827) < 0.05  # at the middle between the two, 0.84 of one and 0.16 of the other are below


def test_what_cannot_be_compared_is_refused(compiled, drawn):
    with pytest.raises(InputError, match="other names"):
        realism({"trained": compiled}, drawn, WORDS)
    with pytest.raises(InputError, match="same length"):
        node_effects(compiled, [["a"], ["a", "b"]])
