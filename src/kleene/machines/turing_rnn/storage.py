"""Networks of Turing machines on disk: the simple RNN, its two layers, and the reading as plain data."""

from dataclasses import fields
from pathlib import Path
from typing import Any

import numpy as np

from kleene.errors import ModelFileError
from kleene.machines.rnn.storage import pack_matrix, packed, unpack_matrix, unpacked
from kleene.machines.turing_rnn.reading import TapeReading
from kleene.machines.turing_rnn.turing_rnn import TuringRNN
from kleene.machines.weights import BROKEN, check_version
from kleene.notation.exact import ExactMatrix
from kleene.tensors import read_tensors, write_tensors

KIND = "turing rnn"
VERSION = 1
ROLES = ("state_of", "scanned_of", "left_of", "right_of")


def save(network: TuringRNN, path: Any) -> Path:
    """Save the network and return the path."""
    rnn, arrays = packed(network.rnn)
    header: dict[str, Any] = {"version": VERSION, "rnn": rnn, "layers": {}, "reading": {}}
    for name in ("inner", "outer"):
        matrix: ExactMatrix = getattr(network, name)
        header["layers"][name] = {"shape": list(matrix.shape), "denominator": format(matrix.denominator, "x")}
        arrays |= {f"{name}.{part}": array for part, array in pack_matrix(matrix).items()}
    for field in fields(TapeReading):
        value = getattr(network.reading, field.name)
        if field.name in ROLES:
            arrays[f"reading.{field.name}"] = np.array(value, dtype=np.int64)
        else:
            header["reading"][field.name] = list(value) if isinstance(value, tuple) else value
    return write_tensors(path, KIND, header, arrays)


def load(path: Any) -> TuringRNN:
    """The network in a file; refuses one whose parts do not fit together."""
    header, arrays = read_tensors(path, KIND)
    try:
        check_version(header, VERSION)
        layers = {name: _layer(name, header, arrays) for name in ("inner", "outer")}
        network = TuringRNN(unpacked(header["rnn"], arrays), **layers, reading=_reading(header["reading"], arrays))
        _check(network)
        return network
    except BROKEN as error:
        raise ModelFileError(f"{str(path)!r} does not hold a whole network ({error}); compile it again") from None


def _layer(name: str, header: dict[str, Any], arrays: dict[str, np.ndarray]) -> ExactMatrix:
    parts = {key.removeprefix(f"{name}."): array for key, array in arrays.items() if key.startswith(f"{name}.")}
    described = header["layers"][name]
    return unpack_matrix(described["shape"], described["denominator"], parts)


def _reading(described: dict[str, Any], arrays: dict[str, np.ndarray]) -> TapeReading:
    roles: dict[str, Any] = {name: tuple(arrays[f"reading.{name}"].tolist()) for name in ROLES}
    plain: dict[str, Any] = {
        name: tuple(value) if isinstance(value, list) else value for name, value in described.items()
    }
    return TapeReading(**plain, **roles)


def _check(network: TuringRNN) -> None:
    """Refuse a reading that speaks of what is not there, and layers that are not those of the network."""
    reading, rnn = network.reading, network.rnn
    names = (reading.accept, reading.reject, reading.blank, *reading.states, *reading.symbols)
    if not all(isinstance(name, str) for name in names) or reading.blank not in reading.symbols:
        raise ValueError("its states and symbols are not described")
    if not {reading.accept, reading.reject} <= set(reading.states) or reading.accept == reading.reject:
        raise ValueError("its accept and reject states are not among its states")
    whole = [reading.base, reading.lead, *(() if reading.limit is None else (reading.limit,))]
    if not all(isinstance(value, int) and value > 0 for value in whole) or reading.base < 3:
        raise ValueError("its base, lead or limit is no number")
    highest = {"state_of": reading.setup, "scanned_of": reading.bottom} | dict.fromkeys(ROLES[2:], reading.bottom)
    for name in ROLES:
        codes = getattr(reading, name)
        if len(codes) != network.outer.shape[0] or not all(-1 <= code <= highest[name] for code in codes):
            raise ValueError(f"{name} of its reading does not fit")
    if network.input_alphabet != reading.symbols[: len(network.input_alphabet)]:
        raise ValueError("its input alphabet is not at the beginning of its symbols")
    if rnn.activation != "relu" or rnn.readout.shape[0] != 3 or (reading.limit is None) != rnn.is_exact:
        raise ValueError("its weights are not those of a Turing machine's network")
    if reading.limit is not None and reading.limit * (reading.base.bit_length() - 1) > _bits(rnn.recurrent):
        raise ValueError("its limit is larger than its numbers allow")
    if not _same(rnn.recurrent, network.inner @ network.outer):
        raise ValueError("its layers do not multiply to its recurrent weights")
    if not _same(rnn.readout, _verdicts(reading) @ network.outer):
        raise ValueError("its outputs do not tell whether its machine has halted")


def _verdicts(reading: TapeReading) -> ExactMatrix:
    """How the coordinates give the outputs: has accepted, has rejected, and, less 1, neither of them."""
    entries = {}
    for k in reading.stops:
        row = 0 if reading.halting[reading.state_of[k]] == "accept" else 1
        entries |= {(row, k): 1, (2, k): -1}
    return ExactMatrix.from_entries((3, len(reading.state_of)), entries)


def _same(weight: Any, exact: ExactMatrix) -> bool:
    if isinstance(weight, ExactMatrix):
        return weight == exact
    return bool((weight == exact.to_float(weight.dtype)).all())


def _bits(weight: Any) -> int:
    """How many binary digits the weight's floats have."""
    return int(np.finfo(weight.dtype).nmant) + 1
