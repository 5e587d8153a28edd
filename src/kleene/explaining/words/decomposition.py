"""Contextual decomposition (Murdoch et al. 2018): what some words of a sentence contribute to each hidden state."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from operator import itemgetter
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array

from kleene.errors import InputError
from kleene.explaining.words.parts import Decomposable, Network, Parts, decomposable, precision
from kleene.explaining.words.sentences import Index, Sentence, checked_layer, checked_positions, padded, read_sentences
from kleene.explaining.words.sharing import PAPERS, Sharing, checked_sharing
from kleene.explaining.words.starts import Start, started
from kleene.machines.lstm.lstm import Memory

SEGMENT = 8  # sentences are padded to a multiple of this many steps, so that few lengths are compiled
ROWS = 256  # foci per call, at most
READ = 64  # words per call that are read before a sentence


@dataclass(frozen=True)
class Decomposition:
    """One layer's hidden states after each token as relevant + irrelevant, each [step, hidden].

    The logits have the same parts: `logits` + `irrelevant_logits` + the decoder's bias are the model's logits. The
    bias belongs to no word and is in neither part.
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
        """P(· | focus) after each token: the softmax of the relevant logits, as in Saphra & Lopez 2020."""
        logits = self.logits - self.logits.max(-1, keepdims=True)
        return np.exp(logits) / np.exp(logits).sum(-1, keepdims=True)


def decompose(
    model: Any,
    tokens: Sentence,
    focus: Iterable[int] | int,
    *,
    layer: Index | None = None,
    sharing: Sharing = PAPERS,
    start: Start = None,
) -> Decomposition:
    """What the words in focus contribute to the hidden states of an LSTM, a floating `SimpleRNN` or a `TransformerLM`.

    `focus` is a set of positions. Row t of the result is the state after token t. Unknown tokens are read as `<unk>` if
    the vocabulary has it, with a warning if most are unknown; integers are token ids. The two parts add up to the
    hidden state. The relevant parts of several foci do not add up, and how far they miss is their interdependence.

    A recurrent network begins in its own start, or in `start`, such as `state_after` gives. That state is irrelevant,
    unless `Sharing(start="relevant")` counts it to the focus.

    >>> from kleene.machines.lstm.lstm import LSTM
    >>> model = LSTM.random("ab", 4, key=jax.random.key(0))
    >>> found = decompose(model, "abba", {1, 2})
    >>> bool(np.allclose(found.relevant + found.irrelevant, model.hidden("abba")[1:, -1]))
    True
    >>> found.relevant[0].tolist()  # before the first word in focus
    [0.0, 0.0, 0.0, 0.0]
    """
    return decompose_batch(model, [tokens], [focus], layer=layer, sharing=sharing, start=start)[0]


def decompose_batch(
    model: Any,
    sentences: Sequence[Sentence],
    foci: Sequence[Iterable[int] | int],
    *,
    layer: Index | None = None,
    sharing: Sharing = PAPERS,
    start: Start = None,
) -> list[Decomposition]:
    """The decompositions of many sentences of unequal length, each with its focus, in jitted calls.

    For several foci of one sentence, repeat the sentence. All sentences begin in the same `start`.
    """
    about, sharing = started(decomposable(model), start), checked_sharing(sharing)
    if len(sentences) != len(foci):
        raise InputError(f"there are {len(sentences)} sentences and {len(foci)} foci; give a focus for each sentence")
    number, codes = checked_layer(about, layer), read_sentences(about, sentences)
    chosen = [checked_positions(focus, len(words)) for focus, words in zip(foci, codes)]
    found = []
    with precision(about.dtype):
        for first in range(0, len(codes), ROWS):
            some, theirs = codes[first : first + ROWS], chosen[first : first + ROWS]
            parts = jax.tree.map(np.asarray, _trajectories(about.network, sharing, *_arrays(some, theirs)))
            for row, (words, focus) in enumerate(zip(some, theirs)):
                own = jax.tree.map(itemgetter((slice(len(words)), row)), parts)
                found.append(Decomposition(focus, number, own, np.asarray(about.decoder)))
    return found


def state_after(model: Any, tokens: Sentence, *, start: Start = None) -> Memory:
    """The hidden states and cells of a recurrent network that has read a text: a `start` for a sentence after it.

    >>> from kleene.machines.lstm.lstm import LSTM
    >>> model = LSTM.random("ab", 4, key=jax.random.key(0))
    >>> later = decompose(model, "ba", {0}, start=state_after(model, "ab"))
    >>> bool(np.allclose(later.relevant, decompose(model, "abba", {2}).relevant[2:], atol=1e-6))
    True
    """
    about = started(decomposable(model), start)
    (codes,) = read_sentences(about, [tokens])
    for first in range(0, len(codes), READ):
        about = started(about, _after_words(about, codes[first : first + READ]))
    assert about.recurrence is not None
    return about.recurrence.start


def _after_words(about: Decomposable, codes: np.ndarray) -> Memory:
    """The state after a few words. With nothing in focus, all of it is irrelevant."""
    with precision(about.dtype):
        parts = _trajectories(about.network, PAPERS, *_arrays([codes], [()]))
    return jax.tree.map(lambda states: np.asarray(states)[len(codes) - 1, 0], parts.irrelevant)


def states_at(
    about: Decomposable,
    sentences: Sequence[np.ndarray],
    foci: Sequence[tuple[int, ...]],
    steps: Sequence[int],
    layer: int,
    sharing: Sharing,
) -> tuple[np.ndarray, np.ndarray]:
    """The relevant and the whole hidden state of each focus at its own step: [focus, hidden] each.

    Sentences are codes.
    """
    found = []
    with precision(about.dtype):
        for first in range(0, len(foci), ROWS):
            some = slice(first, first + ROWS)
            tokens, in_focus = _arrays(sentences[some], foci[some])
            wanted = np.zeros(len(tokens), np.int32)
            wanted[: len(steps[some])] = steps[some]
            both = _at_steps(about.network, sharing, tokens, in_focus, jnp.asarray(wanted))
            found.append(np.asarray(both)[:, : len(steps[some]), layer])
    relevant, whole = np.concatenate(found, axis=1)
    return relevant, whole


def _arrays(sentences: Sequence[np.ndarray], foci: Sequence[tuple[int, ...]]) -> tuple[Array, Array]:
    """Tokens and whether each is in focus, padded to few shapes: rows to a power of two, steps to segments."""
    rows = 1 << (len(sentences) - 1).bit_length()
    steps = -(-max(map(len, sentences)) // SEGMENT) * SEGMENT
    in_focus = np.zeros((rows, steps), bool)
    for row, focus in zip(in_focus, foci):
        row[list(focus)] = True
    return jnp.asarray(padded(sentences, rows, steps)), jnp.asarray(in_focus)


@eqx.filter_jit
def _trajectories(network: Network, sharing: Sharing, tokens: Array, in_focus: Array) -> Parts:
    return network.trajectories(sharing, tokens, in_focus)


@eqx.filter_jit
def _at_steps(network: Network, sharing: Sharing, tokens: Array, in_focus: Array, wanted: Array) -> Array:
    return network.at_steps(sharing, tokens, in_focus, wanted)
