"""Many streams at once give what one step after another gives, and the gradients by hand are those of autodiff."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from kleene.machines.lstm.lstm import LSTM, Memory
from kleene.machines.lstm.streams import next_token_losses, read_streams, still

TOKENS = np.random.default_rng(0).integers(0, 6, (7, 3))


@pytest.fixture(scope="module")
def network():
    return LSTM.random("abcdef", 4, layers=2, embedding=3, key=jax.random.key(2))


def plain(network, tokens, memory):
    """What read_streams does, one step after another and with gradients by autodiff."""

    def step(memory, now):
        memory = jax.vmap(network)(memory, now)
        return memory, memory.hidden[:, -1]

    memory, found = jax.lax.scan(step, memory, tokens)
    return found, memory


def plain_losses(network, found, targets):
    chances = jax.nn.log_softmax(found @ network.decoder.T + network.decoder_bias)
    return -jnp.take_along_axis(chances, targets[..., None], axis=-1)[..., 0]


def some_memory(network):
    first, second = jax.random.normal(jax.random.key(5), (2, 3, len(network.layers), 4))
    return Memory(first, second)


def test_streams_are_read_as_words_are(network):
    found, memory = read_streams(network, jnp.asarray(TOKENS), still(network, 3))
    for stream in range(3):
        word = ["abcdef"[token] for token in TOKENS[:, stream]]
        assert network.hidden(word)[1:, -1] == pytest.approx(np.asarray(found[:, stream]), abs=1e-6)
        last = network.memories(word)
        assert np.asarray(memory.cell[stream]) == pytest.approx(last.cell[-1], abs=1e-6)
        assert np.asarray(memory.hidden[stream]) == pytest.approx(last.hidden[-1], abs=1e-6)


def test_gradients_of_weights_and_memory_are_those_of_autodiff(network):
    tokens, targets = jnp.asarray(TOKENS[:-1]), jnp.asarray(TOKENS[1:])

    def loss(parts, read, losses):
        network, memory = parts
        found, after = read(network, tokens, memory)
        weighed = losses(network, found, targets) * jnp.arange(1.0, 4.0)  # streams that count differently
        return weighed.sum() + (after.cell**2).sum() + after.hidden.sum()

    parts = (network, some_memory(network))
    by_hand = jax.jit(jax.grad(lambda p: loss(p, read_streams, lambda *a: next_token_losses(*a)[0])))(parts)
    expected = jax.jit(jax.grad(lambda p: loss(p, plain, plain_losses)))(parts)
    for ours, theirs in zip(jax.tree.leaves(by_hand), jax.tree.leaves(expected)):
        assert np.asarray(ours) == pytest.approx(np.asarray(theirs), abs=2e-5)
    assert any(np.abs(leaf).max() > 0.1 for leaf in jax.tree.leaves(expected))


def test_losses_and_hits_are_those_of_the_softmax(network):
    found = jax.random.normal(jax.random.key(3), (7, 3, 4)) * 30  # large logits must not overflow
    losses, right = next_token_losses(network, found, jnp.asarray(TOKENS))
    expected = np.asarray(plain_losses(network, found, jnp.asarray(TOKENS)))
    assert np.asarray(losses) == pytest.approx(expected, rel=1e-4, abs=1e-4)
    logits = np.asarray(found @ network.decoder.T + network.decoder_bias)
    assert (np.asarray(right) == (logits.argmax(axis=-1) == TOKENS)).all()


def test_masks_multiply_the_embedded_tokens_and_what_goes_up(network):
    layers = len(network.layers)
    ones = (jnp.ones((7, 3, 3)), *[jnp.ones((7, 3, 4))] * layers)
    read = jax.jit(lambda *masks: read_streams(network, jnp.asarray(TOKENS), still(network, 3), masks))
    whole, memory = read(*ones)
    assert np.asarray(whole) == pytest.approx(np.asarray(plain(network, TOKENS, still(network, 3))[0]), abs=1e-6)
    deaf = read(ones[0] * 0, *ones[1:])[0]
    assert np.ptp(np.asarray(deaf), axis=1).max() == 0  # all streams alike: no token was heard
    mute, same = read(*ones[:-1], ones[-1] * 0)
    assert not mute.any()
    assert (same.hidden == memory.hidden).all()  # what goes on in time is not dropped
