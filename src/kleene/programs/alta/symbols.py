"""Symbolic values: what an MLP function holds while it is traced.

A `Symbol` is a table over the variables that it depends on. Arithmetic and comparison make new tables;
asking for a truth value, an index or a hash is a decision, which the tracer takes.
"""

import math
import operator
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol, runtime_checkable

import numpy as np

from kleene.errors import TracingError

LARGEST_TABLE = 1 << 22


@dataclass(frozen=True)
class Sum:
    """An integer that is a sum of one term for each of its variables, smallest value 0.

    Threshold units test such sums directly, so that `a == b` costs two hidden units and not one a value.
    """

    terms: tuple[tuple[str, tuple[int, ...]], ...]

    def __hash__(self) -> int:
        return self._hash

    @cached_property
    def _hash(self) -> int:
        return hash(self.terms)

    @cached_property
    def _tables(self) -> tuple[tuple[str, np.ndarray], ...]:
        """The terms as arrays with one entry more, so that -1, an undefined code, finds something."""
        return tuple((name, np.array([*term, term[0]], dtype=np.int32)) for name, term in self.terms)

    def total(self, codes: Mapping[str, np.ndarray]) -> np.ndarray:
        """The sum's value for arrays of codes; an undefined code counts as the first."""
        (first, table), *rest = self._tables
        total = table[codes[first]]
        for name, table in rest:
            total = total + table[codes[name]]
        return total

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
        """The normal form, which a sum shares with its negation and its multiples."""
        scaled = {name: term - term.min() for name, term in sorted(terms.items())}
        divisor = math.gcd(*(int(v) for term in scaled.values() for v in term)) or 1
        plain = tuple((n, tuple(int(v) // divisor for v in t)) for n, t in scaled.items())
        mirrored = tuple((n, tuple(max(t) - v for v in t)) for n, t in plain)
        return Sum(min(plain, mirrored))


@dataclass(frozen=True)
class Fault:
    """Stands in a table where computing the entry raised an exception."""

    error: Exception


@runtime_checkable
class Decider(Protocol):
    """Who takes the decisions that a symbol cannot: the tracer."""

    def decide(self, symbol: "Symbol") -> Any: ...

    def combine(self, name: str, function: Callable, operands: tuple[Any, ...]) -> "Symbol": ...


class Symbol:
    """A value that depends on the variables in `support`; `table` has one axis for each of them."""

    __slots__ = ("additive", "base", "decider", "name", "support", "table")
    __array_ufunc__ = None  # numpy scalars on the left leave the operation to us

    def __init__(self, decider: Decider, name: str, support: tuple[str, ...], table: np.ndarray):
        self.decider, self.name, self.support, self.table = decider, name, support, table
        # `additive`: the terms this value is the sum of, up to a constant; `base`: a sum it is a function of.
        self.additive: dict[str, np.ndarray] | None = None
        self.base: Sum | None = None
        if len(support) == 1 and table.dtype.kind in "ib":
            self.additive = {support[0]: table.astype(np.int64)}

    def __bool__(self) -> bool:
        if self.table.dtype.kind == "b":
            return self.decider.decide(self)
        return self.decider.decide(_unary("bool", bool, self))

    def _concrete(self) -> Any:
        return self.decider.decide(self)

    def __index__(self) -> int:
        return operator.index(self._concrete())

    def __int__(self) -> int:
        return int(self._concrete())

    def __float__(self) -> float:
        return float(self._concrete())

    def __hash__(self) -> int:
        return hash(self._concrete())

    def __len__(self) -> int:
        return len(self._concrete())

    def __contains__(self, item: Any) -> bool:
        return bool(self.decider.combine("contains", operator.contains, (self, item)))

    def __iter__(self):
        raise TracingError(f"loops over {self.name}, whose value is not known while rules are derived")

    def __str__(self) -> str:
        raise TracingError(f"turns {self.name} into text, but its value is not known while rules are derived")

    def __format__(self, spec: str) -> str:
        return str(self)

    def __repr__(self) -> str:
        return f"<{self.name}>"

    def __round__(self, digits: int | None = None) -> "Symbol":
        return _unary(f"round{digits}", lambda x: round(x, digits) if digits is not None else round(x), self)


def _unary(name: str, function: Callable, value: Symbol) -> Symbol:
    return value.decider.combine(name, function, (value,))


def _install_operators() -> None:
    """Give `Symbol` the arithmetic and comparison methods, all alike."""
    binary = {
        "add": operator.add, "sub": operator.sub, "mul": operator.mul, "floordiv": operator.floordiv,
        "truediv": operator.truediv, "mod": operator.mod, "pow": pow, "xor": operator.xor,
        "and": operator.and_, "or": operator.or_, "lshift": operator.lshift, "rshift": operator.rshift,
        "divmod": divmod,
    }  # fmt: skip
    compare = {n: getattr(operator, n) for n in ("eq", "ne", "lt", "le", "gt", "ge")}
    unary = {
        "neg": operator.neg, "pos": operator.pos, "abs": abs, "invert": operator.invert,
        "floor": math.floor, "ceil": math.ceil, "trunc": math.trunc,
    }  # fmt: skip
    for name, function in (binary | compare).items():
        setattr(Symbol, f"__{name}__", _forward(name, function))
    for name, function in binary.items():
        setattr(Symbol, f"__r{name}__", _backward(name, function))
    for name, function in unary.items():
        setattr(Symbol, f"__{name}__", _forward(name, function))


def _forward(name: str, function: Callable) -> Callable:
    def method(self: Symbol, *others: Any) -> Symbol:
        return self.decider.combine(name, function, (self, *others))

    return method


def _backward(name: str, function: Callable) -> Callable:
    def method(self: Symbol, other: Any) -> Symbol:
        return self.decider.combine(name, function, (other, self))

    return method


_install_operators()

# Operations that numpy does on whole integer tables exactly as Python does on their entries.
WHOLE_TABLE = {"add", "sub", "mul", "xor", "and", "or", "eq", "ne", "lt", "le", "gt", "ge", "neg", "abs"}
COMPARISONS = {"eq", "ne", "lt", "le", "gt", "ge"}


def apply(decider: Decider, name: str, function: Callable, operands: tuple[Any, ...]) -> Symbol:
    """The symbol for `function` applied entry by entry to symbols and constants."""
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
    label = f"{name}({', '.join(o.name if isinstance(o, Symbol) else repr(o) for o in operands)})"
    result = Symbol(decider, label, support, _tabulate(name, function, tables, shape))
    _note_sums(result, name, operands)
    return result


def aligned(symbol: Symbol, support: tuple[str, ...]) -> np.ndarray:
    """The symbol's table with an axis for every variable in `support`, of length 1 where it does not depend on it."""
    sizes = dict(zip(symbol.support, symbol.table.shape))
    return symbol.table.reshape([sizes.get(v, 1) for v in support])


def _tabulate(name: str, function: Callable, operands: list[np.ndarray], shape: tuple[int, ...]) -> np.ndarray:
    if name in WHOLE_TABLE and all(o.dtype.kind == "i" for o in operands) and _stays_small(name, operands):
        return np.ascontiguousarray(np.broadcast_to(function(*operands), shape))
    entries = [np.broadcast_to(o, shape).ravel().tolist() for o in operands]
    return _packed([_entry(function, arguments) for arguments in zip(*entries)], shape)


def _stays_small(name: str, operands: list[np.ndarray]) -> bool:
    """Whether no result can leave the integers that numpy holds exactly."""
    largest = [max(abs(int(o.max())), abs(int(o.min()))) for o in operands]
    return (math.prod(largest) if name == "mul" else sum(largest)) < 1 << 53


def _boxed(value: Any) -> np.ndarray:
    """A constant as a table without axes."""
    if type(value) is int and abs(value) < 1 << 53:
        return np.array(value, dtype=np.int64)
    box = np.empty((), dtype=object)
    box[()] = value
    return box


def _entry(function: Callable, arguments: tuple[Any, ...]) -> Any:
    for argument in arguments:
        if isinstance(argument, Fault):
            return argument
    try:
        return function(*arguments)
    except Exception as error:  # whatever the user's arithmetic raises is kept until a path reaches it
        return Fault(error)


def _packed(entries: list[Any], shape: tuple[int, ...]) -> np.ndarray:
    kinds = {type(e) for e in entries}
    small = all(abs(e) < 1 << 53 for e in entries) if kinds == {int} else False
    if kinds == {bool}:
        return np.array(entries, dtype=bool).reshape(shape)
    if small:
        return np.array(entries, dtype=np.int64).reshape(shape)
    table = np.empty(len(entries), dtype=object)
    table[:] = entries
    return table.reshape(shape)


def _note_sums(result: Symbol, name: str, operands: tuple[Any, ...]) -> None:
    """Remember which sum the result is, or is a function of."""
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


def _added(terms: list[dict[str, np.ndarray] | None], sign: int) -> dict[str, np.ndarray]:
    total: dict[str, np.ndarray] = {}
    for factor, part in zip((1, sign), terms):
        for name, term in (part or {}).items():
            total[name] = total.get(name, 0) + factor * term
    return total
