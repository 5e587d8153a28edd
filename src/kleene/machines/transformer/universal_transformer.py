"""The Universal Transformer: one layer of attention and MLP, repeated until every position is done."""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import equinox as eqx
import numpy as np
from jaxtyping import Float

from kleene.machines.transformer.residual import Layout
from kleene.notation.tokens import Decoding
from kleene.traces import Trace, TraceBatch

Array = np.ndarray


class Probe(eqx.Module):
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


class Expansion(eqx.Module):
    """Two layers before the MLP that turn numbers, sets and sums into features that are 0 or 1."""

    inputs: Float[Array, "width steps"]
    bias: Float[Array, " steps"]
    outputs: Float[Array, "steps features"]
    constant: Float[Array, " features"]


@dataclass(frozen=True, eq=False)
class Origin:
    """What a network was compiled from, how, and a digest of its weights as they were made.

    A file keeps all of it but the program.
    """

    program: Any
    options: dict[str, str]
    digest: str | None = None


@dataclass(frozen=True)
class Size:
    """How large a network is. `hidden_units` counts the MLP's and the expansion's units."""

    hidden_units: int
    residual_dims: int
    heads: int
    parameters: int
    nonzero: int


class UniversalTransformer(eqx.Module):
    """A Transformer layer with shared weights, relative position biases and dynamic halting.

    The fields are the weights; a compiler fills them, `layout` says what the dimensions mean. Attention is
    softmax(Q K + bias), outputs are added up; the MLP is `mlp_out · clip(mlp_in · x + mlp_bias)`, where x is the
    residual stream and, if there is an `expansion`, its features.
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
    layout: Layout = eqx.field(static=True)
    activation: Literal["clipped", "relu"] = eqx.field(static=True, default="clipped")
    origin: Origin | None = eqx.field(static=True, default=None)

    @property
    def dtype(self) -> str:
        return str(self.tokens.dtype)

    @property
    def size(self) -> Size:
        weights = [w for w in self.weights().values() if w is not None]
        expansion = self.expansion.bias.size if self.expansion is not None else 0
        return Size(
            hidden_units=int(self.mlp_bias.size + expansion),
            residual_dims=self.layout.width,
            heads=len(self.layout.heads),
            parameters=int(sum(w.size for w in weights)),
            nonzero=int(sum(np.count_nonzero(w) for w in weights)),
        )

    def weights(self) -> dict[str, np.ndarray | None]:
        """The Transformer's own weights by name, without the probe."""
        expansion = {} if self.expansion is None else vars_of(self.expansion, "expansion.")
        names = ("tokens", "positions", "query", "key", "value", "out", "relative", "mlp_in", "mlp_bias", "mlp_out")
        return {n: getattr(self, n) for n in names} | expansion

    def arrays(self) -> dict[str, np.ndarray]:
        """All arrays by name, those of the probe and the halting condition included."""
        probe = {} if self.probe is None else vars_of(self.probe, "probe.")
        found = self.weights() | {"halt": self.halt} | probe
        return {name: array for name, array in found.items() if array is not None}

    @property
    def is_edited(self) -> bool:
        """Whether the weights are other ones than the compiler made; False where that is not known."""
        return (
            self.origin is not None
            and self.origin.digest is not None
            and digest_of(self.arrays()) != self.origin.digest
        )

    def run(self, sequence: Sequence[Any], *, max_layers: int | None = None, **options: Any) -> Trace:
        """The decoded trace of the network on one input; the same as the program's. Options as for `run_batch`."""
        return self.run_batch([sequence], max_layers=max_layers, **options)[0]

    def run_batch(
        self,
        sequences: Sequence[Sequence[Any]],
        *,
        max_layers: int | None = None,
        record: bool = True,
        attention: Literal["select", "softmax"] = "select",
        backend: Literal["auto", "numpy", "jax"] = "auto",
    ) -> TraceBatch:
        """The decoded traces of many inputs of unequal length at once. Without `record` only outputs are kept.

        `attention="select"` exploits that compiled activations are one-hot: selection becomes a lookup;
        "softmax" computes attention as any Transformer does. `backend="auto"` runs small batches in numpy, which
        needs no compilation, and large ones, or those in bfloat16 or on a GPU, in jax.
        """
        from kleene.machines.transformer.execution import execute

        return execute(self, sequences, max_layers=max_layers, record=record, attention=attention, backend=backend)

    def decode(self, prompt: Sequence[Any], *, tokens: int, stop: int | None = None, cached: bool = True) -> Decoding:
        """The tokens that the network writes after a prompt, run as a decoder: see `kleene.notation.tokens`."""
        from kleene.machines.transformer.decoding import decode

        return decode(self, prompt, tokens=tokens, stop=stop, cached=cached)

    def save(self, path: Any) -> None:
        """Write the network to a safetensors file."""
        from kleene.machines.transformer.storage import save

        save(self, path)

    @staticmethod
    def load(path: Any) -> "UniversalTransformer":
        """The network in a safetensors file that `save` wrote. Opening a file never runs code."""
        from kleene.machines.transformer.storage import load

        return load(path)


def digest_of(arrays: Mapping[str, np.ndarray]) -> str:
    """A text that stands for the arrays: others have another one."""
    found = hashlib.sha256()
    for name in sorted(arrays):
        array = np.ascontiguousarray(arrays[name])
        found.update(f"{name} {array.dtype} {array.shape};".encode())
        found.update(array.view(np.uint8).data if array.size else b"")
    return found.hexdigest()


def vars_of(module: eqx.Module, prefix: str = "") -> dict[str, Any]:
    """The fields of a module by name."""
    return {prefix + name: getattr(module, name) for name in module.__dataclass_fields__}
