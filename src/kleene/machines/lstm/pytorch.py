"""LSTM language models from and to PyTorch, by the names and shapes of their weights. Nothing is ever unpickled."""

import os
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from kleene.errors import InputError, ModelFileError
from kleene.machines.language import Token
from kleene.tensors import read_arrays, write_arrays

INPUTS = re.compile(r"(.*?)weight_ih_l(\d+)$")
EMBEDDINGS, DECODERS = ("encoder", "emb", "wte"), ("decoder", "out", "head", "linear", "fc", "proj")

Arrays = dict[str, np.ndarray]


class TorchLayer(NamedTuple):
    """The weights of one layer, as the fields of `Layer` have them."""

    inputs: np.ndarray
    recurrent: np.ndarray
    bias: np.ndarray


class TorchWeights(NamedTuple):
    """The weights of an LSTM language model in numpy, and its tokens."""

    embedding: np.ndarray
    layers: tuple[TorchLayer, ...]
    decoder: np.ndarray
    decoder_bias: np.ndarray
    vocabulary: tuple[Token, ...]


def torch_weights(
    source: Any,
    *,
    vocabulary: Sequence[Token] | None = None,
    embedding: str | None = None,
    decoder: str | None = None,
) -> TorchWeights:
    """The weights of a PyTorch language model; see `LSTM.from_torch`.

    The usual names are `encoder.weight`, `rnn.weight_ih_l0`… and `decoder.weight`, as in PyTorch's word_language_model;
    other names and prefixes are found too. PyTorch's two biases are added up. If there is no matrix for the decoder
    and the embedding fits, the two count as tied.
    """
    arrays = _arrays(source)
    layers, own = _layers(arrays)
    (_, width), hidden = layers[0].inputs.shape, layers[0].recurrent.shape[1]
    free = {name: array for name, array in arrays.items() if name not in own and array.ndim == 2}
    encoder = _matrix("embedding", embedding, free, width, EMBEDDINGS)
    others = {name: array for name, array in free.items() if name != encoder}
    tied = decoder is None and width == hidden and not any(a.shape[1] == hidden for a in others.values())
    reader = encoder if tied else _matrix("decoder", decoder, others, hidden, DECODERS)
    bias = _decoder_bias(arrays, reader, tied, len(free[reader]))
    used = {name: arrays[name] for name in (*own, encoder, reader) if name in arrays}
    _check_finite(used | {"the decoder's bias": bias})
    tokens = _tokens(vocabulary, len(free[encoder]), encoder)
    return TorchWeights(free[encoder], layers, free[reader], bias, tokens)


def to_torch(network: Any) -> dict[str, Any]:
    """The weights as tensors; see `LSTM.to_torch`."""
    try:
        import torch  # pyright: ignore[reportMissingImports]
    except ImportError:
        raise InputError(
            "to_torch makes tensors of PyTorch, which is not installed: pip install kleene[torch]. "
            "`kleene.machines.lstm.pytorch.save_state_dict` writes a file that PyTorch reads without it"
        ) from None
    return {name: torch.from_numpy(array.copy()) for name, array in state_dict(network).items()}


def state_dict(network: Any) -> Arrays:
    """The weights in numpy, named as in PyTorch's word_language_model; the second of its two biases is zero."""
    if np.any(np.asarray(network.start.hidden)) or np.any(np.asarray(network.start.cell)):
        raise InputError("this LSTM has a start of its own, and a model of PyTorch begins with zeros")
    found = {"encoder.weight": np.asarray(network.embedding)}
    for number, layer in enumerate(network.layers):
        bias = np.asarray(layer.bias)
        found |= {
            f"rnn.weight_ih_l{number}": np.asarray(layer.inputs),
            f"rnn.weight_hh_l{number}": np.asarray(layer.recurrent),
            f"rnn.bias_ih_l{number}": bias,
            f"rnn.bias_hh_l{number}": np.zeros_like(bias),
        }
    return found | {"decoder.weight": np.asarray(network.decoder), "decoder.bias": np.asarray(network.decoder_bias)}


def save_state_dict(network: Any, path: Any) -> Path:
    """Save the weights as a state dict, which `safetensors.torch.load_file` reads, and return the path."""
    return write_arrays(path, state_dict(network))


def _arrays(source: Any) -> Arrays:
    """The floating-point arrays of a module, a state dict or a file, by name."""
    if isinstance(source, (str, Path)):
        source = _read(Path(source))
    elif callable(getattr(source, "state_dict", None)):
        source = source.state_dict()
    if not isinstance(source, Mapping):
        raise InputError(
            f"a {type(source).__name__} is not a PyTorch model; give a module, its state dict, or a safetensors file"
        )
    return {str(name): _array(str(name), value) for name, value in source.items()}


def _read(path: Path) -> Arrays:
    try:
        return read_arrays(path)
    except ModelFileError:
        if not os.path.isfile(path):
            raise
        raise ModelFileError(
            f"{str(path)!r} is not a whole safetensors file. Only these are read: a file of torch.save may run code "
            f"when it is opened. Write one in PyTorch with safetensors.torch.save_file(model.state_dict(), …)"
        ) from None


def _array(name: str, value: Any) -> np.ndarray:
    """A tensor or array in numpy; all types but float64 become float32."""
    if callable(getattr(value, "detach", None)):
        value = value.detach().cpu()
        value = (value if str(value.dtype) in ("torch.float32", "torch.float64") else value.float()).numpy()
    try:
        array = np.asarray(value)
        return array if array.dtype == np.float64 else array.astype(np.float32)
    except (TypeError, ValueError):
        raise InputError(
            f"{name!r} is a {type(value).__name__}, and a state dict has tensors or arrays; where a checkpoint holds "
            f"more than weights, give the state dict in it"
        ) from None


def _check_finite(arrays: Arrays) -> None:
    for name, array in arrays.items():
        odd = int(np.sum(~np.isfinite(array)))
        if odd:
            raise InputError(f"{odd} of the {array.size} numbers of {name} are not finite: has the model diverged?")


def _layers(arrays: Arrays) -> tuple[tuple[TorchLayer, ...], set[str]]:
    """The layers, and the names of their arrays."""
    found = [(match[1], int(match[2])) for name in arrays if (match := INPUTS.match(name))]
    prefixes = sorted({prefix for prefix, _ in found})
    if len(prefixes) != 1:
        shown = f"LSTMs at {', '.join(map(repr, prefixes))}" if prefixes else "no array whose name ends in weight_ih_l0"
        raise InputError(f"one LSTM is expected, and there is {shown}; there are {_shown(arrays)}")
    prefix, depth = prefixes[0], len(found)
    odd = [name for name in arrays if name.startswith(prefix) and re.search(r"(_reverse|weight_hr_l\d+)$", name)]
    if odd:
        raise InputError(f"{odd[0]!r} belongs to a bidirectional LSTM or one with projections, which LSTM has not")
    layers, own = [], set()
    for number in range(depth):
        names = [f"{prefix}{part}_l{number}" for part in ("weight_ih", "weight_hh", "bias_ih", "bias_hh")]
        layers.append(_layer(arrays, names, layers[-1].recurrent.shape[1] if layers else None))
        own |= set(names)
    return tuple(layers), own


def _layer(arrays: Arrays, names: list[str], entry: int | None) -> TorchLayer:
    hidden = _named(arrays, names[1], (None, None)).shape[1] if entry is None else entry  # the same in all layers
    inputs = _named(arrays, names[0], (4 * hidden, entry))
    recurrent = _named(arrays, names[1], (4 * hidden, hidden))
    bias = np.zeros(4 * hidden, recurrent.dtype)
    if names[2] in arrays or names[3] in arrays:  # an LSTM with bias=False has neither
        bias = _named(arrays, names[2], (4 * hidden,)) + _named(arrays, names[3], (4 * hidden,))
    return TorchLayer(inputs, recurrent, bias)


def _named(arrays: Arrays, name: str, shape: tuple[int | None, ...]) -> np.ndarray:
    if name not in arrays:
        raise InputError(f"there is no {name!r} among the weights; there are {_shown(arrays)}")
    found = arrays[name].shape
    if len(found) != len(shape) or any(wanted not in (None, size) for wanted, size in zip(shape, found)):
        shown = " × ".join("any" if size is None else str(size) for size in shape)
        raise InputError(f"{name!r} has shape {' × '.join(map(str, found))}, and {shown} is expected")
    return arrays[name]


def _matrix(role: str, asked: str | None, free: Arrays, width: int, usual: tuple[str, ...]) -> str:
    """The name of the matrix for a role: the given one, the only one of its width, or the one with a usual name."""
    if asked is not None:
        _named(free, asked, (None, width))
        return asked
    fitting = [name for name, array in free.items() if array.shape[1] == width]
    called = [name for name in fitting if any(part in name.lower() for part in usual)]
    found = fitting if len(fitting) == 1 else called
    if len(found) != 1:
        shown = f"several fit: {', '.join(map(repr, found))}" if found else f"none fits; there are {_shown(free)}"
        raise InputError(
            f"the {role} is a matrix of {width} columns, and of the weights outside the LSTM {shown}. Give its name "
            f"as `{role}=…`"
        )
    return found[0]


def _decoder_bias(arrays: Arrays, reader: str, tied: bool, outputs: int) -> np.ndarray:
    """The bias beside the decoder's matrix; for a tied one, the only vector of its size. Zeros if there is none."""
    beside = re.sub("weight$", "bias", reader)
    if beside != reader and beside in arrays:
        return _named(arrays, beside, (outputs,))
    vectors = [array for name, array in arrays.items() if array.shape == (outputs,) and not INPUTS.match(name)]
    return vectors[0] if tied and len(vectors) == 1 else np.zeros(outputs, arrays[reader].dtype)


def _tokens(vocabulary: Sequence[Token] | None, size: int, encoder: str) -> tuple[Token, ...]:
    tokens = tuple(range(size)) if vocabulary is None else tuple(vocabulary)
    if len(tokens) != size or len(set(tokens)) != size:
        raise InputError(
            f"{encoder!r} has {size} rows, and the vocabulary {len(tokens)} words, {len(set(tokens))} of them different"
        )
    return tokens


def _shown(arrays: Arrays) -> str:
    shown = [f"{name} ({' × '.join(map(str, array.shape))})" for name, array in arrays.items()]
    return ", ".join(shown[:12]) + (f" and {len(shown) - 12} more" if len(shown) > 12 else "") or "none"
