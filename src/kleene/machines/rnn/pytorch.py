"""Simple RNNs as `torch.nn.RNN`: the same weights by other names, where PyTorch can hold and compute them exactly."""

from typing import Any

import numpy as np

from kleene.errors import CompileError, InputError
from kleene.machines.modeling import TorchParts


def rnn_parts(network: Any) -> TorchParts:
    """A simple RNN in PyTorch's terms; refuses one whose activation or weights PyTorch does not have."""
    if network.activation not in ("relu", "tanh"):
        raise InputError(
            f"torch.nn.RNN has the activations relu and tanh, and this network's is {network.activation}; compile the "
            f"automaton with activation='relu'"
        )
    floating = _floating(network)
    arrays = {name: np.asarray(weight) for name, weight in floating.weights().items()}
    dtype = arrays["recurrent"].dtype
    if float(dtype.type(float(network.threshold))) != network.threshold:
        raise InputError(f"the threshold {network.threshold} of this network is no number of the type {dtype}")
    tensors = {
        "rnn.weight_ih_l0": arrays["inputs"],
        "rnn.weight_hh_l0": arrays["recurrent"],
        "rnn.bias_ih_l0": arrays["bias"],
        "rnn.bias_hh_l0": np.zeros_like(arrays["bias"]),
        "readout.weight": arrays["readout"],
        "readout.bias": arrays["readout_bias"],
        "start": arrays["start"],
    }
    longest = floating.longest_exact() if floating.unrounded else None
    if longest == -1:
        raise InputError(
            f"this network is not exported, because {dtype} would round it on every word; export its "
            f"to_float('float64'), or accept rounding with to_float(..., round=True)"
        )
    reading = network.reading
    config: dict[str, Any] = {
        "name": network.summary or "simple RNN",
        "dtype": str(dtype),
        "activation": network.activation,
        "alphabet": list(network.alphabet),
        "threshold": float(network.threshold),
        "longest": longest,
        "states": None if reading is None else list(reading.states),
        "units": None if reading is None else list(reading.units),
        "dead": None if reading is None else reading.dead,
    }
    labels = [f"unit {unit}" for unit in range(network.hidden_units)]
    if reading is not None:
        labels = [f"in state {reading.states[state]}" for state in reading.units]
    return TorchParts("rnn", config, {n: np.ascontiguousarray(a) for n, a in tensors.items()}, tuple(labels))


def _floating(network: Any) -> Any:
    """The network in float32, or float64 if only that type holds its weights."""
    if not network.is_exact:
        return network
    try:
        return network.to_float(np.float32)
    except CompileError:
        pass
    try:
        return network.to_float(np.float64)
    except CompileError as error:
        raise InputError(f"this network is not exported, because it would not be exact: {error}") from None
