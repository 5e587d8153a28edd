"""Contextual decomposition of an LSTM in plain numpy, one focus at a time: what a person would write from the papers.

It is the peer of `kleene bench interdependence`, which runs it as a process of its own, on one thread: products of a
matrix and a vector gain nothing by more. As in the authors' code, a pair takes three decompositions, and each starts at
the first word.
"""

import json
import sys
import time
from typing import Any

import numpy as np

Array = np.ndarray


def _sigmoid(z: Array) -> Array:
    return 1 / (1 + np.exp(-z))


def _shares(phi: Any, a: Array, b: Array, c: Array) -> tuple[Array, Array, Array]:
    alone, with_a, with_b, whole = phi(c), phi(a + c), phi(b + c), phi(a + b + c)
    return 0.5 * (with_a - alone + whole - with_b), 0.5 * (with_b - alone + whole - with_a), alone


class PlainDecomposition:
    """A one-layer LSTM, to be decomposed by the papers' rules."""

    def __init__(self, inputs: Array, recurrent: Array, bias: Array) -> None:
        self.inputs, self.recurrent, self.bias = inputs, recurrent, bias

    def relevant(self, entries: Array, focus: set[int]) -> Array:
        """The relevant hidden state after the last word."""
        mine = irrelevant = mine_cell = irrelevant_cell = np.zeros(self.recurrent.shape[1], self.bias.dtype)
        for t, entry in enumerate(entries):
            arriving = self.inputs @ entry
            a, b = self.recurrent @ mine, self.recurrent @ irrelevant
            a, b = (a + arriving, b) if t in focus else (a, b + arriving)
            gates = list(zip(np.split(a, 4), np.split(b, 4), np.split(self.bias, 4)))
            ri, ii, bi = _shares(_sigmoid, *gates[0])
            rf, jf, bf = _shares(_sigmoid, *gates[1])
            rg, ig, bg = _shares(np.tanh, *gates[2])
            before = mine_cell
            mine_cell = ri * (rg + bg) + bi * rg + (rf + bf) * before + (bi * bg if t in focus else 0)
            whole = (ri + ii + bi) * (rg + ig + bg) + (rf + jf + bf) * (before + irrelevant_cell)
            irrelevant_cell = whole - mine_cell
            read = _sigmoid(gates[3][0] + gates[3][1] + gates[3][2])
            mine = read * 0.5 * (np.tanh(mine_cell) + np.tanh(whole) - np.tanh(irrelevant_cell))
            irrelevant = read * np.tanh(whole) - mine
        return mine

    def interdependence(self, entries: Array, one: int, other: int) -> float:
        """That of two words when the later of them has been read."""
        read = entries[: max(one, other) + 1]
        both, first, second = (self.relevant(read, focus) for focus in ({one, other}, {one}, {other}))
        return float(np.linalg.norm(both - first - second) / np.linalg.norm(both))


if __name__ == "__main__":
    given = np.load(sys.argv[1])
    plain = PlainDecomposition(given["inputs"], given["recurrent"], given["bias"])
    started = time.perf_counter()
    values = [plain.interdependence(given["entries"], *pair) for pair in given["pairs"].tolist()]
    print(json.dumps({"seconds": time.perf_counter() - started, "values": values}))
