"""Saved machines as plain data: what the header says, and every array. Files are read here without Kleene."""

import json
from pathlib import Path
from typing import Any

import numpy as np

from tests.snapshots.normalising import normalised
from tests.snapshots.packing import packed

DTYPES = {"F64": "<f8", "F32": "<f4", "I64": "<i8", "I32": "<i4", "I8": "i1", "U8": "u1", "BOOL": "?"}


def described(path: Path) -> dict[str, Any]:
    """The header of a .safetensors file and its arrays, by name."""
    content = path.read_bytes()
    end = 8 + int.from_bytes(content[:8], "little")
    listed = json.loads(content[8:end])
    metadata = listed.pop("__metadata__")
    header = {key: json.loads(value) for key, value in metadata.items()}
    arrays = {name: {"dtype": facts["dtype"]} | packed(_array(facts, content[end:])) for name, facts in listed.items()}
    return {"header": normalised(header), "arrays": arrays}


def _array(facts: dict[str, Any], data: bytes) -> np.ndarray:
    start, end = facts["data_offsets"]
    raw = data[start:end]
    if facts["dtype"] == "BF16":  # the upper half of a float32
        array = (np.frombuffer(raw, "<u2").astype(np.uint32) << 16).view(np.float32)
    else:
        array = np.frombuffer(raw, DTYPES[facts["dtype"]])
    return array.reshape(facts["shape"])
