"""An ordinary Transformer, whose layers have weights of their own: what a transformer program becomes when unrolled.

Each layer has only the heads, hidden units and conditions that can matter there, and the residual stream only the
dimensions that some layer uses. So a trace has the entries that the network holds: `held_part` leaves these of the
program's trace.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any, Literal

import numpy as np
from jaxtyping import Float

from kleene.errors import InputError
from kleene.machines.protocol import Shown, shown_names
from kleene.machines.transformer.lens import bridge
from kleene.machines.transformer.parameters import (
    Array,
    Expansion,
    Layout,
    Origin,
    Parameters,
    Probe,
    check_layout,
    digest_of,
    pytree,
    static,
)
from kleene.machines.transformer.patching import Interventions
from kleene.machines.transformer.pytorch import unrolled_parts
from kleene.machines.transformer.unrolled_execution import execute_unrolled, patterns_of_layers
from kleene.machines.weights import Axes, Format, arrays_of, plain, typed
from kleene.notation.words import PrefixedVocabulary
from kleene.traces import Trace, TraceBatch


@dataclass(frozen=True)
class LayerLayout:
    """What one layer has: its heads, how they select, the expansion's units of each number, the channels it leaves."""

    heads: tuple[str, ...]
    queries: tuple[bool, ...]
    number_steps: tuple[tuple[int, int, int], ...]
    held: tuple[str, ...]


@dataclass(frozen=True)
class UnrolledLayout:
    """The meaning of an unrolled network's dimensions, and what a run needs besides the weights.

    `program` is the layout of all that the program has; `dims` says which of its dimensions the residual stream has,
    and `own` which of its channels the compiler added. `held` are the channels before the first layer. `max_length`
    counts all positions, those before an input included. `limit` is the number of layers after which the program itself
    gives up; `depth` says how the number of layers is known.
    """

    program: Layout
    dims: tuple[int, ...]
    layers: tuple[LayerLayout, ...]
    held: tuple[str, ...]
    own: tuple[str, ...]
    causal: bool
    max_length: int | None
    limit: int
    depth: str

    def check_input(self, sequence: Sequence[Any]) -> list[int]:
        """The tokens of an input; refuses one that is longer than the layers were made for."""
        tokens = self.program.check_input(sequence)
        if self.max_length is not None and len(tokens) > self.max_length:
            given, most = len(tokens) - self.program.prefix, self.max_length - self.program.prefix
            raise InputError(
                f"{self.name}: the input has {given} tokens, and its layers were unrolled for at most {most}; "
                f"compile it with max_length={given}, or with layers='shared'"
            )
        return tokens

    @property
    def name(self) -> str:
        return self.program.name

    @property
    def alphabet(self) -> tuple[str, ...] | None:
        return self.program.alphabet

    @property
    def vocabulary(self) -> PrefixedVocabulary | None:
        return self.program.vocabulary

    @property
    def prefix(self) -> int:
        return self.program.prefix

    @property
    def output_name(self) -> str:
        return self.program.output_name

    @property
    def width(self) -> int:
        return len(self.dims)

    @cached_property
    def channels(self) -> tuple[Any, ...]:
        """The program's channels, without those that the compiler added."""
        return tuple(c for c in self.program.channels if c.name not in self.own)

    def of_layer(self, index: int) -> Layout:
        """The layout of one layer: all dimensions, and the heads of this layer."""
        layer = self.layers[index]
        return replace(self.program, heads=layer.heads, queries=layer.queries, number_steps=layer.number_steps)

    def held_at(self, step: int) -> tuple[str, ...]:
        """The channels that the network holds after so many layers; those of heads, that it read in the last one."""
        if step == 0:
            return self.held
        return self.layers[step - 1].held + self.layers[step - 1].heads if step <= len(self.layers) else ()


@dataclass(frozen=True)
class UnrolledSize:
    """The size of an unrolled network: `hidden_units` and `heads` are those of all layers together."""

    layers: int
    hidden_units: int
    residual_dims: int
    heads: int
    parameters: int
    nonzero: int


@pytree
class UnrolledLayer:
    """The weights of one layer of attention and MLP, named as in `Parameters`."""

    query: Float[Array, "heads width key"]
    key: Float[Array, "heads width key"]
    value: Float[Array, "heads width entry"]
    out: Float[Array, "heads entry width"]
    relative: Float[Array, "heads offsets"]
    expansion: Expansion | None
    mlp_in: Float[Array, "features hidden"]
    mlp_bias: Float[Array, " hidden"]
    mlp_out: Float[Array, "hidden width"]
    probe: Probe | None


@pytree
class UnrolledTransformer(Shown):
    """A Transformer with weights of its own for each layer, as a compiler makes it from a transformer program."""

    tokens: Float[Array, "symbols width"]
    positions: Float[Array, "positions width"] | None
    layers: tuple[UnrolledLayer, ...]
    halt: Float[Array, " width"] | None
    layout: UnrolledLayout = static()
    activation: Literal["clipped", "relu"] = static(default="clipped")
    origin: Origin | None = static(default=None)

    @property
    def dtype(self) -> str:
        return str(self.tokens.dtype)

    @property
    def size(self) -> UnrolledSize:
        weights = self.weights().values()
        expansions = sum(layer.expansion.bias.size for layer in self.layers if layer.expansion is not None)
        return UnrolledSize(
            layers=len(self.layers),
            hidden_units=int(sum(layer.mlp_bias.size for layer in self.layers) + expansions),
            residual_dims=self.layout.width,
            heads=sum(len(layer.heads) for layer in self.layout.layers),
            parameters=int(sum(w.size for w in weights)),
            nonzero=int(sum(np.count_nonzero(w) for w in weights)),
        )

    def weights(self) -> dict[str, np.ndarray]:
        """The Transformer's own weights by name, without probes and the halting condition."""
        return {n: a for n, a in self.arrays().items() if ".probe." not in n and n != "halt"}

    def arrays(self) -> dict[str, np.ndarray]:
        """All arrays by name."""
        return arrays_of(self)

    def parameter_count(self) -> int:
        return sum(weight.size for weight in self.weights().values())

    def facts(self) -> dict[str, str]:
        layout = self.layout
        tokens = (
            f"tokens 0 to {layout.program.input_range - 1}"
            if layout.alphabet is None
            else shown_names(layout.alphabet, "symbols")
        )
        length = "" if layout.max_length is None else f", up to {layout.max_length} of them"
        kind = "causal" if layout.causal else "encoder"
        layers = f"{len(self.layers)} layer{'s' * (len(self.layers) != 1)}"
        return {
            "reads": tokens + length,
            "answers": layout.output_name,
            "has": f"{layers}, {kind}, {self.activation}, {self.dtype}",
        }

    @property
    def is_edited(self) -> bool:
        """Whether the weights differ from those that the compiler made; False if that is not known."""
        return (
            self.origin is not None
            and self.origin.digest is not None
            and digest_of(self.arrays()) != self.origin.digest
        )

    def layer(self, index: int) -> Parameters:
        """One layer as the `Parameters` that a run computes with."""
        w = self.layers[index]
        return Parameters(
            self.tokens, None, w.query, w.key, w.value, w.out, w.relative, w.expansion, w.mlp_in, w.mlp_bias, w.mlp_out,
            None, w.probe, self.layout.of_layer(index), self.activation,
        )  # fmt: skip

    def run(self, sequence: Sequence[Any], *, max_layers: int | None = None, edits: Interventions = ()) -> Trace:
        """The decoded trace of the network on one input: the part of the program's that the network holds."""
        return self.run_batch([sequence], max_layers=max_layers, edits=edits)[0]

    def run_batch(
        self,
        sequences: Sequence[Sequence[Any]],
        *,
        max_layers: int | None = None,
        record: bool = True,
        edits: Interventions = (),
    ) -> TraceBatch:
        """The decoded traces of many inputs of unequal length at once. Without `record` only outputs are kept.

        Every input goes through all layers, those after it has halted included: there nothing may change any more.
        Of interventions it takes patches and ablations (`kleene.machines.transformer.patching`).
        """
        return execute_unrolled(self, sequences, max_layers=max_layers, record=record, edits=edits)

    def patterns(self, sequence: Sequence[Any]) -> tuple[dict[str, np.ndarray], ...]:
        """For each layer, how much each of its heads read from each position, (query, key), on one input."""
        return patterns_of_layers(self, sequence)

    def held_part(self, trace: Trace) -> Trace:
        """The program's trace without what the network does not hold: those entries are undefined."""
        data = {name: array.copy() for name, array in trace.data.items()}
        for channel in trace.channels:
            for step in range(trace.steps + 1):
                if channel.name not in self.layout.held_at(step):
                    data[channel.name][step] = channel.empty
        return replace(trace, data=data)

    def to_torch(self) -> Any:
        """The network as a module of PyTorch. Needs the extra `torch`; see `kleene.export` for a folder of files."""
        return unrolled_parts(self).build()

    def to_transformer_lens(self) -> Any:
        """The network as a `TransformerBridge` of TransformerLens 4, whose logits are the output. Needs the extras
        `torch` and `transformer-lens`.

        The bridge has `residual_labels`, what each dimension means; `head_labels`, the heads of each block; and
        `attending_blocks`, the block of each of this network's layers.
        """
        return bridge(self)

    def save(self, path: Any) -> Path:
        """Save the network and return the path. A file keeps how it was compiled, but not the program."""
        header: dict[str, Any] = {"layout": plain(self.layout), "activation": self.activation}
        if self.origin is not None:
            header["origin"] = {"options": self.origin.options, "digest": self.origin.digest}
        return FORMAT.save(self, path, header)

    @classmethod
    def load(cls, path: Any) -> "UnrolledTransformer":
        """The network in a file that `save` wrote. Opening a file never runs code."""
        return FORMAT.load(cls, path)


def _given(header: dict[str, Any], arrays: dict[str, np.ndarray]) -> dict[str, int]:
    """The sizes of axes that follow from the layout; refuses a layout that does not fit together."""
    if header["activation"] not in ("clipped", "relu"):
        raise ValueError(f"its activation is {header['activation']!r}")
    layout = _checked(typed(UnrolledLayout, header["layout"], "layout"))
    needed = {"positions": layout.program.position_range is not None, "halt": layout.program.halts, "tokens": True}
    for name, is_needed in needed.items():
        if is_needed and name not in arrays:
            raise ValueError(f"{name} is missing")
    for name, array in arrays.items():
        if array.dtype != arrays["tokens"].dtype and ".probe." not in name:
            raise ValueError(f"{name} holds {array.dtype}, and tokens {arrays['tokens'].dtype}")
    positions = layout.program.position_range
    sizes = {"symbols": layout.program.input_range, "width": layout.width, "layers": len(layout.layers)}
    for index, layer in enumerate(layout.layers):
        more = arrays.get(f"layers.{index}.expansion.constant")
        features = layout.width + (0 if more is None else more.size)
        sizes |= {f"layers.{index}.heads": len(layer.heads), f"layers.{index}.features": features}
        sizes |= {f"layers.{index}.probe.features": features}
    return sizes if positions is None else sizes | {"positions": positions}


def _checked(layout: UnrolledLayout) -> UnrolledLayout:
    check_layout(layout.program)
    names, whole = {c.name for c in layout.program.channels}, layout.program.width
    if sorted(set(layout.dims)) != list(layout.dims) or not all(0 <= dim < whole for dim in layout.dims):
        raise ValueError(f"its dimensions are not some of the {whole} of its program, in their order")
    for layer in layout.layers:
        if not {*layer.heads, *layer.held} <= names or not set(layer.heads) <= set(layout.program.heads):
            raise ValueError("a layer names a channel that it does not have")
        if len(layer.queries) != len(layer.heads):
            raise ValueError("the heads of a layer are not described")
        for head, first, last in layer.number_steps:
            if not (0 <= head < len(layer.heads) and 0 <= first <= last):
                raise ValueError(f"head {head} has the expansion's units {first}..{last}, which are not there")
    if not {*layout.held, *layout.own} <= names:
        raise ValueError("it names a channel that it does not have")
    return layout


def _statics(header: dict[str, Any], axes: Axes) -> dict[str, Any]:
    layout: UnrolledLayout = typed(UnrolledLayout, header["layout"], "layout")
    for index, layer in enumerate(layout.layers):
        heads = len(layer.heads)
        uses = axes.found.get(f"layers.{index}.probe.uses", heads)
        if uses not in (heads, heads + 1):
            raise ValueError(f"layers.{index}.probe.guarded has {uses} uses, and there are {heads} heads")
        last = max((stop for _, _, stop in layer.number_steps), default=0)
        if last > axes.found.get(f"layers.{index}.expansion.steps", 0):
            raise ValueError(f"layer {index} has no unit {last - 1} in its expansion")
    return {"layout": layout, "activation": header["activation"], "origin": _origin(header.get("origin"))}


def _origin(described: Any) -> Origin | None:
    if described is None:
        return None
    options, digest = dict(described["options"]), described["digest"]
    if not all(isinstance(value, str) for value in (*options, *options.values(), digest or "")):
        raise ValueError(f"its origin is {described!r}")
    return Origin(None, options, digest)


FORMAT = Format(
    "unrolled transformer",
    "network",
    given=_given,
    statics=_statics,
    own=(
        "heads", "key", "entry", "offsets", "features", "hidden", "steps", "more", "rows", "conditions", "uses",
        "guards",
    ),
    remedy="compile it again",
    may_be_empty=True,
)  # fmt: skip
