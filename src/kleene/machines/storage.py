"""Networks on disk."""

from dataclasses import asdict, fields
from pathlib import Path
from typing import Any

from kleene.errors import ModelFileError
from kleene.machines.residual import Layout, Segment
from kleene.machines.universal_transformer import Expansion, Probe, UniversalTransformer, vars_of
from kleene.tensors import read_tensors, write_tensors
from kleene.traces import Channel

KIND = "universal transformer"
VERSION = 1


def save(network: UniversalTransformer, path: Any) -> Path:
    """The path of the file now holding the network."""
    arrays = network.weights() | {"halt": network.halt}
    if network.probe is not None:
        arrays |= vars_of(network.probe, "probe.")
    header = {"version": VERSION, "layout": asdict(network.layout), "activation": network.activation}
    return write_tensors(path, KIND, header, {n: a for n, a in arrays.items() if a is not None})


def load(path: Any) -> UniversalTransformer:
    """The network in a file; refuses one whose arrays do not fit together."""
    header, arrays = read_tensors(path, KIND)
    try:
        if header["version"] != VERSION:
            raise ValueError(f"its version is {header['version']}, and this Kleene reads version {VERSION}")
        layout = _layout(header["layout"])
        parts = {"expansion": _part(Expansion, arrays), "probe": _part(Probe, arrays)}
        names = [f.name for f in fields(UniversalTransformer) if f.name not in ("layout", "activation", *parts)]
        weights = {n: arrays.get(n) for n in names}
        network = UniversalTransformer(**weights, **parts, layout=layout, activation=header["activation"])
        _check(network)
        return network
    except (KeyError, TypeError, ValueError, AttributeError, IndexError) as error:
        raise ModelFileError(f"{str(path)!r} does not hold a whole network ({error}); compile it again") from None


def _part(cls: Any, arrays: dict[str, Any]) -> Any:
    prefix = cls.__name__.lower() + "."
    found = {n.removeprefix(prefix): a for n, a in arrays.items() if n.startswith(prefix)}
    return cls(**found) if found else None


def _layout(described: dict[str, Any]) -> Layout:
    values = {k: _tuples(v) for k, v in described.items() if k != "segments"}
    segments = tuple(
        Segment(Channel(**{k: _tuples(v) for k, v in s["channel"].items()}), s["start"], s["stop"])
        for s in described["segments"]
    )
    return Layout(segments=segments, **values)


def _tuples(value: Any) -> Any:
    return tuple(_tuples(v) for v in value) if isinstance(value, list) else value


def _check(network: UniversalTransformer) -> None:
    layout, width = network.layout, network.layout.width
    heads, hidden = len(layout.heads), network.mlp_bias.size
    features = width + (network.expansion.constant.size if network.expansion is not None else 0)
    expected = {
        "tokens": (layout.input_range, width),
        "mlp_in": (features, hidden),
        "mlp_out": (hidden, width),
        "query": (heads, width, network.query.shape[2]),
        "key": network.query.shape,
        "value": (heads, width, network.out.shape[1]),
        "out": (heads, network.value.shape[2], width),
        "relative": (heads, network.relative.shape[1]),
    }
    if layout.position_range is not None:
        expected["positions"] = (layout.position_range, width)
    if layout.halts:
        expected["halt"] = (width,)
    for name, shape in expected.items():
        array = getattr(network, name)
        if array is None or array.shape != shape:
            raise ValueError(f"{name} has shape {None if array is None else array.shape}, expected {shape}")
