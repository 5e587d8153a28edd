"""Running a compiled Transformer with patches in it: softmax attention, in numpy, and nothing is refused on the way."""

from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from kleene.errors import EditError
from kleene.machines.transformer.editing import NetworkEdits
from kleene.machines.transformer.layer import Runnable, advance, entries, has_halted, kept_entries, outputs_of
from kleene.machines.transformer.parameters import Parameters
from kleene.machines.transformer.patching import Patches, PatchTap, check_patches
from kleene.notation.edit_plans import includes
from kleene.traces import Trace, TraceBatch
from kleene.traces.attention import AttentionPatterns
from kleene.traces.trace import Recorder


class PatchedRun:
    """A batch of runs with patches; `editing` has the edits, if there are any."""

    def __init__(
        self,
        network: Parameters,
        runnable: Runnable,
        lengths: np.ndarray,
        patches: Patches,
        editing: NetworkEdits | None,
    ):
        if network.dtype == "bfloat16":
            raise EditError(f"{network.layout.name}: patches need float32 or float64 weights; compile it again")
        check_patches(network, runnable, [patch for patch, _ in patches], int(lengths.max(initial=0)))
        self.network, self.runnable, self.lengths, self.editing = network, runnable, lengths, editing
        self.patches = patches
        self.patterns: list[tuple[np.ndarray, np.ndarray]] = []  # rows, and theirs, of each layer

    def run(self, state: np.ndarray, limit: int, recorder: Recorder, record: bool) -> TraceBatch:
        """The traces; a run that has not halted ends at the limit."""
        rows, layer = np.arange(len(self.lengths)), 0
        state = self._tap(0, rows, state.shape[1]).after(state)
        if self.editing is not None:
            state = self.editing.after(0, rows, state)
        recorder.add(0, rows, (kept_entries if record else outputs_of)(np, self.runnable, state))
        while True:
            done = has_halted(np, self.runnable, state, self.lengths[rows])
            if done.any():
                recorder.finish(rows[done], layer, halted=True)
                rows, state = rows[~done], state[~done]
            if not len(rows) or layer >= limit:
                break
            layer += 1
            state = state[:, : int(self.lengths[rows].max())]
            tap = self._tap(layer, rows, state.shape[1])
            heads = None if self.editing is None else self.editing.attended(layer, rows, state)
            step = advance(np, self.runnable, state, self.lengths[rows], heads, tap)
            state = tap.after(step.state)
            if self.editing is not None:
                state = self.editing.after(layer, rows, state)
            self.patterns.append((rows, tap.patterns))
            found = entries(np, self.runnable, step._replace(state=state)) if record else None
            recorder.add(layer, rows, found if found is not None else outputs_of(np, self.runnable, state))
        recorder.finish(rows, layer, halted=False)
        batch = recorder.batch()
        self._refuse_unreached(batch.steps)
        return replace(batch, patterns=partial(_recorded, self.network.layout.heads, self.patterns))

    def _tap(self, layer: int, rows: np.ndarray, width: int) -> PatchTap:
        inside = np.arange(width) < self.lengths[rows][:, None]
        here = [(patch, np.isin(rows, own)) for patch, own in self.patches if includes(patch.layer, layer)]
        return PatchTap(self.network, here, inside)

    def _refuse_unreached(self, steps: np.ndarray) -> None:
        if self.editing is not None:
            self.editing.plan.refuse_unreached(steps)
        for patch, rows in self.patches:
            layers = patch.layer
            last = -1 if layers is None else layers if isinstance(layers, int) else max(layers, default=-1)
            if len(rows) and last > steps[rows].max():
                raise EditError(
                    f"{self.network.layout.name}: {patch} is for layer {last}, and the run ended after layer "
                    f"{int(steps[rows].max())}"
                )


def _recorded(heads: tuple[str, ...], kept: Any, index: int, trace: Trace) -> AttentionPatterns:
    positions = next(iter(trace.data.values())).shape[1]
    found = [patterns[rows == index][0, :, :positions, :positions] for rows, patterns in kept[: trace.steps]]
    empty = np.zeros((0, len(heads), positions, positions))
    return AttentionPatterns(heads, np.stack(found) if found else empty)
