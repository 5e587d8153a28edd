"""A plain Transformer as a function of words, so that measures of interaction can be judged on it.

Its output is how much the logit of accepting is above that of rejecting at the end of a word. A measure that erases or
scales a symbol changes its embedding; the embedding of its position stays.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from kleene.errors import InputError
from kleene.explaining.interactions.measures import (
    MEASURES,
    AlphabetWord,
    Measure,
    NotDefinedError,
    interdependence_at_the_end,
)
from kleene.explaining.interactions.network_outputs import Absent, OutputNetwork, absent_embedding, output_network
from kleene.explaining.words.parts import Decomposable, decomposable
from kleene.explaining.words.plain_stream import PlainStream, layers_of, seen_positions
from kleene.explaining.words.sharing import PAPERS
from kleene.machines.rnn.execution import activate
from kleene.machines.transformer.plain import PlainTransformer
from kleene.notation.words import padded_codes

ROWS = 4_096  # words per jitted call


@dataclass(frozen=True)
class TransformerAcceptor:
    """A plain Transformer that says at the last position whether a word is accepted: its output there is 1, not 0.

    `alphabet` has the symbol of each token; tokens behind them stand before a word (`prefix`).
    """

    model: PlainTransformer
    alphabet: tuple[str, ...]
    prefix: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        if self.model.layout.output.size != 2:
            raise InputError(
                f"an acceptor answers 0 or 1, and this Transformer has {self.model.layout.output.size} answers"
            )
        if len(self.alphabet) + len(self.prefix) > len(self.model.tokens):
            raise InputError(f"this Transformer has {len(self.model.tokens)} tokens, and {len(self.alphabet)} symbols")

    def outputs_batch(self, words: Sequence[AlphabetWord]) -> np.ndarray:
        """How much the logit of accepting is above that of rejecting: [word, 1]. Words have one length."""
        codes = padded_codes(words, self.alphabet)[0]
        before = np.tile(np.array(self.prefix, np.int32), (len(codes), 1))
        rows = np.concatenate([before, codes], axis=1)
        found = [np.zeros(0)]
        for first in range(0, len(rows), ROWS):
            some = rows[first : first + ROWS]
            filled = np.zeros((min(ROWS, 1 << (len(some) - 1).bit_length()), rows.shape[1]), np.int32)
            filled[: len(some)] = some
            found.append(np.asarray(_margins(self.model, jnp.asarray(filled)), np.float64)[: len(some)])
        return np.concatenate(found)[:, None]

    def accepts_batch(self, words: Sequence[AlphabetWord]) -> np.ndarray:
        return self.outputs_batch(words)[:, 0] > 0


@eqx.filter_jit
def _margins(model: PlainTransformer, tokens: Array) -> Float[Array, " batch"]:
    logits = jax.vmap(lambda word: model(word, jnp.asarray(len(word)))[-1])(tokens)
    return logits[:, 1] - logits[:, 0]


def _decoder(model: PlainTransformer) -> Float[Array, " width"]:
    return model.readout[1] - model.readout[0]


def _decomposed(conventions: Any, network: TransformerAcceptor) -> Decomposable:
    model = network.model
    stream = PlainStream(model, conventions, network.prefix)
    longest = len(model.positions) - len(network.prefix)
    decoder = _decoder(model)[None]
    return Decomposable(stream, network.alphabet, len(model.query), decoder, model.tokens.dtype, longest=longest)


decomposable.register(TransformerAcceptor, partial(_decomposed, "kleene"))


def di_cdt(network: Any, words: Sequence[AlphabetWord]) -> np.ndarray:
    """Interdependence at the residual stream at the end of the word with the conventions of CD-T (Hsu et al. 2024)."""
    return _as_in_cdt(network, words, at_logits=False)


def di_cdt_logits(network: Any, words: Sequence[AlphabetWord]) -> np.ndarray:
    """The same at the output."""
    return _as_in_cdt(network, words, at_logits=True)


def _as_in_cdt(network: Any, words: Sequence[AlphabetWord], *, at_logits: bool) -> np.ndarray:
    if not isinstance(network, TransformerAcceptor):
        raise NotDefinedError("it is defined for Transformers")
    return interdependence_at_the_end(_decomposed("cd-t", network), words, at_logits=at_logits, sharing=PAPERS)


class TransformerOutput(OutputNetwork):
    """The weights of a Transformer that accepts words."""

    model: PlainTransformer
    absent: Float[Array, " width"]
    prefix: tuple[int, ...] = eqx.field(static=True)
    symbols: int = eqx.field(static=True)

    @property
    def embedding(self) -> Float[Array, "symbols width"]:
        return self.model.tokens[: self.symbols]

    @property
    def decoder(self) -> Float[Array, " width"]:
        return _decoder(self.model)

    def hidden(self, entries: Float[Array, "step width"], activation: Any = activate) -> Float[Array, " width"]:
        """The residual stream after the last layer at the last position."""
        model = self.model
        before = model.tokens[jnp.array(self.prefix, jnp.int32)]
        start = jnp.concatenate([before, entries]) + model.positions[: len(self.prefix) + len(entries)]
        seen = seen_positions(model, len(start), jnp.asarray(len(start)))

        def step(stream: Array, layer: PlainTransformer) -> tuple[Array, None]:
            read = stream[None]
            after = stream + jnp.sum(layer.attend(read, read, read, seen), axis=0)
            units = activation(after @ layer.mlp_in + layer.mlp_bias, "relu")
            return after + units @ layer.mlp_out + layer.mlp_constant, None

        return jax.lax.scan(step, start, layers_of(model))[0][-1]


@output_network.register
def _transformer(network: TransformerAcceptor, absent: Absent) -> OutputNetwork:
    model, symbols = network.model, len(network.alphabet)
    nothing = absent_embedding(model.tokens[:symbols], absent)
    return TransformerOutput(model=model, absent=nothing, prefix=network.prefix, symbols=symbols)  # pyright: ignore


RECURRENT_ONLY, TRANSFORMER_ONLY = ("di_when_read", "di_shared"), ("di_cdt", "di_cdt_logits")
# Those of recurrent networks and of Transformers. A Transformer reads all symbols at once, so it has no state when the
# later of two has been read, and no cells or gates that other conventions could share out.
EVERY_MEASURE: dict[str, Measure] = {
    **{name: measure for name, measure in MEASURES.items() if name.startswith("di_")},
    "di_cdt": di_cdt,
    "di_cdt_logits": di_cdt_logits,
    **{name: measure for name, measure in MEASURES.items() if not name.startswith("di_")},
}
