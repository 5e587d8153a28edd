"""Assignments that lead a function everywhere: along each of its paths, and to the rare values of what it computes."""

from collections.abc import Iterator

import numpy as np

from kleene.programs.alta.cases import Sizes
from kleene.programs.alta.exploring import Exploration
from kleene.programs.alta.possibilities import Allowed, distinct, equals, narrowed, witness
from kleene.programs.alta.symbols import Symbol
from kleene.programs.alta.trees import Decision, Fork, Joined, Leaf

FEW = 8  # values of a symbol that has a rare one
MOST_PATHS = 24  # that are drawn: to follow one costs as much as many replays
Codes = dict[str, int]


def covering(explored: Exploration, sizes: Sizes, most: int, chance: np.random.Generator) -> list[Codes]:
    """At most so many assignments, in part: half of them along paths, half for rare values of symbols."""
    paths = []
    for codes in _paths(explored, sizes, chance):
        if codes is not None and codes not in paths:
            paths.append(codes)
        if len(paths) >= most // 2:
            break
    return paths + _rare(explored.symbols, most - most // 2, chance)


def _paths(explored: Exploration, sizes: Sizes, chance: np.random.Generator) -> Iterator[Codes | None]:
    """Codes that take a path drawn at random, again and again, twice as often as there are paths if they are few."""
    everything = {n: np.ones(size, dtype=bool) for n, size in sizes.items()}
    for _ in range(min(2 * _leaves(explored.tree), MOST_PATHS)):
        taken: list[Decision] = []
        _descend(explored.tree, everything, taken, chance)
        allowed = everything
        for index, decision in enumerate(taken):
            allowed = narrowed(decision, allowed, taken[:index])
        possible = all(mask.any() for mask in allowed.values())
        yield witness(None, allowed, taken) if possible else None


def _leaves(tree: Fork | Joined | Leaf) -> int:
    if isinstance(tree, Joined):
        return _leaves(tree.first) + _leaves(tree.then[0])
    return sum(_leaves(child) for child in tree.children) if isinstance(tree, Fork) else 1


def _descend(tree: Fork | Joined | Leaf, allowed: Allowed, taken: list[Decision], chance: np.random.Generator) -> None:
    """Add the decisions of a path drawn at random."""
    if isinstance(tree, Joined):
        _descend(tree.first, allowed, taken, chance)
        _descend(tree.then[0], allowed, taken, chance)
    elif isinstance(tree, Fork):
        choice = int(chance.integers(len(tree.outcomes)))
        taken.append(Decision(tree.symbol, tree.outcomes[choice], allowed, ([], 0)))
        _descend(tree.children[choice], allowed, taken, chance)


def _rare(symbols: tuple[Symbol, ...], most: int, chance: np.random.Generator) -> list[Codes]:
    """Codes for which symbols of few values have each of them, the rarest first."""
    found: dict[tuple, tuple[float, Codes]] = {}
    for symbol in symbols:
        outcomes = distinct(symbol.table)
        for outcome in outcomes if len(outcomes) <= FEW else ():
            places = np.argwhere(equals(symbol.table, outcome))
            place = places[int(chance.integers(len(places)))].tolist()
            codes = dict(zip(symbol.support, place))
            found.setdefault(tuple(codes.items()), (len(places) / symbol.table.size, codes))
    ordered = sorted(found.values(), key=lambda item: item[0])
    return [codes for _, codes in ordered[:most]]
