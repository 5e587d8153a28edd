"""Files of simple recurrent networks. Exact weights are stored as integers and denominators, never rounded."""

from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np

from kleene.errors import ModelFileError
from kleene.limits import read_fraction
from kleene.machines.rnn.execution import StateReading
from kleene.machines.weights import BROKEN, check_version
from kleene.notation.exact import ExactMatrix
from kleene.tensors import read_tensors, write_tensors

KIND = "simple rnn"
VERSION = 1
NAMES = ("recurrent", "inputs", "bias", "start", "readout", "readout_bias")
MOST_UNITS = 10_000_000  # rows or columns of a matrix: a small file can claim any number of them


def save(network: Any, path: Any) -> Path:
    """Save the network and return the path."""
    header, arrays = packed(network)
    return write_tensors(path, KIND, header | {"version": VERSION}, arrays)


def load(cls: type, path: Any) -> Any:
    """The network of the class in a file; refuses one whose weights do not fit together."""
    header, arrays = read_tensors(path, KIND)
    try:
        check_version(header, VERSION)
        return cls(**unpacked(header, arrays))
    except BROKEN as error:
        raise ModelFileError(f"{str(path)!r} does not hold a whole network ({error}); make it again") from None


def packed(network: Any) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    """The network as a JSON header and arrays; files of machines that contain it use them too."""
    exact = isinstance(network.threshold, Fraction | int)
    header: dict[str, Any] = {
        "exact": network.is_exact,
        "activation": network.activation,
        "alphabet": list(network.alphabet),
        "threshold": str(network.threshold) if exact else float(network.threshold),
        "summary": network.summary,
        "shapes": {},
        "denominators": {},
    }
    arrays: dict[str, np.ndarray] = {}
    if network.reading is not None:
        header["reading"] = {"states": list(network.reading.states), "dead": network.reading.dead}
        arrays["reading.units"] = np.array(network.reading.units, dtype=np.int64)
    for name, weight in network.weights().items():
        if isinstance(weight, ExactMatrix):
            header["shapes"][name] = list(weight.shape)
            header["denominators"][name] = format(weight.denominator, "x")
            arrays |= {f"{name}.{part}": array for part, array in pack_matrix(weight).items()}
        else:
            arrays[name] = np.asarray(weight)
    return header, arrays


def unpacked(header: dict[str, Any], arrays: dict[str, np.ndarray]) -> dict[str, Any]:
    """The fields of the network that `packed` took apart; raises one of `BROKEN` where they do not fit together."""
    weights = {name: _weight(name, header, arrays) for name in NAMES}
    if not header["exact"] and len({weight.dtype for weight in weights.values()}) > 1:
        raise ValueError("its weights are of several number types")
    for key, kind in (("activation", str), ("alphabet", list), ("summary", str), ("threshold", str | float)):
        if not isinstance(header[key], kind):
            raise ValueError(f"its {key} is {header[key]!r}")
    threshold, alphabet = header["threshold"], header["alphabet"]
    if header["activation"] not in ("relu", "slu", "tanh"):
        raise ValueError(f"its activation is {header['activation']!r}")
    if not all(isinstance(symbol, str) for symbol in alphabet):
        raise ValueError(f"its alphabet is {alphabet}")
    described = {
        "activation": header["activation"],
        "alphabet": tuple(alphabet),
        "threshold": read_fraction(threshold) if isinstance(threshold, str) else threshold,
        "reading": _reading(header.get("reading"), arrays),
        "summary": header["summary"],
    }
    return weights | described


def pack_matrix(matrix: ExactMatrix) -> dict[str, np.ndarray]:
    """The parts of a matrix as arrays; numerators past int64 are stored as hexadecimal digits."""
    parts = {"rows": matrix.rows.astype(np.int64), "columns": matrix.columns.astype(np.int64)}
    if matrix.small_numerators is not None:
        return parts | {"numerators": matrix.small_numerators}
    digits = " ".join(format(n, "x") for n in matrix.numerators)
    return parts | {"digits": np.frombuffer(digits.encode(), dtype=np.uint8)}


def unpack_matrix(shape: Any, denominator: str, parts: dict[str, np.ndarray]) -> ExactMatrix:
    """The matrix that `pack_matrix` took apart."""
    height, width = shape
    if max(height, width) > MOST_UNITS:
        raise ValueError(f"a weight has the shape {height} × {width}, and at most {MOST_UNITS:,} units are read")
    numerators = parts.get("numerators")
    if numerators is None:
        numerators = [int(digits, 16) for digits in parts["digits"].tobytes().decode().split()]
    rows, columns, over = parts["rows"], parts["columns"], int(denominator, 16)
    if not len(rows) == len(columns) == len(numerators) or rows.dtype != np.int64 or columns.dtype != np.int64:
        raise ValueError("the rows, columns and numerators of a weight do not go together")
    if over < 1 or (isinstance(numerators, np.ndarray) and numerators.dtype != np.int64):
        raise ValueError("a weight's numbers are not fractions")
    return ExactMatrix.from_parts((height, width), rows, columns, numerators, over)


def _weight(name: str, header: dict[str, Any], arrays: dict[str, np.ndarray]) -> Any:
    if not header["exact"]:
        return arrays[name]
    parts = {key.removeprefix(f"{name}."): array for key, array in arrays.items() if key.startswith(f"{name}.")}
    return unpack_matrix(header["shapes"][name], header["denominators"][name], parts)


def _reading(described: dict[str, Any] | None, arrays: dict[str, np.ndarray]) -> StateReading | None:
    if described is None:
        return None
    states, dead, units = described["states"], described["dead"], arrays["reading.units"]
    if not all(isinstance(state, str) for state in states) or not isinstance(dead, int | None):
        raise ValueError("its states are not described")
    return StateReading(tuple(states), tuple(units.tolist()), dead)
