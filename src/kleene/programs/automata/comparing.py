"""Where two automata part ways."""

from collections import deque
from typing import TYPE_CHECKING

from kleene.errors import InputError
from kleene.traces.configurations import as_tape

if TYPE_CHECKING:
    from kleene.programs.automata.dfa import DFA


def distinguishing_word(a: "DFA", b: "DFA") -> str | tuple[str, ...] | None:
    """A shortest word that only one of the two accepts, the first in order of `a`'s alphabet; None if there is none.

    A breadth-first search over the pairs of states that the two reach together.
    """
    check_alphabets(a, b)
    columns = [b.alphabet.index(symbol) for symbol in a.alphabet]
    mine, theirs = a.table.tolist(), b.table[:, columns].tolist()
    in_a, in_b = a.accepting.tolist(), b.accepting.tolist()
    start = (a.start_code, b.start_code)
    reached: dict[tuple[int, int], tuple[tuple[int, int], str] | None] = {start: None}  # how each pair was found
    waiting = deque([start])
    while waiting:
        pair = waiting.popleft()
        if in_a[pair[0]] != in_b[pair[1]]:
            return _word(pair, reached, a.alphabet)
        for symbol, following in zip(a.alphabet, zip(mine[pair[0]], theirs[pair[1]])):
            if following not in reached:
                reached[following] = (pair, symbol)
                waiting.append(following)
    return None


def _word(pair: tuple[int, int], reached: dict, alphabet: tuple[str, ...]) -> str | tuple[str, ...]:
    symbols = []
    while reached[pair] is not None:
        pair, symbol = reached[pair]
        symbols.append(symbol)
    return as_tape(alphabet)(reversed(symbols))


def check_alphabets(a: "DFA", b: "DFA") -> None:
    """Refuse automata over different alphabets: what one cannot read is neither in its language nor outside."""
    if set(a.alphabet) != set(b.alphabet):
        raise InputError(
            f"the alphabets differ: {' '.join(a.alphabet)} and {' '.join(b.alphabet)}; build both over the same "
            f"symbols, for a regular expression with alphabet="
        )
