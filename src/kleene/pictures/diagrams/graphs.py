"""What a state diagram shows, apart from how it is drawn: states, and labelled arrows between them.

The way that a word takes through a state diagram.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise
from typing import Any

LONGEST = 16  # characters of a state's name that are drawn; the whole name is in its tooltip
WIDEST = 14  # characters in a line of an arrow's label
RUN = 4  # symbols in a row from which on "a–d" is written


@dataclass(frozen=True)
class Node:
    """A state. `marks` says what it is, for its tooltip: "start", "accepting", "visited 3 times"…"""

    name: str
    is_accepting: bool = False
    is_rejecting: bool = False
    marks: tuple[str, ...] = ()

    @property
    def label(self) -> str:
        return self.name if len(self.name) <= LONGEST else self.name[: LONGEST - 1] + "…"


@dataclass(frozen=True)
class Arrow:
    """All transitions from one state to another: the lines of its label, and every one of them for its tooltip."""

    source: int
    target: int
    lines: tuple[str, ...]
    transitions: tuple[str, ...]


@dataclass(frozen=True)
class Graph:
    """A state diagram. `note` is said below it."""

    title: str
    nodes: tuple[Node, ...]
    arrows: tuple[Arrow, ...]
    start: int
    note: str = ""

    @cached_property
    def depths(self) -> list[int]:
        """How many steps each state is from the start; what is not reached stands one step after the last."""
        depths = {self.start: 0}
        for source in (queue := [self.start]):
            for arrow in self.arrows:
                if arrow.source == source and arrow.target not in depths:
                    depths[arrow.target] = depths[source] + 1
                    queue.append(arrow.target)
        last = max(depths.values()) + 1
        return [depths.get(node, last) for node in range(len(self.nodes))]


def graph_of(machine: Any, *, dead: bool = True) -> Graph:
    """The diagram of a DFA or Turing machine. Without `dead`, what leads nowhere is left out, and a note says so."""
    return _of_turing_machine(machine, dead) if hasattr(machine, "tape_alphabet") else _of_dfa(machine, dead)


def _of_dfa(dfa: Any, dead: bool) -> Graph:
    hidden = set() if dead else set(dfa.dead) - {dfa.start}
    shown = [state for state in dfa.states if state not in hidden]
    place = {state: number for number, state in enumerate(shown)}
    nodes = tuple(
        Node(str(q), q in dfa.accept, marks=_marks(start=q == dfa.start, accepting=q in dfa.accept)) for q in shown
    )
    symbols: dict[tuple[int, int], list[str]] = {}
    for state in shown:
        for symbol in dfa.alphabet:
            target = dfa.transitions[state, symbol]
            if target not in hidden:
                symbols.setdefault((place[state], place[target]), []).append(symbol)
    arrows = tuple(Arrow(*ends, _wrapped(_runs(found)), tuple(found)) for ends, found in symbols.items())
    names = ", ".join(str(state) for state in dfa.states if state in hidden)
    note = f"Not shown: {names}, from where nothing is accepted. A missing transition leads there." if hidden else ""
    return Graph(f"DFA with {len(dfa.states)} states", nodes, arrows, place[dfa.start], note)


def _of_turing_machine(machine: Any, dead: bool) -> Graph:
    hidden = set() if dead else {machine.reject} - {machine.start}
    place = {state: number for number, state in enumerate(q for q in machine.states if q not in hidden)}
    nodes = tuple(
        Node(
            str(q),
            q == machine.accept,
            q == machine.reject,
            _marks(start=q == machine.start, accept=q == machine.accept, reject=q == machine.reject),
        )
        for q in place
    )
    reads: dict[tuple[int, int], dict[str, list[str]]] = {}
    for (state, read), (target, written, move) in machine.transitions.items():
        if target not in hidden:
            action = move if read == written else f"{written}, {move}"
            reads.setdefault((place[state], place[target]), {}).setdefault(action, []).append(str(read))
    arrows = []
    for ends, found in reads.items():
        lines = tuple(f"{', '.join(symbols)} → {action}" for action, symbols in found.items())
        arrows.append(Arrow(*ends, lines, lines))
    note = f"Not shown: {machine.reject}, which rejects. A missing transition leads there." if hidden else ""
    title = f"Turing machine with {len(machine.states)} states"
    return Graph(title, nodes, tuple(arrows), place[machine.start], note)


def _marks(**marks: bool) -> tuple[str, ...]:
    return tuple(mark for mark, holds in marks.items() if holds)


def _runs(symbols: Sequence[str]) -> list[str]:
    """The symbols, those that follow one another in the character set as one: a, b, c, d becomes a–d."""
    runs: list[list[str]] = []
    for symbol in symbols:
        last = runs[-1][-1] if runs else ""
        follows = len(symbol) == len(last) == 1 and ord(symbol) == ord(last) + 1 and symbol.isalnum() and last.isalnum()
        if follows:
            runs[-1].append(symbol)
        else:
            runs.append([symbol])
    return [part for run in runs for part in ([f"{run[0]}–{run[-1]}"] if len(run) >= RUN else run)]


def _wrapped(parts: Sequence[str]) -> tuple[str, ...]:
    """The parts with commas between them, in lines that are not too wide."""
    lines = [""]
    for number, part in enumerate(parts):
        text = part + ("," if number + 1 < len(parts) else "")
        if lines[-1] and len(lines[-1]) + 1 + len(text) > WIDEST:
            lines.append(text)
        else:
            lines[-1] = f"{lines[-1]} {text}".strip() if lines[-1] else text
    return tuple(lines)


SHOWN = 14  # states of a walk that are written out


@dataclass(frozen=True)
class Walk:
    """When each state was visited, which arrows were taken, the state at the end, and all of it in words."""

    visits: dict[int, list[int]] = field(default_factory=dict)
    arrows: frozenset[tuple[int, int]] = frozenset()
    last: int | None = None
    caption: str = ""


def walk_of(machine: Any, graph: Graph, word: Sequence[str]) -> Walk:
    """The walk of a word; states that the diagram leaves out are left out of it."""
    names, verdict = _turing_walk(machine, word) if hasattr(machine, "tape_alphabet") else _dfa_walk(machine, word)
    place = {node.name: number for number, node in enumerate(graph.nodes)}
    places = [place.get(name) for name in names]
    visits: dict[int, list[int]] = {}
    for step, number in enumerate(places):
        if number is not None:
            visits.setdefault(number, []).append(step)
    arrows = frozenset((a, b) for a, b in pairwise(places) if a is not None and b is not None)
    shown = names if len(names) <= SHOWN else [*names[: SHOWN - 2], "…", names[-1]]
    text = repr(word if isinstance(word, str) else " ".join(word)) if len(word) else "the empty word"
    return Walk(visits, arrows, places[-1], f"{text} is {verdict}: {' → '.join(shown)}")


def _dfa_walk(dfa: Any, word: Sequence[str]) -> tuple[list[str], str]:
    codes = dfa.run(word).data["state"].tolist()
    return [str(dfa.states[code]) for code in codes], "accepted" if dfa.accepting[codes[-1]] else "rejected"


def _turing_walk(machine: Any, word: Sequence[str]) -> tuple[list[str], str]:
    done = machine.run(word)
    verdict = {"accept": "accepted", "reject": "rejected"}.get(done.verdict, f"still running after {done.steps} steps")
    return [str(configuration.state) for configuration in done.configurations], verdict
