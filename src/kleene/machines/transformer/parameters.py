"""The weights of a Universal Transformer, and the layout that says what their dimensions mean.

A `Layout` says which dimensions of the residual stream hold which channel, and how they are read back. `Parameters`
has the weights as its fields, and `Origin` says what they were compiled from.

A compiled Transformer runs in numpy; importing jax would take longer than the run. So its classes are plain frozen
dataclasses, and they are registered with jax as pytrees as soon as a program uses both.
"""

import hashlib
import sys
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields, is_dataclass, replace
from typing import Any, Literal, TypeVar, dataclass_transform

import numpy as np
from jaxtyping import Float

from kleene.machines.weights import arrays_of
from kleene.notation.words import PrefixedVocabulary, checked_input
from kleene.traces import Channel

Array = np.ndarray
Class = TypeVar("Class", bound=type)

_unregistered: list[type] = []
_REGISTERING = threading.Lock()


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
    """The meaning of a network's residual stream, and what a run needs besides the weights."""

    name: str
    segments: tuple[Segment, ...]
    heads: tuple[str, ...]  # the channels that the heads write, in the order of the heads' weights
    queries: tuple[bool, ...]  # whether each head selects by query and key; otherwise by distance alone
    output_name: str
    input_range: int
    position_range: int | None
    halts: bool
    max_layers: int
    number_steps: tuple[tuple[int, int, int], ...] = ()  # (head, start, stop): expansion units that compare its number
    alphabet: tuple[str, ...] | None = None  # a symbol for every input token
    # If inputs are any values, with a start before them.
    vocabulary: PrefixedVocabulary | None = field(default=None, metadata={"sparse": True})

    def check_input(self, sequence: Sequence[Any]) -> list[int]:
        """The tokens of an input, which may be a string or symbols if there is an alphabet; refuses any other input."""
        if self.vocabulary is not None:
            return self.vocabulary.codes(sequence, self.name)
        return checked_input(sequence, self.name, self.input_range, self.position_range, self.alphabet)

    @property
    def prefix(self) -> int:
        """How many positions are put before an input."""
        return 0 if self.vocabulary is None else 1

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
    """The entries that one-hot, multi-hot or plain dimensions (…, width) encode; -1 if a category is not one-hot."""
    if channel.kind == "category":
        clear = (dims.max(axis=-1) == 1) & (dims.sum(axis=-1) == 1)
        return xp.where(clear, dims.argmax(axis=-1), -1).astype(xp.int32)
    if channel.kind == "set":
        return dims > 0.5
    return dims[..., 0]


def is_clean(xp: Any, channel: Channel, dims: Any) -> Any:
    """Whether each entry's dimensions are exact: one 1 and zeros (a category), zeros and ones (a set), or finite."""
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
            raise ValueError(f"it names a channel {name!r}, which it does not have")
    _check_symbols("alphabet", layout.alphabet, layout.input_range)
    for channel in layout.channels:
        _check_symbols(f"channel {channel.name!r}", channel.labels, channel.size)
        if channel.meanings is not None and len(channel.meanings) != channel.size:
            raise ValueError(f"channel {channel.name!r} has {len(channel.meanings)} meanings for {channel.size} codes")
    if layout.vocabulary is not None and len(layout.vocabulary.values) + 1 != layout.input_range:
        raise ValueError(f"its vocabulary has {len(layout.vocabulary.values)} words for {layout.input_range} tokens")
    if len(layout.queries) != len(layout.heads) or not isinstance(layout.max_layers, int):
        raise ValueError("its heads or its number of layers are not described")


def _check_symbols(name: str, symbols: Any, size: int | None) -> None:
    if symbols is not None and (
        not isinstance(symbols, tuple)
        or len(set(symbols)) != size
        or not all(isinstance(symbol, str) and symbol for symbol in symbols)
    ):
        raise ValueError(f"{name} has the labels {symbols!r}, and {size} different strings were expected")


def static(**options: Any) -> Any:
    """A field that is not a weight: for jax it is part of the tree's structure. Options as for `field`."""
    return field(metadata={"static": True}, **options)


@dataclass_transform(frozen_default=True, eq_default=False, field_specifiers=(field, static))
def pytree(cls: Class) -> Class:
    """The class as a frozen dataclass whose fields, except static ones, are the children of a tree.

    >>> @pytree
    ... class Affine:
    ...     weights: Any
    ...     name: str = static(default="")
    >>> import jax
    >>> jax.tree.map(lambda leaf: 2 * leaf, Affine(3.0, "map"))
    Affine(weights=6.0, name='map')
    """
    cls.__post_init__ = _registered_if_jax_is_here
    made = dataclass(frozen=True, eq=False, repr=cls.__repr__ is object.__repr__)(cls)
    _unregistered.append(made)
    return made


def mapped(function: Callable[[Any], Any], module: Any) -> Any:
    """The module with the function applied to each of its weights, like `jax.tree.map`."""
    if module is None:
        return None
    if isinstance(module, tuple):
        return tuple(mapped(function, item) for item in module)
    if not is_dataclass(module) or isinstance(module, type):
        return function(module)
    names = [f.name for f in fields(module) if not f.metadata.get("static")]
    return replace(module, **{name: mapped(function, getattr(module, name)) for name in names})


def register_all() -> None:
    """Register every such class with jax. Modules that pass such objects to jax call it when they are imported."""
    with _REGISTERING:
        while _unregistered:
            _register(_unregistered[0])
            del _unregistered[0]  # only now: another thread that finds none may go on


def _registered_if_jax_is_here(_: Any) -> None:
    if _unregistered and "jax" in sys.modules:
        register_all()


def _register(cls: type) -> None:
    from jax.tree_util import GetAttrKey, register_pytree_with_keys

    weights = tuple(f.name for f in fields(cls) if not f.metadata.get("static"))
    rest = tuple(f.name for f in fields(cls) if f.metadata.get("static"))

    def flatten(module: Any) -> tuple[Any, Any]:
        children = [(GetAttrKey(name), getattr(module, name)) for name in weights]
        return children, tuple(getattr(module, name) for name in rest)

    def unflatten(described: Any, children: Any) -> Any:
        module = object.__new__(cls)  # without checks: leaves may be tracers or placeholders of jax
        for name, value in zip((*weights, *rest), (*children, *described)):
            object.__setattr__(module, name, value)
        return module

    register_pytree_with_keys(cls, flatten, unflatten)


@pytree
class Probe:
    """Weights that find where a head's undefined output would be used.

    Row r holds where `features @ rows[:, r] >= least[r]`. A condition is a signed sum of rows that must be 1. A guard
    needs all its conditions, and `guarded` says which head's use it guards. A condition that reads an undefined head
    (`mentions`) counts as true. If there is one use more than there are heads, the last one stands for faults: writes
    that end the run with an error wherever their guards hold.
    """

    rows: Float[Array, "features rows"]
    least: Float[Array, " rows"]
    conditions: Float[Array, "rows conditions"]
    mentions: Float[Array, "conditions uses"]
    guards: Float[Array, "conditions guards"]
    guarded: Float[Array, "guards uses"]


@pytree
class Expansion:
    """Two layers before the MLP that turn numbers, sets and sums into features that are 0 or 1."""

    inputs: Float[Array, "width steps"]
    bias: Float[Array, " steps"]
    outputs: Float[Array, "steps more"]
    constant: Float[Array, " more"]


@dataclass(frozen=True, eq=False)
class Origin:
    """The program that a network was compiled from, the options, and a digest of the compiled weights.

    A file keeps all of it except the program.
    """

    program: Any
    options: dict[str, Any]
    digest: str | None = None


@pytree
class Parameters:
    """One layer of attention and MLP. The fields are the weights; `layout` says what their dimensions mean.

    Attention is softmax(Q K + bias), and its outputs are added up; the MLP is `mlp_out · clip(mlp_in · x + mlp_bias)`,
    where x is the residual stream and, if there is an `expansion`, its features.
    """

    tokens: Float[Array, "symbols width"]
    positions: Float[Array, "positions width"] | None
    query: Float[Array, "heads width key"]
    key: Float[Array, "heads width key"]
    value: Float[Array, "heads width entry"]
    out: Float[Array, "heads entry width"]
    relative: Float[Array, "heads offsets"]
    expansion: Expansion | None
    mlp_in: Float[Array, "features hidden"]
    mlp_bias: Float[Array, " hidden"]
    mlp_out: Float[Array, "hidden width"]
    halt: Float[Array, " width"] | None
    probe: Probe | None
    layout: Layout = static()
    activation: Literal["clipped", "relu"] = static(default="clipped")
    origin: Origin | None = static(default=None)

    @property
    def dtype(self) -> str:
        return str(self.tokens.dtype)

    def weights(self) -> dict[str, np.ndarray | None]:
        """The Transformer's own weights by name, without the probe."""
        expansion = {} if self.expansion is None else arrays_of(self.expansion, "expansion.")
        names = ("tokens", "positions", "query", "key", "value", "out", "relative", "mlp_in", "mlp_bias", "mlp_out")
        return {n: getattr(self, n) for n in names} | expansion

    def arrays(self) -> dict[str, np.ndarray]:
        """All arrays by name, those of the probe and the halting condition included."""
        probe = {} if self.probe is None else arrays_of(self.probe, "probe.")
        found = self.weights() | {"halt": self.halt} | probe
        return {name: array for name, array in found.items() if array is not None}


def digest_of(arrays: Mapping[str, np.ndarray]) -> str:
    """The SHA-256 of the arrays, with their names, types and shapes."""
    found = hashlib.sha256()
    for name in sorted(arrays):
        array = np.ascontiguousarray(arrays[name])
        found.update(f"{name} {array.dtype} {array.shape};".encode())
        found.update(array.view(np.uint8).data if array.size else b"")
    return found.hexdigest()
