"""States and transitions of a JFLAP file, as they are drawn; and a file of them.

JFLAP 4 has them in `<structure>`, later versions in `<automaton>` within it; a Turing machine's states are `<state>` or
`<block>`. JFLAP leaves symbols out that are empty: ε of an automaton, the blank of a tape. A comment of Kleene's has
what a drawing cannot say, such as the order of the alphabet; JFLAP drops it when it saves the file.
"""

import json
import math
import re
from collections.abc import Container, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from xml.sax.saxutils import escape, quoteattr

from kleene.errors import KleeneError, ModelFileError, ProgramError
from kleene.files import MOST_TEXT, SEAL, check_seal, read_bytes, sealed, write_atomically
from kleene.programs.jflap.tree import Element, parse

ENDING = ".jff"
PREFIXES = {"fa": "dfa:", "turing": "tm:"}
LACKED = {
    "pda": "a pushdown automaton",
    "mealy": "a Mealy machine",
    "moore": "a Moore machine",
    "grammar": "a grammar",
    "re": "a regular expression; type it, with | for JFLAP's +, as dfa:REGEX",
    "lsystem": "an L-system",
    "regular pumping lemma": "a game of the pumping lemma",
    "context-free pumping lemma": "a game of the pumping lemma",
}
NOTE = "kleene "  # the beginning of Kleene's comment
NOT_XML = re.compile(r"[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
AS_NUMBERS = {"\t": "&#9;", "\n": "&#10;", "\r": "&#13;"}  # XML would change these


@dataclass(frozen=True)
class JflapState:
    """A state as drawn; its name is unique."""

    name: str
    position: tuple[float, float] | None = None
    is_initial: bool = False
    is_final: bool = False


@dataclass(frozen=True)
class JflapTransition:
    """A transition between the states of two names: what it reads and, on a tape, what it writes and how it moves."""

    source: str
    target: str
    read: str = ""
    write: str = ""
    move: str = ""
    line: int = field(default=0, compare=False)  # of the file


@dataclass(frozen=True)
class JflapDrawing:
    """A finite automaton ("fa") or a Turing machine with one tape ("turing") as drawn; `note` is Kleene's comment."""

    kind: str
    states: tuple[JflapState, ...]
    transitions: tuple[JflapTransition, ...]
    note: Mapping[str, Any] = field(default_factory=dict)

    @property
    def start(self) -> str:
        """The name of the only initial state."""
        found = [state.name for state in self.states if state.is_initial]
        if len(found) != 1:
            said = f"the states {' and '.join(found)} are initial" if found else "no state is initial"
            raise ProgramError(f"{said}; in JFLAP, make one state initial: its menu has «Initial»")
        return found[0]

    @property
    def positions(self) -> dict[str, tuple[float, float]]:
        """The positions of the states that have one."""
        return {state.name: state.position for state in self.states if state.position is not None}

    def noted(self, key: str) -> list[str] | None:
        """A list of symbols that Kleene's comment has under that key."""
        found = self.note.get(key)
        if found is None:
            return None
        if not isinstance(found, list) or not all(isinstance(symbol, str) for symbol in found):
            raise ProgramError(f"{key!r} is {found!r} in Kleene's comment, and a list of symbols was expected")
        return found


def load(path: Path, wanted: str) -> JflapDrawing:
    """The drawing in a file, which is of the kind `wanted`; a checksum is verified if the file has one."""
    content = _content(path)
    try:
        drawing = read(content)
        if drawing.kind != wanted:
            other = PREFIXES[drawing.kind]
            raise ProgramError(f"it is a drawing of another kind; name it {other}{path.name}")
        return drawing
    except KleeneError as error:
        raise refusal(path, error) from None


def refusal(path: Path, error: Exception) -> ModelFileError:
    """The error of a file that has no program for us, with the reason."""
    return ModelFileError(f"{str(path)!r} cannot be read as a JFLAP file: {error}")


def _content(path: Path) -> bytes:
    if path.suffix != ENDING:
        raise ModelFileError(f"{path.name!r} is no JFLAP file; its name ends in {ENDING}")
    content = read_bytes(path, MOST_TEXT)
    check_seal(path, content, by_hand=True)
    return content


def prefix_of(path: Path) -> str:
    """The prefix of the kind of program that a file has: "dfa:" or "tm:"."""
    try:
        root, _ = parse(_content(path))
        return PREFIXES[_kind(root)]
    except ProgramError as error:
        raise refusal(path, error) from None


def save(path: Path, drawing: JflapDrawing) -> Path:
    """Save the drawing with its checksum and return the path."""
    return write_atomically(path, sealed(written(drawing, SEAL)))


def read(content: bytes) -> JflapDrawing:
    """The drawing in the content of a file; a ProgramError says what cannot be read, or which kind we lack."""
    root, comments = parse(content)
    kind = _kind(root)
    parts = root.first("automaton") or root
    ids, states = _states(parts)
    if kind == "turing":
        _refuse_more_than_a_tape(root, parts)
    transitions = tuple(_transition(element, ids, kind) for element in parts.all("transition"))
    return JflapDrawing(kind, tuple(states), transitions, _note(comments))


def _kind(root: Element) -> str:
    if root.tag != "structure":
        raise ProgramError(f"its outermost element is <{root.tag}>, and JFLAP's is <structure>")
    kind = root.first("type")
    if kind is None:
        newer = "; a drawing of JFLAP 8 is one that we lack: save it with JFLAP 7" if "type" in root.attributes else ""
        raise ProgramError(f"it has no <type>, which says what is drawn{newer}")
    name = kind.text.strip().lower()
    if name not in PREFIXES:
        lacked = LACKED.get(name, f"of the type {name!r}")
        raise ProgramError(f"it is {lacked}. Kleene reads finite automata (fa) and Turing machines (turing)")
    return name


def _states(parts: Element) -> tuple[dict[str, str], list[JflapState]]:
    """The name of each id, and the states in the order of the file."""
    ids: dict[str, str] = {}
    states: dict[str, JflapState] = {}
    for element in parts.all("state", "block"):
        number = element.attributes.get("id", "").strip()
        if not number or number in ids:
            said = f"has the id {number!r}, as another has" if number else "has no id"
            raise ProgramError(f"line {element.line}: a state {said}")
        named = element.first("name")
        given = element.attributes.get("name") or (named.text if named is not None else "")
        name = unused_name(given or f"q{number}", states)
        ids[number] = name
        initial, final = (element.first(tag) is not None for tag in ("initial", "final"))
        states[name] = JflapState(name, _position(element), initial, final)
    if not states:
        raise ProgramError("it has no states")
    return ids, list(states.values())


def unused_name(name: str, taken: Container[str]) -> str:
    """The name, with primes after it where it is taken.

    >>> unused_name("q1", {"q0", "q1", "q1'"})
    "q1''"
    """
    while name in taken:
        name += "'"
    return name


def _position(element: Element) -> tuple[float, float] | None:
    places = [element.first(axis) for axis in ("x", "y")]
    try:
        x, y = (float(place.text) for place in places if place is not None)
    except ValueError:  # a missing one, too
        return None
    return (x, y) if math.isfinite(x) and math.isfinite(y) else None


def _transition(element: Element, ids: Mapping[str, str], kind: str) -> JflapTransition:
    ends = []
    for tag in ("from", "to"):
        found = element.first(tag)
        number = "" if found is None else found.text.strip()
        if number not in ids:
            said = f"leads {tag} the id {number!r}, which no state has" if number else f"has no <{tag}>"
            raise ProgramError(f"line {element.line}: a transition {said}")
        ends.append(ids[number])
    read, write, move = (_symbol(element.first(tag)) for tag in ("read", "write", "move"))
    if kind == "turing" and element.attributes.get("block") == "true":
        write, move = "~", "S"
    return JflapTransition(ends[0], ends[1], read, write, move, element.line)


def _symbol(element: Element | None) -> str:
    """The text of an element; line ends around nothing are nothing, and a space is a symbol."""
    text = "" if element is None else element.text
    return "" if "\n" in text and not text.strip() else text


def _refuse_more_than_a_tape(root: Element, parts: Element) -> None:
    tapes = root.first("tapes")
    count = "1" if tapes is None else tapes.text.strip()
    if count not in ("", "1"):
        raise ProgramError(f"it is a Turing machine with {count} tapes, and Kleene's have one")
    inner = {tag.text.strip() for block in parts.all("state", "block") for tag in block.all("tag")}
    for element in root.below():
        if element.tag in inner and any(element.all("state", "block")):
            raise ProgramError(
                f"line {element.line}: {element.tag} is a building block, a Turing machine within a state, which "
                f"Kleene lacks; draw its states in the machine itself"
            )


def _note(comments: Iterable[str]) -> dict[str, Any]:
    for comment in comments:
        if comment.startswith(NOTE):
            try:
                found = json.loads(comment.removeprefix(NOTE))
            except (ValueError, RecursionError):
                found = None
            if not isinstance(found, dict):
                raise ProgramError("Kleene's comment in the file is damaged; remove it")
            return found
    return {}


def check_text(text: str, what: str) -> None:
    """Refuse a name or a symbol that XML has no way to write."""
    odd = NOT_XML.search(text)
    if odd is not None or not text:
        said = f"has {odd[0]!r} in it, which XML cannot hold" if odd else "is empty"
        raise ProgramError(f"the {what} {text!r} {said}; JFLAP cannot have it, so give it another name")


def written(drawing: JflapDrawing, seal: str = "") -> str:
    """The drawing as the text of a file; every state has a position."""
    ids = {state.name: number for number, state in enumerate(drawing.states)}
    lines = ['<?xml version="1.0" encoding="UTF-8" standalone="no"?>', "<!--Created with Kleene for JFLAP 7.-->"]
    if drawing.note:
        note = json.dumps(drawing.note).replace("-", "\\u002d")  # XML has no -- in comments
        lines.append(f"<!--{NOTE}{note}-->")
    lines += [f"<!--{seal}-->"] if seal else []
    lines += ["<structure>", f"\t<type>{drawing.kind}</type>", "\t<automaton>", "\t\t<!--The list of states.-->"]
    for state in drawing.states:
        lines += _written_state(state, ids[state.name])
    lines.append("\t\t<!--The list of transitions.-->")
    for transition in drawing.transitions:
        ends = f"<from>{ids[transition.source]}</from><to>{ids[transition.target]}</to>"
        tags = ("read", "write", "move") if drawing.kind == "turing" else ("read",)
        symbols = "".join(_written_symbol(tag, getattr(transition, tag)) for tag in tags)
        lines.append(f"\t\t<transition>{ends}{symbols}</transition>")
    return "\n".join([*lines, "\t</automaton>", "</structure>", ""])


def _written_state(state: JflapState, number: int) -> list[str]:
    check_text(state.name, "state")
    assert state.position is not None
    x, y = state.position
    marks = "<initial/>" * state.is_initial + "<final/>" * state.is_final
    name = quoteattr(state.name, AS_NUMBERS)
    return [f'\t\t<state id="{number}" name={name}><x>{x}</x><y>{y}</y>{marks}</state>']


def _written_symbol(tag: str, symbol: str) -> str:
    return f"<{tag}>{escape(symbol, AS_NUMBERS)}</{tag}>" if symbol else f"<{tag}/>"
