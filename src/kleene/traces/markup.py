"""One table for the terminal, Markdown, HTML and CSV, and facts as HTML, each with its text escaped."""

import csv
import io
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from typing import Any

MOST_ROWS = 60


@dataclass(frozen=True)
class Table:
    """Words for each column, and rows of cells, which are shown as they are; `title` is what pages call it by.

    In a `marked` table ** and ` are marks of Markdown, which other forms leave out. rich prints a table; `narrow` has
    one space between columns in place of two, and `margin` one at both edges.

    >>> table = Table(["", "copy"], [["paper", "100%"], ["ours", "82% (68–91)"]])
    >>> print(table.markdown())
    |  | copy |
    | --- | --- |
    | paper | 100% |
    | ours | 82% (68–91) |
    >>> print(table)
           copy
    paper  100%
    ours   82% (68–91)
    """

    head: Sequence[str]
    rows: Sequence[Sequence[Any]]
    title: str = ""
    marked: bool = False
    narrow: bool = False
    margin: bool = False

    def __post_init__(self) -> None:
        uneven = [row for row in self.rows if len(row) != len(self.head)]
        assert not uneven, f"{self.title}: {len(self.head)} columns, and a row {uneven[0]}"

    @classmethod
    def of_records(cls, records: Sequence[Mapping[str, Any]], missing: Any = None) -> "Table":
        """A row for each record, with a column for every name that one of them has.

        >>> Table.of_records([{"a": 1, "z": 1}, {"a": 1, "b": 2, "z": 3}])
        Table(head=['a', 'b', 'z'], rows=[[1, None, 1], [1, 2, 3]], title='', marked=False, narrow=False, margin=False)
        """
        head: list[str] = []
        for record in records:
            after = 0
            for name in record:
                if name not in head:
                    head.insert(after, name)  # after the one that it follows here
                after = head.index(name) + 1
        return cls(head, [[record.get(name, missing) for name in head] for record in records])

    def __rich__(self) -> Any:
        from rich.markup import escape  # slow to import
        from rich.table import Table as RichTable

        table = RichTable(
            box=None,
            header_style="bold",
            collapse_padding=self.narrow,
            pad_edge=self.margin,
            title=escape(self.title) or None,
            title_justify="left",
            title_style="italic",
        )
        head, *rows = self._plain()
        for name in head:
            table.add_column(escape(name), overflow="fold")  # so that a narrow terminal cuts nothing off
        for row in rows:
            table.add_row(*map(escape, row))
        return table

    def __str__(self) -> str:
        return plain_text(self)

    def markdown(self) -> str:
        lines = [self.head, ["---"] * len(self.head), *self.rows]
        cells = [[str(cell).replace("|", r"\|").replace("\n", "<br>") for cell in line] for line in lines]
        return "\n".join(f"| {' | '.join(line)} |" for line in cells)

    def html(self, most: int | None = None) -> str:
        """The table as HTML, the title above it; rows and columns beyond `most` are left out."""
        return html_table(self._plain(), most, self.title)

    def _repr_html_(self) -> str:
        return self.html()

    def csv(self) -> str:
        """The rows as CSV, with a line of names above. A missing value is empty, and booleans are those of JSON."""
        written = io.StringIO()
        writer = csv.writer(written, lineterminator="\n")
        writer.writerow(self.head)
        for row in self.rows:
            writer.writerow([str(one).lower() if isinstance(one, bool) else one for one in map(plain, row)])
        return written.getvalue()

    def as_json(self) -> dict[str, Any]:
        return {"title": self.title, "head": [*self.head], "rows": [[str(cell) for cell in row] for row in self.rows]}

    def _plain(self) -> list[list[str]]:
        """All lines, the head first, without the marks of Markdown."""
        lines = [[str(cell) for cell in line] for line in (self.head, *self.rows)]
        return [[cell.replace("**", "").replace("`", "") for cell in line] for line in lines] if self.marked else lines


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


def plain_text(shown: Any, width: int = 120) -> str:
    """What rich would print, without colours and without spaces at the end of lines."""
    from rich.console import Console  # slow to import

    stream = io.StringIO()
    # Not as the environment says: FORCE_COLOR would add escape codes, and a notebook would print it elsewhere.
    Console(file=stream, width=width, no_color=True, force_terminal=False, force_jupyter=False).print(shown)
    return "\n".join(line.rstrip() for line in stream.getvalue().splitlines())


def html_table(rows: Sequence[Sequence[Any]], most: int | None = MOST_ROWS, caption: str = "") -> str:
    """The rows as an HTML table, the first being its head; beyond `most` rows or columns the rest is left out.

    >>> html_table([["a"], ["1"], ["2"]], most=1)
    '<table><tr><th>a</th></tr><tr><td>1</td></tr><tr><td>… 1 more</td></tr></table>'
    """
    head, *body = rows
    most = max(len(body), *map(len, rows)) if most is None else most
    lines = [_row(head, "th", most), *(_row(row, "td", most) for row in body[:most])]
    if len(body) > most:
        lines.append(_row([f"… {len(body) - most:,} more"], "td", most))
    title = f"<caption>{escape(caption)}</caption>" if caption else ""
    return f"<table>{title}{''.join(lines)}</table>"


def html_facts(facts: Mapping[str, Any], caption: str = "") -> str:
    """A row for each fact, its name at the left.

    >>> html_facts({"states": 3})
    '<table><tr><th>states</th><td>3</td></tr></table>'
    """
    title = f"<caption>{escape(caption)}</caption>" if caption else ""
    rows = "".join(f"<tr><th>{escape(name)}</th><td>{escape(_text(fact))}</td></tr>" for name, fact in facts.items())
    return f"<table>{title}{rows}</table>"


def html_text(text: Any) -> str:
    """Lines of text as they are.

    >>> html_text("a < b")
    '<pre>a &lt; b</pre>'
    """
    return f"<pre>{escape(str(text))}</pre>"


def html_notes(lines: Iterable[str]) -> str:
    """A paragraph for each line.

    >>> html_notes(["a < b", "c"])
    '<p>a &lt; b</p><p>c</p>'
    """
    return "".join(f"<p>{escape(line)}</p>" for line in lines)


def _row(cells: Sequence[Any], tag: str, most: int) -> str:
    shown = cells if len(cells) <= most else [*cells[:most], "…"]
    return f"<tr>{''.join(f'<{tag}>{escape(_text(cell))}</{tag}>' for cell in shown)}</tr>"


def _text(value: Any) -> str:
    return f"{value:,}" if type(value) is int else str(value)
