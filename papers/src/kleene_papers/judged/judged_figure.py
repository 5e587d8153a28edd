"""The figures of the judge: every measure or method on some families of networks, with intervals."""

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from kleene.explaining.circuits.verdicts import CircuitVerdicts
from kleene.explaining.interactions.ranking import Interval
from kleene.explaining.interactions.verdicts import InteractionVerdicts
from kleene.pictures.interval_dots import interval_dots
from kleene_papers.stored import Result

FAMILIES = ("taught RNN", "taught LSTM", "LSTM, states hints", "taught Transformer")
LEFT_OUT = ("shapley",)  # it is the truth that the figure compares with
CIRCUIT_PANELS = {"nodes": "nodes_roc", "edges": "edges_roc"}
PANELS = {"all pairs": "spearman", "given the distance of the two symbols": "partial"}


def draw(result: Result, path: Any, families: Sequence[str] = FAMILIES) -> Path:
    """Draw rank correlations with the true interactions of the network's own output, from stored verdicts."""
    found = InteractionVerdicts.from_json(result.found)
    shown = found.only([family for family in families if family in found.families])
    measures = [measure for measure in shown.measures if measure not in LEFT_OUT]
    panels = {
        title: _dots(measures, ((one.measure, one.family, getattr(one, what)["output"]) for one in shown.verdicts))
        for title, what in PANELS.items()
    }
    title = "which measures find the true interactions of a network's output"
    return interval_dots(panels, path, across="rank correlation", title=title)


def draw_circuits(result: Result, path: Any) -> Path:
    """Draw how well methods find the nodes and the edges of true circuits, from stored verdicts."""
    found = CircuitVerdicts.from_json(result.found)
    panels = {
        title: _dots(found.methods, ((one.method, one.family, getattr(one, score)) for one in found.verdicts))
        for title, score in CIRCUIT_PANELS.items()
    }
    title = "which methods find the true circuit of a Transformer"
    return interval_dots(panels, path, across="area under ROC", title=title, limits=(0.3, 1.02))


def _dots(names: Sequence[str], numbers: Iterable[tuple[str, str, Interval]]) -> dict[str, dict[str, Any]]:
    """For each name the interval of every family that has a number."""
    found: dict[str, dict[str, Any]] = {name: {} for name in names}
    for name, family, number in numbers:
        if name in found and not np.isnan(number.mean):
            found[name][family] = (number.mean, number.low, number.high)
    return found
