"""The true circuit of a compiled network, in whatever basis, computed from its weights and its own runs.

An edge is true if what the source writes arrives at a part of the destination on which the output depends, and if what
arrives is not always the same. Nothing is patched or ablated, so no method is the truth by definition. A change of
basis does not change what arrives, only by rounding: a difference counts from `TOLERANCE` of what could arrive.

It follows that all other edges may be taken from any other input at once without a change of the output: by induction
over the layers, every part on which the output depends reads the same as before. Which parts those are is found from
the output backwards:

- of an MLP, the units whose output some later part reads;
- of a head's values, the directions that some later part reads;
- of a head's queries, the directions in which its keys differ within an input, and of its keys those in which there are
  queries, and only what differs within an input; neither, if all its values in an input are the same.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Bool

from kleene.errors import InputError
from kleene.explaining.circuits.circuit import Carrier, TrueCircuit
from kleene.machines.transformer.plain import PlainTransformer

TOLERANCE = 1e-4  # single precision has about seven digits


def true_circuit(
    network: PlainTransformer, words: Sequence[Sequence[Any]], *, tolerance: float = TOLERANCE
) -> TrueCircuit:
    """The true circuit of a compiled network, or of the same network in another basis, on inputs like these words.

    Give words of all lengths on which the network is defined, hundreds if there are so many: what never differs among
    them counts as constant. For a network whose weights were trained almost everything is an edge, however weak.
    """
    runs = _Runs.of(network, words, tolerance)
    found = _traced_back(runs)
    return TrueCircuit(network.graph, found.edges, found.positional, _carriers(network, runs), found.places)


def true_units(
    network: PlainTransformer, words: Sequence[Sequence[Any]], *, tolerance: float = TOLERANCE
) -> Bool[np.ndarray, "layers units"]:
    """The hidden units of MLPs that are in the true circuit.

    A later part of the circuit reads what such a unit writes, and what the unit holds at some position differs between
    inputs. As in `true_circuit`, nothing is ablated, and `words` are hundreds. If another unit alone is changed, the
    output may move all the same, because a part outside the circuit then reads what no input makes it read.
    """
    runs = _Runs.of(network, words, tolerance)
    return _traced_back(runs).units & runs.units_that_differ()


class _Traced(NamedTuple):
    """What is found from the output backwards; `units` [layers, units] are those that some later part reads."""

    edges: np.ndarray
    positional: np.ndarray
    places: np.ndarray
    units: np.ndarray


def _traced_back(runs: "_Runs") -> _Traced:
    network, graph = runs.network, runs.network.graph
    edges, positional = (np.zeros(graph.possible.shape, dtype=bool) for _ in range(2))
    places = np.zeros((len(graph.sources), network.layout.positions), dtype=bool)
    units = np.zeros(network.mlp_bias.shape, dtype=bool)
    readings: dict[int, np.ndarray] = {}
    for row in reversed(range(len(graph.destinations))):
        owner = int(graph.readers[row])
        if owner < len(graph.sources) and not edges[:, owner].any():
            continue
        later = [reading for d, reading in readings.items() if owner == len(graph.sources) or graph.possible[d, owner]]
        needed = np.concatenate(later, axis=1) if later else np.zeros((network.tokens.shape[1], 0))
        if graph.destinations[row].endswith(".mlp"):
            units[_layer(graph.destinations[row])] = _needed_units(runs, _layer(graph.destinations[row]), needed)
        reading, within = _reading(runs, row, needed)
        readings[row] = reading / np.maximum(np.linalg.norm(reading, axis=0), 1e-30)
        differs, differs_at = runs.differences(reading, within)
        edges[row] = differs & graph.possible[row]
        positional[row] = edges[row] & ~differs_at.any(axis=1)
        places[:, : differs_at.shape[1]] |= differs_at & edges[row][:, None]
    return _Traced(edges, positional, places, units)


@eqx.filter_jit
def written_by(network: PlainTransformer, tokens: Any, lengths: Any) -> jax.Array:
    """What each source wrote on each word: [batch, sources, position, width]."""
    return jax.vmap(network.written)(tokens, lengths)


@dataclass(frozen=True, eq=False)
class _Runs:
    """A network's own runs: what was written [batch, sources, position, width], and which positions are in a word."""

    network: PlainTransformer
    written: np.ndarray
    inside: np.ndarray
    tolerance: float

    @classmethod
    def of(cls, network: PlainTransformer, words: Sequence[Sequence[Any]], tolerance: float) -> "_Runs":
        if len(words) < 2:
            raise InputError(f"{len(words)} words do not show what differs between words; give hundreds")
        tokens, lengths = network.encode(words)
        written = np.asarray(written_by(network, jnp.asarray(tokens), jnp.asarray(lengths)), dtype=np.float64)
        return cls(network, written, np.arange(tokens.shape[1]) < lengths[:, None], tolerance)

    def stream(self, row: int) -> np.ndarray:
        """What a destination reads: [batch, position, width]."""
        return np.einsum("s,bspw->bpw", self.network.graph.possible[row].astype(float), self.written)

    def differences(self, reading: np.ndarray, within: bool) -> tuple[np.ndarray, np.ndarray]:
        """For each source whether what it writes, as read by the columns of a matrix, differs anywhere; and for each
        source and position, whether it does so between words.

        If `within`, only differences from the first position of the word count.
        """
        size = np.sqrt((self.written**2).sum(axis=-1).max()) * np.linalg.norm(reading, axis=0)
        least = self.tolerance * np.maximum(size, 1e-30)
        arriving = np.einsum("bspw,wk->sbpk", self.written, reading)
        if within:
            arriving = arriving - arriving[:, :, :1]
        inside = self.inside[None, :, :, None]
        high, low = (np.where(inside, arriving, end) for end in (-np.inf, np.inf))
        differs = (high.max(axis=(1, 2), initial=-np.inf) - low.min(axis=(1, 2), initial=np.inf) > least).any(axis=-1)
        differs_at = (high.max(axis=1, initial=-np.inf) - low.min(axis=1, initial=np.inf) > least).any(axis=-1)
        return differs, differs_at

    def units_that_differ(self) -> np.ndarray:
        """For each unit [layers, units] whether what it holds at some position differs between words."""
        network, graph = self.network, self.network.graph
        found = []
        for layer, (weights, bias) in enumerate(zip(network.mlp_in, network.mlp_bias)):
            stream = self.stream(graph.destinations.index(f"{layer + 1}.mlp"))
            held = np.maximum(stream @ np.asarray(weights, np.float64) + np.asarray(bias, np.float64), 0)
            high, low = (np.where(self.inside[..., None], held, end) for end in (-np.inf, np.inf))
            size = np.linalg.norm(stream[self.inside], axis=-1).max() * np.linalg.norm(weights, axis=0)
            differs = high.max(axis=0, initial=-np.inf) - low.min(axis=0, initial=np.inf)
            found.append((differs > self.tolerance * np.maximum(size, 1e-30)).any(axis=0))
        return np.stack(found)

    def basis(self, vectors: np.ndarray) -> np.ndarray:
        """An orthonormal basis [k, rank] of the vectors [batch, position, k] at the positions of words."""
        return _span(vectors[self.inside], self.tolerance)


def _reading(runs: _Runs, row: int, needed: np.ndarray) -> tuple[np.ndarray, bool]:
    """What a destination reads as columns [width, k], if later parts read the columns of `needed`.

    The second is whether only differences within a word count.
    """
    network, name = runs.network, runs.network.graph.destinations[row]
    if name == "output":
        return np.asarray(network.readout, dtype=np.float64).T, False
    at, (_, part, *of_head) = _layer(name), name.split(".")
    if part == "mlp":
        return np.asarray(network.mlp_in[at], dtype=np.float64)[:, _needed_units(runs, at, needed)], False
    head = at, int(part)
    query, key, value, out = (
        np.asarray(weights[head], dtype=np.float64)
        for weights in (network.query, network.key, network.value, network.out)
    )
    value = value @ _span((out @ needed).T, runs.tolerance)
    if of_head == ["v"]:
        return value, False
    stream = runs.stream(row)
    differs, _ = _only(runs, stream).differences(value, True)
    if not differs.any():
        return np.zeros((len(query), 0)), False
    if of_head == ["q"]:
        keys = stream @ key
        return query @ runs.basis(keys - keys[:, :1]), False
    return key @ runs.basis(stream @ query), True


def _layer(name: str) -> int:
    """The layer of a head or an MLP, from 0."""
    return int(name.partition(".")[0]) - 1


def _needed_units(runs: _Runs, layer: int, needed: np.ndarray) -> np.ndarray:
    """The units of a layer that write something which the columns of `needed` read."""
    return _meets(np.asarray(runs.network.mlp_out[layer], dtype=np.float64), needed, runs.tolerance)


def _only(runs: _Runs, stream: np.ndarray) -> _Runs:
    """The runs as if one source had written the whole stream."""
    return _Runs(runs.network, stream[:, None], runs.inside, runs.tolerance)


def _meets(rows: np.ndarray, columns: np.ndarray, tolerance: float) -> np.ndarray:
    """Which rows are not orthogonal to all of the columns, which have length 1."""
    if not columns.shape[1]:
        return np.zeros(len(rows), dtype=bool)
    return np.abs(rows @ columns).max(axis=1) > tolerance * np.maximum(np.linalg.norm(rows, axis=1), 1e-30)


def _span(rows: np.ndarray, tolerance: float) -> np.ndarray:
    """An orthonormal basis of the rows, as columns."""
    if not rows.size:
        return np.zeros((rows.shape[-1], 0))
    _, sizes, basis = np.linalg.svd(rows, full_matrices=False)
    return basis[sizes > tolerance * max(float(sizes[0]), 1e-30)].T


def _carriers(network: PlainTransformer, runs: _Runs) -> dict[str, Carrier]:
    """The dimensions of each variable, if the network says what its dimensions mean, and who writes there."""
    dims: dict[str, list[int]] = {}
    for dim, label in enumerate(network.layout.labels or ()):
        dims.setdefault(label.partition("=")[0], []).append(dim)
    found = {}
    for variable, places in dims.items():
        basis = np.eye(network.tokens.shape[1])[places]
        differs, _ = runs.differences(basis.T, False)
        writers = tuple(name for name, is_in in zip(network.graph.sources, differs) if is_in)
        found[variable] = Carrier(basis, tuple((network.layout.labels or ())[dim] for dim in places), writers)
    return found
