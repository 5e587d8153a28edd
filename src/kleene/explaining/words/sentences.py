"""Models, sentences, foci and sets as a user gives them: checked, and turned into arrays."""

import warnings
from collections.abc import Hashable, Iterable, Sequence
from contextlib import AbstractContextManager
from functools import lru_cache
from typing import Any, NamedTuple

import jax
import numpy as np

from kleene.errors import InputError, UnknownWordsWarning
from kleene.machines.lstm.lstm import LSTM
from kleene.machines.rnn.simple_rnn import SimpleRNN
from kleene.machines.transformer_lm import TransformerLM

UNKNOWN = "<unk>"

Sentence = Sequence[Hashable]
Recurrent = LSTM | SimpleRNN
Model = Recurrent | TransformerLM


def checked_model(model: Any) -> Model:
    """The model, if it is one that can be taken apart."""
    if not isinstance(model, Model):
        raise InputError(
            f"only an LSTM, a SimpleRNN or a TransformerLM can be decomposed, and this is a {type(model).__name__}; "
            f"for a PyTorch model see LSTM.from_torch"
        )
    if isinstance(model, SimpleRNN) and model.is_exact:
        raise InputError(
            "this SimpleRNN has exact weights, and a decomposition needs floats: call its to_float() first"
        )
    return model


def checked_recurrent(model: Any) -> Recurrent:
    """The model, if it is recurrent and can be taken apart."""
    model = checked_model(model)
    if isinstance(model, TransformerLM):
        raise InputError("this is defined for an LSTM or a SimpleRNN, and not yet for a TransformerLM")
    return model


def words_of(model: Model, tokens: Sentence) -> list[Hashable]:
    """The tokens of a sentence. A text is split at spaces if the vocabulary has words, else it is its characters."""
    vocabulary = model.alphabet
    if isinstance(tokens, str) and any(len(word) > 1 and word[0] != "<" for word in map(str, vocabulary)):
        return list(tokens.split())
    if not isinstance(tokens, Iterable):
        raise InputError(f"the sentence is {tokens!r}; give a list of tokens of the model's vocabulary, or a text")
    arrays: Any = getattr(tokens, "tolist", None)  # the entries of a jax array cannot be looked up
    return list(tokens if arrays is None else arrays())


class Known(NamedTuple):
    """A vocabulary: its tokens, their places, and whether all of them are texts."""

    tokens: tuple[Hashable, ...]
    places: dict[Hashable, int]
    texts: bool

    def are_ids(self, words: Sequence[Hashable]) -> bool:
        """Whether a sentence is one of token ids: integers, where the vocabulary itself is made of texts."""
        return self.texts and all(isinstance(w, int | np.integer) and not isinstance(w, bool) for w in words)

    def unknown(self, words: Sequence[Hashable]) -> list[int]:
        """Where words stand that the vocabulary does not have."""
        return [] if self.are_ids(words) else [at for at, word in enumerate(words) if word not in self.places]


def known(model: Model) -> Known:
    """The model's vocabulary."""
    return _known(tuple(model.alphabet))


@lru_cache(maxsize=8)
def _known(tokens: tuple[Hashable, ...]) -> Known:
    """Kept, since for tens of thousands of words this takes as long as a short sentence."""
    places = {token: place for place, token in enumerate(tokens)}
    return Known(tokens, places, all(isinstance(token, str) for token in tokens))


def read_sentences(model: Model, sentences: Iterable[Sentence]) -> list[np.ndarray]:
    """The places of each sentence's tokens in the vocabulary; unknown ones are `<unk>` if the vocabulary has it.

    Where the vocabulary is made of texts, integers are token ids: places in it. A sentence of which most words are
    unknown is read too, with an `UnknownWordsWarning`.
    """
    if isinstance(sentences, str):
        raise InputError(f"one text was given, {sentences[:40]!r}, where a list of sentences is expected: give [text]")
    vocabulary, found, warned = known(model), [], []
    for number, sentence in enumerate(sentences):
        words = _checked_words(model, sentence, number)
        found.append(np.array(_codes(vocabulary, words, number), dtype=np.int32))
        warning = unknown_warning(words, vocabulary.unknown(words))
        if warning:
            warned.append(warning if number == 0 else f"sentence {number}: {warning}")
    if warned:
        others = f" ({len(warned) - 1} other sentences likewise)" if len(warned) > 1 else ""
        warnings.warn(warned[0] + others, UnknownWordsWarning, stacklevel=4)
    return found


def unknown_warning(words: Sequence[Hashable], unknown: Sequence[int]) -> str | None:
    """What a person should know before believing numbers about words most of which the model does not know."""
    if 2 * len(unknown) <= len(words):
        return None
    return (
        f"the model does not know {len(unknown)} of the {len(words)} words and reads each as {UNKNOWN}, so that the "
        f"numbers say little about them: {listed(str(words[place]) for place in unknown)}"
    )


def listed(words: Iterable[str], most: int = 12) -> str:
    """Each word once, the first ones by name and the others by number.

    >>> listed("abca", most=2), listed("ab")
    ('a, b and 1 more', 'a, b')
    """
    once = list(dict.fromkeys(words))
    return ", ".join(once[:most]) + (f" and {len(once) - most} more" if len(once) > most else "")


def _checked_words(model: Model, sentence: Sentence, number: int) -> list[Hashable]:
    words = words_of(model, sentence)
    if not words:
        raise InputError(f"sentence {number} is empty; a decomposition needs a word at least")
    if isinstance(model, TransformerLM) and len(words) > len(model.positions):
        raise InputError(
            f"sentence {number} has {len(words)} tokens, and the model has {len(model.positions)} positions: "
            f"shorten the sentence, or make the model with more `positions`"
        )
    if nested := [word for word in words if not isinstance(word, Hashable)]:
        raise InputError(
            f"sentence {number} has {nested[0]!r} in it, which is no token: a sentence is a list of tokens, and "
            f"several sentences go to the function whose name ends in _batch"
        )
    return words


def _codes(vocabulary: Known, words: Sequence[Any], number: int) -> list[int]:
    """The places of the tokens of one sentence."""
    last = len(vocabulary.tokens) - 1
    if vocabulary.are_ids(words):
        for at, token in enumerate(words):
            if not 0 <= token <= last:
                raise InputError(
                    f"token {at} of sentence {number} is {token}, and token ids are places in the "
                    f"model's vocabulary, 0..{last}"
                )
        return list(words)
    codes = []
    for at, word in enumerate(words):
        if vocabulary.texts and not isinstance(word, str):
            raise InputError(
                f"token {at} of sentence {number} is {word!r}, and the vocabulary is made of texts: give a list of "
                f"words, or one of token ids 0..{last}"
            )
        code = vocabulary.places.get(word, vocabulary.places.get(UNKNOWN))
        if code is None:
            shown = ", ".join(map(repr, vocabulary.tokens[:10])) + (", …" if last >= 10 else "")
            raise InputError(
                f"token {at} of sentence {number} is {word!r}, and the model's vocabulary is {shown}, without "
                f"{UNKNOWN!r} for others: replace the token, or use a model that knows it"
            )
        codes.append(code)
    return codes


def checked_positions(positions: Any, length: int, name: str = "the focus") -> tuple[int, ...]:
    """Positions in a sentence as a sorted tuple; one position may be given as a number."""
    given = [positions] if isinstance(positions, int | np.integer) else positions
    if not isinstance(given, Iterable):
        raise InputError(f"{name} is {given!r}; it is a set of positions, whole numbers from 0 on, or one position")
    given = list(given)
    for position in given:
        if not isinstance(position, int | np.integer) or isinstance(position, bool):
            raise InputError(f"{name} has {position!r} in it; it is made of positions, whole numbers from 0 on")
        if not 0 <= position < length:
            raise InputError(
                f"{name} has position {position} in it, and the sentence has {length} tokens: positions are "
                f"0..{length - 1}"
            )
    return tuple(sorted({int(position) for position in given}))


def checked_sets(sets: Iterable[Any], length: int) -> list[tuple[int, ...]]:
    """Sets of positions that share none."""
    if not isinstance(sets, Iterable):
        raise InputError(f"`sets` is {sets!r}; it is a list of sets of positions, such as [(0, 1), (3,)]")
    found = [checked_positions(positions, length, f"set {number}") for number, positions in enumerate(sets)]
    owner: dict[int, int] = {}
    for number, positions in enumerate(found):
        for position in positions:
            if position in owner:
                raise InputError(
                    f"position {position} is in set {owner[position]} and in set {number}; the interdependence of two "
                    f"sets is defined where they share nothing"
                )
            owner[position] = number
    return found


def checked_layer(model: Model, layer: int | None) -> int:
    """The number of a layer, from 0; the top one if none is named. -1 is the top one too."""
    layers = 1 if isinstance(model, SimpleRNN) else len(model.layers)
    if layer is None:
        return layers - 1
    if not isinstance(layer, int | np.integer) or not -layers <= layer < layers:
        raise InputError(f"there is no layer {layer!r}: the model has {layers}, numbered from 0")
    return int(layer) % layers


def decoder_of(model: Model) -> np.ndarray:
    """The weights that read the top layer."""
    return np.asarray(model.readout if isinstance(model, SimpleRNN) else model.decoder)


def padded(sentences: Sequence[np.ndarray], rows: int, steps: int) -> np.ndarray:
    """Sentences in one array (rows, steps), filled up with token 0."""
    found = np.zeros((rows, steps), np.int32)
    for row, codes in zip(found, sentences):
        row[: len(codes)] = codes
    return found


def precision(model: Model) -> AbstractContextManager:
    """Double precision where the weights have it, which jax otherwise takes away; else single precision, in full."""
    weights: Any = model.recurrent if isinstance(model, SimpleRNN) else model.embedding
    return jax.enable_x64(True) if weights.dtype == np.float64 else jax.default_matmul_precision("highest")
