"""Which variables of a program can be read linearly off a network's residual stream, at which layer and which step."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from kleene.explaining.networks.probes import Points, ProbeScores, halves, scores_of, spaced, whitened
from kleene.machines.transformer.streams import ResidualStreams
from kleene.programs.alta.program import Program
from kleene.programs.alta.variables import Categorical
from kleene.traces import TraceBatch

POINTS = 2048  # positions of words on which probes are fitted, and as many on which they are tested


@dataclass(frozen=True)
class StepReading:
    """How well a variable after one step of the program is read after one layer of the network.

    `untrained` is the same for a network with random weights, and `majority` for the most frequent value.
    """

    step: int
    layer: int
    accuracy: float
    majority: float
    untrained: float | None
    points: int


@dataclass(frozen=True, eq=False, repr=False)
class VariableReading:
    """The probes of one variable or head's output, for each of some layers of the network and steps of the program."""

    name: str
    is_head: bool
    layers: list[int]
    steps: list[int]
    scores: ProbeScores
    control: ProbeScores | None

    def __repr__(self) -> str:
        return f"<VariableReading {self.name}: {self.accuracy:.1%} at the best layers>"

    @cached_property
    def best(self) -> list[StepReading]:
        """For each step the layer at which it is read best, of several the nearest.

        The layer is chosen on one half of the tested words, and the accuracy is that on the other.
        """
        found = [self._at(n, self._best_layer(self.scores, n), self.scores.confirmed) for n in range(len(self.steps))]
        return [one for one in found if not np.isnan(one.accuracy)]

    @cached_property
    def same(self) -> list[StepReading]:
        """For each step the layer of the same number, where there is one."""
        there = [n for n, step in enumerate(self.steps) if step in self.layers]
        found = [self._at(n, self.layers.index(self.steps[n]), self.scores.tested) for n in there]
        return [one for one in found if not np.isnan(one.accuracy)]

    def _best_layer(self, scores: ProbeScores, column: int) -> int:
        chosen = np.nan_to_num(scores.chosen[:, column], nan=-1)
        distance = [abs(layer - self.steps[column]) for layer in self.layers]
        return min(range(len(self.layers)), key=lambda row: (-round(float(chosen[row]), 4), distance[row]))

    def _at(self, column: int, row: int, shares: np.ndarray) -> StepReading:
        other, scores = None, self.scores
        if self.control is not None:
            other = float(self.control.confirmed[self._best_layer(self.control, column), column])
        values = (float(shares[row, column]), float(scores.majority[row, column]))
        return StepReading(self.steps[column], self.layers[row], *values, other, int(scores.points[row, column]))

    @property
    def accuracy(self) -> float:
        """The mean over all steps at their best layers."""
        return mean_of(self.best, "accuracy")

    def as_json(self) -> dict[str, Any]:
        return {
            "variable": self.name,
            "head": self.is_head,
            "accuracy": rounded(self.accuracy),
            "same_layer": rounded(mean_of(self.same, "accuracy")),
            "majority": rounded(mean_of(self.best, "majority")),
            "untrained": rounded(mean_of(self.best, "untrained")),
            "best": [{name: rounded(value) for name, value in vars(one).items()} for one in self.best],
            "layers": self.layers,
            "steps": self.steps,
            "by_layer_and_step": [[rounded(value) for value in row] for row in self.scores.tested.tolist()],
        }


def mean_of(found: Sequence[StepReading], what: str) -> float:
    """The mean of an attribute of readings; NaN where there is none."""
    values = [getattr(one, what) for one in found]
    return float(np.nanmean(values)) if values and None not in values else float("nan")


def rounded(value: Any) -> Any:
    """A number with six digits, None for NaN."""
    if not isinstance(value, float):
        return value
    return None if np.isnan(value) else round(value, 6)


def readings_of(
    program: Program,
    traces: TraceBatch,
    streams: ResidualStreams,
    control: ResidualStreams | None,
    *,
    most: int,
    seed: int = 0,
) -> list[VariableReading]:
    """The probes of all categorical variables and heads' outputs, at up to `most` layers and for up to `most` steps.

    The words are split into halves; probes are fitted on the one and tested on the other. A head's output is read after
    the attention of a layer, a variable at the start and after a layer.
    """
    places = [_places(streams.lengths, rows, seed) for rows in halves(len(streams.lengths), seed)]
    layers = {is_head: spaced(int(streams.layers.max()), most, int(is_head)) for is_head in (False, True)}
    steps = {is_head: spaced(int(np.asarray(traces.steps).max()), most, int(is_head)) for is_head in (False, True)}
    points = {
        (is_head, which): whitened(*(_points(held, is_head, layers[is_head], *place) for place in places))
        for is_head in (False, True)
        for which, held in enumerate((streams, control))
        if held is not None and layers[is_head]
    }
    found = []
    for name, variable in program.domains.items():
        is_head = name in program.outputs
        if not isinstance(variable, Categorical) or not layers[is_head] or not steps[is_head]:
            continue
        targets = [_targets(traces, name, steps[is_head], *place) for place in places]
        scores = [
            scores_of(*points[is_head, which], targets[0], targets[1], variable.range)
            for which in (0, 1)
            if (is_head, which) in points
        ]
        found.append(VariableReading(name, is_head, layers[is_head], steps[is_head], scores[0], (*scores, None)[1]))
    return found


def _places(lengths: np.ndarray, rows: Sequence[int], seed: int) -> tuple[np.ndarray, np.ndarray]:
    """The words and positions of at most `POINTS` entries of these rows."""
    chosen = np.asarray(rows, dtype=np.int64)
    words = np.repeat(chosen, lengths[chosen])
    positions = np.concatenate([np.arange(n) for n in lengths[chosen]])
    kept = np.sort(np.random.default_rng(seed).permutation(len(words))[:POINTS])
    return words[kept], positions[kept]


def _targets(
    traces: TraceBatch, name: str, steps: Sequence[int], words: np.ndarray, positions: np.ndarray
) -> np.ndarray:
    values = np.asarray(traces.data[name])[words[:, None], np.asarray(steps)[None], positions[:, None]]
    there = np.asarray(steps)[None] <= np.asarray(traces.steps)[words][:, None]
    return np.where(there, values, -1).astype(np.int32)


def _points(
    streams: ResidualStreams, is_head: bool, layers: Sequence[int], words: np.ndarray, positions: np.ndarray
) -> Points:
    held = streams.attended if is_head else streams.states
    at = np.asarray(layers) - is_head
    found = held[words[None], at[:, None], positions[None]]
    chooses = np.isin(words, np.unique(words)[::2])
    return Points(found, np.asarray(layers)[:, None] <= streams.layers[words][None], chooses)
