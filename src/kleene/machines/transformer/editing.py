"""Interventions on the run of a compiled Transformer: values put into the residual stream and into the heads' outputs.

A value is written as the network would hold it: one-hot, multi-hot, or a number on the network's own grid. What a
channel may hold is read off the weights, so that a network from a file refuses what its program refuses.
"""

from typing import Any, NamedTuple

import numpy as np

from kleene.machines.transformer.layer import Runnable, place_of
from kleene.machines.transformer.numbers import grid_step, on_grid
from kleene.machines.transformer.parameters import Layout, Parameters, Segment
from kleene.notation.edit_plans import EditPlan, Placed
from kleene.notation.edits import Edits


class HeadValues(NamedTuple):
    """What replaces the heads' outputs in one layer: values and where, and which heads are defined by it."""

    values: Any  # (batch, position, dimensions), like what the heads read
    where: Any
    defined: Any  # (batch, position, heads)


class NetworkEdits:
    """The edits of a batch of runs of a network. `rows` are those of the batch that are still running."""

    def __init__(self, network: Parameters, runnable: Runnable, edits: Edits, lengths: np.ndarray):
        layout = network.layout
        self._runnable, self._layout = runnable, layout
        self._grids = _grids(network)
        self.plan = EditPlan(
            layout.name, edits, layout.channels, lengths, grids=self._grids, sets=_declared_sets(network)
        )

    def after(self, layer: int, rows: np.ndarray, state: np.ndarray) -> np.ndarray:
        """The state with the variables that are set after the layer."""
        state = np.array(state)
        for placed in self.plan.at(layer):
            segment = self._layout.segment(placed.name)
            at, positions, dims = self._running(placed, rows, segment, state.dtype)
            state[at, positions, place_of(self._runnable, segment)] = dims
        return state

    def attended(self, layer: int, rows: np.ndarray, state: np.ndarray) -> HeadValues | None:
        """What the heads' outputs are replaced by in the layer; None where nothing is."""
        found = list(self.plan.at(layer, heads=True))
        if not found:
            return None
        plan, heads = self._runnable.plan, self._layout.heads
        shape = (*state.shape[:2], self._layout.width if plan is None else len(plan.read))
        values, where = np.zeros(shape, dtype=state.dtype), np.zeros(shape, dtype=bool)
        defined = np.zeros((*state.shape[:2], len(heads)), dtype=bool)
        for placed in found:
            segment = self._layout.segment(placed.name)
            at, positions, dims = self._running(placed, rows, segment, state.dtype)
            place = place_of(self._runnable, segment)
            values[at, positions, place] = dims
            where[at, positions, place] = True
            defined[at, positions, heads.index(placed.name)] = True
        return HeadValues(values, where, defined)

    def _running(self, placed: Placed, rows: np.ndarray, segment: Segment, dtype: np.dtype) -> tuple[Any, Any, Any]:
        assert placed.positions is not None
        going, at = placed.among(rows)
        dims = encoded(segment, placed.entries[going], self._grids.get(placed.name))
        return at, placed.positions[going], dims.astype(dtype)


def encoded(segment: Segment, entries: np.ndarray, step: float | None) -> np.ndarray:
    """The dimensions that hold the entries; `step` is that of the grid on which the network holds the number."""
    kind = segment.channel.kind
    if kind == "category":
        return (np.arange(segment.width) == entries[:, None]).astype(np.float64)
    if kind == "set":
        return np.asarray(entries, dtype=np.float64)
    return (entries if step is None else on_grid(entries, step))[:, None]


def _grids(network: Parameters) -> dict[str, float]:
    """The step of the grid of every number that the MLP writes."""
    layout: Layout = network.layout
    return {
        s.channel.name: grid_step(np.array(s.channel.values), network.tokens.dtype)
        for s in layout.kept_segments
        if s.channel.kind == "number" and s.channel.values and np.asarray(network.mlp_out[:, s.start] != 0).any()
    }


def _declared_sets(network: Parameters) -> dict[str, list[frozenset[int]]]:
    """The sets that a set variable may hold, where the MLP looks at it: each has a step unit of the expansion."""
    if network.expansion is None:
        return {}
    inputs, bias = network.expansion.inputs.astype(np.float64), network.expansion.bias.astype(np.float64)
    found = {}
    for segment in network.layout.kept_segments:
        if segment.channel.kind != "set":
            continue
        here = inputs[segment.start : segment.stop]
        alone = (np.abs(here) == 1).all(axis=0) & ((inputs != 0).sum(axis=0) == segment.width)
        units = np.flatnonzero(alone & (bias == 1 - (here > 0).sum(axis=0)))
        if len(units):
            found[segment.channel.name] = [frozenset(np.flatnonzero(here[:, unit] > 0).tolist()) for unit in units]
    return found
