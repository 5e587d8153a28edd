"""Decoder-only runs: tokens are written one after the other, each seen by those after it.

No position looks to its right, so what happened at a position never changes as the sequence grows: it can be kept.
Each position runs its own layers. It is done when its own halting variable says so (or after the program's fixed
number of layers), and stays as it is from then on; later positions see it at the layer that they are at themselves.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np

from kleene.errors import InputError


@dataclass(frozen=True)
class Decoding:
    """What was written: the tokens after the prompt, the layers that each position took, what each holds at last."""

    tokens: list[int]
    layers: list[int]
    final: Mapping[str, np.ndarray] = field(repr=False)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Decoding) or (self.tokens, self.layers) != (other.tokens, other.layers):
            return False
        return self.final.keys() == other.final.keys() and all(
            np.allclose(self.final[n], other.final[n], rtol=2**-7, equal_nan=True) for n in self.final
        )

    __hash__ = None  # type: ignore[assignment]


class Decoder(Protocol):
    """A sequence that grows: a token goes in, the output at its position comes out."""

    def feed(self, token: int) -> int: ...

    def result(self, tokens: list[int]) -> Decoding: ...


def write(
    decoder: Decoder, prompt: list[int], tokens: int, stop: int | None, check: Callable[[list[int]], object]
) -> Decoding:
    """Feed the prompt, then every token written, until `tokens` are written or one is the `stop` token."""
    if tokens < 0:
        raise InputError(f"tokens is {tokens}; it must be 0 or more")
    written: list[int] = []
    output = [decoder.feed(token) for token in prompt][-1]
    while len(written) < tokens:
        written.append(output)
        if output == stop:
            break
        if len(written) < tokens:
            check([*prompt, *written])
            output = decoder.feed(output)
    return decoder.result(written)
