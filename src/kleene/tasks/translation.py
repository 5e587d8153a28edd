"""Sentences with the sentences that they stand for, in a part to learn from and a part for tests: SCAN, or your own."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from jaxtyping import Int

from kleene.errors import InputError
from kleene.notation.words import padded
from kleene.programs.alta.library.scan_language import ACTIONS, WORDS, commands, interpret
from kleene.tasks.scan_splits import scan_split


@dataclass(frozen=True)
class Translation:
    """Pairs of sentences, words with spaces between, to learn from and for tests.

    >>> made = Translation("own", [("jump", "I_JUMP")], [("jump twice", "I_JUMP I_JUMP")])
    >>> made.vocabulary, made.answers, made.most
    (('jump', 'twice'), ('I_JUMP',), 2)
    """

    name: str
    train: Sequence[tuple[str, str]] = field(repr=False)
    test: Sequence[tuple[str, str]] = field(repr=False)

    def __post_init__(self) -> None:
        for part, pairs in (("training", self.train), ("test", self.test)):
            if not pairs:
                raise InputError(f"{self.name}: there are no {part} pairs; give at least one")
            empty = next((pair for pair in pairs if not (pair[0].split() and pair[1].split())), None)
            if empty is not None:
                raise InputError(f"{self.name}: a {part} pair is {tuple(empty)!r}; both sentences have a word or more")

    @cached_property
    def vocabulary(self) -> tuple[str, ...]:
        """The words of what is read."""
        return self._words(0, WORDS)

    @cached_property
    def answers(self) -> tuple[str, ...]:
        """The words of what is written."""
        return self._words(1, ACTIONS)

    @cached_property
    def most(self) -> int:
        """The number of words of the longest answer."""
        return max(len(pair[1].split()) for pair in (*self.train, *self.test))

    @cached_property
    def longest(self) -> int:
        """The number of words of the longest sentence that is read."""
        return max(len(pair[0].split()) for pair in (*self.train, *self.test))

    def _words(self, side: int, known: tuple[str, ...]) -> tuple[str, ...]:
        """All different words, in SCAN's order where they are SCAN's."""
        found = {word for pair in (*self.train, *self.test) for word in pair[side].split()}
        return tuple(known) if found == set(known) else tuple(sorted(found))

    def coded(
        self, pairs: Sequence[tuple[str, str]]
    ) -> tuple[Int[np.ndarray, "pair word"], Int[np.ndarray, " pair"], Int[np.ndarray, "pair answer"]]:
        """The sentences as numbers, padded, their lengths, and the answers: numbers from 1 on, 0 at the end, and -1."""
        places = {word: number for number, word in enumerate(self.vocabulary)}
        of_answers = {word: number for number, word in enumerate(self.answers, start=1)}
        sentences, lengths = padded([[places[word] for word in sentence.split()] for sentence, _ in pairs])
        wide = np.pad(sentences, ((0, 0), (0, self.longest - sentences.shape[1]))).astype(np.int32)
        answers = np.full((len(pairs), self.most + 1), -1, np.int32)
        for row, (_, answer) in zip(answers, pairs):
            codes = [of_answers[word] for word in answer.split()]
            row[: len(codes) + 1] = [*codes, 0]
        return wide, lengths.astype(np.int32), answers


def scan_translation(split: str) -> Translation:
    """A split of SCAN by name (`kleene.tasks.scan_splits`): a published one, `mcd:SEED`, or a file of indices."""
    found = scan_split(split)
    return Translation(f"scan {found.name}", *([(c, interpret(c)) for c in part] for part in (found.train, found.test)))


def scan_by_length(most: int = 22) -> Translation:
    """SCAN's length split, without its files: the training part has the commands of at most 22 actions."""
    pairs = [(command, interpret(command)) for command in commands()]
    short = [len(answer.split()) <= most for _, answer in pairs]
    parts = ([pair for pair, is_short in zip(pairs, short) if is_short is wanted] for wanted in (True, False))
    return Translation("scan length", *parts)
