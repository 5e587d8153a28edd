"""Symbols: the value of an expression in an MLP function, as a table over the variables that it depends on."""

import math
import numbers
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from kleene.errors import TracingError

LARGEST_TABLE = 1 << 22


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


@dataclass(frozen=True)
class Fault:
    """Stands in a table where computing the entry raised an exception."""

    error: Exception


class Unreached(Exception):
    """Stands for an entry that was not computed, because no path leads there."""


def key_of(value: Any) -> Any:
    """A key that separates values that are `==` but that a program may treat differently: 1 and True, 0.0 and -0.0."""
    kind = type(value)
    if kind in (int, bool, str, bytes, type(None)):
        return (kind, value)
    if kind in (tuple, list):
        return (kind, *map(key_of, value))
    if kind in (set, frozenset):
        return (kind, frozenset(map(key_of, value)))
    if kind is float or isinstance(value, (np.generic, numbers.Number)):
        return (kind, repr(value))
    return (kind, id(value))


class Symbol:
    """A value that depends on the variables in `support`; `table` has one axis for each of them.

    `additive` holds the terms that it is the sum of, up to a constant; `base`, a sum that it is a function of.
    """

    __slots__ = ("additive", "base", "errors", "faults", "operands", "operation", "support", "table")

    def __init__(self, operation: str, support: tuple[str, ...], table: np.ndarray, operands: tuple[Any, ...] = ()):
        self.operation, self.support, self.table, self.operands = operation, support, table, operands
        self.additive: dict[str, np.ndarray] | None = None
        self.base: Sum | None = None
        if len(support) == 1 and table.dtype.kind in "ib":
            self.additive = {support[0]: table.astype(np.int64)}
        self.faults: Symbol | None = None  # 0 where there is a value, else 1 + the index of the error in `errors`
        self.errors: tuple[Exception, ...] = ()

    @property
    def name(self) -> str:
        """The expression for an error message, its deeper parts left out."""
        return self._named(2)

    def _named(self, depth: int) -> str:
        if not self.operands:
            return self.operation
        if not depth:
            return "…"
        shown = (o._named(depth - 1) if isinstance(o, Symbol) else repr(o) for o in self.operands)
        return f"{self.operation}({', '.join(shown)})"


# Operations that numpy does on whole integer tables exactly as Python does on their entries.
WHOLE_TABLE = {"add", "sub", "mul", "xor", "and", "or", "eq", "ne", "lt", "le", "gt", "ge", "neg", "abs"}
COMPARISONS = {"eq", "ne", "lt", "le", "gt", "ge"}


def apply(
    name: str, function: Callable, operands: tuple[Any, ...], where: Callable[..., np.ndarray] | None = None
) -> Symbol:
    """The symbol for `function` applied entry by entry to symbols and constants.

    `where` says of a support which entries are to be computed; by default all of them.
    """
    symbols = [o for o in operands if isinstance(o, Symbol)]
    support = tuple(sorted({v for s in symbols for v in s.support}))
    sizes = {v: n for s in symbols for v, n in zip(s.support, s.table.shape)}
    shape = tuple(sizes[v] for v in support)
    if math.prod(shape) > LARGEST_TABLE:
        raise TracingError(
            f"combines {len(support)} variables ({', '.join(support)}) into one value with {math.prod(shape):,} "
            f"cases, and the largest that is tabulated is {LARGEST_TABLE:,}. Branch on one of them first, or give "
            f"the rules with MLPBuilder"
        )
    tables = [aligned(o, support) if isinstance(o, Symbol) else _boxed(o) for o in operands]
    mask = where(support).ravel().tolist() if where is not None and support else None
    result = Symbol(name, support, _tabulate(name, function, tables, shape, mask), operands)
    _note_sums(result, name, operands)
    _note_faults(result)
    return result


def aligned(symbol: Symbol, support: tuple[str, ...]) -> np.ndarray:
    """The symbol's table with an axis for every variable in `support`, of length 1 where it does not depend on it."""
    sizes = dict(zip(symbol.support, symbol.table.shape))
    return symbol.table.reshape([sizes.get(v, 1) for v in support])


def _tabulate(
    name: str, function: Callable, operands: list[np.ndarray], shape: tuple[int, ...], mask: list[bool] | None
) -> np.ndarray:
    if name in WHOLE_TABLE and all(o.dtype.kind == "i" for o in operands) and _stays_small(name, operands):
        return np.ascontiguousarray(np.broadcast_to(function(*operands), shape))
    entries = [np.broadcast_to(o, shape).ravel().tolist() for o in operands]
    rows = list(zip(*entries))
    if mask is None or all(mask):
        return packed([_entry(function, arguments) for arguments in rows], shape)
    unreached = Fault(Unreached())
    computed = [_entry(function, arguments) if wanted else unreached for arguments, wanted in zip(rows, mask)]
    return packed(computed, shape)


def _stays_small(name: str, operands: list[np.ndarray]) -> bool:
    """Whether no result can leave the integers that numpy holds exactly."""
    largest = [max(abs(int(o.max())), abs(int(o.min()))) for o in operands]
    return (math.prod(largest) if name == "mul" else sum(largest)) < 1 << 53


def _boxed(value: Any) -> np.ndarray:
    """A constant as a table without axes."""
    if type(value) is int and abs(value) < 1 << 53:
        return np.array(value, dtype=np.int64)
    return _objects([value]).reshape(())


def _entry(function: Callable, arguments: tuple[Any, ...]) -> Any:
    for argument in arguments:
        if isinstance(argument, Fault):
            return argument
    try:
        result = function(*arguments)
    except Exception as error:  # an error of the user's arithmetic is kept until a path reaches it
        return Fault(error)
    return result[()] if isinstance(result, np.ndarray) and result.ndim == 0 else result


def packed(entries: list[Any], shape: tuple[int, ...]) -> np.ndarray:
    """The entries as a table: of integers or truth values where they all are, of objects otherwise."""
    kinds = {type(e) for e in entries}
    small = all(abs(e) < 1 << 53 for e in entries) if kinds == {int} else False
    if kinds == {bool}:
        return np.array(entries, dtype=bool).reshape(shape)
    if small:
        return np.array(entries, dtype=np.int64).reshape(shape)
    return _objects(entries).reshape(shape)


def _objects(entries: list[Any]) -> np.ndarray:
    """An array of objects; lists and tuples stay single entries."""
    return np.fromiter(entries, dtype=object, count=len(entries))


def _note_sums(result: Symbol, name: str, operands: tuple[Any, ...]) -> None:
    """Record which sum the result is, or is a function of."""
    symbols = [o for o in operands if isinstance(o, Symbol)]
    terms = [o.additive if isinstance(o, Symbol) else {} for o in operands]
    known = all(t is not None for t in terms) and all(isinstance(o, (Symbol, bool, int)) for o in operands)
    if known and name in ("add", "sub") and result.table.dtype.kind == "i":
        result.additive = _added(terms, -1 if name == "sub" else 1)
    elif known and name == "neg":
        result.additive = {v: -t for v, t in (terms[0] or {}).items()}
    elif known and name == "mul" and len(symbols) == 1 and result.table.dtype.kind == "i":
        factor = next(int(o) for o in operands if not isinstance(o, Symbol))
        result.additive = {v: factor * t for v, t in (symbols[0].additive or {}).items()}
    if len(result.support) < 2:
        return
    if result.additive is not None:
        result.base = Sum.of(result.additive)
    elif known and name in COMPARISONS and len(symbols) == 2:
        result.base = Sum.of(_added(terms, -1))
    elif len({s.base for s in symbols}) == 1:
        result.base = symbols[0].base


def _note_faults(result: Symbol) -> None:
    """Record where the table holds errors, and which, so that a path can fork on them."""
    if result.table.dtype != object:
        return
    entries = result.table.ravel().tolist()
    errors = {_error_key(e.error): e.error for e in entries if isinstance(e, Fault)}
    if errors:
        order = list(errors)
        kinds = [1 + order.index(_error_key(e.error)) if isinstance(e, Fault) else 0 for e in entries]
        result.faults = Symbol(f"error in {result.operation}", result.support, packed(kinds, result.table.shape))
        result.faults.base, result.errors = result.base, tuple(errors.values())


def _error_key(error: Exception) -> Any:
    return (type(error), key_of(error.args))


def _added(terms: list[dict[str, np.ndarray] | None], sign: int) -> dict[str, np.ndarray]:
    total: dict[str, np.ndarray] = {}
    for factor, part in zip((1, sign), terms):
        for name, term in (part or {}).items():
            total[name] = total.get(name, 0) + factor * term
    return total


def identity_of(operand: Any) -> Any:
    """A key that equal operands share, so that an operation on them is computed once."""
    if isinstance(operand, Symbol):
        return ("symbol", id(operand))
    return key_of(operand)


def filled_codes(coded: Symbol) -> Symbol:
    """The table of codes, with some valid code in the entries that no path reaches."""
    valid = coded.table[coded.table >= 0]
    table = np.where(coded.table < 0, valid[0] if len(valid) else 0, coded.table)
    if coded.base is not None:  # it must stay a function of the sum
        totals = coded.base.grid(coded.support)
        by_total = np.full(totals.max() + 1, -1)
        np.maximum.at(by_total, totals.ravel(), coded.table.ravel())
        table = np.where(by_total[totals] < 0, table, by_total[totals])
    symbol = Symbol(coded.operation, coded.support, table)
    symbol.base = coded.base
    return symbol


def same_symbol(a: Symbol, b: Symbol) -> bool:
    """Whether two symbols were made by the same operation and have the same table."""
    if a is b:
        return True
    return a.support == b.support and a.operation == b.operation and bool(np.array_equal(a.table, b.table))
