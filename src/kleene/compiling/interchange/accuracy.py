"""On how many pairs of inputs a plain Transformer does what its program does when a value is swapped in.

For each variable after each layer and for each head: the network gets on one word what it had on another, in the block
of the variable or as what the head wrote, at one position, and must answer as the program does under the same swap.
Strictness is the other half: what lies outside of the alignment is swapped, and the answer must stay the same.
"""

from dataclasses import dataclass
from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int

from kleene.compiling.interchange.alignment import Alignment
from kleene.compiling.interchange.counterfactuals import Counterfactuals, Site
from kleene.compiling.interchange.pairs import DrawnPairs, site_pairs, word_pairs
from kleene.errors import InputError
from kleene.machines.transformer.components import ComponentGraph
from kleene.machines.transformer.plain import PlainTransformer
from kleene.machines.transformer.swapping import Swap, activations, swapped
from kleene.notation.shares import interval
from kleene.traces.markup import html_table


class Where(NamedTuple):
    """What is swapped, at whatever positions: coordinates of the stream at each step, and heads."""

    stream: Float[np.ndarray, "step width"]
    heads: Float[np.ndarray, "layers heads"]


def where_of(alignment: Alignment, site: Site) -> Where:
    """Where a site is in the network."""
    found = nowhere(alignment)
    if site.head:
        layer, head = alignment.heads[site.name, site.layer]
        found.heads[layer - 1, head] = 1
    else:
        found.stream[alignment.after[site.layer]] = alignment.coordinates([site.name])
    return found


def nowhere(alignment: Alignment) -> Where:
    """Nothing, to be filled in."""
    graph = alignment.graph
    return Where(
        np.zeros((graph.layers + 1, alignment.width), np.float32), np.zeros((graph.layers, graph.heads), np.float32)
    )


@dataclass(frozen=True)
class AgreementCount:
    """On how many of the pairs the network answered right at all positions, and on how many of those that matter.

    In `changed` pairs the program's own output changes with the swap.
    """

    what: str
    right: int
    pairs: int
    right_changed: int = 0
    changed: int = 0

    @property
    def share(self) -> float:
        return self.right / self.pairs if self.pairs else float("nan")

    @property
    def interval(self) -> tuple[float, float]:
        """The 95% interval of the share (Wilson)."""
        return interval(self.right, self.pairs) if self.pairs else (0.0, 1.0)

    def as_json(self) -> dict[str, Any]:
        counted = {"right": self.right, "pairs": self.pairs, "interval": [round(x, 4) for x in self.interval]}
        return {"what": self.what} | counted | {"right_changed": self.right_changed, "changed": self.changed}


@dataclass(frozen=True)
class Agreement:
    """Counts of right answers: of `InterchangeAccuracy` by site, of `Strictness` by what lies outside."""

    name: str
    counts: tuple[AgreementCount, ...]

    @property
    def right(self) -> int:
        return sum(count.right for count in self.counts)

    @property
    def pairs(self) -> int:
        return sum(count.pairs for count in self.counts)

    @property
    def share(self) -> float:
        """The share of all pairs on which the network answered right."""
        return self.right / self.pairs if self.pairs else float("nan")

    @property
    def perfect(self) -> bool:
        """Whether it was right on every pair."""
        return self.right == self.pairs

    def of(self, what: Any) -> AgreementCount:
        """The count of a site, or of what its text says."""
        for count in self.counts:
            if count.what == str(what):
                return count
        raise InputError(
            f"{self.name}: nothing was counted of {str(what)!r}; see {', '.join(c.what for c in self.counts)}"
        )

    def rows(self) -> list[tuple[str, ...]]:
        """The table as text, its head first."""
        found = [("swapped", "right", "pairs", "share", "95%", "right where the output changes")]
        for count in self.counts:
            low, high = count.interval
            changed = f"{count.right_changed} of {count.changed}" if count.changed else ""
            shown = f"{count.share:.3f}" if count.pairs else "-"
            found.append((count.what, str(count.right), str(count.pairs), shown, f"[{low:.3f}, {high:.3f}]", changed))
        return found

    def __str__(self) -> str:
        rows = self.rows()
        widths = [max(len(row[n]) for row in rows) for n in range(len(rows[0]))]
        lines = ["  ".join(cell.ljust(width) for cell, width in zip(row, widths)).rstrip() for row in rows]
        return "\n".join([f"{self.name}: {self.right} of {self.pairs}", *lines])

    def __repr__(self) -> str:
        return f"<{type(self).__name__} of {self.name}: {self.right} of {self.pairs}>"

    def _repr_html_(self) -> str:
        return html_table(self.rows(), caption=repr(self).strip("<>"))

    def as_json(self) -> dict[str, Any]:
        counts = [count.as_json() for count in self.counts]
        return {"name": self.name, "right": self.right, "pairs": self.pairs, "counts": counts}


class InterchangeAccuracy(Agreement):
    """On how many pairs a network answers as its program does under the same swap, by site."""


class Strictness(Agreement):
    """On how many pairs a network's answer stays the same when what lies outside of its alignment is swapped."""


def interchange_accuracy(
    network: PlainTransformer, alignment: Alignment, table: Counterfactuals, *, pairs: int = 256, seed: int = 0
) -> InterchangeAccuracy:
    """The accuracy at each site of the table that the network is aligned with, on so many held-out pairs.

    The first row counts the words on which the network answers as the program does, without any swap.
    """
    check_fit(network, alignment)
    rng = np.random.default_rng(seed)
    plain = answers(network, table.tokens, table.lengths)
    right = (plain == table.outputs) | (table.outputs < 0)
    counts = [AgreementCount("nothing", int(right.all(axis=1).sum()), len(right))]
    for number, site in enumerate(table.sites):
        if not alignment.aligned(site):
            continue
        drawn = site_pairs(table, number, pairs, rng)
        wanted = table.results(number, drawn.base, drawn.other, drawn.position)
        places = np.arange(table.tokens.shape[1]) == drawn.position[:, None]
        found = swapped_answers(network, alignment, table, drawn, where_of(alignment, site), places)
        counts.append(_counted(str(site), found, wanted, table.outputs[drawn.base]))
    return InterchangeAccuracy(table.name, tuple(counts))


def strictness(
    network: PlainTransformer, alignment: Alignment, table: Counterfactuals, *, pairs: int = 256, seed: int = 0
) -> Strictness:
    """The strictness of free dimensions after each layer, of spare heads, and of edges outside of the circuit.

    What a component has is swapped at all positions that both words have. A pair counts as right where the answer is
    the same as without the swap.
    """
    check_fit(network, alignment)
    rng = np.random.default_rng(seed)
    own = answers(network, table.tokens, table.lengths)
    own = np.where(table.outputs >= 0, own, -1)
    counts = []
    for what, where in outside(alignment):
        drawn = word_pairs(table, pairs, rng)
        found = swapped_answers(network, alignment, table, drawn, where, shared_places(table, drawn))
        counts.append(_counted(what, found, own[drawn.base]))
    beyond = np.argwhere(alignment.graph.possible & ~alignment.edges)
    if len(beyond):
        drawn = word_pairs(table, pairs, rng)
        keep = np.repeat(alignment.edges[None], len(drawn), axis=0)
        found = patched_answers(network, table, drawn, keep.astype(np.float32))
        counts.append(_counted("all edges outside", found, own[drawn.base]))
        drawn = word_pairs(table, max(pairs, 4 * len(beyond)), rng)
        keep = np.ones((len(drawn), *alignment.edges.shape), np.float32)
        rows = np.arange(len(drawn))
        keep[rows, *beyond[rows % len(beyond)].T] = 0
        found = patched_answers(network, table, drawn, keep)
        counts.append(_counted("one edge outside", found, own[drawn.base]))
    return Strictness(table.name, tuple(counts))


def outside(alignment: Alignment) -> list[tuple[str, Where]]:
    """What lies outside of the alignment, piece by piece: free dimensions after each layer, and spare heads."""
    found = []
    for step in range(alignment.graph.layers + 1):
        where = nowhere(alignment)
        where.stream[step] = alignment.free(step)
        if where.stream.any():
            found.append((f"free dimensions after layer {step}", where))
    for layer, head in np.argwhere(alignment.spare_heads()):
        where = nowhere(alignment)
        where.heads[layer, head] = 1
        found.append((f"head {layer + 1}.{head}", where))
    return found


def check_fit(network: PlainTransformer, alignment: Alignment) -> None:
    """Refuse an alignment that is for a network of another size."""
    width = network.tokens.shape[-1]
    if (network.graph, width) != (alignment.graph, alignment.width):
        raise InputError(
            f"the alignment of {alignment.name} is for {_shown(alignment.graph, alignment.width)}, and the network has "
            f"{_shown(network.graph, width)}"
        )


def _shown(graph: ComponentGraph, width: int) -> str:
    return f"{graph.layers} layers of {graph.heads} heads and width {width}"


def shared_places(table: Counterfactuals, drawn: DrawnPairs) -> np.ndarray:
    """The positions that both words of a pair have."""
    shorter = np.minimum(table.lengths[drawn.base], table.lengths[drawn.other])
    return np.arange(table.tokens.shape[1]) < shorter[:, None]


def _counted(what: str, found: np.ndarray, wanted: np.ndarray, before: np.ndarray | None = None) -> AgreementCount:
    right = ((found == wanted) | (wanted < 0)).all(axis=1)
    if before is None:
        return AgreementCount(what, int(right.sum()), len(right))
    changed = ((wanted != before) & (wanted >= 0)).any(axis=1)
    return AgreementCount(what, int(right.sum()), len(right), int((right & changed).sum()), int(changed.sum()))


def answers(network: PlainTransformer, tokens: np.ndarray, lengths: np.ndarray) -> Int[np.ndarray, "word position"]:
    """The network's output codes on padded words."""
    return np.asarray(_answers(network, jnp.asarray(tokens), jnp.asarray(lengths)))


def swapped_answers(
    network: PlainTransformer,
    alignment: Alignment,
    table: Counterfactuals,
    drawn: DrawnPairs,
    where: Where,
    places: np.ndarray,
) -> Int[np.ndarray, "pair position"]:
    """The output codes on the first word of each pair, with what the second has there."""
    if not len(drawn):
        return np.zeros((0, table.tokens.shape[1]), np.int32)
    frame = None if alignment.frame is None else jnp.asarray(alignment.frame, network.tokens.dtype)
    rows = _padded_rows(len(drawn))
    base, other = _words_of(table, drawn.base[rows]), _words_of(table, drawn.other[rows])
    at = jnp.asarray(places[rows], jnp.float32)
    found = _swapped(network, frame, base, other, jnp.asarray(where.stream), jnp.asarray(where.heads), at)
    return np.asarray(found)[: len(drawn)]


def patched_answers(
    network: PlainTransformer,
    table: Counterfactuals,
    drawn: DrawnPairs,
    keep: Float[np.ndarray, "pair destinations sources"],
) -> Int[np.ndarray, "pair position"]:
    """The output codes on the first word of each pair; edges that are not kept pass on what the second word has."""
    if not len(drawn):
        return np.zeros((0, table.tokens.shape[1]), np.int32)
    rows = _padded_rows(len(drawn))
    base, other = _words_of(table, drawn.base[rows]), _words_of(table, drawn.other[rows])
    places = jnp.asarray(shared_places(table, drawn)[rows])
    return np.asarray(_patched(network, base, other, jnp.asarray(keep[rows]), places))[: len(drawn)]


def _words_of(table: Counterfactuals, numbers: np.ndarray) -> tuple[Array, Array]:
    """The tokens of the words with these numbers, and their lengths."""
    return jnp.asarray(table.tokens[numbers]), jnp.asarray(table.lengths[numbers])


def _padded_rows(count: int) -> np.ndarray:
    """The rows and more of the last, up to a power of two, so that few sizes are compiled."""
    return np.minimum(np.arange(1 << (count - 1).bit_length()), count - 1)


@eqx.filter_jit
def _answers(network: PlainTransformer, tokens: Array, lengths: Array) -> Array:
    return jnp.argmax(jax.vmap(network)(tokens, lengths), axis=-1)


@eqx.filter_jit
def _swapped(
    network: PlainTransformer,
    frame: Array | None,
    base: tuple[Array, Array],
    other: tuple[Array, Array],
    stream: Array,
    heads: Array,
    places: Array,
) -> Array:
    def one(word: Array, length: Array, source: Array, source_length: Array, at: Array) -> Array:
        values = activations(network, source, source_length)
        swap = Swap(values, stream[:, None] * at[:, None], heads[..., None] * at)
        return jnp.argmax(swapped(network, word, length, swap, frame), axis=-1)

    return jax.vmap(one)(*base, *other, places)


@eqx.filter_jit
def _patched(
    network: PlainTransformer,
    base: tuple[Array, Array],
    other: tuple[Array, Array],
    keep: Array,
    places: Array,
) -> Array:
    def one(word: Array, length: Array, source: Array, source_length: Array, keep: Array, at: Array) -> Array:
        own, theirs = network.written(word, length), network.written(source, source_length)
        return jnp.argmax(network(word, length, keep, jnp.where(at[:, None], theirs, own)), axis=-1)

    return jax.vmap(one)(*base, *other, keep, places)
