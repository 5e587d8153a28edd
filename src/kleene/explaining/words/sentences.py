"""Sentences, foci and sets of positions from users: checked, and turned into arrays."""

import os
import warnings
from collections.abc import Hashable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from functools import lru_cache
from typing import Any, NamedTuple

import jax
import numpy as np

from kleene.errors import InputError, UnknownWordsWarning
from kleene.explaining.words.parts import Decomposable
from kleene.limits import read_count
from kleene.tasks.treebanks import read_conllu, tree_problem

UNKNOWN = "<unk>"
_warns: ContextVar[bool] = ContextVar("unknown words are warned of", default=True)

Index = int | np.integer
Sentence = Sequence[Hashable] | np.ndarray | jax.Array  # tokens, a text, or token ids


def words_of(vocabulary: Sequence[Hashable], tokens: Any) -> list[Any]:
    """The tokens of a sentence. A string is split at spaces if the vocabulary has words, else into characters."""
    if isinstance(tokens, str) and any(len(word) > 1 and word[0] != "<" for word in map(str, vocabulary)):
        return list(tokens.split())
    if not isinstance(tokens, Iterable):
        raise InputError(f"the sentence is {tokens!r}; give a list of tokens of the model's vocabulary, or a text")
    arrays: Any = getattr(tokens, "tolist", None)  # entries of a jax array are not hashable
    return list(tokens if arrays is None else arrays())


def spelled_tokens(vocabulary: Sequence[Hashable], sentence: Sentence) -> list[Any]:
    """The tokens of a typed sentence: "3" is the token 3 if the vocabulary has numbers.

    >>> spelled_tokens([0, 1, 2], ["2", "0"])
    [2, 0]
    """
    tokens = {str(token): token for token in vocabulary}
    return [tokens.get(str(word), word) for word in words_of(vocabulary, sentence)]


class KnownWords(NamedTuple):
    """A vocabulary: its tokens, their places, and whether all of them are strings."""

    tokens: tuple[Hashable, ...]
    places: dict[Hashable, int]
    texts: bool

    def are_ids(self, words: Sequence[Hashable]) -> bool:
        """Whether a sentence consists of token ids: integers, while the vocabulary has strings."""
        return self.texts and all(isinstance(w, int | np.integer) and not isinstance(w, bool) for w in words)

    def unknown(self, words: Sequence[Hashable]) -> list[int]:
        """The positions of words that the vocabulary does not have."""
        return [] if self.are_ids(words) else [at for at, word in enumerate(words) if word not in self.places]


@lru_cache(maxsize=8)
def vocabulary_of(tokens: tuple[Hashable, ...]) -> KnownWords:
    """The vocabulary of these tokens; cached, because building a large one takes as long as a sentence."""
    places = {token: place for place, token in enumerate(tokens)}
    return KnownWords(tokens, places, all(isinstance(token, str) for token in tokens))


def read_sentences(about: Decomposable, sentences: Iterable[Sentence]) -> list[np.ndarray]:
    """The places of each sentence's tokens in the vocabulary; unknown ones are `<unk>` if the vocabulary has it.

    If the vocabulary has strings, integers are token ids, which are places in it. A sentence whose words are mostly
    unknown is read with an `UnknownWordsWarning`, but in `without_warnings`.
    """
    if isinstance(sentences, str):
        raise InputError(f"one text was given, {sentences[:40]!r}, where a list of sentences is expected: give [text]")
    vocabulary, found, warned = vocabulary_of(about.alphabet), [], []
    for number, sentence in enumerate(sentences):
        words = _checked_words(about, sentence, number)
        found.append(np.array(_codes(vocabulary, words, number), dtype=np.int32))
        warning = unknown_warning(words, vocabulary.unknown(words))
        if warning:
            warned.append(warning if number == 0 else f"sentence {number}: {warning}")
    if warned and _warns.get():
        others = f" ({len(warned) - 1} other sentences likewise)" if len(warned) > 1 else ""
        warnings.warn(warned[0] + others, UnknownWordsWarning, stacklevel=4)
    return found


@contextmanager
def without_warnings() -> Iterator[None]:
    """A context whose caller tells of unknown words itself. The filters of `warnings` belong to all threads."""
    token = _warns.set(False)
    try:
        yield
    finally:
        _warns.reset(token)


def unknown_warning(words: Sequence[Hashable], unknown: Sequence[int]) -> str | None:
    """A warning if the model does not know most of the words, because numbers about them mean little; else None."""
    if 2 * len(unknown) <= len(words):
        return None
    return (
        f"the model does not know {len(unknown)} of the {len(words)} words and reads each as {UNKNOWN}, so that the "
        f"numbers say little about them: {listed(str(words[place]) for place in unknown)}"
    )


def listed(words: Iterable[str], most: int = 12) -> str:
    """Each word once: the first `most` by name, and the count of the others.

    >>> listed("abca", most=2), listed("ab")
    ('a, b and 1 more', 'a, b')
    """
    once = list(dict.fromkeys(words))
    return ", ".join(once[:most]) + (f" and {len(once) - most} more" if len(once) > most else "")


def _checked_words(about: Decomposable, sentence: Sentence, number: int) -> list[Hashable]:
    words = words_of(about.alphabet, sentence)
    if not words:
        raise InputError(f"sentence {number} is empty; a decomposition needs a word at least")
    about.check_length(len(words), f"sentence {number}")
    if nested := [word for word in words if not isinstance(word, Hashable)]:
        raise InputError(
            f"sentence {number} has {nested[0]!r} in it, which is no token: a sentence is a list of tokens, and "
            f"several sentences go to the function whose name ends in _batch"
        )
    return words


def _codes(vocabulary: KnownWords, words: Sequence[Any], number: int) -> list[int]:
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
    """Positions in a sentence as a sorted tuple; a single position may be a number."""
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
    """Sets of positions, which must be disjoint."""
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


def checked_layer(about: Decomposable, layer: Index | None) -> int:
    """The number of a layer, from 0; None and -1 are the top layer."""
    layers = about.layers
    if layer is None:
        return layers - 1
    if not isinstance(layer, int | np.integer) or not -layers <= layer < layers:
        raise InputError(f"there is no layer {layer!r}: the model has {layers}, numbered from 0")
    return int(layer) % layers


def padded(sentences: Sequence[np.ndarray], rows: int, steps: int) -> np.ndarray:
    """Sentences in one array (rows, steps), padded with token 0."""
    found = np.zeros((rows, steps), np.int32)
    for row, codes in zip(found, sentences):
        row[: len(codes)] = codes
    return found


def typed_sentence(
    text: str | None, *, heads: str | None, conllu: str | None
) -> tuple[str | list[str], list[int] | None]:
    """A sentence from the command line: its text or words, and the heads of its words if a tree is given.

    Heads are counted from 1, and the root's is 0.

    >>> typed_sentence("dogs bark", heads="2 0", conllu=None)
    ('dogs bark', [2, 0])
    """
    if (text is None) == (conllu is None):
        raise InputError("give a TEXT to explain, or --conllu FILE:N for a sentence of a treebank file, and not both")
    if conllu is not None:
        if heads is not None:
            raise InputError("--conllu brings its own tree; leave out --heads")
        return _from_treebank(conllu)
    assert text is not None
    if not text.strip():
        raise InputError("the text is empty; give a sentence of one word or more")
    return text, None if heads is None else _read_heads(heads)


def _from_treebank(name: str) -> tuple[list[str], list[int]]:
    """Sentence N of FILE:N, counted from 1; the first sentence of FILE."""
    file, _, number = name.rpartition(":")
    if not file or not (number.isascii() and number.isdigit()) or os.path.exists(name):
        file, number = name, "1"
    found = read_conllu(file)
    place = read_count(number)
    if place is None or not 1 <= place <= len(found):
        raise InputError(f"{file!r} has {len(found)} sentences, and no sentence {number}; they are counted from 1")
    sentence = found[place - 1]
    return list(sentence.words), list(sentence.heads)


def _read_heads(text: str) -> list[int]:
    parts = text.replace(",", " ").split()
    heads = [head for head in map(read_count, parts) if head is not None]
    if len(heads) < len(parts) or not parts:
        raise InputError(
            f"--heads is {text!r}; give for every word the number of its head, counted from 1, and 0 for the root"
        )
    problem = tree_problem(heads)
    if problem:
        at, what = problem
        raise InputError(f"--heads is no tree: {f'word {at}' if at else 'the sentence'} {what}")
    return heads
