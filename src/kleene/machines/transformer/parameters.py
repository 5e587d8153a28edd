"""The weights of a Universal Transformer, and what they were compiled from."""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from jaxtyping import Float

from kleene.machines.pytree import pytree, static
from kleene.machines.transformer.layout import Layout
from kleene.machines.weights import arrays_of

Array = np.ndarray


@pytree
class Probe:
    """Says where a head's undefined output would be used.

    Row r holds where `features @ rows[:, r] >= least[r]`; a condition is a signed sum of rows that must be 1;
    a guard asks for all its conditions, and `guarded` says of which head it guards the use. A condition that
    looks at an undefined head (`mentions`) counts as holding. One use more than there are heads stands for faults:
    writes that end the run with an error wherever their guards hold.
    """

    rows: Float[Array, "features rows"]
    least: Float[Array, " rows"]
    conditions: Float[Array, "rows conditions"]
    mentions: Float[Array, "conditions uses"]
    guards: Float[Array, "conditions guards"]
    guarded: Float[Array, "guards uses"]


@pytree
class Expansion:
    """Two layers before the MLP that turn numbers, sets and sums into features that are 0 or 1."""

    inputs: Float[Array, "width steps"]
    bias: Float[Array, " steps"]
    outputs: Float[Array, "steps more"]
    constant: Float[Array, " more"]


@dataclass(frozen=True, eq=False)
class Origin:
    """What a network was compiled from, how, and a digest of its weights as they were made.

    A file keeps all of it but the program.
    """

    program: Any
    options: dict[str, str]
    digest: str | None = None


@pytree
class Parameters:
    """One layer of attention and MLP. The fields are the weights; `layout` says what their dimensions mean.

    Attention is softmax(Q K + bias), and its outputs are added up; the MLP is `mlp_out · clip(mlp_in · x + mlp_bias)`,
    where x is the residual stream and, if there is an `expansion`, its features.
    """

    tokens: Float[Array, "symbols width"]
    positions: Float[Array, "positions width"] | None
    query: Float[Array, "heads width key"]
    key: Float[Array, "heads width key"]
    value: Float[Array, "heads width entry"]
    out: Float[Array, "heads entry width"]
    relative: Float[Array, "heads offsets"]
    expansion: Expansion | None
    mlp_in: Float[Array, "features hidden"]
    mlp_bias: Float[Array, " hidden"]
    mlp_out: Float[Array, "hidden width"]
    halt: Float[Array, " width"] | None
    probe: Probe | None
    layout: Layout = static()
    activation: Literal["clipped", "relu"] = static(default="clipped")
    origin: Origin | None = static(default=None)

    @property
    def dtype(self) -> str:
        return str(self.tokens.dtype)

    def weights(self) -> dict[str, np.ndarray | None]:
        """The Transformer's own weights by name, without the probe."""
        expansion = {} if self.expansion is None else arrays_of(self.expansion, "expansion.")
        names = ("tokens", "positions", "query", "key", "value", "out", "relative", "mlp_in", "mlp_bias", "mlp_out")
        return {n: getattr(self, n) for n in names} | expansion

    def arrays(self) -> dict[str, np.ndarray]:
        """All arrays by name, those of the probe and the halting condition included."""
        probe = {} if self.probe is None else arrays_of(self.probe, "probe.")
        found = self.weights() | {"halt": self.halt} | probe
        return {name: array for name, array in found.items() if array is not None}


def digest_of(arrays: Mapping[str, np.ndarray]) -> str:
    """A text that stands for the arrays: others have another one."""
    found = hashlib.sha256()
    for name in sorted(arrays):
        array = np.ascontiguousarray(arrays[name])
        found.update(f"{name} {array.dtype} {array.shape};".encode())
        found.update(array.view(np.uint8).data if array.size else b"")
    return found.hexdigest()
