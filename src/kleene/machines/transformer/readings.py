"""Linear readings of a residual stream: what a Transformer that is taught a program says of each of its variables."""

from collections.abc import Sequence
from typing import Any

import jax.numpy as jnp
from jaxtyping import Array, Float

from kleene.errors import InputError
from kleene.machines.transformer.streams import AT_ONCE, ResidualStreams, Streams, decoded, residual_streams
from kleene.notation.words import checked_input
from kleene.traces import Trace, TraceBatch


class ReadLinearly:
    """A network whose stream is read by the rows of `readings`: those of its `variables`, then of its `head_outputs`.

    Variables are read after each layer and heads' outputs after each attention. The variable `output_name` after the
    last layer is the output.
    """

    embedding: Any
    readings: Any
    reading_bias: Any
    variables: tuple[tuple[str, int], ...]
    head_outputs: tuple[tuple[str, int], ...]
    output_name: str
    places: int | None

    @property
    def alphabet(self) -> None:
        """None, because a word is a list of tokens."""
        return None

    def layers_for(self, positions: Any) -> Any:
        """The number of layers for a word of so many positions."""
        raise NotImplementedError

    def layers_run(self, layers: int) -> int:
        """The number of layers that are computed where so many are asked for; an error if the network cannot."""
        return layers

    def patterns(self, tokens: Any, layers: int) -> Any:
        """The attention patterns of a word in so many layers: [layer, head, query, key]."""
        raise NotImplementedError

    def read(self, streams: Streams) -> dict[str, Float[Array, "step position values"]]:
        """The logits of each variable at the start and after each layer, and of each head's output in each layer.

        What a head read at the start, before the first layer, is 0.
        """
        found, first = {}, 0
        for name, size in self.variables + self.head_outputs:
            part = slice(first, first + size)
            is_variable = first < sum(count for _, count in self.variables)
            stream = streams.states if is_variable else streams.attended
            logits = stream @ self.readings[part].T + self.reading_bias[part]
            found[name] = logits if is_variable else jnp.concatenate([jnp.zeros_like(logits[:1]), logits])
            first += size
        return found

    def run(self, word: Sequence[int], *, layers: int | None = None) -> Trace:
        """The decoded trace of one word of tokens: each variable after each layer, and what each head read in it."""
        return decoded(self, self._checked([word]), layers)[0]

    def run_batch(self, words: Sequence[Sequence[int]], *, at_once: int = AT_ONCE) -> TraceBatch:
        """The decoded traces of many words of unequal length, as many at once as take `at_once` numbers."""
        return decoded(self, self._checked(words), at_once=at_once)

    def residual_streams(self, words: Sequence[Sequence[int]], *, at_once: int = AT_ONCE) -> ResidualStreams:
        """The residual streams of many words of unequal length."""
        return residual_streams(self, self._checked(words), at_once=at_once)

    def _checked(self, words: Sequence[Sequence[int]]) -> list[list[int]]:
        return [checked_input(word, type(self).__name__, len(self.embedding), self.places) for word in words]

    def check_readings(self) -> None:
        """Refuse an output that is no variable, and rows that are not those of the variables."""
        names = [name for name, _ in self.variables]
        values = sum(size for _, size in self.variables + self.head_outputs)
        if self.output_name not in names:
            raise InputError(f"the output {self.output_name!r} is no variable; there are {', '.join(names)}")
        if self.readings.shape[-2] != values:
            raise InputError(f"readings has {self.readings.shape[-2]} rows, and the variables have {values} values")
