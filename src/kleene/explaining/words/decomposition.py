"""Contextual decomposition (Murdoch et al. 2018): what some words of a sentence contribute to each hidden state."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from operator import itemgetter
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Int

from kleene.errors import InputError
from kleene.explaining.words.parts import Parts, Recurrence, advance, start_parts, transformer_trajectories
from kleene.explaining.words.sentences import (
    Model,
    Sentence,
    checked_layer,
    checked_model,
    checked_positions,
    decoder_of,
    padded,
    precision,
    read_sentences,
)
from kleene.explaining.words.sharing import PAPERS, Rules, checked_rules
from kleene.machines.transformer_lm import TransformerLM

SEGMENT = 8  # sentences are filled up to a multiple of this many steps, so that few lengths are compiled
ROWS = 256  # foci to a call at most

Network = Recurrence | TransformerLM


@dataclass(frozen=True)
class Decomposition:
    """A sentence's hidden states as relevant + irrelevant, after each token: [step, hidden], of one layer.

    The logits are parts too: `logits` + `irrelevant_logits` + the decoder's bias is what the model says. The bias
    belongs to no word and is in neither.
    """

    focus: tuple[int, ...]
    layer: int
    parts: Parts = field(repr=False)  # [step, layers, hidden]
    decoder: np.ndarray = field(repr=False)

    @property
    def relevant(self) -> np.ndarray:
        return np.asarray(self.parts.relevant.hidden[:, self.layer])

    @property
    def irrelevant(self) -> np.ndarray:
        return np.asarray(self.parts.irrelevant.hidden[:, self.layer])

    @property
    def relevant_cells(self) -> np.ndarray:
        """The relevant part of the cells; a simple recurrent network has none, and they are 0."""
        return np.asarray(self.parts.relevant.cell[:, self.layer])

    @property
    def irrelevant_cells(self) -> np.ndarray:
        return np.asarray(self.parts.irrelevant.cell[:, self.layer])

    @property
    def logits(self) -> np.ndarray:
        """What the words in focus add to each output: [step, outputs], always from the top layer."""
        return np.asarray(self.parts.relevant.hidden[:, -1]) @ self.decoder.T

    @property
    def irrelevant_logits(self) -> np.ndarray:
        return np.asarray(self.parts.irrelevant.hidden[:, -1]) @ self.decoder.T

    @property
    def probabilities(self) -> np.ndarray:
        """P(· | focus) after each token: the softmax of the relevant logits, as both papers define it."""
        logits = self.logits - self.logits.max(-1, keepdims=True)
        return np.exp(logits) / np.exp(logits).sum(-1, keepdims=True)


def decompose(
    model: Any, tokens: Sentence, focus: Iterable[int] | int, *, layer: int | None = None, rules: Rules = PAPERS
) -> Decomposition:
    """What the words in focus contribute to the hidden states of an LSTM, a floating `SimpleRNN` or a `TransformerLM`.

    `focus` is a set of positions. Row t of the result is the state after token t. Tokens that the vocabulary does not
    have are `<unk>`, if it has that, with a warning if most are; integers are token ids. The sum of the parts is the
    hidden state; parts of several foci do not add up, and by how much they miss is their interdependence.

    >>> from kleene.machines.lstm.lstm import LSTM
    >>> model = LSTM.random("ab", 4, key=jax.random.key(0))
    >>> found = decompose(model, "abba", {1, 2})
    >>> bool(np.allclose(found.relevant + found.irrelevant, model.hidden("abba")[1:, -1]))
    True
    >>> found.relevant[0].tolist()  # before the first word in focus
    [0.0, 0.0, 0.0, 0.0]
    """
    return decompose_batch(model, [tokens], [focus], layer=layer, rules=rules)[0]


def decompose_batch(
    model: Any,
    sentences: Sequence[Sentence],
    foci: Sequence[Iterable[int] | int],
    *,
    layer: int | None = None,
    rules: Rules = PAPERS,
) -> list[Decomposition]:
    """The decompositions of many sentences of unequal length, each with its focus, in jitted calls.

    For several foci of one sentence, give the sentence as often.
    """
    model, rules = checked_model(model), checked_rules(rules)
    if len(sentences) != len(foci):
        raise InputError(f"there are {len(sentences)} sentences and {len(foci)} foci; give a focus for each sentence")
    number, codes = checked_layer(model, layer), read_sentences(model, sentences)
    chosen = [checked_positions(focus, len(words)) for focus, words in zip(foci, codes)]
    decoder = decoder_of(model)
    found = []
    with precision(model):
        network = _weights(model)
        for first in range(0, len(codes), ROWS):
            some, theirs = codes[first : first + ROWS], chosen[first : first + ROWS]
            parts = jax.tree.map(np.asarray, _trajectories(network, rules, *_arrays(some, theirs)))
            for row, (words, focus) in enumerate(zip(some, theirs)):
                own = jax.tree.map(itemgetter((slice(len(words)), row)), parts)
                found.append(Decomposition(focus, number, own, decoder))
    return found


def states_at(
    model: Model,
    sentences: Sequence[np.ndarray],
    foci: Sequence[tuple[int, ...]],
    steps: Sequence[int],
    layer: int,
    rules: Rules,
) -> tuple[np.ndarray, np.ndarray]:
    """The relevant hidden state of each focus at one step of its own, and the whole one there: [focus, hidden] each.

    Sentences are codes.
    """
    found = []
    with precision(model):
        network = _weights(model)
        for first in range(0, len(foci), ROWS):
            some = slice(first, first + ROWS)
            tokens, in_focus = _arrays(sentences[some], foci[some])
            wanted = np.zeros(len(tokens), np.int32)
            wanted[: len(steps[some])] = steps[some]
            both = _at_steps(network, rules, tokens, in_focus, jnp.asarray(wanted))
            found.append(np.asarray(both)[:, : len(steps[some]), layer])
    relevant, whole = np.concatenate(found, axis=1)
    return relevant, whole


def _weights(model: Model) -> Network:
    """The weights without the vocabulary, so that networks share compiled code."""
    return replace(model, vocabulary=()) if isinstance(model, TransformerLM) else Recurrence.of(model)


def _arrays(sentences: Sequence[np.ndarray], foci: Sequence[tuple[int, ...]]) -> tuple[Array, Array]:
    """Tokens and whether each is in focus, filled up to few shapes: rows to a power of two, steps to segments."""
    rows = 1 << (len(sentences) - 1).bit_length()
    steps = -(-max(map(len, sentences)) // SEGMENT) * SEGMENT
    in_focus = np.zeros((rows, steps), bool)
    for row, focus in zip(in_focus, foci):
        row[list(focus)] = True
    return jnp.asarray(padded(sentences, rows, steps)), jnp.asarray(in_focus)


@eqx.filter_jit
def _trajectories(
    network: Network, rules: Rules, tokens: Int[Array, "batch step"], in_focus: Bool[Array, "batch step"]
) -> Parts:
    """The parts after each token: [step, batch, layers, hidden]."""
    if isinstance(network, TransformerLM):
        return transformer_trajectories(network, rules, tokens, in_focus)

    def step(parts, now):
        token, ours = now
        parts = advance(network, rules, parts, network.embedding[token], ours)
        return parts, parts

    return jax.lax.scan(step, start_parts(network, rules, len(tokens)), (tokens.T, in_focus.T))[1]


@eqx.filter_jit
def _at_steps(
    network: Network,
    rules: Rules,
    tokens: Int[Array, "batch step"],
    in_focus: Bool[Array, "batch step"],
    wanted: Int[Array, " batch"],
) -> Array:
    """The relevant and the whole hidden states at the wanted steps: [2, batch, layers, hidden]. No others are kept."""
    if isinstance(network, TransformerLM):
        every = _relevant_and_whole(transformer_trajectories(network, rules, tokens, in_focus))
        return every[:, wanted, jnp.arange(len(wanted))]

    def step(carry, now):
        parts, kept = carry
        number, token, ours = now
        parts = advance(network, rules, parts, network.embedding[token], ours)
        return (parts, jnp.where((number == wanted)[:, None, None], _relevant_and_whole(parts), kept)), None

    start = start_parts(network, rules, len(tokens))
    steps = (jnp.arange(tokens.shape[1]), tokens.T, in_focus.T)
    return jax.lax.scan(step, (start, jnp.zeros_like(_relevant_and_whole(start))), steps)[0][1]


def _relevant_and_whole(parts: Parts) -> Array:
    relevant = parts.relevant.hidden
    return jnp.stack([relevant, relevant + parts.irrelevant.hidden])
