"""Arrays and a JSON header in one safetensors file. Opening one never runs code."""

import json
from pathlib import Path
from typing import Any

import numpy as np

from kleene.errors import ModelFileError
from kleene.files import read_bytes, write_atomically

FLOATS = {"F64": "float64", "F32": "float32", "F16": "float16", "BF16": "bfloat16"}
NAMES = FLOATS | {"I64": "int64", "I32": "int32", "U8": "uint8"}


def write_tensors(path: Any, kind: str, header: dict[str, Any], arrays: dict[str, np.ndarray]) -> Path:
    """The path of the file now holding the arrays; `kind` says what they are."""
    from safetensors.numpy import save

    dense = {name: np.asarray(array, order="C") for name, array in arrays.items()}
    return write_atomically(path, save(dense, {"kleene": json.dumps({"kind": kind} | header)}))


def kind_of(path: Any) -> str:
    """What a file that `write_tensors` wrote holds."""
    return str(_read_header(Path(path), read_bytes(Path(path))).get("kind"))


def read_tensors(path: Any, kind: str) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    """The header and the arrays of a file that `write_tensors` wrote."""
    path = Path(path)
    content = read_bytes(path)
    header = _read_header(path, content)
    if header.get("kind") != kind:
        raise ModelFileError(f"{str(path)!r} holds a {header.get('kind')}, and a {kind} was expected")
    return header, _arrays(path, content)


def read_arrays(path: Any) -> dict[str, np.ndarray]:
    """The arrays of a safetensors file, whoever wrote it."""
    path = Path(path)
    return _arrays(path, read_bytes(path))


def write_arrays(path: Any, arrays: dict[str, np.ndarray]) -> Path:
    """The path of a safetensors file with arrays and no header, for other programs."""
    from safetensors.numpy import save

    return write_atomically(path, save({name: np.asarray(array, order="C") for name, array in arrays.items()}))


def _read_header(path: Path, content: bytes) -> dict[str, Any]:
    try:
        return _header(content)
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise ModelFileError(
            f"{str(path)!r} is not a file that Kleene wrote, or it is damaged ({error}); make it again"
        ) from None


def _header(content: bytes) -> dict[str, Any]:
    length = int.from_bytes(content[:8], "little")
    if len(content) < 8 or len(content) < 8 + length:
        raise ValueError("it is cut short")
    header = json.loads(json.loads(content[8 : 8 + length])["__metadata__"]["kleene"])
    if not isinstance(header, dict):
        raise ValueError("its header is not an object")
    return header


def _arrays(path: Path, content: bytes) -> dict[str, np.ndarray]:
    from safetensors import SafetensorError, deserialize

    try:
        return {name: _array(described) for name, described in deserialize(content)}
    except (SafetensorError, ValueError, KeyError, TypeError) as error:
        raise ModelFileError(f"{str(path)!r} is damaged or cut short ({error}); make it again") from None


def _array(described: dict[str, Any]) -> np.ndarray:
    name = NAMES[described["dtype"]]
    if name == "bfloat16":
        import ml_dtypes

        dtype = np.dtype(ml_dtypes.bfloat16)
    else:
        dtype = np.dtype(name)
    return np.frombuffer(bytearray(described["data"]), dtype=dtype).reshape(described["shape"])
