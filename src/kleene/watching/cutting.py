"""What part of a run goes into a page: some of its channels, positions and steps."""

import fnmatch
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from kleene.errors import InputError, did_you_mean
from kleene.notation.computations import Computation
from kleene.traces import Channel, Trace


@dataclass(frozen=True)
class Cut:
    """Channels by name (or by pattern, such as `ptr_*`), positions and steps by their first and last number.

    >>> Cut.read(channels="step,ptr_*", steps="10-20").steps
    (10, 20)
    """

    channels: tuple[str, ...] | None = None
    positions: tuple[int, int | None] | None = None
    steps: tuple[int, int | None] | None = None

    @classmethod
    def read(cls, channels: str | None = None, positions: str | None = None, steps: str | None = None) -> "Cut":
        """The cut that a person typed."""
        names = None if channels is None else tuple(name for name in re.split(r"[,\s]+", channels) if name)
        if names == ():
            raise InputError("--channels names no channel; give names or patterns, such as: token,ptr_*")
        return cls(names, _span("positions", positions), _span("steps", steps))

    def step_range(self, steps: int) -> range:
        """The steps of a run that are shown; step 0 is the start."""
        return _range("step", self.steps, steps + 1)

    def position_range(self, positions: int) -> range:
        return _range("position", self.positions, positions)

    def chosen(self, channels: Sequence[Channel]) -> tuple[Channel, ...]:
        """The channels that are shown, in their own order; a name that fits none is refused."""
        if self.channels is None:
            return tuple(channels)
        known = [channel.name for channel in channels]
        for pattern in self.channels:
            if not fnmatch.filter(known, pattern):
                raise InputError(f"the run has no channel {pattern!r}; {did_you_mean(pattern, known)}")
        return tuple(c for c in channels if any(fnmatch.fnmatchcase(c.name, pattern) for pattern in self.channels))

    def of(self, trace: Trace) -> Trace:
        """The part of the trace that is shown."""
        if self == Cut():
            return trace
        if isinstance(trace, Computation):  # its tapes are made when they are asked for: first take the steps
            steps = self.step_range(trace.steps)
            some = trace.replaced(configurations=trace.configurations[steps.start : steps.stop], steps=len(steps) - 1)
            return replace(self, steps=None).of(some) if self.steps is not None else self._part(some)
        return self._part(trace)

    def _part(self, trace: Trace) -> Trace:
        channels = self.chosen(trace.channels)
        data = {c.name: self.of_array(trace, c, trace.data[c.name]) for c in channels}
        kept = trace.output_name if trace.output_name in data else None
        return Trace(channels, data, kept, trace.halted, trace.axes, trace.source)

    def of_array(self, trace: Trace, channel: Channel, array: np.ndarray) -> np.ndarray:
        steps = self.step_range(trace.steps)
        shown = array[steps.start : steps.stop]
        if has_positions(trace, channel):
            positions = self.position_range(array.shape[1])
            shown = shown[:, positions.start : positions.stop]
        return shown


def entry_count(trace: Trace, cut: Cut) -> int:
    """How many entries of a run are shown; tapes are counted without being made."""
    if isinstance(trace, Computation):
        cells = trace.channel("head").size or 0
        widths = {"tape": len(cut.position_range(cells))}
        return len(cut.step_range(trace.steps)) * sum(widths.get(c.name, 1) for c in cut.chosen(trace.channels))
    return sum(cut.of_array(trace, c, trace.data[c.name]).size for c in cut.chosen(trace.channels))


def has_positions(trace: Trace, channel: Channel) -> bool:
    """Whether the channel has an entry for every position, rather than one a step."""
    return trace.data[channel.name].ndim - len(channel.entry_shape) > 1


def _span(name: str, typed: str | None) -> tuple[int, int | None] | None:
    if typed is None:
        return None
    found = re.fullmatch(r"\s*(\d{1,9})\s*(?:(-)\s*(\d{1,9})?)?\s*", typed)
    if found is None:
        raise InputError(
            f"--{name} is {typed!r}; give a first and a last number, such as 10-20, or 10- for all from 10"
        )
    first = int(found[1])
    last = int(found[3]) if found[3] else (None if found[2] else first)
    if last is not None and last < first:
        raise InputError(f"--{name} is {typed!r}, and {last} comes before {first}")
    return first, last


def _range(name: str, span: tuple[int, int | None] | None, count: int) -> range:
    if span is None:
        return range(count)
    first, last = span
    if first >= count:
        raise InputError(f"--{name}s begins at {first}, and the last {name} of the run is {count - 1}")
    return range(first, count if last is None else min(count, last + 1))
