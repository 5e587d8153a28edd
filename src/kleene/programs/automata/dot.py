"""Automata as Graphviz texts (DOT): written plainly, and read as most tools write them.

A node drawn as a `doublecircle` accepts. The start is where an arrow without a label comes in from a node that is no
state: one that is invisible or drawn as a point, as plain text or as nothing. An arrow's label lists its symbols,
separated by commas or by the ends of lines. As Graphviz has it, `\\\\` in a label is a backslash, `\\n` the end of a
line, and `&#44;` the character of that number: so every symbol can be written, a comma and a space too.
"""

import re
from html.entities import html5
from typing import TYPE_CHECKING, Any

from kleene.errors import ProgramError
from kleene.programs.automata.dot_reader import read_graph

if TYPE_CHECKING:
    from kleene.programs.automata.dfa import DFA

NOT_A_STATE = ("none", "point", "plaintext", "plain")
LISTED = re.compile(r"((?:\\[^nlr]|[^\\,\n\r])+)|\\[nlr]|[,\n\r]", re.DOTALL)  # a symbol, or what separates them
WRITTEN = re.compile(r"\\(?P<escaped>.)|&(?P<entity>#?\w+);", re.DOTALL)


def to_dot(dfa: "DFA") -> str:
    """The automaton as a Graphviz text, one arrow for all symbols that lead from a state to another."""
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
    """A character of a symbol as it is written in a label; what separates symbols, or cannot be seen, by its number."""
    if character in '\\"':
        return "\\" + character
    if character == "&":
        return "&amp;"
    return character if character.isprintable() and character not in ", " else f"&#{ord(character)};"


def _unused(name: str, taken: set[str]) -> str:
    while name in taken:
        name = f"_{name}"
    return name


def from_dot(text: str) -> "DFA":
    """The automaton that the text draws; its states are texts, its symbols in order of characters."""
    from kleene.programs.automata.dfa import DFA
    from kleene.programs.automata.validation import rows_as_transitions

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
    return DFA(
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
    """The character that an escape or an entity stands for; an entity that is none stays as it is."""
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
