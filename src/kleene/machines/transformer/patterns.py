"""The attention patterns of a compiled Transformer, computed from the trace of its run.

A trace holds everything that a layer reads, so the patterns need no second run, and cost nothing until they are asked
for.
"""

from typing import Any

import numpy as np

from kleene.errors import RunError
from kleene.limits import check_memory
from kleene.machines.transformer.attention import Tap, attention_from, projected
from kleene.machines.transformer.editing import encoded
from kleene.machines.transformer.parameters import Parameters, mapped
from kleene.traces.attention import AttentionPatterns
from kleene.traces.trace import Trace


class PatternTap(Tap):
    """Keeps the patterns that attention computes."""

    def __init__(self) -> None:
        self.found: Any = None

    def pattern(self, weights: Any) -> Any:
        self.found = weights
        return weights


def patterns_of(network: Parameters, trace: Trace) -> AttentionPatterns:
    """The patterns of every head in every layer of a run, as softmax gives them."""
    layout = network.layout
    positions = trace[layout.output_name].shape[1]
    what = f"the attention patterns of {trace.steps:,} layers and {positions:,} positions"
    check_memory(16.0 * trace.steps * len(layout.heads) * positions**2, what, "run a shorter input")
    wide = np.float64 if network.dtype == "float64" else np.float32
    weights: Parameters = mapped(lambda weight: np.asarray(weight, dtype=wide), network)
    states = np.zeros((trace.steps, positions, layout.width), dtype=wide)
    for segment in layout.kept_segments:
        entries = trace[segment.channel.name][: trace.steps]
        if segment.channel.kind == "category" and (entries < 0).any():
            raise RunError(
                f"{layout.name}: {segment.channel.name!r} is undefined in this trace, so no head can read it"
            )
        flat = encoded(segment, entries.reshape(trace.steps * positions, *segment.channel.entry_shape), None)
        states[..., segment.start : segment.stop] = flat.reshape(trace.steps, positions, segment.width)
    tap, places = PatternTap(), np.arange(positions)
    if trace.steps and positions:
        attention_from(np, weights, *projected(np, weights, states), places, np.ones((1, 1, 1, positions), bool), tap)
    if tap.found is None:
        tap.found = np.zeros((trace.steps, len(layout.heads), positions, positions))
    return AttentionPatterns(layout.heads, np.asarray(tap.found))
