"""Networks on disk."""

from dataclasses import asdict, fields
from pathlib import Path
from typing import Any

from kleene.errors import ModelFileError
from kleene.machines.transformer.residual import Layout, Segment
from kleene.machines.transformer.universal_transformer import Expansion, Origin, Probe, UniversalTransformer
from kleene.tensors import read_tensors, write_tensors
from kleene.traces import Channel

KIND = "universal transformer"
VERSION = 1

# The axes of every array of a file, and those that hold the network's own number type.
AXES = {
    "tokens": "symbols width", "positions": "positions width", "query": "heads width key", "key": "heads width key",
    "value": "heads width entry", "out": "heads entry width", "relative": "heads offsets",
    "expansion.inputs": "width steps", "expansion.bias": "steps", "expansion.outputs": "steps more",
    "expansion.constant": "more", "mlp_in": "features hidden", "mlp_bias": "hidden", "mlp_out": "hidden width",
    "halt": "width", "probe.rows": "features rows", "probe.least": "rows", "probe.conditions": "rows conditions",
    "probe.mentions": "conditions uses", "probe.guards": "conditions guards", "probe.guarded": "guards uses",
}  # fmt: skip
WEIGHTS = {name for name in AXES if not name.startswith("probe.")}


def save(network: UniversalTransformer, path: Any) -> Path:
    """The path of the file now holding the network."""
    header: dict[str, Any] = {"version": VERSION, "layout": asdict(network.layout), "activation": network.activation}
    if network.origin is not None:
        header["origin"] = {"options": network.origin.options, "digest": network.origin.digest}
    return write_tensors(path, KIND, header, network.arrays())


def load(path: Any) -> UniversalTransformer:
    """The network in a file; refuses one whose arrays do not fit together."""
    header, arrays = read_tensors(path, KIND)
    try:
        if header["version"] != VERSION:
            raise ValueError(f"its version is {header['version']}, and this Kleene reads version {VERSION}")
        if header["activation"] not in ("clipped", "relu"):
            raise ValueError(f"its activation is {header['activation']!r}")
        layout = _layout(header["layout"])
        _check_layout(layout)
        _check_shapes(layout, arrays)
        parts = {"expansion": _part(Expansion, arrays), "probe": _part(Probe, arrays)}
        names = [
            f.name for f in fields(UniversalTransformer) if f.name not in ("layout", "activation", "origin", *parts)
        ]
        weights = {n: arrays.get(n) for n in names}
        described = {"layout": layout, "activation": header["activation"], "origin": _origin(header.get("origin"))}
        return UniversalTransformer(**weights, **parts, **described)
    except (KeyError, TypeError, ValueError, AttributeError, IndexError) as error:
        raise ModelFileError(f"{str(path)!r} does not hold a whole network ({error}); compile it again") from None


def _origin(described: Any) -> Origin | None:
    """How the network was compiled; a file of an older Kleene does not say."""
    if described is None:
        return None
    options, digest = dict(described["options"]), described["digest"]
    texts = all(isinstance(text, str) for text in (*options.values(), digest or ""))
    if set(options) != {"dtype", "rules", "activation"} or not texts:
        raise ValueError(f"its origin is {described!r}")
    return Origin(None, options, digest)


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


def _check_layout(layout: Layout) -> None:
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


def _check_shapes(layout: Layout, arrays: dict[str, Any]) -> None:
    """Refuse arrays that do not fit the layout, or one another; where the layout does not say, the first one counts."""
    needed = {name for name in AXES if "." not in name and name not in ("positions", "halt")}
    needed |= {"positions"} if layout.position_range is not None else set()
    needed |= {"halt"} if layout.halts else set()
    if needed - set(arrays):
        raise ValueError(f"{', '.join(sorted(needed - set(arrays)))} is missing")
    more = arrays["expansion.constant"].size if "expansion.constant" in arrays else 0
    sizes = {"symbols": layout.input_range, "positions": layout.position_range, "heads": len(layout.heads)}
    sizes |= {"width": layout.width, "features": layout.width + more}
    for name in (n for n in AXES if n in arrays):
        axes, shape = AXES[name].split(), arrays[name].shape
        expected = [sizes.setdefault(axis, length) for axis, length in zip(axes, shape)]
        if list(shape) != expected or len(shape) != len(axes):
            wanted = " × ".join(f"{sizes.get(axis, '?')} {axis}" for axis in axes)
            raise ValueError(f"{name} has shape {shape}, and {wanted} was expected")
        if name in WEIGHTS and arrays[name].dtype != arrays["tokens"].dtype:
            raise ValueError(f"{name} holds {arrays[name].dtype}, and tokens {arrays['tokens'].dtype}")
    if sizes.get("uses", len(layout.heads)) not in (len(layout.heads), len(layout.heads) + 1):
        raise ValueError(f"probe.guarded speaks of {sizes['uses']} uses, and there are {len(layout.heads)} heads")
    for head, first, last in layout.number_steps:
        if not (0 <= head < len(layout.heads) and 0 <= first <= last <= sizes.get("steps", 0)):
            raise ValueError(f"head {head} has the expansion's units {first}..{last}, which are not there")
