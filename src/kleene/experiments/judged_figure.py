"""The figures of the judge: every measure or method on some families of networks, with intervals."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from kleene.explaining.circuits.verdicts import CircuitVerdicts
from kleene.explaining.interactions.verdicts import InteractionVerdicts
from kleene.pictures.interval_dots import interval_dots

FAMILIES = ("taught RNN", "taught LSTM", "LSTM, states hints", "taught Transformer")
LEFT_OUT = ("shapley",)  # it is the truth that the figure compares with
CIRCUIT_PANELS = {"nodes": "nodes_roc", "edges": "edges_roc"}
PANELS = {"all pairs": "spearman", "given the distance of the two symbols": "partial"}


def draw(content: Mapping[str, Any], path: Any, families: Sequence[str] = FAMILIES) -> Path:
    """Draw rank correlations with the true interactions of the network's own output, from stored verdicts."""
    found = InteractionVerdicts.from_json(content)
    shown = found.only([family for family in families if family in found.families])
    panels = {
        title: {
            measure: {
                one.family: (numbers.mean, numbers.low, numbers.high)
                for one in shown.verdicts
                if one.measure == measure
                for numbers in [getattr(one, what)["output"]]
            }
            for measure in shown.measures
            if measure not in LEFT_OUT
        }
        for title, what in PANELS.items()
    }
    title = "which measures find the true interactions of a network's output"
    return interval_dots(panels, path, across="rank correlation", title=title)


def draw_circuits(content: Mapping[str, Any], path: Any) -> Path:
    """Draw how well methods find the nodes and the edges of true circuits, from stored verdicts."""
    found = CircuitVerdicts.from_json(content)
    panels = {
        title: {
            method: {
                one.family: (numbers.mean, numbers.low, numbers.high)
                for one in found.verdicts
                if one.method == method
                for numbers in [getattr(one, score)]
                if not np.isnan(numbers.mean)
            }
            for method in found.methods
        }
        for title, score in CIRCUIT_PANELS.items()
    }
    title = "which methods find the true circuit of a Transformer"
    return interval_dots(panels, path, across="area under ROC", title=title, limits=(0.3, 1.02))
