"""The encoder Transformer: weights of its own or shared, distances in T5's buckets or learned positions."""

import math
from dataclasses import replace

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from kleene.errors import InputError
from kleene.machines.transformer import stack
from kleene.machines.transformer.encoder import EncoderTransformer
from kleene.machines.transformer.stack import LayerStack, attend, distance_buckets, think

SIZES = {"width": 6, "heads": 2, "key_size": 4, "units": 8}
TOKENS, LENGTH = jnp.array([2, 1, 0, 1, 0, 0]), jnp.array(4)


@eqx.filter_jit
def network(layers=3, **given):
    return EncoderTransformer.random(3, {"x": 2, "y": 3}, **SIZES, layers=layers, **given, key=jax.random.key(1))


@eqx.filter_jit
def streams(made, tokens=TOKENS):
    return made(tokens, LENGTH)


@eqx.filter_jit
def gradient(made, again=False):
    """The gradient of some loss; `again` only makes jax compile anew."""
    return jax.grad(lambda made: jnp.sum(made(TOKENS, LENGTH).states[-1] ** 3))(made)


def repeated(shared, layers):
    """The network with a stack of so many layers of their own, all with the shared layer's weights."""
    own = jax.tree.map(lambda weights: jnp.concatenate([weights] * layers), shared.stack)
    return eqx.tree_at(lambda made: made.stack, shared, own)


@pytest.mark.parametrize("given", [{}, {"places": 6}])
@pytest.mark.parametrize("layers", [3, stack.DEEP])
def test_layers_of_their_own_with_equal_weights_do_what_a_shared_layer_does(layers, given):
    shared = network(layers, shared=True, **given)
    own = repeated(shared, layers)
    assert (shared.stack.count, own.stack.count) == (1, layers)
    np.testing.assert_allclose(streams(own).states, streams(shared).states, rtol=1e-4, atol=1e-5)
    of_shared, of_own = gradient(shared).stack, gradient(own).stack
    summed = jax.tree.map(lambda weights: weights.sum(axis=0, keepdims=True), of_own)
    for expected, found in zip(jax.tree.leaves(of_shared), jax.tree.leaves(summed)):
        np.testing.assert_allclose(found, expected, rtol=2e-3, atol=2e-4)


def plain_bucket(right, causal):
    """The bucket of a distance to the right, as Raffel et al. describe it: half of the buckets are exact."""
    buckets, first = (32, 0) if causal else (16, 16 if right > 0 else 0)
    distance = max(0, -right) if causal else abs(right)
    if distance < buckets // 2:
        return first + distance
    half = buckets // 2
    return first + min(buckets - 1, half + math.floor(half * math.log(distance / half, 128 / half)))


@pytest.mark.parametrize("causal", [False, True])
def test_distances_lie_in_the_buckets_of_t5(causal):
    found = distance_buckets(200, causal=causal)
    exact = {8 * 2**n for n in range(8)}  # there rounding may decide
    for row, column in [(0, n) for n in range(200)] + [(199, n) for n in range(200)]:
        if abs(column - row) not in exact:
            assert found[row, column] == plain_bucket(column - row, causal), (row, column)
    assert found.min() == 0
    assert found.max() == 31
    assert found[0, 8] == (0 if causal else 16 + 8)
    assert found[199, 0] == (31 if causal else 15)


@pytest.mark.parametrize("given", [{}, {"places": 6}])
def test_a_layer_is_what_its_equations_say(given):
    made = network(1, **given)
    made = made if made.distances is None else replace(made, distances=jax.random.normal(jax.random.key(2), (2, 32)))
    weights = jax.tree.map(lambda array: np.asarray(array, np.float64), made.stack.layer(0))

    def normed(rows):
        return rows / np.sqrt((rows**2).mean(axis=-1, keepdims=True) + 1e-6)

    stream = np.array(made.embedding)[np.asarray(TOKENS)]
    stream = stream if made.positions is None else stream + np.asarray(made.positions)
    read = normed(stream)[:4]  # what lies behind the word is not read
    for head in range(2):
        part = slice(4 * head, 4 * head + 4)
        for at in range(4):
            logits = read @ weights.attention.key[:, part] @ (read[at] @ weights.attention.query[:, part]) / 2
            if made.distances is not None:
                logits = logits + [made.distances[head, plain_bucket(j - at, False)] for j in range(4)]
            chances = np.exp(logits - logits.max()) / np.exp(logits - logits.max()).sum()
            stream[at] += chances @ read @ weights.attention.value[:, part] @ weights.attention.out[part]
    np.testing.assert_allclose(streams(made).attended[0, :4], normed(stream)[:4], rtol=1e-3, atol=1e-4)
    units = np.asarray(jax.nn.gelu(jnp.asarray(normed(stream) @ weights.mlp_in)))
    stream = stream + units @ weights.mlp_out
    np.testing.assert_allclose(streams(made).states[1, :4], normed(stream)[:4], rtol=1e-3, atol=1e-4)


def test_a_word_is_read_alike_however_far_it_is_padded():
    made = network(places=8)
    short, long = streams(made, TOKENS[:4]), streams(made, jnp.concatenate([TOKENS, TOKENS]))
    np.testing.assert_allclose(long.states[:, :4], short.states, rtol=1e-4, atol=1e-5)


def test_a_stack_that_is_computed_again_for_its_gradient_has_the_same_gradient(monkeypatch):
    made = network(3)
    kept = gradient(made)
    monkeypatch.setattr(stack, "DEEP", 1)
    for expected, found in zip(jax.tree.leaves(kept), jax.tree.leaves(gradient(made, again=True))):
        np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-5)


def test_only_shared_layers_can_be_run_more_often():
    word = [2, 1, 0]
    assert network(shared=True).run(word, layers=5).steps == 5
    assert network(shared=True).run(word, layers=5)["x"][:4].tolist() == network(shared=True).run(word)["x"].tolist()
    with pytest.raises(InputError, match="layers is 5, and the network has 3 layers with weights of their own"):
        network().run(word, layers=5)


def test_sizes_below_one_are_refused():
    with pytest.raises(InputError, match="an encoder has sizes of 1 or more; it was given width=6, heads=0, key=4"):
        EncoderTransformer.random(3, {"x": 2}, **SIZES | {"heads": 0}, layers=1, key=jax.random.key(0))
    with pytest.raises(InputError, match="needs a token, a variable and a position; it has 3 tokens, places=0"):
        network(places=0)


def test_a_decoders_layer_reads_the_source_with_its_second_attention():
    layer = jax.jit(lambda: LayerStack.random(1, width=6, inner=8, units=8, crossing=True, key=jax.random.key(3)))()
    layer = layer.layer(0)
    stream, source = jax.random.normal(jax.random.key(4), (2, 5, 6))
    free = jnp.zeros((2, 1, 5))
    assert layer.cross is not None
    assert not np.allclose(attend(layer.cross, stream, free, source), attend(layer.cross, stream, free, 2 * source))
    closed = free.at[:, :, 3].set(-jnp.inf)
    other = source.at[3].set(9.0)
    np.testing.assert_allclose(attend(layer.cross, stream, closed, source), attend(layer.cross, stream, closed, other))
    assert think(layer, stream).shape == stream.shape
