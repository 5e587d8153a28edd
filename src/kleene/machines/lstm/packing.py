"""A language model in a quarter of its size: the weights of an `LSTM` as whole numbers of 8 bits.

A row of a matrix is stored as numbers from -127 to 127 and one scale, which is the row's largest entry by size over
127. Each weight is then off by half a scale at most. Unpacking multiplies once in single precision, so that every
machine reads the same weights. Biases are stored whole, and a decoder that equals the embedding is stored once.
"""

from pathlib import Path
from typing import Any

import numpy as np

from kleene.errors import InputError, ModelFileError
from kleene.machines.language import read_vocabulary, vocabulary_header
from kleene.machines.lstm.lstm import FORMAT, LSTM
from kleene.machines.weights import BROKEN, Axes, arrays_of, check_version
from kleene.tensors import read_tensors, write_tensors

KIND, VERSION = "packed lstm", 1
LARGEST = 127
SCALE, START = ".scale", "start."


def pack(network: LSTM, path: Any) -> Path:
    """Save a language model with weights of 8 bits, and return the path.

    The network must begin in zeros, as one that was taught to predict words does.
    """
    arrays = arrays_of(network)
    if any(array.any() for name, array in arrays.items() if name.startswith(START)) or network.reading is not None:
        raise InputError("only a language model that begins with a state of zeros is packed; use `save` for others")
    if np.array_equal(arrays["embedding"], arrays["decoder"]):
        del arrays["decoder"]
    stored: dict[str, np.ndarray] = {}
    for name, array in arrays.items():
        if name.startswith(START):
            continue
        stored |= {name: array.astype(np.float32)} if array.ndim == 1 else _packed(name, array)
    return write_tensors(path, KIND, {"version": VERSION} | vocabulary_header(network.vocabulary), stored)


def unpack(path: Any) -> LSTM:
    """The network in a file that `pack` wrote, in single precision."""
    header, arrays = read_tensors(path, KIND)
    try:
        check_version(header, VERSION)
        scales = {name: arrays.pop(name) for name in list(arrays) if name.endswith(SCALE)}
        whole = {name: _unpacked(array, scales.get(name + SCALE)) for name, array in arrays.items()}
        whole.setdefault("decoder", whole["embedding"])
        layers = len({name.split(".")[1] for name in whole if name.startswith("layers.")})
        still = np.zeros((layers, whole["decoder"].shape[1]), np.float32)
        axes = Axes(FORMAT, {})
        weights = axes.bind(LSTM, whole | {f"{START}hidden": still, f"{START}cell": still.copy()})
        return LSTM(**weights, vocabulary=read_vocabulary(header, axes["symbols"]))
    except BROKEN as error:
        raise ModelFileError(f"{str(path)!r} does not hold a whole packed LSTM ({error}); make it again") from None


def _packed(name: str, array: np.ndarray) -> dict[str, np.ndarray]:
    plain = np.asarray(array, np.float32)
    if not np.isfinite(plain).all():
        raise InputError(f"{name} has entries that are not finite, and cannot be packed")
    scale = np.abs(plain).max(axis=1) / np.float32(LARGEST)
    steps = np.divide(plain, scale[:, None], out=np.zeros_like(plain), where=scale[:, None] > 0)
    return {name: np.rint(steps).astype(np.int8), name + SCALE: scale}


def _unpacked(array: np.ndarray, scale: np.ndarray | None) -> np.ndarray:
    if scale is None:
        return array
    if array.dtype != np.int8 or scale.shape != array.shape[:1]:
        raise ValueError(f"a matrix of {array.dtype} and shape {array.shape} has scales of shape {scale.shape}")
    return array.astype(np.float32) * scale[:, None]
