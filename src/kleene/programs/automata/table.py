"""An automaton's transition table, checked when it is built; every error names the wrong entry and how to mend it."""

from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass, field, fields
from functools import cached_property, partial
from types import MappingProxyType
from typing import Any, Self

import numpy as np

from kleene.errors import ProgramError

State = Hashable
Positions = Mapping[Any, tuple[float, float]]  # where the states stand in a drawing, x to the right and y downwards


@dataclass(frozen=True, kw_only=True)
class TransitionTable:
    """States, symbols and one transition for every pair of them; `DFA` adds running, operations and files.

    `positions` are the places of the states in the drawing that the automaton was read from, if there was one.
    """

    states: tuple[State, ...]
    alphabet: tuple[str, ...]
    transitions: Mapping[tuple[State, str], State]
    start: State
    accept: frozenset[State]
    positions: Positions | None = field(default=None, compare=False, repr=False)

    def __post_init__(self) -> None:
        states, alphabet = checked_states(self.states), checked_alphabet(self.alphabet)
        found = {
            "states": states,
            "alphabet": alphabet,
            "transitions": MappingProxyType(checked_transitions(self.transitions, states, alphabet)),
            "start": checked_start(self.start, states),
            "accept": checked_accept(self.accept, states),
            "positions": checked_positions(self.positions, states),
        }
        for name, value in found.items():
            object.__setattr__(self, name, value)

    @classmethod
    def of(cls, table: "TransitionTable") -> Self:
        """The same table as an instance of this class; it has been checked, so it is not checked again."""
        made = object.__new__(cls)
        made.__dict__.update(table.__dict__)
        return made

    def __hash__(self) -> int:
        return hash((self.states, self.alphabet, self.start, self.accept, self.table.tobytes()))

    def __reduce__(self) -> tuple[Any, ...]:
        """Copies and pickles get a plain dict, because the read-only view of the transitions cannot be pickled."""
        given = {f.name: getattr(self, f.name) for f in fields(self)}
        return partial(type(self), **given | {"transitions": dict(self.transitions)}), ()

    def __repr__(self) -> str:
        return f"<{type(self).__name__} of {len(self.states)} states over {' '.join(self.alphabet)}>"

    # Codes: states and symbols by their places.

    @cached_property
    def table(self) -> np.ndarray:
        """The code of the next state for each [state, symbol]; codes count along `states` and `alphabet`."""
        codes = {state: code for code, state in enumerate(self.states)}
        rows = [[codes[self.transitions[state, symbol]] for symbol in self.alphabet] for state in self.states]
        return _read_only(np.array(rows, dtype=np.int32))

    @cached_property
    def accepting(self) -> np.ndarray:
        """Whether each state accepts, in the order of `states`."""
        return _read_only(np.array([state in self.accept for state in self.states]))

    @cached_property
    def start_code(self) -> int:
        return self.states.index(self.start)

    @cached_property
    def dead(self) -> frozenset[State]:
        """The states from which no word is accepted any more."""
        alive = self.accepting
        while True:
            grown = alive | alive[self.table].any(axis=1)
            if (grown == alive).all():
                return frozenset(state for state, lives in zip(self.states, alive) if not lives)
            alive = grown


def _read_only(array: np.ndarray) -> np.ndarray:
    array.flags.writeable = False
    return array


def checked_states(states: Any) -> tuple[Hashable, ...]:
    """The states in their order; no two have the same name."""
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
    if len(set(found)) < len(found):  # as 1, True and 1.0 are
        first, second = next((p, q) for n, q in enumerate(found) for p in found[:n] if p == q)
        raise ProgramError(f"the states {first!r} and {second!r} are equal; give every state a name of its own")
    return found


def check_hashable(state: Any) -> None:
    """Refuse a state that cannot be looked up."""
    if not _hashable(state):
        raise ProgramError(f"state {state!r} is a {type(state).__name__}; name states with strings or numbers")


def _hashable(thing: Any) -> bool:
    """Whether it can be looked up; a tuple with a list in it only claims to be hashable."""
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
            raise ProgramError(f"the alphabet has {symbol!r}; symbols are strings that are not empty: {str(symbol)!r}?")
    if len(set(found)) < len(found):
        twice = next(symbol for symbol in found if found.count(symbol) > 1)
        raise ProgramError(f"the alphabet has the symbol {twice!r} twice; list every symbol once")
    return found


def _listed(things: Any, name: str, what: str) -> tuple[Any, ...]:
    if not isinstance(things, Iterable) or isinstance(things, bytes):
        raise ProgramError(f"{name} is {things!r}; list {what}, as in {name}=('a', 'b')")
    # A set has no order of its own; it can even change from process to process.
    return tuple(sorted(things, key=str) if isinstance(things, (set, frozenset)) else things)


def checked_transitions(
    transitions: Any, states: tuple[Hashable, ...], alphabet: tuple[str, ...]
) -> dict[tuple[Hashable, str], Hashable]:
    """A copy of the table, checked: an entry for every state and symbol, in their order."""
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
    """The accepting states; an automaton without any accepts nothing."""
    if isinstance(accept, str) or not isinstance(accept, Iterable):
        raise ProgramError(f"accept is {accept!r}; give the accepting states as a list, as in accept=[{accept!r}]")
    found = list(accept)
    for state in found:
        if not _hashable(state) or state not in states:
            raise ProgramError(f"accept has {state!r}, which is not one of the {_some(set(states))}")
    return frozenset(found)


def checked_positions(positions: Any, states: tuple[Hashable, ...]) -> dict[Hashable, tuple[float, float]] | None:
    """The positions of those states that have one; None if none has."""
    if not positions:
        return None
    if not isinstance(positions, Mapping) or not set(positions) <= set(states):
        raise ProgramError("positions must map states, and nothing else, to pairs (x, y)")
    try:
        found = {state: (float(place[0]), float(place[1])) for state, place in positions.items()}
    except (TypeError, ValueError, LookupError):
        raise ProgramError("positions must map states to pairs (x, y) of numbers") from None
    if not np.isfinite(list(found.values())).all():
        raise ProgramError("positions must be finite numbers")
    return found


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
                f"{number}, to {target!r}. Keep one of them, or build a kleene.NFA, which may have both."
            )
        table[state, symbol] = target
    return table
