"""A program with ALTA's own semantics, and the calls that build one, which also take the names in the ALTA paper."""

import functools
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import ParamSpec

from kleene.errors import ProgramError
from kleene.programs.alta.compat.lowering import lower
from kleene.programs.alta.compat.mlp import AltaMLP, AltaRule, RuleSet, get_attention_transition_rules
from kleene.programs.alta.compat.parts import AltaProgramParts
from kleene.programs.alta.compat.specs import MLPFunc, declared, resolved
from kleene.programs.alta.definition import Halt
from kleene.programs.alta.program import Program
from kleene.programs.alta.variables import Head, Variable

IN_THE_PAPER = {
    "vars": "variables", "output": "output_name", "halt_spec": "halt", "pos_range": "position_range"
}  # fmt: skip
P = ParamSpec("P")


@dataclass(frozen=True, repr=False)
class AltaProgram(AltaProgramParts):
    """A program with ALTA's own semantics."""

    @cached_property
    def lowered(self) -> Program:
        """The same program as Kleene's `Program`, which can be compiled, checked and certified.

        Raises a ProgramError that says why where there is none.
        """
        return lower(self)


def with_the_paper_s_names(build: Callable[P, AltaProgram]) -> Callable[P, AltaProgram]:
    """The call, which also takes the parameter names of the paper's listings."""

    @functools.wraps(build)
    def built(*args: P.args, **given: P.kwargs) -> AltaProgram:
        for name in [n for n in given if n in IN_THE_PAPER]:
            if IN_THE_PAPER[name] in given:
                raise ProgramError(f"{name!r} and {IN_THE_PAPER[name]!r} mean the same: give one of the two")
            given[IN_THE_PAPER[name]] = given.pop(name)
        return build(*args, **given)

    return built


@with_the_paper_s_names
def program_spec(
    variables: Mapping[str, Variable],
    heads: Mapping[str, Head],
    ffn_fn: MLPFunc,
    output_name: str,
    input_range: int,
    position_range: int | None = None,
    halt: Halt | None = None,
    generate_rules: bool = True,
) -> AltaProgram:
    """A program whose MLP is a Python function.

    With `generate_rules` the MLP is the set of rules of the function, which are made only if they are asked for;
    otherwise the function itself is called, on numbers and sets that need not be declared.
    """
    known, made = resolved(variables, heads)
    rules: RuleSet = []
    if generate_rules:
        rules = get_attention_transition_rules({n: declared(n, v) for n, v in known.items()}, made)
    mlp = AltaMLP(known, made, tuple(rules), ffn_fn, plain=not generate_rules)
    name = getattr(ffn_fn, "__qualname__", "program").replace(".<locals>", "")
    return AltaProgram(known, input_range, position_range, output_name, made, mlp, halt, name)


@with_the_paper_s_names
def program_spec_from_rules(
    variables: Mapping[str, Variable],
    heads: Mapping[str, Head],
    rules: Iterable[AltaRule],
    output_name: str,
    input_range: int,
    position_range: int | None = None,
    halt: Halt | None = None,
) -> AltaProgram:
    """A program whose MLP is a set of transition rules, as `MLPBuilder` makes them."""
    known, made = resolved(variables, heads)
    rules = tuple(rules)
    for rule in rules:
        for named in {*(atom.variable for atom in rule.lhs), rule.rhs.variable} - {*known}:
            raise ProgramError(f"the rule {rule} names {named!r}; there are {', '.join(known)}")
    mlp = AltaMLP(known, made, (*rules, *get_attention_transition_rules(known, made)))
    return AltaProgram(known, input_range, position_range, output_name, made, mlp, halt, f"program for {output_name}")
