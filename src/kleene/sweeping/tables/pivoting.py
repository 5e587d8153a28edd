"""One measurement by two settings: a two-way table, and its heat map."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from kleene.pictures.heat_maps import heat_map
from kleene.pictures.pages import drawn_with_tables
from kleene.sweeping.tables.filters import as_word
from kleene.sweeping.tables.groups import PERCENT, Group
from kleene.sweeping.tables.listing import Listing
from kleene.sweeping.tables.measured import SHARES, Value, place
from kleene.traces.markup import plain


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
