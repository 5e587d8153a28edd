"""A list of flat records as CSV, as JSON, as a rich table and in a notebook: one way for all tables of runs."""

import csv
import html
import io
import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from kleene.teaching.reports import as_text
from kleene.traces.markup import html_table


class Listing(ABC):
    """What has rows: `flat` for other programs, and `words` for a person."""

    @abstractmethod
    def flat(self) -> list[dict[str, Any]]:
        """A dict of plain values for each row, in the order of the columns."""

    @abstractmethod
    def words(self) -> list[dict[str, str]]:
        """The same rows as a table shows them."""

    @property
    def heading(self) -> str:
        """A line above the table; perhaps none."""
        return ""

    @abstractmethod
    def draw(self, path: Any, *, title: str = "") -> Path:
        """Draw it and return the path."""

    @abstractmethod
    def as_json(self) -> Any:
        """All of it as JSON can hold it."""

    def csv(self) -> str:
        """The rows as CSV, with a line of names above. A missing value is empty."""
        rows = self.flat()
        written = io.StringIO()
        writer = csv.DictWriter(written, columns_of(rows), lineterminator="\n")
        writer.writeheader()
        writer.writerows({name: _cell(value) for name, value in row.items()} for row in rows)
        return written.getvalue()

    def table(self) -> Any:
        """The rows as a rich table."""
        from rich.markup import escape  # slow to import
        from rich.table import Table as RichTable

        rows = self.words()
        columns = columns_of(rows)
        table = RichTable(box=None, header_style="bold", pad_edge=False, collapse_padding=True)
        for name in columns:
            table.add_column(escape(name), overflow="fold")  # so that a narrow terminal cuts nothing off
        for row in rows:
            table.add_row(*(escape(row.get(name, "·")) for name in columns))
        return table

    def __str__(self) -> str:
        return "\n".join(part for part in (self.heading, as_text(self.table())) if part)

    @property
    def page_title(self) -> str:
        """What a page about this is called."""
        return self.heading or "Results"

    def html_tables(self) -> str:
        """The rows as a table."""
        rows = self.words()
        columns = columns_of(rows)
        lines = [[row.get(name, "·") for name in columns] for row in rows]
        return f"<p>{html.escape(self.heading)}</p>{html_table([columns, *lines], most=None)}"

    def _repr_html_(self) -> str:
        return self.html_tables()


def columns_of(rows: Sequence[dict[str, Any]]) -> list[str]:
    """The names in any of the rows, a name that only some have after the one that it follows there.

    >>> columns_of([{"a": 1, "z": 1}, {"a": 1, "b": 2, "z": 3}])
    ['a', 'b', 'z']
    """
    columns: list[str] = []
    for row in rows:
        after = 0
        for name in row:
            if name not in columns:
                columns.insert(after, name)
            after = columns.index(name) + 1
    return columns


def plain(value: Any) -> Any:
    """The value as JSON can hold it: NaN as null and infinities as words, as in a sweep's store.

    >>> plain({"loss": [float("nan"), float("inf"), 1.5]})
    {'loss': [None, 'Infinity', 1.5]}
    """
    if isinstance(value, dict):
        return {name: plain(one) for name, one in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(one) for one in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"
    return value


def _cell(value: Any) -> Any:
    """The value in a cell of CSV: booleans as in JSON, a missing one empty."""
    value = plain(value)
    return str(value).lower() if isinstance(value, bool) else value
