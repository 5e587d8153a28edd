"""Running an unrolled network: every input through every layer, with softmax attention, in numpy.

The trace of an input ends where all its positions have halted. It then still goes through the remaining layers, as it
would in any other library, and a run whose output changes there is refused.
"""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from kleene.errors import Reason, RunError
from kleene.limits import LayerLimit
from kleene.machines.transformer.attention import Tap, attention_from, projected
from kleene.machines.transformer.layer import between, features_of, looked_at, mlp, undefined_error, with_faults
from kleene.machines.transformer.parameters import Parameters, is_clean, read_segment
from kleene.machines.transformer.patching import Interventions
from kleene.machines.transformer.unrolled_patching import LayerPatches, checked_patches
from kleene.notation.words import padded
from kleene.traces import Trace, TraceBatch
from kleene.traces.attention import AttentionPatterns
from kleene.traces.trace import Recorder


def execute_unrolled(
    network: Any,
    sequences: Sequence[Sequence[Any]],
    *,
    max_layers: int | None,
    record: bool,
    edits: Interventions = (),
) -> TraceBatch:
    """The traces of an unrolled network on a batch of inputs; of edits it takes patches alone."""
    layout = network.layout
    tokens, lengths = padded([layout.check_input(sequence) for sequence in sequences])
    prefix = layout.program.prefix
    recorder = Recorder(layout.channels, lengths, layout.output_name, record=record, source="network", prefix=prefix)
    state = network.tokens[tokens]
    if network.positions is not None:
        state = state + network.positions[: tokens.shape[1]]
    patches = checked_patches(network, edits, len(lengths), int(lengths.max(initial=0)))
    run = UnrolledRun(network, lengths, recorder, patches)
    limit = _limit(network, max_layers)
    with np.errstate(over="ignore"):
        run.all_layers(state, min(limit.layers, len(network.layers)))
    batch = recorder.batch()
    if patches is None:
        limit.check(batch.halted)
    return replace(batch, patterns=partial(_patterns_of_run, network, sequences, patches))


def _limit(network: Any, asked: int | None) -> LayerLimit:
    """The limit of a run. A network with fewer layers than were asked for must have halted after its own."""
    layout = network.layout
    own = LayerLimit(layout.name, layout.limit, layout.program.halts)
    limit = LayerLimit.of(layout.name, own.layers, asked, halts=own.must_halt)
    return own if limit.layers > len(network.layers) else limit


def _patterns_of_run(
    network: Any, sequences: Sequence[Sequence[Any]], patches: LayerPatches | None, index: int, trace: Trace
) -> AttentionPatterns:
    """The patterns of every head of the program; those of a head that a layer does not have are not numbers."""
    own = None if patches is None else patches.of_row(index)
    found, heads = patterns_of_layers(network, sequences[index], own)[: trace.steps], network.layout.program.heads
    positions = trace[network.layout.output_name].shape[1]
    nothing = np.full((positions, positions), np.nan)
    weights = [[layer.get(head, nothing) for head in heads] for layer in found]
    return AttentionPatterns(heads, np.array(weights).reshape(len(found), len(heads), positions, positions))


def forward(
    layer: Parameters, state: np.ndarray, lengths: np.ndarray, *, causal: bool, tap: Tap | None = None
) -> tuple[np.ndarray, np.ndarray, Any, Any]:
    """The state after one layer, after its attention, why heads are undefined, and where undefined output is used."""
    places = np.arange(state.shape[1])
    seen = (places < lengths[:, None])[:, None, None, :]
    if causal:
        seen = seen & (places[None, :] <= places[:, None])
    attended = attention_from(np, layer, *projected(np, layer, state), places, seen, tap)
    x = state + attended.read
    e, probe = layer.expansion, layer.probe
    expansion = None if e is None else (e.inputs, e.bias, e.outputs, e.constant)
    features, steps = features_of(np, expansion, layer.activation, x)
    reasons = with_faults(np, probe, between(np, layer.layout, layer.activation, steps, attended.reasons))
    mlp_in, mlp_bias = layer.mlp_in, layer.mlp_bias
    if probe is not None:
        mlp_in = np.concatenate([mlp_in, probe.rows], axis=1)
        mlp_bias = np.concatenate([mlp_bias, -probe.least.astype(mlp_bias.dtype)])
    change, rows = mlp(np, layer.activation, features, mlp_in, mlp_bias, layer.mlp_out, tap)
    used = None if probe is None else looked_at(np, probe, rows, reasons, lengths)
    return x + change, x, reasons, used


def patterns_of_layers(
    network: Any, sequence: Sequence[Any], patches: LayerPatches | None = None
) -> tuple[dict[str, np.ndarray], ...]:
    """For each layer, how much each of its heads read from each position, (query, key), on one input."""
    layout = network.layout
    tokens = np.array([layout.check_input(sequence)])
    state, lengths, found = network.tokens[tokens], np.array([tokens.shape[1]]), []
    if network.positions is not None:
        state = state + network.positions[: tokens.shape[1]]
    inside = np.ones(tokens.shape, dtype=bool)
    if patches is not None and network.layers:
        state = patches.tap(network.layer(0), 0, inside).after(state)
    for index in range(len(network.layers)):
        layer = network.layer(index)
        tap = None if patches is None else patches.tap(layer, index + 1, inside)
        patterns = _patterns(layer, state, causal=layout.causal)
        state = forward(layer, state, lengths, causal=layout.causal, tap=tap)[0]
        if tap is not None:
            patterns, state = tap.patterns[0], tap.after(state)
        found.append(dict(zip(layer.layout.heads, patterns)))
    return tuple(found)


def _patterns(layer: Parameters, state: np.ndarray, *, causal: bool) -> np.ndarray:
    """The softmax of the scores of one input: (head, query, key)."""
    query, key, _ = projected(np, layer, state)
    places, reach = np.arange(state.shape[1]), layer.relative.shape[1] // 2
    distance = places[None, :] - places[:, None]
    logits = query[0] @ key[0].swapaxes(1, 2) + layer.relative[:, np.clip(distance, -reach, reach) + reach]
    if causal:
        logits = np.where(distance > 0, -1e30, logits)
    weights = np.exp(logits - logits.max(axis=-1, keepdims=True))
    return weights / weights.sum(axis=-1, keepdims=True)


class UnrolledRun:
    """A batch of inputs on its way through the layers. With patches nothing is refused on the way."""

    def __init__(self, network: Any, lengths: np.ndarray, recorder: Recorder, patches: LayerPatches | None = None):
        self.network, self.layout, self.lengths, self.recorder = network, network.layout, lengths, recorder
        self.patches = patches
        self.going = np.ones(len(lengths), dtype=bool)
        self.outputs: dict[int, np.ndarray] = {}  # of the inputs that have halted

    def all_layers(self, state: np.ndarray, limit: int) -> None:
        """Run every input through `limit` layers."""
        if self.patches is not None and self.network.layers:
            state = self.patches.tap(self.network.layer(0), 0, self._inside(state)).after(state)
        self._add(0, state, None, None)
        if not len(self.lengths):
            return
        self._stop_halted(0, state)
        for index in range(limit):
            layer = self.network.layer(index)
            tap = None if self.patches is None else self.patches.tap(layer, index + 1, self._inside(state))
            state, attended, reasons, used = forward(layer, state, self.lengths, causal=self.layout.causal, tap=tap)
            if tap is None:
                self._refuse_undefined(layer, index + 1, reasons, used)
            else:
                state = tap.after(state)
            self._add(index + 1, state, attended, reasons)
            self._stop_halted(index + 1, state)
        self.recorder.finish(np.flatnonzero(self.going), limit, halted=False)
        if self.patches is None:
            self._refuse_changed(state)
            self._refuse_unclean(state, limit)

    def _inside(self, state: np.ndarray) -> np.ndarray:
        return np.arange(state.shape[1]) < self.lengths[:, None]

    def _stop_halted(self, step: int, state: np.ndarray) -> None:
        if self.network.halt is None:
            return
        done = ((state @ self.network.halt > 0.5) | ~self._inside(state)).all(axis=1) & self.going
        if done.any():
            self.recorder.finish(np.flatnonzero(done), step, halted=True)
            output = self._entry(state, self.layout.output_name)
            self.outputs |= {int(row): output[row, : self.lengths[row]] for row in np.flatnonzero(done)}
            self.going &= ~done

    def _add(self, step: int, state: np.ndarray, attended: np.ndarray | None, reasons: Any) -> None:
        """Record what the network holds after a step; every other channel is undefined."""
        rows, found = np.flatnonzero(self.going), {}
        names = self.layout.held_at(step)
        for channel in self.layout.channels:
            if channel.name not in names:
                shape = (*state.shape[:2], *channel.entry_shape)
                found[channel.name] = np.full(shape, channel.empty, dtype=channel.dtype)[rows]
            elif channel.per_step:
                assert attended is not None
                entry = self._entry(attended, channel.name)
                reason = reasons[..., self.layout.layers[step - 1].heads.index(channel.name)]
                undefined = reason > 0 if channel.kind == "category" else (reason > 0) & (reason != int(Reason.BETWEEN))
                found[channel.name] = np.where(undefined, channel.empty, entry)[rows]
            else:
                found[channel.name] = self._entry(state, channel.name)[rows]
        self.recorder.add(step, rows, found)

    def _entry(self, state: np.ndarray, name: str) -> np.ndarray:
        segment = self.layout.program.segment(name)
        return read_segment(np, segment.channel, self._dims(state, segment))

    def _dims(self, state: np.ndarray, segment: Any) -> np.ndarray:
        """The dimensions of a segment; those that the residual stream does not have are 0."""
        dims = self.layout.dims
        found = np.zeros((*state.shape[:2], segment.width), dtype=state.dtype)
        for place, dim in enumerate(dims):
            if segment.start <= dim < segment.stop:
                found[..., dim - segment.start] = state[..., place]
        return found

    def _refuse_undefined(self, layer: Parameters, step: int, reasons: Any, used: Any) -> None:
        if used is None or not (used & self.going[:, None, None]).any():
            return
        row, position, head = (int(i) for i in np.argwhere(used & self.going[:, None, None])[0])
        raise undefined_error(layer.layout, step, row, position, head, int(reasons[row, position, head]))

    def _refuse_changed(self, state: np.ndarray) -> None:
        output = self._entry(state, self.layout.output_name)
        for row, before in self.outputs.items():
            if not np.array_equal(before, output[row, : self.lengths[row]]):
                raise RunError(f"{self.layout.name}: the output on input {row} changed after all positions had halted")

    def _refuse_unclean(self, state: np.ndarray, step: int) -> None:
        clean = np.ones(state.shape[:2], dtype=bool)
        for segment in self.layout.program.kept_segments:
            if segment.channel.name in self.layout.held_at(step):
                clean &= is_clean(np, segment.channel, self._dims(state, segment))
        bad = ~(clean | ~self._inside(state)).all(axis=1)
        if bad.any():
            raise RunError(
                f"{self.layout.name}: after layer {step} the network's residual stream on input "
                f"{int(np.flatnonzero(bad)[0])} holds values that stand for nothing. Its weights are not those of the "
                f"compiled program: compile it again, or compare it with `kleene.check`."
            )
