"""What `explain` returns: numbers for pairs of words or sets of words, as a table, JSON or a picture."""

import io
from collections.abc import Iterator
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import Any

import numpy as np

from kleene.explaining.words.chosen import label
from kleene.explaining.words.sentences import listed, unknown_warning
from kleene.machines.pretrained import SHIPPED
from kleene.pictures.pages import drawn_with_tables

NUMBER = 4  # characters that a number takes in the table, with the space after it
WIDTH = 120  # characters of a line where there is no terminal
RECENT = 12  # words of the text before that are shown
PLAINER = {
    "erasure": "Interaction by erasure",
    "gradient": "Interaction by gradient × input",
    "information": "Pointwise mutual information, in nats",
}


@dataclass(frozen=True, repr=False)
class Explained:
    """A sentence, a number for each pair of its words, and what the words in focus predict if there are some.

    If `sets` of positions were asked for, the numbers are for pairs of these. `after` has the words of the text that
    the network had read before. It prints as a table, in colour in a notebook, and `draw` makes a heat map of it.
    """

    words: list[str]
    unknown: list[int]
    matrix: np.ndarray
    facts: dict[str, Any]
    heads: list[int] | None = None
    focus: dict[str, Any] | None = None
    sets: list[list[int]] | None = None
    after: dict[str, Any] | None = None

    def __repr__(self) -> str:
        return f"Explained({' '.join(self.words)!r}, {self.facts.get('method')!r})"

    def __str__(self) -> str:
        from rich.console import Console

        console = Console(width=WIDTH, file=io.StringIO(), color_system=None)
        console.print(self)
        return console.file.getvalue().rstrip("\n")  # pyright: ignore[reportAttributeAccessIssue]

    def __rich_console__(self, console: Any, options: Any) -> Iterator[Any]:
        yield from self.tables(options.max_width)

    def _repr_html_(self) -> str:
        """The matrix as a table; larger values have darker cells."""
        top = np.nanmax(self.matrix, initial=0) or 1.0
        heads = "".join(f"<th>{escape(word)}</th>" for word in self.labels)
        rows = [f"<tr><th></th>{heads}</tr>"]
        for word, values in zip(self.labels, self.matrix):
            cells = "".join(_html_cell(value, value / top) for value in values)
            rows.append(f"<tr><th style='text-align:left'>{escape(word)}</th>{cells}</tr>")
        notes = "".join(f"<p>{escape(note)}</p>" for note in self.notes)
        return f"<table><caption>{escape(self.title)}</caption>{''.join(rows)}</table>{notes}"

    @property
    def marked(self) -> list[str]:
        """The words, with a star at those that the model does not know."""
        return _marked(self.words, self.unknown)

    @property
    def labels(self) -> list[str]:
        """What the rows and columns of the matrix are called: the words, or those of each set."""
        return self.marked if self.sets is None else [label(self.marked, places) for places in self.sets]

    @property
    def title(self) -> str:
        method, at, step = (self.facts.get(name) for name in ("method", "at", "step"))
        if method in PLAINER:
            return PLAINER[method]
        when = "" if step is None else " after the last word" if step == "last" else f" after word {step}"
        return f"Interdependence at the {'logits' if at == 'logits' else 'hidden state'}{when}"

    @property
    def notes(self) -> list[str]:
        """The model if it ships with Kleene, which words it read as `<unk>`, what it had read before, and how parts
        are shared if not as in the papers."""
        before, sharing = self.after or {"words": [], "unknown": []}, self.facts.get("sharing")
        model = self.facts.get("model")
        unknown = [words["words"][place] for words in (before, vars(self)) for place in words["unknown"]]
        recent = _marked(before["words"], before["unknown"])[-RECENT:]
        left_out = "… " if len(recent) < len(before["words"]) else ""
        return [
            *([f"model: {model}"] if model in SHIPPED else []),
            *([f"* read as <unk>: {listed(unknown)}"] if unknown else []),
            *([f"read before: {left_out}{' '.join(recent)}"] if recent else []),
            *([f"sharing: {sharing}"] if sharing else []),
        ]

    @property
    def note(self) -> str:
        """The notes, one a line."""
        return "\n".join(self.notes)

    @property
    def warning(self) -> str | None:
        """A warning if the model does not know most of the words, or most of those before the sentence, else None."""
        before = None if self.after is None else unknown_warning(self.after["words"], self.after["unknown"])
        return unknown_warning(self.words, self.unknown) or before

    @property
    def page_title(self) -> str:
        """What a page about this is called."""
        return f"{self.title}: {' '.join(self.words)}"

    html_tables = _repr_html_

    @drawn_with_tables
    def draw(self, path: Any) -> Path:
        """Draw a heat map, with the arcs of the tree above it if there is one and no sets, and return the path."""
        from kleene.pictures.interdependence import heat_map  # matplotlib is loaded for pictures only

        heads = self.heads if self.sets is None else None
        return heat_map(self.labels, self.matrix, path, heads=heads, title=self.title, note=self.note)

    def as_json(self) -> dict[str, Any]:
        rows = [[float(value) if np.isfinite(value) else None for value in row] for row in self.matrix]
        found = {"words": self.words, "unknown": self.unknown, "warning": self.warning} | self.facts | {"matrix": rows}
        optional = {"heads": self.heads, "focus": self.focus, "sets": self.sets, "after": self.after}
        return found | {name: value for name, value in optional.items() if value is not None}

    def tables(self, width: int) -> list[Any]:
        """What is printed: the matrix, the notes, and the words that the focus makes likely.

        Columns have words as headings if these fit into the width, and numbers otherwise. If numbers do not fit either,
        the matrix is cut into blocks of columns.
        """
        from rich.cells import cell_len
        from rich.text import Text

        labels = self.labels
        left = len(str(len(labels))) + max(map(cell_len, labels)) + 2
        by_words = left + sum(max(cell_len(word) + 1, NUMBER) for word in labels) <= width
        most = len(labels) if by_words else max(1, (width - left) // NUMBER)
        blocks = np.array_split(np.arange(len(labels)), -(-len(labels) // most))
        note = [Text(self.note, style="dim")] if self.note else []
        found = [self._block(block.tolist(), by_words) for block in blocks] + note
        return found + ([] if self.focus is None else [self._likeliest(self.focus)])

    def _block(self, places: list[int], by_words: bool) -> Any:
        """Some columns of the matrix, written line by line because rich's own table takes seconds if it is long."""
        from rich.cells import cell_len
        from rich.text import Text

        marked, numbers = self.labels, "" if by_words else "#"
        heads = [marked[place] if by_words else str(place) for place in places]
        cells = [[_cell(value) for value in row] for row in self.matrix[:, places]]
        widths = [max(map(cell_len, column)) for column in zip(heads, *cells)]
        first, second = len(str(len(marked) - 1)), max(map(cell_len, marked))
        text = Text(no_wrap=True)
        text.append(" ".join([numbers.ljust(first), " " * second, *map(_right, heads, widths)]).rstrip(), "bold")
        for row, word in enumerate(marked):
            largest = np.nanmax(self.matrix[row], initial=0)
            text.append(f"\n{row:<{first}} ", "dim")
            text.append(word + " " * (second - cell_len(word)), "bold")
            for value, shown, wide in zip(self.matrix[row, places], cells[row], widths):
                text.append(" " + _right(shown, wide), "dim" if np.isnan(value) else "bold" if value == largest else "")
        return text

    def _likeliest(self, focus: dict[str, Any]) -> Any:
        from rich.table import Table
        from rich.text import Text

        words = label(self.words, focus["positions"], ", ")
        title = Text(f"\nWhat would come after {self.words[focus['step']]!r}, going by: {words}", style="not italic")
        heads = ("next word", "P by focus", "P by all", "logit", "= focus", "+ the rest", "+ bias")
        table = Table(title=title, title_justify="left", box=None, header_style="bold")
        for place, head in enumerate(heads):
            table.add_column(head, justify="right" if place else "left")
        for row in focus["next"]:
            chances = [f"{row[name]:.3f}" for name in ("by_focus", "by_all")]
            parts = [f"{row[name]:+.2f}" for name in ("logit", "focus", "rest", "bias")]
            table.add_row(Text(str(row["word"])), *chances, *parts)
        return table


def _marked(words: list[str], unknown: list[int]) -> list[str]:
    return [word + "*" * (place in unknown) for place, word in enumerate(words)]


def _cell(value: float) -> str:
    """Two decimals without the leading 0, so that many columns fit."""
    if np.isnan(value):
        return "·"
    if abs(value) >= 1:
        return f"{value:.1f}"
    return f"{round(value, 2) + 0.0:.2f}".replace("0.", ".", 1)


def _right(text: str, wide: int) -> str:
    from rich.cells import cell_len

    return " " * (wide - cell_len(text)) + text


def _html_cell(value: float, share: float) -> str:
    shade = 0.0 if np.isnan(share) else max(0.0, float(share))
    colours = f"background:rgba(34,94,168,{shade:.2f});color:{'white' if shade > 0.6 else 'inherit'}"
    return f"<td style='text-align:right;{colours}'>{_cell(value)}</td>"
