"""The true circuit of a Transformer as data: which edges between its components compute the output."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from kleene.errors import InputError
from kleene.machines.transformer.components import ComponentGraph
from kleene.traces.markup import html_table


@dataclass(frozen=True, eq=False)
class Carrier:
    """The subspace of the residual stream that holds a variable, and the sources that write there.

    `basis` has an orthonormal row for each of the variable's dimensions; `labels` say what each means.
    """

    basis: np.ndarray
    labels: tuple[str, ...]
    sources: tuple[str, ...]

    def as_json(self) -> dict[str, Any]:
        return {"basis": self.basis.tolist(), "labels": list(self.labels), "sources": list(self.sources)}

    @classmethod
    def from_json(cls, stored: Mapping[str, Any]) -> "Carrier":
        """The carrier that `as_json` made plain data of."""
        return cls(np.array(stored["basis"], dtype=float), tuple(stored["labels"]), tuple(stored["sources"]))


@dataclass(frozen=True, eq=False)
class TrueCircuit:
    """The edges [destinations, sources] through which a network computes its output.

    Through the edges in `positional`, which are some of them, the same arrives on every input: they tell positions
    apart, and no comparison of two inputs finds them. `positions` [sources, positions] says where what a source writes,
    and the circuit reads, differs between inputs; None if that is not known.
    """

    graph: ComponentGraph
    edges: np.ndarray
    positional: np.ndarray
    carries: Mapping[str, Carrier] = field(default_factory=dict)
    positions: np.ndarray | None = None

    def __post_init__(self) -> None:
        possible = self.graph.possible
        for name in ("edges", "positional"):
            given = getattr(self, name)
            if given.shape != possible.shape or given.dtype != bool:
                raise InputError(
                    f"the {name} of a circuit are booleans of shape {possible.shape}, [destinations, sources]; they "
                    f"were given as {given.dtype} of shape {given.shape}"
                )
        if (wrong := self.edges & ~possible).any():
            raise InputError(f"a circuit has the edge {_named(self.graph, wrong)[0]}, whose source comes later")
        if (wrong := self.positional & ~self.edges).any():
            raise InputError(f"the edge {_named(self.graph, wrong)[0]} is positional, and not an edge of the circuit")

    @classmethod
    def of(cls, graph: ComponentGraph, edges: np.ndarray) -> "TrueCircuit":
        """The circuit with these edges, none of them positional."""
        return cls(graph, edges, np.zeros_like(edges))

    @property
    def nodes(self) -> np.ndarray:
        """The sources that have an edge in the circuit: booleans [sources]."""
        return np.asarray(self.edges.any(axis=0))

    @property
    def judged(self) -> np.ndarray:
        """The edges on which methods are judged: those that are possible and not positional."""
        return self.graph.possible & ~self.positional

    @property
    def judged_nodes(self) -> np.ndarray:
        """The sources on which methods are judged: those whose edges in the circuit are not all positional."""
        return np.asarray(~self.nodes | (self.edges & ~self.positional).any(axis=0))

    def named_edges(self) -> list[tuple[str, str]]:
        """The edges as (destination, source) by name."""
        return _named(self.graph, self.edges)

    def __repr__(self) -> str:
        edges, possible = int(self.edges.sum()), int(self.graph.possible.sum())
        nodes = f"{int(self.nodes.sum())} of {len(self.graph.sources)} sources"
        return f"<TrueCircuit: {edges} of {possible} edges, {nodes}>"

    def _repr_html_(self) -> str:
        rows = [
            (destination, " ".join(s for d, s in self.named_edges() if d == destination))
            for destination in self.graph.destinations
        ]
        return html_table(
            [("destination", "reads"), *((name, read) for name, read in rows if read)], caption=repr(self)
        )

    def as_json(self) -> dict[str, Any]:
        return {
            "layers": self.graph.layers,
            "heads": self.graph.heads,
            "nodes": [name for name, is_in in zip(self.graph.sources, self.nodes) if is_in],
            "edges": [list(edge) for edge in self.named_edges()],
            "positional": [list(edge) for edge in _named(self.graph, self.positional)],
            "positions": None if self.positions is None else self.positions.astype(int).tolist(),
            "carries": {name: carrier.as_json() for name, carrier in self.carries.items()},
        }

    @classmethod
    def from_json(cls, stored: Mapping[str, Any]) -> "TrueCircuit":
        """The circuit that `as_json` made plain data of; refuses edges between components that are not there."""
        graph = ComponentGraph(stored["layers"], stored["heads"])
        carries = {name: Carrier.from_json(one) for name, one in stored["carries"].items()}
        positions = None if stored["positions"] is None else np.array(stored["positions"], dtype=bool)
        edges, positional = (_matrix(graph, stored[name]) for name in ("edges", "positional"))
        return cls(graph, edges, positional, carries, positions)


def _named(graph: ComponentGraph, edges: np.ndarray) -> list[tuple[str, str]]:
    return [(graph.destinations[d], graph.sources[s]) for d, s in np.argwhere(edges).tolist()]


def _matrix(graph: ComponentGraph, named: list[list[str]]) -> np.ndarray:
    rows = {name: number for number, name in enumerate(graph.destinations)}
    columns = {name: number for number, name in enumerate(graph.sources)}
    found = np.zeros(graph.possible.shape, dtype=bool)
    for destination, source in named:
        if destination not in rows or source not in columns:
            raise InputError(
                f"a circuit has the edge {(destination, source)}, and its graph has {graph.layers} layers of "
                f"{graph.heads} heads"
            )
        found[rows[destination], columns[source]] = True
    return found
