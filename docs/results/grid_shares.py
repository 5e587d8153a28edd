"""Runs that generalise in the grids of figure 9 of "Training Neural Machines with Partial Traces", and in the paper's.

A grid goes by the name of its file. Shares are in %, and ours are of the last test where nothing else is said.
"""

from collections.abc import Iterable
from typing import Any

import numpy as np
from tables import baseline, ever, hinted, stored  # beside this file

COPY, TWICE, ONLINE = "figure-9a-copy", "figure-9b-repeat_copy_twice", "figure-9c-dyck_words-online"
FLIP, REPEAT = "figure-9d-flip_3rd", "figure-9e-repeat_flip_3d"

Row = dict[str, Any]


def kinds(name: str) -> list[str]:
    """The kinds of hints of a grid."""
    return [*stored(name)["paper"]["rows"]]


def cells(name: str, kind: str) -> list[Row]:
    """Our cells of a kind of hint, with the paper's share beside each; that is None where it cannot be read."""
    content = stored(name)
    columns, shares = content["paper"]["columns"], content["paper"]["rows"][kind]
    paper = {(density, strength): share for (density, strength), share in zip(columns, shares, strict=True)}
    return [row | {"paper": paper[row["density"], row["strength"]]} for row in hinted(content, kind)]


def cell(name: str, kind: str, density: float, strength: float) -> Row:
    return next(row for row in cells(name, kind) if (row["density"], row["strength"]) == (density, strength))


def rarest(name: str, kind: str) -> list[Row]:
    """The cells of a kind of hint with hints on the fewest examples."""
    rows = cells(name, kind)
    return [row for row in rows if row["density"] == min(other["density"] for other in rows)]


def tally(rows: Iterable[Row]) -> tuple[int, int]:
    """How many of the runs of some cells generalise, and how many there are."""
    counts = [(row["generalised"], row["seeds"]) for row in rows]
    return sum(right for right, _ in counts), sum(runs for _, runs in counts)


def passed(row: Row) -> int:
    """How many runs of a cell pass some test."""
    return sum(first is not None for first in row["first_hit"])


def percent(*rows: Row) -> float:
    """Our share over some cells."""
    right, runs = tally(rows)
    return 100 * right / runs


def percent_in_paper(*rows: Row) -> float:
    """The mean of the paper's shares in those of these cells that can be read."""
    return float(np.mean([row["paper"] for row in rows if row["paper"] is not None]))


def count_in_paper(row: Row) -> int:
    """How many of as many runs as ours the paper's share in a cell is."""
    return round(row["paper"] * row["seeds"] / 100)


def shares(name: str, *of: str) -> list[float]:
    """Our share over the row of each of these kinds of hint, or of all."""
    return [percent(*cells(name, kind)) for kind in of or kinds(name)]


def in_paper(name: str, *of: str) -> list[float]:
    """The mean of the paper's shares over the row of each of these kinds of hint, or of all."""
    return [percent_in_paper(*cells(name, kind)) for kind in of or kinds(name)]


def at_some_test(name: str, *of: str) -> list[float]:
    """Our share at some test over the row of each of these kinds of hint."""
    return [float(np.mean([ever(row) for row in cells(name, kind)])) for kind in of]


def without_hints(name: str) -> str:
    """Our share without hints, without decimals."""
    return f"{percent(baseline(stored(name))):.0f}"


def without_hints_in_paper(name: str) -> str:
    return f"{stored(name)['paper']['baseline']:g}"


def beside_paper(name: str) -> np.ndarray:
    """Our share and the paper's in every cell that can be read in the paper."""
    rows = (row for kind in kinds(name) for row in cells(name, kind) if row["paper"] is not None)
    return np.array([(percent(row), row["paper"]) for row in rows])
