"""Theorem 4.6 of Chiang's notes: a network with integer weights and SLU units is a finite automaton.

Such a network has finitely many hidden vectors, and they are the states. A breadth-first search from the start finds
exactly those that some word reaches.
"""

from functools import singledispatch
from itertools import pairwise
from typing import Any, Protocol, runtime_checkable

import numpy as np

from kleene.errors import InputError, RunError
from kleene.limits import checked_count
from kleene.machines.rnn.exact_execution import (
    ExactVector,
    LiveUnits,
    PlainReadout,
    PlainStepper,
    SparseReadout,
    SparseStepper,
    TooLargeError,
)
from kleene.machines.rnn.simple_rnn import SimpleRNN
from kleene.machines.turing_rnn.turing_rnn import TuringRNN
from kleene.programs.automata import DFA

MAX_STATES = 100_000
MOST_BITS = 10_000  # of a number in a hidden vector; larger numbers are taken to grow without end
NAMED_BY_VECTOR = 8  # units; the states of a larger network are numbered

NOT_REGULAR = (
    "this network runs a Turing machine, and the words that a Turing machine accepts need not be a regular language: "
    "there may be no finite automaton to extract"
)

Vector = tuple[tuple[int, int], ...]  # the units that are not 0, ascending, each with its value


def reachable_automaton(network: Any, *, max_states: int = MAX_STATES, narrow: int = 200) -> DFA:
    """The automaton whose states are the network's reachable hidden vectors (Theorem 4.6), the start first.

    In a network of at most 8 units that are all 0 or 1 the states are named by their vectors, such as "10"; otherwise
    they are q0, q1, … in breadth-first order. Equivalent states are kept apart; `minimise` merges them. In a network of
    up to `narrow` recurrent weights each vector is stepped by itself, which is faster than in arrays.
    """
    max_states = checked_count(max_states, "max_states", "it is a number of states, 1 or more", least=1)
    network = integer_network(network)
    states, table, accepting = _reachable(network, max_states, narrow)
    names = _names(network, states)
    return DFA(
        states=names,
        alphabet=network.alphabet,
        transitions={(names[q], a): names[r] for q, row in enumerate(table) for a, r in zip(network.alphabet, row)},
        start=names[0],
        accept=frozenset(name for name, accepts in zip(names, accepting) if accepts),
    )


@singledispatch
def integer_network(network: Any) -> SimpleRNN:
    """The network, if Theorem 4.6 applies to its class and weights; otherwise an error says why not."""
    other = "the method lstar learns from any network that accepts words"
    if getattr(network, "accepts_batch", None) is None:
        other = "give such a network, as kleene.compile makes of a DFA"
    raise InputError(
        f"Theorem 4.6 takes a SimpleRNN with integer weights, and this is a {type(network).__name__}; {other}"
    )


@integer_network.register
def _automaton(network: DFA) -> SimpleRNN:
    raise InputError("this is an automaton already; extract takes a network, such as kleene.compile makes of it")


@integer_network.register
def _turing_network(network: TuringRNN) -> SimpleRNN:
    raise InputError(NOT_REGULAR)


@integer_network.register
def _simple_network(network: SimpleRNN) -> SimpleRNN:
    if not network.is_exact:
        raise InputError(
            "Theorem 4.6 needs exact integer weights, and this network's are floats; use the method lstar for it"
        )
    for name in ("recurrent", "inputs", "bias", "start"):
        weight: Any = getattr(network, name)
        broken = [k for k, n in enumerate(weight.numerators) if n % weight.denominator]
        if broken:
            place = f"{weight.rows[broken[0]]}, {weight.columns[broken[0]]}"
            raise InputError(
                f"Theorem 4.6 needs integer weights, and {name}[{place}] is {weight.value(broken[0])}: with it the "
                f"hidden vectors need not be finitely many. The method lstar learns an automaton from queries"
            )
    return network


def _reachable(network: Any, max_states: int, narrow: int) -> tuple[list[Vector], list[list[int]], list[bool]]:
    if network.recurrent.nonzeros > narrow:
        try:
            return _explored(_SparseVectors(network), max_states)
        except TooLargeError:
            pass  # some number does not fit into int64
    return _explored(_PlainVectors(network), max_states)


@runtime_checkable
class _Vectors(Protocol):
    """How the hidden vectors of a network follow one another."""

    start: Any
    symbols: range

    def after(self, vectors: list[Any], symbol: int) -> list[Any]:
        """The vector that follows each of these when this symbol is read."""
        ...

    def accepted(self, vectors: list[Any]) -> list[bool]: ...

    def as_tuple(self, vector: Any) -> Vector: ...


def _explored(network: _Vectors, max_states: int) -> tuple[list[Vector], list[list[int]], list[bool]]:
    """The reachable vectors breadth-first, the number of the next vector by symbol, and which are accepted."""
    numbers = {network.start: 0}
    found, table, accepting = [network.start], [], []
    while len(table) < len(found):
        frontier = found[len(table) :]
        accepting += network.accepted(frontier)
        followers = list(zip(*(network.after(frontier, symbol) for symbol in network.symbols)))
        for row in followers or [()] * len(frontier):
            for vector in row:
                if vector not in numbers:
                    numbers[vector] = len(found)
                    found.append(vector)
            table.append([numbers[vector] for vector in row])
        if len(found) > max_states:
            raise RunError(
                f"words reach more than max_states = {max_states} different hidden vectors of this network. "
                f"A ReLU network that counts reaches infinitely many, and its language need not be regular; "
                f"if it has finitely many, give a larger max_states. The method lstar learns an automaton from queries."
            )
    return [network.as_tuple(vector) for vector in found], table, accepting


class _SparseVectors:
    """Many vectors at once in int64; a vector is stored as the bytes of its (unit, value) pairs."""

    def __init__(self, network: SimpleRNN):
        self.stepper, self.readout = SparseStepper(network), SparseReadout(network)
        self.symbols = range(len(network.alphabet))
        self.start = self._split(self.stepper.begin(1), 1)[0]

    def after(self, vectors: list[bytes], symbol: int) -> list[bytes]:
        words = np.arange(len(vectors))
        live = self.stepper.step(self._joined(vectors), words, np.full(len(vectors), symbol))
        return self._split(live, len(vectors))

    def accepted(self, vectors: list[bytes]) -> list[bool]:
        return self.readout.accepts(self._joined(vectors), len(vectors)).tolist()

    def as_tuple(self, vector: bytes) -> Vector:
        return tuple((u, n) for u, n in np.frombuffer(vector, dtype=np.int64).reshape(-1, 2).tolist())

    @staticmethod
    def _joined(vectors: list[bytes]) -> LiveUnits:
        pairs = np.frombuffer(b"".join(vectors), dtype=np.int64).reshape(-1, 2)
        words = np.repeat(np.arange(len(vectors)), [len(vector) // 16 for vector in vectors])
        return LiveUnits(words, pairs[:, 0], pairs[:, 1])

    @staticmethod
    def _split(live: LiveUnits, count: int) -> list[bytes]:
        """The pairs of each vector; those of one vector lie together, its units ascending."""
        joined = np.stack([live.units, live.values], axis=1).astype(np.int64).tobytes()
        ends = (16 * np.searchsorted(live.words, np.arange(count + 1))).tolist()
        return [joined[start:end] for start, end in pairwise(ends)]


class _PlainVectors:
    """One vector at a time, in integers of any size."""

    def __init__(self, network: SimpleRNN):
        self.stepper, self.readout = PlainStepper(network), PlainReadout(network)
        self.symbols = range(len(network.alphabet))
        self.start = self._key(self.stepper.start)

    def after(self, vectors: list[Vector], symbol: int) -> list[Vector]:
        found = [self._key(self.stepper.step(ExactVector(dict(vector), 1), symbol)) for vector in vectors]
        if any(value.bit_length() > MOST_BITS for vector in found for _, value in vector):
            raise RunError(
                f"the hidden vectors of this network grow without end: a number of more than {MOST_BITS:,} binary "
                f"digits was reached. There is no automaton whose states they are; the method lstar asks for words"
            )
        return found

    def accepted(self, vectors: list[Vector]) -> list[bool]:
        return [self.readout.accepts(ExactVector(dict(vector), 1)) for vector in vectors]

    def as_tuple(self, vector: Vector) -> Vector:
        return vector

    @staticmethod
    def _key(vector: ExactVector) -> Vector:
        return tuple(sorted(vector.live.items()))


def _names(network: SimpleRNN, states: list[Vector]) -> tuple[str, ...]:
    if network.hidden_units <= NAMED_BY_VECTOR and all(value == 1 for state in states for _, value in state):
        live = [{unit for unit, _ in state} for state in states]
        return tuple("".join("1" if unit in units else "0" for unit in range(network.hidden_units)) for units in live)
    return tuple(f"q{number}" for number in range(len(states)))
