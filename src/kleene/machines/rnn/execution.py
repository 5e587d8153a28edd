"""Running a simple recurrent network, exactly or in floating numbers, and reading its trace back.

Networks of integers are stepped sparsely, many words at once; other exact ones plainly, word by word
(`exact_execution`). Floating ones run in jax: one jitted scan over a padded batch, at few shapes. Where a compiler left
a reading, hidden vectors are read as the states of its automaton. Here `network` is always a `SimpleRNN`.
"""

from collections.abc import Iterable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from kleene.errors import CompileError, RunError
from kleene.machines.rnn.exact_execution import (
    PlainReadout,
    PlainStepper,
    SparseReadout,
    SparseStepper,
    TooLargeError,
    whole,
)
from kleene.machines.rnn.exact_floats import check_length
from kleene.notation.words import Word, padded_codes, whole_word, word_codes
from kleene.traces import Channel, TraceBatch

FEW = 8  # words; up to this many, stepping one after the other is faster if few units are live
NARROW = 16  # units


@dataclass(frozen=True)
class StateReading:
    """Which state each hidden unit stands for.

    A legal vector has one live unit, whose value is 1, and means that unit's state; the zero vector means the state
    `dead`. Every other vector, and the zero vector where `dead` is None, means nothing: it reads as -1.

    >>> reading = StateReading(states=("even", "odd"), units=(0, 1, 1), dead=None)
    >>> reading.state({2: 1}), reading.state({1: 1, 2: 1}), reading.state({})
    (1, -1, -1)
    """

    states: tuple[str, ...]
    units: tuple[int, ...]
    dead: int | None = None

    def __post_init__(self) -> None:
        spoken = {*self.units, *([] if self.dead is None else [self.dead])}
        unknown = sorted(state for state in spoken if not 0 <= state < len(self.states))
        if unknown:
            raise CompileError(
                f"a reading speaks of state number {unknown[0]}, but it has {len(self.states)} states, from 0"
            )

    @property
    def nothing(self) -> int:
        """The state of the zero vector, or -1."""
        return -1 if self.dead is None else self.dead

    def state(self, live: Mapping[int, int | Fraction]) -> int:
        """The state that a hidden vector means, given by its units that are not 0."""
        if not live:
            return self.nothing
        ((unit, value), *more) = live.items()
        return self.units[unit] if value == 1 and not more else -1

    def states_of(self, rows: np.ndarray, units: np.ndarray, values: np.ndarray, count: int) -> np.ndarray:
        """The states of `count` hidden vectors; vector `rows[k]` has `values[k]` at `units[k]` and 0 elsewhere."""
        found = np.full(count, self.nothing, dtype=np.int32)
        found[rows] = np.where(values == 1, np.asarray(self.units, dtype=np.int32)[units], -1)
        found[np.bincount(rows, minlength=count) > 1] = -1
        return found


def codes(network: Any, words: Iterable[Word]) -> tuple[np.ndarray, np.ndarray]:
    """The symbols' codes, (batch, step), padded with 0, and the words' lengths."""
    words = [whole_word(word) for word in words]
    if len(words) == 1:
        word_codes(words[0], network.alphabet)  # so that its errors do not say "word 0"
    return padded_codes(words, network.alphabet)


def hidden(network: Any, word: Word) -> np.ndarray:
    """Every hidden vector, (step, hidden), the start first."""
    tokens, _ = codes(network, [word])
    if not network.is_exact:
        return floating_hidden(network, tokens)[0]
    found = np.zeros((tokens.shape[1] + 1, network.hidden_units), dtype=object)
    for step, state in enumerate(PlainStepper(network).states(tokens[0].tolist())):
        for unit in state.live:
            found[step, unit] = state.value(unit)
    return found


def outputs(network: Any, word: Word) -> np.ndarray:
    """The outputs, (step, outputs), at the start and after each symbol."""
    tokens, _ = codes(network, [word])
    if not network.is_exact:
        return floating_outputs(network, tokens)[0]
    readout = PlainReadout(network)
    states = PlainStepper(network).states(tokens[0].tolist())
    return np.array([[whole(value) for value in readout.outputs(state)] for state in states], dtype=object)


def outputs_batch(network: Any, words: Iterable[Word]) -> np.ndarray:
    """The outputs (batch, outputs) at the end of each word."""
    tokens, lengths = codes(network, words)
    if not network.is_exact:
        return floating_ends(network, tokens, lengths)
    readout, stepper = PlainReadout(network), PlainStepper(network)
    found = np.zeros((len(lengths), network.readout.shape[0]), dtype=object)
    for row, length in enumerate(lengths.tolist()):
        *_, last = stepper.states(tokens[row, :length].tolist())
        found[row] = [whole(value) for value in readout.outputs(last)]
    return found


def in_one_go(network: Any, words: int) -> bool:
    """Whether so many words are stepped faster all together, in int64.

    A network with a reading has one live unit at a time, so a step of one word takes microseconds.
    """
    narrow = network.reading is not None or network.hidden_units <= NARROW
    return network.is_integer and not (words <= FEW and narrow)


def accepts_batch(network: Any, words: Iterable[Word]) -> np.ndarray:
    """Whether each word is accepted."""
    tokens, lengths = codes(network, words)
    if not network.is_exact:
        return floating_accepts(network, tokens, lengths)
    accepted, decided = np.zeros(len(lengths), dtype=bool), np.zeros(len(lengths), dtype=bool)
    if in_one_go(network, len(lengths)):
        _accept_sparsely(network, tokens, lengths, accepted, decided)
    if not decided.all():
        stepper, readout = PlainStepper(network), PlainReadout(network)
        for row in np.flatnonzero(~decided).tolist():
            *_, last = stepper.states(tokens[row, : lengths[row]].tolist())
            accepted[row] = readout.accepts(last)
    return accepted


def _accept_sparsely(
    network: Any, tokens: np.ndarray, lengths: np.ndarray, accepted: np.ndarray, decided: np.ndarray
) -> None:
    """Fill in which words are accepted; words whose numbers grow past int64 are left undecided."""
    try:
        readout = SparseReadout(network)
        for step, (words, live) in enumerate(SparseStepper(network).run(tokens, lengths)):
            ended = words[lengths[words] == step]
            if len(ended):
                ends = lengths[live.words] == step
                accepted[ended] = readout.accepts(live.where(ends), len(lengths))[ended]
                decided[ended] = True
    except TooLargeError:
        return


def run_batch(network: Any, words: Iterable[Word]) -> TraceBatch:
    """The traces of many words: `state` where the network has a reading, else the `hidden` vectors as floats."""
    tokens, lengths = codes(network, words)
    channels = channels_of(network)
    shape = (len(lengths), tokens.shape[1] + 1)
    data = {c.name: np.full((*shape, *c.entry_shape), c.empty, dtype=c.dtype) for c in channels}
    read = np.arange(tokens.shape[1]) < lengths[:, None]
    data["symbol"][:, 1:] = np.where(read, tokens, -1)
    _fill(network, tokens, lengths, data)
    halted = np.ones(len(lengths), dtype=bool)
    return TraceBatch(channels, data, lengths, lengths, halted, "accepting", "network", axes=("step",))


def channels_of(network: Any) -> tuple[Channel, ...]:
    """The channels of a trace of the network."""
    symbol = Channel("symbol", "category", len(network.alphabet), labels=network.alphabet, per_step=True)
    if network.reading is None:
        state = Channel("hidden", "vector", network.hidden_units)
    else:
        state = Channel("state", "category", len(network.reading.states), labels=network.reading.states)
    return symbol, state, Channel("accepting", "category", 2)


def _fill(network: Any, tokens: np.ndarray, lengths: np.ndarray, data: dict[str, np.ndarray]) -> None:
    if not network.is_exact:
        _fill_floating(network, tokens, lengths, data)
        return
    if network.reading is not None and in_one_go(network, len(lengths)):
        try:
            _fill_sparsely(network, network.reading, tokens, lengths, data)
            return
        except TooLargeError:
            pass  # numbers past int64: all words again, in Python's integers
    _fill_plainly(network, tokens, lengths, data)


def _fill_sparsely(
    network: Any, reading: StateReading, tokens: np.ndarray, lengths: np.ndarray, data: dict[str, np.ndarray]
) -> None:
    readout, count = SparseReadout(network), len(lengths)
    for step, (words, live) in enumerate(SparseStepper(network).run(tokens, lengths)):
        data["state"][words, step] = reading.states_of(live.words, live.units, live.values, count)[words]
        data["accepting"][words, step] = readout.accepts(live, count)[words]


def _fill_plainly(network: Any, tokens: np.ndarray, lengths: np.ndarray, data: dict[str, np.ndarray]) -> None:
    stepper, readout = PlainStepper(network), PlainReadout(network)
    for row, length in enumerate(lengths.tolist()):
        for step, state in enumerate(stepper.states(tokens[row, :length].tolist())):
            data["accepting"][row, step] = readout.accepts(state)
            values = {unit: state.value(unit) for unit in state.live}
            if network.reading is not None:
                data["state"][row, step] = network.reading.state(values)
            else:
                data["hidden"][row, step] = 0
                data["hidden"][row, step, list(values)] = _floats(values.values(), step)


def _floats(values: Iterable[int | Fraction], step: int) -> list[float]:
    try:
        return [float(value) for value in values]
    except OverflowError:
        raise RunError(
            f"at step {step} a hidden unit is too large for a float, which is what traces hold; `hidden(word)` and "
            f"`outputs(word)` have the exact numbers"
        ) from None


def _fill_floating(network: Any, tokens: np.ndarray, lengths: np.ndarray, data: dict[str, np.ndarray]) -> None:
    hidden = floating_hidden(network, tokens)
    outputs = hidden @ np.asarray(network.readout).T + np.asarray(network.readout_bias)
    reached = np.arange(hidden.shape[1]) <= lengths[:, None]
    data["accepting"][reached] = outputs[reached][:, 0] > _threshold(network, outputs.dtype)
    if network.reading is None:
        data["hidden"][reached] = hidden[reached]
    else:
        rows, units = np.nonzero(hidden[reached])
        values = hidden[reached][rows, units]
        data["state"][reached] = network.reading.states_of(rows, units, values, int(reached.sum()))


def activate(z: Any, activation: str) -> Any:
    """σ(z) in jax."""
    if activation == "tanh":
        return jnp.tanh(z)
    return jnp.clip(z, 0, 1) if activation == "slu" else jnp.maximum(z, 0)


@eqx.filter_jit
def run_floating(network: Any, tokens: Any) -> Any:
    """The hidden vectors (batch, step, hidden) of padded words (batch, step), the start first."""

    def step(state: Any, token: Any) -> tuple[Any, Any]:
        state = network(state, jax.nn.one_hot(token, len(network.alphabet), dtype=state.dtype))
        return state, state

    def states(word: Any) -> Any:
        start = jnp.asarray(network.start)
        _, later = jax.lax.scan(step, start, word)
        return jnp.concatenate([start[None], later])

    return jax.vmap(states)(tokens)


@eqx.filter_jit
def run_floating_to_end(network: Any, tokens: Any, lengths: Any) -> Any:
    """The outputs (batch, outputs) at the end of each padded word."""

    def last(word: Any, length: Any) -> Any:
        def step(state: Any, at: tuple[Any, Any]) -> tuple[Any, None]:
            index, token = at
            after = network(state, jax.nn.one_hot(token, len(network.alphabet), dtype=state.dtype))
            return jnp.where(index < length, after, state), None

        state, _ = jax.lax.scan(step, jnp.asarray(network.start), (jnp.arange(len(word)), word))
        return network.readout @ state + network.readout_bias

    return jax.vmap(last)(tokens, lengths)


def floating_hidden(network: Any, tokens: np.ndarray) -> np.ndarray:
    """The hidden vectors (batch, step, hidden), up to the length of the padded words."""
    check_length(network, tokens.shape[1])
    with _precision(network):
        states = run_floating(_bare(network), _padded(tokens))
    return np.asarray(states)[: tokens.shape[0], : tokens.shape[1] + 1]


def floating_outputs(network: Any, tokens: np.ndarray) -> np.ndarray:
    """The outputs (batch, step, outputs), up to the length of the padded words."""
    return floating_hidden(network, tokens) @ np.asarray(network.readout).T + np.asarray(network.readout_bias)


def floating_ends(network: Any, tokens: np.ndarray, lengths: np.ndarray) -> np.ndarray:
    """The outputs (batch, outputs) at the end of each padded word."""
    check_length(network, tokens.shape[1])
    tokens, rows = _padded(tokens), len(tokens)
    with _precision(network):
        ends = run_floating_to_end(_bare(network), tokens, np.pad(lengths, (0, len(tokens) - rows)))
    return np.asarray(ends)[:rows]


def floating_accepts(network: Any, tokens: np.ndarray, lengths: np.ndarray) -> np.ndarray:
    """Whether the first output at the end of each padded word is larger than the threshold."""
    ends = floating_ends(network, tokens, lengths)[:, 0]
    return ends > _threshold(network, ends.dtype)


def _threshold(network: Any, dtype: Any) -> Any:
    """The largest float that is at most the threshold: a float is above the one exactly if it is above the other."""
    kind, exact = np.dtype(dtype).type, Fraction(network.threshold)
    if abs(exact) > Fraction(float(np.finfo(kind).max)):
        return kind(np.inf if exact > 0 else -np.inf)
    nearest = kind(float(exact))
    return nearest if Fraction(float(nearest)) <= exact else np.nextafter(nearest, kind(-np.inf))


def _bare(network: Any) -> Any:
    """The network without the fields that its numbers do not depend on, so that each shape is compiled once."""
    alphabet = tuple(str(number) for number in range(len(network.alphabet)))
    return replace(network, alphabet=alphabet, threshold=Fraction(1, 2), reading=None, summary="", unrounded=False)


def _padded(tokens: np.ndarray) -> np.ndarray:
    """The words padded to powers of two, so that few shapes are compiled."""
    rows, steps = (1 << max(3, (size - 1).bit_length()) for size in tokens.shape)
    return np.pad(tokens, ((0, rows - tokens.shape[0]), (0, steps - tokens.shape[1]))).astype(np.int32)


def _precision(network: Any) -> AbstractContextManager:
    """Double precision if the weights have it; jax would otherwise silently round them."""
    if network.recurrent.dtype != np.float64:  # type: ignore[union-attr]
        return jax.default_matmul_precision("highest")
    return jax.enable_x64(True)
