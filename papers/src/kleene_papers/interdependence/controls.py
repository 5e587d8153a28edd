"""Controls for a measure of a trained language model: random weights, its own weights permuted, shuffled sentences."""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from kleene.machines.lstm.lstm import LSTM, Layer
from kleene.tasks.treebanks import Sentence
from kleene.teaching.language import WIDTH


def untrained(network: LSTM, seed: int = 0) -> LSTM:
    """A network of the same shape with random weights, drawn as a language lesson draws them."""
    keys = iter(jax.random.split(jax.random.key(seed), 2 + 3 * len(network.layers)))

    def drawn(weights: Any, width: float) -> Any:
        return jax.random.uniform(next(keys), np.shape(weights), minval=-width, maxval=width)

    around = network.decoder.shape[1] ** -0.5
    layers = [Layer(*(drawn(w, around) for w in (one.inputs, one.recurrent, one.bias))) for one in network.layers]
    return LSTM(
        embedding=drawn(network.embedding, WIDTH),
        layers=tuple(layers),
        start=jax.tree.map(jnp.zeros_like, network.start),
        decoder=drawn(network.decoder, WIDTH),
        decoder_bias=jnp.zeros_like(network.decoder_bias),
        vocabulary=network.vocabulary,
    )


def permuted(network: LSTM, seed: int = 0) -> LSTM:
    """The network with the entries of each matrix and each bias in another order: its weights keep their sizes.

    An untrained network has much smaller weights than a trained one, so that less of it is nonlinear.
    """
    chance = np.random.default_rng(seed)

    def moved(weights: Any) -> Any:
        plain = np.asarray(weights)
        return jnp.asarray(chance.permutation(plain.reshape(-1)).reshape(plain.shape))

    return jax.tree.map(moved, network)


def shuffled(sentence: Sentence, chance: np.random.Generator) -> Sentence:
    """The sentence with its words in another order; each keeps its class, and the tree joins the same words.

    >>> dogs = Sentence(("dogs", "bark", "often"), (2, 0, 2), ("NOUN", "VERB", "ADV"), ("nsubj", "root", "advmod"))
    >>> found = shuffled(dogs, np.random.default_rng(0))
    >>> found.words, found.heads
    (('often', 'dogs', 'bark'), (3, 3, 0))
    """
    order = chance.permutation(len(sentence))
    places = np.zeros(len(sentence) + 1, int)  # where each word has gone, from 1; 0 is the head of the root
    places[order + 1] = np.arange(1, len(sentence) + 1)

    def moved(column: tuple[Any, ...]) -> tuple[Any, ...]:
        return tuple(column[at] for at in order)

    heads = tuple(int(places[head]) for head in moved(sentence.heads))
    words, classes, relations = (moved(column) for column in (sentence.words, sentence.classes, sentence.relations))
    return Sentence(words, heads, classes, relations, sentence.name)
