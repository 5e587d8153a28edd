"""Transformer language models on disk."""

from dataclasses import fields
from pathlib import Path
from typing import Any

import numpy as np

from kleene.errors import InputError, ModelFileError
from kleene.machines.stored_weights import check_shapes, check_version, float_weights, sizes
from kleene.machines.transformer_lm.transformer_lm import Block, TransformerLM
from kleene.tensors import read_tensors, write_tensors

KIND = "transformer language model"
VERSION = 1
WEIGHTS = ("embedding", "positions", "gain", "decoder", "decoder_bias")
PARTS = tuple(field.name for field in fields(Block))


def save(network: TransformerLM, path: Any) -> Path:
    """The path of the file now holding the network."""
    if not all(type(token) in (str, int) for token in network.vocabulary):
        raise InputError("only a vocabulary of strings and whole numbers can be saved")
    if network.gain.ndim != 1:
        raise InputError(
            f"gain has shape {network.gain.shape}: these are several networks in one; save them one by one"
        )
    header = {"version": VERSION, "vocabulary": list(network.vocabulary), "layers": len(network.layers)}
    weights = {name: getattr(network, name) for name in WEIGHTS}
    for number, block in enumerate(network.layers):
        weights |= {f"layers.{number}.{part}": getattr(block, part) for part in PARTS}
    return write_tensors(path, KIND, header, {name: np.asarray(array) for name, array in weights.items()})


def load(path: Any) -> TransformerLM:
    """The network in a file; refuses one whose arrays do not fit together."""
    header, arrays = read_tensors(path, KIND)
    try:
        check_version(header, VERSION)
        return _network(header, float_weights(arrays))
    except (KeyError, TypeError, ValueError, AttributeError, IndexError) as error:
        raise ModelFileError(
            f"{str(path)!r} does not hold a whole Transformer language model ({error}); make it again"
        ) from None


def _network(header: dict[str, Any], arrays: dict[str, Any]) -> TransformerLM:
    tokens, (layers,) = header["vocabulary"], sizes(header, "layers")
    if not isinstance(tokens, list) or not tokens or not all(type(token) in (str, int) for token in tokens):
        raise ValueError("its vocabulary is not a list of tokens")
    if len(set(tokens)) != len(tokens):
        raise ValueError("its vocabulary has a token twice")
    if len(arrays) != len(WEIGHTS) + layers * len(PARTS):  # before anything is made for so many layers
        raise ValueError(f"it has {len(arrays)} arrays, which is not what {layers} layers have")
    (positions, width), (outputs, _) = arrays["positions"].shape, arrays["decoder"].shape
    shapes = ((len(tokens), width), (positions, width), (width,), (outputs, width), (outputs,))
    expected: dict[str, tuple[int, ...]] = dict(zip(WEIGHTS, shapes))
    for number in range(layers):
        expected |= _block_shapes(f"layers.{number}.", arrays, width)
    check_shapes(arrays, expected)
    blocks = tuple(Block(*(arrays[f"layers.{number}.{part}"] for part in PARTS)) for number in range(layers))
    return TransformerLM(layers=blocks, vocabulary=tuple(tokens), **{name: arrays[name] for name in WEIGHTS})


def _block_shapes(prefix: str, arrays: dict[str, Any], width: int) -> dict[str, tuple[int, ...]]:
    """The shapes of one layer's weights; how many heads and units it has, two of them say."""
    heads, _, key = arrays[f"{prefix}query"].shape
    units, _ = arrays[f"{prefix}mlp_in"].shape
    shapes = {"attention_gain": (width,), "out": (heads, key, width), "mlp_gain": (width,), "mlp_in": (units, width)}
    shapes |= dict.fromkeys(("query", "key", "value"), (heads, width, key))
    shapes |= {"mlp_bias": (units,), "mlp_out": (width, units), "out_bias": (width,)}
    return {prefix + name: shape for name, shape in shapes.items()}
