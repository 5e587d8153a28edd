"""Decompositional interdependence: how far two words' contributions together differ from the sum of each alone."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any, Literal

import jax
import numpy as np

from kleene.errors import InputError
from kleene.explaining.words.decomposition import states_at
from kleene.explaining.words.lstm_pairs import Question, first_of, meet, read_words
from kleene.explaining.words.parts import Recurrence
from kleene.explaining.words.sentences import (
    Model,
    Sentence,
    checked_layer,
    checked_model,
    checked_sets,
    decoder_of,
    padded,
    precision,
    read_sentences,
)
from kleene.explaining.words.sharing import PAPERS, Rules, checked_rules, floor_of
from kleene.machines.lstm.lstm import LSTM

At = Literal["hidden", "logits"]
Step = Literal["last"] | int | None

LARGE = 2_000  # words; in a larger job all arrays have room for as many as go side by side, so that few are compiled


@dataclass(frozen=True)
class Sizes:
    """The sizes of arrays, of which each is compiled anew: how many words go side by side, from how many rows on, and
    by how much each size is larger than the one before (2 is also 1.5 where that pays)."""

    words: int
    rows: int
    growth: int

    def rounded(self, count: int, least: int = 8, fine: bool = False) -> int:
        """The next larger size.

        >>> [ON_CPU.rounded(n) for n in (1, 9, 20, 40)], ON_CPU.rounded(20, fine=True), ELSEWHERE.rounded(20)
        ([8, 16, 32, 64], 24, 32)
        """
        size = least
        while size < count:
            size *= self.growth
        half_way = size // 4 * 3
        return half_way if fine and self.growth == 2 and least <= half_way >= count else size


ON_CPU = Sizes(words=512, rows=8, growth=2)  # what stays in its caches
ELSEWHERE = Sizes(words=16_384, rows=1_024, growth=4)  # what keeps it busy; compiling takes long there


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
    those of the logits, without the decoder's bias; no array is as wide as the vocabulary. 0/0 is 0, and so is what
    rounding alone may have made (`kleene.explaining.words.pairwise`): about 1e-6 in single precision.

    With `sets`, disjoint sets of positions, the matrix is over the sets: spans, phrases, or any others.

    >>> model = LSTM.random("ab", 4, key=jax.random.key(0))
    >>> interdependence(model, "abba").shape
    (4, 4)
    >>> interdependence(model, "abba", sets=[(0, 1), (3,)]).shape
    (2, 2)
    """
    model, rules = checked_model(model), checked_rules(rules)
    if sets is None and step is None and pairs_branch_off(model, rules):
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
    model, rules = checked_model(model), checked_rules(rules)
    codes, number = read_sentences(model, sentences), checked_layer(model, layer)
    root, found = _root(model, at, layer), [np.zeros((0, 0))] * len(codes)
    if not pairs_branch_off(model, rules):
        for place, words in enumerate(codes):
            groups = [(i,) for i in range(len(words))]
            found[place] = _between(model, words, groups, root, None, layer, rules)
            if progress:
                progress(place + 1, len(codes))
        return found
    with precision(model):
        assert isinstance(model, LSTM)
        asked = Question.about(Recurrence.of(model), rules, number, root)
        finished, sizes, large = 0, _sizes(), sum(map(len, codes)) > LARGE
        for places in _side_by_side([len(words) for words in codes], sizes, large):
            matrices = _all_pairs(asked, [codes[place] for place in places], sizes, large)
            for place, matrix in zip(places, matrices):
                found[place] = matrix
            finished += len(places)
            if progress:
                progress(finished, len(codes))
    return found


def pairs_branch_off(model: Model, rules: Rules = PAPERS) -> bool:
    """Whether pairs can branch off single words: an LSTM in which nothing is relevant before a word in focus."""
    return isinstance(model, LSTM) and rules.wakes_at_focus


def _sizes() -> Sizes:
    return ON_CPU if jax.default_backend() == "cpu" else ELSEWHERE


def _side_by_side(lengths: Sequence[int], sizes: Sizes, large: bool) -> list[list[int]]:
    """The places of sentences of about one length in groups, short ones first."""
    groups: list[list[int]] = []
    for place in sorted(range(len(lengths)), key=lengths.__getitem__):
        steps = sizes.rounded(lengths[place], fine=not large)
        last = groups[-1] if groups else []
        full = len(last) >= max(1, sizes.words // steps)
        if last and not full and sizes.rounded(lengths[last[0]], fine=not large) == steps:
            last.append(place)
        else:
            groups.append([place])
    return groups


def _all_pairs(asked: Question, codes: list[np.ndarray], sizes: Sizes, large: bool) -> list[np.ndarray]:
    """The matrices of a few sentences: all their words are read, and then advance by age."""
    steps = sizes.rounded(max(map(len, codes)), fine=not large)
    batch = max(1, sizes.words // steps) if large else 1 << (len(codes) - 1).bit_length()
    room = max(batch * steps, sizes.words if large else 0)
    sentence, word, left = _by_life(codes)
    places = np.zeros(room, np.int32)
    places[: len(word)] = sentence * steps + word
    words = read_words(asked, padded(codes, batch, steps), places)
    row = np.zeros((len(codes), steps), np.int32)
    row[sentence, word] = np.arange(len(word))
    living, found = words.alone, []
    for age in range(1, left[0]):
        alive = int(np.searchsorted(-left, -age))  # words that `age` more words follow at least
        met = np.zeros(min(room, sizes.rounded(alive, least=sizes.rows if large else 8, fine=large)), np.int32)
        met[:alive] = row[sentence[:alive], word[:alive] + age]
        if len(met) != len(living[0].hidden):
            living = first_of(living, len(met))
        living, ratios = meet(asked, words, living, met)
        found.append((alive, ratios))
    return _matrices(codes, sentence, word, found, words.alone[0].hidden.dtype)


def _by_life(codes: list[np.ndarray]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """All words, those first after which most of their sentence follows: sentence, place in it, and words left."""
    sentence = np.concatenate([np.full(len(words), number) for number, words in enumerate(codes)])
    word = np.concatenate([np.arange(len(words)) for words in codes])
    left = np.concatenate([np.arange(len(words), 0, -1) for words in codes])
    order = np.argsort(-left, kind="stable")
    return sentence[order], word[order], left[order]


def _matrices(
    codes: list[np.ndarray], sentence: np.ndarray, word: np.ndarray, found: list[tuple[int, Any]], dtype: Any
) -> list[np.ndarray]:
    """The ratios that words were found to have at each age from 1 on, as a matrix a sentence."""
    longest = max(map(len, codes))
    grid = np.full((len(codes), longest, longest), np.nan, dtype)
    for age, (alive, ratios) in enumerate(found, start=1):
        s, first = sentence[:alive], word[:alive]
        grid[s, first, first + age] = grid[s, first + age, first] = np.asarray(ratios)[:alive]
    return [matrix[: len(words), : len(words)].copy() for matrix, words in zip(grid, codes)]


def _between(
    model: Model,
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
    states, whole = states_at(model, [codes] * len(foci), foci, steps, number, rules)
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


def _root(model: Model, at: At, layer: int | None) -> np.ndarray | None:
    """A root R of the decoder's Gram matrix, RᵀR = WᵀW, so that ‖W d‖ = ‖R d‖; it is no larger than hidden × hidden."""
    if at == "hidden":
        return None
    if at != "logits":
        raise InputError(f"interdependence is taken at 'hidden' or at 'logits', not at {at!r}")
    if checked_layer(model, layer) != checked_layer(model, None):
        raise InputError(f"layer={layer} has no logits: the decoder reads the top layer, so leave `layer` out")
    return np.asarray(np.linalg.qr(decoder_of(model), mode="r"))


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
