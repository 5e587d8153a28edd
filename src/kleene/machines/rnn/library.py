"""Networks that count, beyond finite automata and without intermediate steps, and an example that does not count.

Each is exact, has a `summary`, and is built from its update rules: `{unit: ({unit: weight}, {symbol: weight}, bias)}`.
"""

from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import Any, Literal

from kleene.machines.rnn.simple_rnn import SimpleRNN
from kleene.notation.exact import ExactMatrix

Weights = Mapping[str, int | Fraction]
Rule = tuple[Weights, Weights, int | Fraction]

HALF = Fraction(1, 2)


def majority_relu() -> SimpleRNN:
    """MAJORITY with three integer ReLU units (Chiang's notes, Exercise 4.7).

    The balance c of 1s over 0s is kept as p − n, p = ReLU(c) and n = ReLU(−c); v = ReLU(c − 1), so that p − v is 1
    exactly when c is positive.

    >>> [majority_relu().accepts(word) for word in ("", "01", "011")]
    [False, False, True]
    """
    more, fewer = {"p": 1, "n": -1}, {"p": -1, "n": 1}
    rules: dict[str, Rule] = {
        "p": (more, {"1": 1, "0": -1}, 0),
        "n": (fewer, {"1": -1, "0": 1}, 0),
        "v": (more, {"1": 1, "0": -1}, -1),
    }
    return _network("strictly more 1s than 0s", rules, ("0", "1"), "relu", {"p": 1, "v": -1})


def majority_slu() -> SimpleRNN:
    """MAJORITY with six SLU units over the rationals (Chiang's notes, Exercise 4.8).

    A count k is kept as the unary stack 1 − 2⁻ᵏ: pushing is z ↦ (z + 1) / 2, popping z ↦ 2z − 1. p = A + B counts the
    1s that are ahead and n = C + D the 0s; one of them is 0. A and C push, B and D pop, and each is 0 unless it is its
    turn. E and F add up to 1 exactly when the 1s are ahead after this step, and to 0 otherwise.

    >>> [majority_slu().accepts(word) for word in ("", "01", "011")]
    [False, False, True]
    """
    half_p, half_n = {"A": HALF, "B": HALF, "C": -1, "D": -1}, {"C": HALF, "D": HALF, "A": -1, "B": -1}
    rules: dict[str, Rule] = {
        "A": (half_p, {"0": -1}, HALF),
        "B": ({"A": 2, "B": 2}, {"1": -1}, -1),
        "C": (half_n, {"1": -1}, HALF),
        "D": ({"C": 2, "D": 2}, {"0": -1}, -1),
        "E": ({"A": 1, "B": 1, "C": -2, "D": -2}, {"0": -2}, 1),
        "F": ({"A": 4, "B": 4}, {"1": -2}, -2),
    }
    return _network("strictly more 1s than 0s", rules, ("0", "1"), "slu", {"E": 1, "F": 1})


def a_n_b_n() -> SimpleRNN:
    """{aⁿbⁿ} with four integer ReLU units: a counter, a flag, and two that notice what goes wrong.

    `count` is the number of a's less that of b's; `only_a` is 1 until the first b. `short` notices a b that has no a,
    `late` an a after a b; an error is never forgotten, because `only_a` is 0 from then on.

    >>> [a_n_b_n().accepts(word) for word in ("", "aabb", "aab", "abab")]
    [True, True, False, False]
    """
    rules: dict[str, Rule] = {
        "count": ({"count": 1}, {"a": 1, "b": -1}, 0),
        "only_a": ({"only_a": 1}, {"b": -1}, 0),
        "short": ({"count": -1}, {"b": 1}, 0),
        "late": ({"late": 1, "short": 1, "only_a": -1}, {"a": 1}, 0),
    }
    wrong = {"count": -1, "short": -1, "late": -1}
    return _network("as many b's after n a's: aⁿbⁿ", rules, ("a", "b"), "relu", wrong, 1, start={"only_a": 1})


def dyck1() -> SimpleRNN:
    """Balanced brackets of one kind with three integer ReLU units: the depth, a bracket too many, and past errors.

    >>> [dyck1().accepts(word) for word in ("", "(()())", "())(", "((")]
    [True, True, False, False]
    """
    rules: dict[str, Rule] = {
        "depth": ({"depth": 1}, {"(": 1, ")": -1}, 0),
        "short": ({"depth": -1}, {")": 1}, 0),
        "error": ({"error": 1, "short": 1}, {}, 0),
    }
    wrong = {"depth": -1, "short": -1, "error": -1}
    return _network("brackets of one kind that balance", rules, ("(", ")"), "relu", wrong, 1)


def two_units() -> SimpleRNN:
    """Every word, with two integer SLU units: the worked example of Theorem 4.6 in Chiang's notes.

    >>> [two_units().accepts(word) for word in ("", "a", "abba")]
    [True, True, True]
    """
    rules: dict[str, Rule] = {
        "first": ({"first": 1, "second": -2}, {"a": 1}, 0),
        "second": ({"first": -3, "second": 4}, {"b": 1}, 0),
    }
    return _network("every word over a and b", rules, ("a", "b"), "slu", {"first": 1}, start={"first": 1})


NETWORKS: dict[str, Callable[[], SimpleRNN]] = {
    "majority_relu": majority_relu,
    "majority_slu": majority_slu,
    "a_n_b_n": a_n_b_n,
    "dyck1": dyck1,
    "two_units": two_units,
}


def _network(
    summary: str,
    rules: Mapping[str, Rule],
    alphabet: tuple[str, ...],
    activation: Literal["relu", "slu"],
    readout: Weights,
    readout_bias: int = 0,
    start: Weights | None = None,
) -> SimpleRNN:
    """The network in which each unit is σ of its rule's weighted units, symbol's weight and bias."""
    units = {unit: number for number, unit in enumerate(rules)}

    def matrix(rows: list[Weights], columns: Mapping[str, int]) -> Any:
        entries = {(i, columns[name]): weight for i, row in enumerate(rows) for name, weight in row.items()}
        return ExactMatrix.from_entries((len(rows), len(columns)), entries)

    return SimpleRNN(
        recurrent=matrix([rule[0] for rule in rules.values()], units),
        inputs=matrix([rule[1] for rule in rules.values()], {symbol: n for n, symbol in enumerate(alphabet)}),
        bias=ExactMatrix.column([rule[2] for rule in rules.values()]),
        start=matrix([start or {}], units).transpose(),
        readout=matrix([readout], units),
        readout_bias=ExactMatrix.column([readout_bias]),
        activation=activation,
        alphabet=alphabet,
        summary=summary,
    )
