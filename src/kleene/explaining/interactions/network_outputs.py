"""Measures inside a network: what erasing and scaling the embeddings of a word does to its output.

All take the weights of a network and a batch of words of one length, and return [word, i, j], all words in one jitted
call. `output_network` gives the weights by the network's class; `transformers` registers another one.
"""

from abc import abstractmethod
from functools import partial, singledispatch
from itertools import combinations
from typing import Any, Literal

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int

from kleene.errors import InputError
from kleene.explaining.words.baselines import hidden_after
from kleene.explaining.words.parts import Recurrence, decomposable, precision
from kleene.machines.rnn.execution import activate

NODES = 32  # of the quadrature of integrated Hessians
SHARPNESS = 10.0  # β of the softplus that replaces ReLU, as Janizek et al. do

Absent = Literal["zero", "mean"]
Tokens = Int[Array, "batch step"]
Scores = Float[Array, "batch step step"]


class OutputNetwork(eqx.Module):
    """The weights of an acceptor: the embedding, the row of the decoder that gives the output, and what is between.

    `absent` is the embedding of a symbol that is not there.
    """

    embedding: eqx.AbstractVar[Float[Array, "symbols width"]]
    decoder: eqx.AbstractVar[Float[Array, " hidden"]]
    absent: eqx.AbstractVar[Float[Array, " width"]]

    @abstractmethod
    def hidden(self, entries: Float[Array, "step width"], activation: Any = activate) -> Float[Array, " hidden"]:
        """The state that the decoder reads at the end of a word, given as embeddings of its symbols."""

    def entries(self, tokens: Int[Array, " step"], scales: Float[Array, " step"]) -> Float[Array, "step width"]:
        """The embeddings of a word: the absent one where the scale is 0, the symbol's own where it is 1."""
        return self.absent + scales[:, None] * (self.embedding[tokens] - self.absent)

    def scaled(self, tokens: Int[Array, " step"], scales: Float[Array, " step"]) -> Float[Array, ""]:
        """The output at the end of a word whose embeddings are scaled, with smooth units, without the bias."""
        return self.decoder @ self.hidden(self.entries(tokens, scales), smooth)


class RecurrentOutput(OutputNetwork):
    """The weights of an LSTM or a simple RNN."""

    recurrence: Recurrence
    decoder: Float[Array, " hidden"]
    absent: Float[Array, " width"]

    @property
    def embedding(self) -> Float[Array, "symbols width"]:
        return self.recurrence.embedding

    def hidden(self, entries: Float[Array, "step width"], activation: Any = activate) -> Float[Array, " hidden"]:
        return hidden_after(self.recurrence, entries, len(entries) - 1, activation)


@singledispatch
def output_network(model: Any, absent: Absent) -> OutputNetwork:
    """The weights of an acceptor; an absent symbol has an embedding of zeros, or the mean of all."""
    about = decomposable(model)
    if about.recurrence is None:
        raise InputError("this measure is defined for an LSTM or a SimpleRNN, and not for a TransformerLM")
    decoder = jnp.asarray(about.decoder)[0]
    nothing = absent_embedding(about.recurrence.embedding, absent)
    return RecurrentOutput(recurrence=about.recurrence, decoder=decoder, absent=nothing)  # pyright: ignore


def absent_embedding(embedding: Float[Array, "symbols width"], absent: Absent) -> Float[Array, " width"]:
    return jnp.zeros_like(embedding[0]) if absent == "zero" else embedding.mean(axis=0)


def smooth(z: Any, activation: str) -> Any:
    """The unit with ReLU replaced by softplus, whose second derivative is not 0 everywhere; tanh stays as it is."""
    if activation == "tanh":
        return jnp.tanh(z)
    rising = jax.nn.softplus(SHARPNESS * z) / SHARPNESS
    return rising if activation == "relu" else rising - jax.nn.softplus(SHARPNESS * (z - 1)) / SHARPNESS


def on_words(measure: Any, model: Any, codes: np.ndarray, absent: Absent = "zero") -> np.ndarray:
    """A measure of this module on words given by codes [word, position], in numpy."""
    about = decomposable(model)
    about.check_length(codes.shape[1])
    with precision(about.dtype):
        return np.asarray(measure(output_network(model, absent), jnp.asarray(codes)), dtype=np.float64)


@eqx.filter_jit
def erased_output(network: OutputNetwork, tokens: Tokens) -> Scores:
    """|f − f₋ᵢ − f₋ⱼ + f₋ᵢⱼ| for the output f, an erased symbol having the absent embedding."""
    return jnp.abs(_erased(network, tokens, lambda entries: (network.decoder @ network.hidden(entries))[None]))[..., 0]


@eqx.filter_jit
def erased_hidden(network: OutputNetwork, tokens: Tokens) -> Scores:
    """‖h − h₋ᵢ − h₋ⱼ + h₋ᵢⱼ‖ for the hidden state h at the end of the word."""
    return jnp.linalg.norm(_erased(network, tokens, network.hidden), axis=-1)


def _erased(network: OutputNetwork, tokens: Tokens, state: Any) -> Float[Array, "batch step step values"]:
    """The second differences of a state between words with and without two of their symbols."""
    length = tokens.shape[1]
    pairs = np.array(list(combinations(range(length), 2)), dtype=np.int32).reshape(-1, 2)
    kept = np.ones((1 + length + len(pairs), length), np.float32)
    kept[1 + np.arange(length), np.arange(length)] = 0
    for row, pair in enumerate(pairs, start=1 + length):
        kept[row, pair] = 0

    def one(word: Array) -> Array:
        masks = jnp.asarray(kept, network.decoder.dtype)
        found = jax.vmap(lambda mask: state(network.entries(word, mask)))(masks)
        first, second = found[1 + pairs[:, 0]], found[1 + pairs[:, 1]]
        matrix = jnp.zeros((length, length, found.shape[-1]), found.dtype)
        return matrix.at[pairs[:, 0], pairs[:, 1]].set(found[0] - first - second + found[1 + length :])

    upper = jax.vmap(one)(tokens)
    return upper + jnp.swapaxes(upper, 1, 2)


@eqx.filter_jit
def hessian(network: OutputNetwork, tokens: Tokens) -> Scores:
    """|∂²f / ∂sᵢ ∂sⱼ| at s = 1, where sᵢ scales the embedding of symbol i: gradient × input, to second order.

    A scale moves the embedding away from the absent one.
    """
    unscaled = jnp.ones(tokens.shape[1], network.decoder.dtype)
    return jnp.abs(jax.vmap(lambda word: jax.hessian(partial(network.scaled, word))(unscaled))(tokens))


@eqx.filter_jit
def integrated_hessians(network: OutputNetwork, tokens: Tokens) -> Scores:
    """|Γᵢⱼ| of Janizek, Sturmfels and Lee (2021), from absent embeddings to those of the word.

    Γᵢⱼ = ∫∫ αβ ∂²f / ∂sᵢ ∂sⱼ (αβ s) dα dβ. The product u = αβ of two uniform numbers has the density −ln u, so this is
    ∫ −u ln u ∂²f / ∂sᵢ ∂sⱼ (u s) du, which is computed with `NODES` Gauss–Legendre nodes.
    """
    nodes, weights = np.polynomial.legendre.leggauss(NODES)
    nodes, weights = (nodes + 1) / 2, weights / 2
    dtype, unscaled = network.decoder.dtype, jnp.ones(tokens.shape[1], network.decoder.dtype)
    factors = jnp.asarray(-weights * nodes * np.log(nodes), dtype)

    def one(word: Array) -> Array:
        def term(node: Array) -> Array:
            return jax.hessian(partial(network.scaled, word))(node * unscaled)

        return jnp.tensordot(factors, jax.vmap(term)(jnp.asarray(nodes, dtype)), 1)

    return jnp.abs(jax.vmap(one)(tokens))
