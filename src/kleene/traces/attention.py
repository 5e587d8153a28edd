"""The attention patterns of a run: how much each head read from each position, at each position and in each layer."""

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True, eq=False)
class AttentionPatterns:
    """`weights[layer, head, query, key]`, the first layer at 0; a row sums to 1. `heads` has the names of the heads.

    >>> patterns = AttentionPatterns(("left",), np.array([[[[1.0, 0.0], [1.0, 0.0]]]]))
    >>> patterns["left"].shape, patterns
    ((1, 2, 2), <AttentionPatterns of 1 layers, 2 positions: left>)
    """

    heads: tuple[str, ...]
    weights: np.ndarray

    def __getitem__(self, head: str) -> np.ndarray:
        """The patterns of one head: [layer, query, key]."""
        if head not in self.heads:
            raise KeyError(f"no head {head!r} in this run; it has {', '.join(self.heads) or 'none'}")
        return self.weights[:, self.heads.index(head)]

    def __repr__(self) -> str:
        layers, positions = self.weights.shape[0], self.weights.shape[2]
        return f"<AttentionPatterns of {layers} layers, {positions} positions: {', '.join(self.heads)}>"
