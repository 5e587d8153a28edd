"""Shares of test inputs that are right, by length or by number of ones: counted, and written as lines and tables."""

from collections.abc import Sequence

from kleene.traces.markup import html_table

Share = tuple[int, int]  # how many of how many


def shares_by(keys: Sequence[int], right: Sequence[bool]) -> dict[int, Share]:
    """How many of the inputs with each key are right.

    >>> shares_by([2, 1, 2], [True, True, False])
    {1: (1, 1), 2: (1, 2)}
    """
    found: dict[int, Share] = {}
    for key, same in sorted(zip(keys, right)):
        before, of = found.get(key, (0, 0))
        found[key] = (before + same, of + 1)
    return found


def share_table(across: str, found: dict[int, Share], taught: dict[int, Share]) -> str:
    """A table of how often a minimal version agrees, and a taught machine where there is one."""
    heads = (across, "test inputs", "minimal version agrees", *(["taught agrees"] if taught else []))
    rows = []
    for key, (right, of) in found.items():
        again = [f"{taught[key][0]:,} of {taught[key][1]:,}" if key in taught else "·"] if taught else []
        rows.append((key, of, f"{right:,} of {of:,}", *again))
    return html_table([heads, *rows], most=None)


def curve_table(title: str, curves: dict[str, dict[int, Share]], columns: int = 8) -> list[str]:
    """Lines of a table with a row for each curve; the sizes are put together into at most so many columns.

    >>> found = {n: (4 - (n > 2), 4) for n in range(1, 5)}
    >>> print("\\n".join(curve_table("right by length", {"minimal version": found}, columns=2)))
    right by length  1..2 3..4
    minimal version  100%  75%
    """
    sizes = sorted(set().union(*curves.values()))
    width = -(-len(sizes) // columns)
    groups = [sizes[at : at + width] for at in range(0, len(sizes), width)]
    heads = [f"{group[0]}..{group[-1]}" if len(group) > 1 else str(group[0]) for group in groups]
    rows = [[title, *heads]]
    for name, found in curves.items():
        cells = [[found[size] for size in group if size in found] for group in groups]
        sums = [(sum(right for right, _ in shares), sum(of for _, of in shares)) for shares in cells]
        rows.append([name, *(f"{_percent(share)}%" if share[1] else "·" for share in sums)])
    first, others = max(len(row[0]) for row in rows), [max(map(len, column)) for column in zip(*rows)][1:]
    return [f"{row[0]:<{first}}  " + " ".join(f"{c:>{n}}" for c, n in zip(row[1:], others)) for row in rows]


def shares_text(found: dict[int, Share]) -> str:
    """Runs of sizes with the same share of agreement: `1..20 100%, 21..40 48%`."""
    runs: list[tuple[int, int, Share]] = []
    for n, (right, of) in found.items():
        if runs and _percent(runs[-1][2]) == _percent((right, of)):
            first, _, (before, total) = runs[-1]
            runs[-1] = (first, n, (before + right, total + of))
        else:
            runs.append((n, n, (right, of)))
    shown = [f"{a if a == b else f'{a}..{b}'}: {_percent(share)}%" for a, b, share in runs]
    return ", ".join(shown if len(shown) <= 12 else [*shown[:11], "…", shown[-1]])


def _percent(share: Share) -> int:
    right, of = share
    return 100 * right // of  # 100 only where all are right
