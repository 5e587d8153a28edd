"""What is made of runs, shown: as CSV, as JSON, as a data frame, in the terminal, in a notebook and on a page.

Groups of runs are a table with a row each, or a two-way table of one measurement.
"""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from kleene.errors import InputError
from kleene.pictures.heat_maps import heat_map
from kleene.pictures.pages import drawn_with_tables
from kleene.runs.groups import Group, draw_curves, draw_first_hits, mean_word, settings_line
from kleene.runs.records import MEASUREMENTS, PERCENT, SETTINGS, SHARES, UNSHOWN, Value, as_word, in_order, place
from kleene.traces.markup import Table, html_notes, plain


class Listing(ABC):
    """What has rows: `flat` for other programs, and `words` for a person."""

    @abstractmethod
    def flat(self) -> list[dict[str, Any]]:
        """A dict of plain values for each row, in the order of the columns."""

    @abstractmethod
    def words(self) -> list[dict[str, str]]:
        """The same rows as a table shows them."""

    @property
    @abstractmethod
    def heading(self) -> str:
        """A line above the table; perhaps none."""

    @abstractmethod
    def draw(self, path: Any, *, title: str = "") -> Path:
        """Draw it and return the path."""

    @abstractmethod
    def as_json(self) -> Any:
        """All of it as JSON can hold it."""

    def csv(self) -> str:
        """The rows as CSV, with a line of names above. A missing value is empty."""
        return Table.of_records(self.flat()).csv()

    def to_pandas(self) -> Any:
        """The rows as a data frame of pandas, which has to be installed."""
        try:
            import pandas  # pyright: ignore[reportMissingImports]
        except ImportError:
            raise InputError(
                "to_pandas makes a data frame of pandas, which is not installed: pip install pandas. "
                "`flat()` has the same rows as a list of dicts, and `csv()` as text"
            ) from None
        found = Table.of_records(self.flat())
        return pandas.DataFrame(found.rows, columns=found.head)

    def tables(self) -> list[Table]:
        """The rows as a person reads them."""
        return [replace(Table.of_records(self.words(), "·"), narrow=True)]

    def __str__(self) -> str:
        return "\n".join(part for part in (self.heading, *map(str, self.tables())) if part)

    @property
    def page_title(self) -> str:
        """What a page about this is called."""
        return self.heading or "Results"

    def html_tables(self) -> str:
        return html_notes([self.heading]) + "".join(table.html() for table in self.tables())

    def _repr_html_(self) -> str:
        return self.html_tables()


@dataclass(frozen=True, repr=False)
class GroupedRuns(Listing):
    """Groups of runs, one for each combination of the settings `by`. `fixed` are the settings that all runs share."""

    by: tuple[str, ...]
    groups: tuple[Group, ...]
    fixed: Mapping[str, Value]

    def __len__(self) -> int:
        return len(self.groups)

    def __repr__(self) -> str:
        runs = sum(len(group.runs) for group in self.groups)
        return f"<GroupedRuns: {runs} runs in {len(self.groups)} groups by {', '.join(self.by) or 'nothing'}>"

    @drawn_with_tables
    def draw(self, path: Any, value: str = "generalises", *, title: str = "") -> Path:
        """Draw the curve of a measurement over the iterations, with a line and a band for each group.

        Of "first_hit" draw medians by the last of the settings `by`, a line for each combination of the others; runs
        that never passed a test count as later than all others.
        """
        drawing = draw_first_hits if value == "first_hit" else draw_curves
        return drawing(self.groups, path, value, title=title or settings_line(self.fixed, SETTINGS))

    def as_json(self) -> dict[str, Any]:
        groups = [group.as_json() for group in self.groups]
        return plain({"fixed": dict(self.fixed), "by": list(self.by), "groups": groups})

    def flat(self) -> list[dict[str, Any]]:
        """A flat record for each group: the mean of a measurement under its name, its spread beside it."""
        return [group.flat() for group in self.groups]

    def words(self) -> list[dict[str, str]]:
        return [self._words(group) for group in self.groups]

    @property
    def heading(self) -> str:
        """The settings that all runs share, in one line."""
        return settings_line(self.fixed)

    def _words(self, group: Group) -> dict[str, str]:
        low, high = group.interval
        shown = {name: "·" if value is None else as_word(value) for name, value in group.settings.items()}
        shown["runs"] = str(len(group.runs))
        if "perplexity" not in group.means:  # a language model does not generalise or not
            shown["generalise (95%)"] = f"{group.count('generalises')} ({100 * low:.0f}–{high:.0%})"
            shown["first"] = "·" if group.first_hit is None else f"{group.first_hit:,}"
        shown |= {name: mean_word(name, group.means.get(name)) for name in self._shown}
        return shown | {"diverged": str(group.count("diverged"))} if self._diverged else shown

    @cached_property
    def _shown(self) -> list[str]:
        """The measurements whose means a table shows."""
        return in_order({name for group in self.groups for name in group.means} - set(UNSHOWN), MEASUREMENTS)

    @cached_property
    def _diverged(self) -> bool:
        return any(group.count("diverged") for group in self.groups)


@dataclass(frozen=True, repr=False)
class Pivot(Listing):
    """The groups of two settings. `merged_over` has the other settings that differ within a cell: at most how many
    values of each are merged there."""

    rows: str
    columns: str
    value: str
    groups: tuple[Group, ...]
    merged_over: Mapping[str, int]

    def __repr__(self) -> str:
        size = f"{len(self.row_values)} × {len(self.column_values)}"
        return f"<Pivot: {self.value} by {self.rows} and {self.columns}, {size}>"

    @cached_property
    def row_values(self) -> list[Value]:
        return sorted({group.settings[self.rows] for group in self.groups}, key=place)

    @cached_property
    def column_values(self) -> list[Value]:
        return sorted({group.settings[self.columns] for group in self.groups}, key=place)

    @cached_property
    def cells(self) -> list[list[Group | None]]:
        """The group in every row and column; None where no run has both values."""
        found = {(group.settings[self.rows], group.settings[self.columns]): group for group in self.groups}
        return [[found.get((row, column)) for column in self.column_values] for row in self.row_values]

    @property
    def numbers(self) -> list[list[float | None]]:
        """The value of every cell: a share, a mean, or the median first hit; None where there is none."""
        return [[None if cell is None else cell.value(self.value) for cell in row] for row in self.cells]

    @property
    def heading(self) -> str:
        """What is shown, and what was merged: settings that differ besides those of the rows and columns."""
        over = ", ".join(f"{name} ({count} values)" for name, count in self.merged_over.items())
        return f"{self.what} by {self.rows} and {self.columns}" + (f"; merged over {over}" if over else "")

    @property
    def what(self) -> str:
        """What a number of the table is."""
        if self.value in SHARES:
            return f"share of runs that {'generalise' if self.value == 'generalises' else 'diverged'}"
        return "median first hit" if self.value == "first_hit" else f"mean {self.value}"

    @property
    def percent(self) -> bool:
        """Whether a person reads the numbers in percent."""
        return self.value in (*SHARES, *PERCENT)

    @drawn_with_tables
    def draw(self, path: Any, *, title: str = "") -> Path:
        """Draw the numbers as a heat map, shares in percent, and return the path; cells without runs stay empty."""
        scale = 100 if self.percent else 1
        return heat_map(
            [as_word(value) for value in self.row_values],
            [as_word(value) for value in self.column_values],
            [[None if number is None else scale * number for number in row] for row in self.numbers],
            path,
            across=self.columns,
            up=self.rows,
            limits=(0, 100) if self.percent else None,
            title=title or self.heading + (", %" if self.percent else ""),
        )

    def flat(self) -> list[dict[str, Any]]:
        return [
            {self.rows: row} | dict(zip(map(as_word, self.column_values), numbers))
            for row, numbers in zip(self.row_values, self.numbers)
        ]

    def words(self) -> list[dict[str, str]]:
        names = [as_word(column) for column in self.column_values]
        return [
            {f"{self.rows} \\ {self.columns}": as_word(row)} | dict(zip(names, map(self._word, cells)))
            for row, cells in zip(self.row_values, self.cells)
        ]

    def as_json(self) -> dict[str, Any]:
        facts = {"rows": self.rows, "columns": self.columns, "value": self.value, "merged_over": dict(self.merged_over)}
        facts |= {"row_values": self.row_values, "column_values": self.column_values, "numbers": self.numbers}
        runs = [[0 if cell is None else len(cell.runs) for cell in row] for row in self.cells]
        return plain(facts | {"runs": runs})

    def _word(self, cell: Group | None) -> str:
        if cell is None:
            return ""
        if self.value in SHARES:
            return f"{cell.count(self.value)} of {len(cell.runs)}"
        number = cell.value(self.value)
        return "·" if number is None else f"{number:.1%}" if self.percent else f"{number:.4g}"
