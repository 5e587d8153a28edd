"""The edits of one batch, checked against its channels and its words: what is set in which layer.

Programs and machines make a plan alike, so that both refuse the same edits, with the same words.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from kleene.errors import EditError, did_you_mean
from kleene.notation.edits import Edit, Edits, Places
from kleene.notation.entries import entry_of, takes
from kleene.traces import Channel, Trace
from kleene.traces.channels import blurred, nearest


class Placed(NamedTuple):
    """What a channel is set to in one layer: rows of the batch, positions in them (None: the channel has none)."""

    name: str
    rows: np.ndarray
    positions: np.ndarray | None
    entries: np.ndarray

    def among(self, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Which of its rows are among those that are still running, and where these stand there."""
        where = np.full(max(rows.max(initial=-1), self.rows.max(initial=-1)) + 1, -1)
        where[rows] = np.arange(len(rows))
        going = where[self.rows] >= 0
        return going, where[self.rows][going]


@dataclass(frozen=True)
class _Set:
    """One edit on the rows that it is for."""

    edit: Edit
    channel: Channel
    rows: np.ndarray
    positions: np.ndarray | None
    entry: Any  # None where they come from another run


class EditPlan:
    """The edits of a batch, checked: `at(layer)` has what to set after a layer (or in it, for heads).

    `lengths` are the numbers of positions of each word. `grids` names the number channels that take declared values
    alone, `sets` has the sets that a channel may hold. `flat` names channels that have one entry a step.
    """

    def __init__(
        self,
        subject: str,
        edits: Edits,
        channels: Sequence[Channel],
        lengths: np.ndarray,
        *,
        grids: Collection[str] = (),
        sets: Mapping[str, Collection[frozenset[int]]] | None = None,
        flat: Collection[str] = (),
        unit: str = "layer",
    ):
        self._subject, self._lengths, self._unit, self._flat = subject, lengths, unit, flat
        self._channels = {channel.name: channel for channel in channels}
        self._grids, self._sets = grids, sets or {}
        self._kept = [self._checked(edit, rows) for edit, rows in by_rows(edits, len(lengths))]

    def at(self, layer: int, *, heads: bool = False) -> Iterator[Placed]:
        """What is set in the layer, together for each channel: heads' outputs, or everything else."""
        together: dict[str, list[Placed]] = {}
        for one in self._kept:
            if one.channel.per_step == heads and includes(one.edit.layer, layer):
                found = self._entries(one, layer)
                if found is not None:
                    placed = Placed(one.edit.name, one.rows, one.positions, found)
                    together.setdefault(one.edit.name, []).append(placed)
        return map(_joined, together.values())

    def refuse_unreached(self, steps: np.ndarray) -> None:
        """Refuse edits of layers that a run did not come to."""
        for one in self._kept:
            layer = one.edit.layer
            last = -1 if layer is None else layer if isinstance(layer, int) else max(layer, default=-1)
            short = one.rows[steps[one.rows] < last]
            if len(short):
                row = int(short[0])
                raise EditError(
                    f"{self._subject}: the edit {one.edit} is for {self._unit} {last}, and the run on input {row} "
                    f"ended after {self._unit} {int(steps[row])}; {self._unit}s are counted from 0, the start"
                )

    def _checked(self, edit: Edit, rows: np.ndarray) -> _Set:
        check_name(self._subject, edit, self._channels)
        channel = self._channels[edit.name]
        if channel.per_step and edit.layer == 0:
            raise EditError(
                f"{self._subject}: the edit {edit} is of {edit.name!r} at the start; a head reads in the layers from 1"
            )
        rows, positions = self._cells(edit, rows)
        entry = None
        if edit.source is None:
            entry = self._entry(edit, channel, edit.value)
        else:
            self._check_source(edit, channel, edit.source, positions)
        return _Set(edit, channel, rows, positions, entry)

    def _cells(self, edit: Edit, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray | None]:
        """The rows and the positions in them, side by side."""
        if edit.name in self._flat:
            if edit.position is not None:
                raise EditError(f"{self._subject}: the edit {edit} has a position, and {edit.name!r} has none")
            return rows, None
        if edit.position is None:
            lengths = self._lengths[rows]
            return np.repeat(rows, lengths), np.concatenate([np.arange(n) for n in lengths] or [np.zeros(0, int)])
        places = np.atleast_1d(np.asarray(edit.position, dtype=np.int64))
        short = rows[self._lengths[rows] <= places.max(initial=-1)]
        if len(short):
            row = int(short[0])
            raise EditError(
                f"{self._subject}: the edit {edit} is for position {int(places.max())}, and input {row} has "
                f"{int(self._lengths[row])} positions, counted from 0"
            )
        return np.repeat(rows, len(places)), np.tile(places, len(rows))

    def _check_source(self, edit: Edit, channel: Channel, source: Trace, positions: np.ndarray | None) -> None:
        if edit.name not in source:
            raise EditError(f"{self._subject}: the edit {edit} takes its values from a run that has no {edit.name!r}")
        theirs, shape = source.channel(edit.name), source[edit.name].shape
        if (theirs.kind, theirs.labels) != (channel.kind, channel.labels):
            raise EditError(f"{self._subject}: {edit.name!r} has other values in the run that the edit {edit} takes")
        if positions is not None and positions.max(initial=-1) >= shape[1]:
            raise EditError(
                f"{self._subject}: the edit {edit} is for position {int(positions.max())}, and the run that it takes "
                f"its values from has {shape[1]}; name the positions to swap"
            )

    def _entries(self, one: _Set, layer: int) -> np.ndarray | None:
        count, source = len(one.rows), one.edit.source
        if source is None:
            return np.broadcast_to(one.entry, (count, *np.shape(one.entry)))
        if layer > source.steps:
            if one.edit.layer is None:
                return None
            raise EditError(
                f"{self._subject}: the edit {one.edit} is for {self._unit} {layer}, and the run that it takes its "
                f"values from ended after {source.steps}"
            )
        found = source[one.edit.name][layer]
        found = np.broadcast_to(found, (count, *found.shape)) if one.positions is None else found[one.positions]
        return np.stack([self._entry(one.edit, one.channel, entry, swapped=True) for entry in found]) if count else None

    def _entry(self, edit: Edit, channel: Channel, value: Any, *, swapped: bool = False) -> Any:
        """The value as the trace holds it."""
        entry = entry_of(replace(channel, meanings=None) if swapped else channel, value)  # a trace holds codes
        if entry is None:
            what = "undefined in the run that it takes its values from" if swapped else f"{value!r}"
            raise EditError(f"{self._subject}: the edit {edit} is {what}, and {channel.name!r} {takes(channel)}")
        if channel.kind == "set":
            members = frozenset(np.flatnonzero(entry).tolist())
            if channel.name in self._sets and members not in self._sets[channel.name]:
                shown = ", ".join(str(set(one) or "{}") for one in list(self._sets[channel.name])[:8])
                raise EditError(
                    f"{self._subject}: the edit {edit} is {set(members) or '{}'}, and {channel.name!r} takes one of "
                    f"its declared sets: {shown}"
                )
        return self._number(edit, channel, entry, swapped) if channel.values is not None else entry

    def _number(self, edit: Edit, channel: Channel, entry: float, swapped: bool) -> float:
        """The number, or the declared value that it stands for where the channel takes no others."""
        assert channel.values is not None
        values = channel.values
        declared = values[int(nearest(values, entry))]
        # A network may hold 1/3 in a narrow type; a number that a person gives has to be the declared one.
        near = (
            not channel.differs(np.array([declared]), np.array([entry])).any()
            if swapped
            else np.isclose(declared, entry)
        )
        if channel.name in self._grids:
            if not near:
                raise EditError(f"{self._subject}: the edit {edit} is {entry:g}, and {channel.name!r} {takes(channel)}")
            return declared
        if bool(blurred(values, entry)) or not (swapped or values[0] <= entry <= values[-1]):
            raise EditError(
                f"{self._subject}: the edit {edit} is {entry:g}, which belongs to no declared value of "
                f"{channel.name!r}; it {takes(channel)}"
            )
        return declared if np.isclose(declared, entry, rtol=1e-9, atol=1e-12) else entry


def _joined(parts: list[Placed]) -> Placed:
    """What several edits set in one channel; where two of them set the same entry, the later one wins."""
    if len(parts) == 1:
        return parts[0]
    rows, entries = (np.concatenate([getattr(part, name) for part in parts]) for name in ("rows", "entries"))
    positions = None if parts[0].positions is None else np.concatenate([np.asarray(p.positions) for p in parts])
    cells = rows if positions is None else rows * (int(positions.max(initial=0)) + 1) + positions
    _, last = np.unique(cells[::-1], return_index=True)
    kept = np.sort(len(cells) - 1 - last)
    return Placed(parts[0].name, rows[kept], None if positions is None else positions[kept], entries[kept])


def check_name(subject: str, edit: Edit, names: Iterable[str]) -> None:
    """Refuse what is no edit, and an edit of what is not there."""
    if not isinstance(edit, Edit):
        raise EditError(f"{subject}: an edit is {edit!r}; give kleene.Edit(name, layer=…, value=…)")
    if edit.name not in names:
        hint = did_you_mean(edit.name, names)
        raise EditError(f"{subject}: the edit {edit} is of {edit.name!r}, which is not there; {hint}")


def edits_of_rows(edits: Sequence[Any], count: int) -> list[list[Any]]:
    """The edits of each row of a batch."""
    found: list[list[Any]] = [[] for _ in range(count)]
    for edit, rows in by_rows(edits, count):
        for row in rows.tolist():
            found[row].append(edit)
    return found


def by_rows(edits: Sequence[Any], count: int) -> Iterator[tuple[Any, np.ndarray]]:
    """Each edit, and the rows of the batch that it is for."""
    given = list(edits)
    if not given or not any(isinstance(one, (list, tuple)) for one in given):
        yield from ((edit, np.arange(count)) for edit in given)
        return
    if len(given) != count or not all(isinstance(one, (list, tuple)) for one in given):
        raise EditError(f"there are {len(given)} lists of edits for {count} inputs; give one list for each of them")
    for row, one in enumerate(given):
        yield from ((edit, np.array([row])) for edit in one)


def includes(places: Places, place: int) -> bool:
    """Whether a place is among one, several or all."""
    return places is None or (place == places if isinstance(places, int) else place in tuple(places))
