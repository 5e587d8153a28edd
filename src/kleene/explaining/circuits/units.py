"""How far the output moves if a single hidden unit holds something else: the methods for heads and MLPs, unit by unit.

The units are those of the MLPs of a plain Transformer, or the hidden states of an LSTM or a simple RNN. A unit holds
something else at every position of a word, or at every step. A Transformer's output moves by a Kullback–Leibler
divergence, in nats, and an acceptor's by the absolute change of its first output at the end of the word; both are means
over words.
"""

from abc import abstractmethod
from collections.abc import Callable, Sequence
from functools import singledispatch
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Int

from kleene.errors import InputError
from kleene.explaining.circuits.patching import CHUNK, Pairs
from kleene.explaining.words.baselines import start_states, states_after
from kleene.explaining.words.parts import Recurrence, decomposable, precision
from kleene.machines.lstm.lstm import LSTM
from kleene.machines.rnn.simple_rnn import SimpleRNN
from kleene.machines.transformer.plain import PlainTransformer
from kleene.notation.words import padded_codes

Words = Sequence[Any]
Held = Float[Array, "batch layers position units"]


def unit_ablation(network: Any, inputs: Words, others: Words) -> np.ndarray:
    """How far the output moves if a unit holds, at each position, its mean over all words there: [layers, units].

    `others` has another input for each, no shorter. A unit that nothing reads scores 0, up to rounding, and so do one
    that is always the same and one whose change a later part rounds off. In this hidden network the units with the
    number -1 are decoys:

    >>> import kleene
    >>> hidden = kleene.hide("rasp:hist", vocab="ab", max_length=3, decoys=1)
    >>> moved = unit_ablation(hidden.network, ["ab", "bba", "aa"], ["ba", "abb", "bba"])
    >>> moved.shape == hidden.map.units.shape
    True
    >>> bool(moved[hidden.map.units < 0].max() < 1e-4 < moved[hidden.map.units >= 0].max())
    True
    """
    return _moved_by(network, inputs, others, _mean)


def unit_patching(network: Any, inputs: Words, others: Words) -> np.ndarray:
    """How far the output moves if a unit holds what it holds on the other input: [layers, units]."""
    return _moved_by(network, inputs, others, _of_other)


class UnitRuns(eqx.Module):
    """A network, words, and after them as many other words: what their units hold, and what follows if one does not."""

    tokens: Int[Array, "both position"]
    lengths: Int[Array, " both"]

    @abstractmethod
    def held(self) -> Float[Array, "both layers position units"]:
        """What each unit holds on the words, then on the other words."""

    @abstractmethod
    def moved(self, is_changed: Bool[Array, "layers units"], values: Held) -> Float[Array, ""]:
        """How far the output on the words moves if the units that are changed hold these values."""


def _moved_by(
    network: Any, inputs: Words, others: Words, values: Callable[[UnitRuns, Array], Array]
) -> Float[np.ndarray, "layers units"]:
    if not len(inputs) or len(inputs) != len(others):
        raise InputError(f"there are {len(inputs)} inputs and {len(others)} others; give as many of both, 1 or more")
    for number, (one, other) in enumerate(zip(inputs, others)):
        if not 0 < len(one) <= len(other):
            sizes = f"{len(one)} tokens, and the other input {len(other)}"
            raise InputError(f"input {number} has {sizes}; give 1 or more, and others that are no shorter")
    with precision(_dtype(network)):
        runs = unit_runs(network, inputs, others)
        return np.asarray(_each_unit(runs, values(runs, _held(runs))))


@singledispatch
def unit_runs(network: Any, inputs: Words, others: Words) -> UnitRuns:
    """The runs of a network on words and on others; an error if its units are not known."""
    raise InputError(f"a {type(network).__name__} has no units here; a PlainTransformer, an LSTM and a SimpleRNN have")


@singledispatch
def _dtype(network: Any) -> Any:
    return np.float32


@eqx.filter_jit
def _held(runs: UnitRuns) -> Array:
    return runs.held()


@eqx.filter_jit
def _each_unit(runs: UnitRuns, values: Held) -> Float[Array, "layers units"]:
    shape = values.shape[1], values.shape[3]
    count = shape[0] * shape[1]

    def of_unit(number: Array) -> Array:
        return runs.moved((jnp.arange(count) == number).reshape(shape), values)

    numbers = jnp.arange(-(-count // CHUNK) * CHUNK)  # the last ones change nothing, so that all chunks are one program
    return jax.lax.map(of_unit, numbers, batch_size=CHUNK)[:count].reshape(shape)


def _mean(runs: UnitRuns, held: Array) -> Held:
    inside = (jnp.arange(runs.tokens.shape[1]) < runs.lengths[:, None])[:, None, :, None]
    mean = jnp.sum(jnp.where(inside, held, 0), axis=0) / jnp.maximum(jnp.sum(inside, axis=0), 1)
    return jnp.broadcast_to(mean, (len(held) // 2, *mean.shape))


def _of_other(runs: UnitRuns, held: Array) -> Held:
    return held[len(held) // 2 :]


class TransformerUnits(UnitRuns):
    """The units of a plain Transformer's MLPs."""

    pairs: Pairs

    def held(self) -> Float[Array, "both layers position units"]:
        shape = (len(self.tokens), *self.pairs.network.mlp_bias.shape)
        nothing = jnp.zeros((*shape[:2], self.tokens.shape[1], shape[2]), self.pairs.network.mlp_bias.dtype)
        run = jax.vmap(self._run, in_axes=(0, 0, None, 0))
        return run(self.tokens, self.lengths, jnp.zeros(shape[1:], bool), nothing)[1]

    def moved(self, is_changed: Bool[Array, "layers units"], values: Held) -> Float[Array, ""]:
        size = self.pairs.tokens.shape[1]
        run = jax.vmap(self._run, in_axes=(0, 0, None, 0))
        return self.pairs.moved(run(self.pairs.tokens, self.pairs.lengths, is_changed, values[:, :, :size])[0])

    def _run(self, tokens: Array, length: Array, is_changed: Array, values: Array) -> tuple[Array, Array]:
        """The logits, and what the units hold."""
        network = self.pairs.network
        seen = network.seen(len(tokens), length)

        def step(stream: Array, scanned: Any) -> tuple[Array, Array]:
            layer, is_changed, values = scanned
            read = stream[None]
            attended = stream + jnp.sum(layer.attend(read, read, read, seen), axis=0)
            held = jnp.where(is_changed, values, layer.to_units(attended))
            return attended + layer.from_units(held), held

        start = jnp.sum(network.embedded(tokens), axis=0)
        stream, held = jax.lax.scan(step, start, (network.by_layer(), is_changed, values))
        return network.logits(stream), held


class RecurrentUnits(UnitRuns):
    """The hidden states of an LSTM or a simple RNN, and the row of its decoder that gives the first output."""

    network: Recurrence
    decoder: Float[Array, " hidden"]

    def held(self) -> Float[Array, "both layers position units"]:
        shape = (len(self.tokens), *self.network.start.hidden.shape)
        nothing = jnp.zeros((*shape[:2], self.tokens.shape[1], shape[2]), self.network.start.hidden.dtype)
        return jax.vmap(self._run, in_axes=(0, None, 0))(self.tokens, jnp.zeros(shape[1:], bool), nothing)

    def moved(self, is_changed: Bool[Array, "layers units"], values: Held) -> Float[Array, ""]:
        count = len(self.tokens) // 2
        words, ends = self.tokens[:count], self.lengths[:count] - 1
        run = jax.vmap(self._run, in_axes=(0, None, 0))
        after, before = (
            run(words, units, values)[jnp.arange(count), -1, ends] for units in (is_changed, jnp.zeros_like(is_changed))
        )
        return jnp.mean(jnp.abs((after - before) @ self.decoder))

    def _run(self, tokens: Array, is_changed: Array, values: Array) -> Float[Array, "layers position units"]:
        def step(states: Any, now: Any) -> tuple[Any, Array]:
            token, values = now
            after = states_after(
                self.network,
                states,
                self.network.embedding[token],
                change=lambda layer, hidden: jnp.where(is_changed[layer], values[layer], hidden),
            )
            return after, jnp.stack([hidden for hidden, _ in after])

        _, held = jax.lax.scan(step, start_states(self.network), (tokens, jnp.moveaxis(values, 1, 0)))
        return jnp.moveaxis(held, 0, 1)


@unit_runs.register
def _(network: PlainTransformer, inputs: Words, others: Words) -> UnitRuns:
    tokens, lengths = map(jnp.asarray, network.encode([*inputs, *others]))
    return TransformerUnits(tokens, lengths, Pairs.of(network, inputs, others))


def _recurrent_runs(network: Any, inputs: Words, others: Words) -> UnitRuns:
    about = decomposable(network)
    assert about.recurrence is not None
    tokens, lengths = padded_codes([*inputs, *others], tuple(network.alphabet))
    about.check_length(tokens.shape[1])
    decoder = jnp.asarray(about.decoder)[0]
    return RecurrentUnits(jnp.asarray(tokens), jnp.asarray(lengths), about.recurrence, decoder)


def _recurrent_dtype(network: Any) -> Any:
    return decomposable(network).dtype


for recurrent in (LSTM, SimpleRNN):
    unit_runs.register(recurrent, _recurrent_runs)
    _dtype.register(recurrent, _recurrent_dtype)
