"""Running a network: on a batch of inputs, or as a decoder that writes one token after the other.

`execute` starts a batch, runs layers until every sequence has halted, and reads the trace back. Small batches run in
numpy, layer by layer; large ones in jax, many layers to a jitted call. Either way a sequence that has halted leaves the
batch. `decode` uses softmax attention behind a causal mask, with keys and values kept (`CachedNetworkDecoder`) or
computed anew for every token (`PlainNetworkDecoder`).
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from kleene.errors import HaltError, InputError
from kleene.limits import LayerLimit
from kleene.machines.transformer.attention import Attended, attention_from, projected
from kleene.machines.transformer.editing import NetworkEdits
from kleene.machines.transformer.layer import (
    LayerStep,
    Runnable,
    advance,
    all_clean,
    between,
    entries,
    features_of,
    has_halted,
    kept_entries,
    looked_at,
    mlp,
    outputs_of,
    prepare,
    refuse_unclean,
    refuse_undefined,
    undefined_error,
    with_faults,
)
from kleene.machines.transformer.parameters import Parameters, mapped
from kleene.machines.transformer.patched_execution import PatchedRun
from kleene.machines.transformer.patching import Interventions, split_patches
from kleene.machines.transformer.patterns import patterns_of
from kleene.notation.words import Decoding, padded, write
from kleene.traces import Trace, TraceBatch
from kleene.traces.attention import AttentionPatterns
from kleene.traces.trace import Recorder

LARGE = 1 << 27  # multiplications a layer, above which compiling in jax is worth its time


def execute(
    network: Parameters,
    sequences: Sequence[Sequence[Any]],
    *,
    max_layers: int | None,
    record: bool,
    attention: str,
    backend: str,
    edits: Interventions = (),
) -> TraceBatch:
    """The traces of the network on a batch of inputs, under the edits."""
    layout = network.layout
    if attention not in ("select", "softmax") or backend not in ("auto", "numpy", "jax"):
        raise InputError(
            f"attention is 'select' or 'softmax' and backend 'auto', 'numpy' or 'jax'; got {attention!r}, {backend!r}"
        )
    checked = [layout.check_input(sequence) for sequence in sequences]
    tokens, lengths = padded(checked)
    limit = LayerLimit.of(layout.name, layout.max_layers, max_layers, halts=layout.halts)
    recorder = Recorder(
        layout.channels, lengths, layout.output_name, record=record, source="network", prefix=layout.prefix
    )
    named, patches = split_patches(edits, len(lengths))
    runnable = prepare(network, "softmax" if patches else attention)
    state = network.tokens[tokens]
    if network.positions is not None:
        state = state + network.positions[: tokens.shape[1]]
    if runnable.plan is not None:
        state = np.ascontiguousarray(state[..., list(runnable.plan.kept)])
    editing = NetworkEdits(network, runnable, named, lengths) if named else None
    if patches:
        return PatchedRun(network, runnable, lengths, patches, editing).run(state, limit.layers, recorder, record)
    if editing is not None:
        state = editing.after(0, np.arange(len(lengths)), state)
    recorder.add(0, np.arange(len(lengths)), (kept_entries if record else outputs_of)(np, runnable, state))
    run_layers: Callable[..., None] = run_in_numpy
    if _runs_in_jax(network, backend, tokens.size):
        from kleene.machines.transformer import jax_execution

        run_layers = (
            jax_execution.run_layers if editing is None else partial(run_in_numpy, step=jax_execution.one_layer)
        )
    with np.errstate(over="ignore"):
        given: dict[str, Any] = {} if editing is None else {"editing": editing}
        run_layers(runnable, state, lengths, limit.layers, recorder, record, **given)
    batch = recorder.batch()
    limit.check(batch.halted)
    if editing is not None:
        editing.plan.refuse_unreached(batch.steps)
    return replace(batch, patterns=partial(_patterns, network))


def _patterns(network: Parameters, _: int, trace: Trace) -> AttentionPatterns:
    return patterns_of(network, trace)


def _runs_in_jax(network: Parameters, backend: str, positions: int) -> bool:
    if backend != "auto":
        return backend == "jax"
    work = positions * network.mlp_in.size
    if network.dtype == "bfloat16" or network.dtype == "float64" or work <= LARGE // 64:
        return network.dtype == "bfloat16"
    import jax  # the import takes longer than the run of a small network

    return work > LARGE or jax.default_backend() != "cpu"


def numpy_layer(runnable: Runnable, state: Any, lengths: np.ndarray, heads: Any) -> LayerStep:
    """The batch after one layer."""
    return advance(np, runnable, state, lengths, heads)


def run_in_numpy(
    runnable: Runnable,
    state: Any,
    lengths: np.ndarray,
    limit: int,
    recorder: Recorder,
    record: bool,
    *,
    editing: NetworkEdits | None = None,
    step: Callable[..., LayerStep] = numpy_layer,
) -> None:
    """Run all layers, one after the other; `step` is one layer."""
    rows = np.arange(len(lengths))
    layer = 0
    while True:
        done = has_halted(np, runnable, state, lengths[rows])
        ending = done if layer < limit else np.ones(len(rows), dtype=bool)
        if ending.any():
            inside = np.arange(state.shape[1]) < lengths[rows[ending]][:, None]
            refuse_unclean(runnable, all_clean(np, runnable, state[ending], inside), layer, rows[ending])
        if done.any():
            recorder.finish(rows[done], layer, halted=True)
            rows, state = rows[~done], state[~done]
        if not len(rows) or layer >= limit:
            break
        layer += 1
        state = state[:, : int(lengths[rows].max())]
        heads = None if editing is None else editing.attended(layer, rows, state)
        after = step(runnable, state, lengths[rows], heads)
        refuse_undefined(runnable, after, layer, rows)
        if editing is not None:
            after = after._replace(state=editing.after(layer, rows, after.state))
        state = after.state
        recorder.add(layer, rows, entries(np, runnable, after) if record else outputs_of(np, runnable, state))
    recorder.finish(rows, layer, halted=False)


def decode(network: Parameters, prompt: Sequence[Any], *, tokens: int, stop: int | None, cached: bool) -> Decoding:
    """The tokens that the network writes after the prompt."""

    if network.layout.segment(network.layout.output_name).channel.kind != "category":
        raise InputError(f"{network.layout.name}: its outputs are numbers, and decoding feeds them back as tokens")
    decoder = CachedNetworkDecoder(network) if cached else PlainNetworkDecoder(network)
    check = network.layout.check_input
    return write(decoder, check(prompt), tokens, stop, check)


class NetworkDecoder:
    """The part that both decoders share: weights in a type that numpy supports, and the MLP after attention."""

    def __init__(self, network: Parameters):
        wide = np.float64 if network.dtype == "float64" else np.float32
        self.network: Parameters = mapped(lambda weight: np.asarray(weight, dtype=wide), network)
        self.runnable: Runnable = prepare(self.network, "softmax")
        self.sequence: list[int] = []
        self.layers: list[int] = []

    def start(self, tokens: Sequence[int], first: int) -> np.ndarray:
        """The embeddings of tokens at positions `first`, `first + 1`, …: (1, position, width)."""
        state = self.network.tokens[np.array([tokens])]
        if self.network.positions is not None:
            state = state + self.network.positions[first : first + len(tokens)]
        return state

    def after(self, state: np.ndarray, attended: Attended, layer: int, first: int, active: np.ndarray) -> np.ndarray:
        """The state after the MLP; an error if an active position uses an undefined head."""
        network, layout = self.network, self.network.layout
        x = state + attended.read
        e = network.expansion
        expansion = None if e is None else (e.inputs, e.bias, e.outputs, e.constant)
        features, steps = features_of(np, expansion, network.activation, x)
        reasons = with_faults(np, self.runnable.probe, between(np, layout, network.activation, steps, attended.reasons))
        change, rows = mlp(
            np, network.activation, features, self.runnable.mlp_in, self.runnable.mlp_bias, network.mlp_out
        )
        if self.runnable.probe is not None:
            everywhere = np.array([state.shape[1]])
            used = looked_at(np, self.runnable.probe, rows, reasons, everywhere) & active[..., None]
            if used.any():
                _, position, head = (int(i) for i in np.argwhere(used)[0])
                raise undefined_error(layout, layer, 0, first + position, head, int(reasons[0, position, head]))
        return x + change

    def done(self, state: np.ndarray) -> np.ndarray:
        if self.network.halt is None:
            return np.zeros(state.shape[:2], dtype=bool)
        return state @ self.network.halt > 0.5

    def refuse_endless(self, state: np.ndarray) -> None:
        if self.network.layout.halts and not self.done(state).all():
            raise HaltError(self.network.layout.name, 0, self.network.layout.max_layers)

    def outputs(self, state: np.ndarray) -> dict[str, Any]:
        found = kept_entries(np, self.runnable, state)
        return {n: np.asarray(a)[0] for n, a in found.items()}


class PlainNetworkDecoder(NetworkDecoder):
    """Runs the whole sequence again for every token, all positions at once behind a causal mask."""

    state: np.ndarray

    def feed(self, token: int) -> int:
        self.sequence.append(token)
        count = len(self.sequence)
        state = self.start(self.sequence, 0)
        layers = np.zeros(count, dtype=int)
        causal = np.arange(count)[None, :] <= np.arange(count)[:, None]
        for layer in range(1, self.network.layout.max_layers + 1):
            going = ~self.done(state)
            if not going.any():
                break
            query, key, value = projected(np, self.network, state)
            attended = attention_from(np, self.network, query, key, value, np.arange(count), causal[None, None])
            after = self.after(state, attended, layer, 0, going)
            state = np.where(going[..., None], after, state)
            layers += going[0]
        self.refuse_endless(state)
        self.state, self.layers = state, layers.tolist()
        return int(self.outputs(state)[self.network.layout.output_name][-1])

    def result(self, tokens: list[int]) -> Decoding:
        return Decoding(tokens, self.layers, self.outputs(self.state))


class CachedNetworkDecoder(NetworkDecoder):
    """Runs only the newest position: the keys and values of earlier ones are kept for every layer.

    `keys[layer]` and `values[layer]` have the axes (1, heads, position, …).
    """

    def __init__(self, network: Parameters):
        super().__init__(network)
        self.keys: list[np.ndarray] = []
        self.values: list[np.ndarray] = []
        self.final: list[np.ndarray] = []

    def feed(self, token: int) -> int:
        here = self.start([token], len(self.sequence))
        self.sequence.append(token)
        position = len(self.sequence) - 1
        layer, seen = 0, np.ones((1, 1, 1, position + 1), dtype=bool)
        while not (self.done(here).all() or layer == self.network.layout.max_layers):
            query, key, value = projected(np, self.network, here)
            self._keep(layer, key, value)
            attended = attention_from(
                np, self.network, query, self.keys[layer], self.values[layer], np.array([position]), seen
            )
            layer += 1
            here = self.after(here, attended, layer, position, np.ones((1, 1), dtype=bool))
        self.refuse_endless(here)
        _, key, value = projected(np, self.network, here)
        for deeper in range(layer, len(self.keys) + 1):  # after its last layer, the position does not change
            self._keep(deeper, key, value)
        self.layers.append(layer)
        self.final.append(here)
        return int(self.outputs(here)[self.network.layout.output_name][-1])

    def _keep(self, layer: int, key: np.ndarray, value: np.ndarray) -> None:
        """Add a key and a value to a layer. In a new deepest layer, earlier positions keep those of their last one."""
        position = len(self.sequence) - 1
        if layer == len(self.keys):
            self.keys.append(self.keys[-1][:, :, :position] if self.keys else key[:, :, :0])
            self.values.append(self.values[-1][:, :, :position] if self.values else value[:, :, :0])
        if self.keys[layer].shape[2] == position:
            self.keys[layer] = np.concatenate([self.keys[layer], key], axis=2)
            self.values[layer] = np.concatenate([self.values[layer], value], axis=2)

    def result(self, tokens: list[int]) -> Decoding:
        return Decoding(tokens, self.layers, self.outputs(np.concatenate(self.final, axis=1)))
