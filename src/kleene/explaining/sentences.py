"""Models, sentences, foci and sets as a user gives them: checked, and turned into arrays."""

from collections.abc import Hashable, Iterable, Sequence
from contextlib import AbstractContextManager
from functools import lru_cache
from typing import Any

import jax
import numpy as np

from kleene.errors import InputError
from kleene.machines.lstm import LSTM
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
    return list(tokens)


@lru_cache(maxsize=8)
def _places(alphabet: tuple[Hashable, ...]) -> dict[Hashable, int]:
    """The places of tokens; kept, since for tens of thousands of words this takes as long as a short sentence."""
    return {token: place for place, token in enumerate(alphabet)}


def read_sentences(model: Model, sentences: Iterable[Sentence]) -> list[np.ndarray]:
    """The places of each sentence's tokens in the vocabulary; unknown ones are `<unk>` if the vocabulary has it."""
    if isinstance(sentences, str):
        raise InputError(f"one text was given, {sentences[:40]!r}, where a list of sentences is expected: give [text]")
    places = _places(tuple(model.alphabet))
    unknown = places.get(UNKNOWN)
    found = []
    for number, sentence in enumerate(sentences):
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
        codes = [places.get(word, unknown) for word in words]
        if None in codes:
            at = codes.index(None)
            shown = ", ".join(map(repr, model.alphabet[:10])) + (", …" if len(model.alphabet) > 10 else "")
            raise InputError(
                f"token {at} of sentence {number} is {words[at]!r}, and the model's vocabulary is {shown}, without "
                f"{UNKNOWN!r} for others: replace the token, or use a model that knows it"
            )
        found.append(np.array(codes, dtype=np.int32))
    return found


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
