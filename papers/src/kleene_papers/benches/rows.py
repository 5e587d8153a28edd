"""How the rows of `kleene bench` are shown: as tables of ours beside what ran in the same run, and as grids."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from typing import Any

from kleene_papers.stored import Result
from kleene_papers.tables import Table

Row = Mapping[str, Any]
BESIDE = "beside others"
HEAD = ("", "ours", "compiling", "beside it, in the same run", "times as good", "remark")
GRIDS = {"alta": ("parity_relative", "addition", "subleq"), "scan": ("scan", "scan_shift_reduce")}
PARTS = {  # the tables of a benchmark, and how the names of their rows begin; "" is for all that are left
    "alta": {"alta, two variables": ("",)},
    "automata": {"tapes": ("ping-pong",), "regular expression": ("",)},
    "sweep": {
        "store": ("10,000", "200", "looking", "the same", "overhead a cell"),
        "workers": ("128",),
        "packs": ("",),
    },
}


def number(value: float, digits: int = 3) -> str:
    """The number with so many significant digits, and thousands apart.

    >>> number(128_345.2), number(0.0415)
    ('128,000', '0.0415')
    """
    rounded = float(f"{value:.{digits}g}")
    return f"{rounded:,.0f}" if rounded >= 10 ** (digits - 1) else f"{rounded:g}"


def shown(row: Row, entry: str = "ours", digits: int = 3) -> str:
    """The value with its unit, small times in ms and long ones in s; counts are exact."""
    unit, value = row["unit"], row[entry]
    if unit == "s" and value < 0.1:
        unit, value = "ms", 1000 * value
    elif unit == "ms" and value >= 1000:
        unit, value = "s", value / 1000
    return f"{value:,} {unit}" if isinstance(value, int) else f"{number(value, digits)} {unit}"


def by_name(rows: Iterable[Row]) -> dict[str, Row]:
    """The rows by what was measured."""
    return {row["what"]: row for row in rows}


def tables(result: Result) -> list[Table]:
    """The tables of a run of one benchmark; of a run of all, also a table of what has something beside it."""
    of = {name: [*rows] for name, rows in groupby(result.rows, key=lambda row: row["benchmark"])}
    found = [made for name, rows in of.items() for made in _of(name, rows)]
    return found if len(of) == 1 else [beside(BESIDE, [r for r in result.rows if r["peer"] is not None]), *found]


def _of(benchmark: str, rows: Sequence[Row]) -> Iterator[Table]:
    """The tables of one benchmark: a grid where it measures the same of several things, and the other rows."""
    costs = [row for row in rows if "cost: " in row["what"]]
    whole = [row for row in rows if benchmark == "cold" or row["what"].split(": ")[0] in GRIDS.get(benchmark, ())]
    if whole:
        yield grid(benchmark, whole, last=benchmark == "cold")
    if costs:
        yield Table(["varied", "to", "time"], [[r["against"], r["size"], shown(r)] for r in costs], "cost")
    left = [row for row in rows if row not in whole and row not in costs]
    for title, begins in PARTS.get(benchmark, {benchmark: ("",)}).items():
        chosen = [row for row in left if row["what"].startswith(begins)]
        left = [row for row in left if row not in chosen]
        if chosen:
            yield beside(title, chosen)


def beside(title: str, rows: Sequence[Row], digits: int = 3) -> Table:
    """Ours, and what ran beside it in the same run; columns that would be empty are left out."""
    known, lines = by_name(rows), []
    compiling = {name: found for name in known if (found := _compiling(name, known))}
    for name, row in known.items():
        if name not in compiling.values():
            compiled = shown(known[compiling[name]], digits=digits) if name in compiling else ""
            peer = "" if row["peer"] is None else f"{shown(row, 'peer', digits)} ({row['peer_name']})"
            lines.append([_quoted(_plain(name)), shown(row, digits=digits), compiled, peer, times(row), remark(row)])
    used = [place for place in range(len(HEAD)) if place < 2 or any(line[place] for line in lines)]
    return Table(
        [HEAD[place] for place in used], [[line[place] for place in used] for line in lines], title, marked=True
    )


def _plain(name: str) -> str:
    return name.removesuffix(", cpu").removesuffix(", gpu")


def _quoted(name: str) -> str:
    """The name, as code where Markdown would read its stars."""
    return f"`{name}`" if "*" in name else name


def _compiling(name: str, known: Mapping[str, Row]) -> str | None:
    """The name of the row that says how long compiling took for it."""
    wanted = (f"{_plain(name)}: compile", f"{name.partition(', ')[0]}: compile")
    return next((one for one in wanted if one in known), None)


def times(row: Row, digits: int = 3) -> str:
    """How many times as good as the peer, where there was one."""
    return "" if row["ratio"] is None else f"{number(row['ratio'], digits)}×"


def remark(row: Row) -> str:
    """The remark, without what was measured on another machine, and the pairs of words a second."""
    parts = [part for part in row["remark"].split("; ") if part and "another machine" not in part]
    if "pairs_a_second" in row and not any("pairs/s" in part for part in parts):
        parts.append(f"{number(row['pairs_a_second'])} pairs/s")
    return "; ".join(parts)


def _aim(row: Row) -> str:
    return f"aim {row['aim']:,}: {'reached' if row['reached'] else 'missed'}" if "aim" in row else ""


def grid(title: str, rows: Sequence[Row], *, last: bool = False) -> Table:
    """The same measurements of several things: columns are what stands before the first ": ", or after the last."""
    lines: dict[str, dict[str, str]] = {}
    for row in rows:
        before, _, after = row["what"].rpartition(": ") if last else row["what"].partition(": ")
        column, line = (after, before) if last else (before, after)
        notes = [f" ({note})" for note in (times(row), _aim(row)) if note]
        lines.setdefault(line, {})[column] = "".join([shown(row), *notes])
    columns = list(dict.fromkeys(column for cells in lines.values() for column in cells))
    peers = " or ".join(f"'{name}'" for name in dict.fromkeys(row["peer_name"] for row in rows if row["peer_name"]))
    first = f"in brackets: times as good as {peers}" if peers else ""
    found = [[_quoted(line), *(cells.get(column, "") for column in columns)] for line, cells in lines.items()]
    return Table([first, *columns], found, title, marked=True)
