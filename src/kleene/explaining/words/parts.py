"""The state of a model after each word, as a relevant and an irrelevant part.

`decomposable` gives what a decomposition needs of a model, by its class; register a function for a class of your own.
Each part has its own formula, so an empty part stays exactly 0. The sum of both is the network's state up to rounding.
States are [batch, layers, hidden].
"""

from dataclasses import dataclass, replace
from functools import partial, singledispatch
from operator import itemgetter
from typing import Any, Protocol, runtime_checkable

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Int

from kleene.errors import InputError
from kleene.explaining.words.lstm_step import lstm_step
from kleene.explaining.words.sharing import Sharing, bias_is_relevant, split
from kleene.machines.lstm.lstm import LSTM, Layer, Memory
from kleene.machines.rnn.execution import activate
from kleene.machines.rnn.simple_rnn import SimpleRNN
from kleene.machines.transformer_lm import TransformerBlock, TransformerLM, centred, norm_scale

Rows = Float[Array, "batch width"]
Tokens = Int[Array, "batch step"]
InFocus = Bool[Array, "batch step"]


class Parts(eqx.Module):
    """The state after a step as relevant + irrelevant."""

    relevant: Memory
    irrelevant: Memory

    @property
    def relevant_and_whole(self) -> Array:
        """The hidden states of the relevant part and of the whole: [2, …]."""
        return jnp.stack([self.relevant.hidden, self.relevant.hidden + self.irrelevant.hidden])


@runtime_checkable
class Network(Protocol):
    """Weights without a vocabulary, so that models share compiled code. Called under jit."""

    def trajectories(self, sharing: Sharing, tokens: Tokens, in_focus: InFocus) -> Parts:
        """The parts after each token: [step, batch, layers, hidden]."""
        ...

    def at_steps(self, sharing: Sharing, tokens: Tokens, in_focus: InFocus, wanted: Int[Array, " batch"]) -> Array:
        """The relevant and the whole hidden states at one step of each sentence: [2, batch, layers, hidden]."""
        ...


@dataclass(frozen=True)
class Decomposable:
    """What a decomposition needs of a model.

    `recurrence` has the weights if it is recurrent. `branch_off`: the trajectory of a pair of words branches off that
    of its first word, as in an LSTM, so all pairs can be computed fast.
    """

    network: Network
    alphabet: tuple[Any, ...]
    layers: int
    decoder: Any  # [outputs, hidden], the weights that read the top layer
    dtype: Any
    decoder_bias: Any = None  # [outputs], of a language model
    recurrence: "Recurrence | None" = None
    branch_off: bool = False
    longest: int | None = None  # sentence, in tokens

    def check_length(self, tokens: int, what: str = "a word") -> None:
        """Refuse a sentence that the model has no positions for, or for which an `unrounded` network would round."""
        if self.longest is None or tokens <= self.longest:
            return
        if self.recurrence is None:
            limit = f"the model has {self.longest} positions: shorten it, or make the model with more `positions`"
        else:
            limit = (
                f"the {np.dtype(self.dtype)} numbers of the network are exact for up to {self.longest}: shorten it, or "
                f"accept rounding with to_float(..., round=True)"
            )
        raise InputError(f"{what} has {tokens} tokens, and {limit}")


@singledispatch
def decomposable(model: Any) -> Decomposable:
    """What a decomposition needs of a model; an error if its class is not registered.

    >>> decomposable(LSTM.random("ab", 4, layers=2, key=jax.random.key(0))).layers
    2
    """
    raise InputError(
        f"only an LSTM, a SimpleRNN or a TransformerLM can be decomposed, and this is a {type(model).__name__}; "
        f"for a PyTorch model see LSTM.from_torch"
    )


class Recurrence(eqx.Module):
    """The weights that decide a recurrent network's hidden states.

    `kind` is "lstm", or the activation of a simple recurrent network, which has one layer and whose cells stay 0.
    """

    embedding: Float[Array, "symbols width"]
    layers: tuple[Layer, ...]
    start: Memory
    kind: str = eqx.field(static=True)

    def start_parts(self, sharing: Sharing, batch: int) -> Parts:
        """The parts before the first word."""
        whole = jax.tree.map(lambda state: jnp.broadcast_to(state, (batch, *state.shape)), self.start)
        nothing = jax.tree.map(jnp.zeros_like, whole)
        return Parts(whole, nothing) if sharing.start == "relevant" else Parts(nothing, whole)

    def advance(self, sharing: Sharing, parts: Parts, entry: Rows, in_focus: Bool[Array, " batch"]) -> Parts:
        """The parts after one more word, given as its embedding."""
        ours = in_focus[:, None]
        entries = jnp.where(ours, entry, 0), jnp.where(ours, 0, entry)
        after = []
        for number, layer in enumerate(self.layers):
            old = jax.tree.map(itemgetter((slice(None), number)), (parts.relevant, parts.irrelevant))
            taken = _lstm_layer if self.kind == "lstm" else partial(_simple_layer, self.kind)
            new = taken(layer, sharing, old, entries, ours)
            after.append(new)
            entries = new[0].hidden, new[1].hidden
        return Parts(*(jax.tree.map(lambda *states: jnp.stack(states, 1), *side) for side in zip(*after)))

    def trajectories(self, sharing: Sharing, tokens: Tokens, in_focus: InFocus) -> Parts:
        def step(parts, now):
            token, ours = now
            parts = self.advance(sharing, parts, self.embedding[token], ours)
            return parts, parts

        return jax.lax.scan(step, self.start_parts(sharing, len(tokens)), (tokens.T, in_focus.T))[1]

    def at_steps(self, sharing: Sharing, tokens: Tokens, in_focus: InFocus, wanted: Int[Array, " batch"]) -> Array:
        def step(carry, now):
            parts, kept = carry
            number, token, ours = now
            parts = self.advance(sharing, parts, self.embedding[token], ours)
            return (parts, jnp.where((number == wanted)[:, None, None], parts.relevant_and_whole, kept)), None

        start = self.start_parts(sharing, len(tokens))
        steps = (jnp.arange(tokens.shape[1]), tokens.T, in_focus.T)
        return jax.lax.scan(step, (start, jnp.zeros_like(start.relevant_and_whole)), steps)[0][1]


@decomposable.register
def _lstm(model: LSTM) -> Decomposable:
    network = Recurrence(model.embedding, model.layers, model.start, "lstm")
    known = model.alphabet, len(model.layers), model.decoder, model.embedding.dtype
    return Decomposable(network, *known, decoder_bias=model.decoder_bias, recurrence=network, branch_off=True)


@decomposable.register
def _simple_rnn(model: SimpleRNN) -> Decomposable:
    if model.is_exact:
        raise InputError(
            "this SimpleRNN has exact weights, and a decomposition needs floats: call its to_float() first"
        )
    dtype = model.weights()["recurrent"].dtype
    with precision(dtype):
        weights: dict[str, Any] = {name: jnp.asarray(weight) for name, weight in model.weights().items()}
        one_hot, start = jnp.eye(len(model.alphabet), dtype=weights["inputs"].dtype), weights["start"][None]
        layer = Layer(weights["inputs"], weights["recurrent"], weights["bias"])
        network = Recurrence(one_hot, (layer,), Memory(start, jnp.zeros_like(start)), model.activation)
    longest = model.longest_exact() if model.unrounded else None
    known = tuple(model.alphabet), 1, model.readout, dtype
    return Decomposable(network, *known, recurrence=network, longest=longest)


def precision(dtype: Any) -> Any:
    """A context of double precision if the weights have it, else of full single precision in matrix products."""
    return jax.enable_x64(True) if dtype == np.float64 else jax.default_matmul_precision("highest")


def _summed(layer: Layer, old: tuple[Memory, Memory], entries: tuple[Rows, Rows]) -> list[Rows]:
    """The two parts of the input of a layer's units, without the bias."""
    return [x @ layer.inputs.T + memory.hidden @ layer.recurrent.T for x, memory in zip(entries, old)]


def _lstm_layer(
    layer: Layer, sharing: Sharing, old: tuple[Memory, Memory], entries: tuple[Rows, Rows], ours: Bool[Array, "batch 1"]
) -> tuple[Memory, Memory]:
    relevant, irrelevant = _summed(layer, old, entries)
    hidden, cells = lstm_step(sharing, (relevant, irrelevant), layer.bias, (old[0].cell, old[1].cell), ours)
    return Memory(hidden[0], cells[0]), Memory(hidden[1], cells[1])


def _simple_layer(
    activation: str,
    layer: Layer,
    sharing: Sharing,
    old: tuple[Memory, Memory],
    entries: tuple[Rows, Rows],
    ours: Bool[Array, "batch 1"],
) -> tuple[Memory, Memory]:
    """h' = σ(V h + W x + b). The share of the bias goes where `bias_bias` says."""
    relevant, irrelevant = _summed(layer, old, entries)
    shares = split(partial(activate, activation=activation), sharing, relevant, irrelevant, layer.bias)
    biased = bias_is_relevant(sharing, ours)
    hidden = shares.relevant + jnp.where(biased, shares.bias, 0), shares.irrelevant + jnp.where(biased, 0, shares.bias)
    return Memory(hidden[0], old[0].cell), Memory(hidden[1], old[1].cell)


Both = tuple[Any, Any]  # the relevant and the irrelevant part


class ResidualStream(eqx.Module):
    """A Transformer language model whose residual stream is carried as two parts.

    This decomposition is ours, because Saphra & Lopez 2020 leave Transformers to future work. It follows what they do
    with an LSTM. The attention pattern and the scale of a layer norm decide how much passes, and are kept whole like
    the output gate. The rest is then linear, and each part passes by itself. The units of an MLP are shared out like
    gates, φ(relevant + irrelevant + bias). What only biases make counts as relevant at the positions that `bias_bias`
    says. So the parts sum to the stream; with nothing in focus the relevant part is 0, and with everything in focus it
    is the stream. Of the choices in `Sharing`, `bias` and `bias_bias` apply. There are no cells: they are 0.
    """

    model: TransformerLM

    def trajectories(self, sharing: Sharing, tokens: Tokens, in_focus: InFocus) -> Parts:
        parts = jax.vmap(partial(self._one_sentence, sharing), out_axes=1)(tokens, in_focus)
        return Parts(*(Memory(part, jnp.zeros_like(part)) for part in parts))

    def at_steps(self, sharing: Sharing, tokens: Tokens, in_focus: InFocus, wanted: Int[Array, " batch"]) -> Array:
        every = self.trajectories(sharing, tokens, in_focus).relevant_and_whole
        return every[:, wanted, jnp.arange(len(wanted))]

    def _one_sentence(self, sharing: Sharing, tokens: Int[Array, " step"], in_focus: Bool[Array, " step"]) -> Both:
        ours, entries = in_focus[:, None], self.model.entries(tokens)
        parts, found = (jnp.where(ours, entries, 0), jnp.where(ours, 0, entries)), []
        for block in self.model.layers:
            parts = _after_block(block, sharing, parts, bias_is_relevant(sharing, ours))
            found.append(parts)
        found[-1] = _normed(parts, self.model.gain)
        relevant, irrelevant = (jnp.stack(side, 1) for side in zip(*found))
        return relevant, irrelevant


@decomposable.register
def _transformer(model: TransformerLM) -> Decomposable:
    network = ResidualStream(replace(model, vocabulary=()))
    known = model.alphabet, len(model.layers), model.decoder, model.embedding.dtype
    return Decomposable(network, *known, decoder_bias=model.decoder_bias, longest=len(model.positions))


def _after_block(block: TransformerBlock, sharing: Sharing, parts: Both, biased: Bool[Array, "step 1"]) -> Both:
    normed = _normed(parts, block.attention_gain)
    pattern = block.pattern(normed[0] + normed[1])
    relevant, irrelevant = (part + block.mix(pattern, one) for part, one in zip(parts, normed))
    mine, others = (one @ block.mlp_in.T for one in _normed((relevant, irrelevant), block.mlp_gain))
    shares = split(jax.nn.gelu, sharing, mine, others, block.mlp_bias)
    made = shares.bias @ block.mlp_out.T + block.out_bias
    return (
        relevant + shares.relevant @ block.mlp_out.T + jnp.where(biased, made, 0),
        irrelevant + shares.irrelevant @ block.mlp_out.T + jnp.where(biased, 0, made),
    )


def _normed(parts: Both, gain: Float[Array, " width"]) -> Both:
    scale = norm_scale(parts[0] + parts[1])
    relevant, irrelevant = (centred(part) * scale * gain for part in parts)
    return relevant, irrelevant
