"""What an ALTA program declares, under ALTA's names: they are Kleene's variables and heads, and less is asked of them.

Numbers and sets need no declared `values` where a program is only interpreted.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from kleene.errors import ProgramError
from kleene.programs.alta.definition import Halt
from kleene.programs.alta.variables import Categorical, Head, InitFn, Numeric, SetValued, Variable

CategoricalVarSpec, NumericalVarSpec, SetVarSpec, VarSpec = Categorical, Numeric, SetValued, Variable
AttentionHead, HaltSpec = Head, Halt
VarValue = int | float | frozenset[int] | None  # None is undefined
Activations = dict[str, Any]  # one position: the value of every variable
VariablesMap = dict[str, Variable]

RELATIVE_QK = "relative_qk"  # ALTA's query and key of heads that select by distance alone: always 0


def numeric_var(
    default: float = 0.0,
    values: Iterable[float] | None = None,
    input_init_fn: InitFn | None = None,
    position_init_fn: InitFn | None = None,
) -> Numeric:
    """A numeric variable. Rules see the nearest of its `values`."""
    ordered = sorted({float(v) for v in (() if values is None else values)})
    return Numeric(default, input_init_fn, position_init_fn, tuple(ordered))


numerical_var = numeric_var  # the name in the ALTA paper


def set_var(
    default: Iterable[int] = frozenset(),
    range: int = 32,
    values: Iterable[Iterable[int]] | None = None,
    input_init_fn: InitFn | None = None,
    position_init_fn: InitFn | None = None,
) -> SetValued:
    """A set of integers in `0..range-1`, as the query of a head. `values` are the sets that it may take."""
    sets = sorted({frozenset(s) for s in (() if values is None else values)}, key=lambda s: (len(s), sorted(s)))
    return SetValued(frozenset(default), input_init_fn, position_init_fn, range, tuple(sets))


def held(variable: Variable, value: Any) -> Any:
    """The value as the variable holds it, or None where it cannot. Numbers are not rounded to declared ones."""
    if isinstance(variable, Numeric):
        number = isinstance(value, (int, float, np.number, np.bool_)) and np.isfinite(value)
        return float(value) if number else None
    if isinstance(variable, SetValued) and not variable.values:
        members = isinstance(value, (set, frozenset)) and all(0 <= m < variable.range for m in value)
        return frozenset(value) if members else None
    code = variable.code(value)
    return None if code is None else variable.domain[code]


def code_of(variable: Variable, value: Any) -> int | None:
    """The index by which rules name a value, a number by the nearest declared one; None where it is undefined."""
    if isinstance(variable, Numeric) and value is not None:
        return int(variable.bucket(value))
    return variable.code(value)


def declared(name: str, variable: Variable) -> Variable:
    """The variable; refuses one whose possible values are not known."""
    if not variable.domain:
        kind = "numeric" if isinstance(variable, Numeric) else "set"
        raise ProgramError(f"rules need to know the `values` of the {kind} variable {name!r}; declare them")
    return variable


@dataclass(frozen=True)
class AttentionHeadSpec:
    """A head, and the variable that it writes."""

    query: str
    key: str
    value: str
    output: str
    relative_position_mask: frozenset[int] = frozenset()


class CategoricalAttentionHeadSpec(AttentionHeadSpec):
    """It reads a category from the only position whose key is (in) the query; else it is undefined."""


class NumericalAttentionHeadSpec(AttentionHeadSpec):
    """It reads the mean of the numbers at all positions whose key is (in) the query."""


def head_spec(name: str, head: Head, output: Variable) -> AttentionHeadSpec:
    """A head as ALTA describes it."""
    made = NumericalAttentionHeadSpec if isinstance(output, Numeric) else CategoricalAttentionHeadSpec
    return made(head.query or RELATIVE_QK, head.key or RELATIVE_QK, head.value, name, head.offsets)


def resolved(
    variables: Mapping[str, Variable], heads: Mapping[str, Head]
) -> tuple[dict[str, Variable], dict[str, Head]]:
    """Every variable, with the heads' outputs and `relative_qk`, and the heads; refuses what does not fit together.

    A head may use what an earlier one reads.
    """
    if RELATIVE_QK in variables:
        raise ProgramError(f"the name {RELATIVE_QK!r} is kept for heads that look at a distance; rename the variable")
    _check(variables, Variable, "variable", "var, numeric_var or set_var")
    _check(heads, Head, "head", "qkv or v_relative")
    known, made = dict(variables), {}
    for name, head in heads.items():
        if name in variables:
            raise ProgramError(f"head {name!r}: a variable has this name already; rename one of the two")
        if RELATIVE_QK in (head.query, head.key):
            head = replace(head, query=None, key=None)
        if head.query is None:
            known.setdefault(RELATIVE_QK, Categorical(range=1))
        for role, of in (("query", head.query), ("key", head.key), ("value", head.value)):
            if of is not None and of not in known:
                late = " of a head that comes later, and heads run in order" if of in heads else ""
                there = ", ".join(known)
                raise ProgramError(f"head {name!r}: the {role} {of!r} is no variable{late}; there are {there}")
        _check_kinds(name, head, known)
        known[name] = head.output_spec or known[head.value]
        made[name] = replace(head, output_spec=known[name])
    return known, made


def _check(given: Mapping[str, Any], kind: type, noun: str, makers: str) -> None:
    for name, value in given.items():
        if not isinstance(value, kind):
            raise ProgramError(f"{noun} {name!r} is {value!r}; make it with {makers}")


def _check_kinds(name: str, head: Head, known: Mapping[str, Variable]) -> None:
    if head.query is None or head.key is None:
        if not head.offsets:
            raise ProgramError(f"head {name!r}: give a query and a key, or the distances at which it may read")
    elif isinstance(known[head.query], Numeric) or not isinstance(known[head.key], Categorical):
        raise ProgramError(f"head {name!r}: its query must be a category or a set, and its key a category")
    value, output = known[head.value], head.output_spec or known[head.value]
    if isinstance(value, SetValued) or type(output) is not type(value):
        raise ProgramError(f"head {name!r}: its value and its output must both be categories or both numbers")


MLPFunc = Callable[[Any], Any]
