"""Simpler measures of how two words of a sentence interact in a network, as baselines for interdependence.

Erasure and gradient × input are matrices like `interdependence`: symmetric, NaN on the diagonal, taken at the top
layer's hidden state when the later word has been read. Mutual information is counted in a corpus and needs no network.
An untrained network and shuffled sentences are baselines too: call the same functions on them. For all pairs of many
sentences see `kleene.explaining.words.baseline_pairs`.
"""

from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import combinations
from math import log
from typing import Any, Literal

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int

from kleene.errors import InputError
from kleene.explaining.words.parts import Decomposable, Recurrence, decomposable, precision
from kleene.explaining.words.sentences import UNKNOWN, Sentence, read_sentences
from kleene.explaining.words.sharing import floor_of
from kleene.explaining.words.starts import Start, started
from kleene.machines.rnn.execution import activate

SEGMENT = 8  # sentences are padded to a multiple of this many steps
ROWS = 128  # pairs per jitted call

Entries = Float[Array, "step width"]


def erasure(
    model: Any, tokens: Sentence, *, by: Literal["zero", "unknown"] = "zero", start: Start = None
) -> np.ndarray:
    """How far erasing two words differs from erasing each: ‖h − h₋A − h₋B + h₋AB‖ / ‖h‖.

    An erased word has an embedding of zeros, or that of `<unk>` if `by` is "unknown". The network begins in `start` if
    one is given.

    >>> from kleene.machines.lstm.lstm import LSTM
    >>> erasure(LSTM.random("ab", 4, key=jax.random.key(0)), "abb").shape
    (3, 3)
    """
    about = started(decomposable(model), start)
    if by not in ("zero", "unknown"):
        raise InputError(f"words are erased by 'zero' or by 'unknown', not by {by!r}")
    if by == "unknown" and UNKNOWN not in about.alphabet:
        raise InputError(
            f"the model's vocabulary has no {UNKNOWN!r} to erase words by; leave out `by` to erase them by zeros"
        )
    place = about.alphabet.index(UNKNOWN) if by == "unknown" else None
    return _matrix(about, tokens, partial(_erasures, place))


def gradient_times_input(model: Any, tokens: Sentence, *, start: Start = None) -> np.ndarray:
    """How the two words' embeddings multiply in the hidden state, to second order: ‖∂²h / ∂a ∂b‖ / ‖h‖.

    a and b scale the two embeddings, and the derivative is taken at a = b = 1. It is the mixed second derivative
    applied to both embeddings, as gradient × input is the first derivative applied to one. It is 0 for a network that
    only adds its words up.
    """
    return _matrix(started(decomposable(model), start), tokens, _mixed_derivatives)


def _matrix(about: Decomposable, tokens: Sentence, measure: Callable[..., Any]) -> np.ndarray:
    """A measure of every pair of words, `ROWS` pairs per jitted call."""
    if about.recurrence is None:
        raise InputError("this is defined for an LSTM or a SimpleRNN, and not yet for a TransformerLM")
    codes = read_sentences(about, [tokens])[0]
    matrix = np.full((len(codes), len(codes)), np.nan)
    pairs = np.array(list(combinations(range(len(codes)), 2)), np.int32).reshape(-1, 2)
    with precision(about.dtype):
        steps = np.pad(codes, (0, -len(codes) % SEGMENT))
        for first in range(0, len(pairs), ROWS):
            some = pairs[first : first + ROWS]
            values = np.asarray(measure(about.recurrence, steps, np.pad(some, ((0, ROWS - len(some)), (0, 0)))))[
                : len(some)
            ]
            matrix[some[:, 0], some[:, 1]] = matrix[some[:, 1], some[:, 0]] = values
    return matrix


@eqx.filter_jit
def _erasures(
    place: int | None, network: Recurrence, tokens: Int[Array, " step"], pairs: Int[Array, "pairs 2"]
) -> Float[Array, " pairs"]:
    entries = network.embedding[tokens]
    erased = jnp.zeros_like(entries[0]) if place is None else network.embedding[place]

    def without(*words: Array) -> Entries:
        gone = jnp.isin(jnp.arange(len(tokens)), jnp.stack(words))
        return jnp.where(gone[:, None], erased, entries)

    def interaction(pair: Array) -> Array:
        one, other = pair
        versions = jnp.stack([entries, without(one), without(other), without(one, other)])
        whole, first, second, both = jax.vmap(hidden_after, (None, 0, None))(network, versions, other)
        return relative(whole - first - second + both, whole)

    return jax.vmap(interaction)(pairs)


@eqx.filter_jit
def _mixed_derivatives(
    network: Recurrence, tokens: Int[Array, " step"], pairs: Int[Array, "pairs 2"]
) -> Float[Array, " pairs"]:
    entries = network.embedding[tokens]
    unscaled = jnp.ones(len(tokens), entries.dtype)

    def interaction(pair: Array) -> Array:
        one, other = jnp.eye(len(tokens), dtype=entries.dtype)[pair]

        def state(scales: Array) -> Array:
            return hidden_after(network, scales[:, None] * entries, pair[1])

        def change(scales: Array) -> Array:
            return jax.jvp(state, (scales,), (one,))[1]

        return relative(jax.jvp(change, (unscaled,), (other,))[1], state(unscaled))

    return jax.vmap(interaction)(pairs)


def relative(interaction: Float[Array, " hidden"], whole: Float[Array, " hidden"]) -> Float[Array, ""]:
    """‖interaction‖ / ‖whole‖; 0 where rounding alone may have made it."""
    above, below = jnp.linalg.norm(interaction), jnp.linalg.norm(whole)
    return jnp.where(above <= floor_of(whole.dtype) * below, 0, above / below)


def hidden_after(
    network: Recurrence, entries: Entries, last: Int[Array, ""] | int, activation: Callable[..., Any] = activate
) -> Float[Array, " hidden"]:
    """The top layer's hidden state after token `last`; `activation` is that of a simple recurrent network."""

    def step(carry: Any, now: Any) -> tuple[Any, None]:
        states, kept = carry
        number, entry = now
        after = states_after(network, states, entry, activation)
        return (after, jnp.where(number == last, after[-1][0], kept)), None

    start = (start_states(network), jnp.zeros_like(network.start.hidden[0]))
    return jax.lax.scan(step, start, (jnp.arange(len(entries)), entries))[0][1]


def start_states(network: Recurrence) -> list[tuple[Array, Array]]:
    """The hidden state and the cells of each layer before the first token."""
    return list(zip(network.start.hidden, network.start.cell))


def states_after(
    network: Recurrence,
    states: list[tuple[Array, Array]],
    entry: Float[Array, " width"],
    activation: Callable[..., Any] = activate,
    change: Callable[[int, Array], Array] | None = None,
) -> list[tuple[Array, Array]]:
    """The hidden state and the cells of each layer after one more token.

    `change` is called with the number of each layer and its hidden state, and returns the state that is read.
    """
    after = []
    for number, (layer, (hidden, cell)) in enumerate(zip(network.layers, states)):
        if network.kind == "lstm":
            hidden, cell = layer(hidden, cell, entry)
        else:
            hidden = activation(layer.recurrent @ hidden + layer.inputs @ entry + layer.bias, network.kind)
        hidden = hidden if change is None else change(number, hidden)
        after.append((hidden, cell))
        entry = hidden
    return after


@dataclass(frozen=True)
class MutualInformation:
    """The mutual information of words `distance` apart in a corpus, in nats. Probabilities are its frequencies.

    Rare pairs have a high value by accident; `at_least` leaves them out.
    """

    distance: int
    pairs: Counter[tuple[Hashable, Hashable]] = field(repr=False)
    left: Counter[Hashable] = field(repr=False)
    right: Counter[Hashable] = field(repr=False)

    @property
    def count(self) -> int:
        """How many pairs were counted."""
        return self.left.total()

    @property
    def mean(self) -> float:
        """The mutual information of the two words: the mean of the pointwise values, never below 0."""
        return sum(n * self._pointwise(one, other) for (one, other), n in self.pairs.items()) / self.count

    def pointwise(self, one: Hashable, other: Hashable, *, at_least: int = 1) -> float:
        """log p(one, other) / (p(one) p(other)), where `one` is the left word; NaN for pairs that are too rare."""
        return self._pointwise(one, other) if self.pairs[one, other] >= max(1, at_least) else float("nan")

    def _pointwise(self, one: Hashable, other: Hashable) -> float:
        return log(self.pairs[one, other] * self.count / (self.left[one] * self.right[other]))


def mutual_information(sentences: Iterable[Sequence[Hashable]], distance: int) -> MutualInformation:
    """The statistics of all pairs of words that stand `distance` apart in one sentence.

    >>> found = mutual_information([["a", "b"], ["c", "d"]], 1)
    >>> round(found.pointwise("a", "b"), 4), round(found.mean, 4)
    (0.6931, 0.6931)
    """
    return mutual_informations(sentences, [distance])[0]


def mutual_informations(sentences: Iterable[Sequence[Hashable]], distances: Sequence[int]) -> list[MutualInformation]:
    """The statistics at several distances, in one pass over the corpus."""
    for distance in distances:
        if not isinstance(distance, int) or distance < 1:
            raise InputError(f"the distance is {distance!r}; it is a whole number from 1 on")
    counters: list[Any] = [(Counter(), Counter(), Counter()) for _ in distances]
    for sentence in sentences:
        for distance, (pairs, left, right) in zip(distances, counters):
            pairs.update(zip(sentence, sentence[distance:]))
            left.update(sentence[: max(0, len(sentence) - distance)])
            right.update(sentence[distance:])
    for distance, (pairs, _, _) in zip(distances, counters):
        if not pairs:
            raise InputError(f"no sentence has two words at distance {distance}: there is nothing to count")
    return [MutualInformation(distance, *found) for distance, found in zip(distances, counters)]


def information_matrix(
    sentence: Sequence[Hashable], statistics: Sequence[MutualInformation], *, at_least: int = 1
) -> np.ndarray:
    """The pointwise mutual information of every two words of a sentence; NaN where no statistics are given."""
    matrix = np.full((len(sentence), len(sentence)), np.nan)
    for one in statistics:
        for left, right in zip(range(len(sentence)), range(one.distance, len(sentence))):
            value = one.pointwise(sentence[left], sentence[right], at_least=at_least)
            matrix[left, right] = matrix[right, left] = value
    return matrix
