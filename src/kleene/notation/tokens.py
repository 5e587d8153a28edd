"""Input sequences, checked and padded to one array, and decoder-only runs that write tokens one after the other.

In a decoder no position looks to its right, so the values at a position never change as the sequence grows, and can be
cached. Each position runs its own layers. It is done when its own halting variable says so (or after the program's
fixed number of layers), and does not change from then on; a later position in layer n sees its values in layer n.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol, runtime_checkable

import numpy as np

from kleene.errors import InputError
from kleene.notation.words import read_symbols

Tokens = Sequence[Any] | np.ndarray  # one input: tokens, or a string or symbols of an alphabet


def checked_input(
    sequence: Tokens,
    name: str,
    input_range: int,
    position_range: int | None,
    alphabet: tuple[str, ...] | None = None,
) -> list[int]:
    """The sequence as plain integers; refuses one that is empty or too long, and tokens that are no integers in range.

    With an alphabet it may be a string, or a list of symbols.
    """
    try:
        tokens = list(sequence) if alphabet is None else read_symbols(sequence, alphabet, name)
    except TypeError:
        raise InputError(f"{name}: the input is {sequence!r}, and a sequence of integers was expected") from None
    if not tokens:
        raise InputError(f"{name}: the input is empty; give at least one token in 0..{input_range - 1}")
    if position_range is not None and len(tokens) > position_range:
        raise InputError(
            f"{name}: the input has {len(tokens)} tokens, but the program was built for at most {position_range} "
            f"positions; build it with a larger position_range"
        )
    for position, token in enumerate(tokens):
        if not isinstance(token, (int, np.integer, bool)):
            raise InputError(f"{name}: token {position} is {token!r}, and tokens are integers in 0..{input_range - 1}")
        if not 0 <= token < input_range:
            raise InputError(f"{name}: token {position} is {token}, and tokens are in 0..{input_range - 1}")
    return [int(t) for t in tokens]


def padded(sequences: Sequence[Tokens]) -> tuple[np.ndarray, np.ndarray]:
    """Sequences of unequal length as one array (batch, position), padded with zeros, and their lengths.

    >>> padded([[1, 2], [3]])[0].tolist()
    [[1, 2], [3, 0]]
    """
    lengths = np.array([len(s) for s in sequences], dtype=np.int64)
    tokens = np.zeros((len(sequences), int(lengths.max(initial=0))), dtype=np.int32)
    for row, sequence in enumerate(sequences):
        tokens[row, : len(sequence)] = sequence
    return tokens, lengths


@dataclass(frozen=True)
class Decoding:
    """The result of decoding: the tokens after the prompt, the layers that each position took, and its final values."""

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


@runtime_checkable
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
