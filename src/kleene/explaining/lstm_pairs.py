"""All pairs of words of many sentences in an LSTM, in O(n²) steps a sentence.

Up to its second word r, the pair {l, r} is the single word {l}. So a sentence needs the trajectories of its n single
words, and one step more for each pair, which branches off at r. The irrelevant part is the state less the relevant one,
and the state is computed once for all. The product with the recurrent weights is shared by the step of {l} and the
branch, so that in the first layer a pair costs one product of hidden × 3 hidden.
"""

from functools import partial
from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Int

from kleene.explaining.parts import Recurrence
from kleene.explaining.rules import Rules
from kleene.explaining.splitting import Shares, multiply, split, split_in_two
from kleene.machines.lstm import Layer, Memory

Rows = Float[Array, "words batch hidden"]


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


class Singles(eqx.Module):
    """The state of each sentence, [batch, layers, hidden], and the relevant part of each single word in focus.

    `relevant` has for each layer [words, batch, hidden]; a word that is still to come has 0.
    """

    state: Memory
    relevant: tuple[Memory, ...]


def start_singles(network: Recurrence, batch: int) -> Singles:
    """Sentences before their first word, without room for any trajectory yet."""
    state = jax.tree.map(lambda state: jnp.broadcast_to(state, (batch, *state.shape)), network.start)
    empty = jnp.zeros((0, batch, state.hidden.shape[-1]), state.hidden.dtype)
    return Singles(state, tuple(Memory(empty, empty) for _ in network.layers))


@eqx.filter_jit
def widened(singles: Singles, words: int) -> Singles:
    """The same with room for the trajectories of so many words."""
    more = words - singles.relevant[0].hidden.shape[0]
    pad = partial(jnp.pad, pad_width=((0, more), (0, 0), (0, 0)))
    return Singles(singles.state, jax.tree.map(pad, singles.relevant))


@eqx.filter_jit
def advance_pairs(
    question: Question, singles: Singles, token: Int[Array, " batch"], number: Int[Array, ""]
) -> tuple[Singles, Float[Array, "words batch"]]:
    """The singles after one more token, which is word `number`, and its interdependence with each word before it."""
    network, rules = question.network, question.rules
    entry, alone, paired = network.embedding[token], None, None  # the entry, and its relevant part for {l} and {l, r}
    states, relevant, found = [], [], None
    for index, (layer, taken, old) in enumerate(zip(network.layers, question.split, singles.relevant)):
        arriving = entry @ layer.inputs.T
        step = _forward(layer, singles.state.hidden[:, index], singles.state.cell[:, index], arriving)
        carried = old.hidden @ taken.recurrent.T
        if alone is None or paired is None:  # the first layer: all of the entry is relevant, or nothing
            branch = carried + arriving[:, : carried.shape[-1]]
        else:
            carried, branch = carried + alone @ taken.inputs.T, carried + paired @ taken.inputs.T
        single, pair = (_relevant(rules, step, z, old.cell, ours) for z, ours in ((carried, False), (branch, True)))
        if index == question.layer:
            found = _interdependence(single.hidden, pair.hidden, number, question.root)
        new = jax.tree.map(partial(_known, number), single, pair)
        entry, alone, paired = step.hidden, new.hidden, pair.hidden
        states.append(Memory(step.hidden, step.cell))
        relevant.append(new)
    state = jax.tree.map(lambda *layers: jnp.stack(layers, 1), *states)
    assert found is not None
    return Singles(state, tuple(relevant)), found


class _Step(NamedTuple):
    """What a layer does at a step whatever is in focus, [batch, hidden] each; gates in the order of the weights."""

    gates: list[Any]  # without the bias
    bias: list[Any]
    open: list[Any]  # φ of the gates with their bias
    before: Any  # the cell before
    cell: Any
    shown: Any  # tanh of the cell
    hidden: Any


def _forward(layer: Layer, hidden: Array, cell: Array, arriving: Array) -> _Step:
    gates = jnp.split(arriving + hidden @ layer.recurrent.T, 4, axis=-1)
    bias = jnp.split(layer.bias, 4)
    write, keep, candidate, read = (z + c for z, c in zip(gates, bias))
    is_open = [jax.nn.sigmoid(write), jax.nn.sigmoid(keep), jnp.tanh(candidate), jax.nn.sigmoid(read)]
    after = is_open[1] * cell + is_open[0] * is_open[2]
    shown = jnp.tanh(after)
    return _Step(gates, bias, is_open, cell, after, shown, is_open[3] * shown)


def _relevant(rules: Rules, step: _Step, gates: Array, cell: Rows, in_focus: bool) -> Memory:
    """The relevant part after a step; what is not used of the irrelevant one is never computed."""
    ours, width = jnp.asarray(in_focus), cell.shape[-1]
    shares = []
    for index in range(gates.shape[-1] // width):
        mine = gates[..., index * width : (index + 1) * width]
        phi = jnp.tanh if index == 2 else jax.nn.sigmoid
        shares.append(split(phi, rules, mine, step.gates[index] - mine, step.bias[index], step.open[index]))
    written, _ = multiply(rules, shares[0], shares[2], ours)
    kept, _ = multiply(rules, shares[1], Shares(cell, step.before - cell, None), ours)
    after = written + kept
    shown = split_in_two(jnp.tanh, after, step.cell - after, step.shown)
    if rules.output_gate == "whole":
        return Memory(step.open[3] * shown.relevant, after)
    return Memory(multiply(rules, shares[3], shown, ours)[0], after)


def _known(number: Array, single: Rows, pair: Rows) -> Rows:
    """The trajectories of the words up to `number`: a branch off nothing is that word by itself."""
    word = jnp.arange(len(single))[:, None, None]
    return jnp.where(word < number, single, jnp.where(word == number, pair, 0))


def _interdependence(single: Rows, pair: Rows, number: Array, root: Array | None) -> Float[Array, "words batch"]:
    """‖{l, r} − {l} − {r}‖ / ‖{l, r}‖ for each l; meaningless for words from r on. 0/0 is 0."""
    missed = pair - single - pair[number]
    if root is not None:
        missed, pair = missed @ root.T, pair @ root.T
    above, below = (jnp.sum(jnp.square(side), axis=-1) for side in (missed, pair))
    return jnp.where(above == 0, 0, jnp.sqrt(above / below))
