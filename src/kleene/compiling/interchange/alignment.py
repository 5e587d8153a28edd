"""Where a program lives in a plain Transformer: a block of the residual stream for each variable, a head for each head.

A compiled network has its alignment by construction: the dimensions are labelled. A network that is to be taught gets
one: a few dimensions for each variable that varies and matters, and the same heads and layers as the unrolled program.
What lies outside must not matter: unaligned heads, free dimensions, and the edges that the program does not have.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from jaxtyping import Bool, Float

from kleene.compiling.interchange.counterfactuals import Counterfactuals, Site
from kleene.errors import InputError
from kleene.machines.transformer.components import ComponentGraph
from kleene.machines.transformer.unrolled import UnrolledTransformer


@dataclass(frozen=True, eq=False)
class Alignment:
    """Which part of a plain Transformer stands for which part of a program.

    `blocks` has for each variable its coordinates in the `frame`, whose columns are orthogonal axes of the residual
    stream; without a frame they are dimensions. `held[n]` are the variables that may be used after the program's layer
    n, and `after[n]` is the network's layer after which that is. `heads` has the network's layer, counted from 1, and
    head for each of the program's heads in each of its layers. `edges` are those of the true circuit, and `writers` the
    sources that write each variable.
    """

    name: str
    width: int
    graph: ComponentGraph
    after: tuple[int, ...]
    blocks: Mapping[str, tuple[int, ...]]
    held: tuple[tuple[str, ...], ...]
    heads: Mapping[tuple[str, int], tuple[int, int]]
    edges: Bool[np.ndarray, "destinations sources"]
    frame: Float[np.ndarray, "width width"] | None = field(default=None, repr=False)
    writers: Mapping[str, tuple[str, ...]] = field(default_factory=dict, repr=False)

    def __repr__(self) -> str:
        return (
            f"<Alignment of {self.name}: {len(self.blocks)} variables and {len(self.heads)} heads in "
            f"{self.graph.layers} layers, {int(self.edges.sum())} edges>"
        )

    def coordinates(self, names: Sequence[str]) -> Bool[np.ndarray, " width"]:
        """The coordinates of these variables, as a mask."""
        found = np.zeros(self.width, dtype=bool)
        for name in names:
            found[list(self.blocks[name])] = True
        return found

    def basis(self, name: str) -> Float[np.ndarray, "dims width"]:
        """The orthonormal rows that span the block of a variable."""
        frame = np.eye(self.width) if self.frame is None else self.frame
        return frame.T[list(self.blocks[name])]

    def free(self, step: int) -> Bool[np.ndarray, " width"]:
        """The coordinates that no variable uses after a layer of the network, as a mask.

        Between two layers of the program, in a network that needs several for one of them, no coordinate is free.
        """
        if step not in self.after:
            return np.zeros(self.width, dtype=bool)
        return ~self.coordinates(self.held[self.after.index(step)])

    def spare_heads(self) -> Bool[np.ndarray, "layers heads"]:
        """The heads that stand for nothing in the program."""
        found = np.ones((self.graph.layers, self.graph.heads), dtype=bool)
        for layer, head in self.heads.values():
            found[layer - 1, head] = False
        return found

    def aligned(self, site: Site) -> bool:
        """Whether the network has a place for the site."""
        if site.head:
            return (site.name, site.layer) in self.heads
        return site.layer < len(self.held) and site.name in self.held[site.layer]

    def rotated(self, rotation: Float[np.ndarray, "width width"]) -> "Alignment":
        """The alignment of the same network in another basis, whose new stream is `stream @ rotation`."""
        rotation = np.asarray(rotation, np.float64)
        if not np.allclose(rotation @ rotation.T, np.eye(self.width), atol=1e-5):
            raise InputError("a rotation is an orthogonal matrix of the stream's width")
        before = np.eye(self.width) if self.frame is None else self.frame
        return replace(self, frame=rotation.T @ before)

    def as_json(self) -> dict[str, Any]:
        return {
            "name": self.name,
            "width": self.width,
            "layers": self.graph.layers,
            "heads_per_layer": self.graph.heads,
            "after": list(self.after),
            "blocks": {name: list(dims) for name, dims in self.blocks.items()},
            "held": [list(names) for names in self.held],
            "heads": [[name, step, *place] for (name, step), place in self.heads.items()],
            "edges": [[int(d), int(s)] for d, s in np.argwhere(self.edges)],
            "writers": {name: list(sources) for name, sources in self.writers.items()},
        } | ({} if self.frame is None else {"frame": np.asarray(self.frame).tolist()})

    @classmethod
    def from_json(cls, described: Mapping[str, Any]) -> "Alignment":
        """The alignment that `as_json` described."""
        try:
            graph = ComponentGraph(int(described["layers"]), int(described["heads_per_layer"]))
            edges = np.zeros(graph.possible.shape, dtype=bool)
            for destination, source in described["edges"]:
                edges[destination, source] = True
            frame = described.get("frame")
            return cls(
                str(described["name"]),
                int(described["width"]),
                graph,
                tuple(map(int, described["after"])),
                {name: tuple(map(int, dims)) for name, dims in described["blocks"].items()},
                tuple(tuple(names) for names in described["held"]),
                {(name, int(step)): (int(layer), int(head)) for name, step, layer, head in described["heads"]},
                edges,
                None if frame is None else np.asarray(frame, np.float64),
                {name: tuple(sources) for name, sources in described.get("writers", {}).items()},
            )
        except (KeyError, TypeError, ValueError, IndexError) as error:
            raise InputError(f"this is no alignment: {type(error).__name__}: {error}") from error


def sites_of(network: UnrolledTransformer) -> list[Site]:
    """Every variable that an unrolled network holds after each layer, and every head of each layer.

    Channels that the compiler added are left out, because the program has no such value to swap.
    """
    layout, found = network.layout, []
    for step in range(len(layout.layers) + 1):
        heads = layout.layers[step - 1].heads if step else ()
        names = [name for name in layout.held_at(step) if name not in layout.own]
        found += [Site(name, step, name in heads) for name in names]
    return found


def taught_alignment(
    network: UnrolledTransformer, table: Counterfactuals, *, block: int = 4, free: int = 8, spare: int = 1
) -> Alignment:
    """The alignment for a network to be taught: the layers of the unrolled one, `spare` more heads in each.

    A variable whose swaps change the output at some layer has as many dimensions as values, at least 2 and at most
    `block`; `free` dimensions are added behind all blocks. Variables and heads that are the same on all words, or that
    no swap shows to matter, are left out. The circuit has the edges along which the unrolled program passes the others
    on.
    """
    layout = network.layout
    sizes: dict[str, int] = dict.fromkeys(layout.own, 2)
    for site, values, matters in zip(table.sites, table.values, table.matters):
        if matters and not site.head:
            sizes[site.name] = max(sizes.get(site.name, 2), min(len(values), block))
    order = [c.name for c in layout.program.channels if c.name in sizes and not c.per_step]
    blocks, first = {}, 0
    for name in order:
        blocks[name] = tuple(range(first, first + sizes[name]))
        first += sizes[name]
    mattering = {(site.name, site.layer) for site, matters in zip(table.sites, table.matters) if matters}
    mattering |= {(name, step) for name in layout.own for step in range(len(layout.layers) + 1)}
    steps = range(len(layout.layers) + 1)
    held = tuple(tuple(n for n in order if n in layout.held_at(s) and (n, s) in mattering) for s in steps)
    heads = {
        (name, step + 1): (step + 1, number)
        for step, layer in enumerate(layout.layers)
        for number, name in enumerate(layer.heads)
        if (name, step + 1) in mattering
    }
    graph = ComponentGraph(len(layout.layers), max(len(layer.heads) for layer in layout.layers) + spare)
    writes, reads = _passed(network, graph, held, heads)
    columns = {channel.name: n for n, channel in enumerate(layout.program.channels)}
    edges = _edges(graph, writes, reads)
    writers = {n: tuple(s for s, row in zip(graph.sources, writes) if row[columns[n]]) for n in blocks}
    return Alignment(layout.name, first + free, graph, tuple(steps), blocks, held, heads, edges, None, writers)


def compiled_alignment(network: UnrolledTransformer, model: Any) -> Alignment:
    """The alignment of the plain form of an unrolled network: all that it holds, in the dimensions that hold it."""
    layout, graph = network.layout, model.graph
    dims: dict[str, tuple[int, ...]] = {}
    for segment in layout.program.segments:
        own = [place for place, dim in enumerate(layout.dims) if segment.start <= dim < segment.stop]
        if own and not segment.channel.per_step:
            dims[segment.channel.name] = tuple(own)
    places = model.layout.layers_of
    after = (0, *(place - 1 for place in places[1:]), graph.layers)
    held = tuple(tuple(n for n in layout.held_at(s) if n in dims) for s in range(len(layout.layers) + 1))
    heads = {
        (name, step + 1): (places[step], number)
        for step, layer in enumerate(layout.layers)
        for number, name in enumerate(layer.heads)
    }
    width = model.tokens.shape[-1]
    writes, reads = _plain_parts(model)
    writers = {n: tuple(s for s, row in zip(graph.sources, writes) if row[list(own)].any()) for n, own in dims.items()}
    edges = _edges(graph, writes, reads)
    return Alignment(layout.name, width, graph, after, dims, held, heads, edges, None, writers)


def _edges(
    graph: ComponentGraph, writes: Bool[np.ndarray, "sources parts"], reads: Bool[np.ndarray, "destinations parts"]
) -> Bool[np.ndarray, "destinations sources"]:
    """The edges to destinations that read some part which the source writes."""
    return graph.possible & ((reads.astype(np.int32) @ writes.T.astype(np.int32)) > 0)


def _plain_parts(model: Any) -> tuple[np.ndarray, np.ndarray]:
    """The dimensions that each source of a plain Transformer writes, and that each destination reads."""
    layers = range(model.graph.layers)
    arrays = {name: np.asarray(getattr(model, name)) for name in ("query", "key", "value", "out", "mlp_in", "mlp_out")}
    writes = [_varies(np.asarray(model.tokens)), _varies(np.asarray(model.positions))]
    reads: list[np.ndarray] = []
    for n in layers:
        writes += [(out != 0).any(axis=0) for out in arrays["out"][n]] + [(arrays["mlp_out"][n] != 0).any(axis=0)]
        for head in range(model.graph.heads):
            reads += [(arrays[part][n, head] != 0).any(axis=1) for part in ("query", "key", "value")]
        reads.append((arrays["mlp_in"][n] != 0).any(axis=1))
    return np.stack(writes), np.stack([*reads, (np.asarray(model.readout) != 0).any(axis=0)])


def _varies(rows: np.ndarray) -> np.ndarray:
    return (rows != rows[:1]).any(axis=0)


def _passed(
    network: UnrolledTransformer, graph: ComponentGraph, held: Sequence[Sequence[str]], heads: Mapping[Any, Any]
) -> tuple[np.ndarray, np.ndarray]:
    """What each source writes, and what each destination reads of it that matters there.

    Columns are the channels that matter; those that depend on the position, whether they matter or not, because they
    are the same on all words; distances; and what each head wrote, which only the MLP of its layer reads.
    """
    layout, count = network.layout, len(network.layout.program.channels)
    names = [channel.name for channel in layout.program.channels]
    kept = np.array([not channel.per_step for channel in layout.program.channels])
    of_dim = np.array([[s.start <= dim < s.stop for s in layout.program.segments] for dim in layout.dims], dtype=bool)
    near, local = 2 * count, np.eye(graph.layers * graph.heads, dtype=bool).reshape(graph.layers, graph.heads, -1)

    def channels(dims: np.ndarray) -> np.ndarray:
        return (of_dim & dims[:, None]).any(axis=0) & kept

    def row(matter: Any = False, placed: Any = False, distances: bool = False, heads: Any = False) -> np.ndarray:
        found = np.zeros(near + 1 + local.shape[2], dtype=bool)
        found[:count], found[count:near], found[near], found[near + 1 :] = matter, placed, distances, heads
        return found

    def reader(dims: np.ndarray, step: int, **more: Any) -> np.ndarray:
        found = channels(dims)
        return row(found & [name in held[step] for name in names], found, **more)

    placed = False if network.positions is None else channels(_varies(network.positions))
    writes = [row(channels(_varies(network.tokens))), row(placed, placed, distances=True)]
    reads: list[np.ndarray] = []
    for step, layer in enumerate(network.layers):
        own = {number for (_, at), (_, number) in heads.items() if at == step + 1}
        for number in range(graph.heads):
            if number not in own:
                writes.append(row())
                reads += [row(), row(), row()]
                continue
            writes.append(row(heads=local[step, number]))
            distances = bool(layer.relative[number].any())
            for part, by in ((layer.query, distances), (layer.key, distances), (layer.value, False)):
                reads.append(reader((part[number] != 0).any(axis=1), step, distances=by))
        read = (layer.mlp_in[: layout.width] != 0).any(axis=1)
        if layer.expansion is not None:
            read = read | (layer.expansion.inputs != 0).any(axis=1)
        reads.append(reader(read, step, heads=local[step, sorted(own)].any(axis=0)))
        writes.append(row(channels((layer.mlp_out != 0).any(axis=0))))
    output = np.array([name == layout.output_name for name in names])
    return np.stack(writes), np.stack([*reads, row(output, output)])
