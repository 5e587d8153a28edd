"""The figures of the judge: every measure or method on some families of networks, with intervals."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from kleene.groundtruth.judging.judged import Judged
from kleene.pictures.interval_dots import interval_dots
from kleene_papers.stored import Result

FAMILIES = ("taught RNN", "taught LSTM", "LSTM, states hints", "taught Transformer")
LEFT_OUT = ("shapley",)  # it is the truth that the figure compares with
CIRCUIT_PANELS = {"nodes": "nodes_roc", "edges": "edges_roc"}
PANELS = {"all pairs": "spearman_output", "given the distance of the two symbols": "partial_output"}


def draw(result: Result, path: Any, families: Sequence[str] = FAMILIES) -> Path:
    """Draw rank correlations with the true interactions of the network's own output, from stored verdicts."""
    found = Judged.from_json(result.found)
    shown = found.only([family for family in families if family in found.families])
    panels = {title: _dots(shown, score) for title, score in PANELS.items()}
    title = "which measures find the true interactions of a network's output"
    return interval_dots(panels, path, across="rank correlation", title=title)


def draw_circuits(result: Result, path: Any) -> Path:
    """Draw how well methods find the nodes and the edges of true circuits, from stored verdicts."""
    found = Judged.from_json(result.found)
    panels = {title: _dots(found, score) for title, score in CIRCUIT_PANELS.items()}
    title = "which methods find the true circuit of a Transformer"
    return interval_dots(panels, path, across="area under ROC", title=title, limits=(0.3, 1.02))


def _dots(judged: Judged, score: str) -> dict[str, dict[str, Any]]:
    """For each method the interval of every family that has a number."""
    found: dict[str, dict[str, Any]] = {name: {} for name in judged.methods if name not in LEFT_OUT}
    for one in judged.verdicts:
        number = one[score]
        if one.method in found and not np.isnan(number.mean):
            found[one.method][one.family] = (number.mean, number.low, number.high)
    return found
