"""What a Turing machine's table must be, each fault named with the entry and the way out."""

from collections.abc import Iterable, Mapping
from typing import Any

from kleene.errors import ProgramError


def checked_name(name: Any, role: str) -> str:
    """The name of a state or symbol: a text that is not empty."""
    if name is None:
        raise ProgramError(f"the machine has no {role} state; name one with {role}=")
    if not isinstance(name, str) or not name:
        raise ProgramError(f"{role} is {name!r}; states and symbols are texts that are not empty")
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
            raise ProgramError(f"the {role} of {key!r} is {part!r}; states and symbols are texts that are not empty")
    return key


def _action(key: Any, action: Any) -> tuple[str, str, Any]:
    if not isinstance(action, (tuple, list)) or len(action) != 3:
        raise ProgramError(f"{key!r} leads to {action!r}; write (next state, symbol written, 'L' or 'R')")
    state, symbol, move = action
    if not all(isinstance(part, str) and part for part in (state, symbol)):
        raise ProgramError(f"{key!r} leads to {action!r}; states and symbols are texts that are not empty")
    if move not in ("L", "R"):
        raise ProgramError(f"{key!r} moves {move!r}; a machine moves 'L' or 'R' at every step")
    return (state, symbol, move)


def checked_alphabet(symbols: Iterable[str] | None, blank: str) -> tuple[str, ...]:
    """The input symbols in their order; empty where they were not given."""
    found: list[str] = []
    for symbol in symbols or ():
        if not isinstance(symbol, str) or not symbol:
            raise ProgramError(f"the input alphabet has {symbol!r}; symbols are texts that are not empty")
        if symbol in found:
            raise ProgramError(f"the input alphabet has {symbol!r} twice")
        if symbol == blank:
            raise ProgramError(f"the input alphabet has the blank {blank!r}; no word may contain it, so leave it out")
        found.append(symbol)
    return tuple(found)


def missing(table: Mapping[tuple[str, str], Any], states: Iterable[str], symbols: Iterable[str]) -> str:
    """What is to be said of the transitions that are not there; nothing where all are."""
    gaps = [(q, a) for q in states for a in symbols if (q, a) not in table]
    if not gaps:
        return ""
    shown = ", ".join(f"({q}, {a})" for q, a in gaps[:4]) + (f" and {len(gaps) - 4} more" if len(gaps) > 4 else "")
    return (
        f"the table is incomplete: there is no transition for {shown}. Every state but accept and reject needs one for "
        f"each tape symbol; add them (in a text, the line `otherwise reject` adds them all)."
    )
