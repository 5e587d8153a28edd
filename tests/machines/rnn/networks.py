"""Random exact networks, and a plain reference for what they do."""

from fractions import Fraction
from itertools import product

import numpy as np
from hypothesis import strategies as st

from kleene.machines.rnn.simple_rnn import SimpleRNN
from kleene.notation.exact import ExactMatrix

# Pools are drawn from much faster than ranges, and simplify to their first entry.
SMALL = (0, 1, -1, 2, -2, 3, -3)
LARGE = (2**20, -(2**31), 2**40, -(2**40), 2**59, -(2**60), 3**37)  # int64 holds them, and not what they add up to
HUGE = (2**62 - 1, 2**63 - 1, 2**63, -(2**63), 3**45, -(2**70))
THIRDS = tuple(Fraction(n, d) for d in (2, 3, 4) for n in (1, -1, 5, -7))
small_integers = st.sampled_from(SMALL)
large_integers = st.sampled_from(SMALL + LARGE)
rationals = st.sampled_from(SMALL + THIRDS)
numbers_of_all_kinds = st.sampled_from(SMALL + LARGE + HUGE + THIRDS)


def matrices(height, width, numbers):
    """A matrix of these numbers, a third of its entries 0."""
    entries = st.lists(st.tuples(numbers, st.integers(0, 2)), min_size=height * width, max_size=height * width)

    def as_matrix(drawn):
        values = {divmod(k, width): number for k, (number, kept) in enumerate(drawn) if kept}
        return ExactMatrix.from_entries((height, width), values)

    return entries.map(as_matrix)


@st.composite
def networks(draw, numbers=rationals, readouts=rationals, sizes=None):
    """An exact network; `sizes` fixes how many units, symbols and outputs it has."""
    hidden, symbols, outputs = sizes or (draw(st.integers(1, 4)), draw(st.integers(1, 3)), draw(st.integers(1, 2)))
    return SimpleRNN(
        recurrent=draw(matrices(hidden, hidden, numbers)),
        inputs=draw(matrices(hidden, symbols, numbers)),
        bias=draw(matrices(hidden, 1, numbers)),
        start=draw(matrices(hidden, 1, numbers)),
        readout=draw(matrices(outputs, hidden, readouts)),
        readout_bias=draw(matrices(outputs, 1, readouts)),
        activation=draw(st.sampled_from(("relu", "slu"))),
        alphabet=tuple("abc"[:symbols]),
        threshold=Fraction(draw(rationals)),
    )


def reference_hidden(network, word):
    """h' = σ(V h + W x + b) with whole matrices of Fractions."""
    recurrent, inputs, bias = network.recurrent.dense(), network.inputs.dense(), network.bias.dense()[:, 0]
    states = [network.start.dense()[:, 0]]
    for symbol in word:
        z = recurrent @ states[-1] + inputs[:, network.alphabet.index(symbol)] + bias
        top = [Fraction(1)] * len(z) if network.activation == "slu" else z
        states.append(
            np.array([min(max(Fraction(value), Fraction(0)), max(t, Fraction(0))) for value, t in zip(z, top)])
        )
    return np.array(states)


def reference_outputs(network, word):
    return reference_hidden(network, word) @ network.readout.dense().T + network.readout_bias.dense()[:, 0]


def reference_accepts(network, word):
    return bool(reference_outputs(network, word)[-1][0] > network.threshold)


def all_words(alphabet, longest):
    return ["".join(word) for length in range(longest + 1) for word in product(alphabet, repeat=length)]
