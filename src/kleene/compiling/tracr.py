"""Tracr's way to compile and run, for scripts that are written that way: only their import lines change.

The start token, which Tracr's users write before every input, is taken off and put back here; our networks have one of
their own. New code is shorter with `kleene.compile(expr, vocab="abc", max_length=9)`.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from kleene import kinds
from kleene.compiling import compile
from kleene.errors import InputError
from kleene.machines.transformer import UniversalTransformer
from kleene.machines.transformer.parameters import Segment
from kleene.programs.rasp.expressions import SOp
from kleene.traces import Trace


@dataclass(frozen=True)
class TracrOutput:
    """A run: `decoded` is the start token and the s-op's values."""

    network: UniversalTransformer
    decoded: list
    trace: Trace
    given: tuple  # the tokens, without the start

    @cached_property
    def residuals(self) -> list[np.ndarray]:
        """The residual stream (position, dimension) at the start and after each layer."""
        streams = kinds.TRANSFORMERS.streams
        assert streams is not None
        found = streams(self.network, [self.given])
        return list(found.states[0, : self.trace.steps + 1, : len(self.decoded)])


@dataclass(frozen=True)
class TracrModel:
    """A compiled network that is applied as Tracr's models are: `model.apply(["BOS", "a", "b"]).decoded`."""

    network: UniversalTransformer
    bos: Any

    def apply(self, tokens: Sequence[Any]) -> TracrOutput:
        """The run on tokens, of which the first is the start token."""
        start, *given = [*tokens] or [None]
        if start != self.bos:
            raise InputError(
                f"the input begins with {start!r}; models of compile_rasp_to_model take {self.bos!r} before tokens, "
                f"as Tracr's do. The network itself, `model.network`, takes the tokens alone"
            )
        trace = self.network.run(given)
        return TracrOutput(self.network, [self.bos, *trace.output], trace, tuple(given))

    @property
    def residual_labels(self) -> list[str]:
        """What each dimension of the residual stream holds: a variable, and one of its values."""
        return [label for segment in self.network.layout.segments for label in _labels(segment)]


def _labels(segment: Segment) -> list[str]:
    channel = segment.channel
    if segment.width == 1:
        return [channel.name]
    names = channel.labels or range(segment.width)
    return [f"{channel.name}:{name}" for _, name in zip(range(segment.width), names)]


def compile_rasp_to_model(
    program: SOp,
    vocab: Any,
    max_seq_len: int,
    causal: bool = False,
    compiler_bos: Any = "BOS",
    compiler_pad: Any = "pad",
    mlp_exactness: int = 100,
) -> TracrModel:
    """A model for Tracr's scripts. `compiler_pad` and `mlp_exactness` change nothing: nothing is padded or inexact.

    >>> from kleene.programs import rasp
    >>> from kleene.programs.rasp import lib
    >>> model = compile_rasp_to_model(lib.make_reverse(rasp.tokens), vocab={"a", "b"}, max_seq_len=5)
    >>> model.apply(["BOS", "a", "b", "b"]).decoded
    ['BOS', 'b', 'b', 'a']
    """
    if compiler_bos in set(vocab):
        raise InputError(f"the start token {compiler_bos!r} is in the vocabulary; choose another compiler_bos")
    return TracrModel(compile(program, vocab=vocab, max_length=max_seq_len, causal=causal), compiler_bos)
