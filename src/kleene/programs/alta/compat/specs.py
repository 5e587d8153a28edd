"""The parts of an ALTA program under ALTA's names: variables, heads, the halting condition, the program itself."""

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from kleene.errors import ProgramError
from kleene.traces.channels import nearest

RELATIVE_QK = "relative_qk"  # query and key of heads that select by distance alone: always 0

InitFn = Callable[[int], Any]
Activations = dict[str, Any]  # one position: an integer, a float or a frozenset by variable; None is undefined


@dataclass(frozen=True)
class CategoricalVarSpec:
    """An integer in `0..range-1`."""

    range: int = 32
    default: int = 0
    input_init_fn: InitFn | None = None
    position_init_fn: InitFn | None = None

    def accepts(self, value: Any) -> bool:
        return isinstance(value, (int, np.integer, np.bool_)) and 0 <= int(value) < self.range

    def plain(self, value: Any) -> int:
        return int(value)

    def code(self, value: Any) -> int:
        """The index of the value, by which rules name it."""
        return int(value)

    def choices(self, name: str) -> list[Any]:
        """Every value that a rule can test for."""
        return list(range(self.range))

    @property
    def expected(self) -> str:
        return f"an integer in 0..{self.range - 1}"


@dataclass(frozen=True)
class NumericalVarSpec:
    """A number. Rules see the nearest of `values`."""

    values: tuple[float, ...] | None = None
    default: float = 0.0
    input_init_fn: InitFn | None = None
    position_init_fn: InitFn | None = None

    def accepts(self, value: Any) -> bool:
        return isinstance(value, (int, float, np.number, np.bool_)) and math.isfinite(value)

    def plain(self, value: Any) -> float:
        return float(value)

    def code(self, value: Any) -> int:
        return int(nearest(tuple(self.choices("")), value))

    def choices(self, name: str) -> list[Any]:
        if self.values is None:
            raise ProgramError(f"rules need to know the `values` of the numeric variable {name!r}; declare them")
        return list(self.values)

    @property
    def expected(self) -> str:
        return "a finite number"


@dataclass(frozen=True)
class SetVarSpec:
    """A set of integers in `0..range-1`, as the query of a head. `values` are the sets that it may take."""

    default: frozenset[int] = frozenset()
    range: int = 32
    values: Iterable[frozenset[int]] | None = None
    input_init_fn: InitFn | None = None
    position_init_fn: InitFn | None = None

    @cached_property
    def _codes(self) -> dict[frozenset[int], int] | None:
        return None if self.values is None else {frozenset(s): i for i, s in enumerate(self.values)}

    def accepts(self, value: Any) -> bool:
        if not isinstance(value, (set, frozenset)):
            return False
        members = all(isinstance(m, (int, np.integer)) and 0 <= m < self.range for m in value)
        return members and (self._codes is None or frozenset(value) in self._codes)

    def plain(self, value: Any) -> frozenset[int]:
        return frozenset(value)

    def code(self, value: Any) -> int:
        return (self._codes or {})[frozenset(value)]

    def choices(self, name: str) -> list[Any]:
        if self._codes is None:
            raise ProgramError(f"rules need to know the `values` of the set variable {name!r}; declare them")
        return list(self._codes)

    @property
    def expected(self) -> str:
        declared = "" if self._codes is None else f", one of its {len(self._codes)} declared ones"
        return f"a frozenset of integers in 0..{self.range - 1}{declared}"


VarSpec = CategoricalVarSpec | NumericalVarSpec | SetVarSpec
VarValue = int | float | frozenset[int] | None
VariablesMap = dict[str, VarSpec]


@dataclass(frozen=True)
class CategoricalAttentionHeadSpec:
    """A head that reads a category from the only position whose key is (in) the query; else it is undefined."""

    query: str
    key: str
    value: str
    output: str
    relative_position_mask: frozenset[int] = frozenset()


@dataclass(frozen=True)
class NumericalAttentionHeadSpec:
    """A head that reads the mean of the numbers at all positions whose key is (in) the query."""

    query: str
    key: str
    value: str
    output: str
    relative_position_mask: frozenset[int] = frozenset()


AttentionHeadSpec = CategoricalAttentionHeadSpec | NumericalAttentionHeadSpec
HeadSpecs = list[AttentionHeadSpec]


@dataclass(frozen=True)
class HaltSpec:
    """A run is done when the variable has the value at every position."""

    halt_var: str
    halt_value: int = 1


@dataclass
class AttentionHead:
    """A head as `qkv` describes it; its output is named by the program."""

    query: str
    key: str
    value: str
    relative_position_mask: frozenset[int] = frozenset()
    output_spec: VarSpec | None = None


class BaseMLP:
    """What runs at every position after attention."""

    var_specs: VariablesMap
    head_specs: HeadSpecs

    def run_layer(self, activations: Activations, logger: Any = None) -> None:
        """Update the variables of one position."""
        raise NotImplementedError

    def get_rules(self) -> list[Any]:
        """The transition rules, those that empty the heads' outputs included."""
        raise NotImplementedError


@dataclass(frozen=True)
class AltaProgramParts:
    """The parts of a program. `variables` includes the heads' outputs; `outputs` names the output variable."""

    variables: VariablesMap
    input_range: int
    position_range: int | None
    outputs: str
    head_specs: HeadSpecs
    mlp: BaseMLP
    halt_spec: HaltSpec | None = None
    name: str = field(default="program", compare=False)


def var(var_range: int, **kwargs: Any) -> CategoricalVarSpec:
    """A categorical variable with values `0..var_range-1`."""
    if not isinstance(var_range, (int, np.integer)) or var_range < 1:
        raise ProgramError(f"a categorical variable needs a range of at least 1, and got {var_range!r}")
    return CategoricalVarSpec(range=int(var_range), **kwargs)


def input_var(var_range: int, init_fn: InitFn | None = None, **kwargs: Any) -> CategoricalVarSpec:
    """A categorical variable that starts as the input token, or as a function of it."""
    return var(var_range, input_init_fn=init_fn or _same, **kwargs)


def position_var(var_range: int, init_fn: InitFn | None = None, **kwargs: Any) -> CategoricalVarSpec:
    """A categorical variable that starts as the position, or as a function of it."""
    return var(var_range, position_init_fn=init_fn or _same, **kwargs)


def numeric_var(**kwargs: Any) -> NumericalVarSpec:
    """A numeric variable: `values`, `default`, `input_init_fn`, `position_init_fn`."""
    if kwargs.get("values") is not None:
        kwargs["values"] = tuple(sorted({float(v) for v in kwargs["values"]}))
    return NumericalVarSpec(**kwargs)


def set_var(**kwargs: Any) -> SetVarSpec:
    """A set variable: `range`, `values`, `default`, `input_init_fn`, `position_init_fn`."""
    if kwargs.get("values") is not None:
        kwargs["values"] = tuple(sorted({frozenset(s) for s in kwargs["values"]}, key=lambda s: (len(s), sorted(s))))
    return SetVarSpec(**kwargs)


def qkv(
    query: str,
    key: str,
    value: str,
    relative_position_mask: Iterable[int] = frozenset(),
    output_spec: VarSpec | None = None,
) -> AttentionHead:
    """A head that selects by key and query; the mask holds the allowed distances, key minus query."""
    return AttentionHead(query, key, value, frozenset(relative_position_mask), output_spec)


def v_relative(value: str, position: int) -> AttentionHead:
    """A head that reads the position at a distance."""
    return qkv(RELATIVE_QK, RELATIVE_QK, value, frozenset({position}))


def halt_spec(halt_var: str, halt_value: int = 1) -> HaltSpec:
    """The halting condition."""
    return HaltSpec(halt_var, halt_value)


def get_specs(
    variables: Mapping[str, VarSpec], heads: Mapping[str, AttentionHead]
) -> tuple[dict[str, VarSpec], HeadSpecs]:
    """Every variable, the heads' outputs included, and the heads; refuses unknown names and kinds that do not fit."""
    specs: VariablesMap = dict(variables)
    head_specs: HeadSpecs = []
    if RELATIVE_QK in variables:
        raise ProgramError(f"the name {RELATIVE_QK!r} is kept for heads that look at a distance; rename the variable")
    for name, spec in specs.items():
        if not isinstance(spec, VarSpec):
            raise ProgramError(f"variable {name!r} is {spec!r}; make it with var, numeric_var or set_var")
    for name, head in heads.items():
        if not isinstance(head, AttentionHead):
            raise ProgramError(f"head {name!r} is {head!r}; make it with qkv or v_relative")
        if name in variables:
            raise ProgramError(f"head {name!r}: a variable has this name already; rename one of the two")
        if RELATIVE_QK in (head.query, head.key):
            specs.setdefault(RELATIVE_QK, CategoricalVarSpec(range=1))
        for role, of in (("query", head.query), ("key", head.key), ("value", head.value)):
            if of not in specs:
                late = " of a head that comes later, and heads run in order" if of in heads else ""
                raise ProgramError(
                    f"head {name!r}: the {role} {of!r} is no variable{late}; there are {', '.join(specs)}"
                )
        head_specs.append(_head_spec(name, head, specs))
        specs[name] = specs[head.value] if head.output_spec is None else head.output_spec
    return specs, head_specs


def _head_spec(name: str, head: AttentionHead, specs: Mapping[str, VarSpec]) -> AttentionHeadSpec:
    if isinstance(specs[head.query], NumericalVarSpec) or not isinstance(specs[head.key], CategoricalVarSpec):
        raise ProgramError(f"head {name!r}: its query must be a category or a set, and its key a category")
    value, output = specs[head.value], head.output_spec or specs[head.value]
    if isinstance(value, SetVarSpec) or type(output) is not type(value):
        raise ProgramError(f"head {name!r}: its value and its output must both be categories or both numbers")
    made = NumericalAttentionHeadSpec if isinstance(value, NumericalVarSpec) else CategoricalAttentionHeadSpec
    return made(head.query, head.key, head.value, name, head.relative_position_mask)


def _same(x: int) -> int:
    return x
