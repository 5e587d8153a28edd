"""Graphs of states for diagrams, and rows for tables: how automata and Turing machines are shown.

Pictures draw any `StateGraph`, so that programs and pictures do not import each other.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import pairwise

LONGEST = 16  # characters of a state's name that are drawn; the whole name is in its tooltip
DRAWN = 16  # states, or symbols, of an automaton that a notebook draws; it takes less than a second
SHOWN = 14  # states of a walk in its caption


@dataclass(frozen=True)
class Node:
    """A state. `marks` are for its tooltip: "start", "accepting", "reject"."""

    name: str
    is_accepting: bool = False
    is_rejecting: bool = False
    marks: tuple[str, ...] = ()

    @property
    def label(self) -> str:
        return self.name if len(self.name) <= LONGEST else self.name[: LONGEST - 1] + "…"


@dataclass(frozen=True)
class Arrow:
    """All transitions from one state to another: the lines of the label, and every transition for the tooltip."""

    source: int
    target: int
    lines: tuple[str, ...]
    transitions: tuple[str, ...]


@dataclass(frozen=True)
class Walk:
    """A run through a graph: when each state was visited, which arrows were taken, the last state, and a caption."""

    visits: dict[int, list[int]] = field(default_factory=dict)
    arrows: frozenset[tuple[int, int]] = frozenset()
    last: int | None = None
    caption: str = ""


@dataclass(frozen=True)
class StateGraph:
    """States and the arrows between them, by number; `note` is written below the drawing, and `walk` is drawn bold.

    `total` is the number of states of the machine, hidden ones included.
    """

    title: str
    nodes: tuple[Node, ...]
    arrows: tuple[Arrow, ...]
    start: int
    total: int
    note: str = ""
    walk: Walk = Walk()

    def __repr__(self) -> str:
        return f"<StateGraph: {self.title}>"

    @cached_property
    def depths(self) -> list[int]:
        """How many steps each state is from the start; one that is not reached is a step after its nearest neighbour.

        States that are joined to none of the others are one step after the last.
        """
        depths = {self.start: 0}
        ahead = [(arrow.source, arrow.target) for arrow in self.arrows]
        for pairs in (ahead, [*ahead, *((b, a) for a, b in ahead)]):
            for source in (queue := sorted(depths, key=lambda state: depths[state])):
                for a, b in pairs:
                    if a == source and b not in depths:
                        depths[b] = depths[source] + 1
                        queue.append(b)
        last = max(depths.values()) + 1
        return [depths.get(node, last) for node in range(len(self.nodes))]

    def walked(self, word: Sequence[str], names: Sequence[str], verdict: str) -> "StateGraph":
        """The same graph with the walk of a word, through the states of these names; hidden states are left out.

        `verdict` follows "is" in the caption: "accepted", "rejected" or "still running after 3 steps".
        """
        place = {node.name: number for number, node in enumerate(self.nodes)}
        places = [place.get(name) for name in names]
        visits: dict[int, list[int]] = {}
        for step, number in enumerate(places):
            if number is not None:
                visits.setdefault(number, []).append(step)
        arrows = frozenset((a, b) for a, b in pairwise(places) if a is not None and b is not None)
        shown = names if len(names) <= SHOWN else [*names[: SHOWN - 2], "…", names[-1]]
        called = repr(word if isinstance(word, str) else " ".join(word)) if len(word) else "the empty word"
        return replace(self, walk=Walk(visits, arrows, places[-1], f"{called} is {verdict}: {' → '.join(shown)}"))


def marks(**holding: bool) -> tuple[str, ...]:
    """The names of the marks that are true."""
    return tuple(mark for mark, holds in holding.items() if holds)


def aligned(rows: Sequence[Sequence[str]]) -> str:
    """The rows as lines, every column as wide as its widest cell.

    >>> print(aligned([["", "0"], ["even", "odd"]]))
          0
    even  odd
    """
    wide = [max(map(len, column)) for column in zip(*rows)]
    return "\n".join("  ".join(cell.ljust(w) for cell, w in zip(row, wide)).rstrip() for row in rows)
