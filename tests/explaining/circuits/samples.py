"""Small networks with their circuits, and pairs of inputs for them."""

import random
from dataclasses import replace
from functools import cache

import kleene
from kleene.explaining.circuits.truth import true_circuit
from kleene.machines.transformer.plain import PlainTransformer
from kleene.programs.rasp.library import get


def drawn(symbols, count, longest=4, seed=0):
    """Words, and another for each that is no shorter."""
    chance = random.Random(seed)

    def word(least):
        return [chance.choice(symbols) for _ in range(chance.randint(least, longest))]

    inputs = [word(1) for _ in range(count)]
    return inputs, [word(len(one)) for one in inputs]


@cache
def compiled(name):
    """The plain network of a program on the shelf of RASP, over three symbols, and its true circuit."""
    program = replace(get(name).build(), vocab=("a", "b", "c"), max_length=4)
    network = PlainTransformer.from_unrolled(kleene.compile(program, layers="unrolled"))
    return network, true_circuit(network, drawn(program.vocab, 200)[0])
