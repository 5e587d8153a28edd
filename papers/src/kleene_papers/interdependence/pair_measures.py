"""The measures of two words that are compared on a treebank, and files that keep their values.

Interdependence is taken at the hidden state (Saphra & Lopez 2020, "LSTMs Compose (and Learn) Bottom-Up") and at the
logits ("Word Interdependence Exposes How LSTMs Compose Representations"). Erasure and gradient × input are of the same
network, and pointwise mutual information is of the text that it learned.
"""

import functools
import hashlib
import shutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import jax
import numpy as np
from jaxtyping import Float

from kleene.explaining.words.baseline_pairs import erasure_batch, gradient_times_input_batch
from kleene.explaining.words.pairwise import interdependence_batch
from kleene.explaining.words.sentences import without_warnings
from kleene.files import make_folder
from kleene.machines.lstm.lstm import LSTM
from kleene.tasks.text import END, Corpus
from kleene.tasks.treebanks import Sentence
from kleene.tensors import read_tensors, write_tensors
from kleene_papers.interdependence.word_pairs import pair_places, pair_values

KIND = "values of pairs"
INTERDEPENDENCE = ("hidden", "logits")
MEASURES: Mapping[str, Callable[[LSTM, list[Any]], list[np.ndarray]]] = {
    "hidden": partial(interdependence_batch, at="hidden"),
    "logits": partial(interdependence_batch, at="logits"),
    "erasure": erasure_batch,
    "gradient": gradient_times_input_batch,
}
INFORMATION = "information"  # needs no network


def measured(name: str, network: LSTM, sentences: Sequence[Sentence], longest: int) -> Float[np.ndarray, " pairs"]:
    """The values of a measure for all pairs of words that are at most `longest` apart, in the order of `WordPairs`."""
    with without_warnings():  # `unknown_words` of the experiment says how many
        matrices = MEASURES[name](network, [sentence.words for sentence in sentences])
    return pair_values(sentences, matrices, longest).astype(np.float32)


def information(corpus: Corpus, sentences: Sequence[Sentence], longest: int) -> Float[np.ndarray, " pairs"]:
    """The pointwise mutual information of all pairs, at the distance that they have in the sentence, in nats.

    It is counted in the lines of the training text (as `mutual_informations` does it); NaN for pairs that never occur
    there at that distance.
    """
    codes, size = [corpus.vocabulary.encode(sentence.words) for sentence in sentences], len(corpus.vocabulary.words)
    places = [pair_places(sentence, longest) for sentence in sentences]
    left, right = (np.concatenate([c[p[side]] for c, p in zip(codes, places)]).astype(np.int64) for side in (0, 1))
    apart = np.concatenate([later - earlier for earlier, later in places])
    text, found = np.asarray(corpus.train, np.int64), np.full(len(apart), np.nan)
    line = np.cumsum(text == corpus.vocabulary.places[END])
    for distance in range(1, longest + 1):
        chosen = apart == distance
        if chosen.any() and len(text) > distance:
            whole = (line[:-distance] == line[distance:]) & (text[:-distance] != corpus.vocabulary.places[END])
            met = text[:-distance][whole], text[distance:][whole]
            found[chosen] = _pointwise(*met, left[chosen], right[chosen], size)
    return found


def _pointwise(ours: np.ndarray, theirs: np.ndarray, left: np.ndarray, right: np.ndarray, size: int) -> np.ndarray:
    """ln p(left, right) / (p(left) p(right)) by the pairs that a text has, for some others; NaN where it has none."""
    pairs, counts = np.unique(ours * size + theirs, return_counts=True)
    if not len(pairs):
        return np.full(len(left), np.nan)
    wanted = left * size + right
    at = np.minimum(np.searchsorted(pairs, wanted), len(pairs) - 1)
    alone = np.bincount(ours, minlength=size)[left] * np.bincount(theirs, minlength=size)[right]
    has = pairs[at] == wanted
    return np.where(has, np.log(counts[at] * len(ours) / np.where(has, alone, 1)), np.nan)


@dataclass(frozen=True)
class PairCells:
    """Values of pairs, one file for each network and measure: what was measured before a stop is not measured again."""

    folder: Path

    def values(self, name: str, measure: str, network: LSTM, sentences: Sequence[Sentence], longest: int) -> np.ndarray:
        """The values in the file of that name, if it is of this network and these pairs; else they are measured."""
        path, of = self.folder / f"{name}.safetensors", _digest(measure, network, sentences, longest)
        if path.is_file():
            header, arrays = read_tensors(path, KIND)
            if header.get("of") == of:
                return arrays["values"]
        values = measured(measure, network, sentences, longest)
        make_folder(self.folder)
        write_tensors(path, KIND, {"of": of}, {"values": values})
        return values

    def remove(self) -> None:
        shutil.rmtree(self.folder, ignore_errors=True)


def _digest(measure: str, network: LSTM, sentences: Sequence[Sentence], longest: int) -> str:
    """A name for what is measured."""
    found = hashlib.sha256(repr((measure, network.vocabulary)).encode() + _pairs_digest(tuple(sentences), longest))
    for leaf in jax.tree.leaves(network):
        found.update(np.ascontiguousarray(leaf).tobytes())
    return found.hexdigest()


@functools.lru_cache(maxsize=4)  # all networks and measures have the same pairs
def _pairs_digest(sentences: tuple[Sentence, ...], longest: int) -> bytes:
    """A name for the pairs of sentences, which the classes of words decide."""
    found = hashlib.sha256(repr((longest, [one.words for one in sentences])).encode())
    for sentence in sentences:
        found.update(repr([side.tolist() for side in pair_places(sentence, longest)]).encode())
    return found.digest()
