"""Decoys of a Transformer: heads and units that read what the others wrote, and that nothing of the algorithm reads.

The stream is widened. Decoys write into the new dimensions alone, where the embeddings and the true components write
too, and read the whole stream. So what they compute is real, differs between inputs, and has no effect on the output.
Components of the original that are empty, all zeros, become decoys as well.
"""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Int

from kleene.groundtruth.rotations import Weights

UNITS_FOR_A_HEAD = 4  # decoy units for each decoy head


@dataclass(frozen=True, eq=False)
class WithDecoys:
    """Widened weights, and which head and unit of the original each is, -1 being a decoy; `dims` more dimensions."""

    weights: Weights
    heads: Int[np.ndarray, "layers heads"]
    units: Int[np.ndarray, "layers units"]
    dims: int


def with_decoys(
    weights: Weights,
    decoys: int,
    streams: Float[np.ndarray, "samples layers position width"],
    chance: np.random.Generator,
) -> WithDecoys:
    """The weights with so many decoy heads, and four decoy units for each, in every layer.

    `streams` has what the MLP of each layer reads on sample inputs: it says how large weights have to be so that what
    decoys compute is about as large as what the others do.
    """
    layers, heads, width = weights["query"].shape[:3]
    units = weights["mlp_in"].shape[2]
    dims = 2 * decoys
    head_numbers = np.tile(np.r_[np.arange(heads), np.full(decoys, -1)], (layers, 1))
    unit_numbers = np.tile(np.r_[np.arange(units), np.full(UNITS_FOR_A_HEAD * decoys, -1)], (layers, 1))
    if not decoys:
        return WithDecoys(weights, head_numbers, unit_numbers, 0)
    head_numbers[:, :heads][~weights["out"].any(axis=(2, 3))] = -1
    unit_numbers[:, :units][~weights["mlp_out"].any(axis=2)] = -1
    wide = _widened(weights, decoys, dims, streams, chance)
    norm = float(np.sqrt((streams**2).sum(axis=-1).mean())) or 1.0
    for layer in range(layers):
        for head in np.flatnonzero(head_numbers[layer] < 0):
            _fill_head(wide, weights, layer, int(head), norm, chance)
        for unit in np.flatnonzero(unit_numbers[layer] < 0):
            _fill_unit(wide, weights, layer, int(unit), streams[:, layer].reshape(-1, width), norm, chance)
    return WithDecoys(wide, head_numbers, unit_numbers, dims)


def _widened(weights: Weights, decoys: int, dims: int, streams: np.ndarray, chance: np.random.Generator) -> Weights:
    """The weights with empty heads, units and dimensions; embeddings and true components write there too."""
    more_units = UNITS_FOR_A_HEAD * decoys
    added = {
        "tokens": (0, dims), "positions": (0, dims), "readout": (0, dims), "readout_bias": (0,),
        "query": (0, decoys, dims, 0), "key": (0, decoys, dims, 0), "value": (0, decoys, dims, 0),
        "out": (0, decoys, 0, dims), "mlp_in": (0, dims, more_units), "mlp_bias": (0, more_units),
        "mlp_out": (0, more_units, dims), "mlp_constant": (0, dims),
    }  # fmt: skip
    wide = {name: np.pad(weights[name], [(0, more) for more in sizes]) for name, sizes in added.items()}
    for name in ("tokens", "positions", "out", "mlp_out"):
        old = weights[name]
        writes = np.asarray(old.any(axis=-1))
        size = np.sqrt(np.mean(old[writes] ** 2)) if writes.any() else 0.0
        place = (*(slice(0, n) for n in old.shape[:-1]), slice(old.shape[-1], None))
        wide[name][place] = size * chance.standard_normal((*old.shape[:-1], dims)) * writes[..., None]
    inputs = np.einsum("nlpw,lwu->nplu", streams, weights["mlp_in"]) + weights["mlp_bias"]
    largest = np.maximum(1.0, inputs.max(axis=(0, 1), initial=0))  # a unit may be large where a second one takes it off
    wide["mlp_out"][:, : largest.shape[1], -dims:] /= largest[:, :, None]
    return wide


def _fill_head(
    wide: Weights, weights: Weights, layer: int, head: int, norm: float, chance: np.random.Generator
) -> None:
    """A decoy attends as some true head does, or by chance, and writes random features of what it reads."""
    width, size = weights["query"].shape[2:]
    total = wide["tokens"].shape[1]
    true = np.argwhere(weights["out"].any(axis=(2, 3)))
    if len(true) and chance.random() < 0.75:
        of, which = true[chance.integers(len(true))]
        wide["query"][layer, head, :width] = weights["query"][of, which]
        wide["key"][layer, head, :width] = weights["key"][of, which]
    else:
        wide["query"][layer, head] = chance.standard_normal((total, size)) * 2 / norm
        wide["key"][layer, head] = chance.standard_normal((total, size)) * 2 / norm / np.sqrt(size)
    wide["value"][layer, head] = chance.standard_normal((total, size)) / norm
    wide["out"][layer, head, :, width:] = chance.standard_normal((size, total - width)) / np.sqrt(size)


def _fill_unit(
    wide: Weights,
    weights: Weights,
    layer: int,
    unit: int,
    stream: Float[np.ndarray, "samples width"],
    norm: float,
    chance: np.random.Generator,
) -> None:
    """A decoy asks what some true unit asks, here or in another layer, or something random."""
    width, total = weights["tokens"].shape[1], wide["tokens"].shape[1]
    true = np.argwhere(weights["mlp_out"].any(axis=2))
    if len(true) and chance.random() < 0.75:
        of, which = true[chance.integers(len(true))]
        read, bias = weights["mlp_in"][of, :, which], weights["mlp_bias"][of, which]
        largest = max(1.0, float(np.abs(stream @ read + bias).max(initial=0)))
        wide["mlp_in"][layer, :width, unit], wide["mlp_bias"][layer, unit] = read / largest, bias / largest
    else:
        wide["mlp_in"][layer, :width, unit] = chance.standard_normal(width) / norm
        wide["mlp_bias"][layer, unit] = 0.5 * chance.standard_normal()
    wide["mlp_in"][layer, width:, unit] = chance.standard_normal(total - width) / (2 * np.sqrt(total - width))
    units = UNITS_FOR_A_HEAD * (wide["query"].shape[1])
    wide["mlp_out"][layer, unit, width:] = chance.standard_normal(total - width) / np.sqrt(units)
