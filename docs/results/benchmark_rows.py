"""Stored benchmarks, as `kleene bench NAME -o docs/results/FILE.json` writes them, and how their numbers are shown."""

from typing import Any

import tables  # beside this file

Row = dict[str, Any]
MACHINES = {"2-cores": "2 cores", "h200": "one H200"}


def rows(name: str) -> dict[str, Row]:
    """The rows of a benchmark by what was measured; none where its file is not stored."""
    found = tables.stored(name) if (tables.HERE / f"{name}.json").exists() else []
    return {row["what"]: row for row in found}


def number(value: float, digits: int = 2) -> str:
    """The number with so many significant digits, and thousands apart."""
    rounded = float(f"{value:.{digits}g}")
    return f"{rounded:,.0f}" if rounded >= 10 ** (digits - 1) else f"{rounded:g}"


def shown(row: Row, digits: int = 2) -> str:
    """The value with its unit, small times in ms and long ones in s."""
    unit, value = row["unit"], row["ours"]
    if unit == "s" and value < 0.1:
        unit, value = "ms", 1000 * value
    elif unit == "ms" and value >= 1000:
        unit, value = "s", value / 1000
    return f"{number(value, digits)} {unit}"
