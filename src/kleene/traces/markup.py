"""Tables and facts as HTML, all text escaped: the one way in which objects show themselves in a notebook."""

from collections.abc import Iterable, Mapping, Sequence
from html import escape
from typing import Any

MOST_ROWS = 60


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


def html_of_rich(table: Any) -> str:
    """A rich table of words as an HTML table."""
    from rich.text import Text  # slow to import

    columns = [[column.header, *column.cells] for column in table.columns]
    rows = [
        [Text.from_markup(cell).plain if isinstance(cell, str) else str(cell) for cell in row] for row in zip(*columns)
    ]
    return html_table(rows, most=None) if rows else ""


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
