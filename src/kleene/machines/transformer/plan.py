"""What running a network may exploit, read off its weights.

A compiled network's attention matrices pick single dimensions, its logits are 0 or λ², and its heads' outputs are
cleared in every MLP. Where all of this holds, selection is a lookup and the heads' dimensions need not be carried
from layer to layer. It is checked on the weights themselves: a network that is otherwise runs as any Transformer.
"""

import numpy as np

from kleene.machines.pytree import pytree, static
from kleene.machines.transformer.parameters import Array, Parameters


@pytree
class HeadPlan:
    """Which columns of the kept dimensions a head compares and reads. `offsets` None reads anywhere."""

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
    """The plan, or None where the weights do not allow one."""
    layout = network.layout
    read = tuple(d for s in layout.head_segments for d in range(s.start, s.stop))
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


def _clearing_units(network: Parameters, read: tuple[int, ...]) -> np.ndarray | None:
    """The units that do nothing but empty the heads' dimensions; None if those dimensions are not emptied exactly."""
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
    # With plain ReLU, clip(x) is relu(x) - relu(x - 1): the second half only ever undoes values above 1.
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
    bias = network.relative[h].astype(np.float64)
    lowest = bias[bias != 0].max(initial=-np.inf)
    segment = layout.head_segments[h]
    fits = out == list(range(segment.start, segment.start + len(out))) and len(value) == len(out)
    usable = [d in column for d in (*query, *key, *value)]
    if not fits or not all(usable) or len(query) != len(key) or (layout.queries[h] and scale < 1e3):
        return None
    if lowest > -1.5 * max(scale, 1e3) or not set(np.unique(np.abs(network.value[h]))) <= {0.0, 1.0}:
        return None
    reach = len(bias) // 2
    offsets = None if not bias.any() else tuple(int(i) - reach for i in np.flatnonzero(bias == 0))
    if offsets is not None and (-reach in offsets or reach in offsets):
        return None  # the ends of the table stand for every distance beyond it
    if not layout.queries[h] and offsets is None:
        return None
    return HeadPlan(
        tuple(column[d] for d in query) if layout.queries[h] else (),
        tuple(column[d] for d in key) if layout.queries[h] else (),
        tuple(column[d] for d in value),
        offsets,
    )


def _picks(matrix: np.ndarray) -> list[int] | None:
    """The row that each used column picks, where every used column has one entry and all entries are alike."""
    used = np.flatnonzero((matrix != 0).any(axis=0))
    columns = matrix[:, used]
    if ((columns != 0).sum(axis=0) != 1).any() or (len(used) and used[-1] != len(used) - 1):
        return None
    entries = columns[columns != 0]
    if len(entries) and not (entries == entries[0]).all():
        return None
    return (columns != 0).argmax(axis=0).tolist()
