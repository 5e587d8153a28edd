"""A small machine of every kind, by what its files call it, and an input that it takes."""

from typing import Any

import equinox as eqx
import jax

import kleene
from kleene.machines.lstm.lstm import LSTM
from kleene.machines.neural_gpu import NeuralGPU
from kleene.machines.nram import NRAM
from kleene.machines.ntm.ntm import NTM
from kleene.machines.rnn import library
from kleene.machines.rnn.execution import StateReading
from kleene.machines.rnn.simple_rnn import SimpleRNN
from kleene.machines.transformer.encoder import EncoderTransformer
from kleene.machines.transformer.encoder_decoder import EncoderDecoder
from kleene.machines.transformer.learned_mlp import LearnedMLP, MLPTransformer
from kleene.machines.transformer.plain import PlainTransformer
from kleene.machines.transformer.shared import SharedTransformer
from kleene.machines.transformer_lm import TransformerLM
from kleene.notation.wiring import Steps
from kleene.programs.alta.library import parity
from kleene.programs.turing.library import stored

KEY = jax.random.key(0)


def exact_rnn() -> SimpleRNN:
    """One with exact weights and a reading."""
    network = library.a_n_b_n()
    reading = StateReading(("p", "q ∅"), (0, 1, 1, 0), dead=1)
    return SimpleRNN(**network.weights(), **(network.description() | {"reading": reading}))


@eqx.filter_jit  # one program for all random weights, instead of one for every shape and operation
def drawn() -> tuple[Any, ...]:
    return (
        LSTM.random("abc", 5, 2, outputs=1, embedding=3, threshold=0.25, key=KEY),
        TransformerLM.random(["<unk>", "a", 3], 4, 2, 2, positions=5, key=KEY),
        nram(),
        NTM.random(4, outputs=3, width=2, hidden=(5, 6), key=KEY),
        LSTM.random(3, 2, key=KEY),
        NRAM.random(1, "R", hidden=2, key=KEY),
        shared(),
        LearnedMLP.random(24, 20, depth=2, units=5, key=KEY),
        LearnedMLP.random(12, 7, depth=1, units=3, key=KEY),
        encoder(2),
        encoder(3, shared=True, places=6),
        encoder_decoder(2),
        encoder_decoder(3, shared=True, places=6),
        NeuralGPU.random(4, outputs=3, hidden=7, key=KEY),
    )


def shared() -> SharedTransformer:
    values = {"parity": 2, "count": 3}
    sizes = {"width": 4, "heads": 2, "units": 5, "positions": 6, "reach": 1}
    return SharedTransformer.random(3, values, head_outputs={"left": 3}, **sizes, key=KEY)


def encoder(layers: int, **given: Any) -> EncoderTransformer:
    values = {"parity": 2, "count": 3}
    sizes = {"width": 4, "heads": 2, "key_size": 3, "units": 5, "layers": layers}
    return EncoderTransformer.random(3, values, head_outputs={"left": 3}, **sizes, **given, key=KEY)


def encoder_decoder(layers: int, **given: Any) -> EncoderDecoder:
    sizes = {"most": 5, "width": 4, "heads": 2, "key_size": 3, "units": 5, "layers": layers}
    return EncoderDecoder.random(("jump", "twice"), ("JUMP", "RUN"), **sizes, **given, key=jax.random.key(3))


def nram() -> NRAM:
    drawn = NRAM.random(2, "def+R", hidden=3, key=KEY)
    return NRAM(**{name: getattr(drawn, name) for name in WEIGHTS}, wiring=drawn.wiring, steps=Steps(3))


WEIGHTS = ("first", "first_bias", "second", "second_bias", "circuit", "circuit_bias", "stop", "stop_bias")
(
    LSTM_OF_LETTERS, TRANSFORMER_LM, TIMED_NRAM, SMALL_NTM, LSTM_LM, UNTIMED_NRAM, SHARED, MLP, SMALL_MLP, ENCODER,
    SHARING_ENCODER, ENCODER_DECODER, SHARING_DECODER, NEURAL_GPU,
) = drawn()  # fmt: skip

MACHINES: dict[str, Any] = {
    "universal transformer": kleene.compile(parity.absolute(positions=8)),
    "unrolled transformer": kleene.compile(parity.absolute(positions=8), layers="unrolled", max_length=4),
    "plain transformer": PlainTransformer.from_unrolled(
        kleene.compile(parity.absolute(positions=8), layers="unrolled", max_length=4)
    ),
    "shared transformer": SHARED,
    "transformer with a learned mlp": MLPTransformer.of(
        kleene.compile(parity.absolute(positions=8)), MLP, layers=-1, grows=True
    ),
    "encoder": ENCODER,
    "encoder-decoder": ENCODER_DECODER,
    "simple rnn": exact_rnn(),
    "turing rnn": kleene.compile(stored("sipser")),
    "lstm": LSTM_OF_LETTERS,
    "transformer language model": TRANSFORMER_LM,
    "nram": TIMED_NRAM,
    "ntm": SMALL_NTM,
    "neural gpu": NEURAL_GPU,
}
# Further ones that have parts which those above lack.
VARIANTS: dict[str, Any] = {
    "a Transformer with an expansion": kleene.compile(parity.sum_modulo(most_ones=3)),
    "unrolled layers with expansions": kleene.compile(parity.sum_modulo_steps(most_ones=3), layers="unrolled"),
    "a learned MLP after an expansion": MLPTransformer.of(
        kleene.compile(parity.sum_modulo(most_ones=3)), SMALL_MLP, layers=1, grows=False
    ),
    "a floating simple RNN": library.majority_slu().to_float(),
    "a floating Turing machine": kleene.compile(stored("sipser"), dtype="float32"),
    "an LSTM that is a language model": LSTM_LM,
    "an encoder that shares its weights": SHARING_ENCODER,
    "an encoder-decoder that shares its weights": SHARING_DECODER,
    "an NRAM that does not say its steps": UNTIMED_NRAM,
}
INPUTS: dict[str, Any] = {
    "universal transformer": [1, 0, 1],
    "unrolled transformer": [1, 0, 1],
    "plain transformer": [1, 0, 1],
    "shared transformer": [2, 1, 0],
    "transformer with a learned mlp": [1, 0, 1],
    "encoder": [2, 1, 0],
    "encoder-decoder": ["jump", "twice", "jump"],
    "simple rnn": "aabb",
    "turing rnn": "11",
    "lstm": "abba",
    "transformer language model": ["a", 3, "a"],
    "nram": [1, 2, 0],
    "ntm": [0, 3, 1],
    "neural gpu": [0, 3, 1],
}
