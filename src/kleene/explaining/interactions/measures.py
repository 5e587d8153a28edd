"""Measures of how much two symbols of a word interact in a network, behind one protocol.

A measure is a function of a network and a list of words, tuples of symbols, all of one length. It returns an array
[word, i, j]. The larger a number with i < j, the more the symbols at i and j are said to interact; the other entries
are not looked at. A measure of your own is such a function in a file.
"""

from collections.abc import Callable, Sequence
from itertools import combinations
from typing import Any

import numpy as np

from kleene.errors import InputError
from kleene.explaining.interactions import network_outputs
from kleene.explaining.interactions.shapley import MOST, game_of, interactions_of, sampled_interactions, value_table
from kleene.explaining.words.decomposition import states_at
from kleene.explaining.words.pairwise import interdependence_batch
from kleene.explaining.words.parts import Decomposable, decomposable
from kleene.explaining.words.sharing import PAPERS, Sharing, floor_of
from kleene.notation.words import padded_codes

# Biases are shared out like other summands, the output gate is split, and relevant times irrelevant counts as relevant.
OTHERS = Sharing(interactions={"rel-rel", "rel-bias", "rel-irrel"}, bias="shapley", output_gate="decomposed")
SAMPLED = 4_096  # words from which mutual information is counted
ESTIMATED = 128  # coalitions from which Shapley interactions are estimated where words are long

AlphabetWord = tuple[str, ...]
Measure = Callable[[Any, Sequence[AlphabetWord]], Any]


class NotDefinedError(InputError):
    """A measure was asked about a kind of network for which it is not defined."""


def first_output(network: Any) -> Callable[[Sequence[AlphabetWord]], np.ndarray]:
    """The function from words to a network's first output at the end of each: the logit of an acceptor."""
    return lambda words: network.outputs_batch(words)[:, 0]


def codes_of(network: Any, words: Sequence[AlphabetWord]) -> np.ndarray:
    return padded_codes(words, tuple(network.alphabet))[0]


def di_hidden(network: Any, words: Sequence[AlphabetWord]) -> np.ndarray:
    """Interdependence at the hidden state at the end of the word (Saphra and Lopez 2020)."""
    return _interdependence(network, words, at_logits=False)


def di_logits(network: Any, words: Sequence[AlphabetWord]) -> np.ndarray:
    """Interdependence at the logits at the end of the word."""
    return _interdependence(network, words, at_logits=True)


def di_when_read(network: Any, words: Sequence[AlphabetWord]) -> np.ndarray:
    """Interdependence at the hidden state when the later of the two symbols has been read, as in the papers."""
    _check_recurrent(network)
    return np.stack(interdependence_batch(network, words))


def di_shared(network: Any, words: Sequence[AlphabetWord]) -> np.ndarray:
    """Interdependence at the hidden state at the end of the word with other conventions: `OTHERS`."""
    _check_recurrent(network)
    return _interdependence(network, words, at_logits=False, sharing=OTHERS)


def _check_recurrent(network: Any) -> None:
    if decomposable(network).recurrence is None:
        raise NotDefinedError("it is defined for recurrent networks")


def _interdependence(
    network: Any, words: Sequence[AlphabetWord], *, at_logits: bool, sharing: Sharing = PAPERS
) -> np.ndarray:
    return interdependence_at_the_end(decomposable(network), words, at_logits=at_logits, sharing=sharing)


def interdependence_at_the_end(
    about: Decomposable, words: Sequence[AlphabetWord], *, at_logits: bool, sharing: Sharing
) -> np.ndarray:
    """`interdependence` with step="last", all foci of all words in one batch."""
    codes = padded_codes(words, tuple(about.alphabet))[0]
    length = codes.shape[1]
    about.check_length(length)
    pairs = list(combinations(range(length), 2))
    foci = [*((i,) for i in range(length)), *pairs]
    sentences = [row for row in codes for _ in foci]
    ends = [length - 1] * len(sentences)
    relevant, whole = states_at(about, sentences, foci * len(codes), ends, about.layers - 1, sharing)
    root = np.asarray(np.linalg.qr(np.asarray(about.decoder), mode="r")) if at_logits else np.eye(relevant.shape[-1])
    relevant, whole = (part.reshape(len(codes), len(foci), -1) for part in (relevant, whole))
    one, other = np.array(pairs, dtype=np.int64).reshape(-1, 2).T
    both = relevant[:, length:]
    missed = both - relevant[:, one] - relevant[:, other]
    above, below, size = (np.linalg.norm(part @ root.T, axis=-1) for part in (missed, both, whole[:, length:]))
    with np.errstate(divide="ignore", invalid="ignore"):
        found = np.where(above <= floor_of(relevant.dtype) * size, 0, above / below)
    return _matrices(found, one, other, length)


def _matrices(found: np.ndarray, one: np.ndarray, other: np.ndarray, length: int) -> np.ndarray:
    matrices = np.full((len(found), length, length), np.nan)
    matrices[:, one, other] = matrices[:, other, one] = found
    return matrices


def erasure(network: Any, words: Sequence[AlphabetWord]) -> np.ndarray:
    """How far erasing both symbols differs from erasing each, in the output; an erased embedding is 0."""
    return network_outputs.on_words(network_outputs.erased_output, network, codes_of(network, words))


def erasure_mean(network: Any, words: Sequence[AlphabetWord]) -> np.ndarray:
    """The same; an erased embedding is the mean of those of all symbols."""
    return network_outputs.on_words(network_outputs.erased_output, network, codes_of(network, words), "mean")


def erasure_hidden(network: Any, words: Sequence[AlphabetWord]) -> np.ndarray:
    """How far erasing both symbols differs from erasing each, in the hidden state; an erased embedding is 0."""
    return network_outputs.on_words(network_outputs.erased_hidden, network, codes_of(network, words))


def gradient_input(network: Any, words: Sequence[AlphabetWord]) -> np.ndarray:
    """The mixed second derivative of the output by the scales of both embeddings: gradient × input, second order."""
    return network_outputs.on_words(network_outputs.hessian, network, codes_of(network, words))


def integrated_hessians(network: Any, words: Sequence[AlphabetWord]) -> np.ndarray:
    """Integrated Hessians of the output (Janizek et al. 2021) from zero embeddings, ReLU replaced by softplus."""
    return network_outputs.on_words(network_outputs.integrated_hessians, network, codes_of(network, words))


def integrated_hessians_mean(network: Any, words: Sequence[AlphabetWord]) -> np.ndarray:
    """The same from the mean of the embeddings of all symbols."""
    return network_outputs.on_words(network_outputs.integrated_hessians, network, codes_of(network, words), "mean")


def resampling(network: Any, words: Sequence[AlphabetWord]) -> np.ndarray:
    """How far resampling both symbols differs from resampling each, in the output: the average over all symbols.

    This is one term of the Shapley interaction index, the one in which all other symbols are present.
    """
    alphabet = tuple(network.alphabet)
    length, count = len(words[0]), len(alphabet)
    pairs = list(combinations(range(length), 2))
    changed = [
        (*word[:i], a, *word[i + 1 : j], b, *word[j + 1 :])
        for word in words
        for i, j in pairs
        for a in alphabet
        for b in alphabet
    ]
    values = np.asarray(first_output(network)(changed), dtype=np.float64)
    values = values.reshape(len(words), len(pairs), count, count)
    codes = codes_of(network, words)
    one, other = np.array(pairs, dtype=np.int64).reshape(-1, 2).T
    word, pair = np.arange(len(words))[:, None], np.arange(len(pairs))
    without_first, without_second = values.mean(axis=2), values.mean(axis=3)
    whole = values[word, pair, codes[:, one], codes[:, other]]
    found = whole - without_first[word, pair, codes[:, other]] - without_second[word, pair, codes[:, one]]
    return _matrices(np.abs(found + values.mean(axis=(2, 3))), one, other, length)


def shapley(network: Any, words: Sequence[AlphabetWord]) -> np.ndarray:
    """The Shapley interactions of the network's own output, absent symbols resampled: the most one can know.

    They are exact if there are few enough words of this length, else estimated from `ESTIMATED` coalitions.
    """
    alphabet, length = tuple(network.alphabet), len(words[0])
    if len(alphabet) ** length > MOST:
        function, other = first_output(network), 1  # the seed of the truth is 0
        found = [sampled_interactions(function, word, alphabet, samples=ESTIMATED, seed=other) for word in words]
        return np.abs(np.stack([one.values for one in found]))
    table = value_table(first_output(network), length, alphabet)
    return np.stack([np.abs(interactions_of(game_of(table, row.tolist()))) for row in codes_of(network, words)])


def nearness(network: Any, words: Sequence[AlphabetWord]) -> np.ndarray:
    """−|i − j|, the control: it knows neither the network nor the word."""
    places = np.arange(len(words[0]))
    return np.broadcast_to(-np.abs(places[:, None] - places), (len(words), len(places), len(places))).astype(float)


def mutual_information(network: Any, words: Sequence[AlphabetWord]) -> np.ndarray:
    """|log p(a, b) / p(a) p(b)| of two symbols at their distance, in random words that the network accepts.

    Each pair is counted once more than it was seen, so that one that never occurs has a finite number.
    """
    alphabet, length = tuple(network.alphabet), len(words[0])
    drawn = np.random.default_rng(0).integers(0, len(alphabet), (SAMPLED, length))
    accepted = drawn[np.asarray(network.accepts_batch([tuple(alphabet[c] for c in row) for row in drawn.tolist()]))]
    codes = codes_of(network, words)
    found = np.full((len(words), length, length), np.nan)
    for distance in range(1, length):
        counts = np.ones((len(alphabet), len(alphabet)))
        np.add.at(counts, (accepted[:, :-distance], accepted[:, distance:]), 1)
        chances = counts / counts.sum()
        log_ratio = np.log(chances / (chances.sum(1, keepdims=True) * chances.sum(0, keepdims=True)))
        left, right = np.arange(length - distance), np.arange(distance, length)
        values = np.abs(log_ratio[codes[:, left], codes[:, right]])
        found[:, left, right] = found[:, right, left] = values
    return found


MEASURES: dict[str, Measure] = {
    "di_hidden": di_hidden,
    "di_logits": di_logits,
    "di_when_read": di_when_read,
    "di_shared": di_shared,
    "erasure": erasure,
    "erasure_mean": erasure_mean,
    "erasure_hidden": erasure_hidden,
    "gradient_input": gradient_input,
    "integrated_hessians": integrated_hessians,
    "integrated_hessians_mean": integrated_hessians_mean,
    "mutual_information": mutual_information,
    "nearness": nearness,
    "resampling": resampling,
    "shapley": shapley,
}
