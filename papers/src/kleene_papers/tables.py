"""A table of a result: the same cells in the terminal, in Markdown and as records."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

BAR = r"\|"  # in a cell of Markdown


@dataclass(frozen=True)
class Table:
    """Some words for each column, and rows of cells, which are shown as they are; `title` is what pages call it by.

    >>> print(Table(["", "copy"], [["paper", "100%"], ["ours", "82% (68–91)"]]).markdown())
    |  | copy |
    | --- | --- |
    | paper | 100% |
    | ours | 82% (68–91) |
    """

    head: Sequence[str]
    rows: Sequence[Sequence[Any]]
    title: str = ""

    def __post_init__(self) -> None:
        uneven = [row for row in self.rows if len(row) != len(self.head)]
        assert not uneven, f"{self.title}: {len(self.head)} columns, and a row {uneven[0]}"

    def markdown(self) -> str:
        lines = [self.head, ["---"] * len(self.head), *self.rows]
        return "\n".join(f"| {' | '.join(str(cell).replace('|', BAR) for cell in line)} |" for line in lines)

    def rich(self) -> Any:
        from rich.markup import escape  # slow to import
        from rich.table import Table as RichTable

        table = RichTable(
            box=None,
            header_style="bold",
            pad_edge=False,
            title=self.title or None,
            title_justify="left",
            title_style="italic",
        )
        for name in self.head:
            table.add_column(escape(_plain(name)), overflow="fold")
        for row in self.rows:
            table.add_row(*(escape(_plain(cell)) for cell in row))
        return table

    def as_json(self) -> dict[str, Any]:
        return {"title": self.title, "head": [*self.head], "rows": [[str(cell) for cell in row] for row in self.rows]}


def _plain(cell: Any) -> str:
    """A cell without the marks of Markdown."""
    return str(cell).replace("**", "").replace("`", "")


def share(count: int, runs: int, interval: Sequence[float]) -> str:
    """A share of runs with its 95% interval.

    >>> share(33, 40, (0.68, 0.91))
    '82% (68–91)'
    """
    return f"{100 * count / runs:.0f}% ({100 * interval[0]:.0f}–{100 * interval[1]:.0f})"
