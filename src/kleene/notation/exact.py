"""Sparse matrices of exact rationals: Python integers of any size over one common denominator."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import gcd, lcm
from numbers import Rational
from typing import Any

import numpy as np

from kleene.errors import CompileError

LARGEST = 2**63 - 1  # what int64 holds


@dataclass(frozen=True, eq=False)
class ExactMatrix:
    """A matrix whose entry (rows[k], columns[k]) is numerators[k] / denominator, all others being 0.

    Entries are in row-major order without zeros, and the denominator is the least common one, so that equal
    matrices have equal parts. Build one with `from_entries`, `from_rows`, `column` or `from_parts`, which make
    sure of that. A vector is a matrix of one column.

    >>> m = ExactMatrix.from_rows([[1, Fraction(1, 3)], [0, -2]])
    >>> m.denominator, m.numerators
    (3, (3, 1, -6))
    >>> print(m @ ExactMatrix.column([3, 3]))
    [ 4]
    [-6]
    """

    shape: tuple[int, int]
    rows: np.ndarray
    columns: np.ndarray
    numerators: tuple[int, ...]
    denominator: int = 1

    @classmethod
    def from_entries(cls, shape: tuple[int, int], entries: Mapping[tuple[int, int], Rational | int]) -> "ExactMatrix":
        """The matrix with these entries, and 0 elsewhere. A float is refused, because it may not be exact."""
        for place, value in entries.items():
            if not isinstance(value, Rational):
                raise CompileError(
                    f"entry {place} is {value!r}, a {type(value).__name__}; exact weights are integers or Fractions"
                )
        denominator = lcm(*(int(v.denominator) for v in entries.values()))
        numerators = [int(v.numerator) * (denominator // int(v.denominator)) for v in entries.values()]
        return cls.from_parts(shape, [i for i, _ in entries], [j for _, j in entries], numerators, denominator)

    @classmethod
    def from_parts(
        cls,
        shape: tuple[int, int],
        rows: Sequence[int] | np.ndarray,
        columns: Sequence[int] | np.ndarray,
        numerators: Sequence[int] | np.ndarray,
        denominator: int = 1,
    ) -> "ExactMatrix":
        """The matrix with numerators[k] / denominator at (rows[k], columns[k]); entries at the same place are added."""
        height, width = int(shape[0]), int(shape[1])
        rows, columns = np.asarray(rows, dtype=np.int64), np.asarray(columns, dtype=np.int64)
        if height < 0 or width < 0 or height * width > LARGEST:
            raise CompileError(f"a matrix cannot have the shape {height} × {width}")
        outside = (rows < 0) | (rows >= height) | (columns < 0) | (columns >= width)
        if outside.any():
            k = int(np.flatnonzero(outside)[0])
            raise CompileError(f"entry ({rows[k]}, {columns[k]}) lies outside a matrix of shape {height} × {width}")
        numbers: Iterable[int] = numerators.tolist() if isinstance(numerators, np.ndarray) else numerators
        sums: dict[int, int] = {}
        for place, number in zip((rows * max(width, 1) + columns).tolist(), numbers):
            sums[place] = sums.get(place, 0) + int(number)
        places = sorted(place for place, number in sums.items() if number)
        common = gcd(denominator, *(sums[p] for p in places)) if places else denominator
        rows, columns = np.divmod(np.asarray(places, dtype=np.int64), max(width, 1))
        reduced = tuple(sums[p] // common for p in places)
        return cls((height, width), rows, columns, reduced, denominator // common)

    @classmethod
    def from_rows(cls, rows: Sequence[Sequence[Rational | int]]) -> "ExactMatrix":
        """The matrix written out in full; it needs at least one row to know its width."""
        entries = {(i, j): value for i, row in enumerate(rows) for j, value in enumerate(row)}
        return cls.from_entries((len(rows), len(rows[0])), entries)

    @classmethod
    def column(cls, values: Sequence[Rational | int]) -> "ExactMatrix":
        """A vector, which is a matrix of one column."""
        return cls.from_entries((len(values), 1), {(i, 0): value for i, value in enumerate(values)})

    @classmethod
    def zeros(cls, height: int, width: int = 1) -> "ExactMatrix":
        return cls.from_parts((height, width), [], [], [])

    @classmethod
    def identity(cls, size: int) -> "ExactMatrix":
        return cls.from_parts((size, size), range(size), range(size), [1] * size)

    @classmethod
    def vstack(cls, parts: Sequence["ExactMatrix"]) -> "ExactMatrix":
        """The matrices one under the other."""
        return cls.hstack([part.transpose() for part in parts]).transpose()

    @classmethod
    def hstack(cls, parts: Sequence["ExactMatrix"]) -> "ExactMatrix":
        """The matrices side by side."""
        heights = {part.shape[0] for part in parts}
        if len(heights) != 1:
            raise CompileError(f"matrices of {', '.join(map(str, sorted(heights)))} rows cannot stand side by side")
        starts = np.cumsum([0, *(part.shape[1] for part in parts)])
        denominator = lcm(*(part.denominator for part in parts))
        return cls.from_parts(
            (heights.pop(), int(starts[-1])),
            np.concatenate([part.rows for part in parts]),
            np.concatenate([part.columns + start for part, start in zip(parts, starts)]),
            [n for part in parts for n in part.over(denominator)],
            denominator,
        )

    def over(self, denominator: int) -> list[int]:
        """The numerators over another denominator, a multiple of this matrix's own."""
        factor, rest = divmod(denominator, self.denominator)
        assert rest == 0
        return [n * factor for n in self.numerators]

    def without_first(self, rows: int, columns: int) -> "ExactMatrix":
        """The matrix without its first rows and columns."""
        kept = np.flatnonzero((self.rows >= rows) & (self.columns >= columns))
        return self.from_parts(
            (self.shape[0] - rows, self.shape[1] - columns),
            self.rows[kept] - rows,
            self.columns[kept] - columns,
            [self.numerators[k] for k in kept.tolist()],
            self.denominator,
        )

    def transpose(self) -> "ExactMatrix":
        order = np.lexsort((self.rows, self.columns))  # entries are sorted by row, and by column within a row
        numerators = tuple(self.numerators[k] for k in order.tolist())
        shape = (self.shape[1], self.shape[0])
        return ExactMatrix(shape, self.columns[order], self.rows[order], numerators, self.denominator)

    def __matmul__(self, other: "ExactMatrix") -> "ExactMatrix":
        if self.shape[1] != other.shape[0]:
            raise CompileError(f"a matrix of shape {self.shape} cannot multiply one of shape {other.shape}")
        others: dict[int, list[tuple[int, int]]] = {}
        for i, j, n in zip(other.rows.tolist(), other.columns.tolist(), other.numerators):
            others.setdefault(i, []).append((j, n))
        rows, columns, numerators = [], [], []
        for i, middle, left in zip(self.rows.tolist(), self.columns.tolist(), self.numerators):
            for j, right in others.get(middle, ()):
                rows.append(i)
                columns.append(j)
                numerators.append(left * right)
        shape = (self.shape[0], other.shape[1])
        return self.from_parts(shape, rows, columns, numerators, self.denominator * other.denominator)

    def __add__(self, other: "ExactMatrix") -> "ExactMatrix":
        if self.shape != other.shape:
            raise CompileError(f"a matrix of shape {self.shape} cannot be added to one of shape {other.shape}")
        denominator = lcm(self.denominator, other.denominator)
        rows, columns = np.append(self.rows, other.rows), np.append(self.columns, other.columns)
        numerators = self.over(denominator) + other.over(denominator)
        return self.from_parts(self.shape, rows, columns, numerators, denominator)

    def __neg__(self) -> "ExactMatrix":
        return ExactMatrix(self.shape, self.rows, self.columns, tuple(-n for n in self.numerators), self.denominator)

    def __sub__(self, other: "ExactMatrix") -> "ExactMatrix":
        return self + -other

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, ExactMatrix):
            return NotImplemented
        same = (self.shape, self.denominator, self.numerators) == (other.shape, other.denominator, other.numerators)
        return same and np.array_equal(self.rows, other.rows) and np.array_equal(self.columns, other.columns)

    def __hash__(self) -> int:
        return hash((self.shape, self.numerators, self.denominator))

    @property
    def nonzeros(self) -> int:
        return len(self.numerators)

    @property
    def is_integer(self) -> bool:
        return self.denominator == 1

    def value(self, k: int) -> int | Fraction:
        """The k-th entry that is not 0: an int where it is whole, else a Fraction."""
        exact = Fraction(self.numerators[k], self.denominator)
        return exact.numerator if exact.denominator == 1 else exact

    def entries(self) -> dict[tuple[int, int], int | Fraction]:
        """Every entry that is not 0, by its row and column."""
        places = zip(self.rows.tolist(), self.columns.tolist())
        return {place: self.value(k) for k, place in enumerate(places)}

    def dense(self) -> np.ndarray:
        """The whole matrix as an array of ints and Fractions."""
        whole = np.zeros(self.shape, dtype=object)
        for place, value in self.entries().items():
            whole[place] = value
        return whole

    @cached_property
    def small_numerators(self) -> np.ndarray | None:
        """The numerators as int64, or None where one of them does not fit."""
        if any(abs(n) > LARGEST for n in self.numerators):
            return None
        return np.array(self.numerators, dtype=np.int64)

    @cached_property
    def by_column(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """The entries by column: where each column starts (and the last ends), their rows, and their indices."""
        order = np.argsort(self.columns, kind="stable")
        starts = np.searchsorted(self.columns[order], np.arange(self.shape[1] + 1))
        return starts, self.rows[order], order

    @cached_property
    def largest_row_sum(self) -> int:
        """The largest sum of a row's numerators without their signs."""
        sums: dict[int, int] = {}
        for i, n in zip(self.rows.tolist(), self.numerators):
            sums[i] = sums.get(i, 0) + abs(n)
        return max(sums.values(), default=0)

    def to_float(self, dtype: Any = np.float64, *, round: bool = False, name: str = "entry") -> np.ndarray:
        """The whole matrix in a floating type. A value that would change is refused, unless `round` is True."""
        whole = np.zeros(self.shape, dtype=dtype)
        for k, (i, j) in enumerate(zip(self.rows.tolist(), self.columns.tolist())):
            exact = Fraction(self.numerators[k], self.denominator)
            try:
                whole[i, j] = float(exact)
            except OverflowError:
                whole[i, j] = float("inf") if exact > 0 else float("-inf")
            rounded = float(whole[i, j])
            if not round and (abs(rounded) == float("inf") or Fraction(rounded) != exact):
                raise CompileError(
                    f"{name}[{i}, {j}] = {exact} would be rounded to {rounded!r} in {whole.dtype}; "
                    f"keep the weights exact, or say round=True to accept it"
                )
        return whole

    def __str__(self) -> str:
        texts = [[str(value) for value in row] for row in self.dense()]
        width = max((len(text) for row in texts for text in row), default=0)
        return "\n".join("[" + " ".join(text.rjust(width) for text in row) + "]" for row in texts)

    def __repr__(self) -> str:
        height, width = self.shape
        over = "" if self.is_integer else f" over {self.denominator}"
        return f"<ExactMatrix {height} × {width}, {self.nonzeros} nonzeros{over}>"
