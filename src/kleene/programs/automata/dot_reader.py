"""Reading Graphviz texts, as far as drawings of automata go: nodes, arrows and their attributes."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import pairwise
from typing import NamedTuple

from kleene.errors import ProgramError

TOKEN = re.compile(
    r"""(?P<skip>\s+|//[^\n]*|/\*.*?\*/|\#[^\n]*)
      | (?P<quoted>"(?:\\.|[^"\\])*")
      | (?P<sign>->|--|[{}\[\];,=:])
      | (?P<bare>-?[\w.]+)""",
    re.VERBOSE | re.DOTALL,
)


@dataclass
class Graph:
    """Nodes with their attributes, in order of appearance, and arrows (source, target, attributes)."""

    nodes: dict[str, dict[str, str]] = field(default_factory=dict)
    arrows: list[tuple[str, str, dict[str, str]]] = field(default_factory=list)


class Token(NamedTuple):
    kind: str  # "quoted", "sign" or "bare"; "end" after the last
    text: str
    line: int
    written: str = ""  # between the quotes as it stands there, escapes and all


def read_graph(text: str) -> Graph:
    """The graph in a DOT text; a ProgramError says in which line it cannot be read."""
    reader = _Reader(list(_tokens(text.removeprefix("\ufeff"))))  # the mark that some editors put first
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


class _Reader:
    """Goes through the tokens, and collects the graph. Defaults given inside a subgraph end with it."""

    def __init__(self, tokens: list[Token]):
        self.tokens, self.at, self.graph = tokens, 0, Graph()

    @property
    def next(self) -> Token:
        return self.tokens[self.at]

    def fail(self, wanted: str) -> None:
        found = repr(self.next.text) if self.next.kind != "end" else "the end"
        raise ProgramError(f"the DOT text cannot be read in line {self.next.line}: {found} where {wanted} was expected")

    def skip(self, word: str) -> bool:
        """Whether this word or sign stands next; it is passed then."""
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
        """What an attribute is set to, as it is written: a label has escapes of its own."""
        self.name()
        return self.tokens[self.at - 1].written

    def statements(self, nodes: dict[str, str], edges: dict[str, str]) -> None:
        """All up to the closing brace, under these defaults for nodes and arrows."""
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
        """A setting `a = b`, a node, or arrows `a -> b -> c`, with what stands in brackets after them."""
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
