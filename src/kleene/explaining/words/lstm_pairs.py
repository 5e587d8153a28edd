"""All pairs of words of many sentences in an LSTM, in O(n²) steps a sentence.

Up to its second word r, the pair {l, r} is the single word {l}. So a sentence needs the trajectories of its n single
words, and one step more for each pair, which branches off at r. The irrelevant part is the state less the relevant one,
and the state is computed once for all. The product with the recurrent weights is shared by the step of {l} and the
branch, so that in the first layer a pair costs one product of hidden × 3 hidden.

The words of all sentences advance together by age: at age d the word l meets the word l + d. A word whose sentence has
ended is never met again, so that with those first that live longest, the living are a prefix that only gets shorter.
"""

from functools import partial
from operator import itemgetter
from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Int

from kleene.explaining.words.parts import Recurrence
from kleene.explaining.words.sharing import Rules, Shares, floor_of, multiply, split, split_in_two
from kleene.machines.lstm.lstm import Layer, Memory

Rows = Float[Array, "words hidden"]


class Question(eqx.Module):
    """What is asked of a network: the rules, the layer looked at and, for logits, a root of the decoder's Gram matrix.

    `split` are the weights of the gates that are taken apart, which would else be cut out anew at each step.
    """

    network: Recurrence
    split: tuple[Layer, ...]
    root: Float[Array, "rank hidden"] | None
    rules: Rules = eqx.field(static=True)
    layer: int = eqx.field(static=True)

    @classmethod
    def about(cls, network: Recurrence, rules: Rules, layer: int, root: Any = None) -> "Question":
        taken = network.layers
        if rules.output_gate == "whole":
            taken = tuple(jax.tree.map(lambda rows: rows[: len(rows) // 4 * 3], one) for one in taken)
        return cls(network, taken, None if root is None else jnp.asarray(root), rules, layer)


class Reading(NamedTuple):
    """What a layer does at each word whatever is in focus: [words, …], gates in the order of the weights."""

    arriving: Any  # what the word itself sends to the gates that are taken apart
    gates: Any  # all that comes to those gates, without the bias
    open: Any  # φ of the four gates with their bias
    before: Any  # the cell before
    cell: Any
    shown: Any  # tanh of the cell


class Words(eqx.Module):
    """Words that have been read: per layer what it did at each, and the relevant part with that word alone in focus.

    `norms` are those of the whole state after each, in the layer looked at.
    """

    readings: tuple[Reading, ...]
    alone: tuple[Memory, ...]
    norms: Float[Array, " words"]


@jax.jit
def read_words(question: Question, tokens: Int[Array, "batch step"], places: Int[Array, " words"]) -> Words:
    """The words at some places of sentences that lie one after another, each sentence from the network's start."""
    network, batch = question.network, len(tokens)
    entries, readings, alone = network.embedding[tokens.T], [], []  # [step, batch, width]
    for index, (layer, taken) in enumerate(zip(network.layers, question.split)):
        start = (jnp.broadcast_to(state[index], (batch, state.shape[-1])) for state in _both(network.start))
        entries, reading = _read(layer, len(taken.bias), Memory(*start), entries)
        mine = jax.tree.map(lambda a: a.swapaxes(0, 1).reshape(-1, a.shape[-1])[places], reading)
        z = mine.arriving if index == 0 else alone[-1].hidden @ taken.inputs.T
        alone.append(_relevant(question, taken, mine, z, jnp.zeros_like(mine.cell), True))
        readings.append(mine)
    top = readings[question.layer]
    state = top.open[:, 3 * top.cell.shape[-1] :] * top.shown
    return Words(tuple(readings), tuple(alone), jnp.sqrt(_square_norms(state, question.root)))


def _both(memory: Memory) -> tuple[Array, Array]:
    return memory.hidden, memory.cell


def _read(layer: Layer, split: int, start: Memory, entries: Array) -> tuple[Array, Reading]:
    """The hidden states of a layer at each step and what it did; `split` gates are taken apart."""
    arriving = entries @ layer.inputs.T

    def step(memory: Memory, sent: Array) -> tuple[Memory, tuple[Array, Reading]]:
        gates = sent + memory.hidden @ layer.recurrent.T
        write, keep, candidate, read = jnp.split(gates + layer.bias, 4, axis=-1)
        is_open = [jax.nn.sigmoid(write), jax.nn.sigmoid(keep), jnp.tanh(candidate), jax.nn.sigmoid(read)]
        cell = is_open[1] * memory.cell + is_open[0] * is_open[2]
        shown = jnp.tanh(cell)
        hidden, opened = is_open[3] * shown, jnp.concatenate(is_open, axis=-1)
        reading = Reading(sent[..., :split], gates[..., :split], opened, memory.cell, cell, shown)
        return Memory(hidden, cell), (hidden, reading)

    return jax.lax.scan(step, start, arriving)[1]


@partial(jax.jit, static_argnums=1)
def first_of(living: tuple[Memory, ...], rows: int) -> tuple[Memory, ...]:
    """The first rows of trajectories."""
    return jax.tree.map(itemgetter(slice(rows)), living)


@jax.jit
def meet(
    question: Question, words: Words, living: tuple[Memory, ...], met: Int[Array, " living"]
) -> tuple[tuple[Memory, ...], Float[Array, " living"]]:
    """The trajectories of living words one step on, at which each meets another, and its interdependence with that."""
    after, found, alone, paired = [], None, None, None  # the relevant part of a layer's entry for {l} and for {l, r}
    for index, (taken, old) in enumerate(zip(question.split, living)):
        reading = jax.tree.map(lambda rows: rows[met], words.readings[index])
        carried = old.hidden @ taken.recurrent.T
        if alone is None or paired is None:  # the first layer: all of the entry is relevant, or nothing
            branch = carried + reading.arriving
        else:
            carried, branch = carried + alone @ taken.inputs.T, carried + paired @ taken.inputs.T
        single, pair = (
            _relevant(question, taken, reading, z, old.cell, ours) for z, ours in ((carried, False), (branch, True))
        )
        if index == question.layer:
            missed = pair.hidden - single.hidden - words.alone[index].hidden[met]
            found = _ratio(missed, pair.hidden, words.norms[met], question.root)
        alone, paired = single.hidden, pair.hidden
        after.append(single)
    assert found is not None
    return tuple(after), found


def _relevant(question: Question, taken: Layer, reading: Reading, gates: Array, cell: Rows, in_focus: bool) -> Memory:
    """The relevant part after a step; what is not used of the irrelevant one is never computed."""
    rules, ours, width = question.rules, jnp.asarray(in_focus), cell.shape[-1]
    shares = []
    for index in range(gates.shape[-1] // width):
        gate = slice(index * width, (index + 1) * width)
        mine, phi = gates[:, gate], jnp.tanh if index == 2 else jax.nn.sigmoid
        irrelevant = reading.gates[:, gate] - mine
        shares.append(split(phi, rules, mine, irrelevant, taken.bias[gate], reading.open[:, gate]))
    written, _ = multiply(rules, shares[0], shares[2], ours)
    kept, _ = multiply(rules, shares[1], Shares(cell, reading.before - cell, None), ours)
    after = written + kept
    shown = split_in_two(jnp.tanh, after, reading.cell - after, reading.shown)
    if rules.output_gate == "whole":
        return Memory(reading.open[:, 3 * width :] * shown.relevant, after)
    return Memory(multiply(rules, shares[3], shown, ours)[0], after)


def _ratio(missed: Rows, pair: Rows, whole: Float[Array, " words"], root: Array | None) -> Float[Array, " words"]:
    """‖{l, r} − {l} − {r}‖ / ‖{l, r}‖; 0 where the upper norm is below the floor, and 0/0 is 0."""
    above, below = (_square_norms(side, root) for side in (missed, pair))
    none = jnp.sqrt(above) <= floor_of(pair.dtype) * whole
    return jnp.where(none, 0, jnp.sqrt(above / jnp.where(none, 1, below)))


def _square_norms(states: Rows, root: Array | None) -> Float[Array, " words"]:
    return jnp.sum(jnp.square(states if root is None else states @ root.T), axis=-1)
