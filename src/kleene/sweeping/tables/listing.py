"""A list of flat records as CSV, as JSON, as a rich table and in a notebook: one way for all tables of runs."""

from abc import ABC, abstractmethod
from dataclasses import replace
from pathlib import Path
from typing import Any

from kleene.traces.markup import Table, html_notes


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
        return Table.of_records(self.flat()).csv()

    def table(self) -> Table:
        """The rows as a person reads them."""
        return replace(Table.of_records(self.words(), "·"), narrow=True)

    def __str__(self) -> str:
        return "\n".join(part for part in (self.heading, str(self.table())) if part)

    @property
    def page_title(self) -> str:
        """What a page about this is called."""
        return self.heading or "Results"

    def html_tables(self) -> str:
        """The rows as a table."""
        return html_notes([self.heading]) + self.table().html()

    def _repr_html_(self) -> str:
        return self.html_tables()
