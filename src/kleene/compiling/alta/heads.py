"""The second pass: queries, keys and values of every attention head."""

from dataclasses import dataclass

import numpy as np

from kleene.compiling.alta.stream import Stream

SHARPNESS = 100.0  # λ: a matching key and query give the logit λ², which makes softmax exactly hard


@dataclass(frozen=True, repr=False, eq=False)
class HeadWeights:
    """The weights of all heads: (head, width, key), (head, width, entry), (head, entry, width), (head, distance).

    A head copies the dimensions of its query, key and value, and its output goes to its own dimensions. `relative` is
    0 at the distances that a head may look at and -2λ² at the others; its two ends stand for every distance beyond.
    """

    query: np.ndarray
    key: np.ndarray
    value: np.ndarray
    out: np.ndarray
    relative: np.ndarray

    def __repr__(self) -> str:
        return f"<weights of {len(self.query)} heads, keys of {self.query.shape[2]}, values of {self.value.shape[2]}>"


def attention_heads(stream: Stream) -> HeadWeights:
    """A query, a key and a value for each head, and the distances that it may look at."""
    heads, segments, width = list(stream.program.heads.items()), stream.segments, stream.width
    keys = [min(segments[h.query].width, segments[h.key].width) if h.query and h.key else 1 for _, h in heads]
    entries = [segments[h.value].width for _, h in heads]
    reach = max([1, *(abs(o) for _, h in heads for o in h.offsets)])
    query = np.zeros((len(heads), width, max(keys, default=1)))
    key, value = np.zeros_like(query), np.zeros((len(heads), width, max(entries, default=1)))
    out = np.zeros((len(heads), max(entries, default=1), width))
    relative = np.zeros((len(heads), 2 * reach + 3))
    for h, (name, head) in enumerate(heads):
        if head.query is not None and head.key is not None:
            for i in range(keys[h]):
                query[h, segments[head.query].start + i, i] = SHARPNESS
                key[h, segments[head.key].start + i, i] = SHARPNESS
        for i in range(entries[h]):
            value[h, segments[head.value].start + i, i] = 1
            out[h, i, segments[name].start + i] = 1
        if head.offsets:
            relative[h] = -2 * SHARPNESS**2
            relative[h, [o + reach + 1 for o in head.offsets]] = 0
    return HeadWeights(*(a.astype(stream.dtype) for a in (query, key, value, out, relative)))
