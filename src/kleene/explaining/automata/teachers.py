"""The teacher of L*: it answers whether a network accepts a word, and whether a hypothesis is wrong.

Words are asked in large batches, and answers are kept. No teacher can decide whether a network and an automaton agree
on all words, so a hypothesis is tested on all short words and on many random ones.
"""

from collections.abc import Callable, Iterator, Sequence
from itertools import islice, product, takewhile
from typing import Any

import numpy as np

from kleene.errors import InputError
from kleene.programs.automata import DFA

Word = str | tuple[str, ...]  # a string if every symbol is one character
Places = tuple[int, ...]  # a word as the places of its symbols in the alphabet

SHORT = 1000  # shortest words in a test
LENGTHS = (4, 8, 16, 32)  # of random words in a test: up to 4, 5 to 8, 9 to 16, 17 to 32
DRAWN = 150  # random words of each length
WALKS = 800  # words of the W-method that test a hypothesis


class Teacher:
    """A network that is asked about each word once."""

    def __init__(self, alphabet: tuple[str, ...], accepts_batch: Callable[[list[Word]], Any]):
        self.alphabet, self.size = alphabet, len(alphabet)
        self.answers: dict[Places, bool] = {}
        self._accepts_batch = accepts_batch
        self._asked: set[Places] = set()
        self._joined = all(len(symbol) == 1 for symbol in alphabet)

    @classmethod
    def of(cls, network: Any, alphabet: Sequence[str] | None) -> "Teacher":
        """The teacher for a network with `accepts_batch`, or for a function of a word."""
        accepts_batch = getattr(network, "accepts_batch", None)
        if accepts_batch is None and not callable(network):
            raise InputError(
                f"a {type(network).__name__} cannot be asked about words: L* learns from what has `accepts_batch`, or "
                f"from a function of a word"
            )
        symbols = tuple(getattr(network, "alphabet", ()) if alphabet is None else alphabet)
        if not symbols or not all(isinstance(symbol, str) and symbol for symbol in symbols):
            raise InputError(
                f"L* needs an alphabet of texts, and this is {symbols!r}: give `alphabet=` with a function, which has "
                f"none of its own, and name a network's tokens by texts"
            )
        return cls(symbols, accepts_batch or (lambda words: [bool(network(word)) for word in words]))

    @property
    def queries(self) -> int:
        """How many words the learner asked about."""
        return len(self._asked)

    def word(self, places: Places) -> Word:
        symbols = tuple(self.alphabet[place] for place in places)
        return "".join(symbols) if self._joined else symbols

    def ask(self, words: Sequence[Places]) -> np.ndarray:
        """Whether the network accepts each word; new words are asked in one batch."""
        new = [word for word in dict.fromkeys(words) if word not in self.answers]
        if new:
            answers = np.asarray(self._accepts_batch([self.word(word) for word in new]), dtype=bool)
            self.answers |= zip(new, answers.tolist())
        return np.array([self.answers[word] for word in words], dtype=bool)

    def members(self, words: Sequence[Places]) -> np.ndarray:
        """Whether the network accepts each of the words that the learner asks about."""
        self._asked.update(words)
        return self.ask(words)


class Tester:
    """A search for a word on which an automaton and the network differ.

    It looks first at the words of earlier tests, whose answers are known, and then at new ones.
    """

    def __init__(self, teacher: Teacher, rng: np.random.Generator):
        self.teacher, self.rng = teacher, rng
        self.codes = np.zeros((0, 0), dtype=np.int32)  # the words of all tests, one per row, padded with 0
        self.lengths, self.accepted = np.zeros(0, dtype=np.int64), np.zeros(0, dtype=bool)
        self._words: dict[Places, None] = {}

    @property
    def queries(self) -> int:
        """How many different words have been in a test."""
        return len(self._words)

    def counterexample(self, dfa: DFA, access: Sequence[Places], suffixes: Sequence[Places]) -> Places | None:
        """The shortest word found on which the automaton is wrong, or None.

        `access` has a word that leads to each state, and `suffixes` distinguish the states.
        """
        if not self._words:
            short = islice(all_words(self.teacher.size), SHORT)
            self._add(list(takewhile(lambda word: len(word) <= LENGTHS[-1], short)))
        known = self._wrong(dfa)
        if known is not None:
            return known
        self._add(self._drawn(access, suffixes))
        return self._wrong(dfa)

    def _drawn(self, access: Sequence[Places], suffixes: Sequence[Places]) -> list[Places]:
        """New words: random words, random continuations of access words, and words of Chow's W-method.

        In the W-method a short walk from a state is followed by a suffix that distinguishes where it led.
        """
        size, rng = self.teacher.size, self.rng
        words = random_words(size, LENGTHS, DRAWN, rng)
        tails = random_words(size, LENGTHS, DRAWN, rng)
        words += [access[start] + tail for start, tail in zip(rng.integers(len(access), size=len(tails)), tails)]
        walks = list(islice(all_words(size), 1, 1 + size + size**2))
        parts = [rng.integers(len(part), size=WALKS) for part in (access, walks, suffixes)]
        return words + [access[a] + walks[b] + suffixes[c] for a, b, c in zip(*parts)]

    def _add(self, words: list[Places]) -> None:
        new = [word for word in dict.fromkeys(words) if word not in self._words]
        self._words |= dict.fromkeys(new)
        width = max([self.codes.shape[1], *map(len, new)])
        rows = np.zeros((len(new), width), dtype=np.int32)
        for row, word in zip(rows, new):
            row[: len(word)] = word
        old = np.pad(self.codes, ((0, 0), (0, width - self.codes.shape[1])))
        self.codes = np.concatenate([old, rows])
        self.lengths = np.append(self.lengths, [len(word) for word in new]).astype(np.int64)
        self.accepted = np.append(self.accepted, self.teacher.ask(new)).astype(bool)

    def _wrong(self, dfa: DFA) -> Places | None:
        state = np.full(len(self.codes), dfa.start_code)
        for position, column in enumerate(self.codes.T):
            state = np.where(position < self.lengths, dfa.table[state, column], state)
        differ = np.flatnonzero(dfa.accepting[state] != self.accepted)
        if not len(differ):
            return None
        row = differ[int(np.argmin(self.lengths[differ]))]
        return tuple(self.codes[row, : self.lengths[row]].tolist())


def all_words(size: int) -> Iterator[Places]:
    """All words over `size` symbols, shortest first, without end."""
    length = 0
    while True:
        yield from product(range(size), repeat=length)
        length += 1


def random_words(size: int, lengths: Sequence[int], each: int, rng: np.random.Generator) -> list[Places]:
    """`each` words for each of some rising lengths: at most that long, and longer than the length before.

    Half of them prefer some symbols to others, because in many languages, such as 1*, hardly any word is accepted whose
    symbols are all equally likely.
    """
    words = []
    for shorter, longest in zip((0, *lengths), lengths):
        shares = rng.dirichlet(np.full(size, 0.5), size=each)
        shares[::2] = 1 / size
        limits = np.cumsum(shares, axis=1)[:, None, :-1]
        drawn = (rng.random((each, longest, 1)) > limits).sum(axis=2)
        words += [tuple(row[:n]) for row, n in zip(drawn.tolist(), rng.integers(shorter + 1, longest + 1, size=each))]
    return words
