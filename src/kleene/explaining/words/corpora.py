"""The pointwise mutual information of the words of one sentence, counted in a text."""

from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from typing import Any

import numpy as np

from kleene.errors import InputError
from kleene.explaining.words.baselines import information_matrix, mutual_informations
from kleene.explaining.words.sentences import vocabulary_of
from kleene.tasks.grammar_text import grammar_words
from kleene.tasks.text import END, UNKNOWN, lines

GRAMMAR_WORDS = 200_000  # of the built-in grammar, a fifth of what its model was taught


def information(
    alphabet: tuple[Hashable, ...],
    tokens: Sequence[Hashable],
    corpus: Any,
    of_grammar: bool,
    named: Callable[[str], str],
) -> np.ndarray:
    """The pointwise mutual information of every two words, at the distance that they have here, in nats.

    Words that the network does not know count as one word, `<unk>`, in the text too. Pairs that never occur there have
    no value, NaN. `corpus` is a file, a sentence a line; without one, the model of the grammar has the grammar's.
    """
    if corpus is None and not of_grammar:
        raise InputError(
            f"{named('method')} information counts words in a text, and only the model of the grammar comes with one; "
            f"give a text like the one that the network was taught, one sentence a line, with {named('corpus')}"
        )
    known = vocabulary_of(alphabet).places

    def read(words: Iterable[Hashable]) -> list[Hashable]:
        return [word if word in known else UNKNOWN for word in words]

    counted = [read(sentence) for sentence in (_grammar() if corpus is None else _lines(corpus))]
    farthest = min(len(tokens), max(map(len, counted), default=0)) - 1
    if farthest < 1:
        raise InputError(f"{str(corpus)!r} has no line with two words: there is nothing to count")
    if vocabulary_of(alphabet).are_ids(tokens):
        tokens = [alphabet[int(token)] for token in tokens]  # pyright: ignore[reportArgumentType]
    return information_matrix(read(tokens), mutual_informations(counted, range(1, farthest + 1)))


def _lines(file: Any) -> Iterator[list[str]]:
    return (words[:-1] for words in lines(file))  # without <eos>, which is no word of a sentence


def _grammar() -> Iterator[list[str]]:
    """Sentences of the built-in grammar, as its model has read them."""
    sentence: list[str] = []
    for word in grammar_words(GRAMMAR_WORDS, seed=0):
        if word == END:
            yield sentence
            sentence = []
        else:
            sentence.append(word)
