"""The subset construction: the sets of states that words lead to, of a nondeterministic automaton or an expression."""

from collections.abc import Mapping, Sequence

MOST_STATES = 200_000  # sets of states
MOST_ENTRIES = 1_000_000  # of the table, a row for every set and a column for every symbol: half a gigabyte
MOST_WORK = 20_000_000  # states looked at, which takes some ten seconds

Followers = Mapping[str, Sequence[int]]  # where each symbol leads from one state


class TooManySets(Exception):
    """The construction was given up; `found` is how many sets there were."""

    def __init__(self, found: int):
        super().__init__(found)
        self.found = found


def reached_sets(
    start: frozenset[int],
    followers: Sequence[Followers],
    symbols: int,
    *,
    most_states: int = MOST_STATES,
    most_work: int = MOST_WORK,
) -> tuple[list[frozenset[int]], dict[int, dict[str, int]]]:
    """The sets that a word can lead to, the start's first, and the number of the set to which each symbol leads.

    `followers` are those of each state, and `symbols` is the size of the alphabet. A symbol that leads nowhere has no
    entry. The number of sets can double with each state, so it has a limit.
    """
    numbers: dict[frozenset[int], int] = {start: 0}
    found, transitions, work = list(numbers), {}, 0
    for number, held in enumerate(found):
        reached, looked_at = _reached(held, followers)
        work += looked_at
        if len(found) > most_states or work > most_work or len(found) * symbols > MOST_ENTRIES:
            raise TooManySets(len(found))
        transitions[number] = {}
        for symbol, targets in reached.items():
            following = frozenset(targets)
            if following not in numbers:
                numbers[following] = len(found)
                found.append(following)
            transitions[number][symbol] = numbers[following]
    return found, transitions


def _reached(held: frozenset[int], followers: Sequence[Followers]) -> tuple[dict[str, set[int]], int]:
    """The states that each symbol leads to from any of those held, and how many were looked at."""
    reached: dict[str, set[int]] = {}
    work = 0
    for state in held:
        for symbol, targets in followers[state].items():
            reached.setdefault(symbol, set()).update(targets)
            work += len(targets)
    return reached, work
