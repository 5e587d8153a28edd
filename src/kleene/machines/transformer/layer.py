"""One layer of a Universal Transformer, written once for numpy and for jax (`xp` is either).

Arrays have the axes (batch, position, …). Both `select` and `softmax` give, beside what the heads read, the
reason why each head is undefined at each position: 0 where it is not.
"""

from typing import Any, NamedTuple

import numpy as np

from kleene.errors import Reason
from kleene.machines.transformer.layout import Layout
from kleene.machines.transformer.parameters import Parameters, Probe
from kleene.machines.transformer.plan import HeadPlan, LookupPlan

# Made of two plain ReLUs, a step is the difference of two large numbers: 0 or 1 to within rounding only.
RELU_NOISE = 2.0**-6


class Attended(NamedTuple):
    """What the heads read: (batch, position, dimensions), and the reasons (batch, position, heads)."""

    read: Any
    reasons: Any


def product(xp: Any, a: Any, b: Any) -> Any:
    """The matrix product; narrow numbers are added up in float32."""
    if xp is np or a.dtype.itemsize >= 4:
        return xp.matmul(a, b)
    return xp.matmul(a, b, preferred_element_type=xp.float32)


def _einsum(xp: Any, axes: str, a: Any, b: Any) -> Any:
    if a.dtype.itemsize >= 4:
        return xp.einsum(axes, a, b)
    if xp is np:
        return np.einsum(axes, a.astype(np.float32), b.astype(np.float32))
    return xp.einsum(axes, a, b, preferred_element_type=xp.float32)


def select(xp: Any, plan: LookupPlan, layout: Layout, state: Any, lengths: Any) -> Attended:
    """Attention as a lookup. `state` holds the kept dimensions.

    A query that may look anywhere is answered from a table of sums and counts by key, which is what
    softmax over 0 and λ² comes to; one that looks at given distances, by shifting.
    """
    read, reasons = [], []
    inside = xp.arange(state.shape[1]) < lengths[:, None]
    for head, segment in zip(plan.heads, layout.head_segments):
        value = state[..., _columns(head.value)]
        if head.offsets is None:
            total, count = _anywhere(xp, head, state, value, inside)
            reachable = inside
        else:
            total, count, reachable = _near(xp, head, state, value, lengths)
        entry = total / xp.maximum(count, 1)[..., None]
        if len(head.value) < segment.width:
            padding = ((0, 0), (0, 0), (0, segment.width - len(head.value)))
            entry = xp.pad(entry, padding)
        read.append(entry.astype(state.dtype))
        reasons.append(_reason(xp, segment.channel.kind == "category", count, reachable))
    if not read:
        empty = xp.zeros((*state.shape[:2], 0), dtype=state.dtype)
        return Attended(empty, empty.astype(xp.int32))
    return Attended(xp.concatenate(read, axis=-1), xp.stack(reasons, axis=-1))


def _columns(indices: tuple[int, ...]) -> Any:
    """A slice where the indices are consecutive: a view costs nothing, a gather does."""
    if indices == tuple(range(indices[0], indices[0] + len(indices))):
        return slice(indices[0], indices[0] + len(indices))
    return np.array(indices)


def _anywhere(xp: Any, head: HeadPlan, state: Any, value: Any, inside: Any) -> tuple[Any, Any]:
    query, key = state[..., _columns(head.query)], state[..., _columns(head.key)]
    key = key * inside[..., None].astype(key.dtype)
    sums = product(xp, xp.swapaxes(key, 1, 2), value)
    counts = key.sum(axis=1, dtype=sums.dtype)
    return product(xp, query.astype(sums.dtype), sums), (query * counts[:, None, :]).sum(axis=-1)


def _near(xp: Any, head: HeadPlan, state: Any, value: Any, lengths: Any) -> tuple[Any, Any, Any]:
    width = state.shape[1]
    at = xp.arange(width)
    wide = state.dtype if state.dtype.itemsize >= 4 else xp.float32  # narrow numbers are added up in float32
    value = value.astype(wide)
    total, count, reachable = None, None, None
    for offset in head.offsets or ():
        if not -width < offset < width:
            continue
        match = (at + offset >= 0) & (at + offset < lengths[:, None])
        reachable = match if reachable is None else reachable | match
        weight = match.astype(wide)
        if head.query:
            query = state[..., _columns(head.query)]
            weight = weight * (query * _shifted(xp, state[..., _columns(head.key)], offset)).sum(axis=-1)
        part = _shifted(xp, value, offset) * weight[..., None]
        total = part if total is None else total + part
        count = weight if count is None else count + weight
    if total is None:
        nowhere = xp.zeros(state.shape[:2], dtype=wide)
        return xp.zeros_like(value), nowhere, nowhere > 0
    return total, count, reachable


def _shifted(xp: Any, array: Any, offset: int) -> Any:
    """The array with each position holding what stands `offset` to its right; zeros come in at the edge."""
    if offset == 0:
        return array
    filler = xp.zeros((array.shape[0], abs(offset), array.shape[2]), dtype=array.dtype)
    if offset > 0:
        return xp.concatenate([array[:, offset:], filler], axis=1)
    return xp.concatenate([filler, array[:, :offset]], axis=1)


def _reason(xp: Any, categorical: bool, count: Any, reachable: Any) -> Any:
    missing = xp.where(reachable, int(Reason.NO_MATCH), int(Reason.EDGE))
    reason = xp.where(count > 0.5, 0, missing)
    return xp.where(count > 1.5, int(Reason.SEVERAL), reason) if categorical else reason


def softmax(xp: Any, network: Parameters, state: Any, lengths: Any) -> Attended:
    """Attention as any Transformer computes it. `state` holds all dimensions; what is read is added to them."""
    query, key, value = projected(xp, network, state)
    inside = (xp.arange(state.shape[1]) < lengths[:, None])[:, None, None, :]
    return attention_from(xp, network, query, key, value, xp.arange(state.shape[1]), inside)


def projected(xp: Any, network: Parameters, state: Any) -> tuple[Any, Any, Any]:
    """The queries, keys and values of every position: (batch, heads, position, …)."""
    weights = (network.query, network.key, network.value)
    query, key, value = (_einsum(xp, "bnd,hdk->bhnk", state, w) for w in weights)
    return query, key, value


def attention_from(xp: Any, network: Parameters, query: Any, key: Any, value: Any, places: Any, seen: Any) -> Attended:
    """What queries that stand at `places` read from keys and values; `seen` says which positions they may look at."""
    layout, dtype = network.layout, network.out.dtype
    reach = network.relative.shape[1] // 2
    distance = xp.arange(key.shape[2])[None, :] - places[:, None]
    bias = network.relative[:, xp.clip(distance, -reach, reach) + reach]
    wide = xp.float64 if dtype == xp.float64 else xp.float32
    logits = xp.where(seen, _einsum(xp, "bhqk,bhjk->bhqj", query, key) + bias, -1e30).astype(wide)
    weights = xp.exp(logits - logits.max(axis=-1, keepdims=True))
    # Dividing last, the weights are exactly 0 or 1 while they are added up: no share of a value ever exceeds 1.
    mixed = _einsum(xp, "bhqj,bhjv->bhqv", weights, value.astype(wide)) / weights.sum(axis=-1, keepdims=True)
    read = _einsum(xp, "bhqv,hvd->bqd", mixed.astype(dtype), network.out).astype(dtype)
    if not layout.heads:
        return Attended(read, xp.zeros((*read.shape[:2], 0), dtype=xp.int32))
    # A match has the logit λ² (0 for a head without query), a miss at least λ² less.
    square = (abs(network.query).max(axis=(1, 2)) * abs(network.key).max(axis=(1, 2))).astype(wide)
    expected = xp.where(np.array(layout.queries), square, 0)
    margin = xp.maximum(square, 1e4) / 2
    selected = (logits >= (expected - margin)[None, :, None, None]) & seen
    reachable = ((bias[None] >= -margin[None, :, None, None]) & seen).any(axis=-1)
    count = selected.sum(axis=-1)
    kinds = [s.channel.kind == "category" for s in layout.head_segments]
    reasons = [_reason(xp, kind, count[:, h], reachable[:, h]) for h, kind in enumerate(kinds)]
    return Attended(read, xp.stack(reasons, axis=-1))


def features_of(xp: Any, expansion: tuple[Any, Any, Any, Any] | None, activation: str, x: Any) -> tuple[Any, Any]:
    """The residual stream with the expansion's features beside it, and the expansion's hidden steps."""
    if expansion is None:
        return x, None
    inputs, bias, outputs, constant = expansion
    steps = activate(xp, activation, product(xp, x, inputs) + bias)
    return xp.concatenate([x, (product(xp, steps.astype(x.dtype), outputs) + constant).astype(x.dtype)], axis=-1), steps


def activate(xp: Any, activation: str, pre: Any) -> Any:
    return xp.clip(pre, 0, 1) if activation == "clipped" else xp.maximum(pre, 0)


def mlp(xp: Any, activation: str, features: Any, mlp_in: Any, mlp_bias: Any, mlp_out: Any) -> tuple[Any, Any]:
    """What the MLP adds to the residual stream, and the pre-activations of units beyond those of `mlp_out`."""
    pre = product(xp, features, mlp_in) + mlp_bias
    hidden = activate(xp, activation, pre[..., : len(mlp_out)])
    return product(xp, hidden.astype(features.dtype), mlp_out), pre[..., len(mlp_out) :]


def between(xp: Any, layout: Layout, activation: str, steps: Any, reasons: Any) -> Any:
    """The reasons with numbers added that lie between two declared values: some step is neither 0 nor 1."""
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
    """Where the MLP looks at a head that is undefined: (batch, position, heads). `rows` hold where they are ≥ 0."""
    undefined = reasons > 0
    holds = xp.matmul((rows >= 0).astype(xp.float32), probe.conditions) > 0.5
    holds = holds | (xp.matmul(undefined.astype(xp.float32), probe.mentions.T) > 0.5)
    guards = xp.matmul(holds.astype(xp.float32), probe.guards) >= probe.guards.sum(axis=0) - 0.5
    return (xp.matmul(guards.astype(xp.float32), probe.guarded) > 0.5) & undefined
