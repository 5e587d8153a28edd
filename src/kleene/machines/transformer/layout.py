"""How a residual stream is laid out: which dimensions hold which channel, and how they are read back."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from kleene.notation.tokens import checked_input
from kleene.traces import Channel


@dataclass(frozen=True)
class Segment:
    """The dimensions `start..stop-1` of the residual stream, which hold one channel.

    A category is one-hot, a set multi-hot, a number itself in one dimension; undefined is all zero.
    """

    channel: Channel
    start: int
    stop: int

    @property
    def width(self) -> int:
        return self.stop - self.start


@dataclass(frozen=True)
class Layout:
    """What a network's residual stream means, and what a run needs to know beside the weights."""

    name: str
    segments: tuple[Segment, ...]
    heads: tuple[str, ...]  # the channels that the heads write, in the order of the heads' weights
    queries: tuple[bool, ...]  # whether each head selects by query and key, or by distance alone
    output_name: str
    input_range: int
    position_range: int | None
    halts: bool
    max_layers: int
    number_steps: tuple[tuple[int, int, int], ...] = ()  # (head, start, stop): expansion units that sort its number
    alphabet: tuple[str, ...] | None = None  # a symbol for every input token

    def check_input(self, sequence: Sequence[Any]) -> list[int]:
        """The tokens of an input, which may be a text or symbols if there is an alphabet; refuses what does not fit."""
        return checked_input(sequence, self.name, self.input_range, self.position_range, self.alphabet)

    @property
    def width(self) -> int:
        return self.segments[-1].stop

    @property
    def channels(self) -> tuple[Channel, ...]:
        return tuple(s.channel for s in self.segments)

    def segment(self, name: str) -> Segment:
        return next(s for s in self.segments if s.channel.name == name)

    @property
    def head_segments(self) -> tuple[Segment, ...]:
        return tuple(self.segment(h) for h in self.heads)

    @property
    def kept_segments(self) -> tuple[Segment, ...]:
        """The segments that live on from layer to layer."""
        return tuple(s for s in self.segments if not s.channel.per_step)


def read_segment(xp: Any, channel: Channel, dims: Any) -> Any:
    """The entries that one-hot, multi-hot or plain dimensions (…, width) stand for; -1 where a category is unclear."""
    if channel.kind == "category":
        clear = (dims.max(axis=-1) == 1) & (dims.sum(axis=-1) == 1)
        return xp.where(clear, dims.argmax(axis=-1), -1).astype(xp.int32)
    if channel.kind == "set":
        return dims > 0.5
    return dims[..., 0]


def is_clean(xp: Any, channel: Channel, dims: Any) -> Any:
    """Whether dimensions hold exactly what the channel may hold: one 1 and zeros, or zeros and ones (one bool each)."""
    if channel.kind == "category":
        return ((dims == 0) | (dims == 1)).all(axis=-1) & (dims.sum(axis=-1) == 1)
    if channel.kind == "set":
        return ((dims == 0) | (dims == 1)).all(axis=-1)
    return xp.isfinite(dims[..., 0])


def check_layout(layout: Layout) -> None:
    """Refuse a layout, read from a file, whose segments, heads and labels do not fit together."""
    start = 0
    for segment in layout.segments:
        channel = segment.channel
        stop = start + (1 if channel.kind == "number" else int(channel.size or 0))
        if (segment.start, segment.stop) != (start, stop):
            raise ValueError(
                f"channel {channel.name!r} has dimensions {segment.start}..{segment.stop}, not {start}..{stop}"
            )
        start = stop
    for name in (*layout.heads, layout.output_name):
        if name not in [c.name for c in layout.channels]:
            raise ValueError(f"it speaks of a channel {name!r}, which it does not have")
    _check_symbols("alphabet", layout.alphabet, layout.input_range)
    for channel in layout.channels:
        _check_symbols(f"channel {channel.name!r}", channel.labels, channel.size)
    if len(layout.queries) != len(layout.heads) or not isinstance(layout.max_layers, int):
        raise ValueError("its heads or its number of layers are not described")


def _check_symbols(name: str, symbols: Any, size: int | None) -> None:
    if symbols is not None and (
        not isinstance(symbols, tuple)
        or len(set(symbols)) != size
        or not all(isinstance(symbol, str) and symbol for symbol in symbols)
    ):
        raise ValueError(f"{name} has the labels {symbols!r}, and {size} different texts were expected")
