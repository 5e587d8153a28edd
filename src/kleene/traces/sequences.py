"""Input sequences: checked, and laid out as one array."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from kleene.errors import InputError
from kleene.traces.alphabets import read_symbols


def checked_input(
    sequence: Sequence[Any],
    name: str,
    input_range: int,
    position_range: int | None,
    alphabet: tuple[str, ...] | None = None,
) -> list[int]:
    """The sequence as plain integers; refuses what is empty, too long, not whole or out of range.

    With an alphabet it may be a text, or a list of symbols.
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


def padded(sequences: Sequence[Sequence[int]]) -> tuple[np.ndarray, np.ndarray]:
    """Sequences of unequal length as one array (batch, position), filled up with zeros, and their lengths.

    >>> padded([[1, 2], [3]])[0].tolist()
    [[1, 2], [3, 0]]
    """
    lengths = np.array([len(s) for s in sequences], dtype=np.int64)
    tokens = np.zeros((len(sequences), int(lengths.max(initial=0))), dtype=np.int32)
    for row, sequence in enumerate(sequences):
        tokens[row, : len(sequence)] = sequence
    return tokens, lengths
