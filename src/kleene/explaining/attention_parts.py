"""A Transformer language model taken apart: the residual stream is carried as a relevant and an irrelevant part.

This is ours; the papers leave Transformers to others. It follows what they do with an LSTM. What decides how much
passes is kept whole, as the output gate is: the attention pattern, and the scale of a layer norm. What passes is linear
then, and each part passes by itself. The units of an MLP are shared out like gates, φ(relevant + irrelevant + bias),
and what biases alone make goes by the position that they are added at, as bias×bias does. So the parts sum to the
stream, and focus on nothing and on everything give nothing and everything.
"""

from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int

from kleene.explaining.parts import Parts
from kleene.explaining.rules import Rules
from kleene.explaining.splitting import bias_is_relevant, split
from kleene.machines.lstm import Memory
from kleene.machines.transformer_lm import Block, TransformerLM, centred, norm_scale

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


def _after(block: Block, rules: Rules, parts: Both, biased: Bool[Array, "step 1"]) -> Both:
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
