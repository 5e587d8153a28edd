"""Groups of runs: how many generalise with their 95% interval, means and spreads, the median first hit."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from kleene.notation.shares import interval
from kleene.sweeping.tables.filters import as_word
from kleene.sweeping.tables.measured import MEASUREMENTS, SHARES, MeasuredRun, Value, in_order, place
from kleene.traces.markup import plain

PERCENT = ("accuracy", "training_accuracy")  # shown in percent
UNSHOWN = ("seconds", "training_accuracy")  # measurements that are in CSV and JSON, but not in tables


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
        return plain(
            {
                "settings": dict(self.settings),
                "runs": len(self.runs),
                "generalised": self.count("generalises"),
                "interval": list(self.interval),
                "first_hit": self.first_hit,
                "diverged": self.count("diverged"),
                "measurements": {name: mean.as_json() for name, mean in self.means.items()},
            }
        )


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
