"""What to do about a function that reads too much at once: which functions it could be split into."""

import math
import random
from collections.abc import Callable, Mapping

TRIED = 50  # assignments at which each variable is changed alone
MOST_SHOWN = 8  # variables, or functions, in an error


def listed(parts: list[str], separator: str = ", ") -> str:
    """The first of some parts, and how many there are more."""
    more = f" and {len(parts) - MOST_SHOWN} more" if len(parts) > MOST_SHOWN else ""
    return separator.join(parts[:MOST_SHOWN]) + more


def advice(writes: Callable[[Mapping[str, int]], Mapping[str, int]], sizes: Mapping[str, int]) -> str:
    """How to split a function that reads variables of these sizes; `writes` runs it on an assignment of codes.

    What each target depends on is found by changing one variable at a time on some assignments.
    """
    groups = _groups(_dependences(writes, sizes))
    if len(groups) < 2:
        return (
            "All that it writes depends on all of these: read a variable only where it matters, make ranges smaller, "
            "spread the computation over several layers, or give the rules with MLPBuilder."
        )
    parts = [f"{', '.join(targets)} from {_reading(names, sizes)}" for names, targets in groups.items()]
    return (
        f"Give ffn_fn a list of functions that write different variables, so that what they read is added up and not "
        f"multiplied: one each for {listed(parts, '; ')}."
    )


def _reading(names: frozenset[str], sizes: Mapping[str, int]) -> str:
    ordered = [name for name in sizes if name in names]
    count = f"{math.prod(sizes[name] for name in ordered):,} combinations"
    return f"{listed(ordered)} ({count})" if ordered else "nothing"


def _dependences(
    writes: Callable[[Mapping[str, int]], Mapping[str, int]], sizes: Mapping[str, int]
) -> dict[str, set[str]]:
    """For every target, the variables whose change alone was seen to change it."""
    chance, found = random.Random(0), dict[str, set[str]]()
    for _ in range(TRIED):
        codes = {name: chance.randrange(size) for name, size in sizes.items()}
        before = writes(codes)
        for target in before:
            found.setdefault(target, set())
        for name, size in sizes.items():
            after = writes(codes | {name: chance.randrange(size)})
            for target in before.keys() | after.keys():
                if before.get(target) != after.get(target):
                    found.setdefault(target, set()).add(name)
    return found


def _groups(dependences: Mapping[str, set[str]]) -> dict[frozenset[str], list[str]]:
    """The targets by what they depend on; one that depends on a part of what another does is with that other."""
    groups: dict[frozenset[str], list[str]] = {}
    for target, names in sorted(dependences.items(), key=lambda item: (-len(item[1]), item[0])):
        wider = next((group for group in groups if names <= group), frozenset(names))
        groups.setdefault(wider, []).append(target)
    return groups
