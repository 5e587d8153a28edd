"""The components of a Transformer as a graph: what writes to its residual stream, and what reads it."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from jaxtyping import Bool, Int


@dataclass(frozen=True)
class ComponentGraph:
    """The sources and destinations of a Transformer with so many layers of so many heads.

    Sources write to the residual stream: "tokens", "positions", and of each layer its heads and its MLP. Destinations
    read it: of each layer the queries, keys and values of its heads and its MLP, and at last "output". An edge goes
    from a source to a destination after it. Layers are counted from 1, heads from 0.

    >>> graph = ComponentGraph(layers=1, heads=1)
    >>> graph.sources, graph.destinations
    (('tokens', 'positions', '1.0', '1.mlp'), ('1.0.q', '1.0.k', '1.0.v', '1.mlp', 'output'))
    >>> graph.possible.astype(int).tolist()
    [[1, 1, 0, 0], [1, 1, 0, 0], [1, 1, 0, 0], [1, 1, 1, 0], [1, 1, 1, 1]]
    """

    layers: int
    heads: int

    @cached_property
    def sources(self) -> tuple[str, ...]:
        layers = ((f"{n}.{h}" for h in (*range(self.heads), "mlp")) for n in range(1, self.layers + 1))
        return ("tokens", "positions", *(name for layer in layers for name in layer))

    @cached_property
    def destinations(self) -> tuple[str, ...]:
        heads = [f"{h}.{part}" for h in range(self.heads) for part in "qkv"]
        return (*(f"{n}.{name}" for n in range(1, self.layers + 1) for name in (*heads, "mlp")), "output")

    @cached_property
    def readers(self) -> Int[np.ndarray, " destinations"]:
        """The number of the source that each destination belongs to; that of the output is behind the last."""
        places = {name: number for number, name in enumerate(self.sources)}
        owners = (name if name.endswith(".mlp") else name.rpartition(".")[0] for name in self.destinations[:-1])
        return np.array([*(places[owner] for owner in owners), len(self.sources)])

    @cached_property
    def possible(self) -> Bool[np.ndarray, "destinations sources"]:
        """Whether a source comes before a destination. Heads of one layer do not see each other; its MLP sees them."""
        layer_of = np.array([0, 0, *(n for n in range(self.layers) for _ in range(self.heads + 1))])
        is_mlp = np.array([name.endswith("mlp") for name in self.sources])
        first = np.array([0, 0, *(1 + n for n in layer_of[2:])])  # 0 for the embeddings
        found = np.zeros((len(self.destinations), len(self.sources)), dtype=bool)
        for row, name in enumerate(self.destinations):
            layer = self.layers + 1 if name == "output" else int(name.partition(".")[0])
            found[row] = (first < layer) | ((first == layer) & ~is_mlp & name.endswith(".mlp"))
        return found
