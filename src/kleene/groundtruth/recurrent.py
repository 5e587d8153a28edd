"""Recurrent networks that compute the same in units that do not show it.

Gates and activations act on each unit alone, so a hidden vector cannot be rotated. Instead units are split into copies
with random shares, resized where the activation allows it, joined by decoys, and shuffled; see `units`. A network that
was compiled from an automaton has one live unit at a time, and the hidden one has not: it keeps no `reading`, and
`Hidden.map` leads back.
"""

from dataclasses import dataclass, replace
from typing import Any

import jax.numpy as jnp
import numpy as np

from kleene.compiling.automata import some_words
from kleene.compiling.lstm_automata import CANDIDATE, GATE
from kleene.errors import InputError
from kleene.groundtruth.hidden import Equality, Hidden
from kleene.groundtruth.rotations import random_rotation
from kleene.groundtruth.units import GRAIN, Scaling, UnitMap, columns_onto, drawn_map
from kleene.machines.lstm.lstm import LSTM, Layer, Memory
from kleene.machines.rnn.simple_rnn import SimpleRNN

SAMPLES, LONGEST = 200, 24  # sample words: the shortest 200, and 200 random ones of up to 24 symbols
MOST_UNITS = 4_096  # of a hidden network, because its weights are dense
SCALINGS: dict[str, Scaling] = {"relu": "powers", "tanh": "signs", "slu": "none", "lstm": "signs"}
CLOSED = 110.0  # from here on σ is 0 or 1 in single precision, without rounding


def hide_recurrent(
    network: SimpleRNN | LSTM,
    *,
    seed: int = 0,
    copies: int = 2,
    decoys: int = 0,
    rescale: bool = True,
    rotate: bool = True,
    noise: float = 0.0,
    gates: float | None = None,
) -> Hidden:
    """The same network in other units, as floats.

    Each unit becomes 2 to `copies` copies (1 leaves units whole). With `rescale`, ReLU units are resized by powers of
    2, and units of tanh and of an LSTM change sign. With `rotate`, the embedding of an LSTM is rotated. Each of the
    `decoys` computes something of the state and the symbol, and nothing depends on it. `noise` is the standard
    deviation of Gaussian noise on every weight, relative to the weight. `gates`
    replaces the ±200 that saturate the gates of an LSTM that was compiled from an automaton, so that gradients are not
    0: 8, say.

    >>> import kleene
    >>> automaton = kleene.DFA.from_regex("(a|b)*abb")
    >>> hidden = hide_recurrent(kleene.compile(automaton), copies=3, decoys=2, seed=1)
    >>> hidden.equality, hidden.network.accepts("ababb"), hidden.network.accepts("aba")
    ('exact', True, False)
    """
    if not isinstance(network, SimpleRNN | LSTM):
        raise InputError(f"only a SimpleRNN or an LSTM is hidden in this way, not a {type(network).__name__}")
    _check(network, copies, decoys, noise, gates)
    chance = np.random.default_rng(seed)
    start = _plain(network) if gates is None else _softened(network, gates)
    units = start.recurrent.shape[1]
    if (units + decoys) * copies > MOST_UNITS:
        raise InputError(
            f"the network has {units} units, and with {decoys} decoys and {copies} copies there would be up to "
            f"{(units + decoys) * copies:,}; at most {MOST_UNITS:,} are made, because weights are dense"
        )
    map = drawn_map(units, decoys, copies, SCALINGS[network.activation] if rescale else "none", chance)
    widened = _with_decoys(start, decoys, chance)
    hidden = _split(widened, map, chance)
    equality = _equality(network, widened, hidden, map) if gates is None and not noise else "changed"
    made = _built(_rotated(network, hidden, chance) if rotate else network, _noisy(hidden, noise, chance))
    right, inputs, difference = _compared(network, made, seed)
    options = {"seed": seed, "copies": copies, "decoys": decoys, "rescale": rescale, "rotate": rotate}
    options |= {"noise": noise, "gates": gates}
    return Hidden(made, network, map, equality, inputs, right, difference, options)


def _check(network: SimpleRNN | LSTM, copies: int, decoys: int, noise: float, gates: float | None) -> None:
    if copies < 1 or decoys < 0:
        raise InputError(
            f"a unit becomes 1 copy or more, and decoys are 0 or more; not copies={copies}, decoys={decoys}"
        )
    if not (np.isfinite(noise) and noise >= 0):
        raise InputError(f"noise is relative to the weights, 0 or more, and not {noise}")
    if isinstance(network, LSTM) and len(network.layers) != 1:
        raise InputError(f"an LSTM of one layer can be hidden, and this one has {len(network.layers)}")
    if gates is None:
        return
    if not isinstance(network, LSTM) or network.reading is None:
        raise InputError("gates= is for an LSTM that was compiled from an automaton; leave it out")
    if not (np.isfinite(gates) and 0 < gates <= GATE):
        raise InputError(f"the inputs of a gate become at most {GATE} and more than 0, and not {gates}")


@dataclass
class _Weights:
    """The weights of either network in double precision; a simple RNN has one gate."""

    recurrent: np.ndarray  # [gates, hidden, hidden]
    inputs: np.ndarray  # [gates, hidden, entry]
    bias: np.ndarray  # [gates, hidden]
    start: np.ndarray
    readout: np.ndarray
    readout_bias: np.ndarray
    cell: np.ndarray | None  # where an LSTM begins


def _plain(network: Any) -> _Weights:
    """The weights as arrays of double precision."""
    if isinstance(network, LSTM):
        (layer,) = network.layers
        recurrent, inputs, bias = (_double(a) for a in (layer.recurrent, layer.inputs, layer.bias))
        units = recurrent.shape[1]
        recurrent, inputs, bias = (
            recurrent.reshape(4, units, units),
            inputs.reshape(4, units, -1),
            bias.reshape(4, units),
        )
        start, cell = _double(network.start.hidden[0]), _double(network.start.cell[0])
        return _Weights(recurrent, inputs, bias, start, _double(network.decoder), _double(network.decoder_bias), cell)
    floating = network.to_float(np.float64, round=True) if network.is_exact else network
    w = {name: _double(array) for name, array in floating.weights().items()}
    return _Weights(
        w["recurrent"][None], w["inputs"][None], w["bias"][None], w["start"], w["readout"], w["readout_bias"], None
    )


def _softened(network: Any, gates: float) -> _Weights:
    """The weights of a compiled LSTM with gates that are not saturated: ±gates, and a candidate of tanh(gates / 2)."""
    held = _plain(network)
    factors = np.full((4, 1), gates / GATE)
    factors[2] = min(1.0, gates / 2 / CANDIDATE)
    held.recurrent, held.inputs = held.recurrent * factors[:, :, None], held.inputs * factors[:, :, None]
    held.bias = held.bias * factors
    return held


def _with_decoys(w: _Weights, decoys: int, chance: np.random.Generator) -> _Weights:
    """The weights with more units: each reads the state as one unit does and the symbol as another."""
    units = w.recurrent.shape[1]
    states, symbols = chance.integers(0, units, (2, decoys))

    def more_rows(array: np.ndarray, of: np.ndarray) -> np.ndarray:
        return np.concatenate([array, array[:, of]], axis=1)

    def more_columns(array: np.ndarray) -> np.ndarray:
        return np.concatenate([array, np.zeros((*array.shape[:-1], decoys))], axis=-1)

    start, cell = more_columns(w.start), None if w.cell is None else more_columns(w.cell)
    recurrent, inputs = more_columns(more_rows(w.recurrent, states)), more_rows(w.inputs, symbols)
    return _Weights(recurrent, inputs, more_rows(w.bias, states), start, more_columns(w.readout), w.readout_bias, cell)


def _split(w: _Weights, map: UnitMap, chance: np.random.Generator) -> _Weights:
    """The weights of the units of the map.

    A unit of an LSTM changes sign with its candidate: the gates i, f and o keep theirs.
    """
    signed = np.array([False, False, True, False]) if len(w.bias) == 4 else np.array([True])
    sizes = np.where(signed[:, None], map.scales, 1.0)  # [gates, hidden]
    read = np.stack([columns_onto(gate[map.sources], map, chance) for gate in w.recurrent])
    return _Weights(
        sizes[:, :, None] * read,
        sizes[:, :, None] * w.inputs[:, map.sources],
        sizes * w.bias[:, map.sources],
        map.scales * w.start[map.sources],
        columns_onto(w.readout, map, chance),
        w.readout_bias,
        None if w.cell is None else map.scales * w.cell[map.sources],
    )


def _rotated(network: Any, w: _Weights, chance: np.random.Generator) -> Any:
    """The network with another basis of its embedding, which the inputs now read."""
    if not isinstance(network, LSTM):
        return network
    turn = random_rotation(network.embedding.shape[1], chance)
    w.inputs = w.inputs @ turn
    return replace(network, embedding=jnp.asarray(_double(network.embedding) @ turn, network.embedding.dtype))


def _noisy(w: _Weights, noise: float, chance: np.random.Generator) -> _Weights:
    if not noise:
        return w

    def shaken(array: np.ndarray) -> np.ndarray:
        return array * (1 + noise * chance.standard_normal(array.shape))

    recurrent, inputs, bias, readout = map(shaken, (w.recurrent, w.inputs, w.bias, w.readout))
    return _Weights(recurrent, inputs, bias, w.start, readout, w.readout_bias, w.cell)


def _built(network: Any, w: _Weights) -> SimpleRNN | LSTM:
    """The network with these weights in the number type of the original, or single precision if that was exact."""
    units = w.recurrent.shape[-1]
    gates = [w.inputs.reshape(-1, w.inputs.shape[-1]), w.recurrent.reshape(-1, units), w.bias.reshape(-1)]
    if isinstance(network, LSTM):
        dtype = network.embedding.dtype
        inputs, recurrent, bias = (jnp.asarray(array, dtype) for array in gates)
        start = Memory(jnp.asarray(w.start[None], dtype), jnp.asarray(_double(w.cell)[None], dtype))
        return replace(
            network, layers=(Layer(inputs, recurrent, bias),), start=start, decoder=jnp.asarray(w.readout, dtype),
            reading=None,
        )  # fmt: skip
    dtype = _number_type(network)
    inputs, recurrent, bias, start, readout, readout_bias = (
        np.asarray(array, dtype) for array in (*gates, w.start, w.readout, w.readout_bias)
    )
    threshold = float(network.threshold) if network.is_exact else network.threshold
    described = network.description() | {"reading": None, "threshold": threshold, "unrounded": False}
    return SimpleRNN(recurrent, inputs, bias, start, readout, readout_bias, **described)


def _number_type(network: SimpleRNN) -> Any:
    return np.float32 if network.is_exact else np.asarray(network.recurrent).dtype


def _equality(network: Any, widened: _Weights, hidden: _Weights, map: UnitMap) -> Equality:
    """Whether every step of the hidden network is free of rounding; known of networks compiled from automata.

    Their units are 0 or 1. A ReLU unit is exact if the numbers that are added are multiples of one power of 2 and few
    enough. A gate is exact if it stays saturated, whatever the rounding is.
    """
    if network.reading is None:
        return "rounded"
    # A decoy reads one live unit at a time, as units do.
    reach = np.abs(widened.recurrent).max(axis=2) + np.abs(widened.inputs).max(axis=2) + np.abs(widened.bias)
    live = np.abs(map.scales) * (1.0 if isinstance(network, LSTM) else np.maximum(1.0, reach[0])[map.sources])
    added = np.abs(hidden.recurrent) @ live + np.abs(hidden.inputs).max(axis=2) + np.abs(hidden.bias)
    if isinstance(network, LSTM):
        rounding = len(live) * float(added.max()) * float(np.finfo(np.float32).eps)
        return "exact" if GATE - rounding > CLOSED else "rounded"
    rows = np.abs(map.scales)[:, None]
    numbers = (hidden.recurrent[0] * map.scales / rows, hidden.inputs[0] / rows, hidden.readout * map.scales)
    whole = all((GRAIN * array == np.round(GRAIN * array)).all() for array in numbers)
    largest = max(float((added[0] / rows[:, 0]).max()), float((np.abs(hidden.readout) @ live).max()))
    return "exact" if whole and GRAIN * largest < 2.0 ** np.finfo(_number_type(network)).nmant else "rounded"


def _compared(network: Any, made: Any, seed: int) -> tuple[int, int, float]:
    """How many sample words have the same answer, of how many, and the largest difference of outputs."""
    words = [list(word) for word in some_words(network.alphabet, SAMPLES, LONGEST, seed)]
    expected, found = (np.asarray(one.outputs_batch(words), dtype=np.float64) for one in (network, made))
    if expected.shape[1] == 1:
        same = (expected[:, 0] > float(network.threshold)) == (found[:, 0] > float(network.threshold))
    else:
        same = expected.argmax(axis=1) == found.argmax(axis=1)
    return int(same.sum()), len(words), float(np.abs(expected - found).max(initial=0))


def _double(array: Any) -> np.ndarray:
    return np.asarray(array, dtype=np.float64)
