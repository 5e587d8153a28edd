"""The local variables of branches that have met: what they agree in stays, the rest becomes tables."""

import enum
import math
from collections.abc import Sequence
from types import FunctionType
from typing import Any

import numpy as np

from kleene.programs.alta.assignment import Assignment
from kleene.programs.alta.possibilities import equals
from kleene.programs.alta.symbols import Symbol, aligned, packed
from kleene.programs.alta.tracing import Tracer
from kleene.programs.alta.trees import Decision
from kleene.programs.alta.values import Value, is_value, symbol_of

LARGEST_MERGED = 1 << 18
PLAIN = (bool, int, float, str, bytes, frozenset, type(None), np.integer, np.floating, np.bool_, enum.Enum)
Branch = tuple[list[Decision], dict[str, Any]]  # the decisions that led there, and the local variables


def merged_locals(tracer: Tracer, branches: Sequence[Branch]) -> dict[str, Any] | None:
    """The local variables that differ, each as one value for all branches; None where one cannot be."""
    names = set().union(*(local for _, local in branches))
    merged = {}
    for name in names:
        if any(name not in local for _, local in branches):
            return None  # bound in some of the branches only
        values = [local[name] for _, local in branches]
        if all(_same(values[-1], value) for value in values):
            continue
        one = _one(tracer, name, [(conditions, local[name]) for conditions, local in branches])
        if one is None:
            return None
        merged[name] = one[0]
    return merged


def _same(a: Any, b: Any) -> bool:
    """Whether two runs hold the same here, as far as what follows can tell."""
    if a is b:
        return True
    if type(a) is not type(b):
        return False
    if is_value(a):
        return symbol_of(a) is symbol_of(b)
    if type(a) in (list, tuple):
        return len(a) == len(b) and all(map(_same, a, b))
    if type(a) is dict:
        return list(a) == list(b) and all(_same(a[k], b[k]) for k in a)
    if isinstance(a, FunctionType):
        return a.__code__ is b.__code__ and _same(a.__defaults__, b.__defaults__)
    return isinstance(a, Assignment) or (isinstance(a, PLAIN) and bool(a == b))


def _one(tracer: Tracer, name: str, branches: list[tuple[list[Decision], Any]]) -> tuple[Any] | None:
    """A value that is, under the decisions of each branch, what the branch has; None where it cannot be tabulated."""
    values = [value for _, value in branches]
    if all(type(v) is tuple and len(v) == len(values[0]) for v in values):
        items = [_item(tracer, name, branches, i) for i in range(len(values[0]))]
        return None if any(i is None for i in items) else (tuple(i[0] for i in items if i is not None),)
    if not all(is_value(v) or isinstance(v, PLAIN) for v in values):
        return None
    symbols = [d.symbol for conditions, _ in branches for d in conditions]
    symbols += [symbol_of(v) for v in values if is_value(v)]
    support = tuple(sorted({v for s in symbols for v in s.support}))
    shape = tuple(len(tracer.domains[v].domain) for v in support)
    if math.prod(shape) > LARGEST_MERGED:
        return None
    symbol = Symbol(name, support, _table(branches, support, shape))
    bases = {s.base for s in symbols}
    if len(support) > 1 and len(bases) == 1:
        symbol.base = bases.pop()
    return (Value(tracer, symbol),)


def _item(tracer: Tracer, name: str, branches: list[tuple[list[Decision], Any]], index: int) -> tuple[Any] | None:
    items = [(conditions, value[index]) for conditions, value in branches]
    if all(_same(items[-1][1], item) for _, item in items):
        return (items[-1][1],)
    return _one(tracer, name, items)


def _table(branches: list[tuple[list[Decision], Any]], support: tuple[str, ...], shape: tuple[int, ...]) -> np.ndarray:
    """What each branch has, where its decisions lead; anything where none of them leads."""
    table = np.empty(shape, dtype=object)
    for index, (conditions, value) in enumerate(branches):
        here = np.ones(shape, dtype=bool)
        for decision in conditions if index else []:  # the first branch also stands where none leads
            here &= equals(aligned(decision.symbol, support), decision.outcome)
        if is_value(value):
            table[here] = np.broadcast_to(aligned(symbol_of(value), support), shape)[here]
        else:
            table[here] = value
    return packed(table.ravel().tolist(), shape)
