"""Groups of runs: how many generalise with their 95% interval, means and spreads, the median first hit, and curves."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from kleene.errors import InputError
from kleene.notation.shares import interval
from kleene.pictures.figures import COLOURS
from kleene.pictures.plots import Line, Panel, line_panels, until_reached
from kleene.runs.conditions import check_name
from kleene.runs.records import MEASUREMENTS, PERCENT, SHARES, MeasuredRun, Value, as_word, in_order, place
from kleene.traces.markup import plain

MOST_LINES = 2 * len(COLOURS)  # of a picture: solid ones, then dashed ones
BAND = (10, 90)  # percentiles


@dataclass(frozen=True)
class Mean:
    """The mean of a measurement, and its standard deviation over the runs, of which more than one are needed.

    Only finite numbers count: a run that diverged has no loss.
    """

    mean: float
    spread: float | None
    runs: int

    def as_json(self) -> dict[str, Any]:
        return {"mean": self.mean, "spread": self.spread, "runs": self.runs}


@dataclass(frozen=True)
class Group:
    """The runs of one setting."""

    settings: Mapping[str, Value]
    runs: tuple[MeasuredRun, ...]

    def values(self, setting: str) -> set[Value]:
        """The values of a setting among the runs."""
        return {run.settings.get(setting) for run in self.runs}

    def count(self, name: str) -> int:
        """In how many runs a measurement of the last test is true."""
        return sum(run.last.get(name) is True for run in self.runs)

    @property
    def interval(self) -> tuple[float, float]:
        """The 95% interval (Wilson) of the share that generalises."""
        return interval(self.count("generalises"), len(self.runs))

    @property
    def first_hit(self) -> Value:
        """The iteration by which more than half of the runs had passed a test; None if fewer ever did."""
        hits = sorted(hit for run in self.runs if isinstance(hit := run.last.get("first_hit"), int))
        return hits[len(self.runs) // 2] if len(hits) * 2 > len(self.runs) else None

    @cached_property
    def means(self) -> dict[str, Mean]:
        """The mean and spread of every measurement that is a number."""
        names = in_order((name for run in self.runs for name in run.last), MEASUREMENTS)
        found = {name: mean_of(run.last.get(name) for run in self.runs) for name in names if name != "first_hit"}
        return {name: mean for name, mean in found.items() if mean is not None}

    def value(self, name: str) -> float | None:
        """One number for the group: a share, the median first hit, or a mean; None where there is none."""
        if name in SHARES:
            return self.count(name) / len(self.runs)
        if name == "first_hit":
            return self.first_hit  # pyright: ignore[reportReturnType]
        return self.means[name].mean if name in self.means else None

    def as_json(self) -> dict[str, Any]:
        facts = {"settings": dict(self.settings), "runs": len(self.runs), "generalised": self.count("generalises")}
        facts |= {"interval": list(self.interval), "first_hit": self.first_hit, "diverged": self.count("diverged")}
        return plain(facts | {"measurements": {name: mean.as_json() for name, mean in self.means.items()}})

    def flat(self) -> dict[str, Any]:
        """A flat record: the mean of a measurement under its name, its spread beside it."""
        low, high = self.interval
        record = dict(self.settings) | {"runs": len(self.runs), "generalised": self.count("generalises")}
        record |= {"low": low, "high": high, "first_hit": self.first_hit, "diverged": self.count("diverged")}
        for name, mean in self.means.items():
            record |= {name: mean.mean, f"{name}_spread": mean.spread}
        return record


def mean_of(values: Iterable[Any]) -> Mean | None:
    """The mean of those values that are finite numbers, whatever their order; None if there is none.

    >>> mean_of([1.0, 3.0, float("nan")])
    Mean(mean=2.0, spread=1.4142135623730951, runs=2)
    """
    numbers = [v for v in values if isinstance(v, (int, float)) and not isinstance(v, bool) and math.isfinite(v)]
    if not numbers:
        return None
    mean = math.fsum(v / len(numbers) for v in numbers)  # exact sums do not depend on the order
    mean = min(max(mean, min(numbers)), max(numbers))  # equal numbers are their own mean, without rounding
    if len(numbers) == 1:
        return Mean(mean, None, 1)
    apart = sorted(abs(v - mean) for v in numbers)
    return Mean(mean, math.hypot(*apart) / math.sqrt(len(numbers) - 1), len(numbers))


def grouped(runs: Sequence[MeasuredRun], by: Sequence[str]) -> tuple[Group, ...]:
    """The runs in groups of equal values of the settings `by`, sorted by those values."""
    found: dict[tuple[Any, ...], list[MeasuredRun]] = {}
    for run in runs:
        found.setdefault(tuple(run.settings.get(name) for name in by), []).append(run)
    keys = sorted(found, key=lambda key: [place(value) for value in key])
    return tuple(Group(dict(zip(by, key)), tuple(found[key])) for key in keys)


def settings_line(settings: Mapping[str, Value], names: Sequence[str] | None = None) -> str:
    """Settings with their values in one line: all, or those of these names.

    >>> settings_line({"task": "copy", "density": 1.0, "rate": 0.01}, ("task", "density"))
    'task copy, density 1'
    """
    return ", ".join(f"{name} {as_word(value)}" for name, value in settings.items() if names is None or name in names)


def mean_word(name: str, mean: Mean | None) -> str:
    """A mean with its spread, as a table shows it.

    >>> mean_word("accuracy", Mean(0.5, 0.25, 3)), mean_word("loss", Mean(0.12345, None, 1)), mean_word("loss", None)
    ('50.0% ± 25.0', '0.1235', '·')
    """
    if mean is None:
        return "·"
    if name in PERCENT:
        return f"{mean.mean:.1%}" + ("" if mean.spread is None else f" ± {100 * mean.spread:.1f}")
    return f"{mean.mean:.4g}" + ("" if mean.spread is None else f" ± {mean.spread:.2g}")


def draw_curves(groups: Sequence[Group], path: Any, value: str, *, title: str = "") -> Path:
    """Draw a measurement over the iterations and return the path.

    Of a measurement that is true or false the line is the share of runs and the band its 95% interval (Wilson); of
    others the line is the median, and the band reaches from the 10th to the 90th percentile of the runs.
    """
    check_name(value, list(dict.fromkeys(n for g in groups for run in g.runs for n in run.curve)), "curve of")
    _check_lines(len(groups))
    lines = {}
    for number, group in enumerate(groups):
        across, middle, low, high = curve(group, value)
        colour, dashed = number % len(COLOURS), number >= len(COLOURS)
        lines[_name(group.settings, f"{len(group.runs)} runs")] = Line(across, middle, low, high, colour, dashed)
    bounded = value in (*SHARES, *PERCENT)
    marks = "o" if all(len(line.across) < 3 for line in lines.values()) else ""
    panel = Panel(lines, "iterations", _label(value), marks=marks, limits=(-2, 102) if bounded else None)
    return line_panels({title: panel}, path)


def draw_first_hits(groups: Sequence[Group], path: Any, value: str = "first_hit", *, title: str = "") -> Path:
    """Draw by which iteration runs had passed a test, and return the path; what `until_reached` draws of each group.

    The last setting of the groups goes across, and each combination of the others has a line.
    """
    if not any("first_hit" in run.last for group in groups for run in group.runs):
        raise InputError("no first_hit in these results, because no test of them says whether a run generalises")
    lines: dict[str, dict[str, list[float | None]]] = {}
    across = ""
    for group in groups:
        *others, across = group.settings or {"": None}
        name = _name({other: group.settings[other] for other in others}, "first hit")
        hits = [run.last.get("first_hit") for run in group.runs]
        at = as_word(group.settings[across]) if across else ""
        lines.setdefault(name, {})[at] = hits  # pyright: ignore[reportArgumentType]
    _check_lines(len(lines))
    cap = max(run.curve["iteration"][-1] for group in groups for run in group.runs)
    return until_reached(lines, path, cap=cap, across=across, up="iteration of the first test passed", title=title)


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


def _name(settings: Mapping[str, Value], otherwise: str) -> str:
    """The settings of a line in a legend."""
    return settings_line({name: value for name, value in settings.items() if value is not None}) or otherwise


def _check_lines(count: int) -> None:
    if count > MOST_LINES:
        raise InputError(
            f"{count} lines are too many for one picture, which has at most {MOST_LINES}; "
            f"merge more with --by, choose with --where, or draw a heat map with --pivot"
        )
