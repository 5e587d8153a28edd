"""What a transformer program declares: its variables, and the attention heads that read them.

A program holds its variables, categorical, numeric and set-valued, at each position. Inside Kleene a variable's value
is a *code*, an index into the variable's `domain`; a user's function sees the values themselves. A head reads one
variable at the positions that it selects, by equality of key and query or by distance.
"""

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from decimal import Decimal
from enum import Enum
from fractions import Fraction
from functools import cached_property
from typing import Any, TypeVar

import numpy as np

from kleene.errors import ProgramError
from kleene.traces import Channel
from kleene.traces.channels import BLUR as BLUR
from kleene.traces.channels import blurred, nearest

InitFn = Callable[[int], Any]
NUMBERS = (
    int,
    float,
    Fraction,
    Decimal,
    np.integer,
    np.floating,
    np.bool_,
)  # real ones, which a number may be written as


@dataclass(frozen=True)
class Variable:
    """A named slot of the residual stream: which values it may take, and which one it starts with."""

    default: Any = None
    input_init_fn: InitFn | None = None
    position_init_fn: InitFn | None = None

    @property
    def domain(self) -> tuple[Any, ...]:
        """The values in the order of their codes."""
        raise NotImplementedError

    def code(self, value: Any) -> int | None:
        """The code of a value, or None where the variable cannot take it."""
        raise NotImplementedError

    def channel(self, name: str, *, per_step: bool = False) -> Channel:
        raise NotImplementedError

    @property
    def expected(self) -> str:
        """What the variable takes, for an error message."""
        raise NotImplementedError


@dataclass(frozen=True)
class Categorical(Variable):
    """An integer in `0..range-1`, one-hot in the residual stream."""

    default: int = 0
    range: int = 2

    @cached_property
    def domain(self) -> tuple[int, ...]:
        return tuple(range(self.range))

    def code(self, value: Any) -> int | None:
        if type(value) is not int:
            value = unwrapped(value)
        if isinstance(value, (bool, int, np.integer, np.bool_)) and 0 <= int(value) < self.range:
            return int(value)
        return None

    def channel(self, name: str, *, per_step: bool = False) -> Channel:
        return Channel(name, "category", self.range, per_step=per_step)

    @property
    def expected(self) -> str:
        return f"an integer in 0..{self.range - 1}"


@dataclass(frozen=True)
class Numeric(Variable):
    """A number in one dimension of the residual stream; the MLP sees the nearest of the declared values.

    Only `compat` has numbers without declared values, and sets, which can be interpreted and not compiled.
    """

    default: float = 0.0
    values: tuple[float, ...] = ()

    @cached_property
    def domain(self) -> tuple[float, ...]:
        return self.values

    def bucket(self, x: Any) -> np.ndarray:
        """The index of the declared value nearest to each number.

        >>> numeric_var(values=(0, 0.25, 0.5, 0.75, 1)).bucket(0.6).item()
        2
        """
        return nearest(self.values, x)

    def blurred(self, x: Any) -> np.ndarray:
        """Whether each number is too near the middle between two declared values to belong to either."""
        return blurred(self.values or (0.0,), x)

    def code(self, value: Any) -> int | None:
        value = unwrapped(value)
        if not isinstance(value, NUMBERS):
            return None
        try:
            number = float(value)
        except (OverflowError, ValueError):  # of a huge integer, and of a signalling NaN
            return None
        if math.isfinite(number):
            index = int(self.bucket(number))
            if math.isclose(self.values[index], number, rel_tol=1e-9, abs_tol=1e-12):
                return index
        return None

    def channel(self, name: str, *, per_step: bool = False) -> Channel:
        return Channel(name, "number", values=self.values, per_step=per_step)

    @property
    def expected(self) -> str:
        if not self.values:
            return "a finite number"
        return f"one of the {len(self.values)} declared numbers from {self.values[0]:g} to {self.values[-1]:g}"


@dataclass(frozen=True)
class SetValued(Variable):
    """A set of integers in `0..range-1`, multi-hot in the residual stream; a query may be one."""

    default: frozenset[int] = frozenset()
    range: int = 2
    values: tuple[frozenset[int], ...] = ()

    @cached_property
    def domain(self) -> tuple[frozenset[int], ...]:
        return self.values

    def code(self, value: Any) -> int | None:
        try:
            return self.values.index(frozenset(value))
        except (TypeError, ValueError):
            return None

    def channel(self, name: str, *, per_step: bool = False) -> Channel:
        return Channel(name, "set", self.range, per_step=per_step)

    @property
    def expected(self) -> str:
        return f"one of its {len(self.values)} declared sets" if self.values else f"a set of 0..{self.range - 1}"


def var(
    range: int | None = None,
    default: int = 0,
    input_init_fn: InitFn | None = None,
    position_init_fn: InitFn | None = None,
    *,
    var_range: int | None = None,
) -> Categorical:
    """A categorical variable with values `0..range-1`, started by input token, by position, or by default.

    The range may be called `var_range`, as in ALTA's code; the listings in the ALTA paper say `range`.

    >>> var(2, position_init_fn=lambda i: i == 0).domain
    (0, 1)
    """
    size = either("var", "range", range, "var_range", var_range)
    if not isinstance(size, (int, np.integer)) or size < 1:
        raise ProgramError(f"a categorical variable needs a range of at least 1, and got {size!r}")
    return Categorical(default, input_init_fn, position_init_fn, int(size))


def input_var(
    range: int | None = None, init_fn: InitFn | None = None, *, default: int = 0, var_range: int | None = None
) -> Categorical:
    """A categorical variable that starts as the input token, or as a function of it."""
    return var(range, default, input_init_fn=init_fn or unchanged, var_range=var_range)


def position_var(
    range: int | None = None, init_fn: InitFn | None = None, *, default: int = 0, var_range: int | None = None
) -> Categorical:
    """A categorical variable that starts as the position, or as a function of it."""
    return var(range, default, position_init_fn=init_fn or unchanged, var_range=var_range)


def numeric_var(
    values: Iterable[float],
    default: float | None = None,
    input_init_fn: InitFn | None = None,
    position_init_fn: InitFn | None = None,
) -> Numeric:
    """A numeric variable; the MLP rounds it to the nearest of `values`."""
    ordered = tuple(sorted({float(v) for v in values}))
    if not ordered or not all(math.isfinite(v) for v in ordered):
        raise ProgramError(f"a numeric variable needs at least one finite value, and got {ordered!r}")
    return Numeric(ordered[0] if default is None else float(default), input_init_fn, position_init_fn, ordered)


def set_var(
    range: int,
    values: Iterable[Iterable[int]],
    default: Iterable[int] | None = None,
    input_init_fn: InitFn | None = None,
    position_init_fn: InitFn | None = None,
) -> SetValued:
    """A set variable: its value is always one of the sets in `values`, whose members are `0..range-1`."""
    sets = tuple(dict.fromkeys(frozenset(int(i) for i in s) for s in values))
    if not sets:
        raise ProgramError("a set variable needs at least one set in `values`")
    for s in sets:
        if any(not 0 <= i < range for i in s):
            raise ProgramError(f"the set {sorted(s)} has members outside 0..{range - 1}; raise `range` or fix it")
    first = sets[0] if default is None else frozenset(default)
    return SetValued(first, input_init_fn, position_init_fn, int(range), sets)


def unwrapped(value: Any) -> Any:
    """The value of a member of an enumeration, or the number in an array without axes, as `np.where` returns."""
    if isinstance(value, Enum):
        return value.value
    return value[()] if isinstance(value, np.ndarray) and value.ndim == 0 else value


def unchanged(x: int) -> int:
    """The token or position itself, as a variable starts where no other function is given."""
    return x


T = TypeVar("T")


def either(what: str, name: str, value: T | None, other: str, alternative: T | None) -> T:
    """The value of a parameter that has two names, of which exactly one was given."""
    chosen = alternative if value is None else value
    if chosen is None or (value is not None and alternative is not None):
        raise ProgramError(f"{what} needs {name} or {other}, which mean the same: give one of the two.")
    return chosen


@dataclass(frozen=True)
class Head:
    """A head reads `value` from the one position whose key equals the query (or is in the query's set).

    `offsets` are the allowed distances, key position minus query position; empty allows all. Without query
    and key the offsets alone decide. A numeric value is averaged over all selected positions instead.
    """

    query: str | None
    key: str | None
    value: str
    offsets: frozenset[int] = field(default_factory=frozenset)
    output_spec: Variable | None = None

    def looking_back(self, width: int) -> "Head":
        """The same head in a decoder over `width` positions: nothing to the right is seen."""
        seen = {o for o in self.offsets if o <= 0} if self.offsets else set(range(1 - width, 1))
        return replace(self, offsets=frozenset(seen or {width}))  # a distance that is never reached, not "anywhere"


def qkv(
    query: str,
    key: str,
    value: str,
    relative_position_mask: Iterable[int] = frozenset(),
    output_spec: Variable | None = None,
) -> Head:
    """A head that selects by key and query.

    >>> qkv("one", "pointer", "token").offsets
    frozenset()
    """
    return Head(query, key, value, frozenset(int(i) for i in relative_position_mask), output_spec)


def v_relative(
    value: str, offset: int | None = None, output_spec: Variable | None = None, *, position: int | None = None
) -> Head:
    """A head that reads the position `offset` to the right (to the left where negative); ALTA says `position`."""
    distance = either("v_relative", "offset", offset, "position", position)
    return Head(None, None, value, frozenset({int(distance)}), output_spec)


relative_v = v_relative  # the name in the ALTA paper


def resolve_heads(
    program: str, variables: Mapping[str, Variable], heads: Mapping[str, Head], *, in_order: bool = False
) -> dict[str, Variable]:
    """The output variable of every head; refuses heads whose query, key or value is missing or does not fit.

    Where heads run `in_order`, they may use what earlier ones have read.
    """
    outputs: dict[str, Variable] = {}
    for name, head in heads.items():
        where = f"program {program!r}, head {name!r}"
        known = {**variables, **outputs} if in_order else variables
        if name in variables:
            raise ProgramError(f"{where}: a variable has this name already; rename one of the two.")
        for role, of in (("query", head.query), ("key", head.key), ("value", head.value)):
            if of in heads and of not in known:
                late = "a head that comes later, and heads run in order. Put that head first."
                empty = (
                    "a head, which is always undefined when attention runs. Copy it into a variable in the MLP and use "
                    "that in the next layer."
                )
                raise ProgramError(f"{where}: the {role} is {of!r}, the output of {late if in_order else empty}")
            if of is not None and of not in known:
                raise ProgramError(f"{where}: the {role} {of!r} is not a variable; there are {', '.join(known)}.")
        if (head.query is None) != (head.key is None):
            raise ProgramError(f"{where}: give both a query and a key, or neither.")
        if head.query is not None and isinstance(known[head.query], Numeric):
            raise ProgramError(f"{where}: the query {head.query!r} is numeric; it must be categorical or a set.")
        if head.key is not None and not isinstance(known[head.key], Categorical):
            raise ProgramError(f"{where}: the key {head.key!r} must be categorical.")
        outputs[name] = _output_of(where, head, known[head.value])
    return outputs


def _output_of(where: str, head: Head, value: Variable) -> Variable:
    output = head.output_spec or value
    if isinstance(value, SetValued):
        raise ProgramError(f"{where}: the value {head.value!r} is a set; a head reads a category or a number.")
    if isinstance(value, Numeric) != isinstance(output, Numeric) or isinstance(output, SetValued):
        raise ProgramError(f"{where}: the value and the output must both be categorical or both numeric.")
    if isinstance(value, Categorical) and isinstance(output, Categorical) and output.range < value.range:
        raise ProgramError(f"{where}: the output has range {output.range}, but the value reaches {value.range - 1}.")
    return output
