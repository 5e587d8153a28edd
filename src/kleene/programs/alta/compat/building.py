"""From variables, heads and an MLP to an ALTA program."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property

from kleene.errors import ProgramError
from kleene.programs.alta.compat.lowering import lower
from kleene.programs.alta.compat.mlp import AltaRule, GeneratedMLP, MLPFunc, RuleSet, SimpleMLP, SparseMLP
from kleene.programs.alta.compat.specs import (
    AltaProgramParts,
    AttentionHead,
    BaseMLP,
    CategoricalVarSpec,
    HaltSpec,
    SetVarSpec,
    VarSpec,
    get_specs,
)
from kleene.programs.alta.program import Program


@dataclass(frozen=True)
class AltaProgram(AltaProgramParts):
    """A program with ALTA's own semantics."""

    @cached_property
    def lowered(self) -> Program:
        """The same program as a `Program`, which can be compiled, checked and certified.

        Raises a ProgramError that says why where there is none.
        """
        return lower(self)

    def __repr__(self) -> str:
        return f"<ALTA program {self.name}: {len(self.variables)} variables, {len(self.head_specs)} heads>"


def program_spec(
    variables: Mapping[str, VarSpec],
    heads: Mapping[str, AttentionHead],
    ffn_fn: MLPFunc,
    output_name: str,
    input_range: int,
    position_range: int | None = None,
    halt: HaltSpec | None = None,
    generate_rules: bool = True,
) -> AltaProgram:
    """A program whose MLP is a Python function.

    With `generate_rules` the MLP is the set of rules of the function, which are made only if they are asked for;
    otherwise the function itself is called, on numbers and sets that need not be declared.
    """
    specs, head_specs = get_specs(variables, heads)
    mlp = (GeneratedMLP if generate_rules else SimpleMLP)(specs, head_specs, ffn_fn)
    name = getattr(ffn_fn, "__qualname__", "program").replace(".<locals>", "")
    return _assembled(mlp, output_name, input_range, position_range, halt, name)


def program_spec_from_rules(
    variables: Mapping[str, VarSpec],
    heads: Mapping[str, AttentionHead],
    rules: Iterable[AltaRule],
    output_name: str,
    input_range: int,
    position_range: int | None = None,
    halt: HaltSpec | None = None,
) -> AltaProgram:
    """A program whose MLP is a set of transition rules, as `MLPBuilder` makes them."""
    specs, head_specs = get_specs(variables, heads)
    mlp = SparseMLP(specs, head_specs, rules)
    return _assembled(mlp, output_name, input_range, position_range, halt, f"program for {output_name}")


def _assembled(
    mlp: BaseMLP, output: str, input_range: int, position_range: int | None, halt: HaltSpec | None, name: str
) -> AltaProgram:
    specs = mlp.var_specs
    outputs = {spec.output for spec in mlp.head_specs}
    if output not in specs or output in outputs or isinstance(specs[output], SetVarSpec):
        raise ProgramError(f"{name}: the output {output!r} must be a categorical or numeric variable")
    if halt is not None and (halt.halt_var in outputs or not isinstance(specs.get(halt.halt_var), CategoricalVarSpec)):
        raise ProgramError(f"{name}: it halts on {halt.halt_var!r}, which is not a categorical variable")
    return AltaProgram(specs, input_range, position_range, output, mlp.head_specs, mlp, halt, name)


def get_rules_from_ffn_fn(
    variables: Mapping[str, VarSpec], heads: Mapping[str, AttentionHead], ffn_fn: MLPFunc
) -> RuleSet:
    """The rules of a function, one for every combination of all variables' values."""
    specs, head_specs = get_specs(variables, heads)
    made = GeneratedMLP(specs, head_specs, ffn_fn).get_rules()
    return [rule for rule in made if rule.rhs.new_value is not None]
