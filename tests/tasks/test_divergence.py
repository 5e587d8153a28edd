import random

import numpy as np
import pytest

from kleene.errors import InputError
from kleene.programs.alta.library.scan_language import VERBS, commands, parse
from kleene.tasks.compounds import ATOMS, command_parts
from kleene.tasks.divergence import MOST_ATOMS, chernoff, divergences, most_divergent

ALL = list(commands())
SOME = random.Random(0).sample(ALL, 400)


def nodes_of(command: str) -> dict[tuple, tuple[str, tuple | None]]:
    """The rules of a derivation: the word of each, and the rule above it."""
    found, (phrases, conjunction) = {}, parse(command)
    if conjunction:
        found["top",] = (conjunction, None)
    for side, phrase in enumerate(phrases):
        way = f"{phrase.mode} {phrase.direction}".strip()
        below = [f"turn {way}"] if phrase.verb == "turn" else [way, phrase.verb]
        above = ("top",) if conjunction else None
        for word in filter(None, [["", "", "twice", "thrice"][phrase.repeats], *below]):
            found[side, word] = (word, above)
            above = (side, word)
    return found


def connected(command: str, depth: int) -> list[frozenset]:
    """Every connected set of two or more rules with at most `depth` from its top down, found by brute force."""
    nodes = nodes_of(command)
    names = list(nodes)
    found = []
    for mask in range(1, 2 ** len(names)):
        chosen = frozenset(name for i, name in enumerate(names) if mask >> i & 1)
        tops = [name for name in chosen if nodes[name][1] not in chosen]
        if len(chosen) > 1 and len(tops) == 1 and max(_depth(nodes, name, tops[0]) for name in chosen) <= depth:
            found.append(chosen)
    return found


def _depth(nodes: dict, name: tuple, top: tuple) -> int:
    steps = 1
    while name != top:
        name, steps = nodes[name][1], steps + 1
    return steps


def written(command: str, chosen: frozenset) -> tuple:
    """A compound as `command_parts` writes it."""
    nodes = nodes_of(command)
    sides = [tuple(word for name, (word, _) in nodes.items() if name in chosen and name[0] == i) for i in (0, 1)]
    if ("top",) in chosen:
        return (nodes["top",][0], *sides)
    return ("", sides[0] or sides[1], ())


@pytest.mark.parametrize("depth", [2, 3, 5])
def test_compounds_and_weights_are_those_of_brute_force(depth):
    some = [*SOME[:60], "walk", "turn left", "jump twice"]
    parts = command_parts(some, depth)
    found = {c: {written(c, chosen) for chosen in connected(c, depth)} for c in some}
    counts = {compound: sum(compound in row for row in found.values()) for row in found.values() for compound in row}
    weights = dict.fromkeys(((c, compound) for c, row in found.items() for compound in row), 0.0)
    for command in some:
        sets = connected(command, depth)
        for chosen in sets:
            larger = [counts[written(command, other)] for other in sets if chosen < other]
            weight = 1 - max(larger, default=0) / counts[written(command, chosen)]
            key = command, written(command, chosen)
            weights[key] = max(weights[key], weight)
    ours = {(some[r], parts.compounds[c]): w for r, c, w in zip(parts.rows, parts.columns, parts.weights)}
    assert ours == pytest.approx(weights)


def test_the_atoms_are_the_twenty_rules_of_scan():
    parts = command_parts(["jump around left twice and turn left", "turn left after turn left"])
    assert len(ATOMS) == len(set(ATOMS)) == 20
    used = [{atom: n for atom, n in zip(ATOMS, row) if n} for row in parts.atoms]
    assert used == [{"jump": 1, "around left": 1, "twice": 1, "and": 1, "turn left": 1}, {"turn left": 2, "after": 1}]


def test_divergence_is_nothing_for_equal_sets_and_all_for_disjoint_ones():
    parts = command_parts(["walk left", "walk left twice", "jump", "jump right"])
    same = divergences(parts, np.array([0, 1]), np.array([1, 0]))
    apart = divergences(parts, np.array([0, 1]), np.array([3]))
    assert (same.atom, same.compound) == pytest.approx((0, 0))
    assert (apart.atom, apart.compound) == (1, 1)
    doubled = divergences(parts, np.array([0, 1, 0, 1]), np.array([0, 1]))
    assert doubled.compound == pytest.approx(0)


def test_the_coefficient_of_compounds_asks_mostly_whether_they_were_seen():
    seen, unseen = np.array([99.0, 1.0]), np.array([100.0, 0.0])
    test = np.array([0.0, 1.0])
    assert chernoff(seen, test, 0.1) == pytest.approx(0.01**0.1)
    assert chernoff(unseen, test, 0.1) == 0
    assert chernoff(seen, test, 0.5) == pytest.approx(0.1)


def test_the_search_beats_chance_within_the_bound_and_is_the_same_for_a_seed():
    parts = command_parts(SOME)
    train, test = most_divergent(parts, 160, 40, seed=3, starts=2)
    assert (len(set(train)), len(set(test)), len(set(train) & set(test))) == (160, 40, 0)
    found, order = divergences(parts, train, test), np.random.default_rng(0).permutation(len(SOME))
    by_chance = divergences(parts, order[:160], order[160:200])
    assert found.atom <= MOST_ATOMS
    assert all(parts.atoms[train].any(axis=0)[parts.atoms[test].any(axis=0)])  # every atom of the test was seen
    assert found.compound > by_chance.compound + 0.2
    again = most_divergent(parts, 160, 40, seed=3, starts=2)
    assert all(np.array_equal(a, b) for a, b in zip((train, test), again))
    assert not np.array_equal(train, most_divergent(parts, 160, 40, seed=4, starts=2)[0])


def test_what_cannot_be_split_is_refused():
    parts = command_parts(list(VERBS[:4]))
    with pytest.raises(InputError, match=r"atom divergence of at most 0\.02 was found, only one with 1.0000, or"):
        most_divergent(parts, 2, 2)
    with pytest.raises(InputError, match="4 training and 1 test commands were asked for, and there are 4"):
        most_divergent(parts, 4, 1)
    with pytest.raises(InputError, match="test is 0; give 1 or more"):
        most_divergent(parts, 1, 0)
    with pytest.raises(InputError, match="the test set is empty"):
        divergences(parts, np.array([0]), np.array([], dtype=int))
    with pytest.raises(InputError, match="depth is 1"):
        command_parts(["walk"], 1)
    with pytest.raises(InputError, match="there are no commands"):
        command_parts([])
    with pytest.raises(InputError, match="'jump left' is not one of the 4 commands"):
        parts.lines(["walk", "jump left"])
