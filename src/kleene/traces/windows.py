"""A folded trace as lines for a window: aligned columns, changed entries marked, and notes on what was folded."""

from rich.cells import cell_len
from rich.text import Text

from kleene.traces.folding import GAP, ColumnBlock, FoldedTrace, ShownEntry

MARK = "*"  # before an entry that changed, where there are no colours


def window_lines(shown: FoldedTrace, *, colours: bool) -> list[Text]:
    """The lines; with `colours` changed entries are coloured, without they have a mark."""
    lines: list[Text] = []
    for block in shown.blocks:
        if block.still:
            never = "do not change in this part" if shown.part else "never change"
            lines.append(Text(f"{_columns_text(block)} {never}:", style="dim"))
        lines += [*_block_lines(block, colours), Text()]
    marked = any(cell.changed for block in shown.blocks for row in block.rows for cell in row.cells)
    if marked and not colours:
        lines.append(Text(f"{MARK} changed since the step before", style="dim"))
    if shown.constant:
        told = ", ".join(f"{name} {text}" for name, text in shown.constant)
        one = len(shown.constant) == 1
        whole, part = ("never changes", "does not change") if one else ("never change", "do not change")
        never = f"{part} in this part" if shown.part else whole
        lines.append(Text(f"{_count(len(shown.constant), 'channel')} {never}: {told}"))
    if shown.unborn:
        told = ", ".join(shown.unborn)
        lines.append(Text(f"{_count(len(shown.unborn), 'channel')} without an entry before step 1: {told}"))
    return lines


def _block_lines(block: ColumnBlock, colours: bool) -> list[Text]:
    """A heading and the rows of one block."""
    by_channel = any(isinstance(column, str) for column in block.columns)
    heads = [column if isinstance(column, str) else range_text(*column) for column in block.columns]
    step = max([len("step"), *(len(range_text(*row.steps)) for row in block.rows)])
    names = 0 if by_channel else max([len("channel"), *(cell_len(row.name) for row in block.rows)])
    full = [row for row in block.rows if len(row.cells) == len(heads)]
    widths = [
        max([cell_len(head), *(cell_len(row.cells[n].text) + (not colours) for row in full)])
        for n, head in enumerate(heads)
    ]
    top = [_padded("step", step)] + ([] if by_channel else ["channel".ljust(names)])
    lines = [Text((" " * GAP).join([*top, *(_padded(h, w) for h, w in zip(heads, widths))]).rstrip(), style="dim")]
    before = None
    for row in block.rows:
        number = "" if row.steps == before else range_text(*row.steps)
        before = row.steps
        line = Text(_padded(number, step))
        if not row.name:
            lines.append(line.append(" " * GAP + "as before", style="dim"))
            continue
        if not by_channel:
            line.append(" " * GAP + row.name + " " * (names - cell_len(row.name)))
        fits = row.cells if len(row.cells) == len(heads) else row.cells[:1]
        for cell, width in zip(fits, widths if len(fits) == len(heads) else [0]):
            line.append(" " * GAP).append_text(_entry(cell, width, colours))
        line.rstrip()
        lines.append(line)
    return lines


def _entry(cell: ShownEntry, width: int, colours: bool) -> Text:
    shown = MARK + cell.text if cell.changed and not colours else cell.text
    text = Text(" " * (width - cell_len(shown)))
    return text.append(shown, style="bold cyan" if cell.changed else "")


def _padded(text: str, width: int) -> str:
    return " " * (width - cell_len(text)) + text


def _columns_text(block: ColumnBlock) -> str:
    """Which positions a block has, neighbours as ranges."""
    spans: list[list[int]] = []
    for low, high in (column for column in block.columns if not isinstance(column, str)):
        if spans and spans[-1][1] == low - 1:
            spans[-1][1] = high
        else:
            spans.append([low, high])
    return "positions " + ", ".join(range_text(low, high) for low, high in spans)


def range_text(low: int, high: int) -> str:
    """One number, or the first and the last of several.

    >>> range_text(3, 3), range_text(3, 5)
    ('3', '3–5')
    """
    return str(low) if low == high else f"{low}–{high}"


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"
