"""The residual stream of a plain Transformer as a relevant and an irrelevant part, with two sets of conventions.

Both keep the attention pattern whole, so that values pass linearly, and differ in units and biases. The first is ours
for the Transformer language model: a unit φ(relevant + irrelevant + bias) is shared out between the two parts by the
mean over both orders, and what only biases make belongs to the positions in focus. The second is CD-T's (Hsu et al.
2024, as its code has it): a bias is shared out in proportion to the absolute sizes of the two parts, the irrelevant
part of a unit is φ of the irrelevant input and the relevant one the rest, and after each layer the parts of a number
that have opposite signs become one.
"""

from functools import partial
from typing import Any, Literal

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int

from kleene.errors import InputError
from kleene.explaining.words.parts import Parts
from kleene.explaining.words.sharing import Sharing, bias_is_relevant, split
from kleene.machines.lstm.lstm import Memory
from kleene.machines.transformer.plain import PlainTransformer

Both = tuple[Any, Any]  # the relevant and the irrelevant part, [position, width] each
TINY = 1e-8  # keeps shares of nothing finite, as in CD-T's code


class PlainStream(eqx.Module):
    """A plain Transformer with the conventions by which its stream is decomposed; for `Decomposable.network`.

    A word ends at the step at which states are wanted, because a network that is not causal would read what pads it.
    Positions before an input are never in focus.
    """

    model: PlainTransformer
    conventions: Literal["kleene", "cd-t"] = eqx.field(static=True)
    prefix: tuple[int, ...] = eqx.field(static=True, default=())

    def trajectories(
        self, sharing: Sharing, tokens: Int[Array, "batch step"], in_focus: Bool[Array, "batch step"]
    ) -> Parts:
        """The parts after each token; only of a causal network, whose states do not depend on what follows."""
        if not self.model.layout.causal:
            raise InputError("this Transformer reads a word in both directions, so it has no state after each symbol")
        length = jnp.asarray(tokens.shape[1])
        found = jax.vmap(lambda word, ours: self.parts(sharing, word, ours, length))(tokens, in_focus)
        by_step = (jnp.transpose(part[:, :, len(self.prefix) :], (2, 0, 1, 3)) for part in found)
        return Parts(*(Memory(part, jnp.zeros_like(part)) for part in by_step))

    def at_steps(
        self, sharing: Sharing, tokens: Int[Array, "batch step"], in_focus: Bool[Array, "batch step"], wanted: Array
    ) -> Array:
        """The relevant and the whole stream at the end of each word: [2, batch, layers, hidden]."""

        def one(word: Array, ours: Array, last: Array) -> Array:
            relevant, irrelevant = self.parts(sharing, word, ours, last + 1)
            place = last + len(self.prefix)
            return jnp.stack([relevant[:, place], relevant[:, place] + irrelevant[:, place]])

        return jnp.swapaxes(jax.vmap(one)(tokens, in_focus, wanted), 0, 1)

    def parts(
        self, sharing: Sharing, word: Int[Array, " step"], in_focus: Bool[Array, " step"], length: Array
    ) -> tuple[Float[Array, "layers position width"], Float[Array, "layers position width"]]:
        """The two parts of the stream after each layer; the word may be padded."""
        model, before = self.model, len(self.prefix)
        most = len(model.positions) - before
        tokens = jnp.concatenate([jnp.array(self.prefix, word.dtype), word[:most]])
        ours = jnp.concatenate([jnp.zeros(before, bool), in_focus[:most]])[:, None]
        seen = seen_positions(model, len(tokens), length + before)
        entries = model.tokens[tokens] + model.positions[: len(tokens)]
        start = jnp.where(ours, entries, 0), jnp.where(ours, 0, entries)
        after = partial(_ours, sharing, bias_is_relevant(sharing, ours)) if self.conventions == "kleene" else _cd_t

        def step(parts: Both, layer: PlainTransformer) -> tuple[Both, Both]:
            stream = (parts[0] + parts[1])[None]
            pattern = layer.pattern(stream, stream, seen)
            mixed = tuple(part + _attended(layer, pattern, part) for part in parts)
            made = after(layer, mixed)
            return made, made

        return jax.lax.scan(step, start, layers_of(model))[1]


def layers_of(model: PlainTransformer) -> PlainTransformer:
    """The weights that a scan takes apart layer by layer."""
    return eqx.tree_at(lambda one: (one.tokens, one.positions, one.readout, one.readout_bias), model, (None,) * 4)


def seen_positions(model: PlainTransformer, size: int, length: Int[Array, ""]) -> Bool[Array, "query position"]:
    """Which positions each may read: those of the word, and in a causal network none to the right."""
    at = jnp.arange(size)
    return jnp.broadcast_to(at < length, (size, size)) & ((at <= at[:, None]) | (not model.layout.causal))


def _attended(layer: PlainTransformer, pattern: Array, part: Array) -> Array:
    """What the heads of a layer write of one part, with the pattern of the whole stream."""
    return jnp.einsum("hij,jw,hwk,hkv->iv", pattern, part, layer.value, layer.out)


def _ours(sharing: Sharing, biased: Bool[Array, "position 1"], layer: PlainTransformer, parts: Both) -> Both:
    mine, others = (part @ layer.mlp_in for part in parts)
    shares = split(jax.nn.relu, sharing, mine, others, layer.mlp_bias)
    made = shares.bias @ layer.mlp_out + layer.mlp_constant
    return (
        parts[0] + shares.relevant @ layer.mlp_out + jnp.where(biased, made, 0),
        parts[1] + shares.irrelevant @ layer.mlp_out + jnp.where(biased, 0, made),
    )


def _cd_t(layer: PlainTransformer, parts: Both) -> Both:
    mine, others = _with_bias(parts[0] @ layer.mlp_in, parts[1] @ layer.mlp_in, layer.mlp_bias)
    alone = jax.nn.relu(others)
    rest = jax.nn.relu(mine + others) - alone
    written = _with_bias(rest @ layer.mlp_out, alone @ layer.mlp_out, layer.mlp_constant)
    relevant, irrelevant = (part + more for part, more in zip(parts, written))
    whole, opposed = relevant + irrelevant, relevant * irrelevant < 0
    larger = jnp.abs(relevant) >= jnp.abs(irrelevant)
    return (
        jnp.where(opposed, jnp.where(larger, whole, 0), relevant),
        jnp.where(opposed, jnp.where(larger, 0, whole), irrelevant),
    )


def _with_bias(relevant: Array, irrelevant: Array, bias: Array) -> Both:
    """The bias shared out in proportion to absolute sizes; to the irrelevant part where both are 0."""
    mine, others = jnp.abs(relevant), jnp.abs(irrelevant)
    share = mine / (mine + others + TINY)
    return relevant + share * bias, irrelevant + (1 - share) * bias
