r"""Automata on disk: as JSON, as Graphviz drawings (DOT), or as JFLAP's, which `automata.jflap` reads and writes.

The reader of DOT is our own. pydot's takes fifty times as long on a large automaton, and its time doubles with every
nested subgraph, so that a file of a hundred bytes could keep it busy for ever.

A node drawn as a `doublecircle` accepts. The start state has an incoming arrow without a label from a node that is no
state: one that is invisible or drawn as a point, as plain text or as nothing. An arrow's label lists its symbols,
separated by commas or by the ends of lines. As Graphviz has it, `\\` in a label is a backslash, `\n` the end of a
line, and `&#44;` the character of that number: so every symbol can be written, a comma and a space too.
"""

import json
import re
from collections.abc import Hashable, Iterator, Mapping
from dataclasses import dataclass, field
from html.entities import html5
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

from kleene.errors import KleeneError, ModelFileError, ProgramError
from kleene.files import (
    MOST_TEXT,
    SEAL,
    check_seal,
    parsed_json,
    read_bytes,
    sealed,
    sealed_json,
    warn_unsealed,
    write_atomically,
)
from kleene.programs.automata import jflap
from kleene.programs.automata.table import TransitionTable, rows_as_transitions

FORMAT = "kleene.dfa/1"
ENDINGS = (".json", ".dot", ".gv", ".jff")


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
        return parsed_json(content.removeprefix("\ufeff"))  # the mark that some editors put first
    except ValueError as error:
        raise ProgramError(f"this is not JSON: {error}") from None


def check_ending(path: Path, endings: tuple[str, ...] = ENDINGS) -> None:
    """Refuse a file whose name does not end in one of these."""
    if path.suffix not in endings:
        known = f"{', '.join(endings[:-1])} or {endings[-1]}"
        raise ModelFileError(f"{path.name!r} cannot be the file of an automaton; its name ends in {known}")


def save(dfa: TransitionTable, path: Path) -> Path:
    """Save the automaton with its checksum and return the path; the ending chooses the format."""
    check_ending(path)
    if path.suffix == jflap.ENDING:
        return jflap.save(dfa, path)
    if path.suffix == ".json":
        return write_atomically(path, sealed_json(_content(dfa)))
    return write_atomically(path, sealed(f"// {SEAL}\n{to_dot(dfa)}"))


def load(path: Path) -> TransitionTable:
    """The automaton in a file that `save` or another program wrote."""
    check_ending(path)
    if path.suffix == jflap.ENDING:
        return jflap.load_deterministic(path)
    content = read_bytes(path, MOST_TEXT)
    has_seal = check_seal(path, content, by_hand=True)
    if not has_seal and FORMAT.encode() in content:
        warn_unsealed(path)
    try:
        return from_json(content.decode()) if path.suffix == ".json" else from_dot(content.decode())
    except (KleeneError, UnicodeDecodeError) as error:
        raise ModelFileError(f"{str(path)!r} does not hold an automaton: {error}") from None


NOT_A_STATE = ("none", "point", "plaintext", "plain")
LISTED = re.compile(r"((?:\\[^nlr]|[^\\,\n\r])+)|\\[nlr]|[,\n\r]", re.DOTALL)  # a symbol, or what separates them
WRITTEN = re.compile(r"\\(?P<escaped>.)|&(?P<entity>#?\w+);", re.DOTALL)


def to_dot(dfa: TransitionTable) -> str:
    """The automaton as DOT, one arrow for all symbols that lead from a state to another."""
    nodes = [f"  {_quoted(q)} [shape={'doublecircle' if q in dfa.accept else 'circle'}];" for q in dfa.states]
    arrows: dict[tuple[Any, Any], list[str]] = {}
    for (q, a), target in dfa.transitions.items():
        arrows.setdefault((q, target), []).append("".join(map(_in_label, a)))
    edges = [f'  {_quoted(q)} -> {_quoted(r)} [label="{", ".join(symbols)}"];' for (q, r), symbols in arrows.items()]
    start = _unused("start", {str(q) for q in dfa.states})
    head = ["digraph dfa {", "  rankdir=LR;", f'  {_quoted(start)} [shape=none, label=""];']
    return "\n".join([*head, *nodes, f"  {_quoted(start)} -> {_quoted(dfa.start)};", *edges, "}"]) + "\n"


def _quoted(name: Any) -> str:
    return '"' + str(name).replace("\\", "\\\\").replace('"', '\\"') + '"'


def _in_label(character: str) -> str:
    """A character of a symbol as written in a label; separators and characters that cannot be seen, by their number."""
    if character in '\\"':
        return "\\" + character
    if character == "&":
        return "&amp;"
    return character if character.isprintable() and character not in ", " else f"&#{ord(character)};"


def _unused(name: str, taken: set[str]) -> str:
    while name in taken:
        name = f"_{name}"
    return name


def from_dot(text: str) -> TransitionTable:
    """The automaton of a DOT drawing; its states are strings, its symbols in order of characters."""
    graph = read_graph(text)
    shapes = {name: _shape(attributes) for name, attributes in graph.nodes.items()}
    rows, starts = [], set()
    for source, target, attributes in graph.arrows:
        symbols = _symbols(attributes.get("label", ""))
        if symbols:
            rows += [(source, symbol, target) for symbol in symbols]
        elif shapes[source] in NOT_A_STATE:
            starts.add(target)
        else:
            raise ProgramError(f"the arrow from {source!r} to {target!r} has no label; write the symbols that take it")
    if len(starts) != 1:
        found = f"there are {len(starts)} start states" if starts else "there is no start state"
        raise ProgramError(f"{found} in the DOT text; draw one arrow without a label from a node of shape none")
    states = [name for name, shape in shapes.items() if shape not in NOT_A_STATE]
    return TransitionTable(
        states=tuple(states),
        alphabet=tuple(sorted({symbol for _, symbol, _ in rows})),
        transitions=rows_as_transitions(rows),
        start=starts.pop(),
        accept=frozenset(name for name in states if shapes[name] == "doublecircle"),
    )


def _shape(attributes: dict[str, str]) -> str:
    if "invis" in attributes.get("style", ""):
        return "none"
    return "doublecircle" if attributes.get("peripheries") == "2" else attributes.get("shape", "")


def _symbols(label: str) -> list[str]:
    if label.strip() == ",":
        return [","]
    return [symbol for listed in LISTED.findall(label) if (symbol := WRITTEN.sub(_read, listed.strip()))]


def _read(written: re.Match[str]) -> str:
    """The character of an escape or an entity; an unknown entity stays as it is."""
    if written["entity"] is None:
        return "" if written["escaped"] == "\n" else written["escaped"]  # a line that goes on
    name = written["entity"]
    if not name.startswith("#"):
        return html5.get(f"{name};", written[0])
    digits, base = (name[2:], 16) if name[1:2] in ("x", "X") else (name[1:], 10)
    try:
        return chr(int(digits, base))
    except (ValueError, OverflowError):
        return written[0]


TOKEN = re.compile(
    r"""(?P<skip>\s+|//[^\n]*|/\*.*?\*/|\#[^\n]*)
      | (?P<quoted>"(?:\\.|[^"\\])*")
      | (?P<sign>->|--|[{}\[\];,=:])
      | (?P<bare>-?[\w.]+)""",
    re.VERBOSE | re.DOTALL,
)


@dataclass
class DotGraph:
    """Nodes with their attributes, in order of appearance, and arrows (source, target, attributes)."""

    nodes: dict[str, dict[str, str]] = field(default_factory=dict)
    arrows: list[tuple[str, str, dict[str, str]]] = field(default_factory=list)


class Token(NamedTuple):
    kind: str  # "quoted", "sign" or "bare"; "end" after the last
    text: str
    line: int
    written: str = ""  # between the quotes, with its escapes


def read_graph(text: str) -> DotGraph:
    """The graph in DOT; a ProgramError names the line that cannot be read."""
    reader = _DotReader(list(_tokens(text.removeprefix("\ufeff"))))  # the mark that some editors put first
    reader.skip("strict")
    if not reader.skip("digraph"):
        reader.fail("digraph")
    if reader.next.text != "{":
        reader.name()  # the graph's own
    reader.sign("{")
    try:
        reader.statements({}, {})
    except RecursionError:
        raise ProgramError("the DOT text cannot be read: its subgraphs are nested too deeply") from None
    return reader.graph


def _tokens(text: str) -> Iterator[Token]:
    at, line = 0, 1
    while at < len(text):
        match = TOKEN.match(text, at)
        if match is None:
            raise ProgramError(f"the DOT text cannot be read in line {line}, at {text[at : at + 20]!r}")
        kind, found = str(match.lastgroup), match.group()
        if kind == "quoted":
            yield Token(kind, re.sub(r'\\(["\\])', r"\1", found[1:-1]), line, found[1:-1])
        elif kind != "skip":
            yield Token(kind, found, line, found)
        line += found.count("\n")
        at = match.end()
    yield Token("end", "", line)


class _DotReader:
    """Reads the tokens into a graph. Defaults given inside a subgraph end with it."""

    def __init__(self, tokens: list[Token]):
        self.tokens, self.at, self.graph = tokens, 0, DotGraph()

    @property
    def next(self) -> Token:
        return self.tokens[self.at]

    def fail(self, wanted: str) -> None:
        found = repr(self.next.text) if self.next.kind != "end" else "the end"
        raise ProgramError(f"the DOT text cannot be read in line {self.next.line}: {found} where {wanted} was expected")

    def skip(self, word: str) -> bool:
        """Whether this word or sign comes next; if so, move past it."""
        there = self.next.kind != "quoted" and self.next.text == word
        self.at += there
        return there

    def sign(self, sign: str) -> None:
        if not self.skip(sign):
            self.fail(sign)

    def name(self) -> str:
        if self.next.kind not in ("quoted", "bare"):
            self.fail("a name")
        self.at += 1
        return self.tokens[self.at - 1].text

    def value(self) -> str:
        """The value of an attribute as written, because a label has escapes of its own."""
        self.name()
        return self.tokens[self.at - 1].written

    def statements(self, nodes: dict[str, str], edges: dict[str, str]) -> None:
        """Read everything up to the closing brace, with these defaults for nodes and arrows."""
        nodes, edges = dict(nodes), dict(edges)
        while not self.skip("}"):
            if self.skip(";"):
                continue
            if self.skip("subgraph") and self.next.text != "{":
                self.name()
            if self.skip("{"):
                self.statements(nodes, edges)
            elif self.skip("node"):
                nodes |= self.attributes()
            elif self.skip("edge"):
                edges |= self.attributes()
            elif self.skip("graph"):
                self.attributes()
            else:
                self.statement(nodes, edges)

    def statement(self, nodes: dict[str, str], edges: dict[str, str]) -> None:
        """Read a setting `a = b`, a node, or arrows `a -> b -> c`, with the attributes in brackets after them."""
        path = [self.name()]
        if self.skip("="):
            self.name()
            return
        while self.skip("->"):
            path.append(self.name())
        found = self.attributes()
        for name in path:
            self.graph.nodes.setdefault(name, dict(nodes))
        if len(path) == 1:
            self.graph.nodes[path[0]] |= found
        self.graph.arrows += [(source, target, edges | found) for source, target in pairwise(path)]

    def attributes(self) -> dict[str, str]:
        found = {}
        while self.skip("["):
            while not self.skip("]"):
                key = self.name()
                self.sign("=")
                found[key] = self.value()
                if not self.skip(","):
                    self.skip(";")
        return found
