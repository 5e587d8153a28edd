"""Inputs as people give them, words over an alphabet or tokens: checked, turned into codes and padded to one array.

At the end are decoder-only runs, which write tokens one after the other. No position looks to its right there, so the
values at a position never change as the sequence grows, and can be cached. Each position runs its own layers. It is
done when its own halting variable says so (or after the program's fixed number of layers), and does not change from
then on; a later position in layer n sees its values in layer n.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Protocol, runtime_checkable

import numpy as np

from kleene.errors import InputError, ProgramError
from kleene.traces.channels import Meaning
from kleene.traces.values import unboxed, value_key

Word = str | Iterable[str]  # a string, one symbol a character, or symbols


def word_codes(word: Word, alphabet: tuple[str, ...], whose: str = "the alphabet") -> list[int]:
    """The index of each symbol in the alphabet. A word is a string, one symbol a character, or a sequence of symbols.

    >>> word_codes("abba", ("a", "b"))
    [0, 1, 1, 0]
    """
    word, places = whole_word(word), {symbol: code for code, symbol in enumerate(alphabet)}
    try:
        return [places[symbol] for symbol in word]
    except (KeyError, TypeError):
        raise InputError(_complaint(word, places, whose)) from None


def whole_word(word: Any) -> Any:
    """The word as a sequence that can be read more than once: a list where it was an iterator."""
    return list(word) if isinstance(word, Iterable) and not isinstance(word, Sequence) else word


def _complaint(word: object, places: dict[str, int], whose: str) -> str:
    known = " ".join(places) or "empty"
    if not isinstance(word, Sequence) or isinstance(word, bytes):
        return f"the word is {word!r}; give a text, one symbol a character, or a list of symbols of {whose}: {known}"
    position, symbol = next((i, s) for i, s in enumerate(word) if not (isinstance(s, str) and s in places))
    hint = f"; write {str(symbol)!r}, symbols are texts" if str(symbol) in places else ""
    return f"symbol {position} of the word is {symbol!r}, which is not in {whose}: {known}{hint}"


def padded_codes(words: Iterable[Word], alphabet: tuple[str, ...]) -> tuple[np.ndarray, np.ndarray]:
    """Words of unequal length as one array of codes (batch, position), padded with zeros, and their lengths.

    Strings over one-character alphabets are looked up together: 10,000 words of 20 symbols take a few milliseconds.

    >>> padded_codes(["ab", "b"], ("a", "b"))[0].tolist()
    [[0, 1], [1, 0]]
    """
    words = [whole_word(word) for word in words]
    in_one_go = all(isinstance(word, str) for word in words) and all(len(symbol) == 1 for symbol in alphabet)
    codes = _text_codes("".join(map(str, words)), alphabet) if in_one_go else None
    if codes is None:
        codes = np.array([code for row, word in enumerate(words) for code in _row(row, word, alphabet)], dtype=np.int32)
    lengths = np.fromiter(map(len, words), dtype=np.int64, count=len(words))
    rows = np.zeros((len(words), int(lengths.max(initial=0))), dtype=np.int32)
    rows[np.arange(rows.shape[1]) < lengths[:, None]] = codes
    return rows, lengths


def _row(number: int, word: Word, alphabet: tuple[str, ...]) -> list[int]:
    try:
        return word_codes(word, alphabet)
    except InputError as error:
        raise InputError(f"word {number}: {error}") from None


def _text_codes(text: str, alphabet: tuple[str, ...]) -> np.ndarray | None:
    """The codes, looked up in a table of characters; None where a character is not in the alphabet."""
    characters = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), dtype=np.uint32)
    table = np.full(max(map(ord, alphabet), default=0) + 2, -1, dtype=np.int32)  # the last entry: any other character
    table[[ord(symbol) for symbol in alphabet]] = np.arange(len(alphabet))
    codes = table[np.minimum(characters, len(table) - 1)]
    return None if (codes < 0).any() else codes


def checked_alphabet(symbols: Any, size: int, name: str, of: str) -> tuple[str, ...] | None:
    """The symbols of an alphabet, a string or a sequence of strings: as many as there are tokens, and all different.

    >>> checked_alphabet("abc", 3, "alphabet", "input_range")
    ('a', 'b', 'c')
    """
    if symbols is None:
        return None
    found = tuple(symbols) if isinstance(symbols, Sequence) else None
    if found is None or not all(isinstance(symbol, str) and symbol for symbol in found):
        raise ProgramError(f"{name} is {symbols!r}; it is a text such as 'abc', or a list of symbols, each a text.")
    if len(found) != size:
        raise ProgramError(f"{name} has {len(found)} symbols, and {of} is {size}; give a symbol for every token.")
    twice = next((symbol for place, symbol in enumerate(found) if symbol in found[:place]), None)
    if twice is not None:
        raise ProgramError(f"{name} has {twice!r} twice, and a symbol stands for one token.")
    return found


def read_symbols(sequence: Any, alphabet: tuple[str, ...], name: str) -> list[Any]:
    """The tokens of a string, or of a list of symbols; integers are already tokens.

    A string is read letter by letter; where a symbol is longer than a letter, symbols have spaces between them.

    >>> read_symbols("cab", ("a", "b", "c"), "program"), read_symbols("up down", ("down", "up"), "program")
    ([2, 0, 1], [1, 0])
    """
    if isinstance(sequence, str):
        sequence = list(sequence) if is_plain(alphabet) else sequence.split()
    places = {symbol: place for place, symbol in enumerate(alphabet)}
    tokens = []
    for position, symbol in enumerate(sequence):
        if isinstance(symbol, str) and symbol not in places:
            raise InputError(
                f"{name}: symbol {position} of the input is {symbol!r}, and the alphabet is {shown_alphabet(alphabet)}"
            )
        tokens.append(places[symbol] if isinstance(symbol, str) else symbol)
    return tokens


def is_plain(alphabet: Sequence[str]) -> bool:
    """Whether every symbol is one letter, so that a word needs no spaces."""
    return all(len(symbol) == 1 for symbol in alphabet)


def shown_alphabet(alphabet: Sequence[str], most: int = 30) -> str:
    """The symbols for an error message; of many, only the first."""
    between = "" if is_plain(alphabet) else " "
    return between.join(alphabet[:most]) + (" …" if len(alphabet) > most else "")


@dataclass(frozen=True)
class PrefixedVocabulary:
    """The words of a language whose inputs are any values, and how they become tokens: START, then a code for each.

    >>> PrefixedVocabulary((1, 2, "x"), longest=4).codes([2, "x"], "program")
    [0, 2, 3]
    """

    values: tuple[Meaning, ...]
    longest: int

    def __post_init__(self) -> None:
        object.__setattr__(self, "values", unboxed(self.values))

    def codes(self, sequence: Any, name: str) -> list[int]:
        """The tokens of an input with the start before them; refuses one that is too long or has other words.

        A text is read letter by letter, or where a word is longer than a letter, word by word.
        """
        if isinstance(sequence, str):
            is_short = all(isinstance(value, str) and len(value) == 1 for value in self.values)
            sequence = list(sequence) if is_short else sequence.split()
        try:
            words = [unboxed(word) for word in sequence]
        except TypeError:
            raise InputError(f"{name}: the input is {sequence!r}, and a list of words was expected") from None
        if len(words) > self.longest:
            raise InputError(
                f"{name}: the input has {len(words)} tokens, but it was made for at most {self.longest}; "
                f"give a larger max_length"
            )
        found = [self.place(word) for word in words]
        if None in found:
            place = found.index(None)
            shown = " ".join(map(repr, self.values[:30])) + (" …" if len(self.values) > 30 else "")
            raise InputError(f"{name}: token {place} of the input is {words[place]!r}, and the vocabulary is {shown}")
        return [0, *(1 + at for at in found if at is not None)]

    def place(self, word: Any) -> int | None:
        """The place of a word among the values, or None; 1.0 and True are not the word 1.

        >>> PrefixedVocabulary((1, 2), longest=4).place(2), PrefixedVocabulary((1, 2), longest=4).place(2.0)
        (1, None)
        """
        return self._places.get(value_key(word))

    @cached_property
    def _places(self) -> dict[Any, int]:
        return {value_key(value): place for place, value in enumerate(self.values)}


Tokens = Sequence[Any] | np.ndarray  # one input: tokens, or a string or symbols of an alphabet


def checked_input(
    sequence: Tokens,
    name: str,
    input_range: int,
    position_range: int | None,
    alphabet: tuple[str, ...] | None = None,
) -> list[int]:
    """The sequence as plain integers; refuses one that is empty or too long, and tokens that are no integers in range.

    With an alphabet it may be a string, or a list of symbols.
    """
    try:
        tokens = list(sequence) if alphabet is None else read_symbols(sequence, alphabet, name)
    except TypeError:
        raise InputError(f"{name}: the input is {sequence!r}, and a sequence of integers was expected") from None
    if not tokens:
        raise InputError(f"{name}: the input is empty; give at least one token in 0..{input_range - 1}")
    if position_range is not None and len(tokens) > position_range:
        raise InputError(
            f"{name}: the input has {len(tokens)} tokens, but the program was built for at most {position_range} "
            f"positions; build it with a larger position_range"
        )
    if {*map(type, tokens)} == {int} and min(tokens) >= 0 and max(tokens) < input_range:
        return tokens  # the usual case, in a tenth of the time
    for position, token in enumerate(tokens):
        if not isinstance(token, (int, np.integer, bool)):
            raise InputError(f"{name}: token {position} is {token!r}, and tokens are integers in 0..{input_range - 1}")
        if not 0 <= token < input_range:
            raise InputError(f"{name}: token {position} is {token}, and tokens are in 0..{input_range - 1}")
    return [int(t) for t in tokens]


def padded(sequences: Sequence[Tokens]) -> tuple[np.ndarray, np.ndarray]:
    """Sequences of unequal length as one array (batch, position), padded with zeros, and their lengths.

    >>> padded([[1, 2], [3]])[0].tolist()
    [[1, 2], [3, 0]]
    """
    lengths = np.array([len(s) for s in sequences], dtype=np.int64)
    tokens = np.zeros((len(sequences), int(lengths.max(initial=0))), dtype=np.int32)
    for row, sequence in enumerate(sequences):
        tokens[row, : len(sequence)] = sequence
    return tokens, lengths


@dataclass(frozen=True)
class Decoding:
    """The result of decoding: the tokens after the prompt, the layers that each position took, and its final values."""

    tokens: list[int]
    layers: list[int]
    final: Mapping[str, np.ndarray] = field(repr=False)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Decoding) or (self.tokens, self.layers) != (other.tokens, other.layers):
            return False
        return self.final.keys() == other.final.keys() and all(
            np.allclose(self.final[n], other.final[n], rtol=2**-7, equal_nan=True) for n in self.final
        )

    __hash__ = None  # type: ignore[assignment]


@runtime_checkable
class Decoder(Protocol):
    """A sequence that grows: a token goes in, the output at its position comes out."""

    def feed(self, token: int) -> int: ...

    def result(self, tokens: list[int]) -> Decoding: ...


def write(
    decoder: Decoder, prompt: list[int], tokens: int, stop: int | None, check: Callable[[list[int]], object]
) -> Decoding:
    """Feed the prompt, then every token written, until `tokens` are written or one is the `stop` token."""
    if tokens < 0:
        raise InputError(f"tokens is {tokens}; it must be 0 or more")
    written: list[int] = []
    output = [decoder.feed(token) for token in prompt][-1]
    while len(written) < tokens:
        written.append(output)
        if output == stop:
            break
        if len(written) < tokens:
            check([*prompt, *written])
            output = decoder.feed(output)
    return decoder.result(written)
