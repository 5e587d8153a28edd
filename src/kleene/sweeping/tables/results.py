"""`kleene.results`: what a folder holds, of `kleene teach --results`, of experiments, or of a sweep."""

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from kleene.errors import InputError
from kleene.sweeping.store import CellStore, is_store
from kleene.sweeping.tables.listing import Listing
from kleene.sweeping.tables.merging import MergedTable
from kleene.sweeping.tables.pivoting import Pivot
from kleene.sweeping.tables.table import Table
from kleene.teaching import results as files
from kleene.teaching.reports import table_of
from kleene.traces.markup import html_text, plain_text

MOST_NAMED = 5  # cells in the line about those set aside
RUN = "run"  # `by` that merges nothing


@dataclass(frozen=True)
class FoundResults(files.Results):
    """The results in a folder. They show themselves as files side by side, or as a sweep with its seeds merged.

    `runs` is the table of all runs; `where`, `merged`, `pivot`, `csv` and `draw` are those of that table. `cells` has
    the rows of a sweep's store by cell, and is None where there is no sweep; `failures` are its failed attempts.
    """

    runs: Table = field(default_factory=lambda: Table(()))
    cells: Mapping[str, Mapping[str, Any]] | None = None
    failures: Mapping[str, Sequence[Any]] = field(default_factory=dict)

    @property
    def failed(self) -> list[str]:
        """The cells that failed, and were neither done later nor set aside."""
        return [cell for cell in self.failures if cell not in (self.cells or {}) and cell not in self.set_aside]

    @cached_property
    def set_aside(self) -> dict[str, str]:
        """The cells that failed so often that they are not tried again, each with the last reason."""
        from kleene.sweeping.worker import set_aside  # slow to import

        undone = {cell: list(tries) for cell, tries in self.failures.items() if cell not in (self.cells or {})}
        return set_aside(undone) if undone else {}

    @property
    def line(self) -> str:
        """How far the sweep is, in one line; nothing for a folder of files."""
        if self.cells is None:
            return ""
        named = ", ".join([*self.set_aside][:MOST_NAMED]) + (" …" if len(self.set_aside) > MOST_NAMED else "")
        aside = f"{len(self.set_aside)} set aside" + (f" ({named})" if named else "")
        return f"{len(self.cells):,} cells done, {len(self.failed):,} failed, {aside}"

    @property
    def heading(self) -> str:
        """The settings that all runs of a sweep share; nothing for a folder of files."""
        return self.merged().heading if self.cells is not None and len(self.runs) else ""

    def where(self, *conditions: str) -> Table:
        """The runs that fulfil all conditions, such as "hints=address" or "density>=0.1"."""
        return self.runs.where(*conditions)

    def merged(self, by: str | Sequence[str] | None = None) -> MergedTable:
        """The seeds of each setting as one row with their interval, or all runs with equal values of `by`."""
        return self.runs.merged(by)

    def pivot(self, rows: str, columns: str, value: str = "generalises") -> Pivot:
        """A measurement by two settings."""
        return self.runs.pivot(rows, columns, value)

    def csv(self) -> str:
        """The merged table as CSV."""
        return self.merged().csv()

    def draw(self, path: Any, value: str = "generalises", *, title: str = "") -> Path:
        """Draw the curve of a measurement, a line for each setting with a band over its seeds, and return the path."""
        return self.runs.draw(path, value, title=title)

    def view(
        self, where: Sequence[str] = (), by: str | None = None, pivot: str | None = None, value: str | None = None
    ) -> Listing:
        """What the options of `kleene results` ask for: a pivot, a merged table, or with `by="run"` all runs."""
        table = self.where(*where) if where else self.runs
        if pivot is None:
            return table if by == RUN else table.merged(by)
        names = [name.strip() for name in pivot.split(",")]
        if len(names) != 2:
            raise InputError(f"--pivot is {pivot!r}; give two settings with a comma, such as hints,density")
        return table.pivot(names[0], names[1], value or "generalises")

    def table(self) -> Any:
        """A rich table: a row for every setting of every file, or of the sweep; with both for a sweep of both kinds."""
        if self.cells is None:
            return super().table()
        from rich.console import Group as Lines  # slow to import

        parts = [self.merged().table()] if len(self.runs) else []
        return Lines(*parts, *([super().table()] if self.rows else []))

    def as_json(self) -> Any:
        """The content of every file without its `rows`; of a sweep, its counts, groups and experiments."""
        if self.cells is None:
            return super().as_json()
        counts = {"done": len(self.cells), "failed": self.failed, "set_aside": self.set_aside}
        groups = self.merged().as_json() if len(self.runs) else {"fixed": {}, "by": [], "groups": []}
        return counts | groups | {"experiments": super().as_json()}

    def __str__(self) -> str:
        return "\n".join(part for part in (self.line, self.heading, plain_text(self.table())) if part)

    def _repr_html_(self) -> str:
        return html_text(self.line) * bool(self.line) + self.html_tables()

    def html_tables(self) -> str:
        """A table with a row for each setting of the runs, and one for what other files hold."""
        merged = self.merged().html_tables() if self.cells is not None and len(self.runs) else ""
        return merged + (table_of(self.rows).html() if self.rows else "")

    def __repr__(self) -> str:
        return super().__repr__() if self.cells is None else f"<Results of a sweep: {self.line}>"


def results(folder: Any = "results") -> FoundResults:
    """The results in a folder, of `kleene.teach`, of experiments, or of a sweep, as one object.

    An experiment's name counts as its lesson's. Damaged files and rows are passed over, and named in `damaged`.
    """
    if is_store(folder):
        return _of_sweep(CellStore(folder, must_exist=True))
    try:
        found = files.results(folder)
    except InputError as error:
        stores = sorted(path.parent for path in Path(folder).glob("*/store.json")) if os.path.isdir(folder) else []
        if stores:
            raise InputError(f"{str(folder)!r} has sweeps in it: name one, such as {str(stores[0])!r}") from None
        raise error
    return FoundResults(found.rows, found.damaged, Table.of_files({row["file"]: row for row in found.rows}))


def _of_sweep(store: CellStore) -> FoundResults:
    rows, failures = store.rows(), store.failures()
    damaged = [*store.damaged]
    experiments: list[dict[str, Any]] = []
    for cell, row in rows.items():
        content = files.with_settings(row.get("content"))
        if isinstance(content, dict) and files.is_whole(content):
            experiments.append({"file": cell, "lesson": content.get("name")} | content)
        elif "content" in row:
            damaged.append(f"cell {cell} lacks some of its measurements")
    runs = Table.of_rows(rows)
    return FoundResults(tuple(experiments), (*damaged, *runs.damaged), runs, rows, failures)
