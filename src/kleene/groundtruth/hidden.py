"""What hiding a network gives: the new network, how the old one lies in it, and what was lost on the way."""

from dataclasses import dataclass
from typing import Any, Literal

from kleene.groundtruth.compression import Compression
from kleene.traces.markup import html_text

Equality = Literal["exact", "rounded", "changed"]
WORDS = {
    "exact": "the same function on every input: no step of the network rounds",
    "rounded": "the same function, up to the rounding of floating numbers",
    "changed": "another function, because weights or attention were changed",
}


@dataclass(frozen=True, eq=False)
class Hidden:
    """A network that computes what `original` does and does not show how, with the map between the two.

    `equality` says what is known by construction: no step of the network rounds (only the outputs of an LSTM may, which
    are sums of shares), or the function is the same up to rounding, or it is changed by noise or otherwise. `right` of
    `inputs` sample inputs have the original's answer, and `difference` is the largest one between outputs on them.
    """

    network: Any
    original: Any
    map: Any  # a `BasisMap` of a Transformer, a `UnitMap` of a recurrent network
    equality: Equality
    inputs: int
    right: int
    difference: float
    options: dict[str, Any]
    compression: Compression | None = None

    @property
    def accuracy(self) -> float:
        """The share of sample inputs that have the original's answer."""
        return self.right / self.inputs if self.inputs else 1.0

    def as_json(self) -> dict[str, Any]:
        return {
            "equality": self.equality,
            "inputs": self.inputs,
            "right": self.right,
            "difference": self.difference,
            "options": self.options,
            "compression": None if self.compression is None else self.compression.as_json(),
            "map": self.map.as_json(),
        }

    def _repr_html_(self) -> str:
        return html_text(str(self))

    def __repr__(self) -> str:
        return f"<Hidden {type(self.network).__name__}: {self.right} of {self.inputs} inputs right>"

    def __str__(self) -> str:
        lost = "" if self.compression is None else f"\n{self.compression}"
        return (
            f"{WORDS[self.equality]}\n"
            f"{self.right} of {self.inputs} sample inputs right, outputs differ by at most {self.difference:.2g}{lost}"
        )
