"""Runs of floating networks in jax: one jitted scan over a padded batch, at few shapes. `network` is a `SimpleRNN`."""

from contextlib import AbstractContextManager
from dataclasses import replace
from fractions import Fraction
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np


def activate(z: Any, activation: str) -> Any:
    """σ(z) in jax."""
    if activation == "tanh":
        return jnp.tanh(z)
    return jnp.clip(z, 0, 1) if activation == "slu" else jnp.maximum(z, 0)


@eqx.filter_jit
def run(network: Any, tokens: Any) -> Any:
    """The hidden vectors (batch, step, hidden) of padded words (batch, step), the start first."""

    def step(state: Any, token: Any) -> tuple[Any, Any]:
        state = network(state, jax.nn.one_hot(token, len(network.alphabet), dtype=state.dtype))
        return state, state

    def states(word: Any) -> Any:
        start = jnp.asarray(network.start)
        _, later = jax.lax.scan(step, start, word)
        return jnp.concatenate([start[None], later])

    return jax.vmap(states)(tokens)


@eqx.filter_jit
def run_to_end(network: Any, tokens: Any, lengths: Any) -> Any:
    """The outputs (batch, outputs) at the end of each padded word."""

    def last(word: Any, length: Any) -> Any:
        def step(state: Any, at: tuple[Any, Any]) -> tuple[Any, None]:
            index, token = at
            after = network(state, jax.nn.one_hot(token, len(network.alphabet), dtype=state.dtype))
            return jnp.where(index < length, after, state), None

        state, _ = jax.lax.scan(step, jnp.asarray(network.start), (jnp.arange(len(word)), word))
        return network.readout @ state + network.readout_bias

    return jax.vmap(last)(tokens, lengths)


def hidden(network: Any, tokens: np.ndarray) -> np.ndarray:
    """The hidden vectors (batch, step, hidden), as far as the padded words go."""
    with _precision(network):
        states = run(_bare(network), _padded(tokens))
    return np.asarray(states)[: tokens.shape[0], : tokens.shape[1] + 1]


def outputs(network: Any, tokens: np.ndarray) -> np.ndarray:
    """The outputs (batch, step, outputs), as far as the padded words go."""
    return hidden(network, tokens) @ np.asarray(network.readout).T + np.asarray(network.readout_bias)


def accepts(network: Any, tokens: np.ndarray, lengths: np.ndarray) -> np.ndarray:
    """Whether the first output at the end of each padded word is larger than the threshold."""
    tokens, rows = _padded(tokens), len(tokens)
    with _precision(network):
        ends = run_to_end(_bare(network), tokens, np.pad(lengths, (0, len(tokens) - rows)))
    return np.asarray(ends)[:rows, 0] > float(network.threshold)


def _bare(network: Any) -> Any:
    """The network without what its numbers do not depend on, so that networks of one shape are compiled once."""
    alphabet = tuple(str(number) for number in range(len(network.alphabet)))
    return replace(network, alphabet=alphabet, threshold=Fraction(1, 2), reading=None, summary="")


def _padded(tokens: np.ndarray) -> np.ndarray:
    """The words in an array whose sides are powers of two, so that few shapes are ever compiled."""
    rows, steps = (1 << max(3, (size - 1).bit_length()) for size in tokens.shape)
    return np.pad(tokens, ((0, rows - tokens.shape[0]), (0, steps - tokens.shape[1]))).astype(np.int32)


def _precision(network: Any) -> AbstractContextManager:
    """Double precision where the weights have it, which jax otherwise takes away silently."""
    if network.recurrent.dtype != np.float64:  # type: ignore[union-attr]
        return jax.default_matmul_precision("highest")
    if hasattr(jax, "enable_x64"):
        return jax.enable_x64(True)
    from jax.experimental import enable_x64  # pyright: ignore  where older jax has it

    return enable_x64()
