"""A transformer program compiled into the weights of a Universal Transformer, one pass after the other (ALTA, A.2)."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Literal

import numpy as np

from kleene.compiling.alta.features import Features, expand
from kleene.compiling.alta.hidden import MLP, compact_mlp, paper_mlp, probe_of, whole_mlp
from kleene.compiling.alta.stream import (
    ATTENTION_SCALAR,
    Embeddings,
    HeadWeights,
    Stream,
    attention_heads,
    embeddings,
    residual_stream,
)
from kleene.compiling.alta.units import PaperUnits, Units, compact_units, paper_units
from kleene.compiling.alta.unrolling import compile_unrolled
from kleene.errors import CompileError
from kleene.machines.transformer.parameters import Layout, Origin, Probe, digest_of
from kleene.machines.transformer.universal_transformer import UniversalTransformer
from kleene.programs.alta.program import Program

DTYPES = ("float32", "float64", "bfloat16")
METHODS: dict[str, tuple[Callable[[Program], Any], Callable[..., MLP]]] = {
    "compact": (compact_units, compact_mlp),
    "paper": (paper_units, paper_mlp),
}
Dtype = Literal["float32", "float64", "bfloat16"]
Method = Literal["compact", "paper"]
Activation = Literal["clipped", "relu"]
Layers = Literal["shared", "unrolled"]


def compile_program(
    program: Program,
    *,
    dtype: Dtype = "float32",
    rules: Method = "compact",
    activation: Activation = "clipped",
    attention_scalar: float = ATTENTION_SCALAR,
    layers: Layers = "shared",
    max_length: int | None = None,
    causal: bool = False,
    depth: int | None = None,
) -> Any:
    """A Transformer that does exactly what the program does.

    `rules="compact"` makes few hidden units. `rules="paper"` makes one for each of ALTA's transition rules, which the
    theory of minimal programs is about. `activation="relu"` writes each clipped unit as two plain ReLU units.
    `attention_scalar` is ALTA's λ, for those who study softmax: a match scores λ², so a small λ attends softly, and the
    network is no longer exact. `kleene.certify` says from which λ on it is.

    With `layers="shared"` it is a Universal Transformer. With `layers="unrolled"` it is an ordinary one, whose layers
    have weights of their own, for inputs of up to `max_length` tokens; `causal` gives it a causal mask, and `depth` is
    the number of layers where that cannot be found.
    """
    if layers not in ("shared", "unrolled"):
        raise CompileError(f"layers is 'shared' or 'unrolled'; got {layers!r}")
    if layers == "shared":
        given = {"max_length": max_length, "causal": causal or None, "depth": depth}
        for name, value in given.items():
            if value is not None:
                raise CompileError(
                    f"{program.name}: {name} says how layers are unrolled; give layers='unrolled' with it"
                )
        options: dict[str, Any] = {"dtype": dtype, "rules": rules, "activation": activation}
        return passes(program, **options, attention_scalar=attention_scalar).network
    if attention_scalar != ATTENTION_SCALAR:
        raise CompileError(
            f"{program.name}: attention_scalar is an option of shared layers; leave layers='unrolled' out"
        )
    _check_methods(rules, activation)
    asked = {"max_length": max_length, "causal": causal, "depth": depth}
    return compile_unrolled(program, dtype=number_type(dtype), rules=rules, activation=activation, **asked)


def passes(
    program: Program,
    *,
    dtype: Dtype = "float32",
    rules: Method = "compact",
    activation: Activation = "clipped",
    attention_scalar: float = ATTENTION_SCALAR,
) -> "Passes":
    """What each pass of compiling a program made, for inspection; `.network` is the machine.

    >>> from kleene.programs.alta.library import parity
    >>> made = passes(parity.relative())
    >>> print(made)
    stream     <residual stream of 8 dimensions for 4 variables in float32>
    embeddings <embeddings of 3 tokens and 0 positions>
    heads      <weights of 2 heads, keys of 1, values of 2>
    units      <3 hidden units, 0 bits>
    features   <8 features, 0 of them bits; 0 step units>
    mlp        <MLP of 7 hidden units, 14 input weights>
    >>> print(made.units.units[-1])
    done: -1 on 0, +1 on 1 where done in [0] and done_left in [1]
    """
    _check_methods(rules, activation)
    make_units, make_mlp = METHODS[rules]
    stream = residual_stream(program, number_type(dtype))
    start = embeddings(stream)
    heads = attention_heads(stream, attention_scalar)
    units = make_units(program)
    features = expand(stream, units.bits, relu=activation == "relu")
    mlp = whole_mlp(make_mlp(stream, features, units), stream, features, relu=activation == "relu")
    probe = probe_of(stream, features)
    return Passes(stream, start, heads, units, features, mlp, probe, rules, activation, attention_scalar)


def _check_methods(rules: str, activation: str) -> None:
    if rules not in METHODS or activation not in ("clipped", "relu"):
        raise CompileError(
            f"rules is 'compact' or 'paper', activation 'clipped' or 'relu'; got {rules!r}, {activation!r}"
        )


def number_type(name: str) -> np.dtype:
    """The numpy type of that name; bfloat16 comes with jax."""
    if name not in DTYPES:
        raise CompileError(f"there is no number type {name!r} here; choose one of {', '.join(DTYPES)}")
    if name == "bfloat16":
        import ml_dtypes

        return np.dtype(ml_dtypes.bfloat16)
    return np.dtype(name)


@dataclass(frozen=True, eq=False, repr=False)
class Passes:
    """What each pass made, in order; `network` puts it all together."""

    stream: Stream
    embeddings: Embeddings
    heads: HeadWeights
    units: Units | PaperUnits
    features: Features
    mlp: MLP
    probe: Probe | None
    rules: Method
    activation: Activation
    attention_scalar: float

    @cached_property
    def network(self) -> UniversalTransformer:
        """The Universal Transformer with these weights."""
        stream, start, heads, mlp = self.stream, self.embeddings, self.heads, self.mlp
        inputs, bias, outputs = (stream.exact(a, "the MLP") for a in (mlp.inputs, mlp.bias, mlp.outputs))
        network = UniversalTransformer(
            start.tokens, start.positions, heads.query, heads.key, heads.value, heads.out, heads.relative,
            self.features.expansion, inputs, bias, outputs, start.halt, self.probe, self.layout, self.activation,
        )  # fmt: skip
        options: dict[str, Any] = {"dtype": stream.dtype.name, "rules": self.rules, "activation": self.activation}
        if self.attention_scalar != ATTENTION_SCALAR:
            options["attention_scalar"] = float(self.attention_scalar)
        return replace(network, origin=Origin(stream.program, options, digest_of(network.arrays())))

    @property
    def layout(self) -> Layout:
        """What the dimensions mean, and what else a run needs besides the weights."""
        p = self.stream.program
        queries = tuple(h.query is not None for h in p.heads.values())
        return Layout(
            p.name, tuple(self.stream.segments.values()), tuple(p.heads), queries, p.output_name, p.input_range,
            p.position_range, p.halt is not None, p.max_layers, self.features.number_steps, p.alphabet,
            p.vocabulary,
        )  # fmt: skip

    def __repr__(self) -> str:
        return f"<passes of compiling {self.stream.program.name!r}>"

    def __str__(self) -> str:
        made = ("stream", "embeddings", "heads", "units", "features", "mlp")
        return "\n".join(f"{name:<10} {getattr(self, name)!r}" for name in made)
