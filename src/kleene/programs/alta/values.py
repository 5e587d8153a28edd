"""What an MLP function works with while it is traced: the dict-like `z`, the values read from it, and `apply`.

A `Value` wraps a symbol. Arithmetic, comparison, attributes and methods make new values. Where Python needs a concrete
answer (a truth value, an index, a hash, a string, a class), the tracer takes a decision.
"""

import math
import operator
from collections.abc import Callable, Iterator, Mapping, MutableMapping, Sequence
from typing import Any, Protocol, runtime_checkable

import numpy as np

from kleene.programs.alta.symbols import Symbol


@runtime_checkable
class Decider(Protocol):
    """Takes the decisions that a value cannot take itself: the tracer."""

    def decide(self, symbol: Symbol) -> Any: ...

    def combine(self, name: str, function: Callable, operands: tuple[Any, ...], *, own: bool = False) -> "Value": ...

    def class_of(self, symbol: Symbol) -> type: ...

    def length_of(self, symbol: Symbol) -> int | None: ...


class Value:
    """A number, set or other object that depends on variables whose values are unknown while rules are derived."""

    __slots__ = ("_decider", "_symbol")

    def __init__(self, decider: Decider, symbol: Symbol):
        self._decider, self._symbol = decider, symbol

    @property
    def __class__(self) -> type:  # type: ignore[override]  # `isinstance` and `match` ask for it
        return self._decider.class_of(self._symbol)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):  # numpy and copy look for protocols this way
            raise AttributeError(f"a value that is traced has no {name}")
        return self._decider.combine(f"attribute {name}", lambda value: getattr(value, name), (self,), own=True)

    def __call__(self, *arguments: Any, **named: Any) -> Any:
        names = tuple(named)

        def call(function: Callable, *given: Any) -> Any:
            plain, rest = given[: len(arguments)], given[len(arguments) :]
            return function(*plain, **dict(zip(names, rest)))

        return self._decider.combine(f"call {names}", call, (self, *arguments, *named.values()), own=True)

    def __bool__(self) -> bool:
        if self._symbol.table.dtype.kind == "b":
            return self._decider.decide(self._symbol)
        return self._decided("bool", bool)

    def __index__(self) -> int:
        return operator.index(self._decider.decide(self._symbol))

    def __int__(self) -> int:
        return self._decided("int", int)

    def __float__(self) -> float:
        return self._decided("float", float)

    def __complex__(self) -> complex:
        return self._decided("complex", complex)

    def __len__(self) -> int:
        return self._decided("len", len)

    def __hash__(self) -> int:
        return hash(self._decider.decide(self._symbol))

    def __str__(self) -> str:
        return str(self._decider.decide(self._symbol))

    def __repr__(self) -> str:
        return repr(self._decider.decide(self._symbol))

    def __format__(self, spec: str) -> str:
        return format(self._decider.decide(self._symbol), spec)

    def __contains__(self, item: Any) -> bool:
        return bool(self._decider.combine("contains", operator.contains, (self, item)))

    def __iter__(self):
        length = self._decider.length_of(self._symbol)
        if length is None:
            return iter(self._decider.decide(self._symbol))
        # A pair, as `divmod` gives, is taken apart without a decision.
        return iter([self._decider.combine("getitem", operator.getitem, (self, i)) for i in range(length)])

    def __round__(self, digits: int | None = None) -> "Value":
        return self._decider.combine("round", lambda x, d: round(x) if d is None else round(x, d), (self, digits))

    def __copy__(self) -> "Value":
        return self

    def __deepcopy__(self, memo: Any) -> "Value":
        return self

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *operands: Any, **options: Any) -> Any:
        if method != "__call__" or options:
            return NotImplemented
        return self._decider.combine(f"np.{ufunc.__name__}", ufunc, operands, own=True)

    def __array_function__(self, function: Callable, types: Any, operands: tuple[Any, ...], named: dict) -> Any:
        call = lambda *given: function(*given[: len(operands)], **dict(zip(named, given[len(operands) :])))  # noqa: E731
        name = f"np.{function.__name__} {tuple(named)}"
        return self._decider.combine(name, call, (*operands, *named.values()), own=True)

    def _decided(self, name: str, function: Callable) -> Any:
        return self._decider.decide(self._decider.combine(name, function, (self,))._symbol)


def symbol_of(value: Value) -> Symbol:
    """The symbol behind a value."""
    return value._symbol


def combined(name: str, function: Callable, operands: tuple[Any, ...]) -> Any:
    """The function applied to the operands: a traced value where one of them is, else a plain result."""
    decider = next((o._decider for o in operands if is_value(o)), None)
    return function(*operands) if decider is None else decider.combine(name, function, operands, own=True)


def is_value(thing: Any) -> bool:
    """Whether this is a traced value; `isinstance` would ask the value for its class."""
    return type(thing) is Value


def _install_operators() -> None:
    """Give `Value` the arithmetic and comparison methods, all alike."""
    binary = {
        "add": operator.add, "sub": operator.sub, "mul": operator.mul, "floordiv": operator.floordiv,
        "truediv": operator.truediv, "mod": operator.mod, "pow": pow, "xor": operator.xor,
        "and": operator.and_, "or": operator.or_, "lshift": operator.lshift, "rshift": operator.rshift,
        "divmod": divmod, "matmul": operator.matmul,
    }  # fmt: skip
    other = {n: getattr(operator, n) for n in ("eq", "ne", "lt", "le", "gt", "ge", "getitem")} | {
        "neg": operator.neg, "pos": operator.pos, "abs": abs, "invert": operator.invert,
        "floor": math.floor, "ceil": math.ceil, "trunc": math.trunc,
    }  # fmt: skip
    for name, function in (binary | other).items():
        setattr(Value, f"__{name}__", _forward(name, function))
    for name, function in binary.items():
        setattr(Value, f"__r{name}__", _backward(name, function))


def _forward(name: str, function: Callable) -> Callable:
    def method(self: Value, *others: Any) -> Value:
        return self._decider.combine(name, function, (self, *others))

    return method


def _backward(name: str, function: Callable) -> Callable:
    def method(self: Value, other: Any) -> Value:
        return self._decider.combine(name, function, (other, self))

    return method


_install_operators()
Value.__name__ = Value.__qualname__ = "traced value"  # what Python's own messages call it


@runtime_checkable
class Scribe(Protocol):
    """Answers reads and takes writes: the tracer."""

    domains: dict[str, Any]

    def read(self, name: str) -> Any: ...

    def write(self, name: str, value: Any) -> None: ...

    def refuse(self, what: str) -> None: ...


class TracedAssignment(MutableMapping):
    """The traced `z`: reads give the value from before the MLP, writes are kept apart, attributes are refused."""

    __slots__ = ("_scribe",)

    def __init__(self, scribe: Scribe):
        object.__setattr__(self, "_scribe", scribe)

    def __getitem__(self, name: str) -> Any:
        return self._scribe.read(name)

    def __setitem__(self, name: str, value: Any) -> None:
        self._scribe.write(name, value)

    def __delitem__(self, name: str) -> None:
        self._scribe.refuse(f"deletes {name!r} from z; a variable always has a value, so write another one")

    def __iter__(self) -> Iterator[str]:
        return iter(self._scribe.domains)

    def __len__(self) -> int:
        return len(self._scribe.domains)

    def __contains__(self, name: object) -> bool:
        return name in self._scribe.domains

    def get(self, name: str, default: Any = None) -> Any:
        # Not by KeyError, as in a mapping, because an unknown name is refused where it is read.
        if name in self:
            return self[name]
        return default

    def __getattr__(self, name: str) -> Any:
        if not name.startswith("__"):
            self._scribe.refuse(f'asks for z.{name}; a variable is read as z["{name}"]')
        raise AttributeError(name)

    def __setattr__(self, name: str, value: Any) -> None:
        self._scribe.refuse(f'sets z.{name}, which has no effect; a variable is written as z["{name}"] = …')


TracedAssignment.__name__ = TracedAssignment.__qualname__ = "z"  # what Python's own messages call it


def apply(function: Callable[..., Any] | Mapping[Any, Any] | Sequence[Any], *arguments: Any) -> Any:
    """The result of the function (or a dict or list) for the values of variables, without a branch for each of them.

    In an MLP function `table[z["a"]]` runs the rest of the function once for every value of `a`. `apply` makes a table
    of the function over the variables that its arguments depend on instead. The function must not use `z` itself.

    >>> from kleene.programs import alta
    >>> def step(z): z["out"] = alta.apply(lambda a, b: (a * b) % 7, z["a"], z["b"])
    >>> variables = {"a": alta.input_var(5), "b": alta.var(5, default=3), "out": alta.var(7)}
    >>> alta.program_spec(variables, {}, step, "out", 5).run([0, 1, 2, 3, 4]).output
    [0, 3, 6, 2, 5]
    """
    look_up = function if callable(function) else _lookup(function)
    undefined = [a for a in arguments if hasattr(type(a), "passed_on")]  # a head that read nothing, in the reference
    return undefined[0].passed_on() if undefined else combined("apply", look_up, arguments)


def _lookup(table: Any) -> Callable[..., Any]:
    return lambda *keys: table[keys[0] if len(keys) == 1 else keys]
