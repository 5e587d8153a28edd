"""Sums that cases test: an integer with one term for each of some variables."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np


@dataclass(frozen=True)
class Sum:
    """An integer that is a sum of one term for each of its variables, smallest value 0.

    Threshold units test such sums directly, so that `a == b` costs two hidden units instead of one for each value.
    """

    terms: tuple[tuple[str, tuple[int, ...]], ...]

    def __hash__(self) -> int:
        return self._hash

    @cached_property
    def _hash(self) -> int:
        return hash(self.terms)

    @cached_property
    def _tables(self) -> tuple[tuple[str, np.ndarray], ...]:
        """The terms as arrays with one extra entry, which -1, the code of an undefined value, indexes."""
        return tuple((name, np.array([*term, term[0]], dtype=np.int32)) for name, term in self.terms)

    def total(self, codes: Mapping[str, np.ndarray]) -> np.ndarray:
        """The sum's value for arrays of codes; an undefined code counts as the first."""
        (first, table), *rest = self._tables
        total = table[codes[first]]
        for name, table in rest:
            total = total + table[codes[name]]
        return total

    def grid(self, support: tuple[str, ...]) -> np.ndarray:
        """The sum for every combination of codes of these variables, which are the sum's own."""
        terms = dict(self.terms)
        return np.sum(np.meshgrid(*(np.array(terms[v]) for v in support), indexing="ij"), axis=0)

    @property
    def variables(self) -> tuple[str, ...]:
        return tuple(name for name, _ in self.terms)

    @property
    def largest(self) -> int:
        return sum(max(term) for _, term in self.terms)

    def reachable(self, allowed: dict[str, frozenset[int]]) -> frozenset[int]:
        """The totals that occur when each variable keeps to its allowed codes."""
        totals = {0}
        for name, term in self.terms:
            values = {v for code, v in enumerate(term) if name not in allowed or code in allowed[name]}
            totals = {t + v for t in totals for v in values}
        return frozenset(totals)

    @staticmethod
    def of(terms: dict[str, np.ndarray]) -> "Sum":
        """The sum in normal form; its negation and its multiples have the same."""
        scaled = {name: term - term.min() for name, term in sorted(terms.items())}
        divisor = math.gcd(*(int(v) for term in scaled.values() for v in term)) or 1
        plain = tuple((n, tuple(int(v) // divisor for v in t)) for n, t in scaled.items())
        mirrored = tuple((n, tuple(max(t) - v for v in t)) for n, t in plain)
        return Sum(min(plain, mirrored))
