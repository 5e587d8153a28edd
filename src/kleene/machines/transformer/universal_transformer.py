"""The Universal Transformer: one layer of attention and MLP, repeated until every position has halted."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np

from kleene.errors import InputError
from kleene.machines.protocol import Shown, shown_names
from kleene.machines.transformer.execution import decode, execute
from kleene.machines.transformer.parameters import Layout, Origin, Parameters, check_layout, digest_of, pytree
from kleene.machines.transformer.patching import Interventions
from kleene.machines.transformer.pytorch import shared_parts
from kleene.machines.weights import Axes, Format, plain, typed
from kleene.notation.words import Decoding
from kleene.traces import Trace, TraceBatch


@dataclass(frozen=True)
class TransformerSize:
    """The size of a network; `hidden_units` counts the MLP's and the expansion's units."""

    hidden_units: int
    residual_dims: int
    heads: int
    parameters: int
    nonzero: int


@pytree
class UniversalTransformer(Shown, Parameters):
    """A Transformer layer with shared weights, relative position biases and dynamic halting.

    A compiler fills the weights, which are those of `Parameters`.
    """

    @property
    def size(self) -> TransformerSize:
        weights = [w for w in self.weights().values() if w is not None]
        expansion = self.expansion.bias.size if self.expansion is not None else 0
        return TransformerSize(
            hidden_units=int(self.mlp_bias.size + expansion),
            residual_dims=self.layout.width,
            heads=len(self.layout.heads),
            parameters=int(sum(w.size for w in weights)),
            nonzero=int(sum(np.count_nonzero(w) for w in weights)),
        )

    def parameter_count(self) -> int:
        return sum(weight.size for weight in self.weights().values() if weight is not None)

    def facts(self) -> dict[str, str]:
        layout = self.layout
        tokens = (
            f"tokens 0 to {layout.input_range - 1}"
            if layout.alphabet is None
            else shown_names(layout.alphabet, "symbols")
        )
        heads = f"{len(layout.heads)} head{'s' * (len(layout.heads) != 1)}"
        return {"reads": tokens, "answers": layout.output_name, "has": f"{heads}, {self.activation}, {self.dtype}"}

    @property
    def is_edited(self) -> bool:
        """Whether the weights differ from those that the compiler made; False if that is not known."""
        return (
            self.origin is not None
            and self.origin.digest is not None
            and digest_of(self.arrays()) != self.origin.digest
        )

    def run(self, sequence: Sequence[Any], *, max_layers: int | None = None, **options: Any) -> Trace:
        """The decoded trace of the network on one input, equal to the program's. Options as for `run_batch`."""
        return self.run_batch([sequence], max_layers=max_layers, **options)[0]

    def run_batch(
        self,
        sequences: Sequence[Sequence[Any]],
        *,
        max_layers: int | None = None,
        record: bool = True,
        attention: Literal["select", "softmax"] = "select",
        backend: Literal["auto", "numpy", "jax"] = "auto",
        edits: Interventions = (),
    ) -> TraceBatch:
        """The decoded traces of many inputs of unequal length at once. Without `record` only outputs are kept.

        With `attention="select"` selection is a lookup, because compiled activations are one-hot; "softmax" computes
        attention as any Transformer does. `backend="auto"` runs small batches in numpy, which needs no compilation,
        and large ones, or those in bfloat16 or on a GPU, in jax. `edits` set variables and heads' outputs on the way
        (`kleene.Edit`), for every input, or a list for each of them; patches and ablations set any numbers
        (`kleene.machines.transformer.patching`).
        """
        options: dict[str, Any] = {"max_layers": max_layers, "record": record, "attention": attention}
        return execute(self, sequences, **options, backend=backend, edits=edits)

    def decode(self, prompt: Sequence[Any], *, tokens: int, stop: int | None = None, cached: bool = True) -> Decoding:
        """The tokens that the network writes after a prompt, run as a decoder: see `kleene.notation.words`."""
        return decode(self, prompt, tokens=tokens, stop=stop, cached=cached)

    def to_torch(self) -> Any:
        """The network as a module of PyTorch. Needs the extra `torch`; see `kleene.export` for a folder of files."""
        return shared_parts(self).build()

    def to_transformer_lens(self) -> Any:
        """An error: only a network whose layers are unrolled is a model of TransformerLens."""
        raise InputError(
            f"{self.layout.name}: TransformerLens has ordinary layers; compile the program with layers='unrolled' and "
            f"a max_length, and take the bridge of that network"
        )

    def save(self, path: Any) -> Path:
        """Save the network and return the path. A file keeps how it was compiled, but not the program."""
        header: dict[str, Any] = {"layout": plain(self.layout), "activation": self.activation}
        if self.origin is not None:
            header["origin"] = {"options": self.origin.options, "digest": self.origin.digest}
        return FORMAT.save(self, path, header)

    @classmethod
    def load(cls, path: Any) -> "UniversalTransformer":
        """The network in a file that `save` wrote. Opening a file never runs code."""
        return FORMAT.load(cls, path)


def _given(header: dict[str, Any], arrays: dict[str, np.ndarray]) -> dict[str, int]:
    """The sizes of axes that follow from the layout; refuses weights of several number types."""
    if header["activation"] not in ("clipped", "relu"):
        raise ValueError(f"its activation is {header['activation']!r}")
    layout: Layout = typed(Layout, header["layout"], "layout")
    check_layout(layout)
    needed = {"positions": layout.position_range is not None, "halt": layout.halts, "tokens": True}
    for name, is_needed in needed.items():
        if is_needed and name not in arrays:
            raise ValueError(f"{name} is missing")
    for name, array in arrays.items():
        if array.dtype != arrays["tokens"].dtype and not name.startswith("probe."):
            raise ValueError(f"{name} holds {array.dtype}, and tokens {arrays['tokens'].dtype}")
    more = arrays["expansion.constant"].size if "expansion.constant" in arrays else 0
    sizes = {"symbols": layout.input_range, "heads": len(layout.heads), "width": layout.width}
    positions = {} if layout.position_range is None else {"positions": layout.position_range}
    return sizes | positions | {"features": layout.width + more}


def _statics(header: dict[str, Any], axes: Axes) -> dict[str, Any]:
    layout: Layout = typed(Layout, header["layout"], "layout")
    uses, heads = axes.found.get("uses", len(layout.heads)), len(layout.heads)
    if uses not in (heads, heads + 1):
        raise ValueError(f"probe.guarded has {uses} uses, and there are {heads} heads")
    for head, first, last in layout.number_steps:
        if not (0 <= head < heads and 0 <= first <= last <= axes.found.get("steps", 0)):
            raise ValueError(f"head {head} has the expansion's units {first}..{last}, which are not there")
    return {"layout": layout, "activation": header["activation"], "origin": _origin(header.get("origin"))}


def _origin(described: Any) -> Origin | None:
    """How the network was compiled; None for a file of an older Kleene."""
    if described is None:
        return None
    options, digest = dict(described["options"]), described["digest"]
    scalar = options.get("attention_scalar", 1.0)
    are_strings = all(isinstance(value, str) for name, value in options.items() if name != "attention_scalar")
    named = set(options) | {"attention_scalar"} == {"dtype", "rules", "activation", "attention_scalar"}
    if not (named and are_strings and isinstance(scalar, float) and isinstance(digest or "", str)):
        raise ValueError(f"its origin is {described!r}")
    return Origin(None, options, digest)


FORMAT = Format(
    "universal transformer",
    "network",
    given=_given,
    statics=_statics,
    remedy="compile it again",
    may_be_empty=True,
)
