"""Curves of groups of runs over the iterations: one line a group, with a band over its runs."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from kleene.errors import InputError
from kleene.notation.shares import interval
from kleene.pictures.figures import COLOURS
from kleene.pictures.plots import Line, Panel, line_panels
from kleene.sweeping.tables.filters import as_word, check_name
from kleene.sweeping.tables.groups import PERCENT, Group
from kleene.sweeping.tables.measured import SHARES

MOST_LINES = 2 * len(COLOURS)  # solid ones, then dashed ones
BAND = (10, 90)  # percentiles


def draw_curves(groups: Sequence[Group], path: Any, value: str, *, title: str = "") -> Path:
    """Draw a measurement over the iterations and return the path.

    Of a measurement that is true or false the line is the share of runs and the band its 95% interval (Wilson); of
    others the line is the median, and the band reaches from the 10th to the 90th percentile of the runs.
    """
    check_name(value, list(dict.fromkeys(n for g in groups for run in g.runs for n in run.curve)), "curve of")
    if len(groups) > MOST_LINES:
        raise InputError(
            f"{len(groups)} lines are too many for one picture, which has at most {MOST_LINES}; "
            f"merge more with --by, choose with --where, or draw a heat map with --pivot"
        )
    lines = {}
    for number, group in enumerate(groups):
        across, middle, low, high = curve(group, value)
        colour, dashed = number % len(COLOURS), number >= len(COLOURS)
        lines[_name(group)] = Line(across, middle, low, high, colour, dashed)
    bounded = value in (*SHARES, *PERCENT)
    marks = "o" if all(len(line.across) < 3 for line in lines.values()) else ""
    panel = Panel(lines, "iterations", _label(value), marks=marks, limits=(-2, 102) if bounded else None)
    return line_panels({title: panel}, path)


def curve(group: Group, value: str) -> tuple[list[int], list[float], list[float], list[float]]:
    """The iterations of the group's tests, the middle of the runs at each, and the lower and upper end of their band.

    Runs that were tested at other iterations count where they were tested. A NaN or infinite value does not count.
    """
    tested: dict[int, list[float]] = {}
    for run in group.runs:
        for iteration, number in zip(run.curve["iteration"], run.curve.get(value, ())):
            if np.ndim(number) == 0 and np.isfinite(number):
                tested.setdefault(iteration, []).append(float(number))
    across = sorted(tested)
    bands = [_share(tested[n]) if value in SHARES else _percentiles(tested[n]) for n in across]
    scale = 100 if value in (*SHARES, *PERCENT) else 1
    low, middle, high = ([scale * band[side] for band in bands] for side in range(3))
    return across, middle, low, high


def _label(value: str) -> str:
    """What the line and the band are."""
    if value in SHARES:
        return f"% of runs that {'generalise' if value == 'generalises' else 'diverged'}, 95% interval"
    return f"{value}{', %' if value in PERCENT else ''}: median, 10th–90th percentile"


def _share(passed: list[float]) -> tuple[float, float, float]:
    low, high = interval(int(sum(passed)), len(passed))
    return low, sum(passed) / len(passed), high


def _percentiles(numbers: list[float]) -> tuple[float, float, float]:
    low, middle, high = np.percentile(numbers, (BAND[0], 50, BAND[1]))
    return float(low), float(middle), float(high)


def _name(group: Group) -> str:
    """The settings of a group in a legend."""
    set_here = [f"{name} {as_word(value)}" for name, value in group.settings.items() if value is not None]
    return ", ".join(set_here) or f"{len(group.runs)} runs"
