"""Text for language models: the words of any file, their vocabulary, and the words as integers.

White space separates words, capitals are kept, and every line, an empty one too, ends in `<eos>`. Wikitext-2 then has
the word counts that others report for it.
"""

import io
import os
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import count, islice
from pathlib import Path
from typing import Any

import numpy as np

from kleene.data import data_file
from kleene.errors import InputError, ModelFileError
from kleene.files import read_bytes

UNKNOWN = "<unk>"
END = "<eos>"
LONGEST_LINE = 16 << 20  # characters


@dataclass(frozen=True)
class Vocabulary:
    """Words and their ids: `<unk>` and `<eos>`, then the others, the most frequent first.

    >>> vocabulary = Vocabulary.of("a rose is a rose".split())
    >>> vocabulary.words
    ('<unk>', '<eos>', 'a', 'rose', 'is')
    >>> vocabulary.encode("a daisy is a Rose".split()).tolist()
    [2, 0, 4, 2, 0]
    """

    words: tuple[str, ...]

    def __post_init__(self) -> None:
        if len(self.places) != len(self.words):
            twice = next(word for word, count in Counter(self.words).items() if count > 1)
            raise InputError(f"the vocabulary has the word {twice!r} twice; a word has one number")

    @classmethod
    def of(cls, words: Iterable[str], *, minimum: int | None = 1, size: int | None = None) -> "Vocabulary":
        """The words that occur at least `minimum` times, at most `size` of them with `<unk>` and `<eos>`.

        Equally frequent words are in alphabetical order. Where `minimum` is None, words that occur once are left out,
        unless the text already has `<unk>`, because a model that never met `<unk>` takes it for the least likely word.
        """
        if (minimum is not None and minimum < 1) or (size is not None and size < 2):
            raise InputError(f"minimum is {minimum} and size is {size}; give 1 or more and 2 or more")
        counts = Counter(words)
        if minimum is None:
            minimum = 1 if UNKNOWN in counts else 2
        frequent = sorted((-n, word) for word, n in counts.items() if n >= minimum and word not in (UNKNOWN, END))
        kept = [word for _, word in frequent]
        return cls((UNKNOWN, END, *kept[: None if size is None else size - 2]))

    @cached_property
    def places(self) -> dict[str, int]:
        """The id of each word."""
        return {word: place for place, word in enumerate(self.words)}

    def __len__(self) -> int:
        return len(self.words)

    def __iter__(self) -> Iterator[str]:
        return iter(self.words)

    def encode(self, words: Iterable[str]) -> np.ndarray:
        """The ids of the words (int32); a word that is not in the vocabulary gets that of `<unk>`."""
        unknown, places = self.places.get(UNKNOWN), self.places
        if unknown is None:
            words = list(words)
            missing = next((word for word in words if word not in places), None)
            if missing is not None:
                raise InputError(
                    f"the word {missing!r} is not in the vocabulary, and there is no {UNKNOWN} in it either"
                )
        return np.fromiter((places.get(word, unknown) for word in words), dtype=np.int32)

    def decode(self, numbers: Iterable[int] | np.ndarray) -> list[str]:
        """The words with these ids."""
        return [self.words[number] for number in numbers]


@dataclass(frozen=True)
class Streamed:
    """The content of a pipe, which can be read only once, and the path that errors name."""

    path: Any
    content: bytes

    def __str__(self) -> str:
        return str(self.path)


def text_source(path: Any) -> Any:
    """A source that `lines` can read several times: the path of a regular file, or the content of a pipe."""
    if os.path.isfile(path) or not os.path.exists(path) or os.path.isdir(path):
        return path
    try:
        return Streamed(path, read_bytes(path))
    except ModelFileError as error:
        raise InputError(str(error)) from None


def lines(path: Any, first: int = 0, last: int | None = None) -> Iterator[list[str]]:
    """The words of each line of a text file, `<eos>` at its end; the file is never in memory as a whole."""
    source = path if isinstance(path, Streamed) else text_source(path)
    number = first
    try:
        # utf-8-sig skips the byte-order mark that some editors write
        with _opened(source) as opened, io.TextIOWrapper(opened, encoding="utf-8-sig") as file:
            for line in islice(_bounded(file, str(path)), first, last):
                yield [*line.split(), END]
                number += 1
    except FileNotFoundError:
        raise InputError(f"there is no file {str(path)!r}") from None
    except OSError as error:
        raise InputError(f"{str(path)!r} cannot be read: {error.strerror}") from None
    except UnicodeDecodeError:
        raise InputError(
            f"{str(path)!r} is not a text file in UTF-8: it cannot be read after line {number}. Store it as UTF-8."
        ) from None


def _opened(source: Any) -> Any:
    return io.BytesIO(source.content) if isinstance(source, Streamed) else open(source, "rb")


def _bounded(file: io.TextIOWrapper, name: str) -> Iterator[str]:
    """The lines of the file; a line of more than `LONGEST_LINE` characters is refused."""
    for number in count(1):
        line = file.readline(LONGEST_LINE + 1)
        if len(line) > LONGEST_LINE:
            raise InputError(f"{name!r}, line {number} has more than {LONGEST_LINE:,} characters; break it into lines")
        if not line:
            return
        yield line


def words_of(path: Any, first: int = 0, last: int | None = None) -> Iterator[str]:
    """The words of some lines of a text file one after another, with the `<eos>` of each line."""
    for line in lines(path, first, last):
        yield from line


@dataclass(frozen=True)
class Corpus:
    """A text to learn from and one to be tested on, as word ids."""

    name: str
    vocabulary: Vocabulary
    train: np.ndarray
    held_out: np.ndarray

    def __post_init__(self) -> None:
        for part, tokens in (("to learn from", self.train), ("to be tested on", self.held_out)):
            if len(tokens) < 2:
                raise InputError(f"{self.name!r} has {len(tokens)} words {part}; a language model needs 2 at least")

    @classmethod
    def from_file(
        cls, path: Any, held_out: Any = None, *, minimum: int | None = 1, size: int | None = None
    ) -> "Corpus":
        """The corpus of a text file; `held_out` is another file, or the last tenth of the lines if it is not given.

        The vocabulary is that of the text to learn from.
        """
        path, name = text_source(path), Path(path).stem
        total = sum(1 for _ in lines(path))
        last = total if held_out is not None else total - max(1, total // 10)
        if last < 1:
            raise InputError(
                f"{str(path)!r} has {total} lines, which leaves none to learn from; give a longer text, or a second "
                f"one to be tested on"
            )
        vocabulary = Vocabulary.of(words_of(path, 0, last), minimum=minimum, size=size)
        tested = words_of(path, last) if held_out is None else words_of(held_out)
        train = vocabulary.encode(words_of(path, 0, last))
        return cls(name, vocabulary, train, vocabulary.encode(tested))


def wikitext_2(held_out: str = "valid", *, minimum: int | None = 1, size: int | None = None) -> Corpus:
    """The training part of wikitext-2 and its `valid` or `test` part, from the data folder."""
    if held_out not in ("valid", "test"):
        raise InputError(f"wikitext-2 has no part {held_out!r} to be tested on; there are valid and test")
    train, tested = (data_file("wikitext-2", f"{part}.txt") for part in ("train", held_out))
    found = Corpus.from_file(train, tested, minimum=minimum, size=size)
    return Corpus("wikitext-2", found.vocabulary, found.train, found.held_out)


def corpus(name: str | Path, **options: Any) -> Corpus:
    """The corpus of a text file, or of the data set of that name."""
    return wikitext_2(**options) if name == "wikitext-2" else Corpus.from_file(name, **options)


def unigram_perplexity(train: Sequence[int] | np.ndarray, held_out: Sequence[int] | np.ndarray, words: int) -> float:
    """The perplexity of a unigram model with add-one smoothing: it knows only how often each word occurs."""
    counts = np.bincount(np.asarray(train), minlength=words) + 1.0
    return float(np.exp(-np.mean(np.log(counts[np.asarray(held_out)] / counts.sum()))))
