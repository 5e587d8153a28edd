"""What a table over some variables says, as a person would write it: `a = b`, `a + b < 3`, `(a + b + carry) mod 10`.

A formula is tried on the values of all combinations, and taken only where it gives what the table says.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise, product
from typing import Any

import numpy as np

LARGEST = 1 << 18  # combinations on which a formula is tried
FREE = -1  # an outcome that may be either

Axes = Mapping[str, Sequence[float]]  # the values that each variable may have
Shown = Callable[[Any], str]


@dataclass(frozen=True)
class Total:
    """A sum of variables, each with a factor, and its value for every combination of theirs."""

    factors: tuple[tuple[int, str], ...]
    values: np.ndarray

    @property
    def sides(self) -> tuple[str, str]:
        """What is added, and what is taken away."""
        plus = " + ".join(_times(s, n) for s, n in self.factors if s > 0)
        return plus, " + ".join(_times(-s, n) for s, n in self.factors if s < 0)

    def __str__(self) -> str:
        plus, minus = self.sides
        taken = f"({minus})" if " + " in minus else minus
        return f"{plus} - {taken}" if minus and plus else plus or f"-{taken}"

    @property
    def inner(self) -> str:
        """The sum as a part of something larger."""
        return f"({self})" if len(self.factors) > 1 else str(self)

    def table(self, outcome: np.ndarray) -> dict[float, Any] | None:
        """What comes of each total, FREE where it may be anything; None where one total has several outcomes."""
        totals, inverse = np.unique(self.values.ravel(), return_inverse=True)
        fixed = np.flatnonzero(outcome.ravel() != FREE)
        found = np.full(len(totals), FREE, dtype=outcome.dtype)
        found[inverse[fixed]] = outcome.ravel()[fixed]
        agrees = np.array_equal(found[inverse[fixed]], outcome.ravel()[fixed])
        return dict(zip(totals.tolist(), found.tolist())) if agrees else None


def total_of(terms: Mapping[str, Sequence[int]], axes: Axes) -> Total | None:
    """The sum of these terms as one of the variables' values, where those enter by a factor almost everywhere; a
    variable `x` that does not is told as `f(x)`. None where there are too many combinations."""
    if np.prod([len(axis) for axis in axes.values()], dtype=float) > LARGEST:
        return None
    found = [_entering(name, axes[name], term) for name, term in terms.items()]
    known = [factor for factor, name, _ in found if not name.startswith("f(")]
    turned = sum(factor < 0 for factor in known) * 2 > len(known) or (len(known) == 2 and known[0] < 0 < known[1])
    sign = -1 if turned else 1
    factors = tuple((factor if name.startswith("f(") else sign * factor, name) for factor, name, _ in found)
    parts = [sign * factor * values for factor, _, values in found]
    return Total(factors, np.sum(np.meshgrid(*parts, indexing="ij"), axis=0))


def sums_and_differences(axes: Axes) -> Iterator[Total]:
    """Every sum in which the variables are added or taken away, the first one added."""
    if np.prod([len(axis) for axis in axes.values()], dtype=float) <= LARGEST:
        for signs in product((1, -1), repeat=len(axes) - 1):
            parts = [sign * np.array(axis) for sign, axis in zip((1, *signs), axes.values())]
            yield Total(tuple(zip((1, *signs), axes)), np.sum(np.meshgrid(*parts, indexing="ij"), axis=0))


def relation(total: Total, holds: np.ndarray, shown: Shown) -> str | None:
    """Where a condition holds, as a comparison; "" where it always does, None where no comparison says it."""
    table = total.table(holds)
    if table is None:
        return None
    x, wanted = np.array(list(table)), np.array(list(table.values()))
    fixed = wanted != FREE
    same = lambda found: np.array_equal(found[fixed], wanted[fixed] > 0)  # noqa: E731
    plus, minus = total.sides
    if same(np.ones(len(x), dtype=bool)):
        return ""
    bounds = sorted(x.tolist(), key=lambda bound: (bound != 0, abs(bound)))
    for sign, compare in (("=", np.equal), ("<", np.less), (">", np.greater), ("≠", np.not_equal)):
        for bound in bounds if sign in "=≠" else [0.0] if 0 in x else []:
            if same(compare(x, bound)):
                return f"{plus} {sign} {_moved(minus, bound, shown)}"
    for sign, compare in (("≤", np.less_equal), ("≥", np.greater_equal)):
        for bound in bounds:
            if same(compare(x, bound)):
                return f"{plus} {sign} {_moved(minus, bound, shown)}"
    return None


def value_of(total: Total, written: np.ndarray, shown: Shown) -> str | None:
    """What is written, as a formula of a sum; None where it is none of those that are known."""
    table = total.table(written)
    if table is None or len(table) < 2 or not all(isinstance(value, (int, float)) for value in table.values()):
        return None
    x, y = np.array(list(table)), np.array(list(table.values()))
    return _line(total, x, y, shown) or _wrapped(total, x, y) or _choice(total, x, y, shown)


def reciprocal(total: Total) -> Total | None:
    """One divided by the total, as a whole number: an average of one 1 among n numbers tells how many they are."""
    whole = _reciprocals(total.values)
    return None if whole is None else Total(((1, f"1 / {total.inner}"),), whole)


def of_two(axes: Axes, written: np.ndarray) -> str | None:
    """What is written, as a maximum, a minimum or a product of two variables."""
    (a, b), (x, y) = axes, np.meshgrid(*(np.array(axis) for axis in axes.values()), indexing="ij")
    for text, table in ((f"max({a}, {b})", np.maximum(x, y)), (f"min({a}, {b})", np.minimum(x, y))):
        if np.array_equal(table, written):
            return text
    modulus = written.max() + 1
    if np.array_equal(x * y, written):
        return f"{a} · {b}"
    return f"({a} · {b}) mod {modulus:g}" if np.array_equal(x * y % modulus, written) else None


def _entering(name: str, axis: Sequence[float], term: Sequence[int]) -> tuple[int, str, np.ndarray]:
    """How a variable enters a sum: by which factor, in which words, and the numbers that they stand for."""
    if all(isinstance(value, (int, float)) for value in axis):
        values = np.array(axis)
        for words, numbers in ((name, values), (f"1 / {name}", _reciprocals(values))):
            factor = None if numbers is None else _factor(numbers, term)
            if factor and numbers is not None:
                return factor, words, numbers
    return 1, f"f({name})", np.array(term)


def _factor(numbers: np.ndarray, term: Sequence[int]) -> int | None:
    """By how much the term grows with the numbers almost everywhere, if that is a whole number."""
    steps = Counter(((t1 - t0) / (x1 - x0)) for (x0, x1), (t0, t1) in zip(pairwise(numbers.tolist()), pairwise(term)))
    factor, often = steps.most_common(1)[0] if steps else (0, 0)
    return int(factor) if factor == int(factor) and often * 2 >= len(numbers) - 1 else None


def _reciprocals(values: np.ndarray) -> np.ndarray | None:
    with np.errstate(all="ignore"):
        whole = np.rint(1 / values)
    near = np.isfinite(whole).all() and np.allclose(whole * values, 1) and len(np.unique(whole)) == whole.size
    return whole.astype(int) if near else None


def _line(total: Total, x: np.ndarray, y: np.ndarray, shown: Shown) -> str | None:
    """The total and a number, or a number without the total, perhaps within bounds."""
    low, high = y.min(), y.max()
    for sign in (1, -1):
        start = _most_common(y - sign * x)
        line = sign * x + start
        text = _moved(str(total), start, shown) if sign > 0 else f"{shown(start)} - {total.inner}"
        if np.array_equal(y, line):
            return text
        if np.count_nonzero(y == line) > 2 and np.array_equal(y, np.clip(line, low, high)):
            cut = [f"at least {shown(low.item())}"] * bool(line.min() < low)
            cut += [f"at most {shown(high.item())}"] * bool(line.max() > high)
            return f"{text}, {' and '.join(cut)}"
    return f"|{total}|" if np.array_equal(y, abs(x)) else None


def _wrapped(total: Total, x: np.ndarray, y: np.ndarray) -> str | None:
    """The rest or the whole part of a division."""
    if len(x) < 3 or not (np.array_equal(x, x.astype(int)) and np.array_equal(y, y.astype(int))):
        return None
    modulus = int(y.max()) + 1
    for start in sorted(range(1 - modulus, modulus), key=abs) if modulus > 1 else ():
        if np.array_equal(y, (x + start) % modulus):
            return f"{total.inner if not start else f'({_moved(str(total), start, str)})'} mod {modulus}"
    for start, divisor in product((0, -1, 1), range(2, min(int(x.max()), 64) + 1)):
        if np.array_equal(y, (x + start) // divisor):
            return f"{total.inner if not start else f'({_moved(str(total), start, str)})'} div {divisor}"
    return None


def _choice(total: Total, x: np.ndarray, y: np.ndarray, shown: Shown) -> str | None:
    """One of two numbers, or the total in some places and a number elsewhere."""
    one = Total(total.factors, x)
    values = np.unique(y)
    if len(values) == 2:
        where = relation(one, (y == values[1]).astype(int), shown)
        return where and f"{shown(values[1].item())} if {where} else {shown(values[0].item())}"
    start = _most_common(y - x)
    others = np.unique(y[y != x + start])
    where = relation(one, (y == x + start).astype(int), shown) if len(others) == 1 else None
    return where and f"{_moved(str(total), start, shown)} if {where} else {shown(others[0].item())}"


def _most_common(values: np.ndarray) -> Any:
    return Counter(values.tolist()).most_common(1)[0][0]


def _times(factor: int, name: str) -> str:
    return name if factor == 1 else f"{factor}·{name}"


def _moved(text: str, number: float, shown: Shown) -> str:
    """A sum and a number."""
    if not text:
        return shown(number)
    return text if not number else f"{text} {'+' if number > 0 else '-'} {shown(abs(number))}"
