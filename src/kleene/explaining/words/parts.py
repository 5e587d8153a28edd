"""One step of a recurrent network taken apart: its state is carried as a relevant and an irrelevant part.

Both parts are carried, each by its own formula, so that an empty part stays exactly 0; their sum is the network's state
up to rounding. States are [batch, layers, hidden].

A Transformer language model taken apart: the residual stream is carried as a relevant and an irrelevant part.

This is ours; the papers leave Transformers to others. It follows what they do with an LSTM. What decides how much
passes is kept whole, as the output gate is: the attention pattern, and the scale of a layer norm. What passes is linear
then, and each part passes by itself. The units of an MLP are shared out like gates, φ(relevant + irrelevant + bias),
and what biases alone make goes by the position that they are added at, as bias×bias does. So the parts sum to the
stream, and focus on nothing and on everything give nothing and everything.
"""

from functools import partial
from operator import itemgetter
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int

from kleene.explaining.words.sharing import Rules, Shares, bias_is_relevant, multiply, split, split_in_two
from kleene.machines.lstm.lstm import LSTM, Layer, Memory
from kleene.machines.rnn.float_execution import activate
from kleene.machines.rnn.simple_rnn import SimpleRNN
from kleene.machines.transformer_lm import TransformerBlock, TransformerLM, centred, norm_scale

Rows = Float[Array, "batch width"]


class Recurrence(eqx.Module):
    """The weights that decide a network's hidden states, without its vocabulary: so networks share compiled code.

    `kind` is "lstm", or the activation of a simple recurrent network, which has one layer and whose cells stay 0.
    """

    embedding: Float[Array, "symbols width"]
    layers: tuple[Layer, ...]
    start: Memory
    kind: str = eqx.field(static=True)

    @classmethod
    def of(cls, model: LSTM | SimpleRNN) -> "Recurrence":
        if isinstance(model, LSTM):
            return cls(model.embedding, model.layers, model.start, "lstm")
        weights: dict[str, Any] = {name: jnp.asarray(weight) for name, weight in model.weights().items()}
        one_hot, start = jnp.eye(len(model.alphabet), dtype=weights["inputs"].dtype), weights["start"][None]
        layer = Layer(weights["inputs"], weights["recurrent"], weights["bias"])
        return cls(one_hot, (layer,), Memory(start, jnp.zeros_like(start)), model.activation)


class Parts(eqx.Module):
    """The state after a step as relevant + irrelevant."""

    relevant: Memory
    irrelevant: Memory


def start_parts(network: Recurrence, rules: Rules, batch: int) -> Parts:
    """The parts before the first word."""
    whole = jax.tree.map(lambda state: jnp.broadcast_to(state, (batch, *state.shape)), network.start)
    nothing = jax.tree.map(jnp.zeros_like, whole)
    return Parts(whole, nothing) if rules.start == "relevant" else Parts(nothing, whole)


def advance(network: Recurrence, rules: Rules, parts: Parts, entry: Rows, in_focus: Bool[Array, " batch"]) -> Parts:
    """The parts after one more word, given as its embedding."""
    ours = in_focus[:, None]
    entries = jnp.where(ours, entry, 0), jnp.where(ours, 0, entry)
    after = []
    for number, layer in enumerate(network.layers):
        old = jax.tree.map(itemgetter((slice(None), number)), (parts.relevant, parts.irrelevant))
        taken = _lstm_layer if network.kind == "lstm" else partial(_simple_layer, network.kind)
        new = taken(layer, rules, old, entries, ours)
        after.append(new)
        entries = new[0].hidden, new[1].hidden
    return Parts(*(jax.tree.map(lambda *states: jnp.stack(states, 1), *side) for side in zip(*after)))


def _summed(layer: Layer, old: tuple[Memory, Memory], entries: tuple[Rows, Rows]) -> list[Rows]:
    """The two parts of what goes into a layer's units, the bias apart."""
    return [x @ layer.inputs.T + memory.hidden @ layer.recurrent.T for x, memory in zip(entries, old)]


def _lstm_layer(
    layer: Layer, rules: Rules, old: tuple[Memory, Memory], entries: tuple[Rows, Rows], ours: Bool[Array, "batch 1"]
) -> tuple[Memory, Memory]:
    relevant, irrelevant = _summed(layer, old, entries)
    gates = list(zip(*(jnp.split(z, 4, axis=-1) for z in (relevant, irrelevant)), jnp.split(layer.bias, 4)))
    write, keep = (split(jax.nn.sigmoid, rules, *gates[i]) for i in (0, 1))
    written = multiply(rules, write, split(jnp.tanh, rules, *gates[2]), ours)
    kept = multiply(rules, keep, Shares(old[0].cell, old[1].cell, None), ours)
    cells = written[0] + kept[0], written[1] + kept[1]
    shown = split_in_two(jnp.tanh, *cells)
    if rules.output_gate == "whole":
        read = jax.nn.sigmoid(sum(gates[3]))
        hidden = read * shown.relevant, read * shown.irrelevant
    else:
        hidden = multiply(rules, split(jax.nn.sigmoid, rules, *gates[3]), shown, ours)
    return Memory(hidden[0], cells[0]), Memory(hidden[1], cells[1])


def _simple_layer(
    activation: str,
    layer: Layer,
    rules: Rules,
    old: tuple[Memory, Memory],
    entries: tuple[Rows, Rows],
    ours: Bool[Array, "batch 1"],
) -> tuple[Memory, Memory]:
    """h' = σ(V h + W x + b). What the bias alone makes goes where bias×bias does."""
    relevant, irrelevant = _summed(layer, old, entries)
    shares = split(partial(activate, activation=activation), rules, relevant, irrelevant, layer.bias)
    biased = bias_is_relevant(rules, ours)
    hidden = shares.relevant + jnp.where(biased, shares.bias, 0), shares.irrelevant + jnp.where(biased, 0, shares.bias)
    return Memory(hidden[0], old[0].cell), Memory(hidden[1], old[1].cell)


Stream = Float[Array, "step width"]
Both = tuple[Any, Any]  # the relevant and the irrelevant part


def transformer_trajectories(
    network: TransformerLM, rules: Rules, tokens: Int[Array, "batch step"], in_focus: Bool[Array, "batch step"]
) -> Parts:
    """The parts of what each layer leaves at each token: [step, batch, layers, width]. There are no cells: they are 0.

    Of the rules, `bias` and `bias_bias` say something about a Transformer.
    """
    parts = jax.vmap(partial(_one_sentence, network, rules), out_axes=1)(tokens, in_focus)
    return Parts(*(Memory(part, jnp.zeros_like(part)) for part in parts))


def _one_sentence(network: TransformerLM, rules: Rules, tokens: Array, in_focus: Array) -> Both:
    ours, entries = in_focus[:, None], network.entries(tokens)
    parts, found = (jnp.where(ours, entries, 0), jnp.where(ours, 0, entries)), []
    for block in network.layers:
        parts = _after(block, rules, parts, bias_is_relevant(rules, ours))
        found.append(parts)
    found[-1] = _normed(parts, network.gain)
    relevant, irrelevant = (jnp.stack(side, 1) for side in zip(*found))
    return relevant, irrelevant


def _after(block: TransformerBlock, rules: Rules, parts: Both, biased: Bool[Array, "step 1"]) -> Both:
    normed = _normed(parts, block.attention_gain)
    pattern = block.pattern(normed[0] + normed[1])
    relevant, irrelevant = (part + block.mix(pattern, one) for part, one in zip(parts, normed))
    mine, others = (one @ block.mlp_in.T for one in _normed((relevant, irrelevant), block.mlp_gain))
    shares = split(jax.nn.gelu, rules, mine, others, block.mlp_bias)
    made = shares.bias @ block.mlp_out.T + block.out_bias
    return (
        relevant + shares.relevant @ block.mlp_out.T + jnp.where(biased, made, 0),
        irrelevant + shares.irrelevant @ block.mlp_out.T + jnp.where(biased, 0, made),
    )


def _normed(parts: Both, gain: Float[Array, " width"]) -> Both:
    scale = norm_scale(parts[0] + parts[1])
    relevant, irrelevant = (centred(part) * scale * gain for part in parts)
    return relevant, irrelevant
