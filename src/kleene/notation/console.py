"""What the command line needs from every kind: shelves of examples, typed words, and how a run is shown."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from kleene.errors import InputError, did_you_mean


@dataclass(frozen=True)
class Entry:
    """One program of a shelf: how to build it, an example input, and its expected output in plain Python.

    The kind of input is the program's own: tokens, a word, a memory. Only the first four fields are always given.

    >>> double = Entry("double", "twice a number", lambda: None, ("21",), reference=lambda number: 2 * number)
    >>> double.reference(21)
    42
    """

    name: str
    summary: str
    build: Callable[..., Any]
    example: tuple[str, ...]  # what a person types after `kleene run NAME`
    cases: tuple[tuple[Any, Any], ...] = ()  # inputs with their outputs
    # Functions, each None where the program has none of its own.
    reference: Any = None  # (input) -> the output, computed without the program
    leaves: Any = None  # (word) -> the tape that a Turing machine ends with
    read: Any = None  # (typed words) -> input, where the kind's own `read` does not fit
    show: Any = None  # (input, output) -> what a person wants to see
    spelled: Any = None  # (token) -> the token as a person writes it
    sample: Any = None  # (random.Random, size) -> an input of about that size
    every: Any = None  # (size) -> all inputs of up to that size


@dataclass(frozen=True)
class Shelf:
    """Entries in their order; errors call one of them a `what`."""

    what: str
    rows: tuple[Entry, ...]

    def entries(self) -> dict[str, Entry]:
        """Every entry by its name."""
        return {entry.name: entry for entry in self.rows}

    def get(self, name: str) -> Entry:
        """The entry of that name; where there is none, an InputError suggests another."""
        found = self.entries().get(name)
        if found is None:
            raise InputError(f"no {self.what} {name!r} on the shelf; {did_you_mean(name, self.entries())}")
        return found


@dataclass(frozen=True)
class Telling:
    """How a kind reports a run: facts for JSON, the answer for a person, and what was done ("read 3 symbols")."""

    facts: Mapping[str, Any]
    answer: str
    deed: str
    remark: str = ""  # what else a person should know
    hidden: tuple[str, ...] = ()  # channels that the terminal shows only where a person asks for them
    # The trace as lines of at most a width for some steps (None: those that are worth a look), if not as a table.
    lines: Callable[[int, range | None], list[str]] | None = None
    stored: Callable[[], dict[str, Any]] | None = None  # the trace for JSON, if not as `kleene.Trace` stores it


def typed_word(words: Sequence[str], alphabet: Sequence[Any]) -> str | list[Any]:
    """The word that a person typed: a string, or a list of symbols where some are longer than one character.

    >>> typed_word(["11", "0"], ("0", "1")), typed_word(["one two"], ("one", "two"))
    ('110', ['one', 'two'])
    """
    if all(isinstance(symbol, str) and len(symbol) == 1 for symbol in alphabet):
        typed = "".join(words)
        return typed if " " in alphabet else typed.replace(" ", "")
    spelled = {str(symbol): symbol for symbol in alphabet}  # tokens of a language model may be numbers
    return [spelled.get(word, word) for word in " ".join(words).split()]


def typed_tokens(words: Sequence[str], vocabulary: Sequence[Any]) -> list:
    """The values that a person typed, by how Python writes them; one after the other where each is one character.

    A word that is not in the vocabulary is left as it is, so that the program can refuse it. Where a text is written as
    a number of the vocabulary is, the text has quotes.

    >>> typed_tokens(["3142"], range(5)), typed_tokens(["10", "x"], (10, "x")), typed_tokens(["ab"], "abc")
    ([3, 1, 4, 2], [10, 'x'], ['a', 'b'])
    >>> typed_tokens(["1", "'1'"], (1, "1"))
    [1, '1']
    """
    texts = {str(value): value for value in vocabulary}
    spelled = {repr(v): v for v in vocabulary} | texts | {repr(v): v for v in vocabulary if not isinstance(v, str)}
    if not all(word in spelled for word in words):
        words = " ".join(words).replace(",", " ").split() if "," not in spelled else " ".join(words).split()
    if all(len(word) == 1 for word in texts) and not all(word in spelled for word in words):
        words = list("".join(words))
    return [spelled.get(word, word) for word in words]


def typed_vocabulary(text: str) -> list:
    """The vocabulary that a person typed: characters, or numbers and words with commas or spaces between them.

    >>> typed_vocabulary("abc"), typed_vocabulary("1,2,10"), typed_vocabulary("yes no 0.5")
    (['a', 'b', 'c'], [1, 2, 10], ['yes', 'no', 0.5])
    """
    parts = text.replace(",", " ").split()
    return list(text) if len(parts) < 2 and "," not in text else [_number(part) for part in parts]


def _number(text: str) -> int | float | str:
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text
