"""Tables of results, which are Kleene's, and the words of their cells."""

from collections.abc import Sequence

from kleene.traces.markup import Table as Table


def share(count: int, runs: int, interval: Sequence[float]) -> str:
    """A share of runs with its 95% interval.

    >>> share(33, 40, (0.68, 0.91))
    '82% (68–91)'
    """
    return f"{100 * count / runs:.0f}% ({100 * interval[0]:.0f}–{100 * interval[1]:.0f})"
