"""Attention of a Universal Transformer: as softmax, or as a lookup where the weights allow it.

A compiled network's attention matrices pick single dimensions, its logits are 0 or λ², and every MLP clears the heads'
outputs. Where all of this holds, selection is a lookup, and the heads' dimensions need not be carried from layer to
layer. `plan_of` checks it on the weights themselves; any other network runs with `softmax`.

The functions are written once for numpy and for jax (`xp` is either). Arrays have the axes (batch, position, …). Both
`select` and `softmax` return what the heads read and why each head is undefined at each position: 0 where it is
defined.
"""

import math
from typing import Any, NamedTuple

import numpy as np

from kleene.errors import Reason
from kleene.machines.transformer.parameters import Array, Layout, Parameters, pytree, static


@pytree
class HeadPlan:
    """Which columns of the kept dimensions a head compares and reads. With `offsets` None it reads anywhere."""

    query: tuple[int, ...] = static()
    key: tuple[int, ...] = static()
    value: tuple[int, ...] = static()
    offsets: tuple[int, ...] | None = static()


@pytree
class LookupPlan:
    """The weights rearranged: `kept` dimensions first, then what the heads read, then the expansion's features."""

    heads: tuple[HeadPlan, ...]
    mlp_in: Array
    mlp_bias: Array
    mlp_out: Array  # onto the kept dimensions only
    expansion: tuple[Array, Array, Array, Array] | None
    kept: tuple[int, ...] = static()
    read: tuple[int, ...] = static()


def plan_of(network: Parameters) -> LookupPlan | None:
    """The plan of a network, or None if its weights do not allow one."""
    layout = network.layout
    read = _read_dims(network)
    kept = tuple(d for d in range(layout.width) if d not in set(read))
    clearing = _clearing_units(network, read)
    if clearing is None:
        return None
    heads = [_head_plan(network, h, {d: i for i, d in enumerate(kept)}) for h in range(len(layout.heads))]
    if any(h is None for h in heads):
        return None
    features = len(network.mlp_in) - layout.width
    order = [*kept, *read, *range(layout.width, layout.width + features)]
    others = np.setdiff1d(np.arange(network.mlp_bias.size), clearing)
    expansion = None
    if network.expansion is not None:
        e = network.expansion
        expansion = (e.inputs[[*kept, *read]], e.bias, e.outputs, e.constant)
    return LookupPlan(
        tuple(h for h in heads if h is not None),
        np.ascontiguousarray(network.mlp_in[order][:, others]),
        network.mlp_bias[others],
        np.ascontiguousarray(network.mlp_out[others][:, list(kept)]),
        expansion,
        kept,
        read,
    )


def most_counted(network: Parameters) -> int:
    """How many positions attention can count exactly: counts are added up in float32 or float64."""
    return 1 << (53 if network.dtype == "float64" else 24)


def hard_margin(network: Parameters, positions: int) -> float:
    """By how much a score must lead so that softmax gives all other positions together exactly 0."""
    vanishes = 745.14 if network.dtype == "float64" else 103.98  # exp(-x) is 0 beyond these, in the type of softmax
    return vanishes + math.log(positions)


def clears_exactly(network: Parameters) -> bool:
    """Whether the MLP empties the dimensions of the heads' outputs without rounding."""
    return _clearing_units(network, _read_dims(network)) is not None


def _read_dims(network: Parameters) -> tuple[int, ...]:
    return tuple(d for s in network.layout.head_segments for d in range(s.start, s.stop))


def _clearing_units(network: Parameters, read: tuple[int, ...]) -> np.ndarray | None:
    """The units that only clear the heads' dimensions; None if those dimensions are not cleared exactly."""
    onto_read = network.mlp_out[:, list(read)] != 0
    clearing = np.flatnonzero(onto_read.any(axis=1))
    if not len(read):
        return clearing
    incoming, outgoing = network.mlp_in[:, clearing], network.mlp_out[clearing]
    single = ((incoming != 0).sum(axis=0) == 1) & ((outgoing != 0).sum(axis=1) == 1)
    if not single.all():
        return None
    source, target = np.abs(incoming).argmax(axis=0), np.abs(outgoing).argmax(axis=1)
    gain = incoming[source, np.arange(len(clearing))].astype(np.float64)
    back = outgoing[np.arange(len(clearing)), target].astype(np.float64)
    # With plain ReLU, clip(x) is relu(x) - relu(x - 1): the second half only subtracts what is above 1.
    first = network.mlp_bias[clearing] == 0
    undoing = (network.mlp_bias[clearing] == -1) & (network.activation == "relu")
    exact = (source == target) & np.where(undoing, gain * back == 1, first & (gain * back == -1))
    covered = np.isin(read, target[first])
    return clearing if exact.all() and covered.all() else None


def _head_plan(network: Parameters, h: int, column: dict[int, int]) -> HeadPlan | None:
    layout = network.layout
    query, key = _picks(network.query[h]), _picks(network.key[h])
    value, out = _picks(network.value[h]), _picks(network.out[h].T)
    if query is None or key is None or value is None or out is None:
        return None
    scale = float(np.abs(network.query[h]).max(initial=0)) * float(np.abs(network.key[h]).max(initial=0))
    bias, hard = network.relative[h].astype(np.float64), hard_margin(network, most_counted(network))
    lowest = bias[bias != 0].max(initial=-np.inf)
    segment = layout.head_segments[h]
    fits = out == list(range(segment.start, segment.start + len(out))) and len(value) == len(out)
    usable = [d in column for d in (*query, *key, *value)]
    if not fits or not all(usable) or len(query) != len(key) or (layout.queries[h] and scale < hard):
        return None
    if lowest > -1.5 * max(scale, hard) or not set(np.unique(np.abs(network.value[h]))) <= {0.0, 1.0}:
        return None
    reach = len(bias) // 2
    offsets = None if not bias.any() else tuple(int(i) - reach for i in np.flatnonzero(bias == 0))
    if offsets is not None and (-reach in offsets or reach in offsets):
        return None  # the ends of the table also stand for all larger distances
    if not layout.queries[h] and offsets is None:
        return None
    return HeadPlan(
        tuple(column[d] for d in query) if layout.queries[h] else (),
        tuple(column[d] for d in key) if layout.queries[h] else (),
        tuple(column[d] for d in value),
        offsets,
    )


def _picks(matrix: np.ndarray) -> list[int] | None:
    """The row that each used column picks; None unless every used column has one entry and all entries are equal."""
    used = np.flatnonzero((matrix != 0).any(axis=0))
    columns = matrix[:, used]
    if ((columns != 0).sum(axis=0) != 1).any() or (len(used) and used[-1] != len(used) - 1):
        return None
    entries = columns[columns != 0]
    if len(entries) and not (entries == entries[0]).all():
        return None
    return (columns != 0).argmax(axis=0).tolist()


class Tap:
    """Sees what a layer computes with softmax attention, and may replace it: each method gives what is used instead.

    Arrays have the axes (batch, heads, query, key), (batch, heads, position, entry) and (batch, position, units).
    """

    def pattern(self, weights: Any) -> Any:
        """How much each head reads from each position."""
        return weights

    def heads(self, mixed: Any) -> Any:
        """What each head read, before it is written into the residual stream."""
        return mixed

    def hidden(self, units: Any) -> Any:
        """The hidden units of the MLP."""
        return units


class Attended(NamedTuple):
    """What the heads read, (batch, position, dimensions), and why they are undefined, (batch, position, heads)."""

    read: Any
    reasons: Any


def product(xp: Any, a: Any, b: Any) -> Any:
    """The matrix product; types narrower than float32 are summed in float32."""
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
    """Attention as a lookup; `state` holds the kept dimensions.

    A query that may read anywhere is answered from a table of sums and counts by key, which equals softmax over 0 and
    λ². A query that reads at given distances is answered by shifting.
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
    """The indices, as a slice if they are consecutive: a view is free, a gather is not."""
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
    wide = state.dtype if state.dtype.itemsize >= 4 else xp.float32  # narrower types are summed in float32
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
    """The array in which each position holds the entry `offset` to its right, and zeros past the edge."""
    if offset == 0:
        return array
    filler = xp.zeros((array.shape[0], abs(offset), array.shape[2]), dtype=array.dtype)
    if offset > 0:
        return xp.concatenate([array[:, offset:], filler], axis=1)
    return xp.concatenate([filler, array[:, :offset]], axis=1)


def _mixed(xp: Any, weights: Any, value: Any, tap: Tap | None) -> Any:
    """The values as the weights mix them, which need not sum to 1."""
    total = weights.sum(axis=-1, keepdims=True)
    if tap is None:
        return _einsum(xp, "bhqj,bhjv->bhqv", weights, value) / total
    pattern = weights / total
    used = tap.pattern(pattern)
    if used is pattern:  # so that a tap that changes nothing changes no rounding either
        return tap.heads(_einsum(xp, "bhqj,bhjv->bhqv", weights, value) / total)
    return tap.heads(_einsum(xp, "bhqj,bhjv->bhqv", used, value))


def _reason(xp: Any, categorical: bool, count: Any, reachable: Any) -> Any:
    missing = xp.where(reachable, int(Reason.NO_MATCH), int(Reason.EDGE))
    reason = xp.where(count > 0.5, 0, missing)
    return xp.where(count > 1.5, int(Reason.SEVERAL), reason) if categorical else reason


def softmax(xp: Any, network: Parameters, state: Any, lengths: Any, tap: Tap | None = None) -> Attended:
    """Attention as any Transformer computes it; `state` holds all dimensions, to which the read is added."""
    query, key, value = projected(xp, network, state)
    inside = (xp.arange(state.shape[1]) < lengths[:, None])[:, None, None, :]
    return attention_from(xp, network, query, key, value, xp.arange(state.shape[1]), inside, tap)


def projected(xp: Any, network: Parameters, state: Any) -> tuple[Any, Any, Any]:
    """The queries, keys and values of every position: (batch, heads, position, …)."""
    weights = (network.query, network.key, network.value)
    query, key, value = (_einsum(xp, "bnd,hdk->bhnk", state, w) for w in weights)
    return query, key, value


def attention_from(
    xp: Any, network: Parameters, query: Any, key: Any, value: Any, places: Any, seen: Any, tap: Tap | None = None
) -> Attended:
    """What queries at the positions `places` read from keys and values; `seen` masks the positions they may read."""
    layout, dtype = network.layout, network.out.dtype
    reach = network.relative.shape[1] // 2
    distance = xp.arange(key.shape[2])[None, :] - places[:, None]
    bias = network.relative[:, xp.clip(distance, -reach, reach) + reach]
    wide = xp.float64 if dtype == xp.float64 else xp.float32
    logits = xp.where(seen, _einsum(xp, "bhqk,bhjk->bhqj", query, key) + bias, -1e30).astype(wide)
    weights = xp.exp(logits - logits.max(axis=-1, keepdims=True))
    # Division comes last, so the weights are exactly 0 or 1 while they are summed, and no average exceeds 1.
    mixed = _mixed(xp, weights, value.astype(wide), tap)
    read = _einsum(xp, "bhqv,hvd->bqd", mixed.astype(dtype), network.out).astype(dtype)
    if not layout.heads:
        return Attended(read, xp.zeros((*read.shape[:2], 0), dtype=xp.int32))
    # A match has the logit λ² (0 for a head without query), a miss at least λ² less.
    square = (abs(network.query).max(axis=(1, 2)) * abs(network.key).max(axis=(1, 2))).astype(wide)
    expected = xp.where(np.array(layout.queries), square, 0)
    margin = xp.where(np.array(layout.queries), square, -network.relative.min(axis=1).astype(wide) / 2) / 2
    selected = (logits >= (expected - margin)[None, :, None, None]) & seen
    reachable = ((bias[None] >= -margin[None, :, None, None]) & seen).any(axis=-1)
    count = selected.sum(axis=-1)
    kinds = [s.channel.kind == "category" for s in layout.head_segments]
    reasons = [_reason(xp, kind, count[:, h], reachable[:, h]) for h, kind in enumerate(kinds)]
    return Attended(read, xp.stack(reasons, axis=-1))
