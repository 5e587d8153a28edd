"""Traces on disk: JSON for people and other programs, npz for size. Neither can carry code."""

import json
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from kleene.checksums import check_seal, sealed_json, warn_unsealed
from kleene.errors import ModelFileError
from kleene.files import read_bytes, write_atomically
from kleene.traces.channels import Channel
from kleene.traces.packing import pack, unpack
from kleene.traces.trace import Trace

FORMAT = "kleene.trace/1"
MOST_TRACE = 1 << 30  # bytes of a file


def save(trace: Trace, path: Any) -> Path:
    """The path of the file now holding the trace and its checksum; its ending chooses between `.json` and `.npz`."""
    path = Path(path)
    if path.suffix == ".json":
        return write_atomically(path, sealed_json(as_json(trace)))
    if path.suffix == ".npz":
        header = np.frombuffer(json.dumps(_header(trace)).encode(), dtype=np.uint8)
        arrays = [header, *(trace.data[c.name].astype(c.dtype) for c in trace.channels)]
        return write_atomically(path, pack(arrays))
    raise ModelFileError(f"a trace is saved as .json or .npz, and {path.name!r} is neither")


def load(path: Any) -> Trace:
    """The trace in a `.json` or `.npz` file; any damage is refused."""
    path = Path(path)
    content = read_bytes(path, MOST_TRACE)
    has_seal = check_seal(path, content)
    try:
        if path.suffix == ".json":
            trace = from_json(json.loads(content))
        else:
            header, *arrays = unpack(content)
            described = json.loads(header.tobytes())
            names = [c["name"] for c in described["channels"]]
            trace = _build(described, dict(zip(names, arrays)))
    except Exception as error:  # a file that is none can raise anything in zipfile, zlib, numpy or json
        raise ModelFileError(f"{str(path)!r} does not hold a trace that Kleene wrote ({error})") from None
    if not has_seal:
        warn_unsealed(path)
    return trace


def as_json(trace: Trace) -> dict[str, Any]:
    """The trace as plain dicts, lists and numbers; an undefined number is null."""
    data = {}
    for channel in trace.channels:
        array = trace.data[channel.name]
        rows = array.tolist()
        data[channel.name] = _without_nan(rows) if array.dtype.kind == "f" else rows
    return _header(trace) | {"output": _without_nan(trace.output), "steps": trace.steps, "data": data}


def from_json(content: dict[str, Any]) -> Trace:
    channels = {c["name"]: c for c in content["channels"]}
    kinds = {name: _channel(c).dtype for name, c in channels.items()}
    return _build(content, {n: np.array(rows, dtype=kinds[n]) for n, rows in content["data"].items()})


def _without_nan(rows: Any) -> Any:
    if isinstance(rows, list):
        return [_without_nan(row) for row in rows]
    return None if rows != rows else rows


def _header(trace: Trace) -> dict[str, Any]:
    return {
        "format": FORMAT,
        "channels": [asdict(c) for c in trace.channels],
        "output_name": trace.output_name,
        "halted": trace.halted,
        "axes": list(trace.axes),
        "source": trace.source,
    }


def _channel(fields: dict[str, Any]) -> Channel:
    plain: dict[str, Any] = {k: tuple(v) if isinstance(v, list) else v for k, v in fields.items()}
    return Channel(**plain)


def _build(header: dict[str, Any], data: dict[str, np.ndarray]) -> Trace:
    if header.get("format") != FORMAT:
        raise ValueError(f"the format is {header.get('format')!r}, expected {FORMAT!r}")
    channels = tuple(_channel(c) for c in header["channels"])
    trace = Trace(channels, data, header["output_name"], header["halted"], tuple(header["axes"]), header["source"])
    _check(trace)
    return trace


def _check(trace: Trace) -> None:
    if not trace.channels:
        raise ValueError("it has no channels")
    missing = [c.name for c in trace.channels if c.name not in trace.data]
    if missing:
        raise ValueError(f"the data of channel {missing[0]!r} is missing")
    shapes = {c.name: trace.data[c.name].shape for c in trace.channels}
    shared = max((shapes[c.name][: len(shapes[c.name]) - len(c.entry_shape)] for c in trace.channels), key=len)
    for channel in trace.channels:
        array, own = trace.data[channel.name], len(shapes[channel.name]) - len(channel.entry_shape)
        if own < 1 or array.shape != shared[:own] + channel.entry_shape or array.dtype != channel.dtype:
            raise ValueError(f"the data of channel {channel.name!r} is {array.dtype} of shape {array.shape}")
    if len(shared) != len(trace.axes) or not shared[0]:
        raise ValueError(f"its data has the shape {shared}, and its axes are {', '.join(trace.axes)}")
    if trace.output_name is not None and trace.output_name not in trace.data:
        raise ValueError(f"the output {trace.output_name!r} is not one of its channels")
