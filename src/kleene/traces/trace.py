"""The trace of a run: every channel at every step, and how two traces compare.

Traces tie Kleene together. Compiling is right when the decoded trace of the network equals the trace of the program;
a hint is one entry of a trace; a picture is a view of one. A `Recorder` collects the traces of a batch step by step,
while rows drop out as they halt.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property, partial
from pathlib import Path
from typing import Any

import numpy as np

from kleene.errors import RunError
from kleene.traces import storage
from kleene.traces.attention import AttentionPatterns
from kleene.traces.channels import Channel
from kleene.traces.markup import html_table


@dataclass(frozen=True, eq=False)
class Trace:
    """What one run did: for each channel an array whose first axis is the step, step 0 being the start.

    The output begins after `prefix` positions, which a program puts before its input.

    `axes` names the axes that the channels share: `("step", "position")` for a Transformer,
    `("step",)` for an automaton. A channel may lack the later ones: a Turing machine has a tape with positions, but
    one state a step. Two traces are equal when every entry of every channel is.

    >>> parity = Channel("parity", "category", 2)
    >>> trace = Trace((parity,), {"parity": np.array([[1, 0, 1], [1, 1, 1], [1, 1, 0]])}, output_name="parity")
    >>> trace.steps, trace.output
    (2, [1, 1, 0])
    """

    channels: tuple[Channel, ...]
    data: Mapping[str, np.ndarray]
    output_name: str | None = None
    halted: bool = True
    axes: tuple[str, ...] = ("step", "position")
    source: str = field(default="", compare=False)
    prefix: int = 0
    patterns: Callable[["Trace"], AttentionPatterns] | None = field(default=None, compare=False, repr=False)

    @property
    def steps(self) -> int:
        """The number of steps; the start is not counted."""
        return len(next(iter(self.data.values()))) - 1

    @property
    def layers(self) -> int:
        """The number of layers: a step of a Transformer is a layer."""
        return self.steps

    @cached_property
    def output(self) -> Any:
        """The output channel after the last step, as plain Python numbers, or in the meanings of its codes."""
        if self.output_name is None:
            return None
        last = self.data[self.output_name][-1]
        return meant(self.channel(self.output_name), (last[self.prefix :] if self.prefix else last).tolist())

    @cached_property
    def attention(self) -> AttentionPatterns:
        """How much each head read from each position: `attention[head][layer, query, key]`, computed when first asked.

        Runs of transformer programs and of Transformers have it, but not traces from files. A program's head reads
        equal shares of what it selects, and 0 everywhere if it selects nothing; a network's softmax looks everywhere
        then.
        """
        if self.patterns is None:
            raise RunError(
                "this trace has no attention patterns: it is of a run without attention, or it comes from a file; "
                "run the program or the network again"
            )
        return self.patterns(self)

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in vars(self).items() if name != "patterns"}  # a program is not pickled

    @property
    def labelled_output(self) -> Any:
        """The output in the labels of its channel: a string where each label is a letter, else a list of labels.

        Where the channel has no labels, or its codes stand for values, it is `output`.
        """
        channel = None if self.output_name is None else self.channel(self.output_name)
        labels = None if channel is None or channel.meanings is not None else channel.labels
        if labels is None or not isinstance(self.output, list):
            return self.output
        codes = self.data[self.output_name or ""][-1][self.prefix :]
        found = [self.channel(self.output_name or "").show(code) for code in codes]
        return "".join(found) if all(len(label) == 1 for label in labels) else found

    def __getitem__(self, name: str) -> np.ndarray:
        if name not in self.data:
            raise KeyError(f"no channel {name!r} in this trace; it has {', '.join(self.data)}")
        return self.data[name]

    def __contains__(self, name: str) -> bool:
        return name in self.data

    def channel(self, name: str) -> Channel:
        for channel in self.channels:
            if channel.name == name:
                return channel
        raise KeyError(f"no channel {name!r} in this trace; it has {', '.join(self.data)}")

    def sublayers(self) -> Iterator[dict[str, np.ndarray]]:
        """Every channel at the start, after each attention and after each MLP: `2 * steps + 1` of them.

        The heads' channels are defined only after attention, and the others change only in the MLP.
        """
        kept = {c.name for c in self.channels if not c.per_step}
        undefined = {c.name: np.full_like(self.data[c.name][0], c.empty) for c in self.channels if c.per_step}
        yield {name: self.data[name][0] for name in kept} | undefined
        for step in range(1, self.steps + 1):
            before = {name: self.data[name][step - 1] for name in kept}
            yield before | {name: self.data[name][step] for name in undefined}
            yield {name: self.data[name][step] for name in kept} | undefined

    def difference(self, other: "Trace") -> str | None:
        """The first place where the other trace differs, in words; None where they are equal."""
        mine, theirs = self.source or "the first", other.source or "the second"
        if self.output_name != other.output_name:
            return f"the output is {self.output_name!r} in {mine} but {other.output_name!r} in {theirs}"
        names = [c.name for c in self.channels]
        if names != [c.name for c in other.channels]:
            return f"the channels are {names} in {mine} but {[c.name for c in other.channels]} in {theirs}"
        if self.steps != other.steps:
            return f"{mine} ran {self.steps} steps, {theirs} ran {other.steps}"
        if self.halted != other.halted:
            return f"{mine} {'halted' if self.halted else 'did not halt'}, {theirs} the other way round"
        found = []
        for channel in self.channels:
            a, b = self.data[channel.name], other.data[channel.name]
            if channel != other.channel(channel.name) or a.shape != b.shape:
                return f"channel {channel.name!r} has another kind or shape: {a.shape} in {mine}, {b.shape} in {theirs}"
            places = np.argwhere(channel.differs(a, b))
            if len(places):
                found.append((tuple(int(i) for i in places[0]), channel, len(places)))
        if not found:
            return None
        place, channel, count = min(found, key=lambda f: f[0])
        where = ", ".join(f"{axis} {index}" for axis, index in zip(self.axes, place))
        left, right = channel.show(self.data[channel.name][place]), channel.show(other.data[channel.name][place])
        more = f" (and {count - 1} more places in this channel)" if count > 1 else ""
        return f"{where}: {channel.name!r} is {left} in {mine} but {right} in {theirs}{more}"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Trace) and self.difference(other) is None

    __hash__ = None  # type: ignore[assignment]

    def __str__(self) -> str:
        from kleene.traces.tables import as_text

        return as_text(self)

    def __repr__(self) -> str:
        return f"<Trace of {self.steps} steps: {', '.join(c.name for c in self.channels)}>"

    def _repr_html_(self) -> str:
        from kleene.traces.tables import as_html

        return as_html(self)

    def as_json(self) -> dict[str, Any]:
        """The trace as plain dicts, lists and numbers; an undefined number is None."""
        return storage.as_json(self)

    def save(self, path: Any) -> Path:
        """Save the trace as `.json` or `.npz`, by the ending of the path, and return the path."""
        return storage.save(self, path)

    @staticmethod
    def load(path: Any) -> "Trace":
        """The trace that `save` wrote. Opening a file never runs code."""
        return Trace(**storage.load(path))

    @staticmethod
    def from_json(content: dict[str, Any]) -> "Trace":
        """The trace that `as_json` described."""
        return Trace(**storage.from_json(content))


@dataclass(frozen=True, eq=False)
class TraceBatch:
    """The traces of many runs of unequal length in padded arrays of shape (batch, step, position, …).

    `steps[i]` and `lengths[i]` say how much of row `i` is real; `batch[i]` is that run's own `Trace`. Where the `axes`
    of a run are `("step",)` alone there is no position axis, and no `lengths` are needed. A batch that was not
    `recorded` holds only the last value of its output channel.
    """

    channels: tuple[Channel, ...]
    data: Mapping[str, np.ndarray]
    steps: np.ndarray
    lengths: np.ndarray
    halted: np.ndarray
    output_name: str | None = None
    source: str = ""
    recorded: bool = True
    axes: tuple[str, ...] = ("step", "position")
    prefix: int = 0
    patterns: Callable[[int, Trace], AttentionPatterns] | None = field(default=None, repr=False)  # of one of the runs

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in vars(self).items() if name != "patterns"}  # a program is not pickled

    def __len__(self) -> int:
        return len(self.steps)

    def __getitem__(self, index: int) -> Trace:
        if not self.recorded:
            raise ValueError("this batch kept its outputs alone; run it with record=True to have the traces")
        steps = int(self.steps[index])
        real = (index, slice(steps + 1), *self._positions(index))
        rows = {c.name: self.data[c.name][real] for c in self.channels}
        halted = bool(self.halted[index])
        patterns = None if self.patterns is None else partial(self.patterns, index)
        return Trace(self.channels, rows, self.output_name, halted, self.axes, self.source, self.prefix, patterns)

    def _positions(self, index: int) -> tuple[slice, ...]:
        """Which positions of a run are real; nothing where it has none."""
        return (slice(int(self.lengths[index])),) if "position" in self.axes else ()

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, TraceBatch) or len(self) != len(other) or self.recorded != other.recorded:
            return False
        if not self.recorded:
            return self.outputs == other.outputs and (self.steps == other.steps).all()
        return all(a == b for a, b in zip(self, other))

    __hash__ = None  # type: ignore[assignment]

    def __iter__(self) -> Iterator[Trace]:
        return (self[i] for i in range(len(self)))

    def __repr__(self) -> str:
        names = ", ".join(channel.name for channel in self.channels)
        return f"<TraceBatch of {len(self)} runs: {names}{'' if self.recorded else ', outputs alone'}>"

    def _repr_html_(self) -> str:
        facts = zip(self.steps.tolist(), self.halted.tolist(), self.outputs)
        rows = [(n, steps, "yes" if halted else "no", output) for n, (steps, halted, output) in enumerate(facts)]
        return html_table([("run", "steps", "halted", "output"), *rows], caption=repr(self)[1:-1])

    def as_json(self) -> list[dict[str, Any]]:
        """Each run as plain data."""
        return [trace.as_json() for trace in self]

    @property
    def outputs(self) -> list[Any]:
        """The output of every run: a list with an entry for each position, or one entry where there are none."""
        name = self.output_name or self.channels[0].name
        channel = next(channel for channel in self.channels if channel.name == name)
        array, last = self.data[name], self.steps if self.recorded else np.zeros_like(self.steps)
        rows = (array[(i, s, *self._positions(i))] for i, s in enumerate(last))
        return [meant(channel, (row[self.prefix :] if self.prefix else row).tolist()) for row in rows]


def meant(channel: Channel, codes: Any) -> Any:
    """The codes, or what they stand for if the channel says so.

    >>> meant(Channel("kind", "category", 3, meanings=(None, "odd", "even")), [2, 1])
    ['even', 'odd']
    """
    if channel.meanings is None:
        return codes
    return [channel.meanings[code] if code >= 0 else None for code in codes]


class Recorder:
    """Collects the entries of each step for the rows still running into one `TraceBatch`.

    Without `record` only the newest value of the output channel is kept.
    """

    def __init__(
        self,
        channels: tuple[Channel, ...],
        lengths: np.ndarray,
        output_name: str,
        *,
        record: bool,
        source: str,
        prefix: int = 0,
    ):
        self._prefix = prefix
        self._lengths, self._output_name, self._record, self._source = lengths, output_name, record, source
        self._channels = tuple(c for c in channels if record or c.name == output_name)
        self._steps = np.zeros(len(lengths), dtype=np.int64)
        self._halted = np.zeros(len(lengths), dtype=bool)
        self._kept: list[tuple[np.ndarray, Mapping[str, np.ndarray]]] = []
        self._newest = self._empty(next(c for c in channels if c.name == output_name), 1)

    def _empty(self, channel: Channel, steps: int) -> np.ndarray:
        shape = (len(self._lengths), steps, int(self._lengths.max(initial=0)), *channel.entry_shape)
        return np.full(shape, channel.empty, dtype=channel.dtype)

    def add(self, step: int, rows: np.ndarray, entries: Mapping[str, np.ndarray]) -> None:
        """Add the entries, of shape (rows, position, …), that the rows had after this step."""
        if self._record:
            assert step == len(self._kept)
            self._kept.append((rows, entries))
        else:
            self._place(self._newest, rows, 0, entries[self._output_name])

    @staticmethod
    def _place(array: np.ndarray, rows: np.ndarray, step: int, entry: np.ndarray) -> None:
        width = min(entry.shape[1], array.shape[2])  # a step may have been run with more or fewer positions
        array[rows, step, :width] = entry[:, :width]

    def finish(self, rows: np.ndarray, step: int, *, halted: bool) -> None:
        """Record that these rows end after this step."""
        self._steps[rows] = step
        self._halted[rows] = halted

    def batch(self) -> TraceBatch:
        data = {} if self._record else {self._output_name: self._newest}
        for channel in self._channels if self._record else ():
            array = self._empty(channel, len(self._kept))
            for step, (rows, entries) in enumerate(self._kept):
                if channel.name in entries:
                    self._place(array, rows, step, entries[channel.name])
            data[channel.name] = array
        return TraceBatch(
            self._channels,
            data,
            self._steps,
            self._lengths,
            self._halted,
            self._output_name,
            self._source,
            self._record,
            prefix=self._prefix,
        )
