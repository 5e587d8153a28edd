"""Erasure and gradient × input of every two words of many sentences, in O(n²) steps per sentence.

Both are taken when the later word has been read, so only the last step of a pair depends on that word. The state, or
its derivative, is carried along for each first word, and one more step for each later word gives the pair. The values
are those of `baselines.erasure` and `baselines.gradient_times_input`, which take each pair by itself.
"""

from collections.abc import Callable, Iterable
from itertools import groupby
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int

from kleene.errors import InputError
from kleene.explaining.words.baselines import relative, start_states, states_after
from kleene.explaining.words.parts import Recurrence, decomposable, precision
from kleene.explaining.words.sentences import Sentence, read_sentences

ROWS = 2_048  # first words per jitted call
SHORTEST = 16  # sentences are padded to this many steps, or twice as many, or four times, …

Pairs = Float[Array, "batch right left"]
Batch = Int[Array, "batch step"]


def erasure_batch(model: Any, sentences: Iterable[Sentence]) -> list[np.ndarray]:
    """How far erasing two words differs from erasing each (`baselines.erasure`): the matrix of each sentence.

    >>> from kleene.machines.lstm.lstm import LSTM
    >>> model = LSTM.random("ab", 4, key=jax.random.key(0))
    >>> [matrix.shape for matrix in erasure_batch(model, ["abb", "ab"])]
    [(3, 3), (2, 2)]
    """
    return _matrices(model, sentences, _erasures)


def gradient_times_input_batch(model: Any, sentences: Iterable[Sentence]) -> list[np.ndarray]:
    """The mixed second derivative of two words (`baselines.gradient_times_input`): the matrix of each sentence."""
    return _matrices(model, sentences, _mixed_derivatives)


def _matrices(model: Any, sentences: Iterable[Sentence], measure: Callable[..., Pairs]) -> list[np.ndarray]:
    about = decomposable(model)
    if about.recurrence is None:
        raise InputError("this is defined for an LSTM or a SimpleRNN, and not yet for a TransformerLM")
    codes, found = read_sentences(about, sentences), {}
    steps = [SHORTEST << max(0, (len(words) - 1) // SHORTEST).bit_length() for words in codes]
    with precision(about.dtype):
        for width, alike in groupby(sorted(range(len(codes)), key=steps.__getitem__), key=steps.__getitem__):
            left, count = list(alike), max(1, ROWS // width)
            while left:
                some, left = left[:count], left[count:]
                tokens = np.zeros((count, width), np.int32)
                for row, place in enumerate(some):
                    tokens[row, : len(codes[place])] = codes[place]
                values = np.asarray(measure(about.recurrence, tokens))
                found |= {place: _matrix(values[row], len(codes[place])) for row, place in enumerate(some)}
    return [found[place] for place in range(len(codes))]


def _matrix(values: Float[np.ndarray, "right left"], length: int) -> np.ndarray:
    """The matrix of a sentence: symmetric, NaN on the diagonal."""
    below = np.tril(values[:length, :length].astype(np.float64), -1)
    matrix = below + below.T
    np.fill_diagonal(matrix, np.nan)
    return matrix


@eqx.filter_jit
def _erasures(network: Recurrence, tokens: Batch) -> Pairs:
    width = tokens.shape[1]
    rows = jnp.arange(width + 1)[:, None]  # the first word that each row erases; the last row erases none

    def step(states: Any, now: tuple[Array, Array]) -> tuple[Any, Array]:
        number, entry = now
        read, erased = (
            jax.vmap(states_after, (None, 0, None))(network, states, word) for word in (entry, jnp.zeros_like(entry))
        )
        with_word, without = read[-1][0], erased[-1][0]
        missed = with_word[-1] - with_word - without[-1] + without
        states = jax.tree.map(lambda kept, gone: jnp.where(rows == number, gone, kept), read, erased)
        return states, jax.vmap(relative, (0, None))(missed[:-1], with_word[-1])

    def of_sentence(words: Int[Array, " step"]) -> Float[Array, "right left"]:
        start = jax.tree.map(lambda state: jnp.broadcast_to(state, (width + 1, *state.shape)), start_states(network))
        return jax.lax.scan(step, start, (jnp.arange(width), network.embedding[words]))[1]

    return jax.vmap(of_sentence)(tokens)


@eqx.filter_jit
def _mixed_derivatives(network: Recurrence, tokens: Batch) -> Pairs:
    width = tokens.shape[1]
    rows = jnp.arange(width)[:, None]  # the word whose scale each row's derivative is for

    def step(carry: tuple[Any, Any], now: tuple[Array, Array]) -> tuple[tuple[Any, Any], Array]:
        states, slopes = carry
        number, entry = now
        whole = jnp.ones((), entry.dtype)

        def read(before: Any) -> tuple[Any, Any]:
            """The states after the word, and their derivative by its scale."""
            return jax.jvp(lambda scale: states_after(network, before, scale * entry), (whole,), (whole,))

        (after, by_scale), push = jax.linearize(read, states)
        moved, mixed = jax.vmap(push)(slopes)
        slopes = jax.tree.map(lambda here, old: jnp.where(rows == number, here, old), by_scale, moved)
        return (after, slopes), jax.vmap(relative, (0, None))(mixed[-1][0], after[-1][0])

    def of_sentence(words: Int[Array, " step"]) -> Float[Array, "right left"]:
        states = start_states(network)
        slopes = jax.tree.map(lambda state: jnp.zeros((width, *state.shape), state.dtype), states)
        return jax.lax.scan(step, (states, slopes), (jnp.arange(width), network.embedding[words]))[1]

    return jax.vmap(of_sentence)(tokens)
