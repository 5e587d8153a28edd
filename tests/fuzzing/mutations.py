"""Ways to spoil a file: bytes anywhere, numbers and names in a text, and what a header says of its arrays."""

import contextlib
import io
import json
import re
import zipfile
from collections.abc import Callable
from random import Random
from typing import Any

import numpy as np
from safetensors.numpy import load, save

from kleene.sweeping.store import line_of, row_of
from tests.sealing import resealed, without_seal

NUMBERS = ("-1", "0", "1e999999999", "1e-999999999", "9" * 20, "9" * 5000, "NaN", "-Infinity", str(2**63), "1.5", "٣")
TEXTS = ("", " ", "\0", "x" * 10_000, "\ud800", "1e999999999", "../../evil", "<eos>", "é", "a\nb", "%s{}", "[" * 50_000)
VALUES: tuple[Any, ...] = (None, True, -1, 0, 10**9, 10**20, 2**63, 1e308, float("nan"), [], {}, [[]], {"a": 1}, *TEXTS)


def mutated(random: Random, name: str, content: bytes, other: bytes) -> bytes:
    """The file spoiled in one way or in several, with a checksum that fits, the old one, or none."""
    ending = name[name.rindex(".") :]
    ways = [*BYTES, *STRUCTURED.get(ending, TEXT) * (4 if ending in STRUCTURED else 2)]
    for _ in range(random.choice((1, 1, 1, 2, 3))):
        way = random.choice(ways)
        with contextlib.suppress(Exception):  # what was spoiled before may not be spoiled in this way
            content = way(random, content, other)
    return random.choice((resealed, resealed, resealed, without_seal, bytes))(content)


def flip(random: Random, content: bytes, other: bytes) -> bytes:
    spoiled = bytearray(content)
    for _ in range(random.randint(1, 8)):
        spoiled[random.randrange(len(spoiled))] ^= 1 << random.randrange(8)
    return bytes(spoiled)


def cut(random: Random, content: bytes, other: bytes) -> bytes:
    return content[: random.randrange(len(content))]


def remove(random: Random, content: bytes, other: bytes) -> bytes:
    start = random.randrange(len(content))
    return content[:start] + content[start + random.randint(1, 100) :]


def repeat(random: Random, content: bytes, other: bytes) -> bytes:
    start = random.randrange(len(content))
    part = content[start : start + random.randint(1, 100)]
    return content[:start] + part * random.choice((2, 50)) + content[start:]


def splice(random: Random, content: bytes, other: bytes) -> bytes:
    return content[: random.randrange(len(content))] + other[random.randrange(len(other)) :]


def insert(random: Random, content: bytes, other: bytes) -> bytes:
    start = random.randrange(len(content))
    return content[:start] + random.randbytes(random.randint(1, 30)) + content[start:]


def giant_number(random: Random, content: bytes, other: bytes) -> bytes:
    return _replaced(random, rb"-?[0-9][0-9.eE+-]*", random.choice(NUMBERS), content)


def odd_word(random: Random, content: bytes, other: bytes) -> bytes:
    return _replaced(random, rb"[A-Za-z_]+", random.choice(TEXTS), content)


def odd_sign(random: Random, content: bytes, other: bytes) -> bytes:
    sign = random.choice(("[", "{", "}", "]", '"', "\\", "->", ":", ",", "=", "//", "\t", "\r", "\x85", "﻿", "(" * 5000))
    return _replaced(random, rb"[^A-Za-z0-9 ]+", sign, content)


def nest(random: Random, content: bytes, other: bytes) -> bytes:
    opening, closing = random.choice((("[", "]"), ("{", "}"), ('{"a":', "}"), ("(", ")"), ("subgraph {", "}")))
    depth = random.choice((3, 900, 100_000))
    return (opening * depth).encode() + content + (closing * depth).encode()


def swap_lines(random: Random, content: bytes, other: bytes) -> bytes:
    lines = content.splitlines(keepends=True)
    random.shuffle(lines)
    return b"".join(lines)


def _replaced(random: Random, pattern: bytes, new: str, content: bytes) -> bytes:
    found = random.choice(list(re.finditer(pattern, content)))
    return content[: found.start()] + new.encode(errors="surrogatepass") + content[found.end() :]


def drop_line(random: Random, content: bytes, other: bytes) -> bytes:
    lines = content.splitlines(keepends=True)
    del lines[random.randrange(len(lines))]
    return b"".join(lines)


def repeat_line(random: Random, content: bytes, other: bytes) -> bytes:
    lines = content.splitlines(keepends=True)
    lines.insert(random.randrange(len(lines)), random.choice(lines))
    return b"".join(lines)


def other_word(random: Random, content: bytes, other: bytes) -> bytes:
    """A word or number in the place of another: the text may still be one that can be read."""
    words = re.findall(rb"[A-Za-z0-9_]+", content)
    return _replaced(random, rb"[A-Za-z0-9_]+", random.choice(words).decode(), content)


Way = Callable[[Random, bytes, bytes], bytes]
BYTES: list[Way] = [flip, cut, remove, repeat, splice, insert]
TEXT: list[Way] = [giant_number, odd_word, odd_sign, nest, swap_lines, drop_line, repeat_line, *[other_word] * 3]


def json_value(random: Random, content: bytes, other: bytes) -> bytes:
    """Another value, one more or one less, anywhere in the object."""
    return json.dumps(_spoiled(random, json.loads(content))).encode()


def key_twice(random: Random, content: bytes, other: bytes) -> bytes:
    """A key that comes twice in an object, with another value."""
    found = random.choice(list(re.finditer(rb'"[^"]*":', content)))
    value = json.dumps(random.choice(VALUES)).encode()
    return content[: found.start()] + found[0] + value + b"," + content[found.start() :]


def _spoiled(random: Random, value: Any) -> Any:
    deeper = isinstance(value, dict | list) and len(value) > 0 and random.random() < 0.8
    if not deeper:
        return random.choice(VALUES)
    places = list(value) if isinstance(value, dict) else list(range(len(value)))
    place, what = random.choice(places), random.random()
    if what < 0.1:
        del value[place]
    elif what < 0.2 and isinstance(value, list):
        value.append(value[place])
    elif what < 0.2 and isinstance(value, dict):
        value[random.choice(("more", "kind", "a", ""))] = value[place]
    else:
        value[place] = _spoiled(random, value[place])
    return value


def row_value(random: Random, content: bytes, other: bytes) -> bytes:
    """Another value in a row of a sweep, with a checksum that fits."""
    lines = content.splitlines(keepends=True)
    place = random.randrange(len(lines))
    row = _spoiled(random, row_of(lines[place]))
    lines[place] = line_of(row if isinstance(row, dict) else {"cell": row})
    return b"".join(lines)


def _parts(content: bytes) -> tuple[dict[str, Any], bytes]:
    length = int.from_bytes(content[:8], "little")
    return json.loads(content[8 : 8 + length]), content[8 + length :]


def _packed(header: dict[str, Any], data: bytes) -> bytes:
    text = json.dumps(header).encode()
    return len(text).to_bytes(8, "little") + text + data


def header_value(random: Random, content: bytes, other: bytes) -> bytes:
    """Another value in Kleene's own header."""
    header, data = _parts(content)
    own = json.loads(header["__metadata__"]["kleene"])
    kept = own.pop("checksum", None)
    own = _spoiled(random, own)
    if isinstance(own, dict):
        own = {"checksum": kept} | own if kept else own
    header["__metadata__"]["kleene"] = json.dumps(own)
    return _packed(header, data)


def header_array(random: Random, content: bytes, other: bytes) -> bytes:
    """Another shape, type or place of an array, as the format describes it."""
    header, data = _parts(content)
    name = random.choice([key for key in header if key != "__metadata__"])
    header[name] = _spoiled(random, header[name])
    return _packed(header, data)


def array_values(random: Random, content: bytes, other: bytes) -> bytes:
    """An array of other numbers, of another shape or type, or none; a file that is in order otherwise."""
    header, _ = _parts(content)
    arrays = {name: np.array(array) for name, array in load(content).items()}
    name = random.choice(sorted(arrays))
    arrays |= _other_array(random, name, arrays[name])
    if random.random() < 0.15:
        del arrays[name]
    return save(arrays, header["__metadata__"])


def _other_array(random: Random, name: str, array: np.ndarray) -> dict[str, np.ndarray]:
    what = random.randrange(7)
    if what == 0:
        with np.errstate(invalid="ignore"):
            return {name: array.astype(random.choice(("f4", "f8", "i8", "i4", "u1")))}
    if what == 1:
        return {name: np.concatenate([array, array]) if array.ndim else array[None]}
    if what == 2:
        return {name: array[:0] if array.ndim else array[None][:0]}
    if what == 3:
        return {name: np.ascontiguousarray(array.T)}
    if what == 4:
        return {name + random.choice(("x", ".rows", "2")): array}
    filled = array.copy()
    extremes = (np.nan, np.inf, -np.inf, 1e38, -1.0) if array.dtype.kind == "f" else (-1, 2**31 - 1, -(2**31), 7, 0)
    with np.errstate(all="ignore"):
        value = np.array(random.choice(extremes)).astype(array.dtype)
    if what == 5:
        filled[...] = value
    elif filled.size:
        filled.flat[random.randrange(filled.size)] = value
    return {name: filled}


def archive_part(random: Random, content: bytes, other: bytes) -> bytes:
    """An archive with a part that is spoiled, missing, or unpacks to far more than it says."""
    stream = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(content)) as old, zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as new:
        chosen = random.choice(old.namelist())
        for name in old.namelist():
            data = old.read(name)
            if name == chosen:
                data = random.choice((flip, cut, remove, repeat, giant_number, _zeros))(random, data, other)
            new.writestr(zipfile.ZipInfo(name), data, zipfile.ZIP_DEFLATED)  # without the time
        new.comment = old.comment
    return stream.getvalue()


def _zeros(random: Random, content: bytes, other: bytes) -> bytes:
    return content + bytes(20_000_000)


STRUCTURED: dict[str, list[Way]] = {
    ".safetensors": [header_value, header_value, header_array, array_values, array_values],
    ".json": [json_value, json_value, json_value, key_twice, giant_number, nest],
    ".npz": [archive_part, archive_part],
    ".jsonl": [row_value, row_value],
}
