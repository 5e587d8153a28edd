"""Scores of a method against the true circuit: how it orders edges and nodes, and whether its best ones suffice."""

from dataclasses import dataclass
from typing import Any

import jax.numpy as jnp
import numpy as np

from kleene.errors import InputError
from kleene.explaining.circuits.circuit import TrueCircuit
from kleene.explaining.circuits.patching import Pairs, right_answers
from kleene.explaining.interactions.failures import real_numbers
from kleene.explaining.interactions.ranking import DIGITS, area_under_roc

# Sizes of circuits that are tried, as shares of the true number of edges or nodes.
SIZES = (0.0, 0.25, 0.5, 0.75, 1.0, 1.5, 2.0, 4.0)


@dataclass(frozen=True)
class CircuitScores:
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


def checked_scores(given: Any, circuit: TrueCircuit) -> np.ndarray:
    """The scores of a method as an array; an `InputError` if there is not a number for every possible edge or node."""
    scores, graph, edges = real_numbers(given), circuit.graph, circuit.graph.possible.shape
    if scores.shape not in (edges, edges[1:]):
        raise InputError(
            f"it returned an array of shape {scores.shape}, and {edges} was expected: [destinations, sources], or "
            f"{edges[1:]}: [sources]"
        )
    missing = np.argwhere(np.isnan(scores) & (graph.possible if scores.ndim == 2 else True))
    if len(missing):
        *row, column = missing[0].tolist()
        place = (
            f"the edge from {graph.sources[column]} to {graph.destinations[row[0]]}" if row else graph.sources[column]
        )
        raise InputError(f"it returned NaN for {place}")
    return scores


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
