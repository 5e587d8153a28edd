"""One layer of a Universal Transformer, what it leaves and what it refuses, in numpy or jax (`xp` is either).

`prepare` arranges the weights for a run, `advance` is one layer, `entries` reads its channels. A layer refuses the use
of a head that is undefined, and a residual stream that does not hold exact values.
"""

from typing import Any, NamedTuple

import numpy as np

from kleene.errors import Reason, RunError, UndefinedAttentionError, WriteError
from kleene.machines.transformer.attention import Attended, LookupPlan, Tap, plan_of, product, select, softmax
from kleene.machines.transformer.parameters import (
    Array,
    Layout,
    Parameters,
    Probe,
    Segment,
    is_clean,
    pytree,
    read_segment,
    static,
)

# A step made of two plain ReLUs is the difference of two large numbers, so it is 0 or 1 only up to rounding.
RELU_NOISE = 2.0**-6


@pytree
class Runnable:
    """The arrays of one run: a plan, or the whole network where attention is computed as softmax."""

    plan: LookupPlan | None
    network: Parameters | None
    mlp_in: Array  # with the probe's rows as further units, so that one matrix product computes both
    mlp_bias: Array
    probe: Probe | None
    halt: Array | None
    layout: Layout = static()
    activation: str = static()


def place_of(runnable: Runnable, segment: Segment) -> slice:
    """The place of a segment in what the heads read, or in the state."""
    plan = runnable.plan
    if plan is None:
        return slice(segment.start, segment.stop)
    order = plan.read if segment.channel.per_step else plan.kept
    first = order.index(segment.start)
    return slice(first, first + segment.width)


class LayerStep(NamedTuple):
    """After one layer: the state, what the heads read, why they are undefined, and where undefined output is used."""

    state: Any
    read: Any
    reasons: Any
    used: Any


def prepare(network: Parameters, attention: str) -> Runnable:
    """The arrays that a run of the network needs, arranged once."""
    plan = plan_of(network) if attention == "select" else None
    probe, halt, mlp_in, mlp_bias = network.probe, network.halt, network.mlp_in, network.mlp_bias
    order = list(range(len(mlp_in)))
    if plan is not None:
        order = [*plan.kept, *plan.read, *range(network.layout.width, len(mlp_in))]
        halt = None if halt is None else halt[list(plan.kept)]
        mlp_in, mlp_bias = plan.mlp_in, plan.mlp_bias
    if probe is not None:
        mlp_in = np.concatenate([mlp_in, probe.rows[order]], axis=1)
        mlp_bias = np.concatenate([mlp_bias, -probe.least.astype(mlp_bias.dtype)])
    layout, activation = network.layout, network.activation
    return Runnable(plan, network if plan is None else None, mlp_in, mlp_bias, probe, halt, layout, activation)


def advance(
    xp: Any, runnable: Runnable, state: Any, lengths: Any, heads: Any = None, tap: Tap | None = None
) -> LayerStep:
    """The whole batch after one layer. What the heads read may be replaced by `heads`: values, where, and which.

    A `tap` sees and changes what softmax attention and the MLP compute.
    """
    layout, activation = runnable.layout, runnable.activation
    if runnable.plan is not None:
        plan = runnable.plan
        attended = replaced(xp, select(xp, plan, layout, state, lengths), heads)
        x = xp.concatenate([state, attended.read], axis=-1)
        expansion, mlp_out, base = plan.expansion, plan.mlp_out, state
    else:
        network = runnable.network
        assert network is not None
        attended = softmax(xp, network, state, lengths, tap)
        attended = replaced(xp, attended._replace(read=state + attended.read), heads)
        x = base = attended.read
        e = network.expansion
        expansion = None if e is None else (e.inputs, e.bias, e.outputs, e.constant)
        mlp_out = network.mlp_out
    features, steps = features_of(xp, expansion, activation, x)
    reasons = with_faults(xp, runnable.probe, between(xp, layout, activation, steps, attended.reasons))
    change, rows = mlp(xp, activation, features, runnable.mlp_in, runnable.mlp_bias, mlp_out, tap)
    looked = None if runnable.probe is None else looked_at(xp, runnable.probe, rows, reasons, lengths)
    return LayerStep(base + change.astype(base.dtype), attended.read, reasons, looked)


def replaced(xp: Any, attended: Attended, heads: Any) -> Attended:
    """What the heads read, with the values of an intervention in it."""
    if heads is None:
        return attended
    values, where, defined = heads
    return Attended(xp.where(where, values, attended.read), xp.where(defined, 0, attended.reasons))


def with_faults(xp: Any, probe: Probe | None, reasons: Any) -> Any:
    """The reasons, with one use more if the probe has faults; only its guards decide where that one counts."""
    if probe is None or probe.guarded.shape[1] == reasons.shape[-1]:
        return reasons
    more = xp.full((*reasons.shape[:-1], 1), int(Reason.FAULT), dtype=reasons.dtype)
    return xp.concatenate([reasons, more], axis=-1)


def looked_at(xp: Any, probe: Probe, rows: Any, reasons: Any, lengths: Any) -> Any:
    inside = (xp.arange(reasons.shape[1]) < lengths[:, None])[..., None]
    reasons = xp.where(inside, reasons, 0)
    if xp is np:
        return used(xp, probe, rows, reasons) if reasons.any() else np.zeros(reasons.shape, dtype=bool)
    import jax

    return jax.lax.cond(
        (reasons > 0).any(),
        lambda: used(xp, probe, rows, reasons),
        lambda: xp.zeros(reasons.shape, dtype=bool),
    )


def features_of(xp: Any, expansion: tuple[Any, Any, Any, Any] | None, activation: str, x: Any) -> tuple[Any, Any]:
    """The residual stream with the expansion's features beside it, and the expansion's hidden steps."""
    if expansion is None:
        return x, None
    inputs, bias, outputs, constant = expansion
    steps = activate(xp, activation, product(xp, x, inputs) + bias)
    return xp.concatenate([x, (product(xp, steps.astype(x.dtype), outputs) + constant).astype(x.dtype)], axis=-1), steps


def activate(xp: Any, activation: str, pre: Any) -> Any:
    return xp.clip(pre, 0, 1) if activation == "clipped" else xp.maximum(pre, 0)


def mlp(
    xp: Any, activation: str, features: Any, mlp_in: Any, mlp_bias: Any, mlp_out: Any, tap: Tap | None = None
) -> tuple[Any, Any]:
    """What the MLP adds to the residual stream, and the pre-activations of the units that `mlp_out` lacks."""
    pre = product(xp, features, mlp_in) + mlp_bias
    hidden = activate(xp, activation, pre[..., : len(mlp_out)])
    hidden = hidden if tap is None else tap.hidden(hidden)
    return product(xp, hidden.astype(features.dtype), mlp_out), pre[..., len(mlp_out) :]


def between(xp: Any, layout: Layout, activation: str, steps: Any, reasons: Any) -> Any:
    """The reasons, with BETWEEN where a number lies between two declared values: some step is neither 0 nor 1."""
    if not layout.number_steps:
        return reasons
    columns = [reasons[..., h] for h in range(len(layout.heads))]
    for head, start, stop in layout.number_steps:
        part, noise = steps[..., start:stop], 0.0
        if activation == "relu":
            half, noise = (stop - start) // 2, RELU_NOISE
            part = part[..., :half] - part[..., half:]
        unsure = ((part > noise) & (part < 1 - noise)).any(axis=-1)
        columns[head] = xp.where(unsure & (columns[head] == 0), int(Reason.BETWEEN), columns[head])
    return xp.stack(columns, axis=-1)


def used(xp: Any, probe: Probe, rows: Any, reasons: Any) -> Any:
    """Where the MLP uses an undefined head: (batch, position, heads). A row holds where `rows` is ≥ 0."""
    undefined = reasons > 0
    holds = xp.matmul((rows >= 0).astype(xp.float32), probe.conditions) > 0.5
    holds = holds | (xp.matmul(undefined.astype(xp.float32), probe.mentions.T) > 0.5)
    guards = xp.matmul(holds.astype(xp.float32), probe.guards) >= probe.guards.sum(axis=0) - 0.5
    return (xp.matmul(guards.astype(xp.float32), probe.guarded) > 0.5) & undefined


def kept_entries(xp: Any, runnable: Runnable, state: Any) -> dict[str, Any]:
    """The entries of every variable, (batch, position, …)."""
    segments = runnable.layout.kept_segments
    return {s.channel.name: read_segment(xp, s.channel, state[..., place_of(runnable, s)]) for s in segments}


def entries(xp: Any, runnable: Runnable, step: LayerStep) -> dict[str, Any]:
    """The entries of every channel after a layer, the heads' channels included."""
    found = kept_entries(xp, runnable, step.state)
    for head, segment in enumerate(runnable.layout.head_segments):
        entry = read_segment(xp, segment.channel, step.read[..., place_of(runnable, segment)])
        reason = step.reasons[..., head]
        if segment.channel.kind == "category":
            found[segment.channel.name] = xp.where(reason == 0, entry, -1)
        else:  # an average between two declared values was still read
            found[segment.channel.name] = xp.where((reason == 0) | (reason == int(Reason.BETWEEN)), entry, xp.nan)
    return found


def all_clean(xp: Any, runnable: Runnable, state: Any, inside: Any) -> Any:
    """Whether every kept channel of each sequence holds an exact value."""
    clean = xp.ones(inside.shape, dtype=bool)
    for segment in runnable.layout.kept_segments:
        clean = clean & is_clean(xp, segment.channel, state[..., place_of(runnable, segment)])
    if runnable.plan is None:
        for segment in runnable.layout.head_segments:  # the MLP must have cleared these
            clean = clean & (state[..., segment.start : segment.stop] == 0).all(axis=-1)
    return (clean | ~inside).all(axis=1)


def has_halted(xp: Any, runnable: Runnable, state: Any, lengths: Any) -> Any:
    """Which sequences hold the halting value at every position."""
    if runnable.halt is None:
        return xp.zeros(lengths.shape, dtype=bool)
    beyond = xp.arange(state.shape[1]) >= lengths[:, None]
    return ((xp.matmul(state, runnable.halt) > 0.5) | beyond).all(axis=1)


def outputs_of(xp: Any, runnable: Runnable, state: Any) -> dict[str, Any]:
    """The entries of the output channel alone."""
    segment = runnable.layout.segment(runnable.layout.output_name)
    return {segment.channel.name: read_segment(xp, segment.channel, state[..., place_of(runnable, segment)])}


def refuse_undefined(runnable: Runnable, step: LayerStep, layer: int, rows: np.ndarray) -> None:
    if step.used is None or not step.used.any():
        return
    row, position, head = (int(i) for i in np.argwhere(step.used)[0])
    raise undefined_error(
        runnable.layout, layer, int(rows[row]), position, head, int(step.reasons[row, position, head])
    )


def undefined_error(layout: Layout, layer: int, row: int, position: int, head: int, reason: int) -> Exception:
    """The error for the use of a head that is undefined, or for a fault."""
    if reason == Reason.FAULT:
        problem = "a variable is set to a value outside its range, or to two at once; run the program to see which"
        if layout.vocabulary is not None:
            problem = "RASP has no value, because a function raises; evaluate the expression to see which and why"
        return WriteError(problem, program=layout.name, layer=layer, position=position, sequence=row)
    return UndefinedAttentionError(
        layout.name, layout.heads[head], Reason(reason), layer=layer, position=position, sequence=row,
        rasp=layout.vocabulary is not None,
    )  # fmt: skip


def refuse_unclean(runnable: Runnable, clean: np.ndarray, layer: int, rows: np.ndarray) -> None:
    if not clean.all():
        raise RunError(
            f"{runnable.layout.name}: after layer {layer} the network's residual stream on input "
            f"{int(rows[np.flatnonzero(~clean)[0]])} holds values that stand for nothing. Its weights are not those "
            f"of the compiled program, or its attention is soft (a small attention_scalar): compile it again, or "
            f"compare it with `kleene.check`."
        )
