"""Collecting the steps of a batch as they are run, rows dropping out as they halt."""

from collections.abc import Mapping

import numpy as np

from kleene.traces.channels import Channel
from kleene.traces.trace import TraceBatch


class Recorder:
    """Takes the entries of each step for the rows still running, and lays them out as one `TraceBatch`.

    Without `record` only the newest value of the output channel is kept, whatever the number of steps.
    """

    def __init__(
        self, channels: tuple[Channel, ...], lengths: np.ndarray, output_name: str, *, record: bool, source: str
    ):
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
        """Take the entries, of shape (rows, position, …), that the rows had after this step."""
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
        """Note that these rows end after this step."""
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
        )
