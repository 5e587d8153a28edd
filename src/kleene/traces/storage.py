"""Traces on disk: JSON for people and other programs, npz for size. Neither can carry code.

An .npz file has arrays without names and a checksum; it is unpacked only if the sizes in its headers fit.
"""

import io
import json
import math
import zipfile
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from kleene.errors import ModelFileError
from kleene.files import SEAL, check_seal, read_bytes, sealed, sealed_json, warn_unsealed, write_atomically
from kleene.traces.channels import Channel, RecordedRun, nested_tuple

FORMAT = "kleene.trace/1"
MOST_TRACE = 1 << 30  # bytes of a file


def save(trace: RecordedRun, path: Any) -> Path:
    """Save the trace with a checksum and return the path, whose ending chooses between `.json` and `.npz`."""
    path = Path(path)
    if path.suffix in (".json", ".npz"):
        try:
            return write_atomically(path, sealed_json(as_json(trace)) if path.suffix == ".json" else _packed(trace))
        except TypeError as error:
            raise ModelFileError(
                f"the trace cannot be saved, because a file holds numbers, texts and tuples of them: {error}"
            ) from None
    raise ModelFileError(f"a trace is saved as .json or .npz, and {path.name!r} is neither")


def _packed(trace: RecordedRun) -> bytes:
    header = np.frombuffer(json.dumps(_header(trace)).encode(), dtype=np.uint8)
    return pack([header, *(trace.data[c.name].astype(c.dtype) for c in trace.channels)])


def load(path: Any) -> dict[str, Any]:
    """The fields of the trace in a `.json` or `.npz` file; any damage is refused."""
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
    except Exception as error:  # a damaged file can raise anything in zipfile, zlib, numpy or json
        raise ModelFileError(f"{str(path)!r} does not hold a trace that Kleene wrote ({error})") from None
    if not has_seal:
        warn_unsealed(path)
    return trace


def as_json(trace: RecordedRun) -> dict[str, Any]:
    """The trace as plain dicts, lists and numbers; an undefined number is null."""
    data = {}
    for channel in trace.channels:
        array = trace.data[channel.name]
        rows = array.tolist()
        data[channel.name] = _without_nan(rows) if array.dtype.kind == "f" else rows
    return _header(trace) | {"output": _without_nan(trace.output), "steps": trace.steps, "data": data}


def from_json(content: dict[str, Any]) -> dict[str, Any]:
    """The fields of the trace that `as_json` described."""
    channels = {c["name"]: c for c in content["channels"]}
    kinds = {name: _channel(c).dtype for name, c in channels.items()}
    return _build(content, {n: np.array(rows, dtype=kinds[n]) for n, rows in content["data"].items()})


def _without_nan(rows: Any) -> Any:
    if isinstance(rows, list):
        return [_without_nan(row) for row in rows]
    return None if rows != rows else rows


def _header(trace: RecordedRun) -> dict[str, Any]:
    return {
        "format": FORMAT,
        "channels": [asdict(c) for c in trace.channels],
        "output_name": trace.output_name,
        "halted": trace.halted,
        "axes": list(trace.axes),
        "source": trace.source,
        **({"prefix": trace.prefix} if trace.prefix else {}),
    }


def _channel(fields: dict[str, Any]) -> Channel:
    plain: dict[str, Any] = {name: nested_tuple(value) for name, value in fields.items()}
    return Channel(**plain)


def _build(header: dict[str, Any], data: dict[str, np.ndarray]) -> dict[str, Any]:
    if header.get("format") != FORMAT:
        raise ValueError(f"the format is {header.get('format')!r}, expected {FORMAT!r}")
    channels, axes = tuple(_channel(c) for c in header["channels"]), tuple(header["axes"])
    if not all(isinstance(axis, str) for axis in axes):
        raise ValueError(f"its axes are {header['axes']!r}, and names were expected")
    _check(channels, data, axes)
    output = header["output_name"]
    if output is not None and output not in data:
        raise ValueError(f"the output {output!r} is not one of its channels")
    halted, source = header["halted"], header["source"]
    if not isinstance(halted, bool) or not isinstance(source, str):
        raise ValueError(f"it halted {halted!r} and is of {source!r}, and true or false and a name were expected")
    fields = {"channels": channels, "data": data, "output_name": output, "halted": halted}
    return fields | {"axes": axes, "source": source, "prefix": int(header.get("prefix", 0))}


def _check(channels: Sequence[Channel], data: dict[str, np.ndarray], axes: tuple[str, ...]) -> None:
    if not channels:
        raise ValueError("it has no channels")
    missing = [c.name for c in channels if c.name not in data]
    if missing:
        raise ValueError(f"the data of channel {missing[0]!r} is missing")
    shapes = {c.name: data[c.name].shape for c in channels}
    shared = max((shapes[c.name][: len(shapes[c.name]) - len(c.entry_shape)] for c in channels), key=len)
    for channel in channels:
        array, own = data[channel.name], len(shapes[channel.name]) - len(channel.entry_shape)
        if own < 1 or array.shape != shared[:own] + channel.entry_shape or array.dtype != channel.dtype:
            raise ValueError(f"the data of channel {channel.name!r} is {array.dtype} of shape {array.shape}")
    if len(shared) != len(axes) or not shared[0]:
        raise ValueError(f"its data has the shape {shared}, and its axes are {', '.join(axes)}")


END = 22  # bytes of the record at the end of an archive, whose last two are the length of the comment
MOST_UNPACKED = 1 << 30  # bytes of all arrays together


def pack(arrays: Sequence[np.ndarray]) -> bytes:
    """The arrays as an .npz file, which `numpy.load` reads as well; the checksum is the archive's comment.

    They are numbered, not named, because a channel may have a name such as "file", which numpy or zip cannot take. The
    same arrays give the same file, because it holds no times.
    """
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        for number, array in enumerate(arrays):
            part = io.BytesIO()
            np.lib.format.write_array(part, array, allow_pickle=False)
            archive.writestr(zipfile.ZipInfo(f"arr_{number}.npy"), part.getbuffer(), zipfile.ZIP_DEFLATED)
        archive.comment = SEAL.encode()
    return sealed(stream.getvalue())


def unpack(content: bytes, most: int = MOST_UNPACKED) -> list[np.ndarray]:
    """The arrays of an .npz file, by number; a ValueError where they would take more than `most` bytes.

    The sizes in the archive's directory and in each array's header are checked before anything is unpacked.

    >>> [array.tolist() for array in unpack(pack([np.arange(3), np.ones(1)]))]
    [[0, 1, 2], [1.0]]
    """
    _check_end(content)
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        parts = archive.infolist()
        size = sum(part.file_size for part in parts)
        if size > most:
            raise ValueError(f"it unpacks to {size:,} bytes, and at most {most:,} are read")
        by_name = {part.filename: part for part in parts}
        return list(_arrays(archive, by_name, len(parts)))


def _check_end(content: bytes) -> None:
    """Refuse an archive whose comment, the checksum, is shorter than it says, because zipfile accepts that."""
    end = content.rfind(b"PK\5\6")
    if end < 0 or end + END + int.from_bytes(content[end + END - 2 : end + END], "little") != len(content):
        raise ValueError("it is no .npz file, or cut short")


def _arrays(archive: zipfile.ZipFile, parts: dict[str, zipfile.ZipInfo], count: int) -> Iterator[np.ndarray]:
    for number in range(count):
        part = parts[f"arr_{number}.npy"]
        with archive.open(part) as stream:
            _check_header(stream, part)
        # The archive yields no more bytes than its directory says.
        yield np.lib.format.read_array(io.BytesIO(archive.read(part)), allow_pickle=False)


def _check_header(stream, part: zipfile.ZipInfo) -> None:
    """Refuse an array whose header and directory differ in size, because numpy allocates before it reads."""
    version = np.lib.format.read_magic(stream)
    if version not in ((1, 0), (2, 0)):
        raise ValueError(f"{part.filename} is of version {version}, and 1.0 or 2.0 was expected")
    read = np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
    shape, _, dtype = read(stream)
    if dtype.hasobject:
        raise ValueError(f"{part.filename} holds Python objects, which may run code and so are never read")
    size = math.prod(shape) * dtype.itemsize
    if size != part.file_size - stream.tell():
        raise ValueError(f"{part.filename} says that it has {size:,} bytes, which it does not")
