"""A Turing machine's table: checked when it is built, every fault named with the entry and the way out."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields
from functools import partial
from types import MappingProxyType
from typing import Any, Literal, Self

from kleene.errors import ProgramError

Move = Literal["L", "R"]


@dataclass(frozen=True, kw_only=True)
class TuringTable:
    """States, symbols, and what to do on each pair of them; `TuringMachine` adds what one does with it."""

    transitions: Mapping[tuple[str, str], tuple[str, str, Move]]
    start: str
    accept: str
    reject: str
    blank: str = "_"
    input_alphabet: tuple[str, ...] = ()
    name: str = field(default="the machine", compare=False)
    states: tuple[str, ...] = field(init=False)
    tape_alphabet: tuple[str, ...] = field(init=False)

    def __post_init__(self) -> None:
        for role in ("start", "accept", "reject", "blank"):
            checked_name(getattr(self, role), role)
        table = checked_transitions(self.transitions)
        self._check_halting(table)
        written = [*(a for _, a in table), *(b for _, b, _ in table.values())]
        found = tuple(dict.fromkeys(symbol for symbol in written if symbol != self.blank))
        inputs = checked_alphabet(self.input_alphabet, self.blank) or found
        entered = [*(q for q, _ in table), *(r for r, _, _ in table.values())]
        working = [q for q in dict.fromkeys([self.start, *entered]) if q not in (self.accept, self.reject)]
        object.__setattr__(self, "transitions", MappingProxyType(table))
        object.__setattr__(self, "input_alphabet", inputs)
        object.__setattr__(self, "states", (*working, self.accept, self.reject))
        object.__setattr__(self, "tape_alphabet", (*dict.fromkeys((*inputs, *found)), self.blank))
        gaps = missing(table, working, self.tape_alphabet)
        if gaps:
            raise ProgramError(gaps)

    def _check_halting(self, table: Mapping[tuple[str, str], Any]) -> None:
        if self.accept == self.reject:
            raise ProgramError(f"accept and reject are both {self.accept!r}; a machine needs one state for each")
        for state, symbol in table:
            if state in (self.accept, self.reject):
                role = "accept" if state == self.accept else "reject"
                raise ProgramError(
                    f"there is a transition from ({state!r}, {symbol!r}), but {state!r} is the {role} state, where the "
                    f"machine halts. Remove the transition, or name another {role} state."
                )

    @classmethod
    def of(cls, table: "TuringTable") -> Self:
        """The same table as an instance of this class; it has been checked, so it is not checked again."""
        made = object.__new__(cls)
        made.__dict__.update(table.__dict__)
        return made

    def __hash__(self) -> int:
        return hash((self.states, self.tape_alphabet, self.input_alphabet, tuple(self.transitions.items())))

    def __reduce__(self) -> tuple[Any, ...]:
        """Copies and pickles get a plain dict, because the read-only view of the transitions cannot be pickled."""
        given = {f.name: getattr(self, f.name) for f in fields(self) if f.init}
        return partial(type(self), **given | {"transitions": dict(self.transitions)}), ()

    def __repr__(self) -> str:
        states, symbols = len(self.states), " ".join(self.tape_alphabet)
        return f"<{type(self).__name__} {self.name}: {states} states, tape symbols {symbols}>"


def checked_name(name: Any, role: str) -> str:
    """The name of a state or symbol: a string that is not empty."""
    if name is None:
        raise ProgramError(f"the machine has no {role} state; name one with {role}=")
    if not isinstance(name, str) or not name:
        raise ProgramError(f"{role} is {name!r}; states and symbols are strings that are not empty")
    return name


def checked_transitions(transitions: Any) -> dict[tuple[str, str], tuple[str, str, Any]]:
    """The table as a dict of its own: (state, symbol) to (state, symbol, move)."""
    if not isinstance(transitions, Mapping) or not transitions:
        raise ProgramError(
            f"transitions is {transitions!r}; give a dict that maps (state, symbol) to (state, symbol, 'L' or 'R')"
        )
    return {_key(key): _action(key, value) for key, value in transitions.items()}


def _key(key: Any) -> tuple[str, str]:
    if not isinstance(key, tuple) or len(key) != 2:
        raise ProgramError(f"the key {key!r} of transitions is not a pair (state, symbol)")
    for part, role in zip(key, ("state", "symbol")):
        if not isinstance(part, str) or not part:
            raise ProgramError(f"the {role} of {key!r} is {part!r}; states and symbols are strings that are not empty")
    return key


def _action(key: Any, action: Any) -> tuple[str, str, Any]:
    if not isinstance(action, (tuple, list)) or len(action) != 3:
        raise ProgramError(f"{key!r} leads to {action!r}; write (next state, symbol written, 'L' or 'R')")
    state, symbol, move = action
    if not all(isinstance(part, str) and part for part in (state, symbol)):
        raise ProgramError(f"{key!r} leads to {action!r}; states and symbols are strings that are not empty")
    if move not in ("L", "R"):
        raise ProgramError(f"{key!r} moves {move!r}; a machine moves 'L' or 'R' at every step")
    return (state, symbol, move)


def checked_alphabet(symbols: Iterable[str] | None, blank: str) -> tuple[str, ...]:
    """The input symbols in their order; empty where they were not given."""
    found: list[str] = []
    for symbol in symbols or ():
        if not isinstance(symbol, str) or not symbol:
            raise ProgramError(f"the input alphabet has {symbol!r}; symbols are strings that are not empty")
        if symbol in found:
            raise ProgramError(f"the input alphabet has {symbol!r} twice")
        if symbol == blank:
            raise ProgramError(f"the input alphabet has the blank {blank!r}; no word may contain it, so leave it out")
        found.append(symbol)
    return tuple(found)


def missing(table: Mapping[tuple[str, str], Any], states: Iterable[str], symbols: Iterable[str]) -> str:
    """The complaint about missing transitions; empty where all are there."""
    gaps = [(q, a) for q in states for a in symbols if (q, a) not in table]
    if not gaps:
        return ""
    shown = ", ".join(f"({q}, {a})" for q, a in gaps[:4]) + (f" and {len(gaps) - 4} more" if len(gaps) > 4 else "")
    return (
        f"the table is incomplete: there is no transition for {shown}. Every state but accept and reject needs one for "
        f"each tape symbol; add them (in a file, the line `otherwise reject` adds them all)."
    )
