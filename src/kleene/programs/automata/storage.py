"""Automata on disk: as JSON, or as Graphviz drawings (DOT)."""

import json
from collections.abc import Hashable, Mapping
from pathlib import Path
from typing import Any

from kleene.errors import KleeneError, ModelFileError, ProgramError
from kleene.files import MOST_TEXT, SEAL, check_seal, read_bytes, sealed, sealed_json, warn_unsealed, write_atomically
from kleene.programs.automata.dot import from_dot, to_dot
from kleene.programs.automata.table import TransitionTable, rows_as_transitions

FORMAT = "kleene.dfa/1"
ENDINGS = (".json", ".dot", ".gv")


def to_json(dfa: TransitionTable) -> str:
    """The automaton as JSON; states that are neither strings nor integers become strings."""
    return json.dumps(_content(dfa), ensure_ascii=False)


def _content(dfa: TransitionTable) -> dict[str, Any]:
    rows = [[_plain(q), a, _plain(dfa.transitions[q, a])] for q in dfa.states for a in dfa.alphabet]
    return {
        "format": FORMAT,
        "states": [_plain(state) for state in dfa.states],
        "alphabet": list(dfa.alphabet),
        "start": _plain(dfa.start),
        "accept": [_plain(state) for state in dfa.states if state in dfa.accept],
        "transitions": rows,
    }


def _plain(state: Hashable) -> str | int:
    return state if isinstance(state, (str, int)) and not isinstance(state, bool) else str(state)


def from_json(content: str | Mapping[str, Any]) -> TransitionTable:
    """The automaton in a JSON string, or in the dict that it holds."""
    if isinstance(content, str):
        content = _parsed(content)
    if not isinstance(content, Mapping):
        raise ProgramError(f"the JSON holds a {type(content).__name__}, and an object with the automaton was expected")
    if content.get("format", FORMAT) != FORMAT:
        raise ProgramError(f"the format is {content['format']!r}, and {FORMAT!r} was expected")
    for key in ("states", "alphabet", "start", "accept", "transitions"):
        kind, what = ((str, int), "the name of a state") if key == "start" else (list, "a list")
        if not isinstance(content.get(key), kind):
            raise ProgramError(f"{key!r} is {content.get(key, 'missing')!r} in the JSON; it must be {what}")
    return TransitionTable(
        states=tuple(content["states"]),
        alphabet=tuple(content["alphabet"]),
        transitions=rows_as_transitions(content["transitions"]),
        start=content["start"],
        accept=content["accept"],
    )


def _parsed(content: str) -> Any:
    try:
        return json.loads(content.removeprefix("\ufeff"))  # the mark that some editors put first
    except ValueError as error:
        raise ProgramError(f"this is not JSON: {error}") from None
    except RecursionError:
        raise ProgramError("this is no automaton in JSON: it is nested too deeply") from None


def check_ending(path: Path, endings: tuple[str, ...] = ENDINGS) -> None:
    """Refuse a file whose name does not end in one of these."""
    if path.suffix not in endings:
        known = f"{', '.join(endings[:-1])} or {endings[-1]}"
        raise ModelFileError(f"{path.name!r} cannot be the file of an automaton; its name ends in {known}")


def save(dfa: TransitionTable, path: Path) -> Path:
    """Save the automaton with its checksum and return the path; the ending chooses between JSON and Graphviz."""
    check_ending(path)
    if path.suffix == ".json":
        return write_atomically(path, sealed_json(_content(dfa)))
    return write_atomically(path, sealed(f"// {SEAL}\n{to_dot(dfa)}"))


def load(path: Path) -> TransitionTable:
    """The automaton in a file that `save` or another program wrote."""
    check_ending(path)
    content = read_bytes(path, MOST_TEXT)
    has_seal = check_seal(path, content, by_hand=True)
    if not has_seal and FORMAT.encode() in content:
        warn_unsealed(path)
    try:
        return from_json(content.decode()) if path.suffix == ".json" else from_dot(content.decode())
    except (KleeneError, UnicodeDecodeError) as error:
        raise ModelFileError(f"{str(path)!r} does not hold an automaton: {error}") from None
