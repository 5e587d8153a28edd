"""Alphabets: symbols that stand for the tokens of a program, so that people can type and read them."""

from collections.abc import Sequence
from typing import Any

from kleene.errors import InputError, ProgramError


def checked_alphabet(symbols: Any, size: int, name: str, of: str) -> tuple[str, ...] | None:
    """The symbols of an alphabet, a text or a sequence of texts: as many as there are tokens, and all different.

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
    """The tokens of a text, or of a list of symbols; integers are tokens already.

    A text is read letter by letter; where a symbol is longer than a letter, symbols have spaces between them.

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
    """The symbols for a person, the first ones if there are many."""
    between = "" if is_plain(alphabet) else " "
    return between.join(alphabet[:most]) + (" …" if len(alphabet) > most else "")
