"""Transition rules in ALTA's form, and the builder that makes them by looping over the values of variables."""

import itertools
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from kleene.errors import ProgramError
from kleene.programs.alta.compat.specs import (
    AttentionHead,
    HeadSpecs,
    VariablesMap,
    VarSpec,
    get_specs,
)


@dataclass(frozen=True)
class LHSAtom:
    """A condition: the variable has the value with this index."""

    variable: str
    value_idx: int


@dataclass(frozen=True)
class RHS:
    """An update: the variable leaves its old value for the new one, None being what empties a head's output."""

    variable: str
    old_value: Any
    new_value: Any


@dataclass(frozen=True)
class Rule:
    """Where every condition of `lhs` holds, `rhs` happens."""

    lhs: tuple[LHSAtom, ...]
    rhs: RHS


RuleSet = list[Rule]


class MLPBuilder:
    """Builds rules by looping over the values of variables; what is in scope becomes the antecedent.

    A rule always names the old value of the variable that it sets, and there is none where nothing would change.

    >>> from kleene.programs.alta import compat as pb
    >>> x = pb.MLPBuilder({"bit": pb.input_var(2), "seen": pb.var(2)}, {})
    >>> for bit in x.get("bit"):
    ...     if bit:
    ...         x.set("seen", 1)
    >>> x.rules[0].lhs
    (LHSAtom(variable='bit', value_idx=1), LHSAtom(variable='seen', value_idx=0))
    """

    def __init__(self, variables: Mapping[str, VarSpec], heads: Mapping[str, AttentionHead]):
        self.var_specs, self.head_specs = get_specs(variables, heads)
        self.context: dict[str, tuple[int, Any]] = {}
        self.rules: RuleSet = []
        self._outputs = {spec.output for spec in self.head_specs}

    def get(self, *names: str) -> Iterator[Any]:
        """Every combination of the variables' values, each in scope while the loop is at it."""
        for name in names:
            if name not in self.var_specs:
                raise ProgramError(f"there is no variable {name!r} to loop over; there are {', '.join(self.var_specs)}")
            if name in self.context:
                raise ProgramError(f"{name!r} is already in scope; use the value that the outer loop gave")
        indexed = [list(enumerate(self.var_specs[name].choices(name))) for name in names]
        try:
            for values in itertools.product(*indexed):
                self.context.update(zip(names, values))
                yield values[0][1] if len(names) == 1 else tuple(value for _, value in values)
        finally:  # also where the loop is left by `break`
            for name in names:
                self.context.pop(name, None)

    def set(self, name: str, value: Any) -> None:
        """Add the rules that set a variable where the scope is as it is now."""
        if name in self._outputs:
            raise ProgramError(f"a rule sets {name!r}, which is the output of a head; only attention sets it")
        if name not in self.var_specs:
            raise ProgramError(f"a rule sets {name!r}; there are {', '.join(self.var_specs)}")
        if name not in self.context:
            for _ in self.get(name):
                self.set(name, value)
            return
        old = self.context[name][1]
        if old != value:
            conditions = sorted((LHSAtom(n, index) for n, (index, _) in self.context.items()), key=_by_name)
            self.rules.append(Rule(tuple(conditions), RHS(name, old, value)))


def _by_name(atom: LHSAtom) -> str:
    return atom.variable


def get_attention_transition_rules(var_specs: VariablesMap, head_specs: HeadSpecs) -> RuleSet:
    """The rules that empty every head's output, so that the next layer can write it afresh."""
    return [
        Rule((LHSAtom(spec.output, index),), RHS(spec.output, value, None))
        for spec in head_specs
        for index, value in enumerate(var_specs[spec.output].choices(spec.output))
    ]
