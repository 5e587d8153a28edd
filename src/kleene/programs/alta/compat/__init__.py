"""ALTA's own names and semantics, so that a program file for ALTA runs after changing only its import lines.

`from kleene.programs.alta import compat as pb` stands for ALTA's `program_builder`, and likewise for its modules
`program`, `mlp_rules`, `mlp_logger`, `program_utils`, `interpreter_utils`, `logger_utils`, `trace_utils`,
`compiler_config`, `compiler_utils` and `transformer_utils`: all their names are here.

`kleene.programs.alta` refuses a program that could write out of range or in conflict. Here, as in ALTA, that is an
error of the run in which it happens: a write that never happens is no error.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from importlib import import_module
from typing import Any

from kleene.errors import ProgramError
from kleene.programs.alta.compat.interpreter import ActivationsLogger as ActivationsLogger
from kleene.programs.alta.compat.interpreter import FFNTrace as FFNTrace
from kleene.programs.alta.compat.interpreter import extract_traces as extract_traces
from kleene.programs.alta.compat.interpreter import initialize_activations as initialize_activations
from kleene.programs.alta.compat.interpreter import read_traces_jsonl as read_traces_jsonl
from kleene.programs.alta.compat.interpreter import run_program as run_program
from kleene.programs.alta.compat.interpreter import trace_from_dict as trace_from_dict
from kleene.programs.alta.compat.interpreter import write_traces_jsonl as write_traces_jsonl
from kleene.programs.alta.compat.lowering import lower
from kleene.programs.alta.compat.mlp import RHS as RHS
from kleene.programs.alta.compat.mlp import AltaMLPBuilder, AltaRule, GeneratedMLP
from kleene.programs.alta.compat.mlp import LHSAtom as LHSAtom
from kleene.programs.alta.compat.mlp import MLPFunc as MLPFunc
from kleene.programs.alta.compat.mlp import MLPLogger as MLPLogger
from kleene.programs.alta.compat.mlp import RuleSet as RuleSet
from kleene.programs.alta.compat.mlp import SimpleMLP as SimpleMLP
from kleene.programs.alta.compat.mlp import SparseMLP as SparseMLP
from kleene.programs.alta.compat.mlp import VarsWrapper as VarsWrapper
from kleene.programs.alta.compat.mlp import get_attention_transition_rules as get_attention_transition_rules
from kleene.programs.alta.compat.specs import RELATIVE_QK as RELATIVE_QK
from kleene.programs.alta.compat.specs import Activations as Activations
from kleene.programs.alta.compat.specs import AltaProgramParts
from kleene.programs.alta.compat.specs import AttentionHead as AttentionHead
from kleene.programs.alta.compat.specs import AttentionHeadSpec as AttentionHeadSpec
from kleene.programs.alta.compat.specs import BaseMLP as BaseMLP
from kleene.programs.alta.compat.specs import CategoricalAttentionHeadSpec as CategoricalAttentionHeadSpec
from kleene.programs.alta.compat.specs import CategoricalVarSpec as CategoricalVarSpec
from kleene.programs.alta.compat.specs import HaltSpec as HaltSpec
from kleene.programs.alta.compat.specs import HeadSpecs as HeadSpecs
from kleene.programs.alta.compat.specs import NumericalAttentionHeadSpec as NumericalAttentionHeadSpec
from kleene.programs.alta.compat.specs import NumericalVarSpec as NumericalVarSpec
from kleene.programs.alta.compat.specs import SetVarSpec as SetVarSpec
from kleene.programs.alta.compat.specs import VariablesMap as VariablesMap
from kleene.programs.alta.compat.specs import VarSpec as VarSpec
from kleene.programs.alta.compat.specs import VarValue as VarValue
from kleene.programs.alta.compat.specs import get_specs as get_specs
from kleene.programs.alta.compat.specs import halt_spec as halt_spec
from kleene.programs.alta.compat.specs import input_var as input_var
from kleene.programs.alta.compat.specs import numeric_var as numeric_var
from kleene.programs.alta.compat.specs import position_var as position_var
from kleene.programs.alta.compat.specs import qkv as qkv
from kleene.programs.alta.compat.specs import set_var as set_var
from kleene.programs.alta.compat.specs import v_relative as v_relative
from kleene.programs.alta.compat.specs import var as var
from kleene.programs.alta.program import Program as KleeneProgram


@dataclass(frozen=True)
class AltaProgram(AltaProgramParts):
    """A program with ALTA's own semantics."""

    @cached_property
    def lowered(self) -> KleeneProgram:
        """The same program as Kleene's `Program`, which can be compiled, checked and certified.

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


# ALTA's names for these
Program = AltaProgram
Rule = AltaRule
MLPBuilder = AltaMLPBuilder
_LATE = dict.fromkeys(
    ("Config", "Parameters", "compile_transformer", "run_network", "run_transformer"),
    "kleene.compiling.alta.compat_networks",
)


def __getattr__(name: str) -> Any:
    """The names that compile programs and run networks: imported late, because programs do not import compiling."""
    if name not in _LATE:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_LATE[name]), name)
