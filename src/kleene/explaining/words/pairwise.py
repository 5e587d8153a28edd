"""Decompositional interdependence (Saphra & Lopez 2020): how far two words together differ from the sum of each."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import combinations, groupby
from typing import Any, Literal

import jax
import numpy as np

from kleene.errors import InputError
from kleene.explaining.words.decomposition import states_at
from kleene.explaining.words.lstm_pairs import Question, all_pairs, pack
from kleene.explaining.words.parts import Decomposable, decomposable, precision
from kleene.explaining.words.sentences import Index, Sentence, checked_layer, checked_sets, read_sentences
from kleene.explaining.words.sharing import PAPERS, Sharing, checked_sharing, floor_of
from kleene.explaining.words.starts import Start, started

At = Literal["hidden", "logits"]
Step = Literal["last"] | Index | None


@dataclass(frozen=True)
class Buckets:
    """Padding buckets, so that few shapes are compiled: rows of trajectories, and steps of a row of words.

    A job of more than `large` words is packed into arrays of the full size. A job of at most `plain` multiplications is
    done in numpy, because compiling would take longer.
    """

    rows: int
    steps: int = 48
    large: int = 2_000
    plain: int = 1 << 27

    def shape(self, longest: int, sentences: int, large: bool) -> tuple[int, int, int]:
        """Rows of words, steps of each, and rows of trajectories, for sentences of up to this length.

        >>> ON_CPU.shape(20, 1, False), ON_CPU.shape(20, 500, True), ON_CPU.shape(100, 500, True)
        ((1, 32, 16), (16, 48, 256), (4, 192, 256))
        """
        steps = _rounded(longest, self.steps, 4) if large else _rounded(longest, 8, 2)
        if large:
            return max(1, 3 * self.rows // steps), steps, max(self.rows, steps // 2)
        batch = min(_rounded(sentences, 1, 2), max(1, 2 * self.rows // steps))
        return batch, steps, batch * steps // 2


def _rounded(count: int, least: int, growth: int) -> int:
    size = least
    while size < count:
        size *= growth
    return size


ON_CPU = Buckets(rows=256)  # small enough for the caches
ELSEWHERE = Buckets(rows=8_192)  # large enough to keep a GPU busy


def interdependence(
    model: Any,
    tokens: Sentence,
    *,
    sets: Iterable[Any] | None = None,
    at: At = "hidden",
    step: Step = None,
    layer: Index | None = None,
    sharing: Sharing = PAPERS,
    start: Start = None,
) -> np.ndarray:
    """The interdependence of every two words of a sentence: symmetric, NaN on the diagonal.

    DI(A, B) = ‖h_AB − h_A − h_B‖ / ‖h_AB‖, where h_A is the relevant part of the hidden state with A in focus. It is
    taken when the later of the two has been read, or after token `step`, or after the "last" one. At "logits" the norms
    are those of the logits, without the decoder's bias; no array is as wide as the vocabulary. 0/0 is 0, and so is a
    value that rounding alone may have made: about 1e-6 in single precision (`kleene.explaining.words.sharing`).

    With `sets`, disjoint sets of positions such as phrases, the matrix is over the sets. With `start`, the network
    begins in that state, as in `decompose`.

    >>> from kleene.machines.lstm.lstm import LSTM
    >>> model = LSTM.random("ab", 4, key=jax.random.key(0))
    >>> interdependence(model, "abba").shape
    (4, 4)
    >>> interdependence(model, "abba", sets=[(0, 1), (3,)]).shape
    (2, 2)
    """
    about, sharing = started(decomposable(model), start), checked_sharing(sharing)
    if sets is None and step is None and about.branch_off and sharing.wakes_at_focus:
        return interdependence_batch(model, [tokens], at=at, layer=layer, sharing=sharing, start=start)[0]
    codes = read_sentences(about, [tokens])[0]
    groups = [(i,) for i in range(len(codes))] if sets is None else checked_sets(sets, len(codes))
    return _between(about, codes, groups, _root(about, at, layer), _checked_step(step, len(codes)), layer, sharing)


def interdependence_batch(
    model: Any,
    sentences: Iterable[Sentence],
    *,
    at: At = "hidden",
    layer: Index | None = None,
    sharing: Sharing = PAPERS,
    start: Start = None,
    progress: Callable[[int, int], None] | None = None,
    buckets: Buckets | None = None,
) -> list[np.ndarray]:
    """The matrix of each of many sentences of unequal length; `progress(done, all)` counts finished sentences.

    Sentences of about the same length are batched; padding and order do not change the results. All sentences begin in
    the same `start`.
    """
    about, sharing = started(decomposable(model), start), checked_sharing(sharing)
    codes, found = read_sentences(about, sentences), {}
    for places, matrices in _in_turn(about, codes, at, layer, sharing, buckets):
        found |= zip(places, matrices)
        if progress:
            progress(len(found), len(codes))
    return [found[place] for place in range(len(codes))]


Matrices = Iterator[tuple[list[int], list[np.ndarray]]]  # places of some sentences, and their matrices


def _in_turn(
    about: Decomposable, codes: list[np.ndarray], at: At, layer: Index | None, sharing: Sharing, buckets: Buckets | None
) -> Matrices:
    number, root = checked_layer(about, layer), _root(about, at, layer)
    if not (about.branch_off and sharing.wakes_at_focus):
        for place, words in enumerate(codes):
            groups = [(i,) for i in range(len(words))]
            yield [place], [_between(about, words, groups, root, None, layer, sharing)]
    elif codes:
        with precision(about.dtype):
            yield from _all_pairs(Question(about.recurrence, root, sharing, number), codes, buckets)


def _all_pairs(asked: Question, codes: list[np.ndarray], buckets: Buckets | None) -> Matrices:
    """All pairs by the trajectories of single words, in numpy or compiled; short sentences come first."""
    buckets = buckets or (ON_CPU if jax.default_backend() == "cpu" else ELSEWHERE)
    lengths = [len(words) for words in codes]
    if asked.multiplications * sum(n * (n - 1) // 2 for n in lengths) <= buckets.plain:
        everything = pack(codes, len(codes), max(lengths), sum((n + 1) // 2 for n in lengths))
        yield list(range(len(codes))), all_pairs(jax.tree.map(np.asarray, asked), everything, compiled=False)
        return
    large = sum(lengths) > buckets.large
    steps = {length: buckets.shape(length, 1, large)[1] for length in set(lengths)}
    by_length = sorted(range(len(codes)), key=lengths.__getitem__)
    for _, alike in groupby(by_length, key=lambda place: steps[lengths[place]]):
        left = list(alike)
        shape = buckets.shape(lengths[left[-1]], len(left), large)
        while left:
            packed = pack([codes[place] for place in left], *shape)
            done, left = left[: len(packed.lengths)], left[len(packed.lengths) :]
            yield done, all_pairs(asked, packed, compiled=True)


def _between(
    about: Decomposable,
    codes: np.ndarray,
    groups: list[tuple[int, ...]],
    root: np.ndarray | None,
    step: int | None,
    layer: Index | None,
    sharing: Sharing,
) -> np.ndarray:
    """The matrix over sets of words at any step, with a decomposition for each focus."""
    number, pairs = checked_layer(about, layer), list(combinations(range(len(groups)), 2))
    matrix = np.full((len(groups), len(groups)), np.nan)
    if not pairs:
        return matrix
    when = [max((*groups[a], *groups[b]), default=0) if step is None else step for a, b in pairs]
    # A single set is decomposed once for every step at which it is needed.
    wanted = sorted(
        {(groups[a], t) for (a, b), t in zip(pairs, when)} | {(groups[b], t) for (a, b), t in zip(pairs, when)}
    )
    unions = [(tuple(sorted(groups[a] + groups[b])), t) for (a, b), t in zip(pairs, when)]
    foci, steps = zip(*wanted, *unions)
    states, whole = states_at(about, [codes] * len(foci), foci, steps, number, sharing)
    alone = dict(zip(wanted, states))
    for (a, b), t, both, state in zip(pairs, when, states[len(wanted) :], whole[len(wanted) :]):
        missed = both - alone[groups[a], t] - alone[groups[b], t]
        matrix[a, b] = matrix[b, a] = _ratio(missed, both, state, root)
    return matrix


def _ratio(missed: np.ndarray, both: np.ndarray, state: np.ndarray, root: np.ndarray | None) -> float:
    """‖missed‖ / ‖both‖; 0 where the upper norm is below the floor, and 0/0 is 0."""
    above, below, whole = (
        float(np.linalg.norm(side if root is None else root @ side)) for side in (missed, both, state)
    )
    return 0.0 if above <= floor_of(both.dtype) * whole else float(np.divide(above, below))


def _root(about: Decomposable, at: At, layer: Index | None) -> np.ndarray | None:
    """A root R of the decoder's Gram matrix, at most hidden × hidden: RᵀR = WᵀW, so ‖W d‖ = ‖R d‖."""
    if at == "hidden":
        return None
    if at != "logits":
        raise InputError(f"interdependence is taken at 'hidden' or at 'logits', not at {at!r}")
    if checked_layer(about, layer) != checked_layer(about, None):
        raise InputError(f"layer={layer} has no logits: the decoder reads the top layer, so leave `layer` out")
    return np.asarray(np.linalg.qr(np.asarray(about.decoder), mode="r"))


def _checked_step(step: Step, length: int) -> int | None:
    if step is None:
        return None
    if isinstance(step, int | np.integer) and not isinstance(step, bool) and 0 <= step < length:
        return int(step)
    if step == "last":
        return length - 1
    raise InputError(
        f"the step is {step!r}; it can be a position 0..{length - 1}, 'last', or None for the later word's"
    )
