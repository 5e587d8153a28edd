"""Turing machines in floating numbers: how long the tape may be so that every sum is exact, in any order.

The stacks are fractions in base 4, so that all numbers of a run are dyadic: integers times some 2^-m. A float holds
such a number exactly as long as it needs no more bits than the float has, and so it does every partial sum of a row
whose terms, taken without their signs, add up to no more than that. Up to a depth of the stacks that is proven here
nothing is ever rounded, whatever the order of the additions; the run checks the depth after every tick, and refuses
past it. (In base 3 longer tapes fit, but every step rounds, and how that adds up is only known by trying.)
"""

from dataclasses import replace
from itertools import product

import numpy as np

from kleene.errors import CompileError
from kleene.machines.rnn.tape_reading import TapeReading
from kleene.machines.rnn.turing import TuringRNN

NONE = 10**6  # the exponent of a row that has no terms


def in_floats(network: TuringRNN, numbers: str) -> TuringRNN:
    """The same network in a floating type, with the longest tape that it is exact on as the reading's `limit`."""
    limit = tape_limit(network, np.finfo(numbers).nmant + 1)
    if limit < 2:
        raise CompileError(
            f"in {numbers} this machine would have a tape of less than 2 cells; compile it with dtype='exact'"
        )
    return replace(network, rnn=network.rnn.to_float(numbers), reading=replace(network.reading, limit=limit))


def tape_limit(network: TuringRNN, bits: int) -> int:
    """How many cells a tape may have so that no sum of the network needs more bits than that."""
    rows = _Rows(network)
    return min(rows.deepest(bits, variables) for variables in _situations(network.reading))


def _situations(reading: TapeReading) -> list[np.ndarray]:
    """The most that each variable can be in each kind of configuration: state, scanned symbol, tops of the stacks."""
    roles = list(enumerate(zip(reading.state_of, reading.scanned_of)))
    states = [k for k, (state, _) in roles if state >= 0]
    symbols = [k for k, (state, symbol) in roles if state < 0 <= symbol]  # none where a variable is for both at once
    tops = ([None, *reading.left_stack], [None, *reading.right_stack])
    found = []
    for on in product(states, symbols or [None], *tops):
        most = np.zeros(len(roles))
        most[[*reading.left_stack, *reading.right_stack]] = 1 / reading.base
        most[[k for k in on if k is not None]] = 1
        found.append(most)
    return found


class _Rows:
    """The network's rows with the exponents of their weights: how coarse and how large their terms are."""

    def __init__(self, network: TuringRNN):
        reading, weights = network.reading, {n: w.to_float() for n, w in network.rnn.weights().items()}
        self.stacked = np.zeros(len(reading.state_of), dtype=bool)
        self.stacked[[*reading.left_stack, *reading.right_stack]] = True
        self.inner, self.outer = network.inner.to_float(), network.outer.to_float()
        self.recurrent, self.readout = weights["recurrent"], weights["readout"]
        resting = weights["inputs"] + weights["bias"]
        self.highest, self.largest = resting.max(axis=1), np.abs(resting).max(axis=1)
        self.rest_exponent = _exponents(resting).min(axis=1)
        self.inner_exponents = _exponents(self.inner)

    def deepest(self, bits: int, most: np.ndarray) -> int:
        """The depth of stacks up to which all sums are exact where no variable is larger than that.

        A unit is a multiple of 2^plain and of 2^(fine − 2 depth): of the coarser parts, and of the stack in it.
        """
        units = np.maximum(np.where(self.inner > 0, self.inner, 0) @ most + self.highest, 0)
        # Other states' variables are exactly 0 here, and what they would add or take away with them.
        here = self.inner_exponents + np.where(most > 0, 0, NONE)
        fine = here[:, self.stacked].min(axis=1)
        plain = np.minimum(here[:, ~self.stacked].min(axis=1), self.rest_exponent)
        inner = (np.abs(self.inner) @ most + self.largest, fine, plain)
        live = units > 0
        # The run checks that what it has is no finer than the depth allows before it goes on.
        held = (units[live], np.maximum(fine[live], 0), plain[live])
        outer, readout = self._summed(self.outer[:, live], *held), self._summed(self.readout[:, live], *held)
        size, thin, thick = self._summed(self.recurrent[:, live], *held)
        recurrent = (size + self.largest, thin, np.minimum(thick, self.rest_exponent))
        return min(_depth(bits, *rows) for rows in (inner, outer, readout, recurrent))

    @staticmethod
    def _summed(weights: np.ndarray, units: np.ndarray, fine: np.ndarray, plain: np.ndarray) -> tuple:
        exponents = _exponents(weights)
        if not weights.shape[1]:
            nothing = np.full(len(weights), NONE)
            return np.zeros(len(weights)), nothing, nothing
        return np.abs(weights) @ units, (exponents + fine).min(axis=1), (exponents + plain).min(axis=1)


def _depth(bits: int, sizes: np.ndarray, fine: np.ndarray, plain: np.ndarray) -> int:
    """The largest depth at which each size is at most 2^bits times what its terms are multiples of."""
    needed = np.ceil(np.log2(np.maximum(sizes, 2.0**-900)))
    if (needed[plain < NONE // 2] > bits + plain[plain < NONE // 2]).any():
        return 0
    stacks = fine < NONE // 2
    return int(((bits + fine - needed)[stacks] // 2).min(initial=NONE))


def _exponents(weights: np.ndarray) -> np.ndarray:
    """For each weight the largest e such that it is an integer times 2^e."""
    mantissas, exponents = np.frexp(weights)
    whole = (mantissas * 2.0**53).astype(np.int64)
    lowest = whole & -whole
    return np.where(weights == 0, NONE, np.log2(np.maximum(lowest, 1)).astype(np.int64) + exponents - 53)
