"""The simple recurrent network (Elman 1990), with exact or floating weights, and its files.

Exact weights are stored as integers and denominators, never rounded.
"""

from collections.abc import Sequence
from fractions import Fraction
from functools import cached_property
from math import isfinite
from numbers import Rational, Real
from pathlib import Path
from typing import Any, Literal

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Float, PRNGKeyArray

from kleene.caching import keep_compiled_programs_unless_jax_came_first
from kleene.errors import CompileError, ModelFileError, RunError
from kleene.limits import read_fraction
from kleene.machines.protocol import Shown, Size, shown_names
from kleene.machines.rnn import execution
from kleene.machines.rnn.editing import edited_batch
from kleene.machines.rnn.exact_floats import longest_exact
from kleene.machines.rnn.execution import StateReading, activate
from kleene.machines.rnn.pytorch import rnn_parts
from kleene.machines.weights import BROKEN, check_version, declared
from kleene.notation.edits import Edit, Edits
from kleene.notation.exact import ExactMatrix
from kleene.notation.words import Word
from kleene.tensors import read_tensors, write_tensors
from kleene.traces import Trace, TraceBatch

KIND = "simple rnn"
VERSION = 1
NAMES = ("recurrent", "inputs", "bias", "start", "readout", "readout_bias")
FLOATS = (np.float16, np.float32, np.float64)
MOST_UNITS = 10_000_000  # rows or columns of a matrix: a small file can claim any number of them

keep_compiled_programs_unless_jax_came_first()

Array = jax.Array | np.ndarray


class SimpleRNN(Shown, eqx.Module):
    """h' = σ(V h + W x + b), starting from h = s; the output is readout · h + readout_bias.

    The weights are all `ExactMatrix` (integers or rationals; vectors have one column) or all floating arrays. A word is
    accepted when its first output is larger than `threshold`. The output of the empty word is that of the start. If a
    compiler left a `reading`, hidden vectors decode to the states of its automaton. An `unrounded` network stands for
    one of exact weights, and refuses words longer than `longest_exact()`.

    >>> counter = SimpleRNN(
    ...     recurrent=ExactMatrix.identity(1), inputs=ExactMatrix.from_rows([[1, -1]]), bias=ExactMatrix.zeros(1),
    ...     start=ExactMatrix.zeros(1), readout=ExactMatrix.identity(1), readout_bias=ExactMatrix.zeros(1),
    ...     activation="relu", alphabet=("a", "b"),
    ... )
    >>> counter.hidden("aab").tolist(), counter.accepts("aab"), counter.accepts("")
    ([[0], [1], [2], [1]], True, False)
    """

    recurrent: ExactMatrix | Float[Array, "hidden hidden"]
    inputs: ExactMatrix | Float[Array, "hidden symbols"]
    bias: ExactMatrix | Float[Array, " hidden"]
    start: ExactMatrix | Float[Array, " hidden"]
    readout: ExactMatrix | Float[Array, "outputs hidden"]
    readout_bias: ExactMatrix | Float[Array, " outputs"]
    activation: Literal["relu", "slu", "tanh"] = eqx.field(static=True)
    alphabet: tuple[str, ...] = eqx.field(static=True)
    threshold: Fraction | float | int = eqx.field(static=True, default=Fraction(1, 2))
    reading: StateReading | None = eqx.field(static=True, default=None)
    summary: str = eqx.field(static=True, default="")
    unrounded: bool = eqx.field(static=True, default=False)

    def __check_init__(self) -> None:
        _check(self)

    @classmethod
    def random(
        cls,
        alphabet: Sequence[str],
        hidden: int,
        *,
        outputs: int = 1,
        activation: Literal["relu", "slu", "tanh"] = "tanh",
        key: PRNGKeyArray,
    ) -> "SimpleRNN":
        """A floating network to be trained: weights U(-1/√hidden, 1/√hidden), biases and start 0, threshold 0."""
        keys = jax.random.split(key, 3)
        shapes = {"recurrent": (hidden, hidden), "inputs": (hidden, len(alphabet)), "readout": (outputs, hidden)}
        weights: dict[str, Any] = {
            name: jax.random.uniform(k, shape, minval=-1, maxval=1) / np.sqrt(hidden)
            for k, (name, shape) in zip(keys, shapes.items())
        }
        weights |= {"bias": jnp.zeros(hidden), "start": jnp.zeros(hidden), "readout_bias": jnp.zeros(outputs)}
        return cls(**weights, activation=activation, alphabet=tuple(alphabet), threshold=0.0)

    @property
    def is_exact(self) -> bool:
        return isinstance(self.recurrent, ExactMatrix)

    @property
    def is_integer(self) -> bool:
        """Whether all weights that determine the hidden vectors (recurrent, inputs, bias, start) are exact integers."""
        deciding = (self.recurrent, self.inputs, self.bias, self.start)
        return all(isinstance(w, ExactMatrix) and w.is_integer for w in deciding)

    @property
    def hidden_units(self) -> int:
        return self.recurrent.shape[0]

    @property
    def size(self) -> Size:
        weights = self.weights().values()
        return Size(
            hidden_units=self.hidden_units,
            parameters=sum(int(np.prod(w.shape)) for w in weights),
            nonzero=sum(w.nonzeros if isinstance(w, ExactMatrix) else int(np.count_nonzero(w)) for w in weights),
        )

    def weights(self) -> dict[str, Any]:
        """The six weights by name."""
        return {name: getattr(self, name) for name in WEIGHTS}

    def __call__(self, state: Float[Array, " hidden"], x: Float[Array, " symbols"]) -> Float[Array, " hidden"]:
        """The hidden vector of a floating network after one symbol; batch with `jax.vmap`."""
        if self.is_exact:
            raise RunError("one step of jax needs floating weights; use `hidden(word)`, or `to_float()` first")
        weights = self.weights()
        return activate(weights["recurrent"] @ state + weights["inputs"] @ x + weights["bias"], self.activation)

    def advance(self, state: Float[Array, " hidden"], symbol: Any) -> Float[Array, " hidden"]:
        """The hidden vector after one symbol, given by its index in the alphabet."""
        return self(state, jax.nn.one_hot(symbol, self.inputs.shape[1], dtype=state.dtype))

    def read_out(self, state: Float[Array, " hidden"]) -> Any:
        """The outputs of a floating network in a state."""
        weights = self.weights()
        return weights["readout"] @ state + jnp.asarray(weights["readout_bias"])

    def top(self, state: Float[Array, "*batch hidden"]) -> Float[Array, "*batch hidden"]:
        """The vector from which the outputs are computed: the state itself."""
        return state

    def hidden(self, word: Word) -> np.ndarray:
        """Every hidden vector, (step, hidden), the start first: ints and Fractions if the weights are exact."""
        return execution.hidden(self, word)

    def outputs(self, word: Word) -> np.ndarray:
        """The outputs, (step, outputs), before the first symbol and after each: exact if the weights are."""
        return execution.outputs(self, word)

    def outputs_batch(self, words: Sequence[Word]) -> np.ndarray:
        """The outputs, (word, outputs), at the end of each of many words: exact if the weights are."""
        return execution.outputs_batch(self, words)

    def accepts(self, word: Word) -> bool:
        """Whether the first output at the end of the word is larger than the threshold."""
        return bool(self.accepts_batch([word])[0])

    def accepts_batch(self, words: Sequence[Word]) -> np.ndarray:
        """Whether each word is accepted, as booleans; words may have different lengths."""
        return execution.accepts_batch(self, words)

    def run(self, word: Word, *, edits: Sequence[Edit] = ()) -> Trace:
        """The decoded trace on one word: symbol, state and accepting, the same as the automaton's.

        A network without a `reading` records its hidden vectors instead of states, as floats. `edits` put it into
        another `state` after a step, or give it another `hidden` vector, and it reads on from there: see `kleene.Edit`.
        """
        return self.run_batch([word], edits=edits)[0]

    def run_batch(self, words: Sequence[Word], *, edits: Edits = ()) -> TraceBatch:
        """The decoded traces of many words of unequal length at once; with edits, one word after the other."""
        return edited_batch(self, words, edits) if edits else execution.run_batch(self, words)

    def to_float(self, dtype: Any = np.float32, *, round: bool = False) -> "SimpleRNN":
        """The same network in a floating type.

        Without `round` nothing is rounded: a weight that would change is refused here, and a word for which a sum might
        be rounded is refused when it is run. With `round` both are accepted.

        >>> from kleene.machines.rnn.library import majority_slu
        >>> majority_slu().to_float("float32").longest_exact()
        24
        """
        if not self.is_exact:
            raise CompileError("this network's weights are floats already; to_float takes one with exact weights")
        try:
            known = dtype is not None and np.dtype(dtype) in FLOATS
        except TypeError:  # no type of numpy
            known = False
        if not known:
            raise CompileError(f"a network's floats are float16, float32 or float64, not {dtype}")
        fields: dict[str, Any] = {**self.description(), "unrounded": not round}
        for name, matrix in self.weights().items():
            dense = matrix.to_float(dtype, round=round, name=name)
            fields[name] = dense if len(WEIGHTS[name]) == 2 else dense[:, 0]
        return SimpleRNN(**fields)

    def longest_exact(self) -> int | None:
        """The length up to which no word is rounded: None if no word ever is, -1 if even the empty one is.

        It is proven from the weights, and may be lower than the true one.
        """
        return self._longest

    @cached_property
    def _longest(self) -> int | None:
        return None if self.is_exact else longest_exact(self)

    def description(self) -> dict[str, Any]:
        """The fields that are not weights."""
        names = ("activation", "alphabet", "threshold", "reading", "summary", "unrounded")
        return {name: getattr(self, name) for name in names}

    def facts(self) -> dict[str, str]:
        kinds = f"{self.activation} units, {'exact' if self.is_exact else 'floating'} weights"
        answers = "whether it accepts" if self.reading is None else "whether it accepts, and the state"
        facts = {"reads": shown_names(self.alphabet, "symbols"), "answers": answers, "has": kinds}
        if not self.unrounded:
            return facts
        longest = self.longest_exact()
        return facts | {"exact": "for every word" if longest is None else f"for words of up to {longest} symbols"}

    def to_torch(self) -> Any:
        """The network as a module of PyTorch with a `torch.nn.RNN`; refuses one that would not be exact there."""
        return rnn_parts(self).build()

    def save(self, path: Any) -> Path:
        """Save the network and return the path; exact weights as integers and denominators, never rounded."""
        header, arrays = packed(self)
        return write_tensors(path, KIND, header | {"version": VERSION}, arrays)

    @classmethod
    def load(cls, path: Any) -> "SimpleRNN":
        """The network in a file that `save` wrote. Opening a file never runs code."""
        header, arrays = read_tensors(path, KIND)
        try:
            check_version(header, VERSION)
            return cls(**unpacked(header, arrays))
        except BROKEN as error:
            raise ModelFileError(f"{str(path)!r} does not hold a whole network ({error}); make it again") from None


# The axes of the weights by name, from their annotations.
WEIGHTS = {entry.name: tuple(entry.dims) for entry in declared(SimpleRNN)}


def _check(network: SimpleRNN) -> None:
    """Refuse weights that do not fit together."""
    weights = network.weights()
    exact = [name for name, weight in weights.items() if isinstance(weight, ExactMatrix)]
    if exact and len(exact) < len(weights):
        floating = next(name for name in weights if name not in exact)
        raise CompileError(f"{exact[0]} is exact and {floating} is not; the weights are all exact or all floats")
    if network.activation not in ("relu", "slu", "tanh"):
        raise CompileError(f"the activation is {network.activation!r}; it can be 'relu', 'slu' or 'tanh'")
    if exact and network.activation == "tanh":
        raise CompileError("tanh of a rational is not rational, so exact weights need the activation 'relu' or 'slu'")
    if not isinstance(network.threshold, Real) or (
        not isinstance(network.threshold, Rational) and not isfinite(network.threshold)
    ):
        raise CompileError(f"the threshold is {network.threshold!r}; outputs are compared with it, so give a number")
    if len(set(network.alphabet)) < len(network.alphabet):
        raise CompileError(f"a symbol stands twice in the alphabet {network.alphabet}")
    _check_shapes(network)


def _check_shapes(network: SimpleRNN) -> None:
    sizes = {"hidden": network.hidden_units, "symbols": len(network.alphabet)}
    for name, weight in network.weights().items():
        axes, shape = WEIGHTS[name], tuple(weight.shape)
        if isinstance(weight, ExactMatrix) and len(axes) == 1 and shape[1] == 1:
            shape = shape[:1]  # an exact vector is a matrix of one column
        expected = tuple(sizes.setdefault(axis, length) for axis, length in zip(axes, shape))
        if len(shape) != len(axes) or shape != expected:
            wanted = " × ".join(f"{sizes.get(axis, '?')} {axis}" for axis in axes)
            raise CompileError(f"{name} has shape {tuple(weight.shape)}, and {wanted} was expected")
    if sizes["outputs"] < 1:
        raise CompileError("the network has no output; the first one says whether a word is accepted")
    if network.reading is not None and len(network.reading.units) != sizes["hidden"]:
        raise CompileError(
            f"the reading speaks of {len(network.reading.units)} units, and the network has {sizes['hidden']}"
        )


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
    if network.unrounded:
        header["unrounded"] = True
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


def unpacked(header: Any, arrays: dict[str, np.ndarray]) -> dict[str, Any]:
    """The fields of the network that `packed` took apart; raises one of `BROKEN` where they do not fit together."""
    if not isinstance(header, dict):
        raise ValueError(f"its description is {header!r}")
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
        "unrounded": header.get("unrounded", False) is True,
    }
    return weights | described


def pack_matrix(matrix: ExactMatrix) -> dict[str, np.ndarray]:
    """The parts of a matrix as arrays; numerators past int64 are stored as hexadecimal digits."""
    parts = {"rows": matrix.rows.astype(np.int64), "columns": matrix.columns.astype(np.int64)}
    if matrix.small_numerators is not None:
        return parts | {"numerators": matrix.small_numerators}
    digits = " ".join(format(n, "x") for n in matrix.numerators)
    return parts | {"digits": np.frombuffer(digits.encode(), dtype=np.uint8)}


def unpack_matrix(shape: Any, denominator: Any, parts: dict[str, np.ndarray]) -> ExactMatrix:
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
