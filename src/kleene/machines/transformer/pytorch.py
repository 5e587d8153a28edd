"""Compiled Transformers as models of PyTorch: the same weights by other names, and what their dimensions mean."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from kleene.errors import InputError
from kleene.machines.modeling import TorchParts
from kleene.machines.transformer.parameters import Layout, Parameters, Segment
from kleene.machines.weights import arrays_of

ATTENTION = ("query", "key", "value", "out", "relative")
MLP = {"mlp_in": "inputs", "mlp_bias": "bias", "mlp_out": "outputs"}


def shared_parts(network: Parameters) -> TorchParts:
    """A Universal Transformer in PyTorch's terms: one layer, repeated until every position has halted."""
    layout = network.layout
    dims = list(range(layout.width))
    more = {"shared": True, "depth": layout.max_layers, "max_length": layout.position_range, "causal": False}
    return _parts(network, layout, dims, [network], more)


def unrolled_parts(network: Any) -> TorchParts:
    """An unrolled network in PyTorch's terms: layers with weights of their own."""
    layout = network.layout
    layers = [network.layer(index) for index in range(len(network.layers))]
    more = {"shared": False, "depth": len(layers), "max_length": layout.max_length, "causal": layout.causal}
    return _parts(network, layout.program, list(layout.dims), layers, more)


def _parts(
    network: Any, layout: Layout, dims: Sequence[int], layers: Sequence[Parameters], more: dict[str, Any]
) -> TorchParts:
    if network.dtype not in ("float32", "float64"):
        raise InputError(
            f"{layout.name}: a network in {network.dtype} is not exported, because PyTorch adds up in that type; "
            f"compile it for float32 or float64"
        )
    arrays = {"tokens": network.tokens, "positions": network.positions, "halt": network.halt}
    for number, layer in enumerate(layers):
        arrays |= {f"layers.{number}.{name}": array for name, array in _layer_arrays(layer).items()}
    labels = meanings(layout, dims)
    config = {
        "name": layout.name,
        "dtype": network.dtype,
        "activation": network.activation,
        **more,
        "alphabet": None if layout.alphabet is None else list(layout.alphabet),
        "vocabulary": None if layout.vocabulary is None else list(layout.vocabulary.values),
        "output": _output(layout.segment(layout.output_name), dims),
        "layers": [_facts(layer.layout) for layer in layers],
        "residual_labels": list(labels),
    }
    rows = [(f"{n}", name, *_selects(w, h)) for n, w in enumerate(layers, 1) for h, name in enumerate(w.layout.heads)]
    held = {name: np.ascontiguousarray(array) for name, array in arrays.items() if array is not None}
    return TorchParts("transformer", config, held, labels, tuple(rows))


def _layer_arrays(layer: Parameters) -> dict[str, np.ndarray]:
    found = {f"attention.{name}": getattr(layer, name) for name in ATTENTION}
    found |= {f"mlp.{name}": getattr(layer, field) for field, name in MLP.items()}
    found |= {} if layer.expansion is None else arrays_of(layer.expansion, "expansion.")
    return found | ({} if layer.probe is None else arrays_of(layer.probe, "guards."))


def _facts(layout: Layout) -> dict[str, Any]:
    """What a layer needs besides its weights: its heads, how each selects, and whether it reads a single position."""
    return {
        "heads": list(layout.heads),
        "by_key": list(layout.queries),
        "single": [segment.channel.kind == "category" for segment in layout.head_segments],
        "number_steps": [list(step) for step in layout.number_steps],
    }


def _output(segment: Segment, dims: Sequence[int]) -> dict[str, Any]:
    held = [(place, dim - segment.start) for place, dim in enumerate(dims) if segment.start <= dim < segment.stop]
    channel = segment.channel
    return {
        "name": channel.name,
        "kind": channel.kind,
        "dims": [place for place, _ in held],
        "codes": [code for _, code in held],
        "labels": None if channel.labels is None else list(channel.labels),
        "meanings": None if channel.meanings is None else list(channel.meanings),
    }


def meanings(layout: Layout, dims: Sequence[int]) -> tuple[str, ...]:
    """What each dimension stands for, such as "parity=1"."""
    names: dict[int, str] = {}
    for segment in layout.segments:
        for dim in range(segment.start, segment.stop):
            names[dim] = _meaning(segment, dim - segment.start)
    return tuple(names[dim] for dim in dims)


def _meaning(segment: Segment, index: int) -> str:
    channel = segment.channel
    if channel.kind == "number":
        return channel.name
    shown = channel.labels[index] if channel.labels is not None else str(index)
    return f"{channel.name} has {shown}" if channel.kind == "set" else f"{channel.name}={shown}"


def _selects(layer: Parameters, head: int) -> tuple[str, str]:
    """How a head selects: by key or not, and at which distances."""
    bias = layer.relative[head]
    reach = len(bias) // 2
    near = [int(i) - reach for i in np.flatnonzero(bias == 0)]
    distances = ", ".join(map(str, near)) if bias.any() else "any"
    return "query and key" if layer.layout.queries[head] else "distance alone", distances
