"""Decompositional interdependence: how far two words' contributions together differ from the sum of each alone."""

from collections.abc import Callable, Iterable, Sequence
from itertools import combinations
from typing import Any, Literal

import jax
import jax.numpy as jnp
import numpy as np

from kleene.errors import InputError
from kleene.explaining.decomposition import relevant_states
from kleene.explaining.lstm_pairs import Question, advance_pairs, start_singles, widened
from kleene.explaining.parts import Recurrence
from kleene.explaining.rules import PAPERS, Rules
from kleene.explaining.sentences import (
    Recurrent,
    Sentence,
    checked_layer,
    checked_model,
    checked_sets,
    padded,
    precision,
    read_sentences,
)
from kleene.machines.lstm import LSTM

At = Literal["hidden", "logits"]
Step = Literal["last"] | int | None

LARGE = 20_000  # pairs; below this, fewer shapes to compile count for more than fewer rows to compute
# How many sentences up to a length go side by side, longer ones by themselves: on a CPU what stays in its caches.
ON_CPU = {32: 32, 512: 8}
ELSEWHERE = {128: 512, 1024: 64}


def interdependence(
    model: Any,
    tokens: Sentence,
    *,
    sets: Iterable[Any] | None = None,
    at: At = "hidden",
    step: Step = None,
    layer: int | None = None,
    rules: Rules = PAPERS,
) -> np.ndarray:
    """The interdependence of every two words of a sentence: symmetric, NaN on the diagonal.

    DI(A, B) = ‖h_AB − h_A − h_B‖ / ‖h_AB‖, where h_A is the relevant part of the hidden state with A in focus. It is
    taken when the later of the two has been read, or after token `step`, or at the "last". At "logits" the norms are
    those of the logits, without the decoder's bias; no array is as wide as the vocabulary. 0/0 is 0.

    With `sets`, disjoint sets of positions, the matrix is over the sets: spans, phrases, or any others.

    >>> model = LSTM.random("ab", 4, key=jax.random.key(0))
    >>> interdependence(model, "abba").shape
    (4, 4)
    >>> interdependence(model, "abba", sets=[(0, 1), (3,)]).shape
    (2, 2)
    """
    model = checked_model(model)
    if sets is None and step is None and _is_fast(model, rules):
        return interdependence_batch(model, [tokens], at=at, layer=layer, rules=rules)[0]
    codes = read_sentences(model, [tokens])[0]
    groups = [(i,) for i in range(len(codes))] if sets is None else checked_sets(sets, len(codes))
    return _between(model, codes, groups, _root(model, at, layer), _checked_step(step, len(codes)), layer, rules)


def interdependence_batch(
    model: Any,
    sentences: Iterable[Sentence],
    *,
    at: At = "hidden",
    layer: int | None = None,
    rules: Rules = PAPERS,
    progress: Callable[[int, int], None] | None = None,
) -> list[np.ndarray]:
    """The matrix of each of many sentences of unequal length; `progress(done, all)` is told of finished sentences.

    Sentences of about the same length go side by side; padding and order change nothing.
    """
    model = checked_model(model)
    codes, number = read_sentences(model, sentences), checked_layer(model, layer)
    root, found = _root(model, at, layer), [np.zeros((0, 0))] * len(codes)
    if not _is_fast(model, rules):
        for place, words in enumerate(codes):
            groups = [(i,) for i in range(len(words))]
            found[place] = _between(model, words, groups, root, None, layer, rules)
            if progress:
                progress(place + 1, len(codes))
        return found
    with precision(model):
        asked = Question.about(Recurrence.of(model), rules, number, root)
        finished = 0
        for places in _side_by_side([len(words) for words in codes]):
            matrices = _all_pairs(asked, [codes[place] for place in places], _is_large(codes))
            for place, matrix in zip(places, matrices):
                found[place] = matrix
            finished += len(places)
            if progress:
                progress(finished, len(codes))
    return found


def _is_fast(model: Recurrent, rules: Rules) -> bool:
    """Whether pairs can branch off single words: an LSTM in which nothing is relevant before a word in focus."""
    return isinstance(model, LSTM) and rules.wakes_at_focus


def _is_large(codes: Sequence[np.ndarray]) -> bool:
    return sum(len(words) ** 2 for words in codes) > 2 * LARGE


def _side_by_side(lengths: Sequence[int]) -> list[list[int]]:
    """The places of sentences of about one length in groups, short ones first."""
    sizes = ON_CPU if jax.default_backend() == "cpu" else ELSEWHERE
    left, groups = sorted(range(len(lengths)), key=lengths.__getitem__, reverse=True), []
    while left:
        size = next((batch for longest, batch in sizes.items() if lengths[left[0]] <= longest), 1)
        groups.append(left[:size])
        left = left[size:]
    return groups[::-1]


def _all_pairs(asked: Question, codes: list[np.ndarray], large: bool) -> list[np.ndarray]:
    """The matrices of a few sentences, one jitted call a step; what is compiled depends on the room for words only."""
    batch, steps = 1 << (len(codes) - 1).bit_length(), max(map(len, codes))
    tokens = padded(codes, batch, steps)
    singles, rows = start_singles(asked.network, batch), []
    for number in range(steps):
        room = _room(number + 1, large)
        if room != singles.relevant[0].hidden.shape[0]:
            singles = widened(singles, room)
        singles, found = advance_pairs(asked, singles, jnp.asarray(tokens[:, number]), jnp.asarray(number))
        rows.append(found)
    matrices = [np.full((len(words), len(words)), np.nan, rows[0].dtype) for words in codes]
    for number, row in enumerate(map(np.asarray, rows)):
        for column, matrix in enumerate(matrices):
            if number < len(matrix):
                matrix[number, :number] = matrix[:number, number] = row[:number, column]
    return matrices


def _room(words: int, large: bool) -> int:
    """For how many words there is room in the arrays: in a large job a quarter is lost at most, else about half."""
    grain = max(4, 1 << words.bit_length() >> 3) if large else max(8, 1 << words.bit_length() >> 1)
    return -(-words // grain) * grain


def _between(
    model: Recurrent,
    codes: np.ndarray,
    groups: list[tuple[int, ...]],
    root: np.ndarray | None,
    step: int | None,
    layer: int | None,
    rules: Rules,
) -> np.ndarray:
    """The matrix over sets of words at any step, each focus by itself."""
    number, pairs = checked_layer(model, layer), list(combinations(range(len(groups)), 2))
    matrix = np.full((len(groups), len(groups)), np.nan)
    if not pairs:
        return matrix
    when = [max((*groups[a], *groups[b]), default=0) if step is None else step for a, b in pairs]
    # A single set is asked for once at every step at which it is needed.
    wanted = sorted(
        {(groups[a], t) for (a, b), t in zip(pairs, when)} | {(groups[b], t) for (a, b), t in zip(pairs, when)}
    )
    unions = [(tuple(sorted(groups[a] + groups[b])), t) for (a, b), t in zip(pairs, when)]
    foci, steps = zip(*wanted, *unions)
    states = relevant_states(model, [codes] * len(foci), foci, steps, number, rules)
    alone = dict(zip(wanted, states))
    for (a, b), t, both in zip(pairs, when, states[len(wanted) :]):
        missed = both - alone[groups[a], t] - alone[groups[b], t]
        matrix[a, b] = matrix[b, a] = _ratio(missed, both, root)
    return matrix


def _ratio(missed: np.ndarray, both: np.ndarray, root: np.ndarray | None) -> float:
    if root is not None:
        missed, both = root @ missed, root @ both
    above, below = float(np.linalg.norm(missed)), float(np.linalg.norm(both))
    return 0.0 if above == 0 else float(np.divide(above, below))


def _root(model: Recurrent, at: At, layer: int | None) -> np.ndarray | None:
    """A root R of the decoder's Gram matrix, RᵀR = WᵀW, so that ‖W d‖ = ‖R d‖; it is no larger than hidden × hidden."""
    if at == "hidden":
        return None
    if at != "logits":
        raise InputError(f"interdependence is taken at 'hidden' or at 'logits', not at {at!r}")
    if checked_layer(model, layer) != checked_layer(model, None):
        raise InputError(f"layer={layer} has no logits: the decoder reads the top layer, so leave `layer` out")
    decoder: Any = model.decoder if isinstance(model, LSTM) else model.readout
    return np.asarray(np.linalg.qr(np.asarray(decoder), mode="r"))


def _checked_step(step: Step, length: int) -> int | None:
    if step is None or (isinstance(step, int) and 0 <= step < length):
        return step
    if step == "last":
        return length - 1
    raise InputError(
        f"the step is {step!r}; it can be a position 0..{length - 1}, 'last', or None for the later word's"
    )
