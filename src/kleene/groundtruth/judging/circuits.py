"""Networks whose true circuit is known, and scores of methods against it.

How does a method order edges and nodes, and do its best ones suffice?
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import jax.numpy as jnp
import numpy as np

from kleene.errors import InputError
from kleene.explaining.circuits.circuit import TrueCircuit
from kleene.explaining.circuits.patching import Pairs, right_answers
from kleene.groundtruth.judging.ranking import DIGITS, area_under_roc, real_numbers
from kleene.groundtruth.judging.verdicts import CIRCUITS, JudgedKind, numbers_of
from kleene.machines.transformer.plain import PlainTransformer

LEAST = 4  # pairs of inputs: every other one is kept from the methods
# Sizes of circuits that are tried, as shares of the true number of edges or nodes.
SIZES = (0.0, 0.25, 0.5, 0.75, 1.0, 1.5, 2.0, 4.0)


@dataclass(frozen=True)
class JudgedCircuit:
    """A network whose true circuit is known, and pairs of inputs to judge methods on.

    `family` is what networks are grouped by, such as "compiled"; those of one `program` are not independent. Each of
    `others` is no shorter than its input, so that it says something at every position.
    """

    name: str
    family: str
    network: Any
    circuit: TrueCircuit | None
    inputs: tuple[Any, ...]
    others: tuple[Any, ...]
    program: str | None = None
    kind: ClassVar[JudgedKind] = CIRCUITS

    def __post_init__(self) -> None:
        if not isinstance(self.network, PlainTransformer):
            raise InputError(
                f"{self.name} is a {type(self.network).__name__}, and circuits are those of plain Transformers; "
                f"PlainTransformer.from_unrolled makes one of a program compiled with layers='unrolled'"
            )
        if self.circuit is None:
            raise InputError(
                f"the true circuit of {self.name} is not known, so no method can be judged on it; give a circuit. "
                f"`true_circuit` computes that of a compiled network, in whatever basis"
            )
        if self.circuit.graph != self.network.graph:
            mine, theirs = (f"{g.layers} layers of {g.heads} heads" for g in (self.network.graph, self.circuit.graph))
            raise InputError(f"{self.name} has {mine}, and its circuit {theirs}")
        if len(self.inputs) != len(self.others) or len(self.inputs) < LEAST:
            counts = f"{len(self.inputs)} inputs and {len(self.others)} others"
            raise InputError(f"{self.name} has {counts}; give as many of both, {LEAST} or more")
        short = [i for i, (a, b) in enumerate(zip(self.inputs, self.others)) if len(b) < len(a)]
        if short:
            raise InputError(f"input {short[0]} of {self.name} is longer than the other input that it is compared with")

    @property
    def group(self) -> str:
        return self.program or self.name

    def given(self) -> tuple[list[Any], list[Any]]:
        """The pairs that a method is given."""
        return list(self.inputs[::2]), list(self.others[::2])

    def held_out(self) -> Pairs:
        """The pairs on which circuits are tried."""
        return Pairs.of(self.network, self.inputs[1::2], self.others[1::2])

    def checked(self, scores: Any) -> np.ndarray:
        """What a method returned as an array; an `InputError` if some possible edge or node has no number."""
        graph, edges = self.network.graph, self.network.graph.possible.shape
        found = real_numbers(scores)
        if found.shape not in (edges, edges[1:]):
            raise InputError(
                f"it returned an array of shape {found.shape}, and {edges} was expected: [destinations, sources], or "
                f"{edges[1:]}: [sources]"
            )
        missing = np.argwhere(np.isnan(found) & (graph.possible if found.ndim == 2 else True))
        if len(missing):
            *row, column = missing[0].tolist()
            source = graph.sources[column]
            place = f"the edge from {source} to {graph.destinations[row[0]]}" if row else source
            raise InputError(f"it returned NaN for {place}")
        return found

    def why_not(self) -> None:
        """No network is left out, because its circuit was given."""

    def truth(self) -> "CircuitTruth":
        assert self.circuit is not None
        return CircuitTruth(self.circuit, self.held_out(), self.group)


class CircuitTruth(NamedTuple):
    """The true circuit of a network, and the pairs of inputs on which circuits are tried."""

    circuit: TrueCircuit
    pairs: Pairs
    program: str

    def about(self) -> dict[str, Any]:
        """The share of answers that stay right with the true circuit alone."""
        keeps = np.repeat(self.circuit.edges[None], len(SIZES), axis=0)  # the shape that is compiled for scores
        keeps = jnp.asarray(keeps, self.pairs.other.dtype)
        return {"program": self.program, "right": round(float(right_answers(self.pairs, keeps)[0]), 4)}

    def compared(self, scores: np.ndarray) -> tuple[Mapping[str, np.ndarray], dict[str, Any]]:
        """The numbers of a method as they are stored, and arrays of the same."""
        *numbers, curve = scored(scores, self.circuit, self.pairs)
        rounded = (None if np.isnan(value) else round(value, 4) for value in numbers)
        row = {"program": self.program, **dict(zip(CIRCUITS.by_network, rounded))}
        row["curve"] = [round(share, 4) for share in curve]
        return numbers_of(row), row


class CircuitScores(NamedTuple):
    """Area under ROC and average precision over edges and nodes, and the share of answers that stay right.

    A method for nodes has NaN for edges. `curve` has the share that stays right for each of `SIZES`; `faithfulness` is
    that of a circuit of the true size.
    """

    edges_roc: float
    edges_precision: float
    nodes_roc: float
    nodes_precision: float
    faithfulness: float
    curve: tuple[float, ...]


def scored(scores: np.ndarray, circuit: TrueCircuit, pairs: Pairs, *, seed: int = 0) -> CircuitScores:
    """All scores of a method on one network.

    A node's score is the highest of its edges. Edges with equal scores are taken in random order.
    """
    edges, nodes = (np.nan, np.nan), _ordered(circuit.nodes, _node_scores(scores, circuit), circuit.judged_nodes)
    if scores.ndim == 2:
        edges = _ordered(circuit.edges, scores, circuit.judged)
    curve = np.asarray(right_answers(pairs, jnp.asarray(_kept(scores, circuit, seed), pairs.other.dtype)), float)
    return CircuitScores(*edges, *nodes, float(curve[SIZES.index(1.0)]), tuple(curve.tolist()))


def average_precision(positive: np.ndarray, scores: np.ndarray) -> float:
    """The precision at each distinct score, weighted by how much of the positives is found there; NaN without any.

    >>> average_precision(np.array([True, False, True]), np.array([3.0, 2.0, 1.0])).__round__(4)
    0.8333
    """
    if not positive.any():
        return float("nan")
    rounded = _rounded(scores)
    found = [positive[rounded >= level] for level in np.unique(rounded)[::-1]]
    hits, sizes = np.array([some.sum() for some in found]), np.array([len(some) for some in found])
    return float((np.diff(hits, prepend=0) / positive.sum() * hits / sizes).sum())


def _ordered(positive: np.ndarray, scores: np.ndarray, judged: np.ndarray) -> tuple[float, float]:
    mine, theirs = positive[judged], scores[judged]
    return float(area_under_roc(mine, theirs)), average_precision(mine, theirs)


def _rounded(scores: np.ndarray) -> np.ndarray:
    """Numbers that agree in `DIGITS` digits of the largest are tied, as in `ranks`."""
    largest = np.abs(np.where(np.isfinite(scores), scores, 0)).max(initial=0)
    return np.round(scores / (largest if largest > 0 else 1), DIGITS)


def _node_scores(scores: np.ndarray, circuit: TrueCircuit) -> np.ndarray:
    if scores.ndim == 1:
        return scores
    return np.where(circuit.judged, scores, -np.inf).max(axis=0)


def _kept(scores: np.ndarray, circuit: TrueCircuit, seed: int) -> np.ndarray:
    """The edges that are kept for each of `SIZES`: [size, destinations, sources]. Positional edges always are."""
    by_edge = scores.ndim == 2
    true, judged = (circuit.edges, circuit.judged) if by_edge else (circuit.nodes, circuit.judged_nodes)
    rounded, chance = _rounded(np.where(judged, scores, -np.inf)).ravel(), np.random.default_rng(seed)
    order = np.lexsort((chance.random(rounded.size), -rounded))
    found = []
    for size in SIZES:
        best = np.zeros(rounded.size, dtype=bool)
        best[order[: round(size * int((true & judged).sum()))]] = True
        best = best.reshape(scores.shape) & judged
        found.append(circuit.positional | (best if by_edge else best & circuit.graph.possible))
    return np.stack(found)
