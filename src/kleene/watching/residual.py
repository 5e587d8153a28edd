"""The inside of a Transformer as it runs: its residual stream, whom its heads attend to, and its weights."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from kleene.machines.transformer import UniversalTransformer
from kleene.machines.transformer.editing import NetworkEdits
from kleene.machines.transformer.layer import advance, prepare
from kleene.machines.transformer.parameters import mapped
from kleene.notation.edits import Edit
from kleene.watching.columns import coded_numbers, packed


@dataclass(frozen=True)
class ShownStreams:
    """The residual stream of one run, of shape (step, position, width), step 0 being the embedding.

    `after` is what each layer leaves. `shown` is the same, but the dimensions that heads write are as attention left
    them, because the MLP clears them.
    """

    after: np.ndarray
    shown: np.ndarray


def streams_of(network: UniversalTransformer, tokens: Any, layers: int, edits: Sequence[Edit] = ()) -> ShownStreams:
    """The residual stream of a run of that many layers under the edits, with attention computed as softmax."""
    wide = np.float64 if network.dtype == "float64" else np.float32
    plain: UniversalTransformer = mapped(lambda weight: np.asarray(weight, dtype=wide), network)
    runnable = prepare(plain, "softmax")
    codes = np.array([network.layout.check_input(tokens)], dtype=np.int64)
    state = plain.tokens[codes]
    if plain.positions is not None:
        state = state + plain.positions[: codes.shape[1]]
    rows, lengths = np.arange(1), np.array([codes.shape[1]])
    editing = NetworkEdits(plain, runnable, edits, lengths) if edits else None
    state = state if editing is None else editing.after(0, rows, state)
    after, shown = [state[0]], [state[0]]
    for layer in range(1, layers + 1):
        heads = None if editing is None else editing.attended(layer, rows, state)
        step = advance(np, runnable, state, lengths, heads)
        state = step.state if editing is None else editing.after(layer, rows, step.state)
        seen = np.array(state[0])
        for segment in network.layout.head_segments:
            seen[:, segment.start : segment.stop] = step.read[0, :, segment.start : segment.stop]
        after.append(state[0])
        shown.append(seen)
    return ShownStreams(np.stack(after), np.stack(shown))


def attention_of_network(network: UniversalTransformer, streams: ShownStreams) -> dict[str, np.ndarray]:
    """For every head the positions that its weights select: booleans of shape (step, position, position).

    As in `attention_from`, a match has the logit λ² (0 for a head without query), and a miss at least λ² less.
    """
    layers, length, _ = streams.after.shape
    names = network.layout.heads
    found = {name: np.zeros((layers, length, length), dtype=bool) for name in names}
    if not names:
        return found
    query, key = (np.asarray(weight, dtype=np.float64) for weight in (network.query, network.key))
    reach, at = network.relative.shape[1] // 2, np.arange(length)
    bias = np.asarray(network.relative, dtype=np.float64)[:, np.clip(at[None, :] - at[:, None], -reach, reach) + reach]
    square = np.abs(query).max(axis=(1, 2)) * np.abs(key).max(axis=(1, 2))
    least = np.where(np.array(network.layout.queries), square, 0) - np.maximum(square, 1e4) / 2
    for step in range(1, layers):
        before = streams.after[step - 1].astype(np.float64)
        asked, offered = (np.einsum("nd,hdk->hnk", before, weight) for weight in (query, key))
        logits = np.einsum("hqk,hjk->hqj", asked, offered) + bias
        for number, name in enumerate(names):
            found[name][step] = logits[number] >= least[number]
    return found


def weights_json(network: UniversalTransformer, most: int) -> list[dict[str, Any]] | None:
    """Every matrix of the network: its name, what its rows and columns are, and its numbers. None if there are more
    than `most` numbers."""
    axes = {
        "tokens": ("token", "residual"), "positions": ("position", "residual"), "query": ("residual", "key"),
        "key": ("residual", "key"), "value": ("residual", "entry"), "out": ("entry", "residual"),
        "relative": ("head", "offset"), "mlp_in": ("feature", "unit"), "mlp_bias": ("", "unit"),
        "mlp_out": ("unit", "residual"), "expansion.inputs": ("residual", "step"), "expansion.bias": ("", "step"),
        "expansion.outputs": ("step", "feature"), "expansion.constant": ("", "feature"),
    }  # fmt: skip
    weights = {name: array for name, array in network.weights().items() if array is not None and array.size}
    if sum(array.size for array in weights.values()) > most:
        return None
    found = []
    for name, array in weights.items():
        rows, columns = axes[name]
        matrices = array if array.ndim == 3 else [np.atleast_2d(array)]
        for number, matrix in enumerate(matrices):
            called = f"{name} of {network.layout.heads[number]}" if array.ndim == 3 else name
            values, codes = coded_numbers(np.asarray(matrix, dtype=np.float64))
            found.append({"name": called, "rows": rows, "columns": columns, "values": values, "column": packed(codes)})
    return found
