"""A trace as few rows: what does not change is told once, and nothing that changed is left out.

`folded` takes some channels, positions and steps of a trace and a width in letters. What comes back is plain text in
cells, which `windows` prints. A step has a row for each channel that changed in it; steps in which nothing changed are
one row; a channel with one entry throughout is a note; and where the columns do not fit, they are wrapped into blocks.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from rich.cells import cell_len

from kleene.traces.channels import Channel, RecordedRun

GAP = 2  # letters between two columns
EQUAL = 3  # so many neighbouring positions with equal entries become one column


@dataclass(frozen=True)
class ShownEntry:
    """One entry as text, and whether it differs from the step before."""

    text: str
    changed: bool = False


@dataclass(frozen=True)
class FoldedRow:
    """The entries of one channel at one step, or (`name` is "") the steps in which nothing changed."""

    steps: tuple[int, int]
    name: str
    cells: tuple[ShownEntry, ...] = ()


@dataclass(frozen=True)
class ColumnBlock:
    """Rows under the same columns. A column is a range of positions with equal entries, or a channel's name."""

    columns: tuple[tuple[int, int] | str, ...]
    rows: tuple[FoldedRow, ...]
    still: bool = False  # nothing here changes: one row a channel


@dataclass(frozen=True)
class FoldedTrace:
    """The blocks of a trace, and the channels that have one entry throughout."""

    blocks: tuple[ColumnBlock, ...]
    constant: tuple[tuple[str, str], ...]
    unborn: tuple[str, ...] = ()  # channels without an entry at the only step that is shown
    part: bool = False  # whether only some steps or positions are shown


class _Part:
    """The entries of one channel as text, shape (steps, positions), and where they changed."""

    def __init__(self, trace: RecordedRun, channel: Channel, positions: range | None, steps: range):
        data = trace.data[channel.name]
        self.channel, self.name = channel, channel.name
        self.placed = data.ndim - len(channel.entry_shape) > 1
        shown = data[steps.start : steps.stop]
        if not self.placed:
            shown = shown[:, None]
        elif positions is not None:
            shown = shown[:, positions.start : positions.stop]
        self.first = 1 if channel.per_step and steps.start == 0 else 0  # the row of its first entry
        self.texts = entry_texts(channel, shown)
        self.changed = np.zeros(self.texts.shape, dtype=bool)
        now, before = shown[self.first + 1 :], shown[self.first : -1]
        if len(now):
            texts = self.texts[self.first :]
            self.changed[self.first + 1 :] = (texts[1:] != texts[:-1]) | channel.differs(now, before)
        self.texts[: self.first] = ""

    @property
    def constant(self) -> str | None:
        """The text of all entries, if they are equal and never change."""
        entries = self.texts[self.first :]
        if self.changed.any() or not entries.size or not (entries == entries.flat[0]).all():
            return None
        return str(entries.flat[0])

    def widened(self, count: int) -> None:
        """Add empty positions up to `count`: another channel has more."""
        missing = ((0, 0), (0, count - self.texts.shape[1]))
        self.texts = np.pad(self.texts, missing, constant_values="")
        self.changed = np.pad(self.changed, missing)

    def row(self, step: int, columns: Sequence[int], first: int) -> FoldedRow:
        taken = columns if self.placed else (0,)
        cells = tuple(ShownEntry(str(self.texts[step, c]), bool(self.changed[step, c])) for c in taken)
        return FoldedRow((first + step, first + step), self.name, cells)


def entry_texts(channel: Channel, entries: np.ndarray) -> np.ndarray:
    """Each entry as its channel shows it.

    >>> entry_texts(Channel("x", "category", 3, labels=("a", "b", "c")), np.array([[0, 2], [-1, 1]])).tolist()
    [['a', 'c'], ['·', 'b']]
    """
    if channel.entry_shape:
        shape = entries.shape[: entries.ndim - len(channel.entry_shape)]
        flat = entries.reshape(-1, *channel.entry_shape)
        found = np.array([channel.show(entry) for entry in flat], dtype=object)
        return found.reshape(shape)
    values, places = np.unique(entries, return_inverse=True)  # few entries are different: show each of them once
    return np.array([channel.show(value) for value in values], dtype=object)[places].reshape(entries.shape)


def folded(
    trace: RecordedRun,
    width: int,
    *,
    channels: Sequence[Channel] | None = None,
    positions: range | None = None,
    steps: range | None = None,
    begins: int | None = None,
) -> FoldedTrace:
    """The part of a trace in as few rows as show every change, in columns for a window of that width.

    `begins` is the number of the first step, where the trace itself is a part of a longer one.
    """
    steps = range(trace.steps + 1) if steps is None else steps
    cut = positions is not None and len(positions) < _most_positions(trace)
    is_part, begins = cut or begins is not None or len(steps) <= trace.steps, begins or 0
    parts = [_Part(trace, c, positions, steps) for c in (trace.channels if channels is None else channels)]
    unborn = tuple(part.name for part in parts if part.first >= len(steps))
    parts = [part for part in parts if part.first < len(steps)]
    constant = tuple((part.name, text) for part in parts if (text := part.constant) is not None)
    moving = [part for part in parts if part.constant is None]
    if not moving:
        return FoldedTrace((), constant, unborn, is_part)
    room = width - cell_len(str(begins + steps.stop - 1)) * 2 - 1 - GAP  # a range of steps stands before the columns
    fold = _by_channel if len(trace.axes) == 1 else _by_position
    return FoldedTrace(tuple(fold(moving, room, begins + steps.start, positions)), constant, unborn, is_part)


def _most_positions(trace: RecordedRun) -> int:
    arrays = ((trace.data[c.name], len(c.entry_shape)) for c in trace.channels)
    return max((array.shape[1] for array, inner in arrays if array.ndim - inner > 1), default=0)


def _by_channel(parts: list[_Part], room: int, first: int, positions: range | None) -> list[ColumnBlock]:
    """Blocks whose columns are channels: a row a step."""
    widths = [max(cell_len(p.name), _widest(p.texts) + 1) for p in parts]
    blocks = []
    for columns in _wrapped(range(len(parts)), widths, room):
        some = [parts[c] for c in columns]
        rows: list[FoldedRow] = []
        for step in range(len(some[0].texts)):
            if any(step in (0, p.first) or p.changed[step].any() for p in some):
                cells = tuple(cell for p in some for cell in p.row(step, (0,), first).cells)
                rows.append(FoldedRow((first + step, first + step), "step", cells))
            else:
                _as_before(rows, first + step)
        blocks.append(ColumnBlock(tuple(p.name for p in some), tuple(rows)))
    return blocks


def _by_position(parts: list[_Part], room: int, first: int, positions: range | None) -> list[ColumnBlock]:
    """Blocks whose columns are positions: a row for each step and channel that changed."""
    offset = 0 if positions is None else positions.start
    placed, single = [p for p in parts if p.placed], [p for p in parts if not p.placed]
    count = max((p.texts.shape[1] for p in placed), default=0)
    for part in placed:
        part.widened(count)
    room -= max(cell_len(p.name) for p in parts) + GAP
    widths = [max([cell_len(str(offset + c)), *(_widest(p.texts[:, c]) + 1 for p in placed)]) for c in range(count)]
    groups = [(c, c) for c in range(count)]
    if sum(widths) + GAP * count <= room:
        return [_positions_block(placed, single, groups, first, offset)]
    groups = _equal_neighbours(placed, count)
    moving = [any(p.changed[:, low].any() for p in placed) for low, _ in groups]
    blocks = []
    for still in (False, True):
        some = [group for group, moves in zip(groups, moving) if moves is not still]
        sizes = [max(widths[low], cell_len(_range_text(low + offset, high + offset))) for low, high in some]
        for chosen in _wrapped(some, sizes, room):
            blocks.append(_positions_block(placed, () if still else single, chosen, first, offset, still=still))
            single = []
    return blocks if not single else [_positions_block([], single, [], first, offset), *blocks]


def _positions_block(
    placed: Sequence[_Part],
    single: Sequence[_Part],
    groups: Sequence[tuple[int, int]],
    first: int,
    offset: int,
    *,
    still: bool = False,
) -> ColumnBlock:
    columns = [low for low, _ in groups]
    rows: list[FoldedRow] = []
    parts = [*single, *placed]
    for step in range(len(parts[0].texts)):
        shown = [p for p in parts if step == p.first or p.changed[step, columns if p.placed else 0].any()]
        rows.extend(p.row(step, columns, first) for p in shown)
        if not shown and not still:
            _as_before(rows, first + step)
    return ColumnBlock(tuple((low + offset, high + offset) for low, high in groups), tuple(rows), still)


def _as_before(rows: list[FoldedRow], step: int) -> None:
    """Add a step in which nothing changed to the row of such steps, or begin one."""
    if rows and not rows[-1].name:
        rows[-1] = FoldedRow((rows[-1].steps[0], step), "")
    else:
        rows.append(FoldedRow((step, step), ""))


def _equal_neighbours(placed: Sequence[_Part], count: int) -> list[tuple[int, int]]:
    """Ranges of positions whose entries are equal in every channel at every step; a short range stays apart."""
    groups: list[tuple[int, int]] = []
    for c in range(count):
        equal = groups and all(
            (p.texts[:, c] == p.texts[:, c - 1]).all() and (p.changed[:, c] == p.changed[:, c - 1]).all()
            for p in placed
        )
        groups[-1:] = [(groups[-1][0], c)] if equal else [*groups[-1:], (c, c)]
    found: list[tuple[int, int]] = []
    for low, high in groups:
        found += [(low, high)] if high - low + 1 >= EQUAL else [(c, c) for c in range(low, high + 1)]
    return found


def _wrapped(columns: Sequence, widths: Sequence[int], room: int) -> list[list]:
    """The columns in blocks that fit; a column that is too wide by itself is a block."""
    blocks: list[list] = []
    left = 0
    for column, width in zip(columns, widths):
        if not blocks or width + GAP > left:
            blocks.append([])
            left = room
        blocks[-1].append(column)
        left -= width + GAP
    return blocks


def _widest(texts: np.ndarray) -> int:
    return max((cell_len(text) for text in set(texts.flat)), default=0)


def _range_text(low: int, high: int) -> str:
    return str(low) if low == high else f"{low}–{high}"
