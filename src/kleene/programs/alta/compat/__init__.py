"""ALTA's own names and semantics, so that a program file for ALTA runs after changing only its import lines.

`from kleene.programs.alta import compat as pb` stands for ALTA's `program_builder`, and likewise for its modules
`program`, `mlp_rules`, `mlp_logger`, `program_utils`, `interpreter_utils`, `logger_utils`, `trace_utils`,
`compiler_config`, `compiler_utils` and `transformer_utils`: all their names are here.

`kleene.programs.alta` refuses a program that could write out of range or in conflict. Here, as in ALTA, that is an
error of the run in which it happens: a write that never happens is no error.
"""

from importlib import import_module
from typing import Any

from kleene.programs.alta.compat.building import AltaProgram
from kleene.programs.alta.compat.building import get_rules_from_ffn_fn as get_rules_from_ffn_fn
from kleene.programs.alta.compat.building import program_spec as program_spec
from kleene.programs.alta.compat.building import program_spec_from_rules as program_spec_from_rules
from kleene.programs.alta.compat.interpreter import ActivationsLogger as ActivationsLogger
from kleene.programs.alta.compat.interpreter import FFNTrace as FFNTrace
from kleene.programs.alta.compat.interpreter import extract_traces as extract_traces
from kleene.programs.alta.compat.interpreter import initialize_activations as initialize_activations
from kleene.programs.alta.compat.interpreter import read_traces_jsonl as read_traces_jsonl
from kleene.programs.alta.compat.interpreter import run_program as run_program
from kleene.programs.alta.compat.interpreter import trace_from_dict as trace_from_dict
from kleene.programs.alta.compat.interpreter import write_traces_jsonl as write_traces_jsonl
from kleene.programs.alta.compat.mlp import RHS as RHS
from kleene.programs.alta.compat.mlp import AltaMLPBuilder, AltaRule
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
