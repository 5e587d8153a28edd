"""`kleene.results`: what a folder holds, of `kleene teach --results`, of experiments, or of a sweep."""

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from kleene.errors import InputError
from kleene.runs.listing import GroupedRuns, Listing, Pivot
from kleene.runs.table import Runs
from kleene.sweeping.store import CellStore, is_store
from kleene.teaching.reports import table_of
from kleene.teaching.results import is_whole, listed, with_settings
from kleene.traces.markup import Table, html_text

MOST_NAMED = 5  # cells in the line about those set aside
RUN = "run"  # `by` that merges nothing


@dataclass(frozen=True)
class Results:
    """The results in a folder. They show themselves as files side by side, or as a sweep with its seeds merged.

    `rows` has the content of each file that keeps tables, and `damaged` a message for each that could not be read.
    `runs` is the table of all runs; `where`, `by`, `pivot`, `csv`, `to_pandas` and `draw` are those of that table.
    `cells` has the rows of a sweep's store by cell, and is None where there is no sweep; `failures` are its failed
    attempts.
    """

    rows: tuple[dict[str, Any], ...]
    damaged: tuple[str, ...] = ()
    runs: Runs = field(default_factory=lambda: Runs(()))
    cells: Mapping[str, Mapping[str, Any]] | None = None
    failures: Mapping[str, Sequence[Any]] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.rows)

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
        return self._merged.heading if self._merged else ""

    @cached_property
    def _merged(self) -> GroupedRuns | None:
        """The runs of a sweep with their seeds merged."""
        return self.runs.by() if self.cells is not None and len(self.runs) else None

    def where(self, *conditions: str) -> Runs:
        """The runs that fulfil all conditions, such as "hints=address" or "density>=0.1"."""
        return self.runs.where(*conditions)

    def by(self, settings: str | Sequence[str] | None = None) -> GroupedRuns:
        """The seeds of each setting as one row with their interval, or all runs with equal values of these settings."""
        return self.runs.by(settings)

    def pivot(self, rows: str, columns: str, value: str = "generalises") -> Pivot:
        """A measurement by two settings."""
        return self.runs.pivot(rows, columns, value)

    def csv(self) -> str:
        """The runs with their seeds merged, as CSV."""
        return self.by().csv()

    def to_pandas(self) -> Any:
        """The runs as a data frame of pandas, a row each."""
        return self.runs.to_pandas()

    def draw(self, path: Any, value: str = "generalises", *, title: str = "") -> Path:
        """Draw the curve of a measurement, a line for each setting with a band over its seeds, and return the path."""
        return self.runs.draw(path, value, title=title)

    def view(
        self, where: Sequence[str] = (), by: str | None = None, pivot: str | None = None, value: str | None = None
    ) -> Listing:
        """What the options of `kleene results` ask for: a pivot, a merged table, or with `by="run"` all runs."""
        table = self.where(*where) if where else self.runs
        if pivot is None:
            return table if by == RUN else table.by(by)
        names = [name.strip() for name in pivot.split(",")]
        if len(names) != 2:
            raise InputError(f"--pivot is {pivot!r}; give two settings with a comma, such as hints,density")
        return table.pivot(names[0], names[1], value or "generalises")

    def tables(self) -> list[Table]:
        """A row for every setting of every file, or of the sweep; both for a sweep of both kinds."""
        merged = self._merged.tables() if self._merged else []
        return merged + ([table_of(self.rows)] if self.rows else [])

    def as_json(self) -> Any:
        """The content of every file without its `rows`; of a sweep, its counts, groups and experiments."""
        files = [{key: value for key, value in row.items() if key != "rows"} for row in self.rows]
        if self.cells is None:
            return files
        counts = {"done": len(self.cells), "failed": self.failed, "set_aside": self.set_aside}
        groups = self._merged.as_json() if self._merged else {"fixed": {}, "by": [], "groups": []}
        return counts | groups | {"experiments": files}

    def __str__(self) -> str:
        return "\n".join(part for part in (self.line, self.heading, *map(str, self.tables())) if part)

    def _repr_html_(self) -> str:
        return html_text(self.line) * bool(self.line) + self.html_tables()

    def html_tables(self) -> str:
        """A table with a row for each setting of the runs, and one for what other files hold."""
        merged = self._merged.html_tables() if self._merged else ""
        return merged + (table_of(self.rows).html() if self.rows else "")

    def __repr__(self) -> str:
        if self.cells is not None:
            return f"<Results of a sweep: {self.line}>"
        return f"<Results: {len(self.rows)} files, {len(self.damaged)} damaged>"


def results(folder: Any = "results") -> Results:
    """The results in a folder, of `kleene.teach`, of studies, or of a sweep, as one object.

    A study's name counts as its lesson's. Damaged files and rows are passed over, and named in `damaged`.
    """
    if is_store(folder):
        return _of_sweep(CellStore(folder, must_exist=True))
    if not os.path.isdir(folder):
        raise InputError(
            f"there is no folder {str(folder)!r}; `kleene teach … --results FOLDER` makes one, and `kleene reproduce`"
        )
    found, damaged = listed(folder)
    if not found:
        raise _nothing_in(folder, damaged)
    rows = tuple({"file": path.name, "lesson": content.get("name")} | content for path, content in found)
    return Results(rows, tuple(damaged), Runs.of_files({row["file"]: row for row in rows}))


def _nothing_in(folder: Any, damaged: Sequence[str]) -> InputError:
    stores = sorted(path.parent for path in Path(folder).glob("*/store.json"))
    if stores:
        return InputError(f"{str(folder)!r} has sweeps in it: name one, such as {str(stores[0])!r}")
    reasons = "".join(f"; {one}" for one in damaged)
    return InputError(
        f"there are no results in {str(folder)!r}; `kleene teach … --results {folder}` puts them there{reasons}"
    )


def _of_sweep(store: CellStore) -> Results:
    rows, failures = store.rows(), store.failures()
    damaged = [*store.damaged]
    experiments: list[dict[str, Any]] = []
    for cell, row in rows.items():
        content = with_settings(row.get("content"))
        if isinstance(content, dict) and is_whole(content):
            experiments.append({"file": cell, "lesson": content.get("name")} | content)
        elif "content" in row:
            damaged.append(f"cell {cell} lacks some of its measurements")
    runs = Runs.of_rows(rows)
    return Results(tuple(experiments), (*damaged, *runs.damaged), runs, rows, failures)
