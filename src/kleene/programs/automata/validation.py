"""What an automaton's table must be, each fault named with the entry and the way out.

Where two automata part ways.
"""

from collections import deque
from collections.abc import Hashable, Iterable, Mapping
from typing import TYPE_CHECKING, Any

from kleene.errors import InputError, ProgramError
from kleene.notation.tapes import as_tape


def checked_states(states: Any) -> tuple[Hashable, ...]:
    """The states in their order, told apart by their names."""
    found = _listed(states, "states", "the names of the states")
    if not found:
        raise ProgramError("there are no states; an automaton needs at least its start state")
    names: dict[str, Any] = {}
    for state in found:
        check_hashable(state)
        if str(state) in names:
            both = f"{names[str(state)]!r} and {state!r}"
            raise ProgramError(f"two states are called {state}: {both}; give every state a name of its own")
        names[str(state)] = state
    if len(set(found)) < len(found):  # as 1 and True are, and 1.0
        first, second = next((p, q) for n, q in enumerate(found) for p in found[:n] if p == q)
        raise ProgramError(f"the states {first!r} and {second!r} are equal; give every state a name of its own")
    return found


def check_hashable(state: Any) -> None:
    """Refuse a state that cannot be looked up."""
    if not _hashable(state):
        raise ProgramError(f"state {state!r} is a {type(state).__name__}; name states with texts or numbers")


def _hashable(thing: Any) -> bool:
    """Whether it can be looked up; a tuple with a list in it only claims so."""
    try:
        hash(thing)
    except TypeError:
        return False
    return True


def checked_alphabet(alphabet: Any) -> tuple[str, ...]:
    """The symbols in their order."""
    found = _listed(alphabet, "alphabet", "the symbols")
    if not found:
        raise ProgramError("the alphabet is empty; an automaton needs at least one symbol to read")
    for symbol in found:
        if not isinstance(symbol, str) or not symbol:
            raise ProgramError(f"the alphabet has {symbol!r}; symbols are texts that are not empty: {str(symbol)!r}?")
    if len(set(found)) < len(found):
        twice = next(symbol for symbol in found if found.count(symbol) > 1)
        raise ProgramError(f"the alphabet has the symbol {twice!r} twice; list every symbol once")
    return found


def _listed(things: Any, name: str, what: str) -> tuple[Any, ...]:
    if not isinstance(things, Iterable) or isinstance(things, bytes):
        raise ProgramError(f"{name} is {things!r}; list {what}, as in {name}=('a', 'b')")
    # A set has no order of its own, and not even the same one in the next process.
    return tuple(sorted(things, key=str) if isinstance(things, (set, frozenset)) else things)


def checked_transitions(
    transitions: Any, states: tuple[Hashable, ...], alphabet: tuple[str, ...]
) -> dict[tuple[Hashable, str], Hashable]:
    """The table as a dict of its own, an entry for every state and symbol, in their order."""
    if not isinstance(transitions, Mapping):
        raise ProgramError(f"transitions is {transitions!r}; give a dict that maps (state, symbol) to the next state")
    known, symbols = set(states), set(alphabet)
    for key, target in transitions.items():
        _check_entry(key, target, known, symbols)
    gaps = [(q, a) for q in states for a in alphabet if (q, a) not in transitions]
    if gaps:
        shown = ", ".join(f"({q}, {a})" for q, a in gaps[:4]) + (f" and {len(gaps) - 4} more" if len(gaps) > 4 else "")
        raise ProgramError(
            f"the table is incomplete: there is no transition for {shown}. Every state needs one for each symbol; "
            f"where a word is lost, send it to a state of its own that does not accept and never leaves itself."
        )
    return {(q, a): transitions[q, a] for q in states for a in alphabet}


def _check_entry(key: Any, target: Any, states: set, symbols: set) -> None:
    if not isinstance(key, tuple) or len(key) != 2:
        raise ProgramError(f"the key {key!r} of transitions is not a pair (state, symbol)")
    state, symbol = key
    if state not in states:
        raise ProgramError(f"transitions has an entry for {key!r}, but {state!r} is not one of the {_some(states)}")
    if symbol not in symbols:
        raise ProgramError(
            f"transitions has an entry for {key!r}, but {symbol!r} is not in the alphabet: {_sorted(symbols)}"
        )
    if not _hashable(target) or target not in states:
        raise ProgramError(
            f"state {state!r} goes to {target!r} on symbol {symbol!r}, but {target!r} is not one of the "
            f"{_some(states)}; add it to `states`, or fix transitions[{state!r}, {symbol!r}]"
        )


def _sorted(names: set) -> str:
    return " ".join(sorted(map(str, names)))


def _some(states: set) -> str:
    return f"states {_sorted(states)}" if len(states) <= 12 else f"{len(states)} states"


def checked_start(start: Any, states: tuple[Hashable, ...]) -> Hashable:
    if start not in states:
        raise ProgramError(f"the start state is {start!r}, which is not one of the {_some(set(states))}")
    return start


def checked_accept(accept: Any, states: tuple[Hashable, ...]) -> frozenset[Hashable]:
    """The accepting states; none at all is allowed, and accepts nothing."""
    if isinstance(accept, str) or not isinstance(accept, Iterable):
        raise ProgramError(f"accept is {accept!r}; give the accepting states as a list, as in accept=[{accept!r}]")
    found = list(accept)
    for state in found:
        if not _hashable(state) or state not in states:
            raise ProgramError(f"accept has {state!r}, which is not one of the {_some(set(states))}")
    return frozenset(found)


def rows_as_transitions(rows: Iterable[Any]) -> dict[tuple[Hashable, str], Hashable]:
    """Rows (state, symbol, next state) as a table; two rows for the same state and symbol are refused."""
    table: dict[tuple[Hashable, str], Hashable] = {}
    for number, row in enumerate(rows):
        if not isinstance(row, (tuple, list)) or len(row) != 3 or not all(map(_hashable, row)):
            raise ProgramError(f"row {number} of the table is {row!r}; write (state, symbol, next state)")
        state, symbol, target = row
        if (state, symbol) in table:
            raise ProgramError(
                f"the table is ambiguous: from {state!r} on {symbol!r} it goes to {table[state, symbol]!r} and, in row "
                f"{number}, to {target!r}. Keep one of them, or build the automaton from an NFA of automata-lib."
            )
        table[state, symbol] = target
    return table


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
