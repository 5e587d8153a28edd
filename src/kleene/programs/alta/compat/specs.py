"""What an ALTA program declares, under ALTA's names: they are Kleene's variables and heads, and less is asked of them.

Numbers and sets need no declared `values` where a program is only interpreted.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from kleene.errors import ProgramError
from kleene.programs.alta.definition import Halt
from kleene.programs.alta.variables import Categorical, Head, Numeric, SetValued, Variable, resolve_heads

CategoricalVarSpec, NumericalVarSpec, SetVarSpec, VarSpec = Categorical, Numeric, SetValued, Variable
AttentionHead, HaltSpec = Head, Halt
VarValue = int | float | frozenset[int] | None  # None is undefined
MLPFunc = Callable[[Any], Any]
Activations = dict[str, Any]  # one position: the value of every variable
VariablesMap = dict[str, Variable]

RELATIVE_QK = "relative_qk"  # ALTA's query and key of heads that select by distance alone: always 0


def numeric_var(values: Iterable[float] | None = None, **given: Any) -> Numeric:
    """A number. Rules see the nearest of its `values`; also `default`, `input_init_fn` and `position_init_fn`."""
    return Numeric(values=tuple(sorted({float(v) for v in (() if values is None else values)})), **given)


numerical_var = numeric_var  # the name in the ALTA paper


def set_var(range: int = 32, values: Iterable[Iterable[int]] | None = None, **given: Any) -> SetValued:
    """A set of integers in `0..range-1`, as the query of a head. `values` are the sets that it may take."""
    sets = {frozenset(s) for s in (() if values is None else values)}
    return SetValued(range=range, values=tuple(sorted(sets, key=lambda s: (len(s), sorted(s)))), **given)


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
class CategoricalAttentionHeadSpec:
    """A head that reads a category from the only position whose key is (in) the query; else it is undefined."""

    query: str
    key: str
    value: str
    output: str
    relative_position_mask: frozenset[int] = frozenset()


class NumericalAttentionHeadSpec(CategoricalAttentionHeadSpec):
    """A head that reads the mean of the numbers at all positions whose key is (in) the query."""


def head_spec(name: str, head: Head, output: Variable) -> CategoricalAttentionHeadSpec:
    """A head as ALTA describes it."""
    made = NumericalAttentionHeadSpec if isinstance(output, Numeric) else CategoricalAttentionHeadSpec
    return made(head.query or RELATIVE_QK, head.key or RELATIVE_QK, head.value, name, head.offsets)


def resolved(
    variables: Mapping[str, Variable], heads: Mapping[str, Head]
) -> tuple[dict[str, Variable], dict[str, Head]]:
    """Every variable, with `relative_qk` and the heads' outputs, and the heads; refuses what does not fit together."""
    if RELATIVE_QK in variables:
        raise ProgramError(f"the name {RELATIVE_QK!r} is kept for heads that look at a distance; rename the variable")
    for kind, declared_ones in ((Variable, variables), (Head, heads)):
        for name, given in declared_ones.items():
            if not isinstance(given, kind):
                raise ProgramError(f"{name!r} is {given!r}, and a {kind.__name__} was expected; use var or qkv")
    plain = {n: replace(h, query=None, key=None) if RELATIVE_QK in (h.query, h.key) else h for n, h in heads.items()}
    outputs = resolve_heads("of ALTA", variables, plain, in_order=True)
    by_distance = any(head.query is None for head in plain.values())
    relative = {RELATIVE_QK: Categorical(range=1)} if by_distance else {}
    made = {name: replace(head, output_spec=outputs[name]) for name, head in plain.items()}
    return {**variables, **relative, **outputs}, made
