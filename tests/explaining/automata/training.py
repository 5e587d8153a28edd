"""A small trainer: networks that learn a language from labelled random words."""

from collections.abc import Callable
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import optax

from kleene.machines.lstm.lstm import LSTM

LENGTH, BATCH = 32, 64


def trained(network: Any, language: Callable[[str], bool], *, steps: int, rate: float = 0.01, seed: int = 0) -> Any:
    """The network after `steps` steps of Adam on random words; each prefix of a word is a labelled word as well."""
    tokens = random_tokens(len(network.alphabet), np.random.default_rng(seed))
    words = ["".join(network.alphabet[token] for token in row) for row in tokens]
    labels = np.array([[language(word[:n]) for n in range(LENGTH + 1)] for word in words], dtype=np.float32)
    return _fit(network, jnp.asarray(tokens), jnp.asarray(labels), jax.random.key(seed), steps, rate)


def random_tokens(symbols: int, rng: np.random.Generator) -> np.ndarray:
    """Random words, from those whose symbol hardly ever changes to those whose symbols are independent."""
    tokens = rng.integers(symbols, size=(1024, LENGTH))
    changes = rng.random((1024, LENGTH)) < rng.random((1024, 1))
    for step in range(1, LENGTH):
        tokens[:, step] = np.where(changes[:, step], tokens[:, step], tokens[:, step - 1])
    return tokens


def outputs(network: Any, tokens: Any) -> Any:
    """The output before the first token of a word and after each."""

    def said(state):
        is_lstm = isinstance(network, LSTM)
        return (network.read_out(state) if is_lstm else network.readout @ state + network.readout_bias)[0]

    def step(state, token):
        one_hot = jax.nn.one_hot(token, len(network.alphabet))
        state = network(state, token if isinstance(network, LSTM) else one_hot)
        return state, said(state)

    return jnp.append(said(network.start), jax.lax.scan(step, network.start, tokens)[1])


@eqx.filter_jit
def _fit(network: Any, tokens: Any, labels: Any, key: Any, steps: int, rate: float) -> Any:
    weights, rest = eqx.partition(network, eqx.is_inexact_array)
    adam = optax.chain(optax.clip_by_global_norm(1.0), optax.adam(optax.cosine_decay_schedule(rate, steps)))

    def loss(weights, rows):
        whole = eqx.combine(weights, rest)
        said = jax.vmap(lambda word: outputs(whole, word))(tokens[rows])
        return optax.sigmoid_binary_cross_entropy(said - network.threshold, labels[rows]).mean()

    def step(carry, key):
        weights, state = carry
        rows = jax.random.randint(key, (BATCH,), 0, len(tokens))
        updates, state = adam.update(jax.grad(loss)(weights, rows), state)
        return (optax.apply_updates(weights, updates), state), None

    (weights, _), _ = jax.lax.scan(step, (weights, adam.init(weights)), jax.random.split(key, steps))
    return eqx.combine(weights, rest)
