"""Arrays and a JSON header in one safetensors file. Opening one never runs code."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from kleene.errors import ModelFileError
from kleene.files import SEAL, check_seal, read_bytes, sealed, warn_unsealed, write_atomically

FLOATS = {"F64": "float64", "F32": "float32", "F16": "float16", "BF16": "bfloat16"}
PICKLED = (
    "it looks like one of torch.save or pickle, which may run code when it is opened, and so never is. Write the "
    "weights with safetensors.torch.save_file, and read them with kleene.LSTM.from_torch"
)
PYTORCH_LSTM = (
    "it has the weights of a PyTorch LSTM, without its words. Turn it into a model of Kleene with "
    "kleene.LSTM.from_torch({file}, vocabulary=WORDS).save(FILE)"
)
NAMES = FLOATS | {"I64": "int64", "I32": "int32", "I8": "int8", "U8": "uint8"}


def write_tensors(path: Any, kind: str, header: dict[str, Any], arrays: dict[str, np.ndarray]) -> Path:
    """Save the arrays with a header and a checksum, and return the path; `kind` says what they are."""
    from safetensors.numpy import save

    dense = {name: np.asarray(array, order="C") for name, array in arrays.items()}
    described = json.dumps({"checksum": SEAL, "kind": kind} | header)
    return write_atomically(path, sealed(save(dense, {"kleene": described})))


@dataclass(frozen=True)
class Opened:
    """A file that was read and whose checksum was verified; `path` names it in errors."""

    path: Path
    content: bytes
    header: dict[str, Any]

    def __str__(self) -> str:
        return str(self.path)

    @property
    def kind(self) -> str:
        return str(self.header.get("kind"))


def open_tensors(path: Any) -> Opened:
    """Open a file that `write_tensors` wrote. It is read once, so a pipe works; a damaged file is refused."""
    path = Path(path)
    content = read_bytes(path)
    has_seal = check_seal(path, content)
    header = _read_header(path, content)
    if not has_seal:
        warn_unsealed(path)
    return Opened(path, content, {key: value for key, value in header.items() if key != "checksum"})


def read_tensors(source: Any, kind: str) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    """The header and the arrays of a file that `write_tensors` wrote, given as a path or already opened."""
    opened = source if isinstance(source, Opened) else open_tensors(source)
    if opened.header.get("kind") != kind:
        raise ModelFileError(f"{str(opened)!r} holds a {opened.header.get('kind')}, and a {kind} was expected")
    return dict(opened.header), _arrays(opened.path, opened.content)


def read_arrays(path: Any) -> dict[str, np.ndarray]:
    """The arrays of a safetensors file, whoever wrote it."""
    path = Path(path)
    return _arrays(path, read_bytes(path))


def write_arrays(path: Any, arrays: dict[str, np.ndarray]) -> Path:
    """Save the arrays without a header, for other programs, and return the path."""
    from safetensors.numpy import save

    return write_atomically(path, save({name: np.asarray(array, order="C") for name, array in arrays.items()}))


def _read_header(path: Path, content: bytes) -> dict[str, Any]:
    try:
        described = _described(content)
    except (ValueError, RecursionError) as error:
        pickled = content.startswith((b"PK", b"\x80"))
        why = f": {PICKLED}" if pickled else f", or it is damaged ({error}); make it again"
        raise ModelFileError(f"{str(path)!r} is not a file that Kleene wrote{why}") from None
    try:
        header = json.loads(described["__metadata__"]["kleene"])
        if isinstance(header, dict):
            return header
    except (ValueError, KeyError, TypeError, RecursionError):
        pass
    why = PYTORCH_LSTM.format(file=repr(str(path))) if _is_pytorch_lstm(described) else "it has another header"
    raise ModelFileError(f"{str(path)!r} is not a file that Kleene wrote: {why}")


def _described(content: bytes) -> dict[str, Any]:
    """The JSON header of a safetensors file: its arrays by name, and its metadata."""
    length = int.from_bytes(content[:8], "little")
    if len(content) < 8 or len(content) < 8 + length:
        raise ValueError("it is cut short")
    described = json.loads(content[8 : 8 + length])
    if not isinstance(described, dict):
        raise ValueError("its header is not an object")
    return described


def _is_pytorch_lstm(described: dict[str, Any]) -> bool:
    """Whether there are weights of four gates under PyTorch's names: a GRU has three gates, a simple RNN one."""
    recurrent = [array for name, array in described.items() if name.endswith("weight_hh_l0")]
    shapes = [array.get("shape") for array in recurrent if isinstance(array, dict)]
    return any(isinstance(shape, list) and len(shape) == 2 and shape[0] == 4 * shape[1] for shape in shapes)


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
