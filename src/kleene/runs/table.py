"""The table of runs: filtered, grouped, pivoted and drawn; of a sweep's store, or of files of `kleene teach`."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from kleene.errors import InputError
from kleene.pictures.pages import drawn_with_tables
from kleene.runs.conditions import check_name, filtered
from kleene.runs.groups import grouped, settings_line
from kleene.runs.listing import GroupedRuns, Listing, Pivot
from kleene.runs.records import (
    DETAILS,
    MEASUREMENTS,
    SETTINGS,
    UNSHOWN,
    MeasuredRun,
    Value,
    as_word,
    from_file,
    from_row,
    in_order,
    once,
    place,
)
from kleene.traces.markup import plain

UNREADABLE = (ValueError, TypeError, KeyError, AttributeError, OverflowError, IndexError)  # of a row of another shape


@dataclass(frozen=True, repr=False)
class Runs(Listing):
    """Runs, each once. `damaged` has a message for each row or file that is none.

    >>> row = {"settings": {"task": "copy", "hints": "none"}, "tests": {"iteration": [10], "generalises": [True]}}
    >>> seeds = {str(n): row | {"settings": row["settings"] | {"seed": n}} for n in range(4)}
    >>> Runs.of_rows(seeds)
    <Runs: 4 runs, seed differs>
    >>> print(Runs.of_rows(seeds).by())
    task copy, hints none
    runs generalise (95%) first
    4    4 (51–100%)      10
    """

    runs: tuple[MeasuredRun, ...]
    damaged: tuple[str, ...] = ()

    @staticmethod
    def of_rows(rows: Mapping[str, Mapping[str, Any]]) -> "Runs":
        """The table of the rows of a sweep's store, by cell; cells of experiments have no runs of their own."""
        taught = {cell: row for cell, row in rows.items() if "content" not in row}
        return _read({f"cell {cell}": lambda row=row: [from_row(row)] for cell, row in taught.items()})

    @staticmethod
    def of_files(files: Mapping[str, Mapping[str, Any]]) -> "Runs":
        """The table of the contents of results files, by name; files of experiments have no runs."""
        return _read({repr(name): lambda content=content: from_file(content) for name, content in files.items()})

    def __len__(self) -> int:
        return len(self.runs)

    def __add__(self, other: "Runs") -> "Runs":
        """Both tables, with a run that both have once."""
        return Runs(tuple(once((*self.runs, *other.runs))), (*self.damaged, *other.damaged))

    def __repr__(self) -> str:
        names = [name for name in self.settings if len(self.values(name)) > 1]
        return f"<Runs: {len(self)} runs, {', '.join(names) or 'nothing'} differ{'s' * (len(names) < 2)}>"

    @cached_property
    def settings(self) -> list[str]:
        """The names of all settings."""
        return in_order((name for run in self.runs for name in run.settings), SETTINGS)

    @cached_property
    def measurements(self) -> list[str]:
        """The names of all measurements."""
        return in_order((name for run in self.runs for name in run.last), MEASUREMENTS)

    def values(self, setting: str) -> list[Value]:
        """The values of a setting, sorted; None where a run does not have it."""
        return sorted({run.settings.get(setting) for run in self.runs}, key=place)

    @cached_property
    def differing(self) -> list[str]:
        """The settings that differ within the table, except the seed: what runs are merged by.

        The digest of a lesson's details is among them only where nothing else tells the lessons apart.
        """
        names = [name for name in self.settings if name not in ("seed", DETAILS) and len(self.values(name)) > 1]
        groups = grouped(self.runs, names)
        mixed = any(len(group.values(DETAILS)) > 1 for group in groups)
        return names + [DETAILS] * mixed

    @cached_property
    def fixed(self) -> dict[str, Value]:
        """The settings that all runs share."""
        found = {name: self.values(name) for name in self.settings if name not in ("seed", DETAILS)}
        return {name: values[0] for name, values in found.items() if len(values) == 1}

    def where(self, *conditions: str) -> "Runs":
        """The runs that fulfil all conditions: "hints=address", "density>=0.1", "hints!=none", "task=copy,reverse".

        A condition may name a setting, or a measurement of the last test.
        """
        self._check_any()
        return Runs(tuple(filtered(self.runs, conditions)), self.damaged)

    def by(self, settings: str | Sequence[str] | None = None) -> GroupedRuns:
        """The runs with equal values of these settings as one row each; by default seeds alone are merged."""
        self._check_any()
        names = self.differing if settings is None else self._names(settings)
        return GroupedRuns(tuple(names), grouped(self.runs, names), self.fixed)

    def pivot(self, rows: str, columns: str, value: str = "generalises") -> Pivot:
        """A measurement by two settings; runs that agree in both are merged."""
        self._check_any()
        self._names((rows, columns))
        if rows == columns:
            raise InputError(f"the rows and the columns of a pivot are both {rows!r}; give two settings")
        for name in (rows, columns):
            if len(self.values(name)) < 2:
                there = [one for one in self.differing if one not in (rows, columns)]
                known = f"there are {', '.join(there)}" if there else "no other setting differs"
                raise InputError(
                    f"a pivot needs settings that differ, and {name} is {as_word(self.values(name)[0])} in all runs; "
                    f"{known}"
                )
        check_name(value, self.measurements, "measurement")
        groups = grouped(self.runs, (rows, columns))
        most = {name: max(len(group.values(name)) for group in groups) for name in self.differing}
        return Pivot(rows, columns, value, groups, {name: count for name, count in most.items() if count > 1})

    @drawn_with_tables
    def draw(self, path: Any, value: str = "generalises", *, title: str = "") -> Path:
        """Draw the curve of a measurement over the iterations: a line for each setting, with a band over its seeds."""
        return self.by().draw(path, value, title=title)

    def flat(self) -> list[dict[str, Any]]:
        """A flat record for each run: its settings, and the measurements of its last test."""
        return [
            {name: run.settings.get(name) for name in self.settings}
            | {name: run.last.get(name) for name in self.measurements}
            for run in self.runs
        ]

    @property
    def heading(self) -> str:
        return settings_line(self.fixed)

    def words(self) -> list[dict[str, str]]:
        """The settings that differ, the seed, and the measurements of each run."""
        names = [*self.differing, "seed", *(name for name in self.measurements if name not in UNSHOWN)]
        found = [{name: run.get(name) for name in names} for run in self.runs]
        return [{name: "·" if value is None else as_word(value) for name, value in row.items()} for row in found]

    def as_json(self) -> list[dict[str, Any]]:
        """The settings, the measurements of the last test and the curve of each run."""
        return [
            plain({"settings": dict(run.settings), "last": dict(run.last), "curve": dict(run.curve)})
            for run in self.runs
        ]

    def _names(self, given: str | Sequence[str]) -> list[str]:
        names = [part.strip() for part in given.split(",")] if isinstance(given, str) else list(given)
        for name in names:
            check_name(name, self.settings)
        return list(dict.fromkeys(names))

    def _check_any(self) -> None:
        if not self.runs:
            raise InputError(
                "there are no runs here to filter, merge or draw; experiments keep tables, which are listed as they are"
            )


def _read(sources: Mapping[str, Any]) -> Runs:
    """The runs of all sources that can be read, and a message for each that cannot."""
    runs: list[MeasuredRun] = []
    damaged: list[str] = []
    for name, read in sources.items():
        try:
            runs += read()
        except UNREADABLE as error:
            damaged.append(f"{name} lacks some of its measurements ({error or type(error).__name__})")
    return Runs(tuple(_in_order_of_settings(once(runs))), tuple(damaged))


def _in_order_of_settings(runs: list[MeasuredRun]) -> list[MeasuredRun]:
    """The runs sorted by their settings, the seed last."""
    names = [name for name in in_order((name for run in runs for name in run.settings), SETTINGS) if name != "seed"]
    return sorted(runs, key=lambda run: [place(run.settings.get(name)) for name in (*names, "seed")])
