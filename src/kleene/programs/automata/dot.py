"""Automata as Graphviz texts (DOT): written plainly, and read as most tools write them.

A node drawn as a `doublecircle` accepts. The start is where an arrow without a label comes in from a node that is no
state: one that is invisible or drawn as a point, as plain text or as nothing. An arrow's label lists its symbols,
separated by commas.
"""

import re
from typing import TYPE_CHECKING, Any

from kleene.errors import ProgramError
from kleene.programs.automata.dot_reader import read_graph

if TYPE_CHECKING:
    from kleene.programs.automata.dfa import DFA

NOT_A_STATE = ("none", "point", "plaintext", "plain")


def to_dot(dfa: "DFA") -> str:
    """The automaton as a Graphviz text, one arrow for all symbols that lead from a state to another."""
    for symbol in dfa.alphabet:
        if ("," in symbol and len(symbol) > 1) or symbol != symbol.strip() or "\n" in symbol:
            raise ProgramError(f"the symbol {symbol!r} cannot stand in a DOT label, where commas and spaces separate")
    nodes = [f"  {_quoted(q)} [shape={'doublecircle' if q in dfa.accept else 'circle'}];" for q in dfa.states]
    arrows: dict[tuple[Any, Any, bool], list[str]] = {}
    for (q, a), target in dfa.transitions.items():
        # A comma gets an arrow of its own: in a list it would be taken for the separator.
        arrows.setdefault((q, target, a == ","), []).append(a)
    edges = [f"  {_quoted(q)} -> {_quoted(r)} [label={_quoted(', '.join(s))}];" for (q, r, _), s in arrows.items()]
    start = _unused("start", {str(q) for q in dfa.states})
    head = ["digraph dfa {", "  rankdir=LR;", f'  {_quoted(start)} [shape=none, label=""];']
    return "\n".join([*head, *nodes, f"  {_quoted(start)} -> {_quoted(dfa.start)};", *edges, "}"]) + "\n"


def _quoted(name: Any) -> str:
    return '"' + str(name).replace("\\", "\\\\").replace('"', '\\"') + '"'


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
        label = attributes.get("label", "")
        if label:
            rows += [(source, symbol, target) for symbol in _symbols(label)]
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
    return [symbol.strip() for symbol in re.split(r",|\\n|\n", label) if symbol.strip()]
