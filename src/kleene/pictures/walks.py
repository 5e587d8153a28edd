"""The way that a word takes through a state diagram."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

from kleene.pictures.graphs import Graph

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
