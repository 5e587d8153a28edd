"""How a Transformer lies in a hidden one: its dimensions, heads and units, and so its circuits."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from jaxtyping import Bool, Float, Int

from kleene.errors import InputError
from kleene.machines.transformer.components import ComponentGraph


@dataclass(frozen=True, eq=False)
class BasisMap:
    """Where each part of the original is in the new network.

    The original's dimension i is written along row i of `writing` and read along row i of `reading`. These are the same
    rows, and orthonormal, unless the stream was compressed; then it is read along other rows at each place: by the
    heads of the first layer, by its MLP, by the heads of the second layer, and so on to the output.

    `heads` [layers, heads] and `units` [layers, units] have for each new one the original's, or -1 for a decoy; a new
    unit is `scales` times as large. Decoys write into the span of the rows of `decoys`, which nothing else reads.
    """

    writing: Float[np.ndarray, "width wide"]
    reading: Float[np.ndarray, "places width wide"]
    heads: Int[np.ndarray, "layers heads"]
    units: Int[np.ndarray, "layers units"]
    scales: Float[np.ndarray, "layers units"]
    decoys: Float[np.ndarray, "decoys wide"]
    old_heads: int  # of each layer of the original

    def __repr__(self) -> str:
        (old, new), decoys = self.writing.shape, int((self.heads < 0).sum())
        return f"<BasisMap of {old} dimensions into {new}, {decoys} of {self.heads.size} heads are decoys>"

    @property
    def graph(self) -> ComponentGraph:
        """The components of the new network."""
        return ComponentGraph(*self.heads.shape)

    @property
    def old_graph(self) -> ComponentGraph:
        return ComponentGraph(len(self.heads), self.old_heads)

    @cached_property
    def sources(self) -> Int[np.ndarray, " sources"]:
        """For each source of the new network the number of the original's, or -1 for a decoy."""
        found = [0, 1]
        for layer, heads in enumerate(self.heads.tolist()):
            first = 2 + layer * (self.old_heads + 1)
            found += [-1 if head < 0 else first + head for head in heads] + [first + self.old_heads]
        return np.array(found)

    @cached_property
    def destinations(self) -> Int[np.ndarray, " destinations"]:
        """For each destination of the new network the number of the original's, or -1 for a decoy's."""
        found = []
        for layer, heads in enumerate(self.heads.tolist()):
            first = layer * (3 * self.old_heads + 1)
            for head in heads:
                found += [-1] * 3 if head < 0 else [first + 3 * head + part for part in range(3)]
            found.append(first + 3 * self.old_heads)
        return np.array([*found, len(self.heads) * (3 * self.old_heads + 1)])

    def edges(self, old: np.ndarray, decoys: Any = False) -> np.ndarray:
        """What is known of each edge [destinations, sources] of the original for each edge of the new network.

        The edges of decoys have the value of `decoys`.
        """
        if old.shape != self.old_graph.possible.shape:
            raise InputError(
                f"the original has {self.old_graph.possible.shape[0]} destinations and "
                f"{self.old_graph.possible.shape[1]} sources; an array of the shape {old.shape} was given"
            )
        here = (self.destinations[:, None] >= 0) & (self.sources >= 0)
        return np.where(here, old[self.destinations[:, None], self.sources], np.asarray(decoys, dtype=old.dtype))

    def onto(self, stream: Float[np.ndarray, "*batch width"]) -> Float[np.ndarray, "*batch wide"]:
        """The vectors of the new stream that mean these of the original; nothing is in the dimensions of decoys."""
        return stream @ self.writing

    def back(self, stream: Float[np.ndarray, "*batch wide"], place: int = -1) -> Float[np.ndarray, "*batch width"]:
        """The vectors of the original's stream that these of the new one mean, as read at a place: the last."""
        return stream @ self.reading[place if len(self.reading) > 1 else 0].T

    def written_onto(self, written: Float[np.ndarray, "*batch sources position width"]) -> np.ndarray:
        """What the sources of the new network write if the original's write this: [sources, position, wide].

        Decoys write nothing here, and no part of the algorithm would see it.
        """
        found = self.onto(written[..., self.sources, :, :])
        return np.where((self.sources >= 0)[:, None, None], found, 0)

    def subspace(self, dimensions: Any) -> Float[np.ndarray, "dimensions wide"]:
        """An orthonormal basis of the directions along which these dimensions of the original are written."""
        rows = self.writing[np.asarray(dimensions)]
        _, sizes, basis = np.linalg.svd(rows, full_matrices=False)
        return basis[sizes > 1e-9 * sizes.max(initial=0)]

    def positions_onto(self, positions: Bool[np.ndarray, "sources position"]) -> Bool[np.ndarray, "new position"]:
        """Where what each source of the original writes matters, for the sources of the new network."""
        return positions[self.sources] & (self.sources >= 0)[:, None]

    def as_json(self) -> dict[str, Any]:
        return {name: getattr(self, name).tolist() for name in _ARRAYS} | {
            "shapes": {name: list(getattr(self, name).shape) for name in _ARRAYS},
            "old_heads": self.old_heads,
        }

    @classmethod
    def from_json(cls, described: dict[str, Any]) -> "BasisMap":
        """The map that `as_json` described."""
        arrays = {
            name: np.array(described[name], dtype=kind).reshape(described["shapes"][name])
            for name, kind in _ARRAYS.items()
        }
        return cls(**arrays, old_heads=int(described["old_heads"]))


_ARRAYS: dict[str, Any] = {
    "writing": np.float64, "reading": np.float64, "heads": np.int64, "units": np.int64, "scales": np.float64,
    "decoys": np.float64,
}  # fmt: skip
