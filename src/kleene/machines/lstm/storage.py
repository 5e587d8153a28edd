"""LSTMs on disk."""

from pathlib import Path
from typing import Any

import numpy as np

from kleene.errors import InputError, ModelFileError
from kleene.machines.lstm.lstm import LSTM, Layer, Memory
from kleene.machines.stored_weights import check_shapes, check_version, float_weights
from kleene.tensors import read_tensors, write_tensors

KIND = "lstm"
VERSION = 1
PARTS = ("inputs", "recurrent", "bias")


def save(network: LSTM, path: Any) -> Path:
    """The path of the file now holding the network."""
    if not all(type(token) in (str, int) for token in network.vocabulary):
        raise InputError("only a vocabulary of strings and whole numbers can be saved")
    header = {"version": VERSION, "vocabulary": list(network.vocabulary), "threshold": float(network.threshold)}
    return write_tensors(path, KIND, header, {name: np.asarray(array) for name, array in _weights(network).items()})


def load(path: Any) -> LSTM:
    """The network in a file; refuses one whose arrays do not fit together."""
    header, arrays = read_tensors(path, KIND)
    try:
        check_version(header, VERSION)
        return _network(header, float_weights(arrays))
    except (KeyError, TypeError, ValueError, AttributeError, IndexError) as error:
        raise ModelFileError(f"{str(path)!r} does not hold a whole LSTM ({error}); make it again") from None


def _weights(network: LSTM) -> dict[str, Any]:
    layers = {f"layers.{k}.{part}": getattr(layer, part) for k, layer in enumerate(network.layers) for part in PARTS}
    names = ("embedding", "decoder", "decoder_bias")
    start = {"start.hidden": network.start.hidden, "start.cell": network.start.cell}
    return {name: getattr(network, name) for name in names} | start | layers


def _network(header: dict[str, Any], arrays: dict[str, Any]) -> LSTM:
    tokens = header["vocabulary"]
    if not isinstance(tokens, list) or not tokens or not all(type(token) in (str, int) for token in tokens):
        raise ValueError("its vocabulary is not a list of tokens")
    if len(set(tokens)) != len(tokens) or not isinstance(header["threshold"], float):
        raise ValueError("its vocabulary has a token twice, or its threshold is not a number")
    (depth, hidden), (outputs, _) = arrays["start.hidden"].shape, arrays["decoder"].shape
    width = arrays["embedding"].shape[1]
    expected = {"embedding": (len(tokens), width), "decoder": (outputs, hidden), "decoder_bias": (outputs,)}
    expected |= {"start.hidden": (depth, hidden), "start.cell": (depth, hidden)}
    for k in range(depth):
        expected[f"layers.{k}.inputs"] = (4 * hidden, hidden if k else width)
        expected |= {f"layers.{k}.recurrent": (4 * hidden, hidden), f"layers.{k}.bias": (4 * hidden,)}
    if depth < 1:
        raise ValueError("it has no layer")
    check_shapes(arrays, expected)
    return LSTM(
        embedding=arrays["embedding"],
        layers=tuple(Layer(*(arrays[f"layers.{k}.{part}"] for part in PARTS)) for k in range(depth)),
        start=Memory(arrays["start.hidden"], arrays["start.cell"]),
        decoder=arrays["decoder"],
        decoder_bias=arrays["decoder_bias"],
        vocabulary=tuple(tokens),
        threshold=header["threshold"],
    )
